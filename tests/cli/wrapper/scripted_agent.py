"""A program that behaves as Claude Code does: it writes a session, a call of a tool at a time.

    python scripted_agent.py WHAT CALLS

`loop` asks the same again and again; `work` does something new each time; `deaf` loops and ignores Ctrl-C and
SIGTERM.
"""

import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path.cwd()
SESSION = f"0000-{os.getpid()}"
NUMBERS = itertools.count(1)


def line(kind: str, message: dict[str, Any]) -> str:
    """A line of the session."""
    now = time.time()
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    place = {"uuid": f"u{next(NUMBERS)}", "sessionId": SESSION, "cwd": str(FOLDER), "timestamp": stamp}
    return json.dumps({"type": kind, **place, "message": message})


def answer(name: str, content: list[dict[str, Any]], **more: str) -> str:
    """A line of the model."""
    usage = {"input_tokens": 900, "output_tokens": 20}
    words = {"id": name, "role": "assistant", "model": "claude-sonnet-4-5", "content": content, **more}
    return line("assistant", {**words, "usage": usage})


def main(what: str, calls: int) -> None:
    """Write a session of so many calls."""
    if what == "deaf":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    folder = Path(os.environ["HOME"], ".claude", "projects", str(FOLDER).replace("/", "-"))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{SESSION}.jsonl").open("w", encoding="utf-8") as file:
        print(line("user", {"role": "user", "content": "Find the ferry reports."}), file=file, flush=True)
        for turn in range(calls):
            year = 1900 + turn if what == "work" else 2019
            call = {
                "type": "tool_use",
                "id": f"t{turn}",
                "name": "WebSearch",
                "input": {"query": f"ferry {year}"},
            }
            print(answer(f"m{turn}", [call]), file=file, flush=True)
            found = f"The report of {year}: {turn * 37} tons." if what == "work" else "no results"
            result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": found}
            print(line("user", {"role": "user", "content": [result]}), file=file, flush=True)
            time.sleep(0.01 if what == "work" else 0.1)
        done = {"type": "text", "text": "The reports are listed above."}
        print(answer("end", [done], stop_reason="end_turn"), file=file, flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
