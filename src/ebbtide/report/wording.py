"""Amounts, dates and verdicts in the words of a person, for the page and the terminal alike."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from ebbtide.budget.tally import dollars
from ebbtide.claims.sentences import is_refuted
from ebbtide.clock import calendar_seconds
from ebbtide.events.transcript import PERSONS
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.supervision.summary.headline import Course, Headline
from ebbtide.supervision.summary.run_facts import FailedCalls, Lookups, NamedCount, Waiting
from ebbtide.supervision.summary.run_summary import (
    RoundPoint,
    RunDecision,
    RunFinding,
    RunSummary,
    Spending,
    Tokens,
)
from ebbtide.supervision.summary.sentences import place, unit, unrecorded
from ebbtide.supervision.wording import listed

UNKNOWN = "unknown"
SHADOW = "Shadow mode: this was reported, and nothing was done about it."
LOW, HIGH = 0.15, 0.5  #: bands of novelty: under the first nothing is new, over the second most is
_BY_HEADLINE = {
    Headline.CUT_OFF: Action.NUDGE,
    Headline.BLOCKED: Action.ESCALATE,
    Headline.FAILED: Action.STOP,
    Headline.LIMIT: Action.STOP,
    Headline.STUCK: Action.STOP,
}
_STATED = ("transcript", "transcript-jsonl")  # formats that number their rounds
_OFTEN = 3  # times from which something is worth a line
_MINUTE, _HOUR, _DAY = 60, 3600, 86400

ADD_PRICES = "Add prices with --prices FILE."


def badness(summary: RunSummary) -> tuple[float, int, int, float, int, str]:
    """Returns the key that sorts runs: what wasted most money first, then worst, most expensive, longest."""
    rank = tuple(Headline).index(summary.headline)
    return (
        -round(summary.bill.wasted.cost_usd or 0.0, 2),
        -severity(summary).rank,
        -rank,
        -(summary.spent.cost_usd or 0.0),
        -summary.spent.events,
        summary.source,
    )


def severity(summary: RunSummary) -> Action:
    """Returns how bad a run came out, as an action: by how it ended and by how it went."""
    by_course = Action.ALLOW if summary.course is Course.HEALTHY else Action.NUDGE
    return max(_BY_HEADLINE.get(summary.headline, Action.ALLOW), by_course, key=lambda action: action.rank)


_UNTIL: Final[Mapping[EndKind, str]] = {
    EndKind.FINISHED: " until its final message",
    EndKind.HANDED_BACK: " until it turned to a person",
    EndKind.CUT_OFF: " until it was cut off",
    EndKind.BLOCKED: " until it was blocked",
    EndKind.FAILED: " until it failed",
    EndKind.LIMIT: " until the limit ended it",
}


def at_end(summary: RunSummary) -> str | None:
    """Returns how the run stood at its end, if that is better than its verdict; None if it is not."""
    latest = summary.latest
    if latest.rank >= summary.verdict.rank or summary.verdict.action is Action.FINALIZE:
        return None
    if latest.action is Action.ALLOW:
        return (
            "It recovered." if summary.recovered else f"It continued{_UNTIL.get(summary.ending.ending, '')}."
        )
    behind = next((item.sentence for item in summary.findings if item.id == latest.loop_id), None)
    when = "At its end" if summary.over else "Now"
    return f"{when}: {latest.reason if behind is None else f'{behind}.'}"


def began_at(run: RunSummary) -> datetime | None:
    """Returns the time of the first event that has one, in UTC; None if that is unknown, or no date."""
    return _moment(run.began_s)


def ended_at(run: RunSummary) -> datetime | None:
    """Returns the time of the last event that has one, likewise."""
    return _moment(run.ended_s)


def day(moment: datetime) -> str:
    """Returns a moment as a date.

    >>> day(datetime(2026, 1, 4, 10, 12, tzinfo=UTC))
    '2026-01-04'
    """
    return f"{moment:%Y-%m-%d}"


def minute(moment: datetime) -> str:
    """Returns a moment as a date and a time.

    >>> minute(datetime(2026, 1, 4, 10, 12, tzinfo=UTC))
    '2026-01-04 10:12 UTC'
    """
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def period(run: RunSummary) -> str | None:
    """Returns the first and last minute of a run; None if that is unknown."""
    first, last = began_at(run), ended_at(run)
    if first is None or last is None:
        return None
    if last.date() == first.date():
        return (
            minute(first) if minute(first) == minute(last) else f"{first:%Y-%m-%d %H:%M} to {last:%H:%M} UTC"
        )
    return f"{first:%Y-%m-%d %H:%M} to {minute(last)}"


def project_name(folder: str) -> str:
    """Returns the name of the project in a folder: of a working tree of git, that of its repository.

    >>> project_name("/srv/shop"), project_name("/srv/shop/.worktrees/2")
    ('shop', 'shop')
    """
    parts = [part for part in folder.replace("\\", "/").split("/") if part]
    for number, part in enumerate(parts[:-1]):
        if part.lstrip(".") == "worktrees":
            above = [name for name in parts[:number] if not name.startswith(".")]
            return above[-1] if above else parts[-1]
    return parts[-1] if parts else ""


def about(summary: RunSummary) -> str:
    """Returns what a run was about: its title, its project and its time, as far as they are known."""
    project = project_name(summary.project or "")
    began = began_at(summary)
    place = ", ".join(filter(None, (project, "" if began is None else minute(began))))
    if summary.title:
        return f"{summary.title} ({place})" if place else summary.title
    return place if project else ""


def nothing_found(summary: RunSummary) -> str:
    """Returns the problems that were looked for in a run without findings."""
    limit = "" if summary.headline is Headline.LIMIT else ", no limit passed"
    return f"no loop{limit}, no runaway cost"


def money(amount: float | None) -> str:
    """Returns dollars; small amounts with two digits that say something, so that no cost reads as zero.

    >>> money(1.838), money(0.00042), money(0.0), money(None)
    ('$1.84', '$0.00042', '$0.00', 'unknown')
    """
    return UNKNOWN if amount is None else dollars(amount)


def duration(seconds: float | None) -> str:
    """Returns a time in two units at most.

    >>> duration(0.25), duration(42.0), duration(150.0), duration(4000.0), duration(200_000.0), duration(None)
    ('0.2 s', '42 s', '2 min 30 s', '1 h 6 min', '2.3 days', 'unknown')
    """
    if seconds is None:
        return UNKNOWN
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return _two(whole // _MINUTE, "min", whole % _MINUTE, "s")
    if whole < 2 * _DAY:
        return _two(whole // _HOUR, "h", whole % _HOUR // _MINUTE, "min")
    return f"{seconds / _DAY:.1f} days"


def where(finding: RunFinding, spending: Spending) -> str:
    """Returns the place of a finding in the run: "calls 4-25", or events if not all of them are calls."""
    return place(finding, unit(spending))


def in_order(findings: Iterable[RunFinding]) -> str:
    """Returns how several findings are listed; two that share an event share what it cost."""
    end = 0
    spans = sorted((span.first, span.last) for item in findings for span in item.spans)
    for first, last in spans:
        if first <= end:
            return "most expensive first; they overlap, so their costs do not add up"
        end = last
    return "most expensive first"


def token_classes(tokens: Tokens) -> list[str]:
    """Returns each class of which there are some.

    >>> token_classes(Tokens(input=1200, output=80, cache_read=0))
    ['1,200 in', '80 out']
    """
    classes = (
        (tokens.input, "in"),
        (tokens.output, "out"),
        (tokens.cache_read, "from cache"),
        (tokens.cache_write, "to cache"),
    )
    return [f"{amount:,} {name}" for amount, name in classes if amount]


def cost(spending: Spending) -> str:
    """Returns what is known of the cost; with a plus if it is a lower bound.

    >>> cost(Spending(cost_usd=1.2, unpriced=3)), cost(Spending(unpriced=3))
    ('$1.20+', 'unknown')
    """
    return money(spending.cost_usd) + "+" * (spending.cost_usd is not None and spending.is_least)


def missing_cost(spending: Spending) -> str | None:
    """Returns what is missing in the cost, in a sentence or two; None if nothing is."""
    parts = [_without_price(spending), ADD_PRICES] if spending.unpriced else []
    if spending.unrecorded:
        calls = count(spending.unrecorded, "tool call")
        parts.append(f"The cost of {calls} by sub-agents is not in the record, so it cost more.")
    if spending.understated:
        parts.append("The record reports less output than its texts contain, so it cost more.")
    return " ".join(parts) or None


def _without_price(spending: Spending) -> str:
    names = [name for name in spending.unpriced_models if name]
    models = f" ({listed(names)})" if names else ""
    if 0 < spending.llm_calls < spending.unpriced:  # sums that are stated of calls which are not recorded
        calls = f"some tokens{models}"
    else:
        calls = f"{count(spending.unpriced, 'model call')}{models}"
    return f"No price is known for {calls}{'' if spending.cost_usd is None else ', so it cost more'}."


def reasons(refused_items: Iterable[RunDecision], most: int = 4) -> str:
    """Returns why sentences were refused, the most frequent reason first."""
    counts = Counter(map(_reason, refused_items)).most_common()
    if len(counts) == 1:
        return counts[0][0]
    parts = [f"{text} ({number:,})" if number > 1 else text for text, number in counts[:most]]
    return ", ".join(parts) + (f" and {len(counts) - most} more" if len(counts) > most else "")


def folder_of(sources: Sequence[str]) -> str:
    """Returns the folder that all of them are in, with its separator; empty if there is none."""
    try:
        folder = os.path.commonpath([os.path.dirname(name) for name in sources])  # noqa: PTH120 - of any text
    except ValueError:  # none, absolute and relative names, or several drives
        return ""
    return f"{folder}{os.sep}" if folder and folder != os.sep else ""


def amounts(cost_usd: float | None, tokens: int | None, seconds: float | None = None) -> str:
    """Returns what is known of a cost, tokens and a time, with commas; empty if nothing is."""
    parts = [] if cost_usd is None else [money(cost_usd)]
    parts += [] if tokens is None else [count(tokens, "token")]
    parts += [] if seconds is None else [duration(seconds)]
    return ", ".join(parts)


def saved(summary: RunSummary) -> str | None:
    """Returns where the run would have been stopped, and what came after; None if it would not."""
    saving = summary.saving
    if saving is None:
        return None
    action = saving.verdict.action
    event = "" if saving.verdict.event is None else f" event {saving.verdict.event:,}"
    after = saving.after
    spending = amounts(after.cost_usd, after.tokens.total, after.seconds)
    rest = f"{count(after.events, 'event')}{', ' * bool(spending)}{spending}"
    if not summary.recovered:
        step = {Action.FINALIZE: "Finishing", Action.ESCALATE: "Asking a person"}.get(action, "A stop")
        so_far = "" if summary.over else " so far"
        return f"{step}{' after' * bool(event)}{event} would have saved {rest}{so_far}."
    verb = {Action.FINALIZE: "finished", Action.ESCALATE: "handed to a person"}.get(action, "stopped")
    return f"It would have been {verb}{' after' * bool(event)}{event}. It took another {rest} to recover."


def missing(summary: RunSummary) -> str | None:
    """Returns what was not recorded, and what to switch on; None if the reason says it all."""
    coverage = summary.facts.coverage
    sentence = unrecorded(coverage)
    if sentence is None:
        return None
    parts = [part for part in (sentence, coverage.advice) if part and part != summary.reason]
    return " ".join(parts) or None


def call_facts(summary: RunSummary) -> list[str]:
    """Returns failed calls, repeated look-ups and waiting, a line each; none if there is nothing to say."""
    facts = summary.facts
    lines = [_failures(facts.failures, summary.spent.tool_calls), _model_errors(facts.failures)]
    lines.append(_lookups(facts.lookups))
    lines += _waiting(facts.waiting, summary.spent.seconds)
    return [line for line in lines if line]


def longest(rounds: Sequence[RoundPoint]) -> tuple[RoundPoint, ...]:
    """Returns the rounds of one chain, that with the most of them.

    The novelty of two conversations is no curve.
    """
    counts = Counter(point.chain_id for point in rounds)
    if len(counts) < 2:
        return tuple(rounds)
    chain = counts.most_common(1)[0][0]
    return tuple(point for point in rounds if point.chain_id == chain)


def convergence(summary: RunSummary) -> str:
    """Returns whether the longest conversation of the run converged, in a sentence without an end."""
    rounds = longest(summary.rounds)
    if len(rounds) < 2:
        return f"not judged: {'one round is too few' if rounds else 'there are no rounds of conversation'}"
    several = len({point.chain_id for point in summary.rounds})
    # The engine's last signal may be about another chain.
    signal = rounds[-1].signal if several > 1 else summary.converged or rounds[-1].signal
    which = f", in the longest of {several:,} conversations" if several > 1 else ""
    low = rounds[-1].novelty_rate < LOW
    match signal:
        case _ if rounds[-1].signal == "SHIP" and is_refuted(summary.claims):
            sentence = (
                f"not yet, after {len(rounds):,} rounds: nothing new, but the record contradicts its report"
            )
        case "SHIP":
            sentence = (
                f"yes, after {len(rounds):,} rounds: the last round brought nothing new, and the result was "
                "ready"
            )
        case "ESCALATE":
            sentence = (
                f"no, stuck after {len(rounds):,} rounds: nothing new, and nothing says that it is finished"
            )
        case _ if low:
            sentence = (
                f"not yet, after {len(rounds):,} rounds: the last round brought nothing new, which is too "
                "little to judge"
            )
        case _:
            sentence = f"no, after {len(rounds):,} rounds: the last round still brought something new"
    return f"{sentence}{which}"


def round_cut(
    rounds: int,
    *,
    form: str,
    unit: str = "turn",
    calls: int = 0,
    people: bool = True,
    conversations: int = 1,
) -> str:
    """Returns how many rounds there are, and how they were cut, in a sentence without an end.

    >>> round_cut(12, form="codex", calls=40)
    '12 rounds: one per turn of a speaker; turns that lead to a call are left out'

    Args:
        rounds: Rounds of the conversation that is judged.
        unit: Unit of a round if the format does not state it: ``turn`` or ``circle``.
        calls: Calls of tools in the run.
        people: True if what people say is among them: it is where hardly anything is called.
        conversations: Conversations in the run; this one is the longest.
    """
    which = f" in the longest of {conversations:,} conversations" if conversations > 1 else ""
    number = f"{count(rounds, 'round')}{which}"
    if form in _STATED:
        return f"{number}, as the file numbers them"
    speaker = "model" if calls and not people else "speaker"
    each = "one per circle of the speakers" if unit == "circle" else f"one per turn of a {speaker}"
    if not calls:
        return f"{number}: {each}"
    others = "" if people else ", and so are messages of people"
    return f"{number}: {each}; turns that lead to a call are left out{others}"


def cut_of(summary: RunSummary) -> str:
    """Returns how the rounds of the longest conversation of a run were cut."""
    rounds = longest(summary.rounds)
    return round_cut(
        len(rounds),
        form=summary.format,
        calls=summary.spent.tool_calls,
        people=any((point.agent or "").lower() in PERSONS for point in rounds),
        conversations=len({point.chain_id for point in summary.rounds}),
    )


def last_round(rounds: Sequence[RoundPoint]) -> str:
    """Returns the numbers of the last round, both from 0 to 1."""
    last = rounds[-1]
    return f"at the end novelty {last.novelty_rate:.2f}, readiness {last.readiness:.2f}"


def _two(large: int, unit: str, small: int, part: str) -> str:
    return f"{large} {unit} {small} {part}" if small else f"{large} {unit}"


def _reason(item: RunDecision) -> str:
    if item.duplicate_of is not None:
        return "it repeats an earlier one"
    return _clause(item.reason or "no reason given")


def _clause(sentence: str) -> str:
    """Returns a sentence as a part of another."""
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _failures(failures: FailedCalls, tool_calls: int) -> str | None:
    if not failures.calls:
        return None
    if failures.refused == failures.calls:
        were = "was" if failures.calls == 1 else "were"
        return f"{count(failures.calls, 'call')} {were} refused: {_counts(failures.by_tool)}"
    sentence = f"{failures.calls:,} of {count(tool_calls, 'call')} failed"
    sentence += f" ({failures.refused:,} refused)" if failures.refused else ""
    sentence += f": {_counts(failures.by_tool)}"
    if failures.message and failures.message_count >= _OFTEN:
        sentence += f"; {failures.message_count:,} times with a message like \u201c{failures.message}\u201d"
    return sentence


def _model_errors(failures: FailedCalls) -> str | None:
    errors, seconds = failures.model_errors, failures.model_error_seconds
    if not errors:
        return None
    took = f", {duration(seconds)} in all" if seconds and seconds >= 1 else ""
    return f"{count(errors, 'model call')} failed{took}"


def _lookups(lookups: Lookups) -> str | None:
    if lookups.calls < _OFTEN:
        return None
    calls = ", ".join(f"{call.name} ({count(call.count, 'more time')})" for call in lookups.by_call[:2])
    return f"{lookups.calls:,} calls repeated a look-up of unchanged data, most often {calls}"


def _waiting(waiting: Waiting, whole_s: float | None) -> list[str]:
    lines = []
    active = None if whole_s is None else whole_s - waiting.pause_seconds
    if active and waiting.seconds >= max(_MINUTE, active / 4):
        tools = ", ".join(f"{tool.name} {duration(tool.seconds)}" for tool in waiting.by_tool[:3])
        lines.append(f"{duration(waiting.seconds)} of {duration(active)} passed in calls: {tools}")
    if waiting.pauses:
        pauses = count(waiting.pauses, "pause")
        lines.append(f"{pauses} of more than 5 min, {duration(waiting.pause_seconds)} in all")
    return lines


def _counts(counts: Sequence[NamedCount], most: int = 3) -> str:
    parts = [f"{tool.name} {tool.count:,}" for tool in counts[:most]]
    rest = sum(tool.count for tool in counts[most:])
    return ", ".join(parts) + (f", others {rest:,}" if rest else "")


def _moment(ts: float | None) -> datetime | None:
    seconds = calendar_seconds(ts)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
