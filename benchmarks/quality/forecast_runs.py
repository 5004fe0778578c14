"""Runs in the middle: the facts that are known of a run at a moment, and if it was solved in the end.

Two moments. `half` is half of the run's own turns, which only who knows its end can name: that so many
turns were half says how long the run went on. `budget` is half of what a run of its set may take: the limit
of its harness where there is one, else the median of the set; there are the runs that were neither solved
nor over by then.

The facts are those that the engines keep as the events come: of the record so far, and of its later half.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality.ledgers import histories
from benchmarks.quality.run_sets import (
    RecordedRun,
    episodes,
    lines,
    questions,
    session_files,
    software,
    support,
    transitions,
)
from benchmarks.quality.stopping import Run, refinement_chains, reflection_trials
from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.events.event import Event, Message, ModelCall, Phase, ToolCall
from ebbtide.events.identity import identify
from ebbtide.events.transcript import Round
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.reading import open_trace

FEWEST = 4  # turns of a run that has a middle
_LONGEST = 4_000  # events of a run that are read
MOMENTS = ("half", "budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A run with its outcome.

    Args:
        collection: The data that it is from: all its agents are left out together.
        agent: Who ran, with the collection: what is left out as one set.
        task: Runs of one task are drawn together.
        events: What happened.
        solved: Whether it was solved in the end.
        solved_at: Place of the event that solved it, from 0; None where it was not, or the end says so.
        limit: Turns that its harness allows; None where there is no such limit.
    """

    collection: str
    agent: str
    task: str
    events: Sequence[Event | Round]
    solved: bool
    solved_at: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A run at a moment.

    Args:
        moment: One of `MOMENTS`.
        collection: As of the run.
        agent: As of the run.
        task: As of the run.
        facts: By name; NaN where a fact is not known.
        solved: Whether the run was solved later.
    """

    moment: str
    collection: str
    agent: str
    task: str
    facts: dict[str, float]
    solved: bool


def is_turn(item: Event | Round, *, of_tools: bool) -> bool:
    """Returns True if a turn ends with an event: a call of a tool, or words in a run without tools."""
    if of_tools:
        return isinstance(item, ToolCall) and item.phase is not Phase.STARTED
    return isinstance(item, Round | ModelCall)


def turn_ends(events: Sequence[Event | Round]) -> list[int]:
    """Number of events up to the end of each turn."""
    of_tools = any(isinstance(item, ToolCall) for item in events)
    return [place for place, item in enumerate(events, start=1) if is_turn(item, of_tools=of_tools)]


def points_of(courses: Iterable[Course]) -> list[Point]:
    """Returns the runs at both moments, where they have them."""
    grouped: dict[str, list[tuple[Course, list[int]]]] = defaultdict(list)
    for course in courses:
        grouped[course.agent].append((course, turn_ends(course.events)))
    points = []
    for group in grouped.values():
        lengths = [len(ends) for _, ends in group if len(ends) >= FEWEST]
        median = int(statistics.median(lengths)) if lengths else 0
        for course, ends in group:
            wanted = {"half": len(ends) // 2, "budget": (course.limit or median) // 2}
            cuts = {
                moment: ends[turns - 1]
                for moment, turns in wanted.items()
                if len(ends) >= FEWEST and 2 <= turns < len(ends)
            }
            open_cuts = {
                moment: cut
                for moment, cut in cuts.items()
                if course.solved_at is None or course.solved_at >= cut
            }
            for moment, facts in facts_at(course.events, open_cuts).items():
                points.append(
                    Point(
                        moment=moment,
                        collection=course.collection,
                        agent=course.agent,
                        task=course.task,
                        facts=facts,
                        solved=course.solved,
                    )
                )
    return points


def facts_at(events: Sequence[Event | Round], cuts: dict[str, int]) -> dict[str, dict[str, float]]:
    """Returns the facts of a run after so many events, for each of several numbers by name."""
    stops = {stop for cut in cuts.values() for stop in (cut // 2, cut - 1, cut)}
    snapshots = {0: _Snapshot.empty()}
    watch = _Watch()
    for place, item in enumerate(events[: max(stops, default=0)], start=1):
        watch.see(item)
        if place in stops:
            snapshots[place] = watch.snapshot()
    return {
        moment: _facts(snapshots[cut], snapshots[cut // 2], snapshots[cut - 1])
        for moment, cut in cuts.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """Counts of a run up to an event, and the state of its checks."""

    turns: int
    calls: int
    failed: int
    fresh_calls: int
    fresh_answers: int
    lookups: int
    deeds: int
    edits: int
    checks: int
    words: int
    claims: int
    new_claims: int
    findings: int
    verdict: int
    strictest: int
    last_check: bool | None
    checks_trend: int
    unchecked: int
    cost: float
    tokens: float
    waste: float
    readiness: float

    @classmethod
    def empty(cls) -> _Snapshot:
        return _Watch().snapshot()


class _Watch:
    """Watches a run as the product does."""

    def __init__(self) -> None:
        self._recorder = RunRecorder(decisions=False)
        self._record = ClaimRecord()
        self._calls: set[Hashable] = set()
        self._answers: set[int] = set()
        self._turns = self._words = 0

    def see(self, item: Event | Round) -> None:
        if isinstance(item, ToolCall | ModelCall | Message):
            self._record.see(item)
        if isinstance(item, ToolCall) and item.phase is not Phase.STARTED:
            self._turns += 1
            identity = identify(item.name, item.args)
            if identity is not None:
                self._calls.add(identity[0])
            self._answers.add(hash(str(item.result)))
        elif isinstance(item, Round | ModelCall):
            self._words += 1
        self._recorder.record(item)

    def snapshot(self) -> _Snapshot:
        summary = self._recorder.summary("run", "events")
        facts = summary.facts
        runs = [run for run in self._record.runs if run.ok is not None]
        last_at = runs[-1].event if runs else 0
        return _Snapshot(
            turns=self._turns or self._words,
            calls=self._turns,
            failed=facts.failures.calls,
            fresh_calls=len(self._calls),
            fresh_answers=len(self._answers),
            lookups=facts.lookups.calls,
            deeds=facts.deeds,
            edits=len(self._record.edits),
            checks=len(runs),
            words=self._words,
            claims=sum(item.claims for item in summary.rounds),
            new_claims=sum(item.new_claims for item in summary.rounds),
            findings=len(summary.findings),
            verdict=summary.latest.action.rank,
            strictest=summary.verdict.action.rank,
            last_check=runs[-1].ok if runs else None,
            checks_trend=_trend(runs),
            unchecked=sum(edit.event > last_at for edit in self._record.edits),
            cost=math.nan if summary.spent.cost_usd is None else summary.spent.cost_usd,
            tokens=math.nan if summary.spent.tokens.total is None else summary.spent.tokens.total,
            waste=_waste(summary),
            readiness=summary.rounds[-1].readiness if summary.rounds else math.nan,
        )


def _trend(runs: Sequence[Any]) -> int:
    """Returns 1 if the latest check came out better than the one before it, -1 if worse, else 0."""
    if len(runs) < 2:
        return 0
    before, after = ((not run.ok, run.failed or 0) for run in runs[-2:])
    return (before > after) - (before < after)


def _waste(summary: RunSummary) -> float:
    return sum(line.amount.share for line in summary.bill.waste)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _facts(now: _Snapshot, before: _Snapshot, last: _Snapshot) -> dict[str, float]:
    """Returns facts of a run up to now, of the part after an earlier snapshot, and of the last event."""
    calls, recent = now.calls, now.calls - before.calls
    return {
        "turns": math.log1p(now.turns),
        "verdict": now.verdict,
        "strictest verdict": now.strictest,
        "findings": math.log1p(now.findings),
        "failed": _share(now.failed, calls),
        "failed lately": _share(now.failed - before.failed, recent),
        "last call failed": float(now.failed > last.failed) if calls else math.nan,
        "new calls": _share(now.fresh_calls, calls),
        "new calls lately": _share(now.fresh_calls - before.fresh_calls, recent),
        "new answers": _share(now.fresh_answers, calls),
        "new answers lately": _share(now.fresh_answers - before.fresh_answers, recent),
        "look-ups again": _share(now.lookups, calls),
        "deeds": _share(now.deeds, calls),
        "deeds lately": _share(now.deeds - before.deeds, recent),
        "edits": _share(now.edits, calls),
        "edits lately": _share(now.edits - before.edits, recent),
        "checks": _share(now.checks, calls),
        "last check passed": float(now.last_check is True),
        "last check failed": float(now.last_check is False),
        "trend of checks": float(now.checks_trend),
        "edits after the last check": math.log1p(now.unchecked),
        "new claims": _share(now.new_claims, now.claims),
        "new claims lately": _share(now.new_claims - before.new_claims, now.claims - before.claims),
        "words per turn": _share(now.words, now.turns),
        "readiness": now.readiness,
        "dollars": math.log(now.cost) if now.cost > 0 else math.nan,
        "tokens per turn": math.log1p(now.tokens / now.turns) if now.turns else math.nan,
        "waste": now.waste,
    }


def _shell(data: Path) -> Iterator[Course]:
    for run in episodes(data):
        environment, _, model = run.family.partition(" ")
        name = run.id.rpartition("/")[2]
        file_system = name.partition("_fs_")[2].partition(".")[0]
        yield Course(
            collection="shell and SQL",
            agent=f"{environment}, {model}",
            task=f"{environment} {file_system} {name.rpartition('#')[2]}",
            events=run.events,
            solved=run.success_at is not None,
            solved_at=run.success_at,
            limit=7 if environment == "python" else 10,
        )


def _questions(data: Path) -> Iterator[Course]:
    """Five trials of each question."""
    rows = lines(data / "loops" / "hotpotqa_react_base.jsonl.gz")
    for row, run in zip(rows, questions(data), strict=True):
        yield Course(
            collection="questions",
            agent="questions",
            task=row["question"],
            events=run.events,
            solved=run.success_at is not None,
            limit=6,
        )


def _ended(
    collection: str, read: Callable[[Path], Iterator[RecordedRun]]
) -> Callable[[Path], Iterator[Course]]:
    def courses(data: Path) -> Iterator[Course]:
        for run in read(data):
            agent = run.id.partition("/")[0] if collection == "steps" else collection
            yield Course(
                collection=collection,
                agent=agent,
                task=run.id.rpartition("/")[2] if collection == "steps" else run.id,
                events=run.events,
                solved=run.success_at is not None,
            )

    return courses


def _rounds(
    collection: str, read: Callable[[Path], Iterator[Run]], limit: int
) -> Callable[[Path], Iterator[Course]]:
    def courses(data: Path) -> Iterator[Course]:
        for run in read(data):
            rounds = [Round.from_text(text, number=n) for n, text in enumerate(run.texts, start=1)]
            yield Course(
                collection=collection,
                agent=collection,
                task=run.id,
                events=rounds,
                solved=run.solved_at is not None,
                solved_at=None if run.solved_at is None else run.solved_at - 1,
                limit=limit,
            )

    return courses


def _orchestrated(data: Path) -> Iterator[Course]:
    """Runs with an orchestrator, all of which failed; its own thoughts judge the run and are left out."""
    for name, history in histories(data):
        events = [
            ModelCall(text=str(said["content"]), agent=said["role"])
            for said in history
            if said["role"] not in ("human", "Orchestrator (thought)")
        ]
        yield Course(collection="ledgers", agent="ledgers", task=name, events=events, solved=False)


_KEPT = ("landed, kept", "landed, partly kept")
_LOST = ("landed, gone", "not landed")


def _sessions(data: Path) -> Iterator[Course]:
    """Sessions that were reviewed, and others by what became of their commits."""
    for path, card in session_files(data):
        outcome = card.get("outcome") or {}
        review, fate = outcome.get("adjudicated"), outcome.get("fate")
        if review:
            collection, task = "reviewed", card["run"]["task_id"]
            solved = review.get("functional_completion") in ("complete", True)
        elif fate in (*_KEPT, *_LOST):
            commits = [name for point in card["checkpoints"] for name in _names(point)]
            collection, task = "commits", f"{card['repository']} {min(commits, default=card['id'])}"
            solved = fate in _KEPT
        else:
            continue
        events = []
        for event in open_trace(path):
            events.append(event)
            if len(events) >= _LONGEST:
                break
        yield Course(collection=collection, agent=collection, task=task, events=events, solved=solved)


def _names(checkpoint: dict[str, Any]) -> list[str]:
    return [str(commit["commit"]) for commit in checkpoint.get("commits") or ()]


#: Readers of runs with outcomes, by the name of their data.
COLLECTIONS: dict[str, Callable[[Path], Iterator[Course]]] = {
    "shell and SQL": _shell,
    "questions": _questions,
    "software": _ended("software", software),
    "steps": _ended("steps", transitions),
    "support": _ended("support", support),
    "household": _rounds("household", reflection_trials, limit=7),
    "refinement": _rounds("refinement", refinement_chains, limit=5),
    "ledgers": _orchestrated,
    "reviewed": _sessions,
}


def read_points(data: Path) -> list[Point]:
    """Returns all runs of the data at both moments."""
    points = []
    for name, read in COLLECTIONS.items():
        found = points_of(read(data))
        points += found
        print(f"{name}: {len(found)} points")
    return points
