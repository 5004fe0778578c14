"""What alarms are worth on runs whose outcome is known: found, false, saved, lost."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.measure import wilson
from benchmarks.quality.alarms import Alarm
from benchmarks.quality.run_sets import Episode, RecordedRun
from ebbtide.events.event import Event, ToolCall

Row = Mapping[str, Alarm | None]  #: the first alarm in a run, by rung or rule

# Why each public scenario that is decided wrongly is; a new one shows up without a reason.
REASONS = {
    "neg-hermes-process-poll": "equal polls, no declaration and no time; five of another tool are stuck",
    "pos-openclaw-exec-volatile-details": "the answer moves, in a duration alone; that has to be declared",
    "pos-openclaw-upload-fresh-ids": "the answer moves, in fresh ids alone; that has to be declared",
}


def score_groups(runs: Sequence[RecordedRun], rows: Sequence[Row]) -> dict[str, Any]:
    """How many runs of each label are alarmed, by rung or rule."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for run, row in zip(runs, rows, strict=True):
        groups[run.group].append(row)
    return {
        group: {"of": len(members), "alarmed": {name: _rate(members, name) for name in members[0]}}
        for group, members in sorted(groups.items())
    }


def _rate(rows: Sequence[Row], name: str) -> dict[str, Any]:
    count = sum(row[name] is not None for row in rows)
    return {"alarmed": count, "interval": wilson(count, len(rows))}


def score_outcomes(runs: Sequence[RecordedRun], rows: Sequence[Row]) -> dict[str, Any]:
    """Calls saved where no success came after the alarm, and successes lost where one did."""
    result: dict[str, Any] = {}
    successes = sum(run.success_at is not None for run in runs)
    calls = sum(calls_after(run, 0) for run in runs)
    for name in rows[0]:
        saved = lost = 0
        for run, row in zip(runs, rows, strict=True):
            alarm = row[name]
            if alarm is not None:
                late = run.success_at is not None and run.success_at >= alarm.place
                lost += late
                saved += 0 if late else calls_after(run, alarm.place)
        result[name] = {
            "saved_calls": saved,
            "calls": calls,
            "lost": lost,
            "successes": successes,
            "lost_interval": wilson(lost, successes),
        }
    return result


def calls_after(run: RecordedRun, place: int) -> int:
    """Calls of tools after the first `place` events."""
    return sum(isinstance(event, ToolCall) for event in run.events[place:])


def score_episodes(runs: Sequence[Episode], rows: Sequence[Row]) -> dict[str, Any]:
    """Alarms against rewards: one is right if no later reward beats the best so far.

    In 1,225 episodes the reward of a submission does not speak against an alarm after which no answer came
    that was not known. To the letter it does.
    """
    return {
        name: _score_rung([(run, row[name]) for run, row in zip(runs, rows, strict=True)]) for name in rows[0]
    }


def _score_rung(pairs: Sequence[tuple[Episode, Alarm | None]]) -> dict[str, Any]:
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    models: dict[str, Counter[str]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    for run, alarm in pairs:
        if alarm is None:
            continue
        late, late_letter = (run.improves(alarm.place, letter=letter) for letter in (False, True))
        rest = len(run.events) - alarm.place
        success = run.success_at is not None and run.success_at >= alarm.place
        counts = Counter(
            alarmed=1,
            wrong=int(late),
            wrong_letter=int(late_letter),
            saved=0 if late else rest,
            saved_letter=0 if late_letter else rest,
            lost=int(success and late),
            lost_letter=int(success),
        )
        for counter in (total, rules[alarm.rule], models[run.family]):
            counter.update(counts)
    alarmed = total["alarmed"]
    return {
        "alarmed": alarmed,
        "precision": precision(total),
        "interval": wilson(alarmed - total["wrong"], alarmed),
        "saved_turns": total["saved"],
        "successes_lost": total["lost"],
        "letter": {
            "precision": precision(total, "wrong_letter"),
            "interval": wilson(alarmed - total["wrong_letter"], alarmed),
            "saved_turns": total["saved_letter"],
            "successes_lost": total["lost_letter"],
        },
        "rules": {name: dict(counts) for name, counts in sorted(rules.items())},
        "models": {name: dict(counts) for name, counts in sorted(models.items())},
    }


def precision(counts: Mapping[str, int], wrong: str = "wrong") -> float | None:
    """The share of alarms that were right; None where there was none."""
    return round(1 - counts[wrong] / counts["alarmed"], 4) if counts["alarmed"] else None


def count_distinct(runs: Sequence[RecordedRun], rows: Sequence[Row], name: str) -> dict[str, Any]:
    """The same by outcome, runs with equal calls and answers counted once."""
    distinct: dict[str, tuple[str, bool]] = {}
    for run, row in zip(runs, rows, strict=True):
        calls = [
            [event.name, event.args, event.result] for event in run.events if isinstance(event, ToolCall)
        ]
        distinct[json.dumps(calls)] = (run.group, row[name] is not None)
    of = Counter(group for group, _ in distinct.values())
    alarmed = Counter(group for group, raised in distinct.values() if raised)
    return {group: {"alarmed": alarmed[group], "of": of[group]} for group in sorted(of)}


def score_sources(runs: Sequence[RecordedRun], rows: Sequence[Row]) -> dict[str, Any]:
    """Public scenarios: sources decided rightly as a whole, and the event of the alarm among the stuck.

    The rules have no parameters that are fitted to a scenario; what cross-validation there is goes by source.
    """
    result: dict[str, Any] = {}
    for name in rows[0]:
        right: dict[str, bool] = defaultdict(lambda: True)
        places = []
        for run, row in zip(runs, rows, strict=True):
            alarm = row[name]
            stuck = run.group.endswith("stuck")
            right[run.family] &= (alarm is not None) == stuck
            if stuck and alarm is not None:
                places.append(alarm.place)
        result[name] = {
            "all_right": sum(right.values()),
            "of": len(right),
            "interval": wilson(sum(right.values()), len(right)),
            "median_event_of_alarm": median(places) if places else None,
        }
    return result


def list_wrong(runs: Sequence[RecordedRun], rows: Sequence[Row], name: str) -> dict[str, str | None]:
    """Public scenarios that are decided wrongly, each with the reason, where one is known."""
    return {
        run.id: REASONS.get(run.id)
        for run, row in zip(runs, rows, strict=True)
        if (row[name] is not None) != run.group.endswith("stuck")
    }


def list_alarmed(
    runs: Sequence[RecordedRun], rows: Sequence[Row], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Every run in which something is raised: at each rung the rule, the event, and what came after it."""
    return [
        {
            "id": run.id,
            "group": run.group,
            "events": len(run.events),
            **{name: None if (alarm := row[name]) is None else _described(run, alarm) for name in names},
        }
        for run, row in zip(runs, rows, strict=True)
        if any(row[name] is not None for name in names)
    ]


def _described(run: RecordedRun, alarm: Alarm) -> dict[str, Any]:
    share, unit = spending_after(run, alarm.place)
    return {
        "rule": alarm.rule,
        "action": alarm.action.value,
        "event": alarm.place,
        "share_of_events": round(alarm.place / len(run.events), 3),
        "share_of_spending_after": share,
        "spending_in": unit,
    }


def spending_after(run: RecordedRun, place: int) -> tuple[float | None, str]:
    """The share of the spending that came after the first `place` events.

    In dollars where every event with tokens has its cost, else in tokens; None where nothing was reported.
    """
    usages = [event.usage if isinstance(event, Event) else None for event in run.events]
    metered = [usage for usage in usages if usage is not None and usage.tokens is not None]
    in_dollars = bool(metered) and all(usage.cost_usd is not None for usage in metered)
    amounts = [
        0 if usage is None else (usage.cost_usd if in_dollars else usage.tokens) or 0 for usage in usages
    ]
    total = sum(amounts)
    return (round(sum(amounts[place:]) / total, 3) if total else None), "usd" if in_dollars else "tokens"
