"""A record with what was done to its decision since: only the lines that say so are added or changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from ebbtide.decision_log.exchange import madr
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
    number_of,
    particulars_of,
    plain,
    record_fields,
    status_text,
    status_word,
)
from ebbtide.decision_log.exchange.record_page import (
    LineSpan,
    RecordPage,
    appended,
    heading_name,
    inserted,
    last_line,
    replaced,
    states,
    with_entry,
    with_section,
    with_text,
)
from ebbtide.decision_log.record.particulars import Particulars, RecordOption
from ebbtide.decision_log.record.record import Decision, Link, Relation, Status

REVIEWS = "reviews"
_PAIRED = re.compile(r"""(\s*)(["']?)(.*?)\2(\s+#.*)?""")
_UNSAFE = re.compile(r"""^[\W_]|: | #|["']|:$""")
_CHOICE = re.compile(r"""(.*?(?:chosen|selected) option:?\s*)(["\u201c]?)(.*)""", re.IGNORECASE)
_END = re.compile(r"""["\u201d]|,?\s*because\b""")
_BARE = re.compile(r"[^\W\d_][\w .-]*(?<! )")
_AFTER_OPTIONS = ("more information", *LINKS)


def edited_record(decision: Decision, text: str, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """A record with the status, the texts, the links and the reviews of its decision since it was imported.

    What the text states already is not stated twice.

    Args:
        decision: The decision, with its document.
        text: The record as it is now.
        names: The file of each decision, by id.
        titles: The title of each decision, by id.
    """
    document = decision.document
    if document is None:
        return text
    if decision.status is Status.SUPERSEDED and document.status is not Status.SUPERSEDED:
        to = names.get(decision.superseded_by or "")
        title = titles.get(decision.superseded_by or "", "")
        long = f"Superseded by {_long(to, title)}" if to else "Superseded"
        text = _with_status(text, f"superseded by {_short(to)}" if to else "superseded", long)
    standing = decision.particulars.standing if decision.particulars else None
    if standing and "standing" in decision.amended and decision.status is Status.KEPT:
        text = _with_standing(text, standing.value)
    text = _with_amendments(decision, text)
    for link in decision.links[document.links :]:
        text = _with_link(text, link, names, titles)
    for review in decision.reviews:
        text = _with_item(text, madr.review_line(review), REVIEWS)
    return text


def _with_standing(text: str, word: str) -> str:
    before = status_text(RecordPage(text))
    if status_word(before) == word:
        return text
    return _with_status(text, word.capitalize() if before[:1].isupper() else word, word.capitalize())


def _with_status(text: str, short: str, value: str) -> str:
    """The record with another status: `short` beside a name, `value` as a line of its own."""
    page = RecordPage(text)
    if span := page.front_value("status"):
        return _with_value(page, span, short)
    if span := page.label("status"):
        # A comment behind the value stays.
        head, _, after = page.lines[span.start].partition(":")
        comment = re.search(r"\s*<!--.*", after.rstrip("\r"))
        bold = re.match(r"\**", after)
        line = f"{head}:{bold[0] if bold else ''} {short}{comment[0] if comment else ''}"
        return replaced(page, span, [line])
    span = page.status_section()
    if span is None and page.front.end:
        end = page.front.end - 1
        return replaced(page, LineSpan(start=end, end=end), [f"status: {short}"])
    if span is None:
        return _with_status_section(page, value)
    filled = [at for at in range(span.start, span.end) if page.plain[at].strip()]
    if filled:  # The first line says the status; what stands below it are links and notes.
        return replaced(page, LineSpan(start=filled[0], end=filled[0] + 1), [value])
    return replaced(page, LineSpan(start=span.start, end=span.start), ["", value])


def _with_value(page: RecordPage, span: LineSpan, value: str) -> str:
    key, _, after = page.lines[span.start].rstrip("\r").partition(":")
    before = _PAIRED.fullmatch(after)
    quote = before[2] if before and before[2] else '"' if _UNSAFE.search(value) else ""
    comment = (before[4] or "") if before else ""
    gap = before[1] if before and before[1] else " "
    return replaced(page, span, [f"{key}:{gap}{quote}{value}{quote}{comment}"])


def _with_status_section(page: RecordPage, value: str) -> str:
    at = page.first_section()
    if at == len(page.lines):
        return appended(page, ["## Status", "", value])
    return replaced(page, LineSpan(start=at, end=at), ["## Status", "", value, ""])


def _with_link(text: str, link: Link, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    page = RecordPage(text)
    to = names.get(link.to)
    relation = link.relation.value.replace("_", " ").capitalize()
    why = f": {inline(link.why)}" if link.why else ""
    short = page.front_value("status") or page.label("status") or page.section("decision outcome")
    target = (_short(to) if short else _long(to, titles.get(link.to, ""))) if to else inline(link.to)
    line = f"{relation} {target}{why}"
    status = page.status_section()
    if status is None or link.relation is not Relation.SUPERSEDES or short:
        return _with_item(text, line, *LINKS)
    if states(page, line, status):
        return text
    end = last_line(page.plain, status)
    return inserted(page, end, ["", line])


def _with_item(text: str, line: str, *names: str) -> str:
    """The record with an item more under a heading, which is added where it is not there."""
    page = RecordPage(text)
    span = page.section(*names)
    if span is None:
        return appended(page, [f"## {names[0].capitalize()}", "", f"* {line}"])
    return with_entry(page, span, line)


def _short(name: str | None) -> str:
    """A link as MADR and log4brains write it."""
    number = number_of(name or "")
    stem = (name or "").rpartition(".")[0]
    return f"[{stem if number is None else f'ADR-{number:04}'}]({name})"


def _long(name: str | None, title: str) -> str:
    """A link as adr-tools writes it."""
    number = number_of(name or "")
    return f"[{'' if number is None else f'{number}. '}{inline(title)}]({name})"


def _with_amendments(decision: Decision, text: str) -> str:
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
    title = madr.CONTEXT if _is_madr(page) else CONTEXT[1].capitalize()
    return with_section(page, [f"## {title}", "", *lines], (*DRIVERS, *OPTIONS, *DECISION))


def _with_choice(text: str, particulars: Particulars) -> str:
    page, choice = RecordPage(text), particulars.choice or ""
    span = page.own_lines(page.section(*DECISION))
    if span is None:
        title = madr.OUTCOME if _is_madr(page) else DECISION[1].capitalize()
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
        outcome = page.section(madr.OUTCOME.lower())
        if span is not None:
            text = with_entry(page, page.own_lines(span) or span, consequence, prose=True)
        elif outcome is None:
            text = appended(page, [f"## {madr.CONSEQUENCES}", "", f"* {consequence}"])
        else:
            end = last_line(page.plain, page.own_lines(outcome) or outcome)
            text = inserted(page, end, ["", f"### {madr.CONSEQUENCES}", "", f"* {consequence}"])
    return text


def _with_options(text: str, particulars: Particulars) -> str:
    for option in particulars.options:
        text = _with_arguments(_with_option(text, option.title), option)
    return text


def _with_option(text: str, title: str) -> str:
    page, line = RecordPage(text), _line(title)
    span = page.section(*OPTIONS)
    if span is None:
        return with_section(page, [f"## {madr.OPTIONS}", "", f"* {line}"], DECISION)
    names = {plain(row.lstrip("*+-0123456789.) ")).lower() for row in page.plain[span.start : span.end]}
    return text if plain(title).lower() in names else with_entry(page, page.own_lines(span) or span, line)


def _with_arguments(text: str, option: RecordOption) -> str:
    for side, words in madr.SIDES.items():
        for argument in map(_line, getattr(option, side)):
            text = _with_argument(text, option.title, words, argument)
    return text


def _with_argument(text: str, title: str, words: str, argument: str) -> str:
    page = RecordPage(text)
    outer, item = page.section(*ARGUMENTS), f"{words}{argument}"
    heading = f"### {inline(title)}"
    if outer is None:
        lines = [f"## {madr.ARGUMENTS}", "", heading, "", f"* {item}"]
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
    return page.section(madr.OUTCOME.lower(), madr.OPTIONS.lower()) is not None


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
