"""Answers of services that a run asked: by `curl`, with the status that was printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ebbtide.claims.check_runs import CheckRun
from ebbtide.claims.check_tools import Family
from ebbtide.events.shell_words import SimpleCommand

_ADDRESS: Final = re.compile(r"(?:https?://)?[\w.-]{1,200}(?::\d{1,5})?(?:/\S{0,200})?$")
_FORMATS: Final = ("http_code", "response_code")
_CODE: Final = re.compile(r"(?<![\d.])([0-5]\d\d)(?![\d.])")
_STATUS: Final = re.compile(r"^<? ?HTTP/[\d.]{1,3} (\d{3})[^\n]{0,80}", re.MULTILINE)
_UNREACHED: Final = re.compile(
    r"^curl: \(\d{1,3}\) [^\n]{0,40}(?:Failed to connect|Could not resolve|Connection refused|timed out)"
    r"[^\n]{0,80}",
    re.MULTILINE,
)
_END: Final = 4_000


def probes_of(commands: list[SimpleCommand], result: str, event: int) -> Iterator[CheckRun]:
    """Yields the answer of a service that a command asked, where its status was printed.

    An answer from 500 on, or none, is a failure; one from 400 on may be what was wanted, and shows nothing.
    """
    asked = [command.words for command in commands if command.words[0] == "curl"]
    if not asked:
        return
    end = result[-_END:]
    words = (word for word in reversed(asked[-1][1:]) if "/" in word or ":" in word)
    address = next((word for word in words if _ADDRESS.match(word)), "")
    lost = list(_UNREACHED.finditer(end))
    if any(name in word for word in asked[-1] for name in _FORMATS):
        matches = list(_CODE.finditer(end))
    else:
        matches = list(_STATUS.finditer(end))
    if matches:
        status, line = int(matches[-1][1]), matches[-1][0].strip()
    elif lost:
        status, line = 0, lost[-1][0]
    elif result.strip():
        yield CheckRun(event, "curl", Family.HEALTH, None, scope=address)  # it answered, and told no status
        return
    else:
        return
    ok = False if status < 100 or status >= 500 else True if status < 400 else None
    yield CheckRun(event, "curl", Family.HEALTH, ok, line, scope=address)
