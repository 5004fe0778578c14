"""Guidance of a run by its supervisor, which is asked before each call and informed after each."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ebbtide.errors import CallRefused, RunStopped
from ebbtide.events.event import Event
from ebbtide.guard.observers import Observers
from ebbtide.guard.operation import Operation
from ebbtide.supervision.facts import Facts
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.verdict import Verdict

# For types alone: a context without a supervisor does not wait for one.
if TYPE_CHECKING:
    from ebbtide.supervision.runs.runs import RunSupervisor
    from ebbtide.supervision.supervisor import Supervisor

_MOST_NUDGES = 16


class Guidance:
    """Guide that asks a supervisor, keeps the nudges for the model, and refuses calls accordingly.

    Args:
        supervisor: None watches nothing.
        observers: Count its faults, and forward its verdicts.
        chain_id: The chain of the run's events.
        clock: Seconds on a monotonic clock.
    """

    def __init__(
        self,
        supervisor: Supervisor | RunSupervisor | None,
        observers: Observers,
        *,
        chain_id: str,
        clock: Callable[[], float],
    ) -> None:
        self._supervisor = supervisor
        self._observers = observers
        self._chain_id = chain_id
        self._clock = clock
        self._in_order = threading.Lock()
        self._nudges: deque[str] = deque(maxlen=_MOST_NUDGES)
        # Reported nudges: the supervisor hands them over once more before the next call of the model.
        self._reported: deque[Facts] = deque(maxlen=_MOST_NUDGES)
        self._previous: Verdict | None = None

    @property
    def watches(self) -> bool:
        """True if there is a supervisor to inform of calls."""
        return self._supervisor is not None

    def before(self, operation: Operation) -> None:
        """Asks whether a call may be made.

        Raises:
            CallRefused: The result is due, and no tool is to be called any more.
            RunStopped: The run has ended, or a person is to be asked first.
        """
        supervisor = self._supervisor
        if supervisor is None:
            return
        is_model = operation.kind == "llm"
        verdict: Verdict | None
        try:
            if is_model:
                verdict = supervisor.check_before_model(self._chain_id, now=self._clock())
            else:
                verdict = supervisor.ending(self._chain_id)
                if verdict is None:
                    return
            with self._in_order:
                new_verdict = self._take(verdict)
                if not verdict.ends:
                    self._reported.clear()
        except Exception as error:  # noqa: BLE001 - the run does not notice
            self._observers.fault("supervisor", error)
            return
        self._forward(new_verdict)
        if verdict.ends and not verdict.shadow:
            if verdict.action is not Action.FINALIZE:
                raise RunStopped(verdict)
            if not is_model:
                raise CallRefused(verdict)

    def record(self, make: Callable[..., Event], **fields: Any) -> None:
        """Reports something that has happened.

        Args:
            make: Class of the event.
            fields: Its fields, without chain and time.
        """
        supervisor = self._supervisor
        if supervisor is None:
            return
        try:
            with self._in_order:
                event = make(chain_id=self._chain_id, ts=self._clock(), **fields)
                new_verdict = self._take(supervisor.record(event))
        except Exception as error:  # noqa: BLE001 - likewise
            self._observers.fault("supervisor", error)
            return
        self._forward(new_verdict)

    def check(self) -> None:
        """Raises if the run has ended while a call is under way.

        Raises:
            RunStopped: By the latest verdict.
        """
        verdict = self._previous
        if verdict is not None and verdict.action is Action.STOP and not verdict.shadow:
            raise RunStopped(verdict)

    def nudges(self) -> list[str]:
        """Returns the notes for the model, each once."""
        texts = []
        with suppress(IndexError):
            while True:
                texts.append(self._nudges.popleft())
        return texts

    def _take(self, verdict: Verdict) -> Verdict | None:
        """Keeps what follows from a verdict; returns what is new in it, or None."""
        if not isinstance(verdict, Verdict):
            raise TypeError(f"{type(verdict).__name__}: expected a Verdict")
        previous, self._previous = self._previous, verdict
        if verdict is previous or verdict.action is Action.ALLOW:
            return None
        if verdict.action is Action.NUDGE:
            facts = [each for each in (*verdict.more, verdict.facts) if each and each not in self._reported]
            if not facts:
                return None
            self._reported.extend(facts)
            verdict = replace(verdict, more=tuple(facts[:-1]), facts=facts[-1])
        elif verdict == previous:
            return None
        if verdict.nudge and not verdict.shadow:
            self._nudges.append(verdict.nudge)
        return verdict

    def _forward(self, verdict: Verdict | None) -> None:
        # Outside the lock: a pipeline may make calls of its own.
        if verdict is not None:
            wire = verdict.to_dict()
            self._observers.emit({"event_type": "VERDICT", "severity": verdict.action.value, **wire})
