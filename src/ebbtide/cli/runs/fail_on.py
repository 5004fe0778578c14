"""The conditions of `--fail-on`, which make a check fail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ebbtide.claims.claim import ClaimAnswer
from ebbtide.claims.sentences import claim_sentence
from ebbtide.cli.runs.baseline import KnownFindings
from ebbtide.errors import ConfigError
from ebbtide.report.wording import ADD_PRICES, missing_cost, money
from ebbtide.settings_file import meant
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.headline import Course, Headline
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary

_HEADLINES = {
    "stuck": (Headline.STUCK,),
    "limit": (Headline.LIMIT,),
    "failed": (Headline.FAILED, Headline.BLOCKED),
    "unknown": (Headline.UNKNOWN,),
}
_ACTIONS = {
    "stop": (Action.STOP,),
    "escalate": (Action.ESCALATE, Action.STOP),
    "nudge": (Action.NUDGE, Action.ESCALATE, Action.STOP),
}
_AMOUNTS = ("cost", "tokens", "events")
_OTHERS = ("unread", "contradicted")
_EXPECTED = (
    "stuck, limit, failed, stop, escalate, nudge, unknown, unread, contradicted, "
    "cost=USD, tokens=N or events=N"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition.

    Args:
        name: What is looked at.
        above: The amount that may not be passed; None for a verdict.
    """

    name: str
    above: float | None = None

    @classmethod
    def read(cls, text: str, origin: str = "--fail-on") -> Condition:
        """The condition in an option; an error begins with `origin`, the option or the file and its key.

        Raises:
            ConfigError: There is no such condition.
        """
        name, equals, amount = text.strip().partition("=")
        if not equals and name in {*_HEADLINES, *_ACTIONS, *_OTHERS}:
            return cls(name=name)
        if name in _AMOUNTS and equals:
            try:
                above = float(amount.lstrip("$"))
            except ValueError:
                above = -1.0
            if 0 <= above < float("inf"):
                return cls(name=name, above=above)
            raise ConfigError(f"{origin} {text!r}: expected an amount of 0 or more, such as {name}=5")
        names = [*_HEADLINES, *_ACTIONS, *_OTHERS, *(f"{amount}=" for amount in _AMOUNTS)]
        raise ConfigError(f"{origin} {text!r}: expected {_EXPECTED}{meant(name, names)}")

    def broken_by(self, summary: RunSummary, known_findings: Collection[RunFinding] = ()) -> str | None:
        """Returns the reason why the run fails it, in words; None if it does not.

        A verdict that rests on accepted findings alone fails nothing. An amount that is unknown in part fails
        too: a check that cannot be made has not passed.
        """
        if self.above is None:
            return self._verdict(summary, known_findings)
        spending = summary.spent
        if self.name == "events":
            return f"{spending.events:,} events" if spending.events > self.above else None
        if self.name == "tokens":
            total = spending.tokens.total
            if total is None:
                return "the number of tokens is unknown"
            return f"{total:,} tokens" if total > self.above else None
        if spending.cost_usd is not None and spending.cost_usd > self.above:
            return f"it cost {money(spending.cost_usd)}"
        if spending.cost_usd is None or spending.unpriced or spending.unrecorded:
            return missing_cost(spending) or f"the cost is unknown. {ADD_PRICES}"
        return None

    def _verdict(self, summary: RunSummary, known_findings: Collection[RunFinding]) -> str | None:
        if self.name == "unread":
            return f"{summary.degraded:,} lines or events not read in full" if summary.degraded else None
        if self.name == "contradicted":
            return next(
                (claim_sentence(c) for c in summary.claims if c.answer is ClaimAnswer.CONTRADICTED), None
            )
        if self.name == "limit":
            uncounted = [item.sentence for item in summary.findings if item.kind == "limit_unknown"]
            if uncounted:
                return f"{uncounted[0]}."
        highest = summary.verdict
        hit = (
            summary.headline in _HEADLINES.get(self.name, ())
            or highest.action in _ACTIONS.get(self.name, ())
            or (self.name == "stuck" and highest.action is Action.STOP and highest.cause is not Cause.LIMIT)
            or (self.name == "limit" and any(item.cause is Cause.LIMIT for item in summary.findings))
            or (self.name == "unknown" and summary.course is Course.UNKNOWN)
        )
        if not hit:
            return None
        grounds = [item for item in summary.findings if self.rests_on(item)] if known_findings else []
        fresh = [item for item in grounds if item not in known_findings]
        if len(fresh) == len(grounds):
            return f"{summary.words}: {summary.reason}"
        return f"{summary.words}: {fresh[0].sentence}." if fresh else None

    def rests_on(self, finding: RunFinding) -> bool:
        """Returns True if the finding alone can make a run meet the condition."""
        if self.name == "limit":
            return finding.cause is Cause.LIMIT
        if self.name == "stuck":
            return finding.cause is not Cause.LIMIT and finding.action in _ACTIONS["escalate"]
        return finding.action in _ACTIONS.get(self.name, ())

    def __str__(self) -> str:
        return self.name if self.above is None else f"{self.name}={self.above:g}"


def conditions(texts: Sequence[str], origin: str = "--fail-on") -> tuple[Condition, ...]:
    """The conditions of all options, read as by `Condition.read`; one option may hold several with commas.

    Raises:
        ConfigError: One of them does not exist.
    """
    return tuple(Condition.read(part, origin) for text in texts for part in text.split(","))


class FailedCondition(NamedTuple):
    """A run that meets a condition, and why, in words."""

    source: str
    condition: Condition
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: --fail-on {self.condition}: {self.reason}"


def failures(
    summaries: Sequence[RunSummary], checks: Sequence[Condition], known_findings: KnownFindings | None = None
) -> list[FailedCondition]:
    """Lists the runs that meet a condition, each with the condition and the reason."""
    return [
        FailedCondition(summary.source, condition, why)
        for summary in summaries
        for condition in checks
        if (why := condition.broken_by(summary, () if known_findings is None else known_findings.of(summary)))
        is not None
    ]
