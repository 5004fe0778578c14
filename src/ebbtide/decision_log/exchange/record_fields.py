"""Fields of a record of another tool; the record itself is kept beside them, word for word.

Sources: templates of MADR 2.1, 3.0 and 4.0, of adr-tools (Nygard's), and of log4brains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ebbtide.decision_log.exchange.markdown import items, split_front_matter
from ebbtide.decision_log.exchange.record_page import LineSpan, RecordPage, heading_name
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus

CONTEXT = ("context and problem statement", "context", "problem", "background")
DRIVERS = ("decision drivers", "drivers", "rationale", "justification")
OPTIONS = ("considered options", "options considered", "options", "alternatives considered", "alternatives")
DECISION = ("decision outcome", "decision", "outcome")
ARGUMENTS = ("pros and cons of the options", "pros and cons")
CONSEQUENCES = ("consequences", "positive consequences", "negative consequences")
MAKERS = ("decision-makers", "deciders", "decision makers", "authors")
LINKS = ("links", "related decisions")
NUMBER = re.compile(r"(?:ADR[ -]*)?\d+\s*[.:)\u2013\u2014-]\s+|(?:ADR|RFC)[ -]\d+:?\s+", re.IGNORECASE)
CHOSEN = re.compile(
    r'(?:chosen|selected) option:?\s*+["\u201c]?(.+?)["\u201d]?\s*+(?:,?\s*+because\b[:\s]*(.*))?',
    re.IGNORECASE | re.DOTALL,
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TARGET = re.compile(
    r"\]\((?:\./)?([^)\s/#:]+\.(?:md|markdown))(?:#[^)]*)?\)|\bADR[- ]?(\d+)\b", re.IGNORECASE
)
_RELATION = re.compile(
    r"[^\w\[]*(super[sc]ede[sd]?(?: by)?|replace[sd](?: by)?|amend(?:s|ed by)|clarifie(?:s|d by)|"
    r"relate[sd] to|refine(?:s|d by)|depends on|contradicts)\b(.*)",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r"(good|bad|neutral|pro|con)\b[,:]?\s*(?:because\s*)?(.*)", re.IGNORECASE | re.DOTALL)
_SIDES = {"good": "pros", "pro": "pros", "bad": "cons", "con": "cons", "neutral": "neutral"}
SUPERSEDED = "superseded"
_STANDINGS = {**{each.value: each for each in RecordStatus}, "declined": RecordStatus.REJECTED}
_FILE_NUMBER = re.compile(r"(?:adr[-_]?)?(\d{1,6})[-_ ]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLink:
    """A link to another record.

    Args:
        kind: In the words of the record, such as ``amended by``.
        file: Name of the file that it leads to; empty where only a number is named.
        number: That number.
    """

    kind: str
    file: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFields:
    """Fields of a record; a field that it does not state is empty or None.

    Args:
        title: Its heading, without the number.
        number: As its file or its heading has it.
        status: One of proposed, accepted, rejected, declined, deprecated and superseded, or its own words.
        date: As it is written.
        deciders: Who decided.
        consulted: Who was asked.
        informed: Who hears of it.
        context: The problem.
        drivers: What mattered.
        options: What was weighed.
        choice: The option that was choice, or what was decided, without sections below it.
        justification: Why.
        consequences: What follows.
        links: To other records.
    """

    title: str
    number: int | None = None
    status: str | None = None
    date: str | None = None
    deciders: tuple[str, ...] = ()
    consulted: tuple[str, ...] = ()
    informed: tuple[str, ...] = ()
    context: str = ""
    drivers: tuple[str, ...] = ()
    options: tuple[RecordOption, ...] = ()
    choice: str = ""
    justification: str = ""
    consequences: tuple[str, ...] = ()
    links: tuple[RecordLink, ...] = ()


def record_fields(text: str, name: str = "") -> RecordFields:
    """Reads the fields of a record.

    Args:
        text: The record.
        name: Name of its file, which may have the number.
    """
    page = RecordPage(text)
    values, _ = split_front_matter("\n".join(page.plain))

    def people(*keys: str) -> tuple[str, ...]:
        value = next((values[key] for key in keys if values.get(key)), None) or _label(page, *keys)
        names = value if isinstance(value, list) else re.split(r"[,;]", str(value or ""))
        return tuple(str(each).strip() for each in names if str(each).strip())

    decision = page.text_of(page.section(*DECISION))
    choice = CHOSEN.fullmatch(re.split(r"\n\s*\n(?![*-])|\n#", decision, maxsplit=1)[0].strip())
    date = values.get("date") or _label(page, "date")
    return RecordFields(
        title=" ".join(_LINK.sub(r"\1", NUMBER.sub("", page.title, count=1)).split()),
        number=number_of(name, page.title),
        status=status_word(status_text(page)),
        date=None if date is None else str(date),
        deciders=people(*MAKERS),
        consulted=people("consulted"),
        informed=people("informed"),
        context=page.text_of(page.section(*CONTEXT)),
        drivers=_entries(page, page.section(*DRIVERS)),
        options=tuple(_options(page)),
        choice=plain(choice[1]) if choice else page.text_of(page.own_lines(page.section(*DECISION))),
        justification=(choice[2] or "").strip() if choice else "",
        consequences=tuple(text for name in CONSEQUENCES for text in _entries(page, page.section(name))),
        links=tuple(_links(page)),
    )


def particulars_of(fields: RecordFields) -> Particulars:
    """Returns the particulars that a record states."""
    return Particulars(
        standing=_STANDINGS.get(fields.status or ""),
        context=fields.context or None,
        choice=fields.choice or None,
        options=fields.options,
        consequences=fields.consequences,
        deciders=fields.deciders,
    )


def status_text(page: RecordPage) -> str:
    """Returns the whole status of a record; empty where it states none."""
    if span := page.front_value("status"):
        return page.text_of(span).partition(":")[2].strip().strip("\"'")
    if span := page.label("status"):
        return page.text_of(span).partition(":")[2].strip(" *_")
    return page.text_of(page.status_section())


def status_word(text: str) -> str | None:
    """The status by its usual name; else its first line, or None where there is none."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    word = next(iter(re.findall(r"[a-z]+", first.lower())), "").replace("superceded", SUPERSEDED)
    return word if word in _STANDINGS or word == SUPERSEDED else first or None


def number_of(name: str, title: str = "") -> int | None:
    """The number in the name of a file, or in a title; the date that a name may begin with is none."""
    match = _FILE_NUMBER.match(name) or re.match(r"(?:ADR[ -]*)?(\d{1,6})\b\s*[.:)]", title, re.IGNORECASE)
    return int(match[1]) if match else None


def plain(text: str) -> str:
    """Text on one line, links by their words."""
    return " ".join(_LINK.sub(r"\1", text).split()).strip("*_ ")


def _label(page: RecordPage, *names: str) -> str | None:
    span = page.label(*names)
    return page.text_of(span).partition(":")[2].strip(" *_") or None if span else None


def _entries(page: RecordPage, span: LineSpan | None) -> tuple[str, ...]:
    text = page.text_of(span)
    return tuple(entry for entry in map(plain, items(text.split("\n"))) if entry) or ((text,) if text else ())


def _options(page: RecordPage) -> Iterator[RecordOption]:
    weighed = {plain(title).lower(): span for title, span in _below(page, *ARGUMENTS)}
    considered = page.section(*OPTIONS)
    names = [plain(text) for text in items(page.text_of(considered).split("\n"))] if considered else []
    titles = names or [title for title, _ in _below(page, *ARGUMENTS)]
    for title in filter(None, titles):
        span = weighed.get(title.lower())
        arguments: dict[str, list[str]] = {"pros": [], "cons": [], "neutral": []}
        for text in items(page.text_of(span).split("\n")):
            if match := _ARGUMENT.match(text):
                arguments[_SIDES[match[1].lower()]].append(plain(match[2]))
        yield RecordOption(title=title, **{side: tuple(texts) for side, texts in arguments.items()})


def _below(page: RecordPage, *names: str) -> Iterator[tuple[str, LineSpan]]:
    """The sections right below one of these, by their titles."""
    outer = page.section(*names)
    inner = [mark for mark in page.headings if outer and outer.start <= mark[0] < outer.end]
    for place, (at, level, title) in enumerate(inner):
        if level == inner[0][1]:
            later = (next_at for next_at, other, _ in inner[place + 1 :] if other <= level)
            yield heading_name(title), LineSpan(start=at + 1, end=next(later, outer.end if outer else at + 1))


def _links(page: RecordPage) -> Iterator[RecordLink]:
    lines = [*status_text(page).splitlines(), *page.text_of(page.section(*LINKS)).splitlines()]
    for line in lines:
        if relation := _RELATION.match(line):
            kind = relation[1].lower().replace("superc", "supers")
            targets = list(_TARGET.finditer(relation[2]))
            files = [target[1] for target in targets if target[1]]
            for file in files:
                yield RecordLink(kind=kind, file=file, number=number_of(file))
            if not files:  # In a link the number is a word of it.
                yield from (RecordLink(kind=kind, number=int(target[2])) for target in targets)
