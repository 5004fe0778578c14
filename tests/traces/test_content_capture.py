"""What to switch on, by the library that wrote the spans or by the format."""

import json

import pytest

from ebbtide.checking import check
from ebbtide.traces.content_capture import capture_advice


@pytest.mark.parametrize(
    ("form", "scopes", "setting"),
    [
        ("otlp", (), "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
        ("otlp", ("opentelemetry.instrumentation.openai_v2",), "OTEL_INSTRUMENTATION_GENAI_CAPTURE"),
        ("otlp", ("opentelemetry.instrumentation.crewai",), "TRACELOOP_TRACE_CONTENT"),
        ("otlp", ("gcp.vertex.agent",), "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS"),
        ("otlp", ("com.anthropic.claude_code.tracing",), "OTEL_LOG_TOOL_DETAILS"),
        ("otlp", ("ai",), "recordInputs"),
        ("otlp", ("aiohttp",), "OTEL_INSTRUMENTATION_GENAI_CAPTURE"),
        ("openinference", ("openinference.instrumentation.langchain",), "OPENINFERENCE_HIDE_INPUTS"),
        ("langfuse", (), "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED"),
        ("langsmith", (), "LANGSMITH_HIDE_INPUTS"),
    ],
)
def test_the_setting_is_named(form: str, scopes: tuple[str, ...], setting: str) -> None:
    """The longest name of a library that fits, else the format."""
    advice = capture_advice(form, scopes)
    assert setting in advice
    assert advice.endswith(" and record again.")


def test_nothing_is_advised_where_nothing_is_known() -> None:
    """A session holds everything anyway."""
    assert not capture_advice("claude-code")


def test_spans_without_content_are_unknown(tmp_path) -> None:
    """The word, the count and what to switch on, by the name of the scope."""
    spans = [
        {
            "traceId": "a" * 32,
            "spanId": f"{number:016x}",
            "name": "execute_tool search",
            "startTimeUnixNano": str(number * 10**9),
            "endTimeUnixNano": str(number * 10**9 + 5),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": "search"}},
            ],
        }
        for number in range(1, 9)
    ]
    scope = {"scope": {"name": "gcp.vertex.agent"}, "spans": spans}
    file = tmp_path / "spans.json"
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}))
    summary = check(file)
    assert summary.headline.value == "UNKNOWN"
    assert summary.reason == "Arguments were not recorded for 8 of 8 calls, so loops cannot be judged."
    assert "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS" in summary.facts.coverage.advice
