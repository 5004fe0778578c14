"""`ebbtide decisions from`: a recorded conversation through the gate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import click

from ebbtide.checking import refuse_nothing
from ebbtide.cli.decisions.place import Place, Users, with_log
from ebbtide.cli.declaration import Argument, Command, Option, ProfileName, Redact
from ebbtide.cli.result import Result
from ebbtide.cli.single_file import single_file
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, plain, warn
from ebbtide.decision_log.exchange.arrivals import Origins
from ebbtide.decision_log.exchange.importing import import_decisions
from ebbtide.decision_log.record.record import Decision, DecisionScope
from ebbtide.decisions.turns.answered_questions import ASKING_TOOLS
from ebbtide.decisions.turns.filtered_turns import (
    Disposition,
    FilteredCandidate,
    FilteredTurns,
    SpokenTurn,
    turn_of,
)
from ebbtide.decisions.turns.turn_candidates import TurnCandidate
from ebbtide.decisions.turns.turn_filter import TurnFilter
from ebbtide.divergence.monitor import tools_of
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.profile import Profile
from ebbtide.report.plurals import count
from ebbtide.text.extraction.turn import Speaker
from ebbtide.text.redaction import redact as masked
from ebbtide.text.redaction import redacted
from ebbtide.traces.input.source import STDIN
from ebbtide.traces.reading import Trace, open_trace
from ebbtide.traces.records.readers import TraceItem

_STYLES = {
    Disposition.KEPT: "bold green",
    Disposition.REFUSED: "yellow",
    Disposition.DUPLICATE: "cyan",
    Disposition.PROPOSED: "blue",
}
_NAME = 100  # characters of a speaker


@click.command(cls=Command, name="from")
@with_log("agent", "session")
def from_trace(
    place: Place,
    file: Annotated[str, Argument(metavar="FILE", help="A conversation, or - for standard input.")],
    everyone: Users = False,
    save: Annotated[bool, Option("--save", help="Record the kept decisions in the log.")] = False,
    refused: Annotated[
        bool, Option("--refused/--no-refused", help="List the refused candidates; the default is yes.")
    ] = True,
    profile: ProfileName = "default",
    redact: Redact = True,
) -> Result:
    """Run a conversation through the gate.

    The screen lists what the gate would keep, what it would refuse, and why.
    """
    name = single_file(file, "Name one of its files.")
    rules = Profile.load(profile)
    trace = open_trace(name)
    filtered = filtered_trace(trace, rules, everyone=everyone)
    refuse_nothing(trace.source, trace.events, trace.faults)
    saved = _save(name, place, filtered) if save else None
    if redact:
        filtered = redacted(filtered)

    def text(width: int) -> Iterator[Line]:
        yield from _lines(filtered, width, refusals_too=refused)
        if saved is not None:
            new, present = saved["new"], saved["present"]
            yield Line(f"{new} recorded" + (f", {present} already there" if present else ""))

    if trace.fault_count:
        warn(f"{count(trace.fault_count, 'part')} of the trace could not be read:")
        for fault in trace.faults:
            print(f"  {plain(masked(str(fault)))}", file=sys.stderr)
    return Result(lambda: {**filtered.to_dict(), "saved": saved}, text)


def filtered_trace(trace: Trace, rules: Profile, *, everyone: bool) -> FilteredTurns:
    """Takes a conversation through the gate, with the calls that carry out what was decided.

    Args:
        trace: The conversation; it is read to its end.
        rules: What the gate goes by.
        everyone: Read what users say too.
    """
    turn_filter, tools = TurnFilter(rules), tools_of(None, rules.divergence)
    candidates: dict[str, FilteredCandidate] = {}
    turns = 0
    for number, event in enumerate(trace, start=1):
        if isinstance(event, ToolCall):
            is_asked = event.name in ASKING_TOOLS
            if event.error or (is_asked and not everyone):
                continue
            new = turn_filter.call(turns + 1 if is_asked else number, event, tools)
            turns += is_asked and bool(new)
            candidates.update((each.id, each) for each in new)
            continue
        turn = _turn(event, turns + 1)
        if turn is None:
            continue
        turns += 1
        if turn.text.strip():
            is_asked_for = everyone or turn.role is Speaker.MODEL
            new = turn_filter.take(turn) if is_asked_for else turn_filter.hear(turn)
            candidates.update((each.id, each) for each in new)
    return turn_filter.result(candidates)


def _turn(event: TraceItem, number: int) -> SpokenTurn | None:
    """Returns the turn that an item of a trace is; None for what is none."""
    if isinstance(event, ModelCall | Message):
        return SpokenTurn.of(event, number)
    if isinstance(event, Event):
        return None
    role = Speaker.PERSON if event.is_by_person else Speaker.MODEL
    return SpokenTurn(number=number, speaker=event.agent or "agent", text=event.words, role=role)


def _save(name: str, place: Place, filtered: FilteredTurns) -> dict[str, int]:
    session = place.session or ("stdin" if name == STDIN else Path(name).name)[:_NAME]
    origins = Origins("trace")
    entries = [
        Decision(
            scope=DecisionScope(
                agent=plain(each.turn.speaker, _NAME) or DecisionScope().agent, session=plain(session, _NAME)
            ),
            candidate=each.sentence.candidate(),
            opened_at=each.turn.ts,
            settled_at=each.turn.ts,
            assessment=each.assessment,
            origin=origins.of({"session": session, "turn": each.turn.number, "text": each.sentence.text}),
        )
        for each in filtered.having(Disposition.KEPT)
    ]
    with place.open(new=True) as log:
        report = import_decisions(log, entries)
    return {"new": len(report.created), "present": report.present}


def _lines(filtered: FilteredTurns, width: int, *, refusals_too: bool) -> Iterator[Line]:
    for disposition in Disposition:
        if disposition is Disposition.REFUSED and not refusals_too:
            continue
        candidates = filtered.having(disposition)
        if not candidates:
            continue
        yield Line(disposition.value.capitalize(), _STYLES[disposition])
        table = Table("", "", gap=1)
        for each in candidates:
            table.add(Line(f"{each.turn.number:>5}", "dim"), list(_candidate_lines(each)))
        yield from table.lines(width, header=False)
        yield Line()
    numbers = {disposition: len(filtered.having(disposition)) for disposition in Disposition}
    counts = [f"{numbers[Disposition.KEPT]:,} kept", f"{numbers[Disposition.REFUSED]:,} refused"]
    counts.append(count(numbers[Disposition.DUPLICATE], "duplicate"))
    proposals = numbers[Disposition.PROPOSED]
    counts += [count(proposals, "open proposal")] if proposals else []
    counts += [count(filtered.reversals, "possible reversal")] if filtered.reversals else []
    counts += (
        [f"{filtered.left_out:,} left out, in turns with too many candidates"] if filtered.left_out else []
    )
    counts += [f"{count(filtered.cut, 'long turn')} cut"] if filtered.cut else []
    where = f"in {count(filtered.turns, 'turn')}"
    if filtered.heard:
        where += f" of agents; {count(filtered.heard, 'turn')} of users not searched (--users searches them)"
    yield from Line(f"{', '.join(counts)}, {where}").wrap(width)


def _candidate_lines(each: FilteredCandidate) -> Iterator[Line]:
    yield Line(f"{plain(each.turn.speaker, 24)}: ", "dim").append(plain(each.sentence.text))
    slots = _slots(each.sentence)
    if slots and each.disposition in (Disposition.KEPT, Disposition.PROPOSED):
        yield Line(slots)
    if each.disposition is Disposition.KEPT:
        witnesses = [f"accepted in turn {each.accepted}"] if each.accepted else []
        witnesses += [f"carried out by event {each.carried_out}"] if each.carried_out else []
        if witnesses:
            yield Line(", ".join(witnesses), "green")
        yield Line(_why(each), "dim")
        if each.reverses:
            yield Line(f"Does it replace what was said in turn {turn_of(each.reverses)}?", "magenta")
    elif each.disposition is Disposition.DUPLICATE and each.duplicate is not None and each.duplicate.of:
        measure = f"{each.duplicate.measure} {each.duplicate.score or 0:.2f}"
        yield Line(f"already said in turn {turn_of(each.duplicate.of)}: {measure}", "dim")
    else:
        rule = "" if each.assessment.primary is None else each.assessment.primary.id
        yield Line(f"{rule}: {plain(each.assessment.reason or '')}", "dim")


def _slots(sentence: TurnCandidate) -> str:
    """Returns the choice, its alternative and its reason, as far as the sentence says more than itself."""
    choice = sentence.choice if sentence.choice != sentence.text else None
    slots = {"chosen": choice, "over": sentence.over, "why": sentence.why}
    return " \N{MIDDLE DOT} ".join(f"{name}: {plain(words)}" for name, words in slots.items() if words)


def _why(each: FilteredCandidate) -> str:
    """The rule that found it, and what speaks for it."""
    evidence = [rule for rule in each.assessment.rules if rule.weight < 0]
    reasons = dict.fromkeys(rule.reason.lower() for rule in evidence)
    return f"{each.sentence.rule}" + (f": {', '.join(list(reasons)[:2])}" if reasons else "")
