"""The sets of the exam: runs that are stuck, failed or healthy, and where their data comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.quality import incidents, run_sets
from benchmarks.quality.run_sets import RecordedRun
from ebbtide.errors import EbbtideError
from ebbtide.events.event import Event
from ebbtide.traces.reading import open_trace

_COMPLETE = ("complete", "True")
_INCOMPLETE = ("incomplete", "False")


class Truth(StrEnum):
    """What became of a run."""

    STUCK = "stuck"  #: somebody has to be told: silence is wrong
    FAILED = "failed"  #: it did not succeed: a word is counted, and silence is not wrong
    HEALTHY = "healthy"  #: a word is wrong


@dataclass(frozen=True, slots=True)
class Record:
    """Events of one recorded run, in order.

    Args:
        events: What happened.
        deadline: The last event, from 1, at which a word is in time; None where any event will do.
    """

    events: tuple[Event, ...]
    deadline: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One question of the exam.

    Args:
        id: Its name in its set.
        group: Its label in the words of its set.
        truth: What is right to say.
        records: Its runs; a word in any of them is a word.
    """

    id: str
    group: str
    truth: Truth
    records: tuple[Record, ...]


#: Reads a case when it is its turn: the sessions do not fit into memory together.
Source = Callable[[], Case]


@dataclass(frozen=True, slots=True)
class ExamSet:
    """A set of cases.

    Args:
        read: Lists the cases in the folder of the data.
        needs: Files and folders of that folder without which it is skipped.
        origin: Where somebody else gets them.
        bad: What its bad cases are: stuck or failed.
    """

    read: Callable[[Path], Sequence[Source]]
    needs: tuple[str, ...]
    origin: str
    bad: Truth

    def missing(self, data: Path) -> list[str]:
        """Returns what it needs and is not there."""
        return [name for name in self.needs if not (data / name).exists()]


def _incidents(data: Path) -> list[Source]:
    return [partial(_incident, case, data) for case in incidents.cases(data)]


def _incident(case: dict[str, Any], data: Path) -> Case:
    bad = case["role"] == "bad"
    by = case["by"] if bad else None
    records = tuple(_with_deadline(path, by) for path in incidents.records(case, data))
    truth = Truth.STUCK if bad else Truth.HEALTHY
    return Case(case["id"], f"{incidents.FAMILIES[case['family']]}, {truth}", truth, records)


def _with_deadline(path: Path, by: dict[str, Any] | None) -> Record:
    events = _events(path)
    return Record(events, None if by is None else deadline(events, by))


def deadline(events: Sequence[Event], by: dict[str, Any]) -> int:
    """Returns the last event, from 1, that happened before a careful person would have spoken; 0 for none.

    Args:
        events: The events of a record.
        by: Time of the last moment, and the number of its line or message for records without times.
    """
    if all(event.ts is None for event in events):
        return min(by.get("message", by.get("line", 0)), len(events))
    latest = datetime.fromisoformat(by["time"]).timestamp() + 0.001
    clocks = accumulate((event.ts or 0.0 for event in events), max)
    return sum(clock <= latest for clock in clocks)


def _events(path: Path) -> tuple[Event, ...]:
    """The events of a file; none where no reader takes it."""
    try:
        return tuple(event for event in open_trace(path) if isinstance(event, Event))
    except EbbtideError:
        return ()


def _recorded(runs: Iterator[RecordedRun], bad: Truth, healthy: tuple[str, ...]) -> list[Source]:
    """The cases of a set in which the group of a run says what became of it."""
    return [partial(_case, run, bad if run.group not in healthy else Truth.HEALTHY) for run in runs]


def _case(run: RecordedRun, truth: Truth, part: str = "") -> Case:
    events = tuple(event for event in run.events if isinstance(event, Event))
    name = f"{part}: {run.id}" if part else run.id
    group = f"{part}: {run.group}" if part else run.group
    return Case(name, group, truth, (Record(events),))


def _scenarios(data: Path, kind: str) -> list[Source]:
    runs = (run for run in run_sets.scenarios(data) if run.group.startswith(kind))
    return _recorded(runs, Truth.STUCK, (f"{kind}, healthy",))


def _runs(data: Path) -> list[Source]:
    solved = ("CORRECT", "rewarded", "resolved")
    parts = {name: run_sets.SETS[name] for name in ("questions", "support", "transitions", "software")}
    return [
        partial(_case, run, Truth.HEALTHY if run.group in solved else Truth.FAILED, part)
        for part, read in parts.items()
        for run in read(data)
    ]


def _sessions(data: Path) -> list[Source]:
    """Sessions whose work landed and stayed, or that reviewers called complete or incomplete."""
    sources: list[Source] = []
    for path, card in run_sets.session_files(data):
        outcome = card.get("outcome") or {}
        verdict = str((outcome.get("adjudicated") or {}).get("functional_completion"))
        if outcome.get("fate") == "landed, kept" or verdict in _COMPLETE:
            truth = Truth.HEALTHY
        elif verdict in _INCOMPLETE:
            truth = Truth.FAILED
        else:
            continue
        group = "landed, kept" if outcome.get("fate") == "landed, kept" else f"reviewed: {verdict}"
        sources.append(partial(_session, path, card["id"], group, truth))
    return sources


def _session(path: Path, name: str, group: str, truth: Truth) -> Case:
    return Case(name, group, truth, (Record(_events(path)),))


SETS: dict[str, ExamSet] = {
    "incidents": ExamSet(
        _incidents,
        ("incidents/expectations.json",),
        "reported incidents and their healthy twins, rebuilt in the formats of the agents: a folder a case, "
        "and expectations.json (id, family, role, main, by)",
        Truth.STUCK,
    ),
    "scenarios": ExamSet(
        partial(_scenarios, kind="calls"),
        ("loops/scenarios.json",),
        "call sequences in the tests and issue threads of public repositories; each row names its source",
        Truth.STUCK,
    ),
    "texts": ExamSet(
        partial(_scenarios, kind="text"),
        ("loops/scenarios.json",),
        "the rows of the same file whose id begins with text-",
        Truth.STUCK,
    ),
    "episodes": ExamSet(
        lambda data: _recorded(run_sets.episodes(data), Truth.FAILED, ("solved",)),
        ("loops/intercode.jsonl.gz",),
        "princeton-nlp/intercode (MIT), data/results at c3e46d8: an episode a line, a reward a step",
        Truth.FAILED,
    ),
    "runs": ExamSet(
        _runs,
        (
            "loops/hotpotqa_react_base.jsonl.gz",
            "traces/openai_messages/tau_airline_20.json",
            "loops/swe_transitions.jsonl.gz",
            "runs/mini_swe_agent/outcomes.json",
        ),
        "noahshinn/reflexion at 218cf0e, sierra-research/tau-bench at 59a200c, sola-st/llm-agents-study at "
        "e84f66f, gruckion/mini-swe-agent, swebench_results/20251118_gemini-3-pro-74pct (all MIT)",
        Truth.FAILED,
    ),
    "sessions": ExamSet(
        _sessions,
        ("sessions",),
        "sessions that seven projects published beside their code (entireio/cli, FSM1/cipher-box, "
        "PackmindHub/context-evaluator, JanDeDobbeleer/oh-my-posh, EntityProcess/agentv, raquezha/pi.dev, "
        "MnemeHQ/mneme), each with a card that has its id and outcome",
        Truth.FAILED,
    ),
}
