"""A worker that may be terminated and started again: its jobs go on from where they were.

Run it with a folder, end it with SIGTERM, and run it again.
"""

import json
import signal
import sys
import tempfile
import time
from pathlib import Path

from local_model import TOOLS, LocalModel, calls_in, exchange, question, text_in, use

from ebbtide import Effect, ModelCall, Runs, SQLiteRunStore, Supervisor, ToolCall, ToolPolicies, ToolPolicy

POLICIES = ToolPolicies({"search": ToolPolicy(effect=Effect.READ)})


def job(runs: Runs, model: LocalModel, name: str, folder: Path) -> str:
    """Work on one job; its conversation is ours to keep, in a file of its own."""
    kept, tools = folder / f"{name}.json", TOOLS
    messages = json.loads(kept.read_text()) if kept.exists() else question("Find invoice 7.")
    print(f"{name}: begins with {len(messages)} messages", flush=True)
    while True:
        turn = runs.before_model(name)
        if turn.refusal:
            return f"ended: {turn.refusal}"
        if turn.without_tools:
            tools = []
        if turn.note:
            messages.append({"role": "user", "content": turn.note})
        answer = model.ask(messages, tools, name)
        runs.record(name, ModelCall.of(answer))
        if not calls_in(answer):
            return f"done: {text_in(answer)}"
        for call in calls_in(answer):
            result = use(call)
            runs.record(name, ToolCall.of(call, result=result))
            messages += exchange(call, result)
        kept.write_text(json.dumps(messages))
        print(f"{name}: {len(messages)} messages", flush=True)
        time.sleep(0.5)


def main() -> None:
    """Do the jobs that were not done before."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # leave the `with` block below, which saves
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "ebbtide-worker"
    folder.mkdir(exist_ok=True)
    store = folder / "runs.db"
    with (
        LocalModel() as model,
        Runs(lambda _: Supervisor(tools=POLICIES), store=SQLiteRunStore(store)) as runs,
    ):
        for name in ("busy", "stuck"):
            result = folder / f"{name}.txt"
            if not result.exists():
                result.write_text(job(runs, model, name, folder))
                runs.end(name)
            print(f"{name}: {result.read_text()}", flush=True)


if __name__ == "__main__":
    main()
