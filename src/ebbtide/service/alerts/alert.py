"""One alert, in the JSON of a command, of a webhook and of a receiver of telemetry."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ebbtide import __version__
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
_TRACE: Final = re.compile(r"[0-9a-f]{32}")
_ERRORS: Final = frozenset({AlertLevel.STOP, AlertLevel.ESCALATE})
_OK, _ERROR, _INTERNAL = 1, 2, 1  # codes of a status, and of a kind of span
_LONGEST: Final = 2000  # characters of a reason: Slack takes 3000 in a block


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert(Record):
    """That a run needs a person.

    Args:
        kind: What was found; None where nothing was.
        cost_usd: What the run cost so far; None where it is not known.
        at: When, in seconds since 1970.
        words: The verdict on the run in words, such as "FINISHED, HEALTHY"; None where there is none.
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

    def evaluation(self) -> dict[str, Any]:
        """Returns an export of traces with one span: the alert as the result of an evaluation.

        A run whose id is that of a trace is evaluated in this trace. Others get a trace of their own, which
        names the conversation.

        Source: semantic conventions for generative AI, event ``gen_ai.evaluation.result``; OTLP over HTTP
        with JSON.
        """
        run = self.run_id
        trace = run if _TRACE.fullmatch(run) else _hash(run, 32)
        time = str(int(self.at * 1e9))
        result = {
            "gen_ai.evaluation.name": "ebbtide",
            "gen_ai.evaluation.score.label": self.words or self.level.value,
            "gen_ai.evaluation.explanation": self.reason,
        }
        about = {
            "gen_ai.conversation.id": run,
            "session.id": run,
            "gen_ai.agent.name": self.agent,
            "ebbtide.level": self.level.value,
            "ebbtide.kind": self.kind,
            "ebbtide.project": self.project,
            "ebbtide.cost_usd": self.cost_usd,
            "ebbtide.link": self.link,
        }
        span = {
            "traceId": trace,
            "spanId": _hash(f"{run} {self.level} {time}", 16),
            "name": "ebbtide verdict",
            "kind": _INTERNAL,
            "startTimeUnixNano": time,
            "endTimeUnixNano": time,
            "attributes": _attributes({**about, **result}),
            "events": [
                {"name": "gen_ai.evaluation.result", "timeUnixNano": time, "attributes": _attributes(result)}
            ],
            "status": {"code": _ERROR, "message": self.reason} if self.level in _ERRORS else {"code": _OK},
        }
        scope = {"scope": {"name": "ebbtide", "version": __version__}, "spans": [span]}
        resource = {"attributes": _attributes({"service.name": "ebbtide"})}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}

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


def _hash(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _attributes(values: Mapping[str, str | float | None]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}}
        for key, value in values.items()
        if value is not None
    ]
