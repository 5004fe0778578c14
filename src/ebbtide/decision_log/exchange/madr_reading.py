"""Markdown records in: pages of ours as they were, and those of others as far as their headings say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from ebbtide.decision_log.exchange import madr
from ebbtide.decision_log.exchange.arrivals import Origins
from ebbtide.decision_log.exchange.json_form import read_full
from ebbtide.decision_log.exchange.markdown import Section, items, sections, split_front_matter, unescape
from ebbtide.decision_log.exchange.record_fields import (
    CHOSEN,
    CONSEQUENCES,
    CONTEXT,
    DECISION,
    DRIVERS,
    OPTIONS,
    SUPERSEDED,
    RecordFields,
    particulars_of,
    plain,
    record_fields,
)
from ebbtide.decision_log.record.record import Decision, SourceDocument, Status, page_name
from ebbtide.decisions.candidate import Candidate, Reason, ReasonKind, Source
from ebbtide.errors import TranscriptError

_KIND = re.compile(rf"\*\*({'|'.join(ReasonKind)}):\*\* ")
_ARGUMENTS_LEVEL = 2
_NUMBERED = re.compile(r"\d{1,8}[-_ ]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADINGS = {
    "context": CONTEXT,
    "drivers": DRIVERS,
    "options": OPTIONS,
    "decision": DECISION,
    "consequences": CONSEQUENCES,
    "assumptions": ("assumptions",),
    "status": ("status",),
}


def read_record(page: str, source: str, origins: Origins) -> Decision:
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
    fields = record_fields(page, name)
    entry = _foreign(fields, parts, numbered=bool(_NUMBERED.match(name)))
    status = Status.SUPERSEDED if fields.status == SUPERSEDED else Status.KEPT
    document = SourceDocument(name=name, text=page, status=status)
    origin = origins.of({"page": body, **values})
    return replace(entry, origin=origin, document=document, status=status, particulars=particulars_of(fields))


def _own(own: Mapping[str, Any], values: Mapping[str, Any], parts: Sequence[Section]) -> Decision:
    weighed = _weighed(parts)
    under = {part.title: part for part in parts if part not in weighed}
    makers = values.get("decision-makers")
    makers = makers if isinstance(makers, list) else []
    description, choice = _outcome(under)
    expected, consequences = _consequences(under)
    particulars = {
        "standing": own.get("standing"),
        "context": _context(under),
        "choice": choice,
        "options": [_arguments(part) for part in weighed],
        "consequences": consequences,
        # Where only the agent decided it stands there itself.
        "deciders": makers if "agent" in own else [],
    }
    table: dict[str, Any] = {
        **own,
        "agent": own.get("agent") or next(iter(makers), None),
        "thoughts": _items(under, madr.CONTEXT),
        "particulars": {name: value for name, value in particulars.items() if value} or None,
        "prediction": expected,
        "candidate": {
            **own["candidate"],
            "description": description,
            "options": _items(under, madr.OPTIONS),
            "reasons": [_reason(text) for text in items(_lines(under, madr.DRIVERS))],
            "assumptions": _items(under, madr.ASSUMPTIONS),
        },
    }
    return read_full({key: value for key, value in table.items() if value is not None})


def _weighed(parts: Sequence[Section]) -> list[Section]:
    """The sections of the options, below that of their arguments."""
    titles = [part.title for part in parts]
    if madr.ARGUMENTS not in titles:
        return []
    below = parts[titles.index(madr.ARGUMENTS) + 1 :]
    return list(takewhile(lambda part: part.level > _ARGUMENTS_LEVEL, below))


def _arguments(part: Section) -> dict[str, Any]:
    texts = items(part.lines)
    sides = {
        side: [unescape(text.removeprefix(words)) for text in texts if text.startswith(words)]
        for side, words in madr.SIDES.items()
    }
    return {"title": unescape(part.title), **sides}


def _context(under: Mapping[str, Section]) -> str:
    before = takewhile(lambda line: not items([line]), _lines(under, madr.CONTEXT))
    return unescape("\n".join(before).strip("\n"))


def _consequences(under: Mapping[str, Section]) -> tuple[str | None, list[str]]:
    """Reads the prediction and the other consequences."""
    texts = items(_lines(under, madr.CONSEQUENCES))
    expected = (text.removeprefix(madr.EXPECTED) for text in texts if text.startswith(madr.EXPECTED))
    others = [unescape(text) for text in texts if not text.startswith(madr.EXPECTED)]
    return next(map(unescape, expected), None), others


def _outcome(under: Mapping[str, Section]) -> tuple[str, str | None]:
    """Reads the decision, and the chosen option where the page states it apart."""
    text = under[madr.OUTCOME].text if madr.OUTCOME in under else ""
    words = text.removeprefix(madr.CHOSEN).lstrip("\n").removeprefix(" ")
    first, _, more = words.partition("\n\n")
    if not (text.startswith(f'{madr.CHOSEN} "') and first.endswith('"') and "\n" not in first):
        return unescape(words), None
    inside = unescape(first[1:-1])
    return (unescape(more), inside) if more else (inside, None)


def _lines(under: Mapping[str, Section], title: str) -> tuple[str, ...]:
    return under[title].lines if title in under else ()


def _items(under: Mapping[str, Section], title: str) -> list[str]:
    return [unescape(text) for text in items(_lines(under, title))]


def _reason(text: str) -> dict[str, str]:
    kind = _KIND.match(text)
    return {"text": unescape(text[kind.end() :]), "kind": kind[1]} if kind else {"text": unescape(text)}


def _foreign(fields: RecordFields, parts: Sequence[Section], *, numbered: bool) -> Decision:
    if not fields.title:
        raise TranscriptError("there is no heading", hint="A record starts with '# ' and what was decided.")
    title = plain(fields.title)
    parts_of = _by_kind(parts)
    below = parts_of.get("decision", ())[1:]
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
    at = _moment(fields.date)
    reasons = [*_list_items(parts_of, "drivers"), *([plain(choice[2])] if choice and choice[2] else [])]
    # What is not the choice itself stays as it is.
    thoughts = [more.strip()] if choice else [part.text for part in below]
    adds_to_title = outcome.casefold() not in ("", title.casefold())
    return Decision(
        candidate=Candidate(
            description=f"{title}: {outcome}" if adds_to_title and outcome else title,
            options=tuple(_list_items(parts_of, "options")),
            reasons=tuple(Reason(text=text) for text in reasons if text),
            assumptions=tuple(_list_items(parts_of, "assumptions")),
            source=Source.IMPORT,
        ),
        opened_at=at,
        settled_at=at,
        thoughts=tuple(text for text in thoughts if text),
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


def _moment(date: str | None) -> float | None:
    match = re.search(r"\d{4}-\d\d-\d\d", date or "")
    try:
        return datetime.fromisoformat(match[0]).replace(tzinfo=UTC).timestamp() if match else None
    except ValueError:
        return None
