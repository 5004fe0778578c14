"""Settings to switch on, so that a trace holds the arguments, the answers and the words of a run.

Many exporters leave them out unless they are asked for, since they may hold secrets. A row is checked against
the documentation that it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

_OTEL: Final = "opentelemetry-python-contrib.readthedocs.io/en/latest/instrumentation-genai"


class Capture(NamedTuple):
    """Setting by which some exporters record content.

    Args:
        advice: What to do, as a sentence that "and record again" can follow.
        source: Where that is documented.
        scopes: Starts of the names of instrumentation scopes: the libraries that wrote the spans.
        formats: Names of formats, for traces of no library that is known.
    """

    advice: str
    source: str
    scopes: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


CAPTURES: Final = (
    Capture(
        "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (OpenLLMetry: TRACELOOP_TRACE_CONTENT)",
        f"{_OTEL}/openai.html",
        ("opentelemetry.instrumentation.",),
    ),
    Capture(
        "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or what your framework has for it,",
        f"{_OTEL}/openai.html",
        formats=("otlp",),
    ),
    Capture(
        "Set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and "
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
        f"{_OTEL}/util.html",
        ("opentelemetry.util.genai",),
    ),
    Capture(
        "Unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
        "arize-ai.github.io/openinference/spec/configuration.html",
        ("openinference.instrumentation", "@arizeai/openinference"),
        formats=("openinference",),
    ),
    Capture(
        "Set OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=1, unset OPENINFERENCE_HIDE_INPUTS and _OUTPUTS",
        "openai.github.io/openai-agents-python/config",
        ("openinference.instrumentation.openai_agents",),
    ),
    Capture(
        "Unset TRACELOOP_TRACE_CONTENT, or set it to true",
        "traceloop.com/docs/openllmetry/privacy/traces",
        (
            "opentelemetry.instrumentation.crewai",
            "opentelemetry.instrumentation.llamaindex",
            "traceloop",
        ),
    ),
    Capture(
        "Set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true",
        "google.github.io/adk-docs/observability",
        ("gcp.vertex.agent",),
    ),
    Capture(
        "Set ENABLE_SENSITIVE_DATA=true",
        "learn.microsoft.com/agent-framework/user-guide/observability",
        ("agent_framework",),
    ),
    Capture(
        "Use InstrumentationSettings(include_content=True)",
        "ai.pydantic.dev/api/models/instrumented",
        ("pydantic-ai",),
    ),
    Capture(
        "Set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
        "learn.microsoft.com/python/api/semantic-kernel, ModelDiagnosticSettings",
        ("semantic_kernel",),
    ),
    Capture(
        "Set recordInputs and recordOutputs to true in experimental_telemetry",
        "ai-sdk.dev/docs/ai-sdk-core/telemetry",
        ("ai",),
    ),
    Capture(
        "Set ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content",
        "github.com/anthropics/anthropic-sdk-python, OpenTelemetryTraces",
        ("com.anthropic.sdk",),
    ),
    Capture(
        "Set OTEL_LOG_TOOL_DETAILS=1, OTEL_LOG_TOOL_CONTENT=1 and OTEL_LOG_USER_PROMPTS=1",
        "code.claude.com/docs/en/monitoring-usage",
        ("com.anthropic.claude_code",),
    ),
    Capture(
        "Unset LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED, and capture_input and capture_output",
        "langfuse.com/docs/sdk/python/decorators",
        ("langfuse",),
        formats=("langfuse",),
    ),
    Capture(
        "Unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS",
        "docs.langchain.com/langsmith/mask-inputs-outputs",
        formats=("langsmith",),
    ),
)


def capture_advice(form: str, scopes: Iterable[str] = ()) -> str:
    """Returns advice on how to have content recorded; empty where that is not known.

    >>> capture_advice("langsmith")
    'Unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS and record again.'

    Args:
        form: Name of the format.
        scopes: Names of the libraries that wrote the spans, where there are any.
    """
    setting = capture_setting(form, scopes)
    return f"{setting} and record again." if setting else ""


def capture_setting(form: str, scopes: Iterable[str] = ()) -> str:
    """Returns the setting that `capture_advice` names, and no more; the longest name that fits counts."""
    names = [
        (len(start), row.advice)
        for scope in scopes
        for row in CAPTURES
        for start in row.scopes
        if _fits(start, scope)
    ]
    if names:
        return max(names, key=lambda name: name[0])[1]
    return next((row.advice for row in CAPTURES if form in row.formats), "")


def _fits(start: str, scope: str) -> bool:
    return scope == start or (scope.startswith(start) and (len(start) > 2 or scope[len(start)] in ".-/"))
