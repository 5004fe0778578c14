"""What the receiver of OpenTelemetry takes: spans a second, acknowledged and watched, and its memory.

    python -m benchmarks.speed.spans [--spans N]

`reader` is the receiver without HTTP and disk, in this process: exports in protobuf with gzip, of 512 spans
each, decoded and made into events. `service` is `ebbtide serve` as a process of its own over loopback, with
the same exports: *acknowledged* until the last answer, when they are on disk; *watched* until every event of
them is in its run. A hundred runs of an agent are under way at once, each call of a model with the last ten
messages as its context. `memory_mb` is the process before the first span and after the last.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from benchmarks.measure import setup, write_result
from benchmarks.speed.service import memory_mb, served
from ebbtide.service.otlp.export import PROTOBUF, SignalKind, read_export, unpacked
from ebbtide.service.otlp.span_intake import SpanIntake

_BATCH = 512  # as exporters have it by default
_RUNS = 100
_CONTEXT = 10  # messages
_START = 1_790_000_000
_HEADERS = {"Content-Type": PROTOBUF, "Content-Encoding": "gzip"}


def exports(count: int) -> Iterator[bytes]:
    """So many spans in the order in which they end: a call of a model and one of a tool, in turn."""
    for first in range(0, count, _BATCH):
        request = ExportTraceServiceRequest()
        spans = request.resource_spans.add().scope_spans.add()
        spans.scope.name = "my.agents"
        add_spans(spans, range(first, min(first + _BATCH, count)))
        yield gzip.compress(request.SerializeToString(), 1)


def add_spans(spans: ScopeSpans, numbers: range) -> None:
    """The spans with these numbers."""
    for number in numbers:
        run, step = number % _RUNS, number // _RUNS
        span = spans.spans.add(
            trace_id=(run + 1).to_bytes(16, "big"),
            span_id=(number + 1).to_bytes(8, "big"),
            parent_span_id=b"\xff" * 8,
            start_time_unix_nano=int((_START + step) * 1e9),
            end_time_unix_nano=int((_START + step + 0.9) * 1e9),
        )
        fill(span, model(step) if step % 2 == 0 else tool(step))


def fill(span: Span, attributes: dict[str, Any]) -> None:
    """Set the attributes of a span."""
    for key, value in attributes.items():
        entry = span.attributes.add(key=key).value
        if isinstance(value, int):
            entry.int_value = value
        else:
            entry.string_value = value


def model(step: int) -> dict[str, Any]:
    """A call of a model, which asks for the next page."""
    context = [
        {"role": "user", "parts": [{"type": "text", "content": "Read all pages, and sum them up." * 3}]},
        *(message for page in range(max(0, step - _CONTEXT), step, 2) for message in asked_page(page)),
    ]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-5-mini",
        "gen_ai.usage.input_tokens": 1000 + step,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.input.messages": json.dumps(context),
        "gen_ai.output.messages": json.dumps([asked_page(step)[0]]),
    }


def asked_page(step: int) -> list[dict[str, Any]]:
    """A call that a model asks for, and its answer."""
    call = {"type": "tool_call", "id": f"c{step}", "name": "read_page", "arguments": {"page": step}}
    answer = {"type": "tool_call_response", "id": f"c{step}", "response": page_text(step)}
    return [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [answer]}]


def tool(step: int) -> dict[str, Any]:
    """The call of the tool that the model has asked for before."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_page",
        "gen_ai.tool.call.id": f"c{step - 1}",
        "gen_ai.tool.call.arguments": json.dumps({"page": step - 1}),
        "gen_ai.tool.call.result": page_text(step - 1),
    }


def page_text(step: int) -> str:
    """Two hundred characters that differ."""
    return f"Page {step} is about the {step * 7919 % 1009} ships of harbour {step}. " * 4


def reader(bodies: list[bytes], count: int) -> dict[str, Any]:
    """The receiver in this process."""
    intake, events, start = SpanIntake(wait_s=1.0), 0, time.perf_counter()
    for number, body in enumerate(bodies):
        data = unpacked(body, "gzip", 1 << 30)
        intake.take(read_export(data, PROTOBUF, SignalKind.TRACES), float(number), size=len(data))
        events += sum(len(run.events) for run in intake.settle(float(number)))
    events += sum(len(run.events) for run in intake.finish())
    took = time.perf_counter() - start
    assert events >= count, (events, count)
    return {"spans": count, "events": events, "spans_a_second": round(count / took)}


def service(folder: Path, bodies: list[bytes], count: int) -> dict[str, Any]:
    """The receiver of a service."""
    with served(folder, bare=False) as (port, pid):
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        before, start = memory_mb(pid), time.perf_counter()
        for body in bodies:
            while (answer := asked(connection, "POST", "/v1/traces", body))[0] == 429:
                time.sleep(0.1)
            assert answer[0] == 200, answer
        acknowledged = time.perf_counter() - start
        while watched_events(connection) < count:
            time.sleep(0.2)
        watched = time.perf_counter() - start
        return {
            "spans": count,
            "acknowledged_a_second": round(count / acknowledged),
            "watched_a_second": round(count / watched),
            "memory_mb": {"before": before, "after": memory_mb(pid)},
        }


def watched_events(connection: HTTPConnection) -> int:
    """Events of all runs."""
    _, content = asked(connection, "GET", "/v1/runs?limit=1000")
    return sum(run["events"] for run in json.loads(content)["runs"])


def asked(connection: HTTPConnection, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """The status and the body of an answer."""
    connection.request(method, path, body, _HEADERS if body else {})
    answer = connection.getresponse()
    return answer.status, answer.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--spans", type=int, default=100_000)
    count = parser.parse_args().spans
    bodies = list(exports(count))
    result: dict[str, Any] = {
        "setup": setup(),
        "bytes_a_span": round(sum(map(len, bodies)) / count),
        "reader": reader(bodies, count),
    }
    print("reader", result["reader"], flush=True)
    with tempfile.TemporaryDirectory() as name:
        result["service"] = service(Path(name), bodies, count)
    print("service", result["service"], flush=True)
    write_result("speed-spans", result)


if __name__ == "__main__":
    main()
