"""A registry with a log beside it: what its store lacks after a crash is taken up from the log, exactly."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.errors import StoreError
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.runs import run_saver, watched_run
from ebbtide.supervision.runs.run_store import MemoryRunStore, ModelCheck, StoredRun
from ebbtide.supervision.runs.runs import Runs


class MemoryRunLog:
    """A log that outlives the registry."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Event]] = []
        self.all_checks: list[tuple[str, ModelCheck]] = []

    def append(self, run_id: str, event: Event) -> int:
        self.events.append((run_id, replace(event, ts=float(len(self.events)))))
        return len(self.events)

    def since(self, run_id: str, place: int, /) -> Iterator[tuple[int, Event]]:
        for number, (name, event) in enumerate(self.events, start=1):
            if name == run_id and number > place:
                yield number, replace(event)

    def checks(self, run_id: str, /) -> list[ModelCheck]:
        return [check for name, check in self.all_checks if name == run_id]

    def add_check(self, run_id: str, check: ModelCheck, /) -> None:
        self.all_checks.append((run_id, check))


EVENTS = {
    "same": ToolCall(name="ls", args={"path": "."}, result="a b"),
    "of an agent": ToolCall(name="ls", args={"path": "."}, result="a b", agent="writer"),
    "person": Message(text="Go on.", chain_id="reader"),
    "model": ModelCall(text="I look again."),
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["run 1", "run 2"]),
        st.sampled_from([*EVENTS, "same", "same", "check", "check", "check writer", "acknowledge", "crash"]),
    ),
    max_size=60,
)


def advice_of(steps: list[tuple[str, str]], *, crashes: bool, most: int) -> list[object]:
    """What each check answers."""
    log, store = MemoryRunLog(), MemoryRunStore()
    runs = Runs(store=store, log=log, most=most)
    answers: list[object] = []
    for run_id, step in steps:
        if step == "crash":
            if crashes:
                runs = Runs(store=store, log=log, most=most)
        elif step == "acknowledge":
            runs.acknowledge(run_id)
            runs.save(run_id)  # no log tells of it
        elif step.startswith("check"):
            advice = runs.before_model(run_id, agent=step.partition(" ")[2] or None)
            answers.append(advice.verdict.to_dict())
        else:
            place = log.append(run_id, EVENTS[step])
            runs.take(run_id, log.events[place - 1][1], place)
    assert not runs.faults
    return answers


@pytest.mark.parametrize("most_behind", [0, 4, 1000])
@pytest.mark.filterwarnings("ignore:several agents")
def test_a_crash_changes_no_answer(monkeypatch: pytest.MonkeyPatch, most_behind: int) -> None:
    """Whether a state was written or not, nothing is said twice, and nothing is forgotten."""
    monkeypatch.setattr(watched_run, "_MOST_BEHIND", most_behind)

    @settings(max_examples=60, deadline=None)
    @given(STEPS)
    def holds(steps: list[tuple[str, str]]) -> None:
        expected = advice_of(steps, crashes=False, most=9)
        assert advice_of(steps, crashes=True, most=9) == expected
        assert advice_of(steps, crashes=True, most=1) == expected

    holds()


def test_of_the_past_no_listener_hears() -> None:
    """A loop that was before anybody watched is known, and reported to nobody; its next call is news."""
    log, changes = MemoryRunLog(), []
    runs = Runs(log=log, listener=lambda run_id, verdict: changes.append((run_id, verdict.action.value)))
    for event in (EVENTS["same"], ModelCall(usage=Usage(input_tokens=9))) * 3:
        place = log.append("a", event)
        runs.take("a", log.events[-1][1], place, is_past=True)
    assert [run.action.value for run in runs.standing()] == ["nudge"]
    assert changes == []
    assert runs.before_model("a").note
    place = log.append("a", EVENTS["same"])
    runs.take("a", log.events[-1][1], place)
    assert changes == [("a", "stop")]


def test_a_short_run_is_not_written() -> None:
    """Its log is read sooner than its state is made."""
    log, store = MemoryRunLog(), MemoryRunStore()
    with Runs(store=store, log=log) as runs:
        runs.take("a", EVENTS["same"], log.append("a", EVENTS["same"]))
        runs.record("b", EVENTS["same"])  # the log could not take it
    assert store.load("a") is None
    assert store.load("b") is not None
    assert Runs(store=store, log=log).get("a").events == 1


def test_a_state_that_cannot_be_read_is_made_anew() -> None:
    log, store = MemoryRunLog(), MemoryRunStore()
    runs = Runs(log=log, store=store)
    for _ in range(3):
        runs.take("a", EVENTS["same"], log.append("a", EVENTS["same"]))
    store.save([StoredRun(runs.end("a"), 99, b"broken", 3)])
    again = Runs(log=log, store=store)
    with pytest.warns(RuntimeWarning, match="without its store"):
        assert again.before_model("a").note is not None


def test_a_check_that_cannot_be_kept_is_in_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is written then."""
    log, store = MemoryRunLog(), MemoryRunStore()

    def full(*_: object) -> None:
        raise StoreError("full")

    monkeypatch.setattr(log, "add_check", full)
    runs = Runs(log=log, store=store)
    with pytest.warns(RuntimeWarning, match="full"):
        runs.before_model("a")
    runs.save()
    assert store.load("a") is not None


def test_a_log_that_was_away_is_read_when_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that begins anew meanwhile is not written over what the log has, and is whole again later."""
    log, store = MemoryRunLog(), MemoryRunStore()
    for _ in range(2):
        log.append("a", EVENTS["same"])

    def away(*_: object) -> None:
        raise StoreError("away")

    runs = Runs(log=log, store=store)
    with monkeypatch.context() as patched:
        patched.setattr(log, "checks", away)
        with pytest.warns(RuntimeWarning, match="away"):
            assert runs.before_model("a").note is None
        assert not runs.is_whole("a")
        runs.record("a", EVENTS["same"])  # the log could not take it
        runs.save()
        runs.end("a")
        assert store.load("a") is None
        assert runs.before_model("a").note is None
    place = log.append("a", EVENTS["same"])
    runs.take("a", EVENTS["same"], place)
    assert runs.get("a").tally.events < 3
    monkeypatch.setattr(run_saver.time, "monotonic", lambda: float("inf"))
    assert not runs.is_at_hand("a")
    assert runs.get("a").tally.events == 3
    assert runs.is_whole("a")
    assert runs.before_model("a").note is not None
    assert [check.number for check in log.checks("a")] == [1]
