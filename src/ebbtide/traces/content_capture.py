"""Settings to switch on, so that a trace holds the arguments, the answers and the words of a run.

Many exporters leave them out unless they are asked for, since they may hold secrets. A row is checked against
the documentation that it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple


class Capture(NamedTuple):
    """Setting by which one kind of exporter records content.

    Args:
        writer: Start of the name of an instrumentation scope, or the name of a format.
        advice: What to do, as a sentence that "and record again" can follow.
        source: Where that is documented.
    """

    writer: str
    advice: str
    source: str


#: By the library that wrote the spans: of several that fit, the longest name.
BY_SCOPE: Final = (
    Capture(
        "opentelemetry.instrumentation.",
        "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (OpenLLMetry: TRACELOOP_TRACE_CONTENT)",
        "opentelemetry-python-contrib.readthedocs.io/en/latest/instrumentation-genai/openai.html",
    ),
    Capture(
        "openinference.instrumentation",
        "Unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
        "arize-ai.github.io/openinference/spec/configuration.html",
    ),
    Capture(
        "@arizeai/openinference",
        "Unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
        "arize-ai.github.io/openinference/spec/configuration.html",
    ),
    Capture(
        "openinference.instrumentation.openai_agents",
        "Set OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=1, unset OPENINFERENCE_HIDE_INPUTS and _OUTPUTS",
        "openai.github.io/openai-agents-python/config",
    ),
    Capture(
        "opentelemetry.instrumentation.crewai",
        "Unset TRACELOOP_TRACE_CONTENT, or set it to true",
        "traceloop.com/docs/openllmetry/privacy/traces",
    ),
    Capture(
        "opentelemetry.instrumentation.llamaindex",
        "Unset TRACELOOP_TRACE_CONTENT, or set it to true",
        "traceloop.com/docs/openllmetry/privacy/traces",
    ),
    Capture(
        "traceloop",
        "Unset TRACELOOP_TRACE_CONTENT, or set it to true",
        "traceloop.com/docs/openllmetry/privacy/traces",
    ),
    Capture(
        "gcp.vertex.agent",
        "Set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true",
        "google.github.io/adk-docs/observability",
    ),
    Capture(
        "opentelemetry.util.genai",
        "Set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and "
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
        "opentelemetry-python-contrib.readthedocs.io/en/latest/instrumentation-genai/util.html",
    ),
    Capture(
        "agent_framework",
        "Set ENABLE_SENSITIVE_DATA=true",
        "learn.microsoft.com/agent-framework/user-guide/observability",
    ),
    Capture(
        "pydantic-ai",
        "Use InstrumentationSettings(include_content=True)",
        "ai.pydantic.dev/api/models/instrumented",
    ),
    Capture(
        "semantic_kernel",
        "Set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
        "learn.microsoft.com/python/api/semantic-kernel, ModelDiagnosticSettings",
    ),
    Capture(
        "ai",
        "Set recordInputs and recordOutputs to true in experimental_telemetry",
        "ai-sdk.dev/docs/ai-sdk-core/telemetry",
    ),
    Capture(
        "com.anthropic.sdk",
        "Set ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content",
        "github.com/anthropics/anthropic-sdk-python, OpenTelemetryTraces",
    ),
    Capture(
        "com.anthropic.claude_code",
        "Set OTEL_LOG_TOOL_DETAILS=1, OTEL_LOG_TOOL_CONTENT=1 and OTEL_LOG_USER_PROMPTS=1",
        "code.claude.com/docs/en/monitoring-usage",
    ),
    Capture(
        "langfuse",
        "Unset LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED, and capture_input and capture_output",
        "langfuse.com/docs/sdk/python/decorators",
    ),
)
#: By the format, where no library is known.
BY_FORMAT: Final = (
    Capture(
        "otlp",
        "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or what your framework has for it,",
        "opentelemetry-python-contrib.readthedocs.io/en/latest/instrumentation-genai/openai.html",
    ),
    Capture(
        "openinference",
        "Unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
        "arize-ai.github.io/openinference/spec/configuration.html",
    ),
    Capture(
        "langfuse",
        "Unset LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED, and capture_input and capture_output",
        "langfuse.com/docs/sdk/python/decorators",
    ),
    Capture(
        "langsmith",
        "Unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS",
        "docs.langchain.com/langsmith/mask-inputs-outputs",
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
    """As `capture_advice`, without a word on what was recorded before."""
    rows = [row for scope in scopes for row in BY_SCOPE if _fits(row.writer, scope)]
    rows = rows or [row for row in BY_FORMAT if row.writer == form]
    return max(rows, key=lambda row: len(row.writer)).advice if rows else ""


def _fits(writer: str, scope: str) -> bool:
    return scope == writer or (scope.startswith(writer) and (len(writer) > 2 or scope[len(writer)] in ".-/"))
