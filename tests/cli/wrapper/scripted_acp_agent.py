"""An agent that speaks the Agent Client Protocol in plain lines, and does what the words of a prompt say.

    python scripted_acp_agent.py

`loop N` makes the same call N times, `work N` makes N different ones, `ask N` asks for permission before each
of N equal calls, `pack N` writes N equal calls as one batch, `hold N` makes N equal calls while a request for
permission is open, `late N` asks for permission when its N equal calls were cancelled, `cost X` states X
dollars for the session so far, `die` exits with 3, `say WORDS` says them. Several are separated by
semicolons. What it read and what it wrote are in `agent.in` and `agent.out`.
"""

import itertools
import json
import os
import queue
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

NUMBERS = itertools.count(1)
MESSAGES: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
CANCELLED: set[str] = set()  # sessions
PAUSE_S = 0.01


@cache
def output() -> int:
    """The file of what it wrote; none is made where nothing is written."""
    return os.open("agent.out", os.O_WRONLY | os.O_CREAT)


def read() -> None:
    """Takes what comes, also in the middle of a turn."""
    with Path("agent.in").open("wb", buffering=0) as file:
        for line in sys.stdin.buffer:
            file.write(line)
            messages = json.loads(line)
            for message in messages if isinstance(messages, list) else [messages]:
                if message.get("method") == "session/cancel":
                    CANCELLED.add(message["params"]["sessionId"])
                else:
                    MESSAGES.put(message)
    MESSAGES.put({})


def write(message: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Writes a line, with spaces that an encoder would not make."""
    parts = message if isinstance(message, list) else [message]
    whole = [{"jsonrpc": "2.0", **part} for part in parts]
    data = json.dumps(whole if isinstance(message, list) else whole[0], separators=(" ,  ", " : "))
    send(data.encode() + b"\n")


def send(data: bytes) -> None:
    """Writes bytes."""
    os.write(output(), data)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def tell(session: str, update: str, **values: Any) -> None:
    """Writes an update of a session."""
    write(update_of(session, update, **values))


def update_of(session: str, update: str, **values: Any) -> dict[str, Any]:
    """Returns an update of a session."""
    params = {"sessionId": session, "update": {"sessionUpdate": update, **values}}
    return {"method": "session/update", "params": params}


def pack(session: str, count: int) -> None:
    """Writes equal calls as one batch."""
    updates = []
    for _ in range(count):
        name = f"call-{next(NUMBERS)}"
        known = {"toolCallId": name, "title": "Find 2019", "kind": "search", "rawInput": {"query": "2019"}}
        updates.append(update_of(session, "tool_call", **known))
        updates.append(
            update_of(
                session, "tool_call_update", toolCallId=name, status="completed", rawOutput="no results"
            )
        )
    write(updates)


def request_permission(session: str) -> str:
    """Asks for permission; returns the id of the request."""
    name = f"call-{next(NUMBERS)}"
    known = {"toolCallId": name, "title": "Delete all", "kind": "delete"}
    params = {"sessionId": session, "toolCall": known}
    write({"id": name, "method": "session/request_permission", "params": params})
    return name


def say_answer(session: str, request: str) -> None:
    """Waits for the answer to a request, and says it."""
    message = MESSAGES.get()
    assert message["id"] == request, message
    tell(session, "agent_message_chunk", content={"type": "text", "text": json.dumps(message["result"])})


def call(session: str, query: str, answer: str, *, asks: bool = False) -> bool:
    """Makes a call of a tool; True if it was cancelled."""
    name = f"call-{next(NUMBERS)}"
    known = {"toolCallId": name, "title": f"Find {query}", "kind": "search", "rawInput": {"query": query}}
    if asks:
        write(
            {
                "id": name,
                "method": "session/request_permission",
                "params": {"sessionId": session, "toolCall": known},
            }
        )
        MESSAGES.get()
    else:
        tell(session, "tool_call", **known, status="pending")
    tell(session, "tool_call_update", toolCallId=name, status="completed", rawOutput=answer)
    time.sleep(PAUSE_S)
    return session in CANCELLED


def turn(session: str, words: str) -> str:
    """Does what a prompt says; returns why it ended."""
    CANCELLED.discard(session)
    for order in words.split(";"):
        verb, _, rest = order.strip().partition(" ")
        if verb == "pack":
            pack(session, int(rest))
        elif verb in ("loop", "work", "ask", "hold", "late"):
            held = request_permission(session) if verb == "hold" else ""
            for _ in range(int(rest)):
                query, answer = ("2019", "no results")
                if verb == "work":
                    number = next(NUMBERS)
                    query, answer = f"year {number}", f"The report of {number}: {number * 37} tons."
                if call(session, query, answer, asks=verb == "ask"):
                    held = request_permission(session) if verb == "late" else held
                    if held:
                        say_answer(session, held)
                    return "cancelled"
        elif verb == "cost":
            tell(session, "usage_update", used=1, size=2, cost={"amount": float(rest), "currency": "USD"})
        elif verb == "die":
            os._exit(3)
        else:
            for word in rest.split(" "):
                tell(session, "agent_message_chunk", content={"type": "text", "text": f"{word} "})
    return "end_turn"


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Returns the result of a request."""
    params = message.get("params", {})
    match message["method"]:
        case "session/new":
            return {"sessionId": f"session-{next(NUMBERS)}"}
        case "session/load":
            turn(params["sessionId"], "loop 6; cost 5.00; say That was before.")
            return {}
        case "session/prompt":
            return {"stopReason": turn(params["sessionId"], params["prompt"][0]["text"])}
    return {"protocolVersion": 1}


def main() -> None:
    """Answers until the editor closes its end."""
    threading.Thread(target=read, daemon=True).start()
    while message := MESSAGES.get():
        if "id" in message and "method" in message:
            write({"id": message["id"], "result": answer(message)})


if __name__ == "__main__":
    main()
