"""Two agents that go in a circle, for the page of ``ebbtide serve``: stop them there.

One is a loop of your own around a client of Anthropic's kind; `watch` connects it to the service. The other
stands for Claude Code, and reports through the hook that ``ebbtide hooks install claude`` sets up. Their
models are scripted, so that nothing is called and nothing is paid.
"""

import argparse
import json
import shlex
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ebbtide.adapters.watched_client import watch
from ebbtide.service.client import ServiceClient
from ebbtide.service.hooks.install.hook_places import client_command

MODEL = "claude-sonnet-4-5"
RUN = "invoice-7"
SESSION = "5d1c"


class ScriptedModel:
    """Offers ``messages.create``, and asks for the same search each time."""

    def __init__(self) -> None:
        self.messages = SimpleNamespace(create=self.create)
        self.calls = 0

    def create(self, **_: Any) -> Any:
        """The next answer."""
        self.calls += 1
        search = SimpleNamespace(
            type="tool_use", id=f"t{self.calls}", name="search_invoices", input={"customer": "4711"}
        )
        words = SimpleNamespace(type="text", text="I will look for the invoices of customer 4711 again.")
        usage = SimpleNamespace(input_tokens=42_000, output_tokens=900)
        return SimpleNamespace(model=MODEL, role="assistant", content=[words, search], usage=usage)


def invoice_agent(url: str, pause_s: float) -> str:
    """A loop of your own, which only a person ends, because of `shadow`; why it ended."""
    with ServiceClient(url, project="billing", agent="invoice-agent", shadow=True) as runs:
        model = watch(ScriptedModel(), run_id=RUN, runs=runs)
        messages: list[Any] = [{"role": "user", "content": "Which invoices of customer 4711 are open?"}]
        while True:
            answer = model.messages.create(model=MODEL, max_tokens=1000, messages=messages)
            searches = [block for block in answer.content if block.type == "tool_use"]
            if not searches:
                return str(answer.content[0].text)
            for block in searches:
                result = {"type": "tool_result", "tool_use_id": block.id, "content": "no rows"}
                messages += [
                    {"role": "assistant", "content": [vars(part) for part in answer.content]},
                    {"role": "user", "content": [result]},
                ]
            time.sleep(pause_s)


def coding_agent(folder: Path, pause_s: float) -> str:
    """What Claude Code does: a session file, and a hook before each call of its model; why it ended."""
    file = folder / f"{SESSION}.jsonl"
    number = 0
    while True:
        number += 1
        call = {"tool_name": "Bash", "tool_input": {"command": "pytest -x"}, "tool_use_id": f"t{number}"}
        say(file, number, call)
        event = {
            "session_id": SESSION,
            "hook_event_name": "PostToolBatch",
            "transcript_path": str(file),
            "cwd": "/srv/shop",
            "tool_calls": [{**call, "tool_response": "1 failed"}],
        }
        process = subprocess.run(  # noqa: S603 - the command of the hook
            shlex.split(client_command("claude")),
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=False,
        )
        answer = json.loads(process.stdout or "{}")
        if answer.get("continue") is False:
            return str(answer["stopReason"])
        time.sleep(pause_s)


def say(file: Path, number: int, call: dict[str, Any]) -> None:
    """Add an answer of the model to the session file, as Claude Code does."""
    name, arguments = call["tool_name"], call["tool_input"]
    use = {"type": "tool_use", "id": call["tool_use_id"], "name": name, "input": arguments}
    usage = {"input_tokens": 38_000, "output_tokens": 600}
    message = {"id": f"m{number}", "role": "assistant", "model": MODEL, "content": [use], "usage": usage}
    line = {"type": "assistant", "uuid": f"a{number}", "sessionId": SESSION, "message": message}
    with file.open("a", encoding="utf-8") as session:
        session.write(json.dumps(line) + "\n")


def main() -> None:
    """Run both until a person stops them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8620", help="where the service is")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two turns")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        agents = {
            "the agent of your own": lambda: invoice_agent(options.url, options.pause),
            "the coding agent": lambda: coding_agent(Path(folder), options.pause),
        }
        threads = [
            threading.Thread(target=lambda name=name, run=run: print(f"{name} ended: {run()}", flush=True))
            for name, run in agents.items()
        ]
        print(f"Open {options.url} and press Stop.", flush=True)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
