"""What is stuck now, in a sentence."""

import time
from typing import Any

import pytest

from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.now import now_answer
from ebbtide.service.runs.run_database import PersonAct, RunDatabase
from ebbtide.service.runs.run_event import read_lines
from ebbtide.service.runs.run_origin import RunOrigin, RunSource

SILENT_S = 600.0


class Fleet:
    """Runs on a clock that stands still."""

    def __init__(self, db: str) -> None:
        self.now = time.time()
        self.database = RunDatabase(db)
        self.runs = LiveRuns(self.database, clock=lambda: self.now)

    def add(self, run_id: str, text: str, **origin: Any) -> None:
        self.runs.get(run_id)
        events = list(read_lines(text.encode(), self.runs.prices, self.now))
        places = self.runs.append(run_id, events, RunOrigin(**origin)).result()
        for item, place in zip(events, places, strict=True):
            self.runs.take(run_id, item.event, place)
        self.runs.note(run_id)

    def stick(
        self, run_id: str, *, cost: str = "0.5", step_s: float = 20.0, calls: int = 5, **origin: Any
    ) -> None:
        """The same call with the same answer, its model asked before each; the latest is of now."""
        lines = []
        for number in range(calls):
            ts = self.now - step_s * (calls - 1 - number)
            lines.append(f'{{"kind": "llm", "cost_usd": {cost}, "input_tokens": 9, "ts": {ts}}}')
            lines.append(f'{{"kind": "tool", "name": "ls", "args": {{}}, "result": "a", "ts": {ts}}}')
        self.add(run_id, "\n".join(lines), **origin)

    def work(self, run_id: str, **origin: Any) -> None:
        self.add(run_id, '{"kind": "tool", "name": "ls", "args": {}, "result": "a"}', **origin)

    def ask(self) -> dict[str, Any]:
        self.database.flush().result()
        return now_answer(self.database, self.now, silent_after_s=SILENT_S)

    def sentence(self) -> str:
        return self.ask()["sentence"]


@pytest.fixture
def fleet(db):
    fleet = Fleet(db)
    yield fleet
    fleet.runs.close()


def test_nobody_has_reported(fleet) -> None:
    answer = fleet.ask()
    assert (answer["sentence"], answer["connect"]) == (
        "No run has reported yet.",
        "ebbtide hooks install claude",
    )


def test_nothing_is_stuck(fleet) -> None:
    for name in "abc":
        fleet.work(name)
    assert fleet.ask()["connect"] is None
    assert fleet.sentence() == "Nothing is stuck. 3 runs are working."


def test_a_stuck_run_is_told_with_its_time_and_what_it_cost_since(fleet) -> None:
    """From the first event of the loop on, and on with what it spends after it was told."""
    for name in "abcdef":
        fleet.work(name)
    fleet.stick("invoice-7", agent="invoice-agent", calls=22)
    answer = fleet.ask()
    (run,) = answer["stuck"]
    assert run["label"] == "invoice-agent"
    assert run["stuck_usd"] >= run["cost_usd"] - 0.5  # all but the question before the first call
    before = run["stuck_usd"]
    assert (
        answer["sentence"] == f"1 of 7 runs is stuck: invoice-agent, 7 min, ${before:.2f} since anything new."
    )
    fleet.now += 420
    for name in "abcdef":
        fleet.work(name)
    fleet.stick("invoice-7", calls=1)
    assert fleet.sentence().endswith(f"invoice-agent, 14 min, ${before + 0.5:.2f} since anything new.")


def test_several_are_named_the_most_expensive_first(fleet) -> None:
    for number in range(5):
        fleet.stick(f"run-{number}", cost=str(number + 1))
    sentence = fleet.sentence()
    assert sentence.startswith("5 of 5 runs are stuck: run-4, 1 min, $")
    assert sentence.index("run-4") < sentence.index("run-3") < sentence.index("run-2")
    assert sentence.endswith("; and 2 more.")


def test_what_is_not_known_is_said(fleet) -> None:
    fleet.stick("a", cost="null")
    assert fleet.sentence() == "1 of 1 run is stuck: a, 1 min, unknown cost since anything new."


def test_a_run_that_goes_on_is_stuck_no_more(fleet) -> None:
    fleet.stick("a")
    fleet.runs.go_on(PersonAct(act="acknowledge", run_id="a", caller="me"))
    assert fleet.sentence() == "Nothing is stuck. 1 run is working."
    fleet.runs.stop(PersonAct(act="stop", run_id="a", caller="me"))
    assert fleet.sentence() == "Nothing is stuck, and no run is under way."
    assert fleet.ask()["counts"]["stopped"] == 1


def test_silence_is_told_apart(fleet) -> None:
    """A coding agent that waits for its person is not called silent, and is stuck no more."""
    fleet.work("night-job")
    fleet.work("claude:1", source=RunSource.HOOKS, agent="claude")
    fleet.stick("claude:2", source=RunSource.SESSION_FILE, agent="claude", project="/srv/ada/shop")
    assert fleet.sentence().startswith("1 of 3 runs is stuck: claude in shop, 1 min")
    fleet.now += 720
    fleet.work("b")
    answer = fleet.ask()
    assert (
        answer["sentence"]
        == "Nothing is stuck. 1 run is working. 1 run is silent: night-job, nothing for 12 min."
    )
    assert answer["counts"]["waiting"] == 2


def test_yesterday_is_not_now(fleet) -> None:
    fleet.stick("a")
    fleet.now += 2 * 86_400
    assert fleet.sentence() == "Nothing is stuck, and no run is under way. The latest, a, was 2 days ago."
