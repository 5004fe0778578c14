"""A record with what was done to its decision since: only the lines that say so are added or changed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ebbtide.decision_log.exchange.madr import day
from ebbtide.decision_log.exchange.markdown import inline
from ebbtide.decision_log.exchange.record_amendments import with_amendments
from ebbtide.decision_log.exchange.record_fields import LINKS, number_of, status_text, status_word
from ebbtide.decision_log.exchange.record_page import (
    LineSpan,
    RecordPage,
    appended,
    inserted,
    last_line,
    replaced,
    states,
    with_entry,
)
from ebbtide.decision_log.record.record import Decision, Link, Relation, Status

REVIEWS = "reviews"
_PAIRED = re.compile(r"""(\s*)(["']?)(.*?)\2(\s+#.*)?""")
_UNSAFE = re.compile(r"""^[\W_]|: | #|["']|:$""")


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
    text = with_amendments(decision, text)
    for link in decision.links[document.links :]:
        text = _with_link(text, link, names, titles)
    for review in decision.reviews:
        by, evidence = inline(review.by), inline(review.evidence)
        line = f"{day(review.ts)}: {review.outcome}, says {by}{f': {evidence}' if evidence else ''}"
        text = _with_item(text, line, REVIEWS)
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
