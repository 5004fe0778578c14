"""A server on this machine that answers as the script of a run says, in the form of three providers.

The name of the model tells the run: several may be under way at once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from conformance.harness import Answer, Trial
from conformance.scripts import INPUT_TOKENS, OPENAI_USAGE, OUTPUT_TOKENS, TOTAL_TOKENS


class ModelServer:
    """The server, which ends with the process.

    Attributes:
        runs: By the name of their model.
    """

    def __init__(self) -> None:
        self.runs: dict[str, Trial] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length))
                text, kind = server.answer(self.path, body)
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, body: dict[str, Any]) -> tuple[bytes, str]:
        """The answer to a call, and its type of content."""
        trial = self.runs[body["model"]]
        choice = body.get("tool_choice")
        is_continued = (body.get("thread") or {}).get("type") == "continue"  # which keeps the tools
        has_tools = (bool(body.get("tools")) or is_continued) and choice not in ("none", {"type": "none"})
        conversation = {key: body.get(key) for key in ("system", "instructions", "messages", "input")}
        reply = trial.ask(json.dumps(conversation, ensure_ascii=False), has_tools=has_tools)
        number = len(trial.inputs)
        if path.endswith("/chat/completions"):
            items = _chat(reply, number, body)
        elif path.endswith("/responses"):
            items = _response(reply, number, body)
        else:
            items = _message(reply, number, body)
        if not body.get("stream"):
            return json.dumps(items[0]).encode(), "application/json"
        return "".join(_events(items[1:])).encode(), "text/event-stream"


def _events(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        name = f"event: {item['type']}\n" if "type" in item else ""
        yield f"{name}data: {json.dumps(item)}\n\n"
    if items and "type" not in items[0]:
        yield "data: [DONE]\n\n"


def _chat(reply: Answer, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    """A chat completion, and the chunks of it."""
    calls = reply.openai_calls
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if calls:
        message["tool_calls"] = calls
    base = {"id": f"chatcmpl-{body['model']}-{number}", "created": 1, "model": body["model"]}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop"}
    delta = dict(message)
    if calls:
        delta["tool_calls"] = [{"index": place, **call} for place, call in enumerate(calls)]
    chunk = {**base, "object": "chat.completion.chunk"}
    return [
        {
            **base,
            "object": "chat.completion",
            "choices": [{**choice, "message": message}],
            "usage": OPENAI_USAGE,
        },
        {**chunk, "choices": [{**choice, "delta": delta}]},
        *([{**chunk, "choices": [], "usage": OPENAI_USAGE}] if body.get("stream_options") else []),
    ]


def _response(reply: Answer, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    """A response of OpenAI, and the events of its stream."""
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.args),
            "status": "completed",
        }
        for call in reply.calls
    ]
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output.append({**message, "content": [part]})
    response = {
        "id": f"resp_{body['model']}_{number}",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": INPUT_TOKENS,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": OUTPUT_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": TOTAL_TOKENS,
        },
    }
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    ]
    for place, item in enumerate(output):
        events += [
            {"type": f"response.output_item.{moment}", "output_index": place, "item": item}
            for moment in ("added", "done")
        ]
    events.append({"type": "response.completed", "response": response})
    return [response, *({**event, "sequence_number": number} for number, event in enumerate(events))]


def _message(reply: Answer, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    """A message of Anthropic, and the events of its stream."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args} for call in reply.calls
    ]
    message = {
        "id": f"msg_{body['model']}_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, block in enumerate(content):
        is_text = block["type"] == "text"
        start = {**block, "text": ""} if is_text else {**block, "input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": OUTPUT_TOKENS}},
        {"type": "message_stop"},
    ]
    return [message, *events]
