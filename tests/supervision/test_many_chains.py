"""More chains than are kept at hand, and a model that is asked for in each of them."""

from dataclasses import replace

import pytest

from ebbtide.divergence.chain_table import LIVE_CHAINS
from ebbtide.events.event import ToolCall
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.supervisor import Supervisor

LS = ToolCall(name="ls", args={"path": "."}, result="a b", chain_id="main")


def test_asking_for_many_chains_does_not_part_the_latest_from_its_events() -> None:
    """The chain of the latest event stays at hand, however many others are asked for before its next one."""
    supervisor = Supervisor()
    actions = []
    for _ in range(5):
        actions.append(supervisor.check_before_model("main").action)
        supervisor.record(LS)
        for number in range(LIVE_CHAINS + 1):
            supervisor.check_before_model(f"other {number}")
    allow = Action.ALLOW
    assert actions == [allow, allow, allow, Action.NUDGE, Action.STOP]


def test_the_latest_chain_goes_on_with_the_next_event() -> None:
    """What is recorded without another question is in the chain that the table holds."""
    supervisor = Supervisor()
    supervisor.record(LS)
    for number in range(LIVE_CHAINS + 1):
        supervisor.check_before_model(f"other {number}")
    for _ in range(12):  # in one turn, of which eight may have been asked for at once
        supervisor.record(LS)
    nudge = supervisor.verdict("main")
    supervisor.record(replace(LS, chain_id="elsewhere", args={"path": "b"}))
    assert nudge.action is not Action.ALLOW
    assert supervisor.verdict("main") == nudge


@pytest.mark.filterwarnings("ignore:more than 4 chains")
def test_what_was_dropped_leaves_nothing_behind() -> None:
    """A verdict of a chain that is forgotten is forgotten with it."""
    supervisor = Supervisor()
    supervisor._run.chains._live, supervisor._run.chains._most = 2, 4
    for number in range(12):
        for _ in range(3):
            supervisor._run.take(replace(LS, chain_id=f"c{number}"))
    assert set(supervisor._run.chains.notes) == set(supervisor._run.chains.archive) == {"c8", "c9"}
