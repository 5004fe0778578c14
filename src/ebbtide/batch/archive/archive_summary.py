"""Summarizes the results of an archive: where the money of all runs went, and what of it bought nothing.

It is a fold over the rows, in memory that grows with the number of agents, models, tools and weeks, and not
with that of the runs. Rows in another order give the same answer.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import fsum
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from ebbtide.batch.results.archive_counts import ArchiveCounts, BadRun
from ebbtide.batch.results.result_parts import result_batches
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.budget.bill.bill import WASTED
from ebbtide.claims.sentences import GRAVE
from ebbtide.codec import Record, from_wire
from ebbtide.shipped.sums import ShippedSums
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_shipped import RunShipped

_WORST: Final = 100
_COLUMNS: Final = [
    *("run_id", "source", "status", "error", "error_line", "headline", "course", "action", "reason", "agent"),
    *("model", "began_s", "events", "tokens", "cost_usd", "unpriced_calls", "wasted_usd", "wasted_tokens"),
    *("avoidable_usd", "avoidable_tokens", "saved_usd", "findings", "waste", "tools", "project", "claims"),
    *("session", "shipped"),
]


class ArchiveAmount(NamedTuple):
    """Money and tokens over some runs; None where nothing is known of either."""

    cost_usd: float | None
    tokens: int | None

    @property
    def rank(self) -> tuple[float, int]:
        """Sort key: the dearest first."""
        return -(self.cost_usd or 0.0), -(self.tokens or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLine(Record):
    """The spending of one agent, model or week in all its runs, or of one tool in all its calls.

    Args:
        name: Of which; None gathers what has no name.
        loops: Runs with a verdict that would have ended them.
        whole: All of it.
        wasted: Of it, what bought nothing.
        avoidable: Of it, what could have been had for less.
    """

    _WIRE: ClassVar = """
        name runs loops cost_usd=whole.cost_usd tokens=whole.tokens wasted_usd=wasted.cost_usd
        wasted_tokens=wasted.tokens avoidable_usd=avoidable.cost_usd avoidable_tokens=avoidable.tokens
    """

    name: str | None
    runs: int
    loops: int
    whole: ArchiveAmount
    wasted: ArchiveAmount
    avoidable: ArchiveAmount


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveWaste(Record):
    """One kind of waste, or of findings, over all runs.

    Args:
        bought_nothing: Whether it bought nothing; else it could have been had for less. None of a finding.
        count: Calls, or findings.
        tool: The tool that took most of it; None where none is known.
    """

    _WIRE: ClassVar = "kind bought_nothing runs count cost_usd=amount.cost_usd tokens=amount.tokens tool"

    kind: str
    bought_nothing: bool | None
    runs: int
    count: int
    amount: ArchiveAmount
    tool: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveReports:
    """The reports of one agent, model or project, held against the records of their runs.

    Args:
        name: Of which; None gathers what has no name.
        reports: Runs whose last words claim something.
        contradicted: Of them, those with a claim that the record contradicts.
        stale: Those with one that was so, and was changed since.
        narrower: Those with one that is wider than what was checked.
    """

    name: str | None
    reports: int
    contradicted: int
    stale: int
    narrower: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveShipped(Record):
    """The changes of the sessions of one agent, model or project, and what a landed one cost.

    Args:
        name: Of which; None gathers what has no name.
    """

    _WIRE: ClassVar = """
        name sessions=sums.sessions unknown=sums.unknown unchanged=sums.unchanged cost_usd=sums.cost_usd
        unpriced=sums.unpriced landed=sums.landed reverted=sums.reverted open=sums.open lost=sums.lost
        lines_added=sums.lines_added lines_surviving=sums.lines_surviving
        usd_per_landed_change=sums.usd_per_landed_change
        usd_per_surviving_line=sums.usd_per_surviving_line
    """

    name: str | None
    sums: ShippedSums


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRun:
    """A run of which much bought nothing.

    Args:
        waste_kind: The kind of waste that took most of what bought nothing; None where nothing did.
        agent: The agent that took most of it.
        model: Likewise the model.
        day: When it began; None where that is unknown.
        cost_usd: Dollars.
        wasted_usd: Dollars of what bought nothing.
        wasted_tokens: Its tokens.
    """

    run_id: str
    headline: str
    course: str
    action: str
    reason: str
    waste_kind: str | None
    agent: str | None
    model: str | None
    day: str | None
    events: int
    cost_usd: float | None
    wasted_usd: float | None
    wasted_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSummary(Record):
    """The summary of an archive's results.

    Args:
        actions: Checked runs by verdict.
        headlines: Checked runs by how they ended.
        first_day: Of the earliest run with a date.
        last_day: Of the latest.
        total: All runs in one line.
        saved_usd: Dollars that came after verdicts that would have ended their runs: some may have been of
            use.
        unpriced_calls: Calls of models whose cost nobody knows.
        waste: By kind, the most expensive first.
        findings: By kind, likewise; a loop is counted from its first to its last event, so that what bought
            nothing in it is in `waste` too.
        tools: By tool, the most wasteful first.
        agents: By the agent that took most of a run, likewise.
        models: By the model that took most of a run.
        weeks: By week of the year, in order.
        worst: The hundred runs of which most bought nothing.
        bad_runs: The first hundred that could not be checked.
        reports: All reports that claim something, in one line.
        reports_by: Those by ``agent``, ``model`` and ``project``, the most contradicted first.
        shipped: The changes of all sessions, in one line; None where no repository was asked.
        shipped_by: Those by coding ``agent``, ``model`` and ``project``, the most expensive first.
    """

    _SCHEMA: ClassVar = 1
    _WIRE: ClassVar = """
        runs actions headlines events first_day last_day total saved_usd unpriced_calls waste
        findings tools agents models weeks worst reports reports_by shipped shipped_by bad_runs
    """

    runs: Mapping[str, int]
    actions: Mapping[str, int]
    headlines: Mapping[str, int]
    events: int
    first_day: str | None
    last_day: str | None
    total: ArchiveLine
    saved_usd: float | None
    unpriced_calls: int
    waste: tuple[ArchiveWaste, ...] = ()
    findings: tuple[ArchiveWaste, ...] = ()
    tools: tuple[ArchiveLine, ...] = ()
    agents: tuple[ArchiveLine, ...] = ()
    models: tuple[ArchiveLine, ...] = ()
    weeks: tuple[ArchiveLine, ...] = ()
    worst: tuple[WorstRun, ...] = ()
    bad_runs: tuple[BadRun, ...] = ()
    reports: ArchiveReports = ArchiveReports(name=None, reports=0, contradicted=0, stale=0, narrower=0)
    reports_by: Mapping[str, tuple[ArchiveReports, ...]] = field(default_factory=dict)
    shipped: ArchiveShipped | None = None
    shipped_by: Mapping[str, tuple[ArchiveShipped, ...]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> ArchiveSummary:
        """Summarizes a file of results.

        Raises:
            ConfigError: It cannot be read, or is none.
        """
        fold = _Fold()
        for batch in result_batches(path, _COLUMNS):
            fold.counts.add(ArchiveCounts.of(batch))
            for row in batch.to_pylist():
                if row["status"] == ResultStatus.CHECKED:
                    fold.take(row)
        return fold.summary()


@dataclass(slots=True)
class _Sum:
    """Amounts that are added at the end, so that their order changes nothing."""

    costs: list[float] = field(default_factory=list)
    tokens: int | None = None

    def add(self, cost_usd: float | None, tokens: int | None) -> None:
        if cost_usd is not None:
            self.costs.append(cost_usd)
            if len(self.costs) > 100_000:
                self.costs = [fsum(self.costs)]
        if tokens is not None:
            self.tokens = (self.tokens or 0) + tokens

    @property
    def amount(self) -> ArchiveAmount:
        return ArchiveAmount(fsum(self.costs) if self.costs else None, self.tokens)


@dataclass(slots=True)
class _Line:
    runs: int = 0
    loops: int = 0
    whole: _Sum = field(default_factory=_Sum)
    wasted: _Sum = field(default_factory=_Sum)
    avoidable: _Sum = field(default_factory=_Sum)

    def add(self, row: Mapping[str, Any]) -> None:
        """One more run."""
        self.runs += 1
        self.loops += Action(row["action"]).rank >= Action.ESCALATE.rank
        self.whole.add(row["cost_usd"], row["tokens"])
        self.wasted.add(row["wasted_usd"], row["wasted_tokens"])
        self.avoidable.add(row["avoidable_usd"], row["avoidable_tokens"])

    def line(self, name: str | None) -> ArchiveLine:
        return ArchiveLine(
            name=name,
            runs=self.runs,
            loops=self.loops,
            whole=self.whole.amount,
            wasted=self.wasted.amount,
            avoidable=self.avoidable.amount,
        )


@dataclass(slots=True)
class _Reports:
    reports: int = 0
    answers: Counter[str] = field(default_factory=Counter)

    def add(self, claims: Iterable[Mapping[str, Any]]) -> None:
        """One more report that claims something."""
        self.reports += 1
        self.answers.update({claim["answer"] for claim in claims})

    def line(self, name: str | None) -> ArchiveReports:
        return ArchiveReports(
            name=name, reports=self.reports, **{answer.value: self.answers[answer] for answer in GRAVE}
        )


@dataclass(slots=True)
class _Kind:
    runs: int = 0
    count: int = 0
    amount: _Sum = field(default_factory=_Sum)
    tools: defaultdict[str, _Sum] = field(default_factory=lambda: defaultdict(_Sum))

    def line(self, kind: str, *, bought_nothing: bool | None) -> ArchiveWaste:
        tools = sorted(self.tools.items(), key=lambda item: (*item[1].amount.rank, item[0]))
        return ArchiveWaste(
            kind=kind,
            bought_nothing=bought_nothing,
            runs=self.runs,
            count=self.count,
            amount=self.amount.amount,
            tool=tools[0][0] if tools else None,
        )


class _Fold:
    def __init__(self) -> None:
        self.counts = ArchiveCounts()
        self._headlines: Counter[str] = Counter()
        self._total = _Line()
        self._saved = _Sum()
        self._unpriced = 0
        self._days: list[str] = []  # the first and the last
        self._waste: defaultdict[str, _Kind] = defaultdict(_Kind)
        self._findings: defaultdict[str, _Kind] = defaultdict(_Kind)
        self._by: dict[str, defaultdict[str | None, _Line]] = {
            name: defaultdict(_Line) for name in ("tool", "agent", "model", "week")
        }
        self._reports = _Reports()
        self._reports_by: dict[str, defaultdict[str | None, _Reports]] = {
            name: defaultdict(_Reports) for name in ("agent", "model", "project")
        }
        self._shipped: list[ShippedSums] = []  # one, where a repository was asked
        self._shipped_by: dict[str, defaultdict[str | None, ShippedSums]] = {
            name: defaultdict(ShippedSums) for name in ("agent", "model", "project")
        }
        self._worst: list[tuple[tuple[Any, ...], int, WorstRun]] = []
        self._number = 0

    def take(self, row: Mapping[str, Any]) -> None:
        """One more run that was checked."""
        self._headlines[row["headline"]] += 1
        self._total.add(row)
        self._saved.add(row["saved_usd"], None)
        self._unpriced += row["unpriced_calls"]
        began = None if row["began_s"] is None else datetime.fromtimestamp(row["began_s"], UTC)
        day = None if began is None else f"{began:%Y-%m-%d}"
        if day is not None:
            self._days = [min([*self._days, day]), max([*self._days, day])]
        self._by["agent"][row["agent"]].add(row)
        self._by["model"][row["model"]].add(row)
        self._by["week"][None if began is None else f"{began:%G-W%V}"].add(row)
        claims = row.get("claims")  # a file of an earlier version has none
        if claims:
            self._reports.add(claims)
            for name, lines in self._reports_by.items():
                lines[row[name]].add(claims)
        self._take_shipped(row)
        self._take_waste(row)
        for kind in {finding["kind"] for finding in row["findings"]}:
            self._findings[kind].runs += 1
        for finding in row["findings"]:
            part = self._findings[finding["kind"]]
            part.count += 1
            part.amount.add(finding["cost_usd"], finding["tokens"])
            for tool in finding["tools"][:1]:
                part.tools[tool].add(finding["cost_usd"], finding["tokens"])
        self._rank_run(row, day)

    def _take_shipped(self, row: Mapping[str, Any]) -> None:
        wire = row.get("shipped")  # likewise
        if wire is None:
            return
        shipped = from_wire(RunShipped, wire)
        self._shipped = self._shipped or [ShippedSums()]
        self._shipped[0].add(shipped)
        agent = row["session"].partition(":")[0] if row["session"] else row["agent"]
        for name, key in (("agent", agent), ("model", row["model"]), ("project", row["project"])):
            self._shipped_by[name][key].add(shipped)

    def _take_waste(self, row: Mapping[str, Any]) -> None:
        tools = self._by["tool"]
        loops = Action(row["action"]).rank >= Action.ESCALATE.rank
        for line in row["tools"]:
            tool = tools[line["name"]]
            tool.runs += 1
            tool.loops += loops
            tool.whole.add(*_amount(line))
        for waste in row["waste"]:
            part = self._waste[waste["kind"]]
            part.runs += 1
            part.count += waste["count"]
            part.amount.add(*_amount(waste))
            for line in waste["tools"]:
                amount = _amount(line)
                part.tools[line["name"]].add(*amount)
                tool = tools[line["name"]]
                (tool.wasted if waste["kind"] in WASTED else tool.avoidable).add(*amount)

    def _rank_run(self, row: Mapping[str, Any], day: str | None) -> None:
        rank = (
            row["wasted_usd"] or 0.0,
            row["wasted_tokens"] or 0,
            Action(row["action"]).rank,
            row["run_id"],
        )
        if not row["wasted_tokens"] and not row["wasted_usd"] and rank[2] < Action.ESCALATE.rank:
            return
        names = WorstRun.__dataclass_fields__.keys() & row.keys()
        waste_kind = next((line["kind"] for line in row["waste"] if line["kind"] in WASTED), None)
        run = WorstRun(day=day, waste_kind=waste_kind, **{name: row[name] for name in names})
        self._number += 1
        entry = (rank, self._number, run)
        if len(self._worst) < _WORST:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)

    def summary(self) -> ArchiveSummary:
        """Returns the summary of all rows so far."""
        by = {name: [part.line(key) for key, part in lines.items()] for name, lines in self._by.items()}
        waste = [part.line(kind, bought_nothing=kind in WASTED) for kind, part in self._waste.items()]
        findings = [part.line(kind, bought_nothing=None) for kind, part in self._findings.items()]
        return ArchiveSummary(
            runs={status.value: self.counts.runs[status] for status in ResultStatus},
            actions={action.value: self.counts.actions[action] for action in Action},
            headlines=dict(sorted(self._headlines.items())),
            events=self.counts.events,
            first_day=self._days[0] if self._days else None,
            last_day=self._days[-1] if self._days else None,
            total=self._total.line(None),
            saved_usd=self._saved.amount.cost_usd,
            unpriced_calls=self._unpriced,
            waste=tuple(sorted(waste, key=lambda line: (*line.amount.rank, line.kind))),
            findings=tuple(sorted(findings, key=lambda line: (*line.amount.rank, line.kind))),
            tools=_wasteful(by["tool"]),
            agents=_wasteful(by["agent"]),
            models=_wasteful(by["model"]),
            weeks=tuple(sorted(by["week"], key=lambda line: line.name or "")),
            worst=tuple(run for _, _, run in sorted(self._worst, key=lambda entry: entry[0], reverse=True)),
            bad_runs=tuple(self.counts.bad_runs),
            reports=self._reports.line(None),
            reports_by={
                name: _gravest([part.line(key) for key, part in lines.items()])
                for name, lines in self._reports_by.items()
            },
            shipped=ArchiveShipped(name=None, sums=self._shipped[0]) if self._shipped else None,
            shipped_by={
                name: _dearest([ArchiveShipped(name=key, sums=sums) for key, sums in lines.items()])
                for name, lines in self._shipped_by.items()
                if lines
            },
        )


def _amount(line: Mapping[str, Any]) -> tuple[float | None, int | None]:
    """Dollars and tokens of a line of a bill."""
    amount = line["amount"]
    return amount["cost_usd"], amount["tokens"]


def _dearest(lines: Iterable[ArchiveShipped]) -> tuple[ArchiveShipped, ...]:
    return tuple(
        sorted(lines, key=lambda line: (-(line.sums.cost_usd or 0.0), -line.sums.sessions, line.name or ""))
    )


def _gravest(lines: Iterable[ArchiveReports]) -> tuple[ArchiveReports, ...]:
    return tuple(
        sorted(lines, key=lambda line: (-line.contradicted, -line.stale, -line.reports, line.name or ""))
    )


def _wasteful(lines: Iterable[ArchiveLine]) -> tuple[ArchiveLine, ...]:
    return tuple(sorted(lines, key=lambda line: (*line.wasted.rank, *line.whole.rank, line.name or "")))
