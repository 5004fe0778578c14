"""Counts of what the gate refused, and a sample by which people can say how often it was wrong.

Source: decision quality gate, phases 3 and 4, success criteria (clause Q14).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

from ebbtide.codec import As, Record
from ebbtide.decision_log.record.record import Decision, DecisionOutcome
from ebbtide.decision_log.record.review import outcome_of
from ebbtide.rate import Rate

_KEPT = frozenset({"kept"})
_REFUSED = frozenset({"quarantined", "duplicate"})


# An empty text is null on the wire, and a decision there is its id.
_Text = Annotated[str, As(lambda text: text or None, lambda text: text or "")]
_Ids = Annotated[tuple[Decision, ...], As(lambda decisions: [each.id for each in decisions], tuple)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Record):
    """A count of one kind of verdict.

    Args:
        source: How the candidates came up.
        frame: What the agent was doing.
        mode: What the gate was allowed to do; ``none`` where it was not asked, ``cleanup`` where it was asked
            afterwards.
        layer: Of the rule; empty where the verdict itself is counted.
        rule: Id of the rule that spoke against; empty where the verdict itself is counted.
        verdict: ``kept``, ``quarantined``, ``duplicate`` or ``not_captured``.
        times: How often.
    """

    _WIRE: ClassVar = "source frame mode layer rule verdict count=times"

    source: str
    frame: str
    mode: str
    layer: _Text
    rule: _Text
    verdict: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Counts of the verdicts of the gate so far.

    Args:
        counts: Every count, by source, frame, mode, layer, rule and verdict.
        by_status: How many decisions stand where now.
    """

    counts: tuple[Count, ...]
    by_status: dict[str, int]

    @property
    def kept(self) -> int:
        """Candidates that were kept, also those that the gate was against."""
        return self._verdicts(_KEPT)

    @property
    def refused(self) -> int:
        """Candidates that were not kept."""
        return self._verdicts(_REFUSED)

    @property
    def not_captured(self) -> int:
        """Candidates that were not looked at, because of their frame."""
        return self._verdicts(frozenset({"not_captured"}))

    @property
    def would_refuse(self) -> int:
        """Candidates that were kept only because the mode, or force, said so."""
        return sum(each.times for each in self.counts if each.rule == FLAGGED and each.verdict in _KEPT)

    def refused_by_rule(self) -> dict[str, int]:
        """Counts how often each rule objected, most often first; in shadow mode it only said so.

        A candidate counts once for each rule that fired, so that the sum may be above `refused`.
        """
        times: dict[str, int] = {}
        for count in self._rules():
            times[count.rule] = times.get(count.rule, 0) + count.times
        return dict(sorted(times.items(), key=lambda item: (-item[1], item[0])))

    def by(self, name: str) -> dict[str, dict[str, int]]:
        """Verdicts by ``source``, ``frame`` or ``mode``; by ``layer``, the rules that fired."""
        table: dict[str, dict[str, int]] = {}
        for count in self._rules() if name == "layer" else self._totals():
            verdicts = table.setdefault(getattr(count, name), {})
            verdicts[count.verdict] = verdicts.get(count.verdict, 0) + count.times
        return table

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "kept": self.kept,
            "refused": self.refused,
            "would_refuse": self.would_refuse,
            "not_captured": self.not_captured,
            "by_status": self.by_status,
            "by_rule": self.refused_by_rule(),
            "by_layer": self.by("layer"),
            "by_source": self.by("source"),
            "by_frame": self.by("frame"),
            "by_mode": self.by("mode"),
            "counts": [count.to_dict() for count in self.counts if count.rule != FLAGGED],
        }

    def prometheus(self) -> str:
        """The counters in Prometheus' text format."""
        lines = [
            "# HELP ebbtide_decision_candidates_total Candidates, by what became of them.",
            "# TYPE ebbtide_decision_candidates_total counter",
            *(_sample("ebbtide_decision_candidates_total", count, rule=False) for count in self._totals()),
            "# HELP ebbtide_decision_rules_total Rules that spoke against a candidate.",
            "# TYPE ebbtide_decision_rules_total counter",
            *(_sample("ebbtide_decision_rules_total", count, rule=True) for count in self._rules()),
            "# HELP ebbtide_decisions Decisions in the log, by where they stand.",
            "# TYPE ebbtide_decisions gauge",
            *(
                f'ebbtide_decisions{{status="{_escape(status)}"}} {times}'
                for status, times in self.by_status.items()
            ),
        ]
        return "\n".join(lines) + "\n"

    def _totals(self) -> Iterator[Count]:
        return (count for count in self.counts if not count.rule)

    def _rules(self) -> Iterator[Count]:
        return (count for count in self.counts if count.rule and count.rule != FLAGGED)

    def _verdicts(self, verdicts: frozenset[str]) -> int:
        return sum(count.times for count in self._totals() if count.verdict in verdicts)


#: Stands for a rule where a candidate is counted once that had any rule against it.
FLAGGED = "*"


def counters_of(rows: Sequence[Sequence[Any]], by_status: dict[str, int]) -> Counters:
    """Counters of rows of source, frame, mode, layer, rule, verdict, times."""
    names = [field.name for field in fields(Count)]
    counts = (Count(**dict(zip(names, (*row[:-1], int(row[-1])), strict=True))) for row in rows)
    return Counters(counts=tuple(counts), by_status=by_status)


def _sample(name: str, count: Count, *, rule: bool) -> str:
    labels = {
        "source": count.source,
        "frame": count.frame,
        "mode": count.mode,
        "verdict": count.verdict,
    }
    if rule:
        labels |= {"layer": count.layer, "rule": count.rule}
    text = ",".join(f'{key}="{_escape(value)}"' for key, value in labels.items())
    return f"{name}{{{text}}} {count.times}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Record):
    """Decisions to be looked at, of those the gate kept and of those that it was against.

    They are drawn by the hash of their ids: everybody gets the same ones, a larger sample has the smaller
    one in it, and neither time nor text has an influence. Reviewing them is what gives the rates.

    Args:
        kept_decisions: For which the gate had nothing to say against.
        refused_decisions: That the gate was against, also where the mode, force or a restore kept them.
        kept_of: How many the first ones stand for.
        refused_of: How many the second ones stand for.
    """

    _WIRE: ClassVar = """
        noise missed kept_of refused_of kept=kept_decisions refused=refused_decisions unreviewed
    """
    _SCHEMA: ClassVar = 1

    kept_decisions: _Ids
    refused_decisions: _Ids
    kept_of: int
    refused_of: int

    @property
    def noise(self) -> Rate:
        """The share of kept and reviewed decisions that are none; aim of the spec: under 5 %."""
        verdicts = [verdict for verdict in map(is_decision, self.kept_decisions) if verdict is not None]
        return Rate(hits=verdicts.count(False), total=len(verdicts))

    @property
    def missed(self) -> Rate:
        """The share of refused decisions, among those reviewed or restored, that are a decision."""
        verdicts = [verdict for verdict in map(is_decision, self.refused_decisions) if verdict is not None]
        return Rate(hits=verdicts.count(True), total=len(verdicts))

    @property
    def unreviewed(self) -> _Ids:
        """The decisions that nobody has looked at yet."""
        return tuple(
            each for each in (*self.kept_decisions, *self.refused_decisions) if is_decision(each) is None
        )


def is_decision(decision: Decision) -> bool | None:
    """Returns True or False where a review says that it is a decision or none; None where nobody said.

    A review that does not know how it turned out says nothing. Bringing a decision back from the quarantine
    says that it is one, unless a review says otherwise.
    """
    outcome = outcome_of(decision)
    if outcome is DecisionOutcome.NOT_A_DECISION:
        return False
    if outcome is not None and outcome is not DecisionOutcome.UNKNOWN:
        return True
    return True if decision.restored else None
