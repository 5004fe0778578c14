"""Counts for Prometheus: by action, agent and kind, never by run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ebbtide.bounded import Bounded
from ebbtide.budget.shared.budget import BudgetScope
from ebbtide.budget.shared.budget_standing import BudgetStanding
from ebbtide.errors import StoreError
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.service.alerts.alert_sender import AlertSender
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.now import count_states
from ebbtide.service.runs.run_event import RunEvent, masked_name
from ebbtide.service.runs.run_origin import RunOrigin
from ebbtide.service.web.broadcast import Broadcast
from ebbtide.supervision.facts import LoopFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.verdict import Verdict

OTHERS: Final = "others"
_MOST_VALUES: Final = 50  # of one label; what comes later is counted together
_LONGEST: Final = 60  # characters of a value
_MOST_LOOPS: Final = 10_000
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0)


class Metrics:
    """Counts from now on: Prometheus knows that a counter begins anew with its process.

    Args:
        silent_after_s: Seconds without an event after which a run is silent.

    Attributes:
        check_seconds: How long a check took in the service.
    """

    def __init__(
        self, runs: LiveRuns, news: Broadcast, alerts: AlertSender, *, silent_after_s: float
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        own = self._registry
        self._events = Counter("ebbtide_events", "Events that were taken.", registry=own)
        self._cost = Counter("ebbtide_cost_usd", "Dollars, where they are known.", ["agent"], registry=own)
        self._wasted = Counter(
            "ebbtide_wasted_usd",
            "Dollars spent in loops until they were reported.",
            ["kind"],
            registry=own,
        )
        self._nudges = Counter("ebbtide_nudges", "Notes that models got.", registry=own)
        self._stops = Counter("ebbtide_stops", "Runs that came to a stop.", ["kind"], registry=own)
        self.check_seconds = Histogram(
            "ebbtide_check_seconds", "Seconds of a check.", buckets=_SECONDS, registry=own
        )
        self._agents, self._kinds = _Values(), _Values()
        # Prometheus does not see the first step of a counter that was not there at zero.
        for kind in LoopKind:
            self._wasted.labels(self._kinds.bounded(kind.value))
            self._stops.labels(kind.value)
        self._stops.labels(self._kinds.bounded(Cause.PERSON.value))
        self._loops: Bounded[tuple[str, str], float] = Bounded(_MOST_LOOPS)  # what each had cost
        own.register(_Standing(runs, news, alerts, silent_after_s))
        runs.on_events.append(self._take_events)
        runs.on_verdict.append(self._take_verdict)

    def text(self) -> bytes:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _take_events(self, events: Sequence[RunEvent], origin: RunOrigin) -> None:
        self._events.inc(len(events))
        cost = sum(item.charge.cost_usd or 0.0 for item in events if item.charge is not None)
        if cost > 0:
            self._cost.labels(self._agents.bounded(origin.agent or "")).inc(cost)

    def _take_verdict(self, run_id: str, verdict: Verdict) -> None:
        if verdict.action is Action.NUDGE:
            self._nudges.inc()
        elif verdict.action is Action.STOP:
            self._stops.labels(self._kinds.bounded(verdict.kind or "")).inc()
        facts = verdict.facts
        if isinstance(facts, LoopFacts) and facts.signal.cost_usd:
            key = (run_id, facts.signal.id)
            before = self._loops.pop(key, 0.0)
            self._loops[key] = max(before, facts.signal.cost_usd)
            if facts.signal.cost_usd > before:
                kind = self._kinds.bounded(facts.signal.kind.value)
                self._wasted.labels(kind).inc(facts.signal.cost_usd - before)


class _Values:
    """The values of a label, a bounded number of them."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def bounded(self, value: str) -> str:
        """The value, or `OTHERS` where there are too many already."""
        value = masked_name(value)[:_LONGEST].encode("utf-8", "replace").decode()
        if value not in self._values:
            if len(self._values) >= _MOST_VALUES:
                return OTHERS
            self._values.add(value)
        return value


class _Standing(Collector):
    """Measures that are read when somebody asks."""

    def __init__(self, runs: LiveRuns, news: Broadcast, alerts: AlertSender, silent_after_s: float) -> None:
        self._runs = runs
        self._silent_after_s = silent_after_s
        self._news = news
        self._alerts = alerts

    def describe(self) -> Iterator[Metric]:
        """Nothing: the names are known without a look at the database."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """The metrics as they stand."""
        jobs, size = self._runs.database.waiting()
        states = count_states(self._runs.database, time.time(), silent_after_s=self._silent_after_s)
        yield _gauge("ebbtide_runs", "Runs of the last 24 hours that have not ended.", "state", states)
        yield GaugeMetricFamily("ebbtide_runs_at_hand", "Runs in memory.", len(self._runs))
        yield GaugeMetricFamily("ebbtide_readers", "Readers of the stream.", len(self._news))
        yield GaugeMetricFamily("ebbtide_queue_jobs", "Writes that wait for the disk.", jobs)
        yield GaugeMetricFamily("ebbtide_queue_bytes", "Bytes that wait for the disk.", size)
        yield GaugeMetricFamily(
            "ebbtide_alerts_waiting", "Alerts that are still to be sent.", self._alerts.waiting()
        )
        if self._runs.budgets is not None:
            with suppress(StoreError):  # the others are reported all the same
                yield _budget_gauge(self._runs.budgets.standings())
        yield _counter("ebbtide_alerts", "Alerts that were sent.", "channel", self._alerts.deliveries)
        yield _counter("ebbtide_alert_failures", "Tries that failed.", "channel", self._alerts.failures)
        yield _counter("ebbtide_faults", "What failed in the service.", "part", self._runs.faults)


def _gauge(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _budget_gauge(standings: Sequence[BudgetStanding]) -> Metric:
    """The budgets of which most was spent in each scope, but for those of single runs."""
    family = GaugeMetricFamily(
        "ebbtide_budget_usd", "Dollars of a budget.", labels=["scope", "name", "per", "amount"]
    )
    rows = [row for row in standings if row.scope is not BudgetScope.RUN]
    for row in rows[:_MOST_VALUES]:
        for amount, usd in (("limit", row.limit_usd), ("spent", row.spent_usd), ("left", row.left_usd)):
            if usd is not None:
                family.add_metric([row.scope, masked_name(row.name), row.per, amount], usd)
    return family


def _counter(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, number in dict(values).items():
        family.add_metric([value], number)
    return family
