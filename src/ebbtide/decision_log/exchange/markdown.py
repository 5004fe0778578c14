"""Text inside markdown: written so that it stays text, and read back as it was.

Whatever a decision says, it opens no heading, list, block of code, tag or front matter of its own, and loads
no image. Characters are escaped as CommonMark does, by a backslash or a character reference, so that a page
shows the words.

Source: CommonMark 0.31, 2.4 (backslash escapes) and 2.5 (numeric character references).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

# What starts an escape, a reference, a tag or an image, wherever it stands.
_ANYWHERE = re.compile(r"[\\&<]|!(?=\[)")
# What would begin a block at the start of a line.
_BLOCK_START = re.compile(r"[#>*+\-=~`|:\[_]")
_NUMBERED = re.compile(r"\d{1,9}(?=[.)])")
# What ends a line for somebody or cannot be seen; spaces at the ends of a line, which readers drop.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]|^[ \t]|[ \t]$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&#(\d{1,7});")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"(?:[*+-]|\d{1,9}[.)])[ \t]+(.*)")
_INDENT = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The part of a page under a heading, up to the next one of any level.

    Args:
        level: 1 for ``#`` to 6; 0 for what stands before the first heading.
        title: The heading as it is written.
        lines: The lines below it.
    """

    level: int
    title: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines below it, without empty ones around them."""
        return "\n".join(self.lines).strip("\n")


def inline(text: str) -> str:
    r"""`text` on one line of markdown.

    >>> inline("# no heading\nno <b>")
    '\\# no heading&#10;no \\<b>'
    """
    line = "&#10;".join(map(_escape, text.split("\n")))
    # Hashes at the end of a heading are no part of it.
    return f"{line[:-1]}\\#" if line.endswith("#") and line[-2:-1] != "\\" else line


def block(text: str, *, indent: str = "") -> str:
    """`text` as paragraphs, the lines after the first behind `indent`."""
    inside = text.strip("\n")
    if not inside:
        return "&#10;" * len(text)
    before, _, after = text.partition(inside)
    lines = [_escape(line) for line in inside.split("\n")]
    body = "\n".join(f"{indent}{line}" if at and line else line for at, line in enumerate(lines))
    return "&#10;" * len(before) + body + "&#10;" * len(after)


def item(text: str) -> str:
    """`text` as an item of a list."""
    return f"* {block(text, indent=_INDENT)}"


def unescape(text: str) -> str:
    """Returns the text that `inline` or `block` escaped."""
    return _ESCAPE.sub(_character, text)


def headings(lines: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Index of the line, level and title of each heading; one inside a block of code is none."""
    fence = ""
    for at, line in enumerate(lines):
        opens = _FENCE.fullmatch(line)
        if fence:
            closes = opens and opens[1].startswith(fence) and not opens[2].strip()
            fence = "" if closes else fence
        elif opens:
            fence = opens[1]
        elif heading := _HEADING.fullmatch(line):
            yield at, len(heading[1]), heading[2] or ""


def sections(page: str) -> list[Section]:
    """The page in sections, the first of them what stands before any heading."""
    lines = page.split("\n")
    marks = [(-1, 0, ""), *headings(lines), (len(lines), 0, "")]
    return [
        Section(level=level, title=title, lines=tuple(lines[at + 1 : end]))
        for (at, level, title), (end, _, _) in pairwise(marks)
    ]


def items(lines: Iterable[str]) -> list[str]:
    """The items of the lists in `lines`, each with the lines that belong to it; other text is passed over."""
    rows: list[list[str]] = []
    inside = False
    for line in lines:
        if starts := _ITEM.fullmatch(line):
            rows.append([starts[1]])
            inside = True
        elif inside and (not line or line.startswith(_INDENT)):
            rows[-1].append(line.removeprefix(_INDENT))
        elif line:
            inside = False
    return ["\n".join(part).strip("\n") for part in rows]


def _escape(line: str) -> str:
    line = _ANYWHERE.sub(lambda match: f"\\{match[0]}", line)
    number = _NUMBERED.match(line)
    if number:
        line = f"{number[0]}\\{line[number.end() :]}"
    elif _BLOCK_START.match(line):
        line = f"\\{line}"
    return _HIDDEN.sub(lambda match: f"&#{ord(match[0])};", line)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    code = int(match[2])
    return chr(code) if code <= 0x10FFFF else "\ufffd"


_MARK = "---"
_ENTRY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?[ \t]*")
_LIST_ITEM = re.compile(r"[ \t]*-[ \t]+(.*?)[ \t]*")
# What JSON lets stand and YAML does not, or what ends a line for somebody.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def front_matter(values: Mapping[str, Any]) -> str:
    r"""The block, with the lines around it; a value that is None is left out.

    >>> print(front_matter({"status": "accepted\n---", "tags": ["a", "b"]}))
    ---
    status: "accepted\n---"
    tags: ["a", "b"]
    ---
    """
    lines = [f"{name}: {_value(value)}" for name, value in values.items() if value is not None]
    return "\n".join([_MARK, *lines, _MARK])


def split_front_matter(page: str) -> tuple[dict[str, Any], str]:
    """The values above a page, and the page below them; no values where it does not start with a block."""
    lines = page.split("\n")
    if lines[0].rstrip() != _MARK:
        return {}, page
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() in (_MARK, "...")), None)
    if end is None:
        return {}, page
    return _values(lines[1:end]), "\n".join(lines[end + 1 :])


def _values(lines: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    name = None
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            name = entry[1]
            values[name] = _read(entry[2] or "")
        elif name and (part := _LIST_ITEM.fullmatch(line)):
            before = values[name]
            values[name] = [*(before if isinstance(before, list) else []), _read(part[1])]
    return values


def _read(text: str) -> Any:
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    bare = text.partition(" #")[0].rstrip() if text[:1] not in ('"', "[", "{") else text
    try:
        return json.loads(bare, parse_constant=str)
    except (ValueError, RecursionError):
        if bare.startswith("[") and bare.endswith("]"):
            return [_read(part.strip()) for part in bare[1:-1].split(",") if part.strip()]
        return None if bare in ("", "~") else bare


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
