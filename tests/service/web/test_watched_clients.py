"""Calls that a program sends again: what they repeat is recorded once, in this process and in a service."""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from openai import APIError, AsyncOpenAI, OpenAI

from ebbtide import Runs, watch
from ebbtide.service.client import ServiceClient

ENOUGH = 6  # times that a history is sent again: a replay of it would be a cycle
CHUNK = {"id": "chunk", "object": "chat.completion.chunk", "created": 1, "model": "m"}


class Model:
    """A model on this machine that asks for one page after the other, as the SDK of OpenAI wants it."""

    def __init__(self) -> None:
        self.turns = 0
        self.fault: str | None = None  # "error": it refuses; "cut": its stream breaks off; "slow": it waits
        self.is_stuck = False
        self.may_answer = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if model.fault == "slow":
                    model.may_answer.wait(10)
                status, text = model.answer(streams=bool(body.get("stream")))
                with suppress(OSError):  # who has gone meanwhile
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def answer(self, *, streams: bool) -> tuple[int, bytes]:
        if self.fault == "error":
            return 500, b'{"error": {"message": "busy"}}'
        if self.fault == "cut":
            delta = {"role": "assistant", "content": "It"}
            chunk = {**CHUNK, "choices": [{"index": 0, "finish_reason": None, "delta": delta}]}
            return 200, f'data: {json.dumps(chunk)}\n\ndata: {{"error": {{"message": "gone"}}}}\n\n'.encode()
        self.turns += 1
        args = {"page": 1 if self.is_stuck else self.turns}
        function = {"name": "read_page", "arguments": json.dumps(args)}
        call = {"id": f"call_{self.turns}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        if streams:
            message["tool_calls"] = [{"index": 0, **call}]
            chunk = {**CHUNK, "choices": [{"index": 0, "finish_reason": "tool_calls", "delta": message}]}
            return 200, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        whole = {**CHUNK, "object": "chat.completion", "choices": [choice]}
        return 200, json.dumps(whole).encode()


@pytest.fixture
def model():
    model = Model()
    yield model
    model.may_answer.set()
    model.server.shutdown()
    model.server.server_close()


@pytest.fixture
def agent_of(model: Model, registry):
    agents: list[Agent] = []

    def make(run_id: str | None) -> Agent:
        agents.append(Agent(model, registry, run_id))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()


@pytest.fixture(params=["in this process", "in a service"])
def registry(request, empty_service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ebbtide.service.background_runs.WAIT_S", 5.0)  # a busy machine is no silent service
    if request.param == "in this process":
        yield Runs()
        return
    with ServiceClient(empty_service.url) as client:
        yield client


class Agent:
    """A loop by hand, whose messages grow."""

    def __init__(self, model: Model, registry, run_id: str | None) -> None:
        self.model, self.registry, self.run_id = model, registry, run_id
        self.messages: list = [{"role": "user", "content": "Read the book."}]
        self.plain: list[OpenAI] = []
        self.restart()

    def restart(self) -> None:
        """As a new process would: with a client that has seen nothing yet."""
        plain = OpenAI(base_url=self.model.url, api_key="none", max_retries=0)
        self.plain.append(plain)
        self.client = watch(plain, run_id=self.run_id, runs=self.registry)

    def close(self) -> None:
        for plain in self.plain:
            plain.close()

    def ask(self, **options):
        return self.client.chat.completions.create(model="m", messages=self.messages, **options)

    def work(self, turns: int) -> None:
        for _ in range(turns):
            self.take(self.ask())

    def take(self, answer) -> None:
        message = answer.choices[0].message.model_dump(exclude_none=True)
        self.messages.append(message)
        for call in message.get("tool_calls") or ():
            page = json.loads(call["function"]["arguments"])["page"]
            self.messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": f"page {page}: {page * 7} ships"}
            )


def fails(agent: Agent) -> int:
    """Every call fails, and is sent again."""
    agent.model.fault = "error"
    for _ in range(ENOUGH):
        with pytest.raises(APIError):
            agent.ask()
    return ENOUGH


def is_cut_off(agent: Agent) -> int:
    """Every stream breaks off, and the call is sent again."""
    agent.model.fault = "cut"
    for _ in range(ENOUGH):
        with pytest.raises(APIError):
            list(agent.ask(stream=True))
    return ENOUGH


def asks_for_another_answer(agent: Agent) -> int:
    """The answers do not please, and the same call is sent again."""
    for _ in range(ENOUGH):
        agent.ask()
    return ENOUGH


def moves_the_mark_of_its_cache(agent: Agent) -> int:
    """The latest message says that it is to be cached, as programs do that call Anthropic."""
    for _ in range(ENOUGH):
        for message in agent.messages:
            if isinstance(message.get("content"), list):
                message["content"] = message["content"][0]["text"]
        latest = agent.messages[-1]
        mark = {"type": "ephemeral"}
        latest["content"] = [{"type": "text", "text": latest["content"], "cache_control": mark}]
        agent.work(1)
    return 2 * ENOUGH


def begins_anew(agent: Agent) -> int:
    """The process is another with each call, and has the same history."""
    for _ in range(ENOUGH):
        agent.restart()
        agent.work(1)
    return 2 * ENOUGH


def sums_up(agent: Agent) -> int:
    """A call is too long, so that its beginning is summed up, again and again."""
    for turn in range(ENOUGH):
        agent.model.fault = "error"
        with pytest.raises(APIError):
            agent.ask()
        agent.model.fault = None
        agent.messages = [{"role": "user", "content": f"{turn} pages were read."}, *agent.messages[-4:]]
        agent.work(1)
    return 3 * ENOUGH


ANYWHERE = (fails, is_cut_off, asks_for_another_answer, moves_the_mark_of_its_cache)
BY_NAME = (begins_anew, sums_up)
CASES = [(case, None) for case in ANYWHERE] + [(case, "invoice 7") for case in (*ANYWHERE, *BY_NAME)]


@pytest.mark.parametrize(("case", "run_id"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_what_a_call_repeats_is_recorded_once(
    model: Model, registry, agent_of, case: Callable[[Agent], int], run_id: str | None
) -> None:
    """A healthy run stays one, each message of it counts once, and nobody takes it for a loop."""
    agent = agent_of(run_id)
    agent.work(4)
    events = 1 + 4 + 3  # the person, answers of the model, and of the tool those that it was sent
    events += case(agent)
    model.fault = None
    agent.work(1)
    (standing,) = registry.standing()
    assert standing.events == events + 2
    assert standing.action.value == "allow"
    assert agent.client.ebbtide.faults == 0


@pytest.mark.parametrize("run_id", [None, "invoice 7"])
def test_a_call_that_is_cancelled_and_sent_again(model: Model, registry, run_id: str | None) -> None:
    """The program waits no longer, each time; what a person said counts once."""

    async def hurry() -> None:
        plain = AsyncOpenAI(base_url=model.url, api_key="none", max_retries=0)
        client = watch(plain, run_id=run_id, runs=registry)
        messages: list = [{"role": "user", "content": "Read the book."}]
        for _ in range(ENOUGH):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.chat.completions.create(model="m", messages=messages), 0.1)
        model.may_answer.set()
        await client.chat.completions.create(model="m", messages=messages)
        await client.close()
        await plain.close()

    model.fault = "slow"
    asyncio.run(hurry())
    (standing,) = registry.standing()
    assert standing.events == 2


@pytest.mark.parametrize("run_id", [None, "invoice 7"])
def test_a_call_that_is_refused_and_sent_again(model: Model, registry, agent_of, run_id: str | None) -> None:
    """It is refused each time, until somebody lets the run go on; then it goes on where it was."""
    agent = agent_of(run_id)
    model.is_stuck = True
    agent.work(5)
    refusal = agent.messages.pop()
    assert refusal["content"].startswith("[ebbtide] ")
    (before,) = registry.standing()
    for _ in range(ENOUGH):
        assert agent.ask().choices[0].message.content.startswith("[ebbtide] ")
    (after,) = registry.standing()
    assert after.events == before.events
    registry.acknowledge(after.run_id)
    model.is_stuck = False
    agent.messages += [refusal, {"role": "user", "content": "Go on."}]
    agent.work(3)
    (standing,) = registry.standing()
    assert standing.events == before.events + 1 + 3 + 2
    assert standing.action.value == "allow"


def test_a_result_that_two_processes_send_is_one_call(model: Model, registry, agent_of) -> None:
    """A process ends while the model works; the next sends the same, and the loop is as long as it was."""
    agent = agent_of("invoice 7")
    model.is_stuck = True
    agent.work(2)
    for _ in range(ENOUGH):
        model.fault = "error"
        with pytest.raises(APIError):
            agent.ask()
        agent.restart()
    (standing,) = registry.standing()
    assert standing.action.value == "allow"
    model.fault = None
    agent.work(2)
    assert agent.ask().choices[0].message.content.startswith("[ebbtide] ")
    (standing,) = registry.standing()
    assert standing.reason.startswith("read_page 4 times in a row")
