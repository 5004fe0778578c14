"""Registry of runs in a service, asked in the background: no call of an adapter waits for it for long."""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event
from ebbtide.service.service_error import ServiceError
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_registry import RunRegistry
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict

WAIT_S: Final = 0.04  #: that a call waits for the service: 50 ms with all around it
_MOST: Final = 10_000  # requests that wait for a service that is away
_MOST_LATE: Final = 1_000  # runs whose advice came too late
_REST_S: Final = 0.25  # before the second try; twice as long before each later one
_LONGEST_REST_S: Final = 5.0
_NUMBER_BITS: Final = 20  # of a `seq`: the others are of this registry alone


class BackgroundRuns:
    """The five verbs of a registry, carried out in order by one thread.

    A call waits a moment for its answer. Where none comes, what was to be recorded stays in a queue, which is
    sent as soon as the service is there again, each event once; and until then nobody waits at all. Advice
    that comes too late is given with the next call.

    Args:
        client: Asks the service; it is used by the thread alone.
    """

    def __init__(self, client: RunRegistry) -> None:
        self._client = client
        self._tasks: deque[_Task] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._since: float | None = None  # when the request that is under way began
        self._rest_s = 0.0  # more than 0 where the service is away
        self._retry_at = 0.0
        self._late: Bounded[tuple[str, str | None], Advice] = Bounded(_MOST_LATE)
        self._first_number = secrets.randbits(38) << _NUMBER_BITS
        self._count = 0

    @property
    def waiting(self) -> int:
        """Number of requests that wait for the service."""
        return len(self._tasks)

    def record(self, run_id: str, event: Event) -> Verdict:
        """Takes one more event; returns what holds then, or nothing where that is not known yet.

        Raises:
            ServiceError: The service refuses it, or too many wait.
        """
        if event.seq is None:  # without one it could not be sent again
            with self._changed:
                self._count += 1
                event = replace(event, seq=self._first_number + self._count)
        verdict = self._carry_out(lambda: self._client.record(run_id, event), is_kept=True)
        return verdict if isinstance(verdict, Verdict) else Verdict()

    def before_model(self, run_id: str, *, agent: str | None = None) -> Advice:
        """Returns what to do before the next call of a run's model.

        Raises:
            ServiceError: The service does not answer in time.
        """
        key = (run_id, agent)
        try:
            advice: Advice = self._carry_out(
                lambda: self._client.before_model(run_id, agent=agent),
                late=lambda advice: self._late.renew(key, advice),
            )
        except ServiceError:
            late = self._late.pop(key, None)
            if late is None:
                raise
            return late
        late = self._late.pop(key, None)
        return late if late is not None and late.note and not (advice.note or advice.refusal) else advice

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> object:
        """Lets a run go on for a person."""
        return self._carry_out(lambda: self._client.acknowledge(run_id, agent=agent), is_kept=True)

    def end(self, run_id: str) -> RunStanding:
        """Ends a run; returns what it has come to.

        Raises:
            ServiceError: That is not known yet; it ends when the service is there again.
        """
        standing = self._carry_out(lambda: self._client.end(run_id), is_kept=True)
        if not isinstance(standing, RunStanding):
            raise self._silence()
        return standing

    def standing(self) -> list[RunStanding]:
        """Returns how every run of the service stands.

        Raises:
            ServiceError: The service does not answer in time.
        """
        standings: list[RunStanding] = self._carry_out(self._client.standing)
        return standings

    def close(self, wait_s: float) -> None:
        """Waits until everything is sent, at most so many seconds, unless the service is away."""
        deadline = time.monotonic() + wait_s
        with self._changed:
            while self._tasks and not self._rest_s and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)

    def _carry_out(
        self, work: Callable[[], Any], *, is_kept: bool = False, late: Callable[[Any], object] | None = None
    ) -> Any:
        """Returns what a request gives; None where one that is kept has no answer yet.

        Raises:
            ServiceError: It is refused, or no answer comes in time and it is not kept.
        """
        task = _Task(work, is_kept, late)
        with self._changed:
            if len(self._tasks) >= _MOST or (self._is_silent() and not is_kept):
                raise self._silence()
            waits = not self._is_silent()
            self._tasks.append(task)
            if self._thread is None or not self._thread.is_alive():  # none yet, or this is a forked process
                self._thread = threading.Thread(target=self._work, name="ebbtide-service", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        is_done = waits and task.done.wait(WAIT_S)
        with self._changed:
            if not is_done and not task.done.is_set():
                task.is_abandoned = True
                if is_kept:
                    return None
                raise self._silence()
        if task.error is not None:
            raise task.error
        return task.value

    def _is_silent(self) -> bool:
        """Returns True if waiting is of no use: the service is away, or long at an older request."""
        now = time.monotonic()
        is_away = self._rest_s > 0 and (bool(self._tasks) or now < self._retry_at)
        return is_away or (self._since is not None and now - self._since > WAIT_S)

    def _silence(self) -> ServiceError:
        return ServiceError(f"the service does not answer in time; {len(self._tasks)} requests wait for it")

    def _work(self) -> None:
        """Carries out one request after the other; one that is kept stays first until it is taken."""
        while True:
            with self._changed:
                while not self._tasks:
                    self._changed.wait()
                task = self._tasks[0]
                self._since = time.monotonic()
            value, error = None, None
            try:
                value = task.work()
            except Exception as cause:  # noqa: BLE001 - it is raised where somebody waits for it
                error = cause
            is_away = isinstance(error, ServiceError) and error.is_away
            with self._changed:
                self._since = None
                if is_away:
                    self._rest_s = min(max(2 * self._rest_s, _REST_S), _LONGEST_REST_S)
                    self._retry_at = time.monotonic() + self._rest_s
                    self._give_up(error)
                else:
                    self._rest_s = 0.0
                    self._tasks.popleft()
                    task.finish(value, error)
                self._changed.notify_all()
            if is_away:
                time.sleep(self._rest_s)

    def _give_up(self, error: Exception | None) -> None:
        """Tells everybody who waits that the service is away; what is kept stays."""
        for task in self._tasks:
            task.finish(None, None if task.is_kept else error)
        self._tasks = deque(task for task in self._tasks if task.is_kept)


class _Task:
    """One request.

    Args:
        is_kept: True if it stays until the service has taken it.
        late: Takes an answer that nobody waits for any more.
    """

    __slots__ = ("_late", "done", "error", "is_abandoned", "is_kept", "value", "work")

    def __init__(self, work: Callable[[], Any], is_kept: bool, late: Callable[[Any], object] | None) -> None:  # noqa: FBT001
        self.work = work
        self.is_kept = is_kept
        self._late = late
        self.done = threading.Event()
        self.value: Any = None
        self.error: Exception | None = None
        self.is_abandoned = False

    def finish(self, value: Any, error: Exception | None) -> None:
        """Notes what came of it."""
        self.value, self.error = value, error
        if self.is_abandoned and error is None and value is not None and self._late is not None:
            self._late(value)
        self.done.set()
