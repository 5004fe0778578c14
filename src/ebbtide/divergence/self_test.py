"""Is every detector wired: a known loop of each kind, run through a configuration.

A detector can be inactive without anybody noticing: switched off by a threshold, exempted by a pattern, or
fed with nothing. A run that has to raise a signal shows it before the first real loop goes by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import Event, ModelCall, ModelPart, Notice, NoticeKind, ToolCall
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile

_PROBE = "ebbtide_probe"
_LAMENT = "I will mark the task as complete now, and then I am done with all of it. "
_WORDS = "votes answers questions polls survey".split()
_TOLD = (LoopKind.KNOWN_GROUND, LoopKind.REPEATED_ORDER)
_LONG = 400  # events: more than any default needs


class Wiring(StrEnum):
    """What a known loop showed."""

    FIRES = "fires"
    OFF = "off"  #: it is ignored, or needs a budget or told actions, and the configuration has none
    SILENT = "silent"  #: the configuration does not see this kind of loop
    BROKEN = "broken"  #: the monitor failed on it


@dataclass(frozen=True, slots=True, kw_only=True)
class WiringCheck:
    """One detector.

    Args:
        kind: What it finds.
        wiring: Whether it did.
        event: The event at which it spoke first; None where it did not.
        problem: The fault, where the monitor failed.
    """

    kind: LoopKind
    wiring: Wiring
    event: int | None
    problem: str | None = None


def _call(number: int, result: str, *, error: bool = False, **args: object) -> ToolCall:
    usage = Usage(cost_usd=0.01)
    return ToolCall(name=_PROBE, args=args, result=result, error=error, usage=usage, ts=float(number))


def _read(number: int) -> ToolCall:
    return _call(number, f"page {number % 12}", path="log", offset=100 * (number % 12), limit=100)


def _covered(number: int) -> ToolCall:
    if number == 0:
        return _call(0, "all of it", path="a", offset=0, limit=4_000)
    return _call(number, f"part {number}", path="a", offset=number, limit=3_000 - 7 * number)


def _no_progress(number: int) -> ToolCall:
    query = "abcacbbacbcaacb"[number % 15]
    return _call(number, f"found {query}", q=query)


def _reworded(number: int) -> ToolCall:
    turn = number % len(_WORDS)
    return _call(number, "ten hits", q=" ".join(_WORDS[turn:] + _WORDS[:turn]))


def _monotonous(number: int) -> ToolCall:
    # Each of forty files again, in another order: no call comes often, and none says anything new.
    file = number if number < 40 else number * 7 % 40
    return _call(number, f"text of file {file}", path=f"file {file}")


def _unseen(number: int) -> ToolCall:
    if number % 2:
        return _call(number, "the owner is nobody", id="order-17")
    return _call(number, "done", id="order-17", owner=f"person {number}")


def _other_chain(number: int) -> ToolCall:
    return ToolCall(name=_PROBE, args={"q": 1}, result="the same answer", chain_id=f"chain {number // 2}")


def _told(number: int) -> ModelCall:
    page = f"[Shop](https://shop.example/{number})"
    return ModelCall(text=f"I clicked 'Item {number}'.\n\nHere is a screenshot of {page}.")


def _ordered(number: int) -> ModelCall:
    if number % 2:
        return ModelCall(text=_told(1).text, agent="surfer")
    return ModelCall(text=f"Please open the item with the number {number}.", agent="lead (-> surfer)")


_LOOPS: dict[LoopKind, Callable[[int], Event]] = {
    LoopKind.REPEAT: lambda n: _call(n, "a b", path="."),
    LoopKind.CYCLE: lambda n: _call(n, "ab"[n % 2], path="ab"[n % 2]),
    LoopKind.NO_PROGRESS: _no_progress,
    LoopKind.FAILING_CALL: lambda n: _call(n, f"error, the {n}th", error=True, command="x"),
    LoopKind.SAME_ERROR: lambda n: _call(n, "no such document", error=True, id=f"doc-{n}"),
    LoopKind.FAILING_TOOL: lambda n: _call(n, f"wrong way {n * n}", error=True, query=f"q {n * 7919 % 97}"),
    LoopKind.SAME_ANSWER: lambda n: _call(
        n, "There are three tools: read, grep and glob. " * 4, q=chr(97 + n % 26) * (1 + n // 26)
    ),
    LoopKind.NEAR_DUPLICATE: _reworded,
    LoopKind.MONOTONY: _monotonous,
    LoopKind.GROWING_CALL: lambda n: _call(n, f"{n} hits", c="ls" + " && grep x y" * n),
    LoopKind.RECURRENCE: lambda n: _call(n, "no results", q=f"billing {chr(97 + n % 26) * 3}"),
    LoopKind.STAGNATION: lambda n: _call(n, f"text of file {n % 7}", path=f"file {n % 7}"),
    LoopKind.UNSEEN_CHANGES: _unseen,
    LoopKind.UNDONE_CHANGES: lambda n: _call(
        n, "done", table="flags", sql=f"ALTER TABLE flags {('ADD', 'DROP')[n % 2]} COLUMN fast"
    ),
    LoopKind.WAITING: lambda n: _call(n, '{"status": "running"}', job=7),
    LoopKind.SWEEP: _read,
    LoopKind.COVERED_RANGE: _covered,
    LoopKind.HANDOFF_CYCLE: lambda n: Notice(
        kind=NoticeKind.HANDOFF, source="abc"[n % 3], target="bca"[n % 3]
    ),
    LoopKind.ACROSS_CHAINS: _other_chain,
    LoopKind.MONOLOGUE: lambda _: ModelCall(text="I am waiting for your answer."),
    LoopKind.CHANTING: lambda _: ModelCall(text=_LAMENT, part=ModelPart.CHUNK),
    LoopKind.KNOWN_GROUND: _told,
    LoopKind.REPEATED_ORDER: _ordered,
    LoopKind.CONDENSATION: lambda _: Notice(kind=NoticeKind.COMPACTION),
    LoopKind.SPEND_RATE: lambda n: ToolCall(
        name=_PROBE, args={"n": n}, result=f"answer {n}", usage=Usage(cost_usd=1.0), ts=60.0 * n
    ),
    LoopKind.SPEND_WITHOUT_NEWS: lambda n: ToolCall(
        name=_PROBE, args={"n": n % 7}, result=f"answer {n % 7}", usage=Usage(cost_usd=0.1), ts=60.0 * n
    ),
    LoopKind.BUDGET_END: lambda n: ToolCall(
        name=_PROBE,
        args={"n": n},
        result=f"answer {n}",
        usage=Usage(cost_usd=0.1, input_tokens=1_000),
        ts=60.0 * n,
    ),
}


def self_test(
    profile: Profile = Profile.DEFAULT, *, tools: ToolPolicies | None = None
) -> tuple[WiringCheck, ...]:
    """Run a known loop of each kind through a monitor of this configuration.

    The calls are of a tool named ``ebbtide_probe``, so a declaration whose pattern takes it in is tested too.
    """
    return tuple(_check(kind, make, profile, tools) for kind, make in _LOOPS.items())


def known_loop(kind: LoopKind) -> Callable[[int], Event]:
    """What makes the events of a loop of this kind, by their number from 0."""
    return _LOOPS[kind]


def _check(
    kind: LoopKind, make: Callable[[int], Event], profile: Profile, tools: ToolPolicies | None
) -> WiringCheck:
    rules = profile.divergence
    if profile.ignore.covers(kind.value):
        return WiringCheck(kind=kind, wiring=Wiring.OFF, event=None)
    if kind is LoopKind.BUDGET_END and rules.budget_usd is None and rules.budget_tokens is None:
        return WiringCheck(kind=kind, wiring=Wiring.OFF, event=None)
    if kind in _TOLD and not rules.told_actions:
        return WiringCheck(kind=kind, wiring=Wiring.OFF, event=None)
    monitor = LoopMonitor(profile, tools=tools)
    for number in range(_LONG):
        if any(signal.kind is kind for signal in monitor.update(make(number))):
            return WiringCheck(kind=kind, wiring=Wiring.FIRES, event=number + 1)
    state = monitor.snapshot()
    wiring = Wiring.BROKEN if state.degraded else Wiring.SILENT
    return WiringCheck(kind=kind, wiring=wiring, event=None, problem=state.last_fault)
