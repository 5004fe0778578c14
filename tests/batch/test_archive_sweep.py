"""An archive under many settings: runs whose answer is known by construction, and the same as one by one."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.archive.archive_pool import RunChunk, check_chunks
from ebbtide.batch.archive.checking_runs import check_run
from ebbtide.batch.results.archived_run import ArchivedRun, EventsRun
from ebbtide.batch.sweep.archive_sweep import ArchiveSweep, SweepCounter, SweepTask, best_line, sweep_files
from ebbtide.batch.sweep.ended_runs import ENDINGS, EndedCounter, ending_step, poisson_bootstrap
from ebbtide.batch.sweep.run_outcomes import RunOutcomes
from ebbtide.batch.sweep.swept_settings import SweptSetting, default_settings, named_settings
from ebbtide.budget.limits import Limits
from ebbtide.errors import ConfigError
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.event_json import event_wire
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

STOP = ENDINGS.index(Action.STOP)


def looks(times: int, *, cost: float | None = 0.25) -> list[Event]:
    """The same look again and again, each after a call of a model."""
    usage = None if cost is None else Usage(cost_usd=cost)
    pair = [ModelCall(usage=usage), ToolCall(name="ls", args={"path": "."}, result="a.txt")]
    return pair * times


def pages(number: int) -> list[Event]:
    """Work that gets on."""
    return [
        event
        for n in range(number)
        for event in (
            ModelCall(usage=Usage(cost_usd=0.25)),
            ToolCall(name="read", args={"page": n}, result=f"chapter {n} about {n * n} ships"),
        )
    ]


# What the runs did, and whether they succeeded. A loop is reported at `copies` looks, and ended at the next.
RUNS: dict[str, tuple[list[Event], bool]] = {
    "stuck": (looks(10), False),
    "stuck at last": (pages(3) + looks(5), False),
    "late": (looks(4) + pages(4), True),  # that a strict ladder loses
    "at its end": (pages(2) + looks(4), True),  # ended by itself, where it would have been ended
    "healthy": (pages(8), True),
    "unpriced": (looks(10, cost=None), False),
    "failed": (pages(2), False),
}
OUTCOMES = RunOutcomes(by_run={name: succeeded for name, (_, succeeded) in RUNS.items()})


def archived(names: Sequence[str]) -> list[ArchivedRun]:
    return [EventsRun(run_id=name, source="made", events=RUNS[name][0]) for name in names]


def swept(
    trials: Sequence[SweptSetting], chunks: Sequence[Sequence[ArchivedRun]], outcomes: RunOutcomes = OUTCOMES
) -> ArchiveSweep:
    task = SweepTask(options=tuple(trial.options for trial in trials))
    counter = SweepCounter(settings=trials, outcomes=outcomes)
    for members in chunks:
        counter.add(task.check(RunChunk(tuple(members))))
    return counter.result()


def test_what_each_setting_would_have_ended() -> None:
    """A patient ladder saves less, and keeps the run that found its way."""
    trials = named_settings(RunOptions(), ["divergence.copies=3,4,6"])
    sweep = swept(trials, [archived(list(RUNS))])
    table = {
        line.setting.words: (
            line.ended[STOP].failed,
            line.ended[STOP].lost_successes,
            line.ended[STOP].saved_calls,
            line.ended[STOP].saved_usd,
            line.ended[STOP].lost_usd,
        )
        for line in sweep.lines
    }
    # Of ten looks, each of two calls, six come after the fourth: twice 12 calls; and 2 of the one at last.
    assert table == {
        "the profile as it is": (3, 1, 26, 1.75, 2.0),
        "divergence.copies = 4": (2, 0, 20, 1.25, 0.0),
        "divergence.copies = 6": (2, 0, 12, 0.75, 0.0),
    }
    assert (sweep.runs, sweep.successes, sweep.priced, sweep.without_run) == (7, 3, 6, 0)
    stop = sweep.lines[0].ended[STOP]
    assert (stop.priced, stop.precision, stop.lost_share) == (2, 0.75, pytest.approx(1 / 3))
    assert stop.saved_low is not None
    assert stop.saved_high is not None
    assert stop.saved_low <= 1.75 <= stop.saved_high


def test_a_limit_is_a_setting_too() -> None:
    """It ends whoever takes more, stuck or not."""
    trials = named_settings(RunOptions(), ["limits.cost_usd=1"])
    sweep = swept(trials, [archived(["healthy", "failed", "stuck"])])
    limited = sweep.lines[1].ended[STOP]
    assert (limited.failed, limited.lost_successes, limited.saved_usd) == (1, 1, 1.5)


def test_what_is_given_up_is_listed() -> None:
    """An unreadable run does not hide the others; one that nobody knows of is counted."""
    runs = [
        *archived(["stuck", "healthy"]),
        EventsRun(run_id="stranger", source="made", events=pages(1)),
        EventsRun(run_id=None, source="made", events=[]),
    ]
    sweep = swept(named_settings(RunOptions(), ["divergence.copies=4"]), [runs])
    assert (sweep.runs, sweep.without_outcome, sweep.without_run) == (2, 1, 5)
    assert [(bad.run_id, bad.status, bad.error) for bad in sweep.bad_runs] == [
        (None, "unreadable", "the run has no id")
    ]
    with pytest.raises(ConfigError, match="an outcome for none of the runs in the archive"):
        swept(named_settings(RunOptions(), []), [archived(["stuck"])], RunOutcomes(by_run={"z": True}))


class Deadly:
    """A run that takes its process with it."""

    source = run_id = "failed"

    def read(self) -> Iterator[Event]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()


def endless() -> Iterator[Event]:
    while True:
        yield ToolCall(name="read", args={}, result="page")


@pytest.mark.skipif(sys.platform == "win32", reason="neither SIGKILL nor alarms there")
def test_a_run_that_ends_its_process_or_takes_for_ever_is_listed() -> None:
    """All others are judged, as `archive check` would."""
    trials = named_settings(RunOptions(), [])
    task = SweepTask(options=(RunOptions(),), most_seconds=1.0)
    counter = SweepCounter(settings=trials, outcomes=OUTCOMES)
    chunks = [
        RunChunk((*archived(["stuck"]), Deadly())),
        RunChunk(tuple(archived(["healthy"]))),
    ]
    for judged in check_chunks(chunks, task, lambda: "", jobs=2):
        counter.add(judged)
    counter.add(task.check(RunChunk((EventsRun(run_id="unpriced", source="made", events=endless()),))))
    sweep = counter.result()
    assert (sweep.runs, sweep.without_run) == (2, 5)
    assert [(bad.run_id, bad.status) for bad in sweep.bad_runs] == [
        ("failed", "unreadable"),
        ("unpriced", "out_of_time"),
    ]


def test_one_outcome_is_of_one_run() -> None:
    """Else it would count for a run that it was not said of."""
    runs = [EventsRun(run_id=f"{week}/a.jsonl", source="made", events=pages(1)) for week in ("old", "new")]
    with pytest.raises(ConfigError, match=r"'a' may be new/a\.jsonl and old/a\.jsonl"):
        swept(named_settings(RunOptions(), []), [runs], RunOutcomes(by_run={"a": True}))
    by_folder = RunOutcomes(by_run={"old": True, "new": False})
    assert swept(named_settings(RunOptions(), []), [runs], by_folder).successes == 1


def test_nothing_depends_on_processes_or_order(tmp_path: Path) -> None:
    """One process and two, files in any order: the same to the last digit."""
    by_run = {}
    for number in range(70):
        name, (events, succeeded) = list(RUNS.items())[number % len(RUNS)]
        path = tmp_path / f"{name} {number}.jsonl"
        path.write_text("\n".join(json.dumps(event_wire(event)) for event in events))
        by_run[path.stem] = succeeded
    (tmp_path / "broken.jsonl").write_text("{")
    outcomes = RunOutcomes(by_run={**by_run, "broken": True})
    trials = named_settings(RunOptions(), ["divergence.copies=4"])
    task = SweepTask(options=tuple(trial.options for trial in trials))
    files = files_at([str(tmp_path)])
    mixed = files[1::2] + files[::2][::-1]
    results = []
    for order, jobs in ((files, 1), (mixed, 2)):
        progress: list[int] = []
        counter = SweepCounter(settings=trials, outcomes=outcomes)
        results.append(sweep_files(order, counter, task, jobs=jobs, progress=progress.append))
        assert sum(progress) == 71
    assert results[0] == results[1]
    assert (results[0].runs, results[0].lines[0].ended[STOP].failed) == (70, 30)
    assert [bad.run_id for bad in results[0].bad_runs] == [str(tmp_path / "broken.jsonl")]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40), st.randoms())
def test_the_bootstrap_knows_no_order(amounts: list[float], random: Random) -> None:
    """And holds the sum itself."""
    low, high = poisson_bootstrap(amounts)
    assert low <= sum(amounts) <= high
    random.shuffle(amounts)
    assert poisson_bootstrap(amounts) == (low, high)


def test_the_bootstrap_of_many_runs_is_that_of_the_normal_law() -> None:
    """Of n equal amounts the sum varies as the root of n."""
    low, high = poisson_bootstrap([2.0] * 4_000)
    spread = 1.96 * 2.0 * 4_000**0.5
    assert low == pytest.approx(8_000 - spread, abs=0.25 * spread)
    assert high == pytest.approx(8_000 + spread, abs=0.25 * spread)


CALLS = st.sampled_from("abc").map(
    lambda name: ToolCall(
        name=name, args={}, result="same" if name == "a" else None, usage=Usage(cost_usd=0.5)
    )
)
WORDS = st.sampled_from(["We are done: the report is ready.", "I do not know.", "Ask the team?"]).map(
    lambda text: ModelCall(text=text, usage=Usage(cost_usd=0.25))
)


@settings(max_examples=30, deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.lists(CALLS | WORDS, min_size=1, max_size=14), st.booleans()), min_size=1, max_size=5
    ),
    limits=st.sampled_from([None, Limits(cost_usd=2.0)]),
)
def test_the_profile_as_it_is_equals_the_checks_of_its_runs(
    runs: list[tuple[list[Event], bool]], limits: Limits | None
) -> None:
    """What the sweep says of it is what the results of `archive check` say, run by run."""
    options = RunOptions(limits=limits)
    named = {str(number): run for number, run in enumerate(runs)}
    members = [EventsRun(run_id=name, source="made", events=events) for name, (events, _) in named.items()]
    outcomes = RunOutcomes(by_run={name: succeeded for name, (_, succeeded) in named.items()})
    sweep = swept(named_settings(options, ["divergence.copies=5"]), [members[::2], members[1::2]], outcomes)
    rows = [check_run(member, options) for member in members]
    for place, action in enumerate(ENDINGS):
        counter = EndedCounter(action)
        for row in rows:
            step = ending_step(row.steps or (), action)
            if step is not None:
                counter.add(step, row.cost_usd, succeeded=named[row.run_id or ""][1])
        assert sweep.lines[0].ended[place] == counter.result(sweep.successes, is_priced=True)


def test_the_best_setting_loses_little_and_saves_most() -> None:
    """By the upper end of the interval, not by what happened to be lost."""
    copies = 60
    runs = [
        EventsRun(run_id=f"{name}.{number}", source="made", events=RUNS[name][0])
        for number in range(copies)
        for name in ("stuck", "healthy")
    ]
    runs.append(EventsRun(run_id="late.0", source="made", events=RUNS["late"][0]))
    outcomes = RunOutcomes(by_run={run.run_id: RUNS[run.run_id.partition(".")[0]][1] for run in runs})
    sweep = swept(named_settings(RunOptions(), ["divergence.copies=3,4,6"]), [runs], outcomes)
    best = best_line(sweep, Action.STOP, 0.07)
    assert best is not None
    assert best.setting.words == "divergence.copies = 4"
    loose = best_line(sweep, Action.STOP, 0.2)
    assert loose is not None
    assert loose.setting.words == "the profile as it is"
    assert best_line(sweep, Action.STOP, 0.01) is None


def test_the_default_sweep_moves_one_thing_at_a_time() -> None:
    """Around the profile, whatever that is; all of them are different."""
    for profile in (Profile.DEFAULT, Profile.SPEC, Profile.DEFAULT.changed({"divergence": {"copies": 6}})):
        trials = default_settings(RunOptions(profile=profile))
        assert trials[0].options.profile is profile
        assert all(len(trial.values) == 1 for trial in trials[1:])
        assert len({repr(trial.options.profile) for trial in trials}) == len(trials) <= 32
    later = next(trial for trial in trials if trial.words == "patience = 2.0").options.profile
    assert (later.divergence.copies, later.divergence.entropy_window) == (12, 64)
    assert later.supervision.dry_rounds == 4


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ("copies=3", "expected SECTION.NAME .*did you mean divergence.copies"),
        ("divergence.copis=3", "no such setting; did you mean copies"),
        ("limits.cost=3", "no such setting; did you mean cost_usd"),
        ("divergence.copies=2", "expected a whole number, 3 or more"),
        ("divergence.copies=few", "expected a whole number, 3 or more"),
        ("limits.steps=few", "expected a whole number"),
        ("divergence.copies", "expected NAME=VALUE"),
        ("divergence.copies=", "expected NAME=VALUE"),
        ("patience=0", "expected a factor above 0"),
        ("patience=inf", "expected a factor above 0"),
        ("decisions.weighs=true", "has no part in verdicts"),
        ("ignore.rules=3", "expected a list of names"),
        ("", "expected SECTION.NAME"),
        ("=", "expected SECTION.NAME"),
        ("divergence.copies=" + "[" * 2_000, "expected a whole number"),
        ("divergence.copies=" + ",".join(map(str, range(3, 99))), "96 combinations: at most 64"),
    ],
)
def test_what_cannot_be_swept_says_why(sweep: str, message: str) -> None:
    """Which setting, which value, and what is expected."""
    with pytest.raises(ConfigError, match=message):
        named_settings(RunOptions(), [sweep])


def test_settings_are_combined() -> None:
    """All values with all others, once each."""
    sweeps = ["divergence.copies=3,4", "novelty.low_by=own, peak", "ignore.rules=[],['cycle']"]
    trials = named_settings(RunOptions(), sweeps)
    assert len(trials) == 8
    assert trials[0].words == "the profile as it is"
    with pytest.raises(ConfigError, match="named twice"):
        named_settings(RunOptions(), [*sweeps, "divergence.copies=5"])
