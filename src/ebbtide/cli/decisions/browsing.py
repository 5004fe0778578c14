"""`ebbtide decisions list | show | stats | verify`: what is only read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from ebbtide.cli.decisions.place import Identifier, Limit, Place, Since, Until, past_moment_of, with_log
from ebbtide.cli.declaration import Argument, Command, Option, Redact
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, console, plain, warn, write_text
from ebbtide.decision_log.exchange.record_fields import record_fields
from ebbtide.decision_log.log.meaning import search_by_meaning
from ebbtide.decision_log.record.particulars import Particulars, RecordStatus
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, SourceDocument, Status
from ebbtide.decision_log.record.results import FoundBy, Page
from ebbtide.decision_log.record.review import outcome_of
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.rate import Rate
from ebbtide.report.plurals import count
from ebbtide.settings_file import read_text
from ebbtide.text.redaction import redacted

if TYPE_CHECKING:
    from ebbtide.text.embedding.vectors import Embedder

_LARGEST_HEADS = 16 << 20  # bytes of a file
_EMPTY = "No decisions."


Statuses = Annotated[
    list[Status] | None,
    Option("--status", metavar="STATUS", help="Only decisions with this status. Repeatable."),
]


@click.command(name="list", cls=Command)
@with_log("agent", "session")
def list_decisions(
    place: Place,
    words: Annotated[
        str | None, Argument(metavar="[WORDS]", help="Words to search for; the best matches come first.")
    ] = None,
    meaning: Annotated[
        bool, Option("--meaning", help="Also match texts with the same meaning; needs the semantic extra.")
    ] = False,
    overdue: Annotated[
        bool, Option("--overdue", help="Only decisions whose review date passed without a review.")
    ] = False,
    status: Statuses = None,
    category: Annotated[
        str | None, Option("--category", "-c", metavar="NAME", help="Only decisions of this category.")
    ] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Annotated[
        str | None, Option("--cursor", metavar="CURSOR", help="Continue where the previous page ended.")
    ] = None,
    redact: Redact = True,
) -> Result:
    """List or search decisions, newest first.

    --status quarantined lists what the gate refused.
    """
    states = tuple(status) if status else None
    filters = {"--category": category, "--since": since, "--until": until, "--cursor": cursor}
    others = [name for name, value in filters.items() if value is not None]
    if (words is not None or overdue) and others:
        raise ConfigError(
            f"{others[0]} applies to the whole list, and cannot be combined with "
            f"{'WORDS' if words else '--overdue'}"
        )
    if words is not None:
        return _search(place, words, meaning=meaning, status=states, limit=limit, redact=redact)
    if meaning:
        raise ConfigError("--meaning needs WORDS to search for")
    with place.open() as log:
        if overdue:
            page = Page(decisions=tuple(log.overdue(limit=limit)))
        else:
            if cursor is not None:
                log.get(cursor)  # an unknown one is an error
            page = log.list(
                status=states,
                category=category,
                since=past_moment_of(since, "--since"),
                until=past_moment_of(until, "--until"),
                limit=limit,
                cursor=cursor,
            )
    if redact:
        page = redacted(page)

    def text(width: int) -> Iterator[Line]:
        quarantined = states is not None and Status.QUARANTINED in states
        notes = _objections(page.decisions) if quarantined else None
        empty = "No review is overdue." if overdue else _EMPTY
        yield from decision_lines(page.decisions, width, notes=notes) if page.decisions else [Line(empty)]
        if page.cursor:
            warn(f"there are more: --cursor {page.cursor}")

    return Result(page.to_dict, text)


def _search(
    place: Place, query: str, *, meaning: bool, status: tuple[Status, ...] | None, limit: int, redact: bool
) -> Result:
    """Finds the decisions that have words, or mean the same; the best first."""
    embedder = _embedder(place) if meaning else None
    with place.open() as log:
        if embedder is None:
            hits = log.search(query, limit=limit, status=status)
        else:
            with console(stderr=True).status("Reading what the decisions mean"):
                hits = search_by_meaning(log, query, embedder, limit=limit, status=status)
    if redact:
        query, hits = redacted((query, hits))

    def text(width: int) -> Iterator[Line]:
        notes = {hit.decision.id: "by its meaning" for hit in hits if FoundBy.WORDS not in hit.found_by}
        decisions = [hit.decision for hit in hits]
        yield from decision_lines(decisions, width, notes=notes) if hits else [Line(_EMPTY)]
        if not hits and not meaning:
            warn("no decision contains these words; --meaning also finds other wordings")

    return Result(
        lambda: {"schema": 1, "query": query, "hits": [hit.to_dict() for hit in hits]},
        text,
    )


def _embedder(place: Place) -> Embedder | None:
    """Returns the embedder; None, with a hint, where it is not installed."""
    from ebbtide.text.embedding.embedder import open_embedder

    try:
        return open_embedder(cache=place.vectors)
    except SemanticError as error:
        warn(f"only the words are compared: {error}")
        return None


@click.command(cls=Command)
@with_log()
def show(
    place: Place,
    decision: Identifier,
    events: Annotated[bool, Option("--events", help="Also show every event of the decision.")] = False,
    redact: Redact = True,
) -> Result:
    """Show everything known about a decision."""
    with place.open() as log:
        decision_id = log.resolve(decision)
        found = log.get(decision_id)
        history = log.events(decision_id) if events else ()
    if redact:
        found, history = redacted((found, history))

    def wire() -> dict[str, Any]:
        document = decision_document(found)
        return {**document, "events": [event.to_dict() for event in history]} if events else document

    def text(_width: int) -> Iterator[Line]:
        yield from _everything(found)
        for event in history:
            body = json.dumps(event.body, ensure_ascii=False) if event.body is not None else "(purged)"
            line = Line(f"  {event.seq:>6} {when(event.ts)}  {event.kind.value:<12} ", "dim")
            yield line.append(plain(body, 200))

    return Result(wire, text)


@click.command(cls=Command)
@with_log("agent")
def stats(
    place: Place,
    prometheus: Annotated[
        bool, Option("--prometheus", help="Print the counts as Prometheus metrics.")
    ] = False,
    sample: Annotated[
        int | None,
        Option(
            "--sample",
            metavar="N",
            at_least=1,
            at_most=10_000,
            help="Draw N kept and N refused candidates for review, with the error rates so far.",
        ),
    ] = None,
) -> Result | None:
    """Count what was kept and refused, by rule."""
    if sample is not None:
        return _sample(place, size=sample)
    with place.open() as log:
        counters = log.counts()
    if prometheus:
        sys.stdout.write(counters.prometheus())
        return None

    def text(width: int) -> Iterator[Line]:
        total = counters.kept + counters.refused
        line = f"{counters.kept} kept, {counters.refused} refused"
        yield Line(
            f"{line} of {total} candidates" if total else "The gate has judged no candidates yet", "bold"
        )
        if counters.would_refuse:
            yield Line(f"{counters.would_refuse} were kept although the gate refused them.")
        if counters.not_captured:
            yield Line(f"{counters.not_captured} were not judged, because of their frame.")
        yield from _counts("refused by rule", counters.refused_by_rule(), width)
        yield from _counts("in the log now", counters.by_status, width)
        for name in ("source", "frame", "mode"):
            lines = {
                value: ", ".join(f"{times} {key}" for key, times in of.items())
                for value, of in counters.by(name).items()
            }
            yield from _counts(f"by {name}", lines, width)

    return Result(counters.to_dict, text)


def _sample(place: Place, *, size: int) -> Result:
    """Draws decisions for people to look at, with what those who did found."""
    with place.open() as log:
        samples = redacted(log.sample(size))

    def text(width: int) -> Iterator[Line]:
        for decisions, of, what in (
            (samples.kept_decisions, samples.kept_of, "kept by the gate"),
            (samples.refused_decisions, samples.refused_of, "refused by the gate"),
        ):
            yield Line(f"{len(decisions)} of {of} {what}", "bold")
            if decisions:
                yield from decision_lines(decisions, width, notes=_objections(decisions))
            yield Line()
        yield from Line(f"Noise among the kept:      {_rate(samples.noise)}").wrap(width)
        yield from Line(f"Missed among the refused:  {_rate(samples.missed)}").wrap(width)
        yield Line(
            "`ebbtide decisions review ID not_a_decision` or `restore ID` records your judgement.", "dim"
        )

    return Result(samples.to_dict, text)


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "everything is as it was written",
        Exit.NOT_VERIFIED: "something was changed or is missing",
    },
)
@with_log("agent")
def verify(
    place: Place,
    heads: Annotated[
        Path | None,
        Option(
            "--heads", metavar="FILE", help="File that --write-heads wrote; its heads must be in the log."
        ),
    ] = None,
    write_heads: Annotated[
        Path | None, Option("--write-heads", metavar="FILE", help="Write the heads of the chains to FILE.")
    ] = None,
) -> Result:
    """Check the hash chain over all events."""
    heads_before = None if heads is None else _noted(heads)
    with place.open() as log:
        verification = log.verify(heads=heads_before)
    if write_heads is not None and verification.ok:
        content = json.dumps({"schema": 1, "heads": verification.heads}, indent=2) + "\n"
        write_text(write_heads, content)

    def text(_width: int) -> Iterator[Line]:
        for fault in verification.faults:
            line = Line("FAULT ", "bold red").append(f"{plain(fault.agent)}, event {fault.seq}: ")
            yield line.append(plain(fault.what))
        chains = f"{count(verification.events, 'event')} in {count(len(verification.heads), 'chain')}"
        line = Line("verified", "bold green") if verification.ok else Line("NOT VERIFIED", "bold red")
        yield line.append(f": {chains}, {verification.purged} purged")

    return Result(verification.to_dict, text, Exit.DONE if verification.ok else Exit.NOT_VERIFIED)


def _noted(path: Path) -> dict[str, str]:
    try:
        table: Any = json.loads(read_text(path, _LARGEST_HEADS))
        heads = table["heads"]
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ConfigError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path}: no heads in it: {error}. --write-heads writes such a file") from error
    if not isinstance(heads, dict) or not all(isinstance(head, str) for head in heads.values()):
        raise ConfigError(f"{path}: expected an object 'heads' with a text for each agent")
    return heads


def _objections(decisions: Iterable[Decision]) -> dict[str, str]:
    """Returns the gate's reasons against a decision, by its id."""
    reasons = {each.id: each.assessment.reason for each in decisions if each.assessment is not None}
    return {identifier: reason for identifier, reason in reasons.items() if reason}


def _counts(title: str, rows: Mapping[str, Any], width: int) -> Iterator[Line]:
    if rows:
        table = Table(title, "", broken=(0, 1))
        for name, value in rows.items():
            table.add(name, str(value))
        yield Line()
        yield from table.lines(width)


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "not reviewed yet"
    low, high = rate.interval
    return f"{rate.value:.0%} ({low:.0%} to {high:.0%}), {rate.hits} of {rate.total} reviewed"


STATUS_STYLES = {
    Status.OPENED: "cyan",
    Status.ABANDONED: "dim",
    Status.KEPT: "green",
    Status.QUARANTINED: "yellow",
    Status.SUPERSEDED: "magenta",
    Status.PURGED: "dim",
}
OUTCOME_STYLES = {
    DecisionOutcome.SUCCESS: "green",
    DecisionOutcome.PARTIAL: "yellow",
    DecisionOutcome.FAILURE: "red",
    DecisionOutcome.NOT_A_DECISION: "dim",
    DecisionOutcome.UNKNOWN: "dim",
}
_NARROW = 72  # columns
_SHOWN = 300  # characters of a description in a list
_LATEST = 253402300799.0


def when(seconds: float | None) -> str:
    """A time to the minute, in UTC."""
    if seconds is None:
        return "-"
    if not -_LATEST <= seconds <= _LATEST:
        return f"{seconds:g} s"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M")


def decision_lines(
    decisions: Sequence[Decision], width: int, *, notes: Mapping[str, str] | None = None
) -> Iterator[Line]:
    """Yields a list of decisions.

    Args:
        decisions: In the order that they are shown in.
        width: Columns of the terminal.
        notes: What else is to be said of a decision, by its id, such as why the gate refused it.
    """
    notes = notes or {}
    table = Table("id", "when (UTC)", "status", "decision")
    for decision in decisions:
        status, opened, note = _status(decision), when(decision.opened_at), notes.get(decision.id)
        about = [Line(_described(decision)), *([Line.safe(note, "dim")] if note else [])]
        if width >= _NARROW:
            table.add(Line(decision.id, "dim"), opened, status, about)
            continue
        *above, last = status
        yield from above
        yield from last.append(" ").append(opened, "dim").append(f" {decision.id}", "dim").wrap(width)
        yield from (part for line in about for part in Line("  ").extend(line).wrap(width))
    if width >= _NARROW:
        yield from table.lines(width)


def _everything(decision: Decision) -> Iterator[Line]:
    """Yields everything about one decision."""
    *above, last = _status(decision)
    yield from above
    yield last.append(" ").append(decision.id, "dim")
    for line in decision.candidate.description.splitlines() or [""]:
        yield Line.safe(line, "bold")
    for name, value in _facts(decision):
        yield Line(f"  {name:<12} ", "dim").append(plain(value))


def _facts(decision: Decision) -> Iterator[tuple[str, str]]:
    candidate, scope = decision.candidate, decision.scope
    yield "opened", when(decision.opened_at)
    if decision.settled_at is not None and decision.settled_at != decision.opened_at:
        yield "settled", when(decision.settled_at)
    yield "of", ", ".join(name for name in (scope.agent, scope.session) if name)
    yield "source", f"{candidate.source}, frame {candidate.frame}" + (", forced" if decision.forced else "")
    if decision.document is not None:
        yield from _record_facts(decision.document)
    if decision.particulars is not None:
        yield from _particulars(decision.particulars)
    if decision.question and decision.question != candidate.description:
        yield "asked", decision.question
    if candidate.category:
        yield "category", candidate.category
    if candidate.stakes:
        yield "stakes", candidate.stakes.value
    if candidate.confidence is not None:
        yield (
            "confidence",
            f"{candidate.confidence:g}"
            + (f" ({candidate.confidence_source})" if candidate.confidence_source else ""),
        )
    for name, texts in (
        ("option", candidate.options),
        (
            "reason",
            [f"{reason.kind}: {reason.text}" if reason.kind else reason.text for reason in candidate.reasons],
        ),
        ("assumption", candidate.assumptions),
        ("thought", decision.thoughts),
    ):
        yield from ((name, text) for text in texts)
    if decision.prediction:
        yield "prediction", decision.prediction
    if decision.review_by is not None:
        yield "review by", when(decision.review_by)
    for link in decision.links:
        yield (
            "link",
            f"{link.relation.value.replace('_', ' ')} {link.to}" + (f": {link.why}" if link.why else ""),
        )
    if decision.superseded_by:
        yield "superseded", f"by {decision.superseded_by}"
    if decision.occurrences > 1:
        yield "decided", f"{decision.occurrences} times"
    for review in decision.reviews:
        evidence = f": {review.evidence}" if review.evidence else ""
        yield "review", f"{review.outcome.value} by {review.by}, {when(review.ts)}{evidence}"
    assessment = decision.assessment
    if assessment is not None:
        verdict = "keep" if assessment.keep else f"refuse: {assessment.reason}"
        yield (
            "gate",
            f"{verdict} (noise {assessment.noise:g}, choice {assessment.choice:g}, {assessment.profile})",
        )
        for rule in assessment.rules:
            phrase = f" {rule.phrase!r}" if rule.phrase else ""
            yield "", f"{rule.id}{phrase}: {rule.reason}"
    if decision.origin:
        yield "origin", decision.origin


def _record_facts(document: SourceDocument) -> Iterator[tuple[str, str]]:
    """Fields of the record that a decision has no place for."""
    fields = record_fields(document.text, document.name)
    rows = (
        ("record", document.name),
        ("status there", fields.status or ""),
        ("date", fields.date or ""),
        ("consulted", ", ".join(fields.consulted)),
        ("informed", ", ".join(fields.informed)),
    )
    yield from (row for row in rows if row[1])


def _particulars(particulars: Particulars) -> Iterator[tuple[str, str]]:
    if particulars.deciders:
        yield "deciders", ", ".join(particulars.deciders)
    if particulars.context:
        yield "context", particulars.context
    if particulars.choice:
        yield "choice", particulars.choice
    for option in particulars.options:
        sides = (("pro", option.pros), ("con", option.cons), ("neutral", option.neutral))
        yield from (
            (side, f"{option.title}: {argument}") for side, arguments in sides for argument in arguments
        )
    yield from (("consequence", text) for text in particulars.consequences)


def _status(decision: Decision) -> list[Line]:
    outcome = outcome_of(decision)
    lines = [Line(_status_word(decision), STATUS_STYLES[decision.status])]
    return lines if outcome is None else [*lines, Line(outcome.value, OUTCOME_STYLES[outcome])]


def _status_word(decision: Decision) -> str:
    """Returns the status, or that of its record where it is another one than accepted."""
    standing = decision.particulars.standing if decision.particulars else None
    is_said = standing not in (None, RecordStatus.ACCEPTED) and decision.status is Status.KEPT
    return standing.value if standing and is_said else decision.status.value


def _described(decision: Decision) -> str:
    return plain(decision.candidate.description, _SHOWN) or "(its text was purged)"
