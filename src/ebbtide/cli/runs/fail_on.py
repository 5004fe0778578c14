"""What makes a check fail: the conditions of `--fail-on`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.errors import ConfigError
from ebbtide.report.wording import money, unpriced
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.headline import Course, Headline
from ebbtide.supervision.summary.run_summary import RunSummary

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
_EXPECTED = "stuck, limit, failed, stop, escalate, nudge, unknown, unread, cost=USD, tokens=N or events=N"


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
        """The condition in an option.

        Args:
            text: The condition.
            origin: What an error begins with: the option, or the file and its key.

        Raises:
            ConfigError: There is no such condition.
        """
        name, equals, amount = text.strip().partition("=")
        if not equals and name in {*_HEADLINES, *_ACTIONS, "unread"}:
            return cls(name=name)
        if name in _AMOUNTS and equals:
            try:
                above = float(amount.lstrip("$"))
            except ValueError:
                above = -1.0
            if 0 <= above < float("inf"):
                return cls(name=name, above=above)
            raise ConfigError(f"{origin} {text!r}: expected an amount from 0 on, such as {name}=5")
        raise ConfigError(f"{origin} {text!r}: expected {_EXPECTED}")

    def broken_by(self, summary: RunSummary) -> str | None:
        """Why the run fails it, in words; None where it does not.

        An amount that is unknown in part fails too: a check that cannot be made has not passed.
        """
        if self.above is None:
            return self._verdict(summary)
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
        if spending.cost_usd is None or spending.unpriced:
            return f"{unpriced(spending) or 'the cost is unknown.'} Add prices with --prices FILE."
        return None

    def _verdict(self, summary: RunSummary) -> str | None:
        if self.name == "unread":
            return f"{summary.degraded:,} lines or events not read in full" if summary.degraded else None
        if self.name == "limit":
            uncounted = [item.sentence for item in summary.findings if item.kind == "limit_unknown"]
            if uncounted:
                return f"{uncounted[0]}."
        highest = summary.verdict
        hit = (
            summary.headline in _HEADLINES.get(self.name, ())
            or highest.action in _ACTIONS.get(self.name, ())
            or (self.name == "stuck" and highest.action is Action.STOP and highest.cause is not Cause.LIMIT)
            or (self.name == "unknown" and summary.course is Course.UNKNOWN)
        )
        return f"{summary.title}: {summary.reason}" if hit else None

    def __str__(self) -> str:
        return self.name if self.above is None else f"{self.name}={self.above:g}"


def conditions(texts: Sequence[str], origin: str = "--fail-on") -> tuple[Condition, ...]:
    """The conditions of all options; one option may hold several with commas.

    Args:
        texts: The values.
        origin: As for `Condition.read`.

    Raises:
        ConfigError: One of them does not exist.
    """
    return tuple(Condition.read(part, origin) for text in texts for part in text.split(","))


def failures(summaries: Sequence[RunSummary], checks: Sequence[Condition]) -> list[str]:
    """Which run fails which condition and why, a line each."""
    lines = []
    for summary in summaries:
        for condition in checks:
            why = condition.broken_by(summary)
            if why is not None:
                lines.append(f"{summary.source}: --fail-on {condition}: {why}")
    return lines
