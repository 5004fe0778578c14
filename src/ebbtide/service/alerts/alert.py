"""One alert, in the JSON of a webhook and of a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ebbtide.codec import Record
from ebbtide.service.alerts.alert_settings import AlertLevel
from ebbtide.supervision.facts import BudgetFacts, LimitFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.verdict import Verdict

_WORDS: Final[Mapping[AlertLevel, str]] = {
    AlertLevel.STOP: "is stuck and to be ended",
    AlertLevel.ESCALATE: "waits for a person",
    AlertLevel.SILENT: "is silent",
    AlertLevel.BUDGET: "comes to the end of its budget",
    AlertLevel.END: "is over",
}
_LONGEST: Final = 2000  # characters of a reason: Slack takes 3000 in a block


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert(Record):
    """That a run needs a person.

    Args:
        level: Of what kind it is.
        reason: Why, in one sentence.
        kind: What was found; None where nothing was.
        agent: Which agent works, where it is known.
        project: Of which project it is, likewise.
        cost_usd: What the run cost so far; None where it is not known.
        at: When, in seconds since 1970.
        words: The verdict on the run in words, such as "FINISHED, HEALTHY"; None where there is none.
        link: The page of the run.
    """

    _SCHEMA: ClassVar = 1
    _WIRE: ClassVar = "text *"

    level: AlertLevel
    run_id: str
    reason: str
    kind: str | None
    agent: str | None
    project: str | None
    cost_usd: float | None
    at: float
    words: str | None
    link: str

    @property
    def text(self) -> str:
        """All of it in a line."""
        return f"{self._title}: {self.reason}"

    def message(self) -> dict[str, Any]:
        """Returns the message that a webhook gets, in the form of Slack.

        Source: Slack, incoming webhooks and Block Kit, "section" and "context".
        """
        details = [self.agent, self.project, None if self.cost_usd is None else f"${self.cost_usd:.2f}"]
        context = " · ".join([*(_escaped(item) for item in details if item), f"<{self.link}|open the run>"])
        return {
            "text": _escaped(self.text),
            "blocks": [
                {
                    "type": "section",
                    "text": {"type": "mrkdwn", "text": f"*{_escaped(self._title)}*\n{_escaped(self.reason)}"},
                },
                {"type": "context", "elements": [{"type": "mrkdwn", "text": context}]},
            ],
        }

    @property
    def _title(self) -> str:
        return f"{self.run_id:.200} {_WORDS[self.level]}"


def levels_of(verdict: Verdict) -> tuple[AlertLevel, ...]:
    """Returns the alert levels of a verdict, the most severe first; a person's own stop has none."""
    if verdict.shadow or verdict.cause is Cause.PERSON or verdict.action is Action.ALLOW:
        return ()
    budget = (AlertLevel.BUDGET,) if isinstance(verdict.facts, BudgetFacts | LimitFacts) else ()
    if verdict.action in (Action.STOP, Action.ESCALATE):
        return (*budget, AlertLevel(verdict.action.value))
    return budget


def shortened(text: str) -> str:
    """A reason of bounded length."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _escaped(text: str) -> str:
    """A text with nothing in it that Slack takes for a link or for somebody's name."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
