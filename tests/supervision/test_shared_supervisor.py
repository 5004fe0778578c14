"""A supervisor that others hold too: listeners, signal handlers, copies and restarts."""

import copy
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Hashable

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.signals import LoopSignal
from ebbtide.errors import ConfigError
from ebbtide.events.event import Event, ToolCall
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

LS = ToolCall(name="ls", args={"path": "."}, result="a b")


class Silent:
    """A listener that does nothing."""

    def event(self, event: Event, number: int, loops: LoopState) -> None: ...
    def loop(self, signal: LoopSignal, verdict: Verdict) -> None: ...
    def ignored(self, subject: Hashable) -> None: ...
    def round(self, chain_id: str, read_round: ReadRound) -> None: ...
    def verdict(self, verdict: Verdict, first_event: int) -> None: ...


def run(supervisor: Supervisor, *events: Event) -> list[str]:
    """The actions, one an event."""
    return [supervisor.record(event).action.value for event in events]


def test_a_listener_may_ask_and_record() -> None:
    """What is called in the middle of an event does not wait for its end."""
    supervisor: Supervisor
    actions = []

    class Asking(Silent):
        def event(self, event: Event, number: int, loops: LoopState) -> None:
            actions.append(supervisor.verdict().action.value)
            supervisor.to_bytes()
            supervisor.snapshot()

    supervisor = Supervisor(listener=Asking())
    run(supervisor, *[LS] * 4)
    assert actions == ["allow", "allow", "allow", "nudge"]


_SIGNALS = """
import signal
from ebbtide import Supervisor, ToolCall
supervisor, states = Supervisor(), []
def save(*_):
    states.append(supervisor.to_bytes())
    if len(states) < 60:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
signal.signal(signal.SIGALRM, save)
signal.setitimer(signal.ITIMER_REAL, 0.002)
number = 0
while len(states) < 60:
    number += 1
    supervisor.record(ToolCall(name="read", args={"path": f"{number % 50}"}, result=f"text {number}"))
for state in states:
    Supervisor.from_bytes(state).record(ToolCall(name="ls", args={}, result=""))
print(len(states))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of POSIX")
def test_a_signal_handler_may_save() -> None:
    """Saved in the middle of an event, and restored."""
    process = subprocess.run(
        [sys.executable, "-c", _SIGNALS], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(process.stdout) >= 60


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])  # noqa: S301
def test_a_copy_goes_on_by_itself(twin: Callable[[Supervisor], Supervisor]) -> None:
    """It gives the verdicts that the original would give, and the original does not notice."""
    supervisor = Supervisor(limits=Limits(tool_calls=9), listener=Silent())
    run(supervisor, *[LS] * 3)
    other = twin(supervisor)
    assert run(other, *[LS] * 3) == ["stop"] * 3
    assert supervisor.events == 3
    assert run(supervisor, LS) == ["stop"]


def test_a_supervisor_loads_once() -> None:
    """A state that were put over another would be lost."""
    supervisor = Supervisor()
    run(supervisor, *[LS] * 3)
    data = supervisor.to_bytes()
    fresh = Supervisor()
    fresh.load(data)
    assert fresh.verdict() == supervisor.verdict()
    with pytest.raises(ConfigError, match="load after 3 events"):
        fresh.load(data)
