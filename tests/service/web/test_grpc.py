"""The exporter of the SDK sends over gRPC to a running service."""

import socket
from typing import Any

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

from tests.service.web.test_spans import looping_agent, run_of

METHOD = "/opentelemetry.proto.collector.{}.v1.{}Service/Export"
TOKEN = "known-to-few-callers"  # noqa: S105 - of a service on this machine


def export(address: str, body: bytes, *, kind: str = "trace", name: str = "Trace", token: str = "") -> bytes:
    """The answer to one export of bytes."""
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(METHOD.format(kind, name))
        answer: bytes = call(body, timeout=10, metadata=metadata, wait_for_ready=True)
        return answer


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_the_exporter_of_the_sdk(start: Any, free_tcp_port: int, compression: Any) -> None:
    """As over HTTP: a loop is found, and the end of the agent's span ends the run."""
    service = start("--span-wait", "0.2", "--otlp-grpc", str(free_tcp_port))
    exporter = OTLPSpanExporter(endpoint=f"127.0.0.1:{free_tcp_port}", insecure=True, compression=compression)
    with looping_agent(exporter):
        run_of(service, action="stop")
    run_of(service, ended=True, events=16, tokens=880)


def test_what_cannot_be_taken_is_refused_in_words(start: Any, free_tcp_port: int) -> None:
    """Without the token before the body comes; what is no export; and metrics are taken, and not used."""
    start("--token", TOKEN, "--otlp-grpc", str(free_tcp_port))
    address = f"127.0.0.1:{free_tcp_port}"
    for token in ("", "another-token-of-some-length"):
        with pytest.raises(grpc.RpcError) as refused:
            export(address, b"", token=token)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert "OTEL_EXPORTER_OTLP_HEADERS" in refused.value.details()
    with pytest.raises(grpc.RpcError) as broken:
        export(address, b"no protobuf", token=TOKEN)
    assert broken.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert b"Metrics are not used" in export(address, b"", kind="metrics", name="Metrics", token=TOKEN)
    assert export(address, b"", token=TOKEN) == b""


def test_a_port_that_is_taken_is_named_before_anything_begins(start: Any) -> None:
    """With what to do."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(RuntimeError, match=f"--otlp-grpc {port}: .* Choose another --otlp-grpc"):
            start("--otlp-grpc", str(port))
