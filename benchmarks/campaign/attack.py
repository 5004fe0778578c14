"""The frame of every attack: a seed, an end, counts, and findings."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import setup, write_result

_MOST_FINDINGS = 100  # of one seed; the others are counted


@dataclass
class Attack:
    """One seed of an attack.

    Args:
        seed: Of all that is random.
        minutes: After which it ends, with what it is at.

    Attributes:
        chance: What is random.
        counts: What was done, by name.
        findings: What should not be, each with what shows it.
    """

    seed: int
    minutes: float
    chance: random.Random = field(init=False)
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    @property
    def goes_on(self) -> bool:
        """True until its time is over."""
        return time.monotonic() < self._since + 60 * self.minutes

    def share(self, part: float) -> Callable[[], bool]:
        """A clock for one part: True until that part of the time that is left is over."""
        end = time.monotonic() + part * max(0.0, self._since + 60 * self.minutes - time.monotonic())
        return lambda: time.monotonic() < end

    def find(self, what: str, **evidence: Any) -> None:
        """Note what should not be."""
        self.counts["findings"] += 1
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append({"what": what, **evidence})
            print(json.dumps(self.findings[-1], default=repr)[:1000], flush=True)

    def expect(self, holds: object, what: str, **evidence: Any) -> None:
        """Note it where it does not hold."""
        if not holds:
            self.find(what, **evidence)

    def row(self) -> dict[str, Any]:
        """The outcome."""
        seconds = round(time.monotonic() - self._since, 1)
        counts = {name: count for name, count in sorted(self.counts.items()) if name != "findings"}
        return {"seed": self.seed, "seconds": seconds, **counts, "findings": self.findings}


def run(
    name: str, attack: Callable[[Attack], None], seeds: list[int], minutes: float, *, keeps: bool
) -> bool:
    """Run an attack with some seeds, and write down what came out.

    Returns:
        True if nothing was found.
    """
    rows: list[Mapping[str, Any]] = []
    for seed in seeds:
        one = Attack(seed, minutes)
        attack(one)
        rows.append(one.row())
        print(json.dumps({**rows[-1], "findings": len(one.findings)}, default=repr), flush=True)
    if keeps:
        write_result(f"campaign-{name}", {"setup": setup(), "minutes": minutes, "seeds": rows})
    return not any(row["findings"] for row in rows)
