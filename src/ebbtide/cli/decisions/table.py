"""Decisions on a terminal: as a table where there is room, one below the other where there is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ebbtide.cli.terminal import plain, styled
from ebbtide.decision_log.record.particulars import Particulars, RecordStatus
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, SourceDocument, Status
from ebbtide.decision_log.record.review import outcome_of

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
    """What the record says that a decision has no place for."""
    from ebbtide.decision_log.exchange.record_fields import record_fields

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
    """Where it stands, or what the team says of it where that is not that it is accepted."""
    standing = decision.particulars.standing if decision.particulars else None
    is_said = standing not in (None, RecordStatus.ACCEPTED) and decision.status is Status.KEPT
    return standing.value if standing and is_said else decision.status.value


def _described(decision: Decision) -> str:
    return plain(decision.candidate.description, _SHOWN) or "(its text was purged)"
