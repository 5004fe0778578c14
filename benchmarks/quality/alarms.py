"""Who raises what in a recorded run, and when: the supervisor rung by rung, and rules of others.

The supervisor is asked as a live loop asks it: every event is recorded, and before each call of the model
comes `check_before_model`. A record does not always have the calls of the model: where one of a tool comes
without, and not at once with the one before it, a model asked for it all the same. A run of several chains
goes on for the others when one of them is ended.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import NamedTuple

from benchmarks.loop_peers import Watcher, starts_anew
from ebbtide.events.event import Event, ModelCall, ModelPart, Phase, ToolCall
from ebbtide.events.identity import identify
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

RUNGS = ("nudge", "end", "stop")
_OPEN = (ModelPart.THOUGHT, ModelPart.CHUNK)  # more of the same call follows


class Alarm(NamedTuple):
    """Something that was raised.

    Args:
        place: Events of the run until then, 1 or more.
        rule: Which rule spoke: the kind of a verdict, or the name of another rule.
        action: The rung of the ladder; of rules without rungs a nudge.
    """

    place: int
    rule: str
    action: Action = Action.NUDGE


class RunAlarms(NamedTuple):
    """Everything that was raised in a run, in order."""

    alarms: tuple[Alarm, ...]

    @property
    def nudge(self) -> Alarm | None:
        """The first alarm of any rung."""
        return self.from_rung(Action.NUDGE)

    @property
    def end(self) -> Alarm | None:
        """The first finalize, escalate or stop."""
        return self.from_rung(Action.FINALIZE)

    @property
    def stop(self) -> Alarm | None:
        """The first escalate or stop, where no finalize came before."""
        end = self.end
        return None if end is None or end.action is Action.FINALIZE else end

    def from_rung(self, action: Action) -> Alarm | None:
        """The first alarm of that rung or a higher one."""
        return next((alarm for alarm in self.alarms if alarm.action.rank >= action.rank), None)


def supervise(
    events: Sequence[Event | Round],
    profile: Profile = Profile.DEFAULT,
    tools: ToolPolicies | None = None,
) -> RunAlarms:
    """What the supervisor says of a run."""
    supervisor = Supervisor(profile, tools=tools)
    alarms: list[Alarm] = []
    verdicts: set[tuple[int | None, Action, str | None]] = set()
    latest: dict[str, Event] = {}
    halted_chains: set[str | None] = set()

    def note(verdict: Verdict, place: int) -> None:
        key = (verdict.event, verdict.action, verdict.chain_id)
        if verdict.action is Action.ALLOW or key in verdicts:
            return
        verdicts.add(key)
        alarms.append(Alarm(max(place, 1), verdict.kind or "", verdict.action))
        if verdict.ends:
            halted_chains.add(verdict.chain_id)

    for place, event in enumerate(events):
        chain = event.chain_id if isinstance(event, Event) else ""  # a conversation is one chain
        if isinstance(event, Event) and chain not in halted_chains:
            if asks_model(event, latest.get(chain)):
                note(supervisor.check_before_model(chain), place)
            latest[chain] = event
        if None in halted_chains:
            break
        if chain not in halted_chains:
            note(supervisor.record(event), place + 1)
    return RunAlarms(tuple(alarms))


def asks_model(event: Event, before: Event | None) -> bool:
    """Whether a call of the model begins with an event, or must have come before it.

    Args:
        event: The event.
        before: The one before it in its chain.
    """
    if isinstance(event, ModelCall):
        return not (isinstance(before, ModelCall) and before.part in _OPEN)
    if not isinstance(event, ToolCall) or isinstance(before, ModelCall):
        return False
    if not isinstance(before, ToolCall):
        return True
    at_once = event.batch is not None and event.batch == before.batch
    return not at_once and before.phase is not Phase.STARTED


def watch(events: Sequence[Event | Round], make: Callable[[], Watcher], name: str) -> RunAlarms:
    """What a rule without rungs says of a run; it begins anew where a run does."""
    watcher = make()
    with redirect_stdout(io.StringIO()):  # some print what they raise
        for place, event in enumerate(events, start=1):
            if not isinstance(event, Event):
                continue
            if starts_anew(event):
                watcher = make()
            if watcher(event):
                return RunAlarms((Alarm(place, name),))
    return RunAlarms(())


def three_equal() -> Watcher:
    """Three calls of one tool in a row with the same arguments: the rule that everybody writes first."""
    return equal_calls(3)


def equal_calls(least: int) -> Watcher:
    """At least so many calls of one tool in a row with the same arguments."""
    counts: dict[str, tuple[object, int]] = {}

    def see(event: Event) -> bool:
        if not isinstance(event, ToolCall) or event.phase is Phase.STARTED:
            return False
        call = identify(event.name, event.args)
        before, count = counts.get(event.chain_id, (None, 0))
        count = count + 1 if call == before else 1
        counts[event.chain_id] = (call, count)
        return count >= least

    return see
