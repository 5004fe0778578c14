"""`ebbtide decisions list | show | stats | verify`: what is only read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ebbtide.cli.decisions.place import Identifier, Limit, Place, Since, Until, past_moment_of, with_log
from ebbtide.cli.declaration import Argument, AsJson, Command, Option
from ebbtide.cli.exits import Exit
from ebbtide.cli.terminal import console, plain, print_json, styled, warn
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

if TYPE_CHECKING:
    from ebbtide.text.embedding.vectors import Embedder

_LARGEST_HEADS = 16 << 20  # bytes of a file


Statuses = Annotated[
    list[Status] | None, Option("--status", metavar="STATUS", help="Only these. Repeatable.")
]


@click.command(name="list", cls=Command)
@with_log(session=True)
def list_decisions(
    place: Place,
    words: Annotated[
        str | None, Argument(metavar="[WORDS]", help="Words to look for; the best hits come first.")
    ] = None,
    meaning: Annotated[
        bool, Option("--meaning", help="Find what says the same in other words, too; extra semantic.")
    ] = False,
    overdue: Annotated[
        bool, Option("--overdue", help="Those whose review date has passed, and that nobody reviewed.")
    ] = False,
    status: Statuses = None,
    category: Annotated[
        str | None, Option("--category", "-c", metavar="NAME", help="Of this category.")
    ] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Annotated[
        str | None, Option("--cursor", metavar="CURSOR", help="Where the page before ended.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List decisions, the newest first, or find them by words; with --status quarantined what was refused."""
    states = tuple(status) if status else None
    filters = {"--category": category, "--since": since, "--until": until, "--cursor": cursor}
    others = [name for name, value in filters.items() if value is not None]
    if (words is not None or overdue) and others:
        raise ConfigError(
            f"{others[0]} goes with the whole list: not with {'WORDS' if words else '--overdue'}"
        )
    if words is not None:
        _search(place, words, meaning=meaning, status=states, limit=limit, as_json=as_json)
        return
    if meaning:
        raise ConfigError("--meaning needs WORDS to look for")
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
    if as_json:
        print_json(page.to_dict())
        return
    quarantined = states is not None and Status.QUARANTINED in states
    empty = "No review is overdue." if overdue else "No decisions."
    notes = _objections(page.decisions) if quarantined else None
    _print_list(list(page.decisions), notes=notes, empty=empty)
    if page.cursor:
        warn(f"there are more: --cursor {page.cursor}")


def _search(
    place: Place, query: str, *, meaning: bool, status: tuple[Status, ...] | None, limit: int, as_json: bool
) -> None:
    """Print the decisions that have words, or mean the same; the best first."""
    embedder = _embedder(place) if meaning else None
    with place.open() as log:
        if embedder is None:
            hits = log.search(query, limit=limit, status=status)
        else:
            with console(stderr=True).status("Reading what the decisions mean"):
                hits = search_by_meaning(log, query, embedder, limit=limit, status=status)
    if as_json:
        print_json({"schema": 1, "query": query, "hits": [hit.to_dict() for hit in hits]})
        return
    notes = {hit.decision.id: "by its meaning" for hit in hits if FoundBy.WORDS not in hit.found_by}
    _print_list([hit.decision for hit in hits], notes=notes)
    if not hits and not meaning:
        warn("no decision has these words; --meaning finds what says the same in other words")


def _embedder(place: Place) -> Embedder | None:
    """Returns the embedder; None, with a hint, where it is not installed."""
    from ebbtide.text.embedding.embedder import open_embedder

    try:
        return open_embedder(cache=place.vectors)
    except SemanticError as error:
        warn(f"only words are compared: {error}")
        return None


@click.command(cls=Command)
@with_log(session=False)
def show(
    place: Place,
    decision: Identifier,
    events: Annotated[bool, Option("--events", help="With everything that happened to it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show everything that is known of a decision."""
    with place.open() as log:
        decision_id = log.resolve(decision)
        found = log.get(decision_id)
        history = log.events(decision_id) if events else ()
    if as_json:
        wire = decision_document(found)
        print_json({**wire, "events": [event.to_dict() for event in history]} if events else wire)
        return
    terminal = console()
    print_decision(terminal, found)
    for event in history:
        body = json.dumps(event.body, ensure_ascii=False) if event.body is not None else "(purged)"
        line = Text.assemble((f"  {event.seq:>6} {when(event.ts)}  {event.kind.value:<12} ", "dim"))
        terminal.print(line.append(plain(body, 200)), soft_wrap=True)


@click.command(cls=Command)
@with_log(session=False)
def stats(
    place: Place,
    prometheus: Annotated[bool, Option("--prometheus", help="Print metrics for Prometheus.")] = False,
    sample: Annotated[
        int | None,
        Option(
            "--sample",
            metavar="N",
            at_least=1,
            at_most=10_000,
            help="Draw so many kept and refused ones to look at, with the rates of those reviewed.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count what was kept and what was refused, by rule."""
    if sample is not None:
        _sample(place, size=sample, as_json=as_json)
        return
    with place.open() as log:
        counters = log.counts()
    if prometheus:
        sys.stdout.write(counters.prometheus())
        return
    if as_json:
        print_json(counters.to_dict())
        return
    terminal = console()
    total = counters.kept + counters.refused
    line = f"{counters.kept} kept, {counters.refused} refused"
    terminal.print(Text(f"{line} of {total} candidates" if total else "No candidates yet", style="bold"))
    if counters.would_refuse:
        terminal.print(f"{counters.would_refuse} were kept over the objection of the gate.")
    if counters.not_captured:
        terminal.print(f"{counters.not_captured} were not looked at, because of their frame.")
    _print_counts("refused by rule", counters.refused_by_rule())
    _print_counts("in the log now", counters.by_status)
    for name in ("source", "frame", "mode"):
        rows = counters.by(name)
        if rows:
            lines = {
                value: ", ".join(f"{times} {key}" for key, times in of.items()) for value, of in rows.items()
            }
            _print_counts(f"by {name}", lines)


def _sample(place: Place, *, size: int, as_json: bool) -> None:
    """Print decisions for people to look at, and what those who did found."""
    with place.open() as log:
        samples = log.sample(size)
    if as_json:
        print_json(samples.to_dict())
        return
    terminal = console()
    for decisions, of, what in (
        (samples.kept_decisions, samples.kept_of, "that the gate kept"),
        (samples.refused_decisions, samples.refused_of, "that it was against"),
    ):
        terminal.print(Text(f"{len(decisions)} of {of} {what}", style="bold"))
        if decisions:
            print_decisions(terminal, decisions, notes=_objections(decisions))
        terminal.print()
    terminal.print(f"Noise among the kept:      {_rate(samples.noise)}")
    terminal.print(f"Missed among the refused:  {_rate(samples.missed)}")
    terminal.print(
        styled("`ebbtide decisions review ID not_a_decision` or `restore ID` says what one is.", "dim"),
        soft_wrap=True,
    )


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "everything is as it was written",
        Exit.NOT_VERIFIED: "something was changed or is missing",
    },
)
@with_log(session=False)
def verify(
    place: Place,
    heads: Annotated[
        Path | None,
        Option("--heads", metavar="FILE", help="Heads that --write-heads noted; they must be in the log."),
    ] = None,
    write_heads: Annotated[
        Path | None, Option("--write-heads", metavar="FILE", help="Note the heads of the chains in FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the chain of hashes over all events."""
    heads_before = None if heads is None else _noted(heads)
    with place.open() as log:
        verification = log.verify(heads=heads_before)
    if as_json:
        print_json(verification.to_dict())
    else:
        terminal = console()
        for fault in verification.faults:
            place_of = f"{plain(fault.agent)}, event {fault.seq}: "
            terminal.print(Text.assemble(("FAULT ", "bold red"), place_of, plain(fault.what)), soft_wrap=True)
        chains = f"{count(verification.events, 'event')} in {count(len(verification.heads), 'chain')}"
        verdict = ("verified", "bold green") if verification.ok else ("NOT VERIFIED", "bold red")
        terminal.print(Text.assemble(verdict, f": {chains}, {verification.purged} purged"))
    if write_heads is not None and verification.ok:
        text = json.dumps({"schema": 1, "heads": verification.heads}, indent=2) + "\n"
        try:
            write_heads.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{write_heads}: cannot be written: {error.strerror or error}") from error
    if not verification.ok:
        raise SystemExit(Exit.NOT_VERIFIED)


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


def _print_list(
    decisions: list[Decision], *, notes: Mapping[str, str] | None = None, empty: str = "No decisions."
) -> None:
    terminal = console()
    if decisions:
        print_decisions(terminal, decisions, notes=notes)
    else:
        terminal.print(empty)


def _print_counts(title: str, rows: dict[str, Any]) -> None:
    if not rows:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(title, overflow="fold")
    table.add_column("", overflow="fold")
    for name, value in rows.items():
        table.add_row(styled(name), styled(str(value)))
    terminal = console()
    terminal.print()
    terminal.print(table)


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "nobody looked yet"
    low, high = rate.interval
    return f"{rate.value:.0%} ({low:.0%} to {high:.0%}), {rate.hits} of {rate.total} looked at"


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


def print_decisions(
    terminal: Console,
    decisions: Sequence[Decision],
    *,
    notes: Mapping[str, str] | None = None,
) -> None:
    """A list of decisions.

    Args:
        terminal: Where to.
        decisions: In the order that they are shown in.
        notes: What else is to be said of a decision, by its id, such as why the gate refused it.
    """
    notes = notes or {}
    if terminal.width < _NARROW:
        for decision in decisions:
            terminal.print(
                _status(decision), styled(when(decision.opened_at), "dim"), styled(decision.id, "dim")
            )
            terminal.print(styled(_described(decision), indent=2))
            if note := notes.get(decision.id):
                terminal.print(styled(note, "dim", indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("id", no_wrap=True, style="dim")
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("decision", overflow="fold", ratio=1)
    for decision in decisions:
        text = styled(_described(decision))
        if note := notes.get(decision.id):
            text.append(f"\n{plain(note)}", style="dim")
        table.add_row(decision.id, when(decision.opened_at), _status(decision), text)
    terminal.print(table)


def print_decision(terminal: Console, decision: Decision) -> None:
    """Everything about one decision."""
    terminal.print(_status(decision), styled(decision.id, "dim"), soft_wrap=True)
    for line in decision.candidate.description.splitlines() or [""]:
        terminal.print(styled(line, "bold"), soft_wrap=True)
    for name, value in _facts(decision):
        terminal.print(Text.assemble((f"  {name:<12} ", "dim"), plain(value)), soft_wrap=True)


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


def _status(decision: Decision) -> Text:
    text = Text(_status_word(decision), style=STATUS_STYLES[decision.status])
    outcome = outcome_of(decision)
    if outcome is not None:
        text.append(f"\n{outcome.value}", style=OUTCOME_STYLES[outcome])
    return text


def _status_word(decision: Decision) -> str:
    """Returns the status, or that of its record where it is another one than accepted."""
    standing = decision.particulars.standing if decision.particulars else None
    is_said = standing not in (None, RecordStatus.ACCEPTED) and decision.status is Status.KEPT
    return standing.value if standing and is_said else decision.status.value


def _described(decision: Decision) -> str:
    return plain(decision.candidate.description, _SHOWN) or "(its text was purged)"
