"""Texts of a record that were amended: each is written where the record has it, and nothing else changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from ebbtide.decision_log.exchange.madr import ARGUMENTS as ARGUMENTS_TITLE
from ebbtide.decision_log.exchange.madr import CONSEQUENCES as CONSEQUENCES_TITLE
from ebbtide.decision_log.exchange.madr import CONTEXT as CONTEXT_TITLE
from ebbtide.decision_log.exchange.madr import OPTIONS as OPTIONS_TITLE
from ebbtide.decision_log.exchange.madr import OUTCOME, SIDES
from ebbtide.decision_log.exchange.markdown import block, inline
from ebbtide.decision_log.exchange.record_fields import (
    ARGUMENTS,
    CONSEQUENCES,
    CONTEXT,
    DECISION,
    DRIVERS,
    LINKS,
    MAKERS,
    OPTIONS,
    particulars_of,
    plain,
    record_fields,
)
from ebbtide.decision_log.exchange.record_page import (
    LineSpan,
    RecordPage,
    appended,
    heading_name,
    inserted,
    last_line,
    replaced,
    with_entry,
    with_section,
    with_text,
)
from ebbtide.decision_log.record.particulars import Particulars, RecordOption
from ebbtide.decision_log.record.record import Decision

_CHOICE = re.compile(r"""(.*?(?:chosen|selected) option:?\s*)(["\u201c]?)(.*)""", re.IGNORECASE)
_END = re.compile(r"""["\u201d]|,?\s*because\b""")
_BARE = re.compile(r"[^\W\d_][\w .-]*(?<! )")
_AFTER_OPTIONS = ("more information", *LINKS)


def with_amendments(decision: Decision, text: str) -> str:
    """A record with the texts of its decision that were amended since it was imported.

    Args:
        text: The record as it is now; what it states already is not stated twice.
    """
    document, names = decision.document, [name for name in _WRITERS if name in decision.amended]
    if document is None or not names:
        return text
    imported = particulars_of(record_fields(document.text, document.name))
    change = (decision.particulars or Particulars()).beyond(imported)
    for name in names:
        text = _WRITERS[name](text, change)
    return text


def _with_context(text: str, particulars: Particulars) -> str:
    page, lines = RecordPage(text), block(particulars.context or "").split("\n")
    span = page.own_lines(page.section(*CONTEXT))
    if span is not None:
        return with_text(page, span, lines)
    title = CONTEXT_TITLE if _is_madr(page) else CONTEXT[1].capitalize()
    return with_section(page, [f"## {title}", "", *lines], (*DRIVERS, *OPTIONS, *DECISION))


def _with_choice(text: str, particulars: Particulars) -> str:
    page, choice = RecordPage(text), particulars.choice or ""
    span = page.own_lines(page.section(*DECISION))
    if span is None:
        title = OUTCOME if _is_madr(page) else DECISION[1].capitalize()
        return with_section(page, [f"## {title}", "", *block(choice).split("\n")], CONSEQUENCES)
    for at in range(span.start, span.end):
        if match := _CHOICE.match(page.plain[at]):
            end = _END.search(match[3])
            rest = match[3][end.start() :] if end else ""
            line = f"{match[1]}{match[2]}{inline(choice)}{rest}"
            return replaced(page, LineSpan(start=at, end=at + 1), [line])
    return with_text(page, span, block(choice).split("\n"))


def _with_consequences(text: str, particulars: Particulars) -> str:
    for consequence in map(_line, particulars.consequences):
        page = RecordPage(text)
        positive, negative = CONSEQUENCES[1:]
        order = (negative, positive) if consequence.lower().startswith("bad") else (positive, negative)
        spans = map(page.section, (CONSEQUENCES[0], *order))
        span = next((span for span in spans if span is not None), None)
        outcome = page.section(OUTCOME.lower())
        if span is not None:
            text = with_entry(page, page.own_lines(span) or span, consequence, prose=True)
        elif outcome is None:
            text = appended(page, [f"## {CONSEQUENCES_TITLE}", "", f"* {consequence}"])
        else:
            end = last_line(page.plain, page.own_lines(outcome) or outcome)
            text = inserted(page, end, ["", f"### {CONSEQUENCES_TITLE}", "", f"* {consequence}"])
    return text


def _with_options(text: str, particulars: Particulars) -> str:
    for option in particulars.options:
        text = _with_arguments(_with_option(text, option.title), option)
    return text


def _with_option(text: str, title: str) -> str:
    page, line = RecordPage(text), _line(title)
    span = page.section(*OPTIONS)
    if span is None:
        return with_section(page, [f"## {OPTIONS_TITLE}", "", f"* {line}"], DECISION)
    names = {plain(row.lstrip("*+-0123456789.) ")).lower() for row in page.plain[span.start : span.end]}
    return text if plain(title).lower() in names else with_entry(page, page.own_lines(span) or span, line)


def _with_arguments(text: str, option: RecordOption) -> str:
    for side, words in SIDES.items():
        for argument in map(_line, getattr(option, side)):
            text = _with_argument(text, option.title, words, argument)
    return text


def _with_argument(text: str, title: str, words: str, argument: str) -> str:
    page = RecordPage(text)
    outer, item = page.section(*ARGUMENTS), f"{words}{argument}"
    heading = f"### {inline(title)}"
    if outer is None:
        lines = [f"## {ARGUMENTS_TITLE}", "", heading, "", f"* {item}"]
        return with_section(page, lines, _AFTER_OPTIONS)
    span = _section_in(page, outer, title)
    if span is None:
        return inserted(page, last_line(page.plain, outer), ["", heading, "", f"* {item}"])
    if any(row.rstrip().endswith(argument) for row in page.plain[span.start : span.end]):
        return text
    return with_entry(page, span, item)


def _section_in(page: RecordPage, outer: LineSpan, title: str) -> LineSpan | None:
    for at, _, name in page.headings:
        if outer.start <= at < outer.end and plain(heading_name(name)).lower() == plain(title).lower():
            return page.own_lines(LineSpan(start=at + 1, end=outer.end))
    return None


def _with_deciders(text: str, particulars: Particulars) -> str:
    page = RecordPage(text)
    names = ", ".join(map(_line, particulars.deciders))
    if not names:
        return text
    if span := page.front_value(*MAKERS):
        return _with_makers(page, span, particulars.deciders)
    if span := page.label(*MAKERS):
        missing = [name for name in map(_line, particulars.deciders) if name not in page.plain[span.start]]
        line = page.lines[span.start].removesuffix("\r")
        comment = line.find("<!--")
        head = line if comment < 0 else line[:comment].rstrip()
        tail = "" if comment < 0 else f" {line[comment:]}"
        return replaced(page, span, [f"{', '.join([head, *missing])}{tail}"])
    if page.front.end:
        return inserted(
            page, page.front.end - 1, [f"{MAKERS[0]}: [{', '.join(map(_scalar, particulars.deciders))}]"]
        )
    status, date = page.label("status"), page.label("date")
    if status is not None:
        bullet = re.match(r"\s*[*-]?\s*", page.lines[status.start])
        return inserted(page, status.end, [f"{bullet[0] if bullet else ''}Deciders: {names}"])
    at = page.first_section() if date is None else date.end
    return inserted(page, at, [f"Deciders: {names}", ""] if date is None else ["", f"Deciders: {names}"])


def _with_makers(page: RecordPage, span: LineSpan, deciders: tuple[str, ...]) -> str:
    """The names of the front matter, as a list in brackets, a list below, or a text."""
    value = "\n".join(page.plain[span.start : span.end])
    missing = [_scalar(name) for name in deciders if name not in value]
    if not missing:
        return "\n".join(page.lines)
    line = page.plain[span.start]
    if span.end - span.start > 1:
        indent = re.match(r"\s*-\s*", page.plain[span.end - 1])
        return inserted(page, span.end, [f"{indent[0] if indent else '  - '}{name}" for name in missing])
    head, bracket, tail = line.rpartition("]")
    before = head if bracket else line.rstrip()
    gap = " " if before.rstrip().endswith(":") else "" if before.rstrip().endswith("[") else ", "
    return replaced(page, span, [f"{before}{gap}{', '.join(missing)}{bracket}{tail if bracket else ''}"])


def _scalar(name: str) -> str:
    """A name as YAML takes it."""
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _is_madr(page: RecordPage) -> bool:
    return page.section(OUTCOME.lower(), OPTIONS_TITLE.lower()) is not None


def _line(text: str) -> str:
    """A text as a line of a list."""
    return inline(" ".join(text.split()))


_WRITERS: Mapping[str, Callable[[str, Particulars], str]] = {
    "context": _with_context,
    "choice": _with_choice,
    "consequences": _with_consequences,
    "options": _with_options,
    "deciders": _with_deciders,
}
