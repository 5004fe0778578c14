"""Decisions as markdown records, MADR 4: one page a decision.

What is text stands in the page, where a person may edit it; the rest stands in the front matter under the key
``ebbtide``. No text of a decision can begin a section or a key of its own.

Source: Markdown Architectural Decision Records 4.0, template.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

from ebbtide.decision_log.exchange.markdown import block, front_matter, inline, item
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Link, Relation, Review, Status
from ebbtide.decision_log.record.wire import to_wire
from ebbtide.decisions.candidate import Reason

OWN = "ebbtide"  #: the key of the front matter that only pages of ours have
CHOSEN = "Chosen option:"
CONTEXT = "Context and Problem Statement"
DRIVERS = "Decision Drivers"
OPTIONS = "Considered Options"
OUTCOME = "Decision Outcome"
CONSEQUENCES = "Consequences"
CONFIRMATION = "Confirmation"
ASSUMPTIONS = "Assumptions"
ARGUMENTS = "Pros and Cons of the Options"
LINKS = "Links"
MORE = "More Information"

_STATUS = {
    Status.KEPT: "accepted",
    Status.OPENED: "proposed",
    Status.ABANDONED: "rejected",
    Status.QUARANTINED: "rejected",
    Status.SUPERSEDED: "superseded",
    Status.PURGED: "rejected",
}
EXPECTED = "**expected:** "
SIDES = {"pros": "Good, because ", "cons": "Bad, because ", "neutral": "Neutral, because "}
_IN_PAGE = ("description", "options", "reasons", "assumptions")
_GAP = "\n"
_TITLE = 100  # characters
_SLUG = 60
_NUMBERED = re.compile(r"(\d{1,8})-")
_DAY = 8  # digits of a date, as log4brains writes it


def title_of(decision: Decision) -> str:
    """The first line of what was decided, cut between words."""
    line = next((line.strip() for line in decision.candidate.description.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rsplit(maxsplit=1)[0]}\u2026"


def folder_naming(names: Iterable[str]) -> Callable[[Decision, int], str]:
    """Returns the naming of the pages of a folder: by a number of so many digits, or by the day.

    Args:
        names: The pages that are in the folder.

    >>> from ebbtide.decision_log.record.record import DecisionScope
    >>> from ebbtide.decisions.candidate import Candidate
    >>> one = Decision(
    ...     id="a",
    ...     scope=DecisionScope(),
    ...     candidate=Candidate(description="Use Go"),
    ...     status=Status.KEPT,
    ...     opened_at=0.0,
    ... )
    >>> folder_naming(["001-use-c.md"])(one, 2), folder_naming(["20230105-use-c.md"])(one, 2)
    ('002-use-go.md', '19700101-use-go.md')
    """
    lengths = Counter(len(match[1]) for name in names if (match := _NUMBERED.match(name)))
    digits = lengths.most_common(1)[0][0] if lengths else 4

    def naming(decision: Decision, number: int) -> str:
        head = f"{number:0{digits}}" if digits != _DAY else day(decision.opened_at).replace("-", "")
        return f"{head}-{_slug(decision)}.md"

    return naming


def _slug(decision: Decision) -> str:
    """The title in letters that every file system takes."""
    words = re.findall(r"[a-z0-9]+", title_of(decision).lower())
    return "-".join(words)[:_SLUG].strip("-") or "decision"


def day(seconds: float | None) -> str:
    """The date of a time, in UTC; ``unknown`` where nobody knows it."""
    if seconds is None:
        return "unknown"
    return datetime.fromtimestamp(seconds, tz=UTC).date().isoformat()


def status_line(decision: Decision, names: Mapping[str, str]) -> str:
    """The status as records have it, with the record that took its place where it is known."""
    by = names.get(decision.superseded_by or "")
    name = _STATUS[decision.status]
    standing = decision.particulars.standing if decision.particulars else None
    if standing and decision.status is Status.KEPT:
        name = standing.value
    return (
        f"{name} by [ADR-{by.partition('-')[0]}]({by})"
        if by and decision.status is Status.SUPERSEDED
        else name
    )


def write_madr(decision: Decision, names: Mapping[str, str]) -> str:
    """The page of a decision.

    Args:
        names: The file of each decision, by id; links to others show the id.
    """
    deciders = decision.particulars.deciders if decision.particulars else ()
    head = front_matter(
        {
            "status": status_line(decision, names),
            "date": day(decision.settled_at or decision.opened_at),
            "decision-makers": list(deciders) or [decision.scope.agent],
            OWN: _rest(decision),
        }
    )
    return "\n".join([head, *_page(decision, names), ""])


def _rest(decision: Decision) -> dict[str, object]:
    """The fields that the page does not state."""
    table = to_wire(decision)
    candidate = {key: value for key, value in table["candidate"].items() if key not in _IN_PAGE}
    left_out = ["tenant", "thoughts", "prediction", "version", "document", "particulars"]
    particulars = decision.particulars
    if not (particulars and particulars.deciders):
        left_out.append("agent")
    return {
        "schema": 1,
        "standing": particulars.standing.value if particulars and particulars.standing else None,
        **{key: value for key, value in table.items() if key not in left_out and value is not None},
        "candidate": candidate,
    }


def _page(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    candidate, beside = decision.candidate, decision.particulars or Particulars()
    yield f"# {inline(title_of(decision))}"
    if beside.context or decision.thoughts:
        yield f"\n## {CONTEXT}\n"
        if beside.context:
            yield f"{block(beside.context)}{_GAP if decision.thoughts else ''}"
        yield from map(item, decision.thoughts)
    if candidate.reasons:
        yield f"\n## {DRIVERS}\n"
        yield from map(_reason, candidate.reasons)
    if candidate.options:
        yield f"\n## {OPTIONS}\n"
        yield from map(item, candidate.options)
    yield f"\n## {OUTCOME}\n"
    text = candidate.description
    if beside.choice is not None:
        yield f'{CHOSEN} "{inline(beside.choice)}"\n\n{block(text)}'
    else:
        yield f"{CHOSEN}\n\n{block(text)}" if "\n" in text else f'{CHOSEN} "{inline(text)}"'
    if beside.consequences or decision.prediction is not None:
        yield f"\n### {CONSEQUENCES}\n"
        yield from map(item, beside.consequences)
        if decision.prediction is not None:
            yield f"* {EXPECTED}{item(decision.prediction)[2:]}"
    if decision.reviews:
        yield f"\n### {CONFIRMATION}\n"
        yield from (f"* {review_line(review)}" for review in decision.reviews)
    if beside.options:
        yield f"\n## {ARGUMENTS}"
        for option in beside.options:
            yield f"\n### {inline(option.title)}\n"
            for side, words in SIDES.items():
                yield from (f"* {words}{item(text)[2:]}" for text in getattr(option, side))
    if candidate.assumptions:
        yield f"\n## {ASSUMPTIONS}\n"
        yield from map(item, candidate.assumptions)
    if decision.links:
        yield f"\n## {LINKS}\n"
        yield from (_link(link, names) for link in decision.links)
    facts = list(_known(decision))
    if facts:
        yield f"\n## {MORE}\n\n{'; '.join(facts)}."


def review_line(review: Review) -> str:
    """A review on one line."""
    by, evidence = inline(review.by), inline(review.evidence)
    return f"{day(review.ts)}: {review.outcome}, says {by}{f': {evidence}' if evidence else ''}"


def _reason(reason: Reason) -> str:
    return item(reason.text) if reason.kind is None else f"* **{reason.kind}:** {item(reason.text)[2:]}"


def _link(link: Link, names: Mapping[str, str]) -> str:
    name = names.get(link.to)
    to = f"[ADR-{name.partition('-')[0]}]({name})" if name else inline(link.to)
    relation = "supersedes" if link.relation is Relation.SUPERSEDES else link.relation.replace("_", " ")
    return f"* {relation} {to}{f': {inline(link.why)}' if link.why else ''}"


def _known(decision: Decision) -> Iterator[str]:
    candidate = decision.candidate
    if candidate.category:
        yield f"category {inline(candidate.category)}"
    if candidate.stakes:
        yield f"{candidate.stakes} stakes"
    if candidate.confidence is not None:
        source = f" ({candidate.confidence_source})" if candidate.confidence_source else ""
        yield f"confidence {candidate.confidence:g}{source}"
    if decision.review_by is not None:
        yield f"to be reviewed by {day(decision.review_by)}"
