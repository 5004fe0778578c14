"""Parts of a turn of an exported chat: words, thoughts, and uses of tools with arguments and answers.

Exporters write a use of a tool as

- ``<tool-use data-tool-name="Bash">`` with a summary, what went in, and what came out (SpecStory),
- ``Tool use: **Bash** ...``, up to the next rule (SpecStory's older form), or
- a heading, ``### Tool: Bash``, with blocks below it.

What is not shown is not known: an edit of which only the answer stands there has arguments None.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbtide.traces.records.fields import from_json

_TAG = re.compile(
    r'\s*<tool-use data-tool-type="(?P<kind>[^"]{0,40})" data-tool-name="(?P<name>[^"]{1,100})"'
)
_TAG_ENDS = "</tool-use>"
_TAGS_END = (_TAG_ENDS, f"</details>{_TAG_ENDS}")
_LINE = re.compile(r"\s*Tool use: \*\*(?P<name>[^*\n]{1,100})\*\*(?P<rest>.*)$")
_HEADING = re.compile(
    r"#{2,6}[ \t]+[^\w\s#]{0,8}[ \t]*Tool(?: call| use)?[ \t]*:[ \t]*[`*]{0,2}(?P<name>[\w.:/-]{1,100})"
    r"[`*]{0,2}[ \t]*(?:\((?P<status>[a-z ]{1,20})\))?[ \t]*$",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"\s*<(?P<tag>think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_DETAILS = re.compile(
    r"\s*<details[^>]{0,40}>\s*<summary>[^\w<]{0,8}(?:<b>|\*\*)?(?:thinking|thought|reasoning)[^<]{0,40}</",
    re.IGNORECASE,
)
_TAGS = re.compile(r"</?(?:think|thinking|reasoning|details|b|summary)(?:\s[^<>]{0,80})?>", re.IGNORECASE)
_SUMMARY = re.compile(r"\s*(?:<details[^<>]{0,40}>)?\s*<summary>(?P<text>.{0,2000}?)</summary>\s*$")
_SUMMARY_INSIDE = re.compile(r"<summary>.{0,200}?</summary>")
_TOOL_TITLE = re.compile(r"\s{0,99}Tool use: \*\*[^*]{1,100}\*\*(?:\s{0,99}\u2022)?\s*")
_LABEL = re.compile(
    r"\s*(?P<mark>\*\*|__)?(?P<label>input|arguments|result|output|response|answer)"
    r"(?P<cut> \(truncated\))?:(?(mark)(?P=mark))[ \t]*(?P<rest>.*)$",
    re.IGNORECASE,
)
_INPUTS: Final = ("input", "arguments")
_PLAIN: Final = ("", "text", "txt", "console", "output")  # languages of blocks that show an answer
_SHELLS: Final = ("bash", "sh", "shell", "zsh", "powershell", "console")
_NAMED = re.compile(r"(?:-[ \t]+)?(?:(?P<key>[A-Za-z_][\w-]{0,40}):?[ \t]+)?`(?P<value>[^`]{1,4000})`")
_KEYS: Final = {"shell": "command", "write": "content"}  # by the kind of the tool
_KINDS: Final = {
    "bash": "shell",
    "shell": "shell",
    "run_terminal_cmd": "shell",
    "write": "write",
}  # by its name
_FAILED = re.compile(r"\s*(?:<tool_use_error>|Exit code [1-9]|Error: )")
_RULE = "---"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words that are said to somebody, or thought.

    Args:
        text: Not empty.
        is_thought: Whether it is reasoning, which is said to nobody.
    """

    text: str
    is_thought: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A use of a tool.

    Args:
        name: The tool.
        args: What went in; None where that is not shown, or only its beginning.
        result: What came out; None where that is not shown.
        error: Whether it says that it failed.
    """

    name: str
    args: Any = None
    result: str | None = None
    error: bool = False


def parts_of(lines: Sequence[str]) -> list[Words | ShownCall]:
    """The parts of a turn, in their order."""
    in_code = code_lines(lines)
    parts: list[Words | ShownCall] = []
    words: list[str] = []
    at = 0
    while at < len(lines):
        end, part = (at, None) if in_code[at] else _part_at(lines, at)
        if part is None:
            words.append(lines[at])
            at += 1
            continue
        parts += (*words_of(words), part)
        words = []
        at = end
    return [part for part in (*parts, *words_of(words)) if isinstance(part, ShownCall) or part.text]


def closes_tool(line: str) -> bool:
    """True if a line ends what a tool shows; quoted in the middle of a line, the tag ends nothing."""
    return line.startswith("</") and line.rstrip() in _TAGS_END


def words_of(lines: Sequence[str]) -> list[Words]:
    """Returns what is said, without the rules and comments around it; empty where nothing is."""
    first, last = 0, len(lines)
    while first < last and _is_frame(lines[first]):
        first += 1
    while first < last and _is_frame(lines[last - 1]):
        last -= 1
    return [Words(text="\n".join(lines[first:last]).strip())] if first < last else []


def _is_frame(line: str) -> bool:
    return line.strip() in ("", _RULE) or (line.startswith("<!--") and line.rstrip().endswith("-->"))


def _part_at(lines: Sequence[str], at: int) -> tuple[int, Words | ShownCall | None]:
    """The thought or use of a tool that begins in a line, and the line after it."""
    line = lines[at]
    if "<think" in line or "<reasoning" in line or "<details" in line:
        thought = _THOUGHT.match(line)
        if thought or _THOUGHT_DETAILS.match(line):
            tag = f"</{thought['tag']}>" if thought else "</details>"
            end = _end(lines, at, tag)
            return end, Words(text=_untagged(lines[at:end]), is_thought=True)
    if "<tool-use" in line and (match := _TAG.match(line)):
        ends = (number + 1 for number in range(at, len(lines)) if closes_tool(lines[number]))
        end = next(ends, len(lines))
        return end, _use(match["name"], match["kind"], lines[at + 1 : end])
    if "Tool use:" in line and (match := _LINE.match(line)):
        end = _section_end(lines, at + 1)
        return end, _use(match["name"], "", (match["rest"], *lines[at + 1 : end]))
    if line.startswith("##") and (match := _HEADING.match(line)):
        end = _section_end(lines, at + 1)
        failed = "fail" in (match["status"] or "") or "error" in (match["status"] or "")
        return end, _use(match["name"], "", lines[at + 1 : end], failed=failed)
    return at, None


def _end(lines: Sequence[str], at: int, tag: str) -> int:
    """The line after the one with a tag, or the end."""
    return next(
        (number + 1 for number in range(at, len(lines)) if lines[number].rstrip().endswith(tag)), len(lines)
    )


def _section_end(lines: Sequence[str], at: int) -> int:
    """Returns the end of a use of a tool without a mark for it: a rule, or words that follow its blocks."""
    mark, had_block = "", False
    for number in range(at, len(lines)):
        line = lines[number]
        fence = FENCE.match(line)
        if fence and not mark:
            mark = fence["fence"]
        elif fence and not fence["info"].strip() and fence["fence"].startswith(mark):
            mark, had_block = "", True
        elif mark or not line.strip():
            continue
        elif (
            line.strip() == _RULE
            or line.startswith("#")
            or _LINE.match(line)
            or _TAG.match(line)
            or (had_block and not _LABEL.match(line) and not line.lstrip().startswith("<"))
        ):
            return number
    return len(lines)


def _untagged(lines: Sequence[str]) -> str:
    first, *rest = lines
    first = _TAGS.sub("", _SUMMARY_INSIDE.sub("", first))
    return "\n".join((first, *(_TAGS.sub("", line) for line in rest))).strip()


def _use(name: str, kind: str, lines: Sequence[str], *, failed: bool = False) -> ShownCall:
    kind = kind or _KINDS.get(name.lower(), "")
    body: list[str] = []
    for line in lines:
        summary = _SUMMARY.match(line) if "<summary>" in line else None
        if summary:
            body.append(html.unescape(_TOOL_TITLE.sub("", summary["text"])))
        elif not (
            line.lstrip().startswith(("<details", "</details", _TAG_ENDS)) and line.rstrip().endswith(">")
        ):
            body.append(line)
    into, result, is_cut = _divided(body, kind)
    return ShownCall(
        name=name,
        args=None if is_cut else _arguments(into, kind),
        result=result,
        error=failed or bool(result and _FAILED.match(result)),
    )


def _divided(body: Sequence[str], kind: str) -> tuple[list[str], str | None, bool]:
    """Returns what went in, what came out, and whether only the beginning of the first is there."""
    into: list[str] = []
    is_cut = False
    blocks: list[int] = []  # lines of `into` that may begin the answer
    mark = ""
    for at, line in enumerate(body):
        label = _LABEL.match(line) if not mark else None
        if label and label["label"].lower() not in _INPUTS:
            return into, _unfenced((label["rest"], *body[at + 1 :])), is_cut
        if label:
            is_cut = is_cut or bool(label["cut"])
        content = label["rest"] if label else line
        if "```" in content and (fence := FENCE.match(content)):
            if mark and not fence["info"].strip():
                mark = ""
            elif not mark or fence["info"].strip() == "text":
                mark = fence["fence"]
                if not label and fence["info"].strip().lower() in _PLAIN:
                    blocks.append(len(into))
        into.append(content)
    if not blocks:
        return into, None, is_cut
    # What is written to a file may hold blocks of its own; what comes out of a command may too.
    start = blocks[-1] if kind == "write" else blocks[0]
    return into[:start], _unfenced(into[start:]), is_cut


def _unfenced(lines: Sequence[str]) -> str:
    """A text without the code block around it."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    if first < last and FENCE.match(lines[first]):
        first += 1
        if first < last and FENCE.match(lines[last - 1]):
            last -= 1
    return "\n".join(lines[first:last])


def _arguments(lines: Sequence[str], kind: str) -> Any:
    """Returns what went in, as a table where it has parts; None where nothing is shown."""
    prose: list[str] = []
    block: list[str] | None = None
    language = ""
    args: dict[str, Any] = {}
    for at, line in enumerate(lines):
        fence = FENCE.match(line) if block is None else None
        if fence:
            language = fence["info"].strip().lower()
            block = list(lines[at + 1 :])
            break
        if line.strip():
            prose.append(line.strip())
    code = "" if block is None else _unfenced(("```", *block))
    if language == "json" and isinstance(value := from_json(code.strip()), dict):
        return value
    spans = [match for line in prose if _is_named(line) for match in _NAMED.finditer(line)]
    for span in spans:
        args[span["key"].lower() if span["key"] else _KEYS.get(kind, "input")] = span["value"]
    rest = "\n".join(line for line in prose if not _is_named(line))
    if block is not None:
        key = "command" if kind == "shell" or language in _SHELLS else _KEYS.get(kind, "input")
        args["content" if key in args else key] = code
    if rest:
        args["description" if args else "input"] = rest
    return args or None


def _is_named(line: str) -> bool:
    """True if a line holds nothing but values in code marks, with or without names."""
    return "`" in line and not _NAMED.sub("", line).strip()


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
