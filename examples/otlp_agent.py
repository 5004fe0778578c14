"""An agent that goes in a circle, and exports its spans: ``ebbtide serve`` finds it.

The variables of OpenTelemetry say where they go; without any, to a service on this machine.
"""

import json
import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

os.environ.setdefault("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:8620")
provider = TracerProvider(resource=Resource({"service.name": "invoices"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("examples.otlp_agent")

QUESTION = json.dumps({"q": "ferry revenue 2019"})
ASKS = [{"role": "assistant", "parts": [{"type": "tool_call", "name": "web_search", "arguments": QUESTION}]}]
AGENT = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "finder",
    "gen_ai.conversation.id": "invoice-7",
}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-5-mini",
    "gen_ai.usage.input_tokens": 1200,
    "gen_ai.usage.output_tokens": 40,
    "gen_ai.output.messages": json.dumps(ASKS),
}
SEARCH = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "web_search",
    "gen_ai.tool.call.arguments": QUESTION,
    "gen_ai.tool.call.result": "no results",
}

with tracer.start_as_current_span("invoke_agent finder", attributes=AGENT):
    for _ in range(8):
        with tracer.start_as_current_span("chat gpt-5-mini", attributes=CHAT):
            pass
        with tracer.start_as_current_span("execute_tool web_search", attributes=SEARCH):
            pass
provider.shutdown()
print("8 calls were exported.")
