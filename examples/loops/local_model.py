"""A small chat-completions server on this machine, and two tools: what the loops in this folder talk to.

It answers in the shape of OpenAI's, also streamed, and plays an agent by the name of the model:

- ``stuck`` asks for the same call with the same arguments for ever, while tools are offered.
- ``listening`` does so until it reads a note that starts with ``[ebbtide]``.
- ``patient`` does so until the call has another answer than before.
- ``busy`` reads one file after the other, and then answers.

Without tools each of them answers in words. Nothing but the standard library is needed.
"""

import asyncio
import json
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]

FILES = {
    "a.txt": "Ferries left on Monday.",
    "b.txt": "Trains left on Tuesday.",
    "c.txt": "Buses left on Friday.",
}
PAGES: dict[str, str] = {}  # what a search finds
TOOLS: list[Json] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("search", "read_file")
]
PRICES = {"*": {"input": 2.0, "cache_read": 0.5, "output": 8.0}}  # dollars for a million tokens


def search(query: str) -> str:
    """Look for a page; at the start there is none."""
    return PAGES.get(query, f"No page has {query!r}.")


def read_file(path: str) -> str:
    """Read a file."""
    return FILES.get(path, "No such file.")


def question(text: str) -> list[Json]:
    """Start a conversation."""
    return [{"role": "user", "content": text}]


def calls_in(answer: Json) -> list[Json]:
    """What the model asks for; nothing where it is done."""
    calls: list[Json] = answer["choices"][0]["message"].get("tool_calls") or []
    return calls


def text_in(answer: Json) -> str:
    """What the model says."""
    return answer["choices"][0]["message"]["content"] or ""


def use(call: Json) -> str:
    """Call the tool that the model asks for."""
    function = call["function"]
    arguments = json.loads(function["arguments"])
    return search(**arguments) if function["name"] == "search" else read_file(**arguments)


def exchange(call: Json, result: str) -> list[Json]:
    """A call and its answer, as two messages of the conversation."""
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": result},
    ]


def carry_out(answer: Json, messages: list[Json]) -> str:
    """Make the calls that the model asks for, as far as it asks for any; else give what it says."""
    for call in calls_in(answer):
        messages += exchange(call, use(call))
    return "" if calls_in(answer) else text_in(answer)


def tokens_of(data: object) -> int:
    """Four characters are a token."""
    return len(json.dumps(data)) // 4


def call_of(number: int, name: str, **arguments: str) -> Json:
    """A call that a model asks for."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def message_of(request: Json) -> Json:
    """What the agent says next, given the conversation."""
    messages = request["messages"]
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    told = any(str(message["content"]).startswith("[ebbtide]") for message in messages)
    done = {
        "busy": len(answers) >= len(FILES),
        "listening": told,
        "patient": len(set(answers)) > 1,
    }
    if not request.get("tools") or done.get(request["model"], False):
        text = f"After {len(answers)} calls I know: {answers[-1] if answers else 'nothing yet'}"
        return {"role": "assistant", "content": text}
    call = call_of(len(answers), "search", query="invoice 7")
    if request["model"] == "busy":
        call = call_of(len(answers), "read_file", path=list(FILES)[len(answers)])
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def usage_of(messages: Sequence[Json], said: int) -> Json:
    """What a call took: all messages but the latest come from the cache."""
    cached, read = tokens_of(messages[:-1]), tokens_of(messages)
    return {
        "prompt_tokens": read,
        "completion_tokens": said,
        "total_tokens": read + said,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def price_of(usage: Json) -> float:
    """What the provider bills, in dollars."""
    price, cached = PRICES["*"], usage["prompt_tokens_details"]["cached_tokens"]
    fresh = usage["prompt_tokens"] - cached
    said = usage["completion_tokens"]
    return float(fresh * price["input"] + cached * price["cache_read"] + said * price["output"]) / 1e6


class LocalModel:
    """A model behind an address of this machine, and the books of its provider.

    Args:
        fails_every: Each so manieth request is answered with HTTP 500, and its input is billed; 0 for none.
        pause_s: Seconds between two pieces of a streamed answer.

    Attributes:
        requests: How often it was asked.
        billed_usd: What it has billed, in dollars.
    """

    def __init__(self, *, fails_every: int = 0, pause_s: float = 0.0) -> None:
        self.fails_every = fails_every
        self.pause_s = pause_s
        self.requests = 0
        self.billed_usd = 0.0
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            """Hands every request to the model."""

            def do_POST(self) -> None:
                """Answer one request."""
                model.answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/chat/completions"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def ask(self, messages: Sequence[Json], tools: Sequence[Json] = (), model: str = "stuck") -> Json:
        """Ask, and wait for the whole answer; a status of 500 is a `urllib.error.HTTPError`."""
        with self._open(messages, tools, model, stream=False) as response:
            answer: Json = json.load(response)
        return answer

    async def ask_async(
        self, messages: Sequence[Json], tools: Sequence[Json] = (), model: str = "stuck"
    ) -> Json:
        """Ask in a thread, so that others can go on."""
        return await asyncio.to_thread(self.ask, list(messages), tools, model)

    def stream(
        self, messages: Sequence[Json], tools: Sequence[Json] = (), model: str = "stuck"
    ) -> Iterator[Json]:
        """Ask, and give the answer piece by piece; the last piece has the usage."""
        with self._open(messages, tools, model, stream=True) as response:
            for line in response:
                data = line.removeprefix(b"data: ").strip()
                if data and data != b"[DONE]":
                    yield json.loads(data)

    def _open(self, messages: Sequence[Json], tools: Sequence[Json], model: str, *, stream: bool) -> Any:
        request = {"model": model, "messages": list(messages), "tools": list(tools), "stream": stream}
        headers = {"Content-Type": "application/json"}
        posted = urllib.request.Request(self.url, json.dumps(request).encode(), headers)  # noqa: S310 - http
        return urllib.request.urlopen(posted, timeout=30)  # noqa: S310 - our own server

    def _bill(self, usage: Json) -> Json:
        with self._lock:
            self.billed_usd += price_of(usage)
        return usage

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._lock:
            self.requests += 1
            broken = self.fails_every and self.requests % self.fails_every == 0
        if broken:
            self._bill(usage_of(request["messages"], 0))
            handler.send_error(500, "The model is overloaded.")
            return
        message = message_of(request)
        if request["stream"]:
            self._stream(handler, request, message)
            return
        usage = self._bill(usage_of(request["messages"], tokens_of(message)))
        answer = {"model": request["model"], "choices": [{"index": 0, "message": message}], "usage": usage}
        self._send(handler, "application/json", json.dumps(answer).encode())

    def _stream(self, handler: BaseHTTPRequestHandler, request: Json, message: Json) -> None:
        deltas: list[Json] = [{"content": f"{word} "} for word in (message["content"] or "").split()]
        deltas += [
            {"tool_calls": [{"index": index, **call}]}
            for index, call in enumerate(message.get("tool_calls", ()))
        ]
        said = 0
        self._send(handler, "text/event-stream", b"")
        try:
            for delta in deltas:
                chunk = {"model": request["model"], "choices": [{"index": 0, "delta": delta}], "usage": None}
                handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                said += 1
                time.sleep(self.pause_s)
            last = {"model": request["model"], "choices": [], "usage": usage_of(request["messages"], said)}
            handler.wfile.write(f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
        except ConnectionError:
            pass  # The reader has left: what was said until then is billed.
        self._bill(usage_of(request["messages"], said))

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, content_type: str, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", content_type)
        handler.end_headers()
        handler.wfile.write(body)
