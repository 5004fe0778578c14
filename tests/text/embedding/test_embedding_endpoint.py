"""An endpoint that speaks OpenAI's embeddings protocol, served here over HTTP by the default model."""

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from ebbtide.errors import ConfigError, SemanticError
from ebbtide.text.embedding.embedder import EndpointEmbedder, open_embedder
from ebbtide.text.embedding.minilm import open_minilm
from ebbtide.text.embedding.onnx_embedder import OnnxEmbedder
from ebbtide.text.embedding.vectors import API_KEY_ENV

CLAIMS = ["use pgbouncer", "cache hot queries", "ship on friday", "the disk is full", "rotate the keys"]


class Server(ThreadingHTTPServer):
    """Answers with vectors of the model, or with what the test put into `faults`, one a request."""

    daemon_threads = True

    def __init__(self, model: OnnxEmbedder) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model
        self.faults: deque[Callable[[Handler], None]] = deque()
        self.requests: list[tuple[float, str, dict[str, str], dict[str, Any]]] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def vectors(self, texts: list[str]) -> list[dict[str, Any]]:
        rows = enumerate(self.model.embed(texts).tolist())
        return [{"object": "embedding", "index": index, "embedding": row} for index, row in rows]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((time.monotonic(), self.path, dict(self.headers), self.asked))
        if self.server.faults:
            self.server.faults.popleft()(self)
        else:
            self.data(self.server.vectors(self.asked["input"]))

    def data(self, data: Any) -> None:
        self.reply(200, json.dumps({"object": "list", "data": data, "model": self.asked["model"]}))

    def reply(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    """The default model, without a cache around it."""
    return open_minilm()


@pytest.fixture
def server(minilm: OnnxEmbedder) -> Iterator[Server]:
    """A running server."""
    with Server(minilm) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()


def embedder(server: Server, **options: Any) -> EndpointEmbedder:
    return EndpointEmbedder(server.url, "all-minilm", **{"first_wait_s": 0.01, **options})


def status(code: int, body: str = "{}", **headers: str) -> Callable[[Handler], None]:
    return lambda handler: handler.reply(code, body, headers)


def changed(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Handler], None]:
    """The right answer, changed."""
    return lambda handler: handler.data(change(handler.server.vectors(handler.asked["input"])))


def silent(handler: Handler) -> None:
    handler.server.closing.wait(10)


def cut_off(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')


@pytest.mark.clause("N09")
def test_rows_are_those_of_the_model(server: Server, minilm: OnnxEmbedder) -> None:
    """An endpoint gives the rows that its model gives, in the order of the texts, a request a batch."""
    rows = embedder(server, batch_size=2).embed(CLAIMS)
    assert np.allclose(rows, minilm.embed(CLAIMS), atol=1e-6)
    assert [asked for _, _, _, asked in server.requests] == [
        {"model": "all-minilm", "input": CLAIMS[start : start + 2]} for start in (0, 2, 4)
    ]
    assert {path for _, path, _, _ in server.requests} == {"/v1/embeddings"}


def test_spec_opens_an_endpoint(server: Server, minilm: OnnxEmbedder) -> None:
    """A URL and a model make an embedder with a cache; the endpoint is asked at once."""
    opened = open_embedder(f"openai:{server.url}/#all-minilm:latest")
    assert (opened.model, opened.dimensions) == (f"openai:{server.url}#all-minilm:latest", 384)
    assert len(server.requests) == 1
    assert np.allclose(opened.embed(["Use PgBouncer."] * 3), minilm.embed(["use pgbouncer"] * 3), atol=1e-6)
    assert server.requests[1][3]["input"] == ["use pgbouncer"]


def test_no_texts_make_no_rows(server: Server) -> None:
    """Nothing in, nothing out, of the right width."""
    assert embedder(server).embed([]).shape == (0, 384)


def test_order_and_length_of_the_answer_do_not_matter(server: Server, minilm: OnnxEmbedder) -> None:
    """Vectors are put in their places by index, and scaled to length 1."""

    def shuffled(vectors: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**item, "embedding": [3 * x for x in item["embedding"]]} for item in vectors[::-1]]

    server.faults.append(changed(shuffled))
    assert np.allclose(embedder(server).embed(CLAIMS), minilm.embed(CLAIMS), atol=1e-6)


@pytest.mark.parametrize(("key", "expected"), [(None, None), ("sk-test\n", "Bearer sk-test")])
def test_key_comes_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch, key: str | None, expected: str | None
) -> None:
    """The key is read from the named variable, and not sent where that is not set."""
    monkeypatch.delenv("MY_KEY", raising=False)
    if key:
        monkeypatch.setenv("MY_KEY", key)
    embedder(server, api_key_env="MY_KEY").embed(["a"])
    assert server.requests[0][2].get("Authorization") == expected


@pytest.mark.parametrize("key", ["clé", "two\nlines"])
def test_key_that_cannot_be_sent_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """The message names the variable and does not show the key."""
    monkeypatch.setenv(API_KEY_ENV, key)
    with pytest.raises(ConfigError, match=f"variable {API_KEY_ENV} holds no key") as error:
        embedder(server).embed(["a"])
    assert key not in str(error.value)


@pytest.mark.parametrize(
    "faults",
    [
        [status(500), status(503)],
        [status(429)],
        [status(408)],
        [status(429, "{}", **{"Retry-After": "soon"})],
        [status(503, "{}", **{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})],
        [cut_off],
        [lambda handler: handler.connection.close()],
    ],
)
def test_passing_failure_is_tried_again(
    server: Server, minilm: OnnxEmbedder, faults: list[Callable[[Handler], None]]
) -> None:
    """A failure that may be over by the next attempt does not show."""
    server.faults.extend(faults)
    assert np.allclose(embedder(server).embed(CLAIMS), minilm.embed(CLAIMS), atol=1e-6)
    assert len(server.requests) == len(faults) + 1


def test_silence_is_tried_again(server: Server) -> None:
    """A request without an answer in time is sent again, and the last silence is told."""
    began = time.monotonic()
    server.faults.append(silent)
    assert embedder(server, timeout_s=0.3).embed(["a"]).shape == (1, 384)
    server.faults.extend([silent, silent])
    with pytest.raises(SemanticError, match=r"#all-minilm: no answer within 0\.3 s"):
        embedder(server, timeout_s=0.3, attempts=2).embed(["a"])
    assert time.monotonic() - began < 5


def test_waits_double(server: Server) -> None:
    """Each wait is twice the one before."""
    server.faults.extend([status(500)] * 3)
    embedder(server, first_wait_s=0.1).embed(["a"])
    at = [moment for moment, _, _, _ in server.requests]
    for number, expected in enumerate((0.1, 0.2, 0.4)):
        assert expected <= at[number + 1] - at[number] < expected + 0.5


def test_server_says_how_long_to_wait(server: Server) -> None:
    """Retry-After goes before the waits of our own."""
    server.faults.append(status(429, "{}", **{"Retry-After": "1"}))
    embedder(server).embed(["a"])
    (first, *_), (second, *_) = server.requests
    assert 1 <= second - first < 3


def test_nobody_waits_an_hour(server: Server) -> None:
    """A server that asks for more than a minute is not waited for, and the message says what it asked."""
    server.faults.append(status(429, '{"error": "quota used up"}', **{"Retry-After": "3600"}))
    with pytest.raises(SemanticError, match=r"status 429: .*quota used up.*it asks to wait 3600 s"):
        embedder(server).embed(["a"])
    assert len(server.requests) == 1


def test_failure_that_stays_is_told(server: Server) -> None:
    """After the last attempt the status and the server's words are shown."""
    server.faults.extend([status(500, "out of memory")] * 4)
    with pytest.raises(SemanticError, match="status 500: 'out of memory'"):
        embedder(server).embed(["a"])
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("code", "body", "told"),
    [
        (400, "input too long", "status 400: 'input too long'"),
        (401, "no key", f"the key is taken from the environment variable {API_KEY_ENV}"),
        (404, '{"error": "model not found"}', "model not found"),
        (302, "", "status 302"),
    ],
)
def test_refusal_is_not_tried_again(server: Server, code: int, body: str, told: str) -> None:
    """What will not get better by asking again is told at once."""
    server.faults.append(status(code, body, Location=f"{server.url}/embeddings"))
    with pytest.raises(SemanticError, match=told):
        embedder(server).embed(["a"])
    assert len(server.requests) == 1


def one_longer(vectors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*vectors[:-1], {**vectors[-1], "embedding": [*vectors[-1]["embedding"], 0.5]}]


def every(vector: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda vectors: [{**item, "embedding": vector} for item in vectors]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (status(200, "<html>Welcome</html>"), "holds no list of 5 vectors: '<html>Welcome</html>'"),
        (status(200, "[]"), "holds no list of 5 vectors"),
        (status(200, '{"data": 5}'), "holds no list of 5 vectors"),
        (status(200, ""), "holds no list of 5 vectors"),
        (changed(lambda vectors: vectors[:-1]), "holds no list of 5 vectors"),
        (changed(lambda vectors: [{**item, "index": 0} for item in vectors]), "holds no list of 5 vectors"),
        (changed(lambda vectors: [*vectors, {**vectors[0], "index": 5}]), "expected 5 vectors of one length"),
        (changed(one_longer), "holds no list of 5 vectors"),
        (changed(every([])), "expected 5 vectors of one length"),
        (changed(every("AAAAAAA=")), "expected 5 vectors of one length"),
        (changed(every(["0.6", "0.8"])), "expected 5 vectors of one length"),
        (changed(every([None, 1])), "expected 5 vectors of one length"),
        (changed(every(0.5)), "expected 5 vectors of one length"),
        (changed(every([0, 0])), "vector 1 of 5 is zero or not a number"),
        (changed(every([float("nan"), 1])), "vector 1 of 5 is zero or not a number"),
    ],
)
def test_answer_that_makes_no_sense_is_refused(
    server: Server, fault: Callable[[Handler], None], told: str
) -> None:
    """An answer is taken as a whole or not at all."""
    server.faults.append(fault)
    with pytest.raises(SemanticError, match=told):
        embedder(server).embed(CLAIMS)


def test_model_that_changes_is_noticed(server: Server) -> None:
    """Vectors of another length than before are refused."""
    asked = embedder(server)
    assert asked.dimensions == 384
    server.faults.append(changed(every([0.6, 0.8])))
    with pytest.raises(SemanticError, match="vectors of 2 numbers after 384: the endpoint changed its model"):
        asked.embed(CLAIMS)


def test_endpoint_that_is_down_is_told() -> None:
    """Where nobody listens, the message says which endpoint and asks the obvious."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(SemanticError, match=rf"openai:{url}#m: cannot be reached \(.*\): is it running\?"):
        EndpointEmbedder(url, "m", attempts=2, first_wait_s=0.01).embed(["a"])


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434/v1",
        "ftp://localhost/v1",
        "http://",
        "http://[::1",
        "http://me:pw@localhost/v1",
        "http://localhost/v1?key=1",
    ],
)
def test_url_that_is_none_is_refused(url: str) -> None:
    """An endpoint is http or https, and holds no secrets."""
    with pytest.raises(ConfigError, match="expected a URL such as http://localhost:11434/v1"):
        EndpointEmbedder(url, "m")


@pytest.mark.parametrize("name", ["batch_size", "attempts"])
def test_counts_start_at_one(name: str) -> None:
    """Nothing can be sent in batches of none, or in no attempt."""
    with pytest.raises(ConfigError, match=f"{name} = 0: expected a whole number, 1 or more"):
        EndpointEmbedder("http://localhost/v1", "m", **{name: 0})
