"""Which lines of a markdown text stand in a code block."""

from __future__ import annotations

import re
from collections.abc import Sequence

FENCE = re.compile(r"\s{0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`]{0,80})$")


def code_lines(lines: Sequence[str]) -> list[bool]:
    """For each line whether it stands in a code block, or opens or closes one.

    A block that nobody closes is none: it must not swallow the rest. Within a block, a line that opens
    another one begins anew, since tools put texts with blocks of their own into a block.
    """
    inside = [False] * len(lines)
    start, mark = 0, ""
    for at, line in enumerate(lines):
        fence = FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence is None:
            continue
        if mark and not fence["info"].strip() and fence["fence"].startswith(mark):
            inside[start : at + 1] = [True] * (at + 1 - start)
            mark = ""
        else:
            start, mark = at, fence["fence"]
    return inside
