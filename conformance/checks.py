"""What every adapter has to do, asked of a real agent on the framework's own offline model."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from conformance.harness import Harness, Trial
from conformance.scripts import (
    ANSWER,
    LIMIT,
    PAGES,
    TOTAL_TOKENS,
    Reply,
    Script,
    Workshop,
    at_once,
    edit_and_check,
    healthy,
    recovers,
    stuck,
)
from ebbtide.budget.limits import Limits
from ebbtide.events.identity import MARK
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.supervisor import Supervisor

_NUDGED_CALL: Final = 4  # of the model; a plain loop ends after it
_TIMEOUT_S: Final = 60.0


#: Says in words what is wrong with an adapter in one mode.
Check = Callable[[Harness, str], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What came of one check.

    Args:
        check: Its name.
        mode: How the runs were started.
        faults: What is wrong, in words; none where it passes.
    """

    check: str
    mode: str
    faults: tuple[str, ...]


def run_checks(framework: Harness, checks: Mapping[str, Check] | None = None) -> Iterator[CheckResult]:
    """Checks in every mode, one after the other; all of them where none are named."""
    for mode in framework.modes:
        for name, check in (CHECKS if checks is None else checks).items():
            try:
                faults = tuple(check(framework, mode))
            except Exception as error:  # noqa: BLE001 - a run that raises is a fault
                faults = (f"raised {type(error).__name__}: {error}",)
            yield CheckResult(check=name, mode=mode, faults=faults)


def a_loop_is_nudged_and_ended(framework: Harness, mode: str) -> Iterator[str]:
    """The model is told once, in its fourth call; then the run ends in the framework's own way."""
    trial = _run(framework, framework.adapter(), stuck, mode)
    if len(trial.inputs) > _NUDGED_CALL:
        yield f"{len(trial.inputs)} calls of the model, not {_NUDGED_CALL}"
    notes = [text.count(MARK) for text in trial.inputs]
    first = next((number for number, count in enumerate(notes, start=1) if count), None)
    if first != _NUDGED_CALL:
        yield f"the nudge came with call {first}, not {_NUDGED_CALL}"
    if any(count > 1 for count in notes):
        yield f"an input has the nudge {max(notes)} times"
    if MARK not in trial.answer:
        yield f"the user is not told why the run ended: {trial.answer!r:.200}"
    if trial.steps < _NUDGED_CALL - 1:
        yield f"only {trial.steps} parts of the work are kept"


def a_note_is_for_one_call(framework: Harness, mode: str) -> Iterator[str]:
    """A model that heeds the note does not see it again, and gives its answer."""
    trial = _run(framework, framework.adapter(), recovers, mode)
    calls = [number for number, text in enumerate(trial.inputs, start=1) if MARK in text]
    if calls != [_NUDGED_CALL]:
        yield f"the note is in calls {calls}, not in call {_NUDGED_CALL} alone"
    if ANSWER not in trial.answer:
        yield f"the answer is lost: {trial.answer!r:.200}"


def a_healthy_run_is_untouched(framework: Harness, mode: str) -> Iterator[str]:
    """Forty different calls, and not one word."""
    yield from _untouched(_run(framework, framework.adapter(), healthy, mode), PAGES + 1)


def editing_and_checking_is_untouched(framework: Harness, mode: str) -> Iterator[str]:
    """A check that is sent again after each change is no loop."""
    yield from _untouched(_run(framework, framework.adapter(), edit_and_check, mode), None)


def calls_at_once_are_no_loop(framework: Harness, mode: str) -> Iterator[str]:
    """Six equal calls in one answer of the model are one turn."""
    if framework.has_parallel_calls:
        yield from _untouched(_run(framework, framework.adapter(), at_once, mode), None)


def the_last_call_has_no_tools(framework: Harness, mode: str) -> Iterator[str]:
    """Where a limit lets one more call through, the model gets no tools, and answers."""
    trial = _run(framework, framework.adapter(limits=Limits(llm_calls=LIMIT)), healthy, mode)
    if len(trial.inputs) != LIMIT:
        yield f"{len(trial.inputs)} calls of the model with a limit of {LIMIT}"
    if trial.has_tools[LIMIT - 1 : LIMIT] != [False]:
        yield "the last call comes with tools"
    if ANSWER not in trial.answer:
        yield f"the answer of the last call is lost: {trial.answer!r:.200}"


def runs_at_the_same_time_are_apart(framework: Harness, mode: str) -> Iterator[str]:
    """One adapter, two runs that go on in step: the healthy one does not notice the other."""
    adapter = framework.adapter()
    barrier = threading.Barrier(2)

    def in_step(script: Script) -> Script:
        def answer(number: int, has_tools: bool) -> Reply:  # noqa: FBT001 - as a script is called
            if number <= _NUDGED_CALL:
                with suppress(threading.BrokenBarrierError):
                    barrier.wait(_TIMEOUT_S)
            return script(number, has_tools)

        return answer

    trials: dict[str, Trial | Exception] = {}

    def work(name: str, script: Script) -> None:
        try:
            trials[name] = _run(framework, adapter, in_step(script), mode)
        except Exception as error:  # noqa: BLE001 - it is reported
            trials[name] = error
            barrier.abort()

    threads = [threading.Thread(target=work, args=pair) for pair in (("stuck", stuck), ("healthy", healthy))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * _TIMEOUT_S)
    for name in ("stuck", "healthy"):
        trial = trials.get(name)
        if not isinstance(trial, Trial):
            yield f"the {name} run of two ended with {trial!r:.200}"
        elif name == "healthy":
            yield from _untouched(trial, PAGES + 1)
        elif len(trial.inputs) > _NUDGED_CALL:
            yield f"{len(trial.inputs)} calls of the model beside another run"


def a_fault_of_ours_stays_ours(framework: Harness, mode: str) -> Iterator[str]:
    """A registry that always fails: the run ends with its answer, unwatched."""

    def broken(_: str) -> Supervisor:
        raise RuntimeError("no supervisor today")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        trial = _run(framework, framework.adapter(runs=Runs(broken)), healthy, mode)
    yield from _untouched(trial, PAGES + 1)


def tokens_agree(framework: Harness, mode: str) -> Iterator[str]:
    """What is counted here is what the model stated, and what the framework counts."""
    runs = Runs()
    trial = _run(framework, framework.adapter(runs=runs), healthy, mode)
    stated = TOTAL_TOKENS * len(trial.inputs)
    here = sum(standing.tokens or 0 for standing in runs.standing())
    if here != stated:
        yield f"{here} tokens were recorded, and the model stated {stated}"
    if trial.tokens is not None and trial.tokens != here:
        yield f"{here} tokens were recorded, and the framework counts {trial.tokens}"


#: The checks by name.
CHECKS: Final[Mapping[str, Check]] = {
    "loop": a_loop_is_nudged_and_ended,
    "one note": a_note_is_for_one_call,
    "healthy": a_healthy_run_is_untouched,
    "edit and check": editing_and_checking_is_untouched,
    "calls at once": calls_at_once_are_no_loop,
    "last call": the_last_call_has_no_tools,
    "two runs": runs_at_the_same_time_are_apart,
    "fault": a_fault_of_ours_stays_ours,
    "tokens": tokens_agree,
}


def _run(framework: Harness, adapter: Any, script: Script, mode: str) -> Trial:
    return framework.run(adapter, script, Workshop().tools(), mode)


def _untouched(trial: Trial, calls: int | None) -> Iterator[str]:
    if calls is not None and len(trial.inputs) != calls:
        yield f"{len(trial.inputs)} calls of the model, not {calls}"
    number = next((number for number, text in enumerate(trial.inputs, start=1) if MARK in text), None)
    if number is not None:
        yield f"the model was told something in call {number}"
    if ANSWER not in trial.answer:
        yield f"the answer is lost: {trial.answer!r:.200}"
