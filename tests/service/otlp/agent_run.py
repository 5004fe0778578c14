"""One run of a framework's agent that exports its spans: ``python agent_run.py NAME [SCRIPT]``.

It runs in an environment with the framework and the SDK of OpenTelemetry, and is set up by the variables of
the SDK alone (``OTEL_EXPORTER_OTLP_ENDPOINT`` and so on); ``EBBTIDE_CONTENT=0`` leaves content out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

HAS_CONTENT = os.environ.get("EBBTIDE_CONTENT") != "0"


def _by_class(module: str, name: str) -> Callable[[Any], None]:
    return lambda provider: getattr(import_module(module), name)().instrument(tracer_provider=provider)


def _pydantic_ai(provider: Any) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.instrumented import InstrumentationSettings

    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=HAS_CONTENT))


def _agent_framework(_: Any) -> None:
    from agent_framework.observability import enable_instrumentation

    enable_instrumentation(enable_sensitive_data=HAS_CONTENT)


#: What switches spans on, by the name of the harness: the framework itself where nothing stands here.
INSTRUMENTATIONS: dict[str, dict[str, Callable[[Any], None]]] = {
    "openai_client": {
        "otel": _by_class("opentelemetry.instrumentation.openai_v2", "OpenAIInstrumentor"),
        "openinference": _by_class("openinference.instrumentation.openai", "OpenAIInstrumentor"),
    },
    "anthropic_client": {
        "native": lambda _: None,
        "openllmetry": _by_class("opentelemetry.instrumentation.anthropic", "AnthropicInstrumentor"),
        "openinference": _by_class("openinference.instrumentation.anthropic", "AnthropicInstrumentor"),
    },
    "pydantic_ai": {"native": _pydantic_ai},
    "langchain": {
        "openinference": _by_class("openinference.instrumentation.langchain", "LangChainInstrumentor")
    },
    "smolagents": {
        "openinference": _by_class("openinference.instrumentation.smolagents", "SmolagentsInstrumentor")
    },
    "agent_framework": {"native": _agent_framework},
    "strands": {"native": lambda _: None},
    "google_adk": {"native": lambda _: None},
}


def main(name: str, instrumentation: str, script: str = "stuck", mode: str = "sync") -> None:
    """Run it, and flush what it exports."""
    # Before any library reads them.
    os.environ.update(
        OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY" if HAS_CONTENT else "NO_CONTENT",
        ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE="content" if HAS_CONTENT else "metadata_only",
        TRACELOOP_TRACE_CONTENT=str(HAS_CONTENT).lower(),
        ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=str(HAS_CONTENT).lower(),
        OPENINFERENCE_HIDE_INPUTS=str(not HAS_CONTENT).lower(),
        OPENINFERENCE_HIDE_OUTPUTS=str(not HAS_CONTENT).lower(),
    )
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    INSTRUMENTATIONS[name][instrumentation](provider)

    from conformance import scripts
    from conformance.harness import harness

    framework = harness(name)
    tools = scripts.Workshop().tools()
    script_of_run = stuck_for_a_while if script == "stuck" else getattr(scripts, script)
    framework.run(framework.adapter(shadow=True), script_of_run, tools, mode)
    provider.shutdown()


def stuck_for_a_while(number: int, has_tools: bool) -> Any:
    """Asks the same question eight times, and answers."""
    from conformance import scripts

    return scripts.stuck(number, has_tools and number <= 8)


if __name__ == "__main__":
    main(*sys.argv[1:])
