"""Markdown records in: pages of ours as they were, and those of others as far as their headings say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ebbtide.decision_log.entry import Entry
from ebbtide.decision_log.exchange import madr
from ebbtide.decision_log.exchange.arrivals import Origins
from ebbtide.decision_log.exchange.front_matter import split_front_matter
from ebbtide.decision_log.exchange.full import read_full
from ebbtide.decision_log.exchange.markdown import Section, items, sections, unescape
from ebbtide.decision_log.exchange.record_fields import (
    CHOSEN,
    CONSEQUENCES,
    CONTEXT,
    DECISION,
    DRIVERS,
    NUMBER,
    OPTIONS,
    plain,
)
from ebbtide.decision_log.record import SourceDocument, Status, page_name
from ebbtide.decisions.candidate import Candidate, Reason, ReasonKind, Source
from ebbtide.errors import TranscriptError

_KIND = re.compile(rf"\*\*({'|'.join(ReasonKind)}):\*\* ")
_NUMBERED = re.compile(r"\d{1,8}[-_ ]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_OLD_STYLE = re.compile(r"[*-]?\s*\**(status|date)\**\s*:\s*\**\s*(.+?)\s*", re.IGNORECASE)
_HEADINGS = {
    "context": CONTEXT,
    "drivers": DRIVERS,
    "options": OPTIONS,
    "decision": DECISION,
    "consequences": CONSEQUENCES,
    "assumptions": ("assumptions",),
    "status": ("status",),
}
#: What the status of a record means, by its first word; any other one is in force.
STATUS = {
    "rejected": Status.ABANDONED,
    "declined": Status.ABANDONED,
    "superseded": Status.SUPERSEDED,
    "superceded": Status.SUPERSEDED,
    "deprecated": Status.SUPERSEDED,
}


def read_record(page: str, source: str, origins: Origins) -> Entry:
    """The decision of a page.

    Args:
        page: Markdown with the headings of MADR or of Nygard's records.
        source: Name of the file.
        origins: Names pages that have no id of ours.

    Raises:
        TranscriptError: The page has no title, or says of no decision.
        ConfigError: What our own front matter says cannot be used.
    """
    if any("\ud800" <= character <= "\udfff" for character in page):
        raise TranscriptError("not UTF-8", source=source, hint="Save the file as UTF-8.")
    values, body = split_front_matter(page.removeprefix("\ufeff").replace("\r\n", "\n"))
    own = values.get(madr.OWN)
    if isinstance(own, Mapping) and isinstance(own.get("candidate"), Mapping):
        return _own(own, values, sections(body))
    name = page_name(source)
    parts = sections(_COMMENT.sub("", body))
    entry = _foreign(values, parts, body, origins, numbered=bool(_NUMBERED.match(name)))
    document = SourceDocument(name=name, text=page, status=entry.status)
    return replace(entry, document=document)


def _own(own: Mapping[str, Any], values: Mapping[str, Any], parts: Sequence[Section]) -> Entry:
    under = {part.title: part for part in parts}
    makers = values.get("decision-makers")
    table: dict[str, Any] = {
        **own,
        "agent": makers[0] if isinstance(makers, list) and makers else None,
        "thoughts": _items(under, madr.CONTEXT),
        "candidate": {
            **own["candidate"],
            "description": _outcome(under),
            "options": _items(under, madr.OPTIONS),
            "reasons": [_reason(text) for text in items(_lines(under, madr.DRIVERS))],
            "assumptions": _items(under, madr.ASSUMPTIONS),
        },
    }
    if table["agent"] is None:
        del table["agent"]
    if expected := _items(under, madr.CONSEQUENCES):
        table["prediction"] = expected[0]
    return read_full(table)


def _outcome(under: Mapping[str, Section]) -> str:
    text = under[madr.OUTCOME].text if madr.OUTCOME in under else ""
    words = text.removeprefix(madr.CHOSEN).lstrip("\n").removeprefix(" ")
    in_quotes = words[:1] == '"' == words[-1:] and "\n" not in words and len(words) > 1
    return unescape(words[1:-1] if in_quotes and text.startswith(f'{madr.CHOSEN} "') else words)


def _lines(under: Mapping[str, Section], title: str) -> tuple[str, ...]:
    return under[title].lines if title in under else ()


def _items(under: Mapping[str, Section], title: str) -> list[str]:
    return [unescape(text) for text in items(_lines(under, title))]


def _reason(text: str) -> dict[str, str]:
    kind = _KIND.match(text)
    return {"text": unescape(text[kind.end() :]), "kind": kind[1]} if kind else {"text": unescape(text)}


def _foreign(
    values: Mapping[str, Any], parts: Sequence[Section], body: str, origins: Origins, *, numbered: bool
) -> Entry:
    headed = next((part for part in parts if part.level and part.title.strip()), None)
    if headed is None:
        raise TranscriptError("there is no heading", hint="A record starts with '# ' and what was decided.")
    title = plain(NUMBER.sub("", headed.title, count=1))
    parts_of = _by_kind(parts)
    old = _old_style([*parts[0].lines, *headed.lines])
    decision = "\n".join(part.text for part in parts_of.get("decision", ())).strip()
    # A numbered page may only point to where the decision is written down.
    if not numbered and not decision and not {"context", "consequences", "status"} & parts_of.keys():
        raise TranscriptError(
            "no record of a decision", hint="It has no heading 'Decision', 'Decision Outcome' or 'Context'."
        )
    first, _, more = decision.partition("\n\n")
    if first.rstrip().endswith(":"):  # It only leads into what was decided.
        first, more = "", decision
    choice = CHOSEN.fullmatch(first.strip())
    outcome = plain(choice[1] if choice else first)
    at = _moment(values.get("date") or old.get("date"))
    reasons = [*_list_items(parts_of, "drivers"), *([plain(choice[2])] if choice and choice[2] else [])]
    thoughts = [part.text for part in parts_of.get("context", ())] + [more.strip()]
    thoughts += [part.text for part in parts_of.get("consequences", ())]
    adds_to_title = outcome.casefold() not in ("", title.casefold())
    return Entry(
        candidate=Candidate(
            description=f"{title}: {outcome}" if adds_to_title and outcome else title,
            options=tuple(_list_items(parts_of, "options")),
            reasons=tuple(Reason(text=text) for text in reasons if text),
            assumptions=tuple(_list_items(parts_of, "assumptions")),
            source=Source.IMPORT,
        ),
        status=_status(values.get("status") or old.get("status") or _first_line(parts_of.get("status", ()))),
        opened_at=at,
        settled_at=at,
        thoughts=tuple(text for text in thoughts if text),
        origin=origins.of({"page": body, **values}),
    )


def _by_kind(parts: Sequence[Section]) -> dict[str, list[Section]]:
    kinds = {heading: kind for kind, headings in _HEADINGS.items() for heading in headings}
    by_kind: dict[str, list[Section]] = {}
    current: tuple[int, str] | None = None
    for part in parts:
        name = part.title.strip(" :*").lower()
        if name in kinds:
            current = (part.level, kinds[name])
        elif current and part.level <= current[0]:
            current = None
        if current:  # What stands under a heading of its own below belongs to it.
            by_kind.setdefault(current[1], []).append(part)
    return by_kind


def _list_items(by_kind: Mapping[str, Sequence[Section]], kind: str) -> list[str]:
    parts = by_kind.get(kind, ())
    texts = [plain(text) for part in parts for text in items(part.lines)]
    return [text for text in texts if text] or [plain(part.text) for part in parts if part.text]


def _old_style(lines: Iterable[str]) -> dict[str, str]:
    return {match[1].lower(): match[2] for line in lines if (match := _OLD_STYLE.fullmatch(line))}


def _first_line(parts: Sequence[Section]) -> str:
    return next((line for part in parts for line in part.lines if line.strip()), "")


def _status(value: object) -> Status:
    word = re.search(r"[a-z]+", str(value or "").lower())
    return STATUS.get(word[0] if word else "", Status.KEPT)


def _moment(value: object) -> float | None:
    match = re.search(r"\d{4}-\d\d-\d\d", str(value or ""))
    try:
        return datetime.fromisoformat(match[0]).replace(tzinfo=UTC).timestamp() if match else None
    except ValueError:
        return None
