"""Trees of agents that grow for nothing."""

from dataclasses import replace

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.divergence.monitor import find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, Phase, Role, ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.supervisor import Supervisor

RULES = Profile.DEFAULT.divergence
TOOLS = ToolPolicies({"agent": ToolPolicy(spawns="order"), "edit": ToolPolicy(effect=Effect.CHANGE)})
TREE = {LoopKind.HANDED_DOWN, LoopKind.DEEP_TREE, LoopKind.SPAWNED_AGAIN}
REVIEW = (
    "Review what was changed on this branch, file by file, and say what has to be mended before it is merged."
)
EDITS = [ToolCall(name="edit", args={"n": n}, result=f"saved {n}") for n in range(7)]


def start(order: str, *, by: str = "", batch: int | None = None, ended: bool = False) -> ToolCall:
    phase = Phase.FINISHED if ended else Phase.STARTED
    result = f"the report about {order}" if ended else None
    return ToolCall(name="agent", args={"order": order}, result=result, chain_id=by, batch=batch, phase=phase)


def both(order: str, batch: int | None = None) -> list[Event]:
    """A call that is recorded when it begins and when it has ended counts once."""
    return [start(order, batch=batch), start(order, batch=batch, ended=True)]


def given(chain: str, order: str) -> Message:
    return Message(text=order, role=Role.SYSTEM, chain_id=chain)


def found(events: list[Event]) -> set[LoopKind]:
    return {signal.kind for signal in find_loops(events, tools=TOOLS) if signal.kind in TREE}


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        pytest.param(
            [
                *(start(REVIEW, batch=1) for _ in range(4)),
                given("a1", REVIEW),
                start(REVIEW, by="a1"),
            ],
            LoopKind.HANDED_DOWN,
            id="an agent takes its order for one to delegate",
        ),
        pytest.param(
            [
                event
                for level in range(RULES.tree_depth or 0)
                for event in (
                    given(f"a{level}", f"Clone it, attempt {level}."),
                    start(f"Clone it, attempt {level + 1}.", by=f"a{level}"),
                )
            ],
            LoopKind.DEEP_TREE,
            id="a refusal that is handed down",
        ),
        pytest.param(
            [start(f"Look into option {n % 5}.", batch=n // 5) for n in range(10)],
            LoopKind.SPAWNED_AGAIN,
            id="the next wave has the topics of the one before",
        ),
        pytest.param(
            [start("Write it.", batch=1) for _ in range(RULES.spawned_alike or 0)],
            LoopKind.SPAWNED_AGAIN,
            id="one order to many",
        ),
        pytest.param(
            [start(f"File {n}.", batch=n // 8, ended=True) for n in range(40)], None, id="a map over files"
        ),
        pytest.param(
            [event for n in range(40) for event in both(f"File {n}.", n // 8)], None, id="with both ends"
        ),
        pytest.param(
            [start(f"Look at the change. Lens: {n}.", batch=1) for n in range(7)], None, id="a panel"
        ),
        pytest.param([start("Write it.", batch=1) for _ in range(5)], None, id="the best of five"),
        pytest.param(
            [event for edit in EDITS for event in (start("Review."), edit)],
            None,
            id="a review after each change",
        ),
        pytest.param(
            [Message(text=REVIEW), start(REVIEW)],
            None,
            id="a request that is passed on as it is",
        ),
    ],
)
def test_what_a_tree_shows(events: list[Event], kind: LoopKind | None) -> None:
    """While it grows: what was ordered, by whom, and whether it had been ordered before."""
    assert found(events) == (set() if kind is None else {kind})


def test_a_tree_is_told_to_a_person_before_the_next_agent() -> None:
    """At the call that has only begun; and with what restores it, in the middle."""
    supervisor = Supervisor(tools=TOOLS)
    events = [start(f"Look into option {n % 5}.", batch=n // 5) for n in range(9)]
    for event in events[:-1]:
        assert supervisor.record(event).action is Action.ALLOW
    supervisor = Supervisor.from_bytes(supervisor.to_bytes(), tools=TOOLS)
    verdict = supervisor.record(events[-1])
    assert (verdict.action, verdict.kind, verdict.nudge) == (Action.ESCALATE, "spawned_again", None)
    assert "4 agents were started with orders that earlier agents already had" in verdict.reason
    assert supervisor.tally.tool_calls == 0


def test_it_can_be_switched_off() -> None:
    """As every rule."""
    names = ("handed_down", "tree_depth", "spawned_again", "spawned_alike")
    off = Profile(name="off", divergence=replace(RULES, **dict.fromkeys(names)))  # type: ignore[arg-type]
    events = [start("Write it.", batch=n) for n in range(20)]
    assert not [signal for signal in find_loops(events, off, tools=TOOLS) if signal.kind in TREE]


def test_a_run_starts_as_many_agents_as_its_limit_says() -> None:
    """The next one is refused before it is made, whoever asks, and one that was made stops the run."""
    supervisor = Supervisor(tools=TOOLS, limits=Limits(max_agents=2))
    parts = [start(f"Look at part {n}.", by=by) for n, by in enumerate(("", "a1", ""))]
    actions = [(supervisor.check_before_tool(call).action, supervisor.record(call).action) for call in parts]
    assert actions == [(Action.ALLOW, Action.ALLOW), (Action.ALLOW, Action.NUDGE), (Action.STOP, Action.STOP)]
    assert supervisor.check_before_tool(EDITS[0]).action is Action.STOP


def test_levels_of_agents_are_limited() -> None:
    """An agent of the first level may start none where the limit is one level."""
    supervisor = Supervisor(tools=TOOLS, limits=Limits(max_depth=1, warn_at=None))
    supervisor.record(Message(text="Review it all.", role=Role.USER))
    supervisor.record(start("Look at part 1."))
    supervisor.record(given("a1", "Look at part 1."))
    deeper = start("Look at a part of part 1.", by="a1")
    assert supervisor.check_before_tool(start("Look at part 2.")).action is Action.ALLOW
    assert supervisor.check_before_tool(deeper).action is Action.STOP
    assert supervisor.record(deeper).reason == "agent depth limit exceeded (2 of 1)."
