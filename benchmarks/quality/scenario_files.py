"""Files of written scenarios: one run a line, healthy or stuck, with the event from which it goes nowhere.

A line is ``{"id", "kind", "length", "source", "why", "events"}``. `kind` is ``healthy`` or begins with
``stuck-``; `length` is ``short`` or ``long``; `events` are in Ebbtide's plain form. In a stuck run the first
event at which a person would see that it goes nowhere has ``"onset": true``. Two lengths of one family have
the same id but for the word of the length, or the same `family`.

Of a file whose name has ``sealed`` in it only numbers are shown: nobody is to write a rule for one run of it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import wilson
from benchmarks.quality.alarms import Alarm, RunAlarms
from benchmarks.quality.run_sets import RecordedRun
from ebbtide.events.event_json import PlainEvents

_BETWEEN = re.compile(r"[-_./: ]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(RecordedRun):
    """A written run; its group is its kind.

    Args:
        length: ``short`` or ``long``.
        onset: Number of the first event, from 1, at which it is stuck; None where it is healthy.
    """

    length: str
    onset: int | None

    @property
    def is_stuck(self) -> bool:
        """Whether something has to be raised."""
        return self.group != "healthy"

    def is_right(self, alarm: Alarm | None) -> bool:
        """Whether an alarm, or silence, is what the scenario wants."""
        return (alarm is not None) == self.is_stuck


def read_scenarios(path: Path) -> Iterator[Scenario]:
    """The scenarios in a file, compressed or not.

    Raises:
        ValueError: A stuck one has no onset, or a healthy one has.
    """
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    for line in filter(str.strip, text.split("\n")):
        yield read_scenario(json.loads(line))


def read_scenario(row: Mapping[str, Any]) -> Scenario:
    """The scenario that one object describes."""
    plain = PlainEvents()
    events: list[Any] = []
    onset = None
    for wire in _unfolded(row["events"]):
        if wire.get("onset") and onset is None:
            onset = len(events) + 1
        events += plain.read(wire)
    if (onset is None) != (row["kind"] == "healthy"):
        raise ValueError(f"{row['id']}: a stuck scenario has an onset, and a healthy one has none")
    return Scenario(
        id=row["id"],
        group=row["kind"],
        family=row.get("family") or _family(row["id"], row["length"]),
        events=tuple(events),
        length=row["length"],
        onset=onset,
    )


def _family(name: str, length: str) -> str:
    """The name of a scenario without the word of its length, where that stands last."""
    words = _BETWEEN.split(name)
    if length in words:
        del words[len(words) - 1 - words[::-1].index(length)]
    return "-".join(words)


def _unfolded(wires: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The events of a list, blocks written out."""
    for wire in wires:
        if "repeat" in wire:
            for _ in range(wire["repeat"]):
                yield from _unfolded(wire["events"])
        else:
            yield wire


def score_scenarios(
    runs: Sequence[Scenario], alarms: Sequence[RunAlarms], *, with_ids: bool
) -> dict[str, Any]:
    """What was found of the stuck, and falsely of the healthy, by kind and length, and by family.

    Args:
        runs: The scenarios of one file.
        alarms: Those of each, with the rungs ``nudge`` and ``stop``.
        with_ids: Whether scenarios are named that were decided wrongly.
    """
    pairs = list(zip(runs, alarms, strict=True))
    groups: dict[str, list[tuple[Scenario, RunAlarms]]] = defaultdict(list)
    families: dict[tuple[str, str], list[tuple[Scenario, RunAlarms]]] = defaultdict(list)
    for run, signals in pairs:
        groups[f"{run.group} {run.length}"].append((run, signals))
        families[run.group, run.family].append((run, signals))
    kinds = sorted({kind for kind, _ in families})
    result: dict[str, Any] = {
        "groups": {name: _row(rows) for name, rows in sorted(groups.items())},
        "families": {kind: _families([v for (k, _), v in families.items() if k == kind]) for kind in kinds},
    }
    if with_ids:
        result["wrong"] = [
            {"id": run.id, "kind": run.group, "nudge": _place(signals.nudge), "onset": run.onset}
            for run, signals in pairs
            if not run.is_right(signals.nudge)
        ]
    return result


def _row(rows: list[tuple[Scenario, RunAlarms]]) -> dict[str, Any]:
    nudges = [(run, signals.nudge) for run, signals in rows if signals.nudge is not None]
    delays = [nudge.place - run.onset for run, nudge in nudges if run.onset and nudge.place >= run.onset]
    later = sum(any(item.place >= (run.onset or 0) for item in signals.alarms) for run, signals in rows)
    stopped = sum(signals.stop is not None for _, signals in rows)
    return {
        "of": len(rows),
        "nudged": len(nudges),
        "nudged_interval": wilson(len(nudges), len(rows)),
        "stopped_or_escalated": stopped,
        "stopped_interval": wilson(stopped, len(rows)),
        "early": sum(nudge.place < (run.onset or 0) for run, nudge in nudges),
        "from_onset": later,
        "median_delay": median(delays) if delays else None,
    }


def _families(families: list[list[tuple[Scenario, RunAlarms]]]) -> dict[str, Any]:
    right = sum(all(run.is_right(signals.nudge) for run, signals in rows) for rows in families)
    unstopped = sum(all(signals.stop is None for _, signals in rows) for rows in families)
    return {
        "of": len(families),
        "right": right,
        "interval": wilson(right, len(families)),
        "none_stopped": unstopped,
    }


def _place(alarm: Alarm | None) -> dict[str, Any] | None:
    return None if alarm is None else {"rule": alarm.rule, "event": alarm.place}
