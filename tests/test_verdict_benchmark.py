"""What `benchmarks.quality.verdicts` counts: when an alarm came, if it was right, and what came after."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.alarms import Alarm, RunAlarms, asks_model, supervise, three_equal, watch
from benchmarks.quality.run_sets import Episode, RecordedRun
from benchmarks.quality.scenario_files import read_scenario, read_scenarios, score_scenarios
from benchmarks.quality.verdict_scores import (
    count_distinct,
    score_episodes,
    score_groups,
    score_outcomes,
    spending_after,
)
from benchmarks.quality.verdicts import measure, measure_files
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Phase, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.ladder import Action

SAME = {"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt"}
NO_ALARMS = RunAlarms(())


def look(chain: str = "") -> ToolCall:
    return ToolCall(name="ls", args={"path": "."}, result="a.txt", chain_id=chain)


def wire(name: str, kind: str, length: str, events: list[Any]) -> dict[str, Any]:
    return {"id": name, "kind": kind, "length": length, "source": "s", "why": "w", "events": events}


def fresh(count: int) -> list[dict[str, Any]]:
    return [{"kind": "tool", "name": "read", "args": {"n": n}, "result": f"text {n}"} for n in range(count)]


def stuck(
    name: str, length: str, *, before: int, onset: int = 0, kind: str = "stuck-plain"
) -> dict[str, Any]:
    loop = [SAME | ({"onset": True} if n == onset else {}) for n in range(6)]
    return wire(name, kind, length, fresh(before) + loop)


def test_each_rung_has_its_event() -> None:
    """The third equal look is a nudge, the fourth a stop, after which nothing is asked."""
    alarms = supervise([look() for _ in range(9)])
    assert alarms.alarms == (Alarm(3, "repeat", Action.NUDGE), Alarm(4, "repeat", Action.STOP))
    assert (alarms.nudge, alarms.end, alarms.stop) == (alarms.alarms[0], alarms.alarms[1], alarms.alarms[1])


def test_an_end_is_a_nudge_or_more_and_a_finalize_is_no_stop() -> None:
    """A rung counts for the lower ones; who was asked for the result was not stopped."""
    alarms = RunAlarms((Alarm(4, "ready_rounds", Action.FINALIZE), Alarm(6, "repeat", Action.STOP)))
    assert alarms.nudge == alarms.end == alarms.alarms[0]
    assert alarms.stop is None


def test_calls_of_one_batch_are_one_turn() -> None:
    """What was asked for at once could not hear of a loop in between."""
    batches = [ToolCall(name=name, args={}, result="ok", batch=n) for n in range(3) for name in ("a", "b")]
    singles = [ToolCall(name=name, args={}, result="ok") for _ in range(3) for name in ("a", "b")]
    assert sum(map(asks_model, batches, [None, *batches])) == 3
    assert sum(map(asks_model, singles, [None, *singles])) == 6


@pytest.mark.parametrize(
    ("event", "before", "asks"),
    [
        (ModelCall(text="a"), None, True),
        (ModelCall(text="a"), ModelCall(text="b"), True),
        (ModelCall(text="a"), ModelCall(text="b", part=ModelPart.THOUGHT), False),
        (look(), ModelCall(text="a"), False),
        (look(), Message(text="a"), True),
        (look(), ToolCall(name="ls", phase=Phase.STARTED), False),
        (Message(text="a"), look(), False),
    ],
)
def test_where_a_model_is_called(event: Event, before: Event | None, *, asks: bool) -> None:
    """Before its first words, and before a call of a tool that no recorded words asked for."""
    assert asks_model(event, before) is asks


def test_a_chain_that_ended_ends_no_other() -> None:
    """Nothing more of the first chain is recorded; the second gets its own alarms."""
    alarms = supervise([*(look("a") for _ in range(8)), *(look("b") for _ in range(5))])
    assert [(alarm.place, alarm.action) for alarm in alarms.alarms if alarm.rule == "repeat"] == [
        (3, Action.NUDGE),
        (4, Action.STOP),
        (11, Action.NUDGE),
        (12, Action.STOP),
    ]


def test_three_equal() -> None:
    """Other arguments, or a new run, begin the count anew."""
    other = ToolCall(name="ls", args={"path": "/"})
    start = Notice(kind=NoticeKind.RUN_START)
    assert watch([look(), look(), other, look(), look(), look()], three_equal, "3").nudge == Alarm(6, "3")
    assert watch([look(), look(), start, look()], three_equal, "3") == NO_ALARMS


def episode(rewards: tuple[float, ...], answers: str, *, submitted: bool) -> Episode:
    return Episode(
        id="e",
        group="g",
        family="bash some-model",
        events=tuple(look() for _ in rewards),
        rewards=rewards,
        answers=tuple(answers),
        submitted=submitted,
        success_at=rewards.index(1) if 1 in rewards else None,
    )


@pytest.mark.parametrize(
    ("run", "letter", "otherwise"),
    [
        (episode((0, 0, 0, 0), "aabc", submitted=False), False, False),
        (episode((0, 0, 0, 1), "aaab", submitted=False), True, True),
        (episode((0, 0, 0, 1), "aaab", submitted=True), True, False),
        (episode((0, 0, 0, 1), "aabc", submitted=True), True, True),
        (episode((0.5, 0, 0, 0.5), "aabc", submitted=True), False, False),
    ],
)
def test_the_reward_of_a_submission(run: Episode, *, letter: bool, otherwise: bool) -> None:
    """It speaks against an alarm to the letter; otherwise only where something new was seen in between."""
    assert (run.improves(2, letter=True), run.improves(2, letter=False)) == (letter, otherwise)


def test_episodes_are_scored_both_ways() -> None:
    """An alarm that a submission proves wrong is right, and saves, in one count alone."""
    runs = [episode((0, 0, 0, 1), "aaab", submitted=True), episode((0, 0, 0, 0, 0), "aaaaa", submitted=False)]
    score = score_episodes(runs, [{"nudge": Alarm(2, "repeat")}, {"nudge": Alarm(3, "repeat")}])["nudge"]
    assert (score["precision"], score["saved_turns"], score["successes_lost"]) == (1.0, 4, 0)
    letter = score["letter"]
    assert (letter["precision"], letter["saved_turns"], letter["successes_lost"]) == (0.5, 2, 1)
    assert score["rules"]["repeat"]["wrong_letter"] == score["models"]["bash some-model"]["wrong_letter"] == 1


def test_a_success_after_the_alarm_is_lost() -> None:
    """What came with the alarm itself is not."""
    events = tuple(look() for _ in range(4))
    runs = [
        RecordedRun(id="1", group="solved", events=events, success_at=3),
        RecordedRun(id="2", group="solved", events=events, success_at=2),
        RecordedRun(id="3", group="failed", events=events),
    ]
    rows = [{"end": Alarm(3, "repeat")}] * 2 + [{"end": Alarm(1, "repeat")}]
    outcome = score_outcomes(runs, rows)["end"]
    assert (outcome["lost"], outcome["successes"], outcome["saved_calls"], outcome["calls"]) == (1, 2, 4, 12)
    groups = score_groups(runs, [*rows[:2], {"end": None}])
    assert groups["failed"] == {"of": 1, "alarmed": {"end": {"alarmed": 0, "interval": (0.0, 0.7935)}}}
    assert count_distinct(runs, rows, "end") == {"failed": {"alarmed": 1, "of": 1}}


@pytest.mark.parametrize(
    ("usages", "share"),
    [
        ([Usage(input_tokens=30), None, Usage(input_tokens=10)], (0.25, "tokens")),
        ([Usage(input_tokens=1, cost_usd=1.0), None, Usage(input_tokens=9, cost_usd=1.0)], (0.5, "usd")),
        ([Usage(input_tokens=1, cost_usd=1.0), None, Usage(input_tokens=9)], (0.9, "tokens")),
        ([None, None, None], (None, "tokens")),
    ],
)
def test_spending_after(usages: list[Usage | None], share: tuple[float | None, str]) -> None:
    """In dollars only where each event with tokens has its cost."""
    events = tuple(ModelCall(text="a", usage=usage) for usage in usages)
    assert spending_after(RecordedRun(id="1", group="g", events=events), 2) == share


def test_the_onset_is_an_event() -> None:
    """Clocks are no events, and blocks are several."""
    clock = {"kind": "system", "name": "clock", "args": {"elapsed_s": 9}}
    block = {"repeat": 2, "events": [*fresh(1), SAME | {"onset": True}]}
    scenario = read_scenario(wire("disk-full-short", "stuck-plain", "short", [clock, *fresh(2), block]))
    assert (scenario.onset, len(scenario.events), scenario.events[0].waited_s) == (4, 6, 9)
    assert (
        scenario.events
        == read_scenario(
            wire(
                "disk-full-short",
                "stuck-plain",
                "short",
                [clock, *fresh(2), *fresh(1), SAME | {"onset": True}, *fresh(1), SAME],
            )
        ).events
    )


@pytest.mark.parametrize(
    "row", [wire("a", "healthy", "short", [SAME | {"onset": True}]), wire("a", "stuck-x", "long", [SAME])]
)
def test_an_onset_belongs_to_a_stuck_run(row: dict[str, Any]) -> None:
    """A file that was written wrongly is not counted."""
    with pytest.raises(ValueError, match="onset"):
        read_scenario(row)


@pytest.mark.parametrize(
    ("name", "length", "family"),
    [
        ("disk-full-short", "short", "disk-full"),
        ("disk-full:long", "long", "disk-full"),
        ("short/disk_full", "short", "disk-full"),
        ("long-poll-long", "long", "long-poll"),
        ("long-poll-short", "short", "long-poll"),
        ("disk-full", "short", "disk-full"),
        ("shortage", "short", "shortage"),
    ],
)
def test_a_family_has_two_lengths(name: str, length: str, family: str) -> None:
    """The word of the length is no part of its name."""
    row = wire(name, "healthy", length, fresh(1))
    assert read_scenario(row).family == family
    assert read_scenario(row | {"family": "other"}).family == "other"


def test_scenarios_are_scored_by_kind_and_family() -> None:
    """An alarm before the onset is early, and counts as such; a family is right in both lengths or not."""
    rows = [
        stuck("a-short", "short", before=2),
        stuck("a-long", "long", before=4, onset=5),
        stuck("b-short", "short", before=2),
        wire("b-long", "stuck-plain", "long", [*fresh(5), fresh(6)[5] | {"onset": True}]),
        wire("c-short", "healthy", "short", fresh(6)),
    ]
    runs = [read_scenario(row) for row in rows]
    score = score_scenarios(runs, [supervise(run.events) for run in runs], with_ids=True)
    short, long = score["groups"]["stuck-plain short"], score["groups"]["stuck-plain long"]
    assert (short["of"], short["nudged"], short["early"], short["from_onset"]) == (2, 2, 0, 2)
    assert (short["median_delay"], short["stopped_or_escalated"]) == (2, 2)
    assert (long["of"], long["nudged"], long["early"], long["from_onset"]) == (2, 1, 1, 0)
    assert (score["groups"]["healthy short"]["nudged"], score["groups"]["healthy short"]["of"]) == (0, 1)
    plain = score["families"]["stuck-plain"]
    assert (plain["right"], plain["of"], plain["none_stopped"]) == (1, 2, 0)
    assert score["wrong"] == [{"id": "b-long", "kind": "stuck-plain", "nudge": None, "onset": 6}]


@pytest.mark.parametrize(("show", "named"), [(False, {"open"}), (True, {"open", "sealed"})])
def test_sealed_files_give_numbers_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, show: bool, named: set[str]
) -> None:
    """No name of a run that was decided wrongly is printed or written, unless that is asked for."""
    paths = [tmp_path / "open.jsonl", tmp_path / "sealed.jsonl.gz"]
    lines = {
        path: json.dumps(wire(f"missed-{path.name[:4]}", "healthy", "short", [SAME] * 4)) for path in paths
    }
    paths[0].write_text(lines[paths[0]] + "\n\n", encoding="utf-8")
    paths[1].write_bytes(gzip.compress(lines[paths[1]].encode()))
    assert [run.id for path in paths for run in read_scenarios(path)] == ["missed-open", "missed-seal"]
    result = measure_files(paths, show_sealed=show)
    shown = capsys.readouterr().out
    assert all(scores["groups"]["healthy short"]["nudged"] == 1 for scores in result.values())
    for text in (shown, json.dumps(result)):
        assert {name for name in ("open", "sealed") if f"missed-{name[:4]}" in text} == named


def test_a_set_is_measured_rung_by_rung() -> None:
    """Each rung stands beside the rules of others, and runs in which something is raised are listed."""
    runs = [
        RecordedRun(id="loop", group="failed", events=tuple(look() for _ in range(6))),
        RecordedRun(id="fine", group="resolved", events=(ModelCall(text="Done."),), success_at=0),
    ]
    result = measure("software", runs, {"three": lambda events: watch(events, three_equal, "three")})
    alarmed = result["groups"]["failed"]["alarmed"]
    assert {name: row["alarmed"] for name, row in alarmed.items()} == {
        "nudge": 1,
        "end": 1,
        "stop": 1,
        "three": 1,
        "check": 1,
    }
    assert result["rules"]["end"] == {"repeat": 1}
    assert [(run["id"], run["nudge"]["event"], run["end"]["event"]) for run in result["runs"]] == [
        ("loop", 3, 4)
    ]
    assert result["outcomes"]["end"]["lost"] == 0
