"""Exporters of OpenTelemetry send to a running service: the SDK's own, and what others have sent."""

import gzip
import html
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

EXPORTS = Path(__file__).parents[1] / "otlp" / "exports"
PROTOBUF = {"Content-Type": "application/x-protobuf"}
GZIP = {**PROTOBUF, "Content-Encoding": "gzip"}


ANSWER = json.dumps(
    [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "name": "web_search", "arguments": {"q": "ferry"}}],
        }
    ]
)


def until(probe: Callable[[], Any], seconds: float = 15.0) -> Any:
    """What a probe gives as soon as it gives something."""
    deadline = time.monotonic() + seconds
    while not (value := probe()):
        assert time.monotonic() < deadline, f"it did not come: {probe.__doc__}"
        time.sleep(0.05)
    return value


def run_of(service: Any, **fields: Any) -> dict[str, Any]:
    """The only run, as soon as these fields of it are so."""

    def look() -> dict[str, Any] | None:
        runs = service.get("/v1/runs")["runs"]
        assert len(runs) <= 1
        look.__doc__ = str(runs)
        is_it = runs and all(runs[0][name] == value for name, value in fields.items())
        return runs[0] if is_it else None

    return until(look)


def search(tracer: Any, **attributes: Any) -> None:
    names = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web_search",
        "gen_ai.tool.call.arguments": '{"q": "ferry"}',
        "gen_ai.tool.call.result": "no results",
        **attributes,
    }
    with tracer.start_as_current_span("execute_tool web_search", attributes=names):
        pass


def chat(tracer: Any) -> None:
    names = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.output.messages": ANSWER,
    }
    with tracer.start_as_current_span("chat", attributes=names):
        pass


@contextmanager
def looping_agent(exporter: SpanExporter, resource: Resource | None = None) -> Iterator[None]:
    """An agent whose eight equal searches are exported while its own span is still open."""
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("my.agents")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"}
    with tracer.start_as_current_span("invoke_agent finder", attributes=agent):
        for _ in range(8):
            chat(tracer)
            search(tracer)
        provider.force_flush()
        yield
    provider.shutdown()


@pytest.mark.parametrize(
    ("compression", "resource", "project"),
    [
        (Compression.NoCompression, Resource({"service.name": "billing"}), "billing"),
        (Compression.Gzip, Resource.create(), None),  # the SDK makes up a name
    ],
)
def test_the_exporter_of_the_sdk(
    start: Any, compression: Compression, resource: Resource, project: str | None
) -> None:
    """A loop is found while the agent's own span is still open; its end is noticed."""
    service = start("--span-wait", "0.2")
    exporter = OTLPSpanExporter(f"{service.url}/v1/traces", compression=compression)
    with looping_agent(exporter, resource):
        run = run_of(service, action="stop")
        assert (run["source"], run["project"], run["can_stop"], run["note"]) == (
            "otlp", project, False, "",
        )  # fmt: skip
        assert not run["ended"]
    run_of(service, ended=True, events=16, tokens=880)


def test_nobody_can_stop_it(start: Any) -> None:
    """The run does not ask, so the order could never reach it."""
    service = start("--span-wait", "0")
    body = (EXPORTS / "pydantic_ai-native-on.pb.gz").read_bytes()
    assert service.client.post("/v1/traces", content=body, headers=GZIP).status_code == 200
    run_id = run_of(service, ended=True)["run_id"]
    answer = service.client.post(f"/v1/runs/{run_id}/stop")
    assert (answer.status_code, answer.json()["hint"]) == (
        409, "End its process, or watch it with an adapter or with hooks.",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["langchain-openinference", "pydantic_ai-native"])
def test_content_that_is_off_is_told(start: Any, name: str) -> None:
    """On the run, with what to set; nothing is judged."""
    service = start("--span-wait", "0")
    body = (EXPORTS / f"{name}-off.pb.gz").read_bytes()
    service.client.post("/v1/traces", content=body, headers=GZIP)
    run = run_of(service, action="allow", ended=True)
    assert run["note"].startswith("Content capture is off: loops cannot be judged. ")
    assert run["tokens"] == 990
    report = service.client.get(f"/v1/runs/{run['run_id']}/report.html").text
    assert "UNKNOWN" in report
    assert run["note"] in html.unescape(report)


def test_what_was_acknowledged_survives_a_crash(start: Any) -> None:
    """Spans that waited when the service was killed are in the runs of the next one, each once."""
    service = start("--span-wait", "60")
    body = (EXPORTS / "pydantic_ai-native-on.pb.gz").read_bytes()
    for _ in range(3):  # an exporter that heard no answer
        assert service.client.post("/v1/traces", content=body, headers=GZIP).status_code == 200
    service.kill()
    service.options = ("--span-wait", "0.1")
    service.start()
    run = run_of(service, ended=True)
    assert (run["tokens"], run["can_stop"]) == (990, False)
    service.kill()
    service.start()
    time.sleep(1)
    assert run_of(service)["tokens"] == 990


def test_what_waits_is_told_at_the_end(start: Any) -> None:
    """A service that ends as it should leaves nothing waiting."""
    service = start("--span-wait", "60")
    body = (EXPORTS / "strands-native-on.pb.gz").read_bytes()
    service.client.post("/v1/traces", content=body, headers=GZIP)
    assert service.end() == 0
    service.start()
    assert run_of(service)["tokens"] == 990


def test_answers_of_the_protocol(service: Any) -> None:
    """Each in the form of its request; what cannot be used is counted, and never a 5xx."""
    post = service.client.post
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "a"}]}]}]}
    answer = post("/v1/traces", json=spans)
    assert answer.json()["partialSuccess"] == {
        "rejectedSpans": "1",
        "errorMessage": "1 of 1 spans have no traceId or spanId",
    }
    assert post("/v1/traces", json={}).json() == {}
    answer = post("/v1/traces", content=b"", headers=PROTOBUF)
    assert (answer.status_code, answer.headers["content-type"]) == (200, PROTOBUF["Content-Type"])
    assert not ExportTraceServiceResponse.FromString(answer.content).HasField("partial_success")
    assert post("/v1/logs", json={"resourceLogs": []}).json() == {}
    assert "OTEL_METRICS_EXPORTER=none" in post("/v1/metrics", json={}).text


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (415, {"Content-Type": "application/grpc"}, b"", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
        (415, {"Content-Type": "text/plain"}, b"", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
        (415, {**PROTOBUF, "Content-Encoding": "br"}, b"x", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"),
        (400, PROTOBUF, b"\xff\xff", "not an export of traces in protobuf"),
        (400, GZIP, b"hello", "not gzip"),
        (400, {"Content-Type": "application/json"}, b"[]", "expected an object with resourceSpans"),
        (413, GZIP, gzip.compress(bytes(65 << 20)), "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
    ],
)
def test_bodies_that_are_refused(
    service: Any, status: int, headers: dict[str, str], body: bytes, words: str
) -> None:
    """With what to set at the exporter."""
    answer = service.client.post("/v1/traces", content=body, headers=headers)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text


def test_the_example_of_the_page(start: Any, project: Path) -> None:
    """The variables of OpenTelemetry alone say where it sends its spans."""
    service = start("--span-wait", "0.1")
    subprocess.run(
        [sys.executable, "-W", "error", project / "examples/otlp_agent.py"],
        env={**service.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": service.url},
        check=True,
        timeout=60,
    )
    run = run_of(service, action="stop", ended=True)
    assert (run["run_id"], run["project"], run["tokens"]) == ("invoice-7", "invoices", 8 * 1240)
    assert run["reason"].startswith("web_search 8 times in a row")
