"""An alert as a span of OpenTelemetry with the result of an evaluation, beside the trace that it is about.

Source: semantic conventions for generative AI, event ``gen_ai.evaluation.result``; OTLP over HTTP with JSON.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ebbtide import __version__
from ebbtide.service.alerts.alert import Alert
from ebbtide.service.alerts.alert_settings import AlertLevel

_TRACE: Final = re.compile(r"[0-9a-f]{32}")
_ERRORS: Final = frozenset({AlertLevel.STOP, AlertLevel.ESCALATE})
_OK, _ERROR, _INTERNAL = 1, 2, 1  # codes of a status, and of a kind of span


def evaluation_of(alert: Alert) -> dict[str, Any]:
    """Returns the body of an export of traces: one span, in the trace of the run.

    A run whose id is that of a trace is evaluated in this trace. Others get a trace of their own, which names
    the conversation.
    """
    run = alert.run_id
    trace = run if _TRACE.fullmatch(run) else _hash(run, 32)
    time = str(int(alert.at * 1e9))
    result = {
        "gen_ai.evaluation.name": "ebbtide",
        "gen_ai.evaluation.score.label": alert.words or alert.level.value,
        "gen_ai.evaluation.explanation": alert.reason,
    }
    about = {
        "gen_ai.conversation.id": run,
        "session.id": run,
        "gen_ai.agent.name": alert.agent,
        "ebbtide.level": alert.level.value,
        "ebbtide.kind": alert.kind,
        "ebbtide.project": alert.project,
        "ebbtide.cost_usd": alert.cost_usd,
        "ebbtide.link": alert.link,
    }
    span = {
        "traceId": trace,
        "spanId": _hash(f"{run} {alert.level} {time}", 16),
        "name": "ebbtide verdict",
        "kind": _INTERNAL,
        "startTimeUnixNano": time,
        "endTimeUnixNano": time,
        "attributes": _attributes({**about, **result}),
        "events": [
            {"name": "gen_ai.evaluation.result", "timeUnixNano": time, "attributes": _attributes(result)}
        ],
        "status": {"code": _ERROR, "message": alert.reason} if alert.level in _ERRORS else {"code": _OK},
    }
    scope = {"scope": {"name": "ebbtide", "version": __version__}, "spans": [span]}
    resource = {"attributes": _attributes({"service.name": "ebbtide"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def traces_url(base: str) -> str:
    """Returns the address for traces of a receiver.

    >>> traces_url("http://localhost:4318"), traces_url("https://langfuse.example/api/public/otel/v1/traces")
    ('http://localhost:4318/v1/traces', 'https://langfuse.example/api/public/otel/v1/traces')
    """
    base = base.rstrip("/")
    return base if urlsplit(base).path.endswith("/v1/traces") else f"{base}/v1/traces"


def otlp_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers that a receiver wants, from the variable that exporters read them from.

    >>> otlp_headers({"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20YTpi,x-team=agents"})
    {'Authorization': 'Basic YTpi', 'x-team': 'agents'}
    """
    pairs = environment.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",")
    named = (pair.partition("=") for pair in pairs)
    return {name.strip(): unquote(value.strip()) for name, sign, value in named if sign and name.strip()}


def _hash(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _attributes(values: Mapping[str, str | float | None]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}}
        for key, value in values.items()
        if value is not None
    ]
