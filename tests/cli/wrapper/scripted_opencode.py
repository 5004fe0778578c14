"""A program that makes the same call again and again, and writes as OpenCode 1.0 does: many files.

python scripted_opencode.py CALLS
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

STORAGE = Path(os.environ["HOME"], ".local/share/opencode/storage")
SESSION = "ses_0"


def write(path: str, content: dict[str, Any]) -> None:
    """Write a file as a whole, which is made before it has its content."""
    file = STORAGE / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(content)[:10])
        stream.flush()
        stream.seek(0)
        json.dump(content, stream)


def main(calls: int) -> None:
    """Write a session of so many calls."""
    now = int(time.time() * 1000)
    times = {"created": now, "updated": now}
    write(f"session/project/{SESSION}.json", {"id": SESSION, "directory": str(Path.cwd()), "time": times})
    write(
        f"message/{SESSION}/msg_0.json",
        {"id": "msg_0", "sessionID": SESSION, "role": "user", "time": {"created": now}},
    )
    write("part/msg_0/prt_0.json", {"id": "prt_0", "type": "text", "text": "Find the ferry reports."})
    for turn in range(calls):
        name = f"msg_1{turn:04}"
        now = int(time.time() * 1000)
        head = {"id": name, "sessionID": SESSION, "role": "assistant", "modelID": "tiny"}
        write(f"message/{SESSION}/{name}.json", {**head, "time": {"created": now}})
        write(f"part/{name}/prt_0.json", {"id": "prt_0", "type": "step-start"})
        state = {"input": {"query": "ferry 2019"}, "output": "no results", "time": {"start": now, "end": now}}
        call = {"id": "prt_1", "type": "tool", "tool": "search", "state": {"status": "completed", **state}}
        write(f"part/{name}/prt_1.json", call)
        tokens = {"input": 900, "output": 20, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        write(
            f"part/{name}/prt_2.json", {"id": "prt_2", "type": "step-finish", "tokens": tokens, "cost": 0.01}
        )
        write(
            f"message/{SESSION}/{name}.json",
            {**head, "time": {"created": now, "completed": now + 1}, "tokens": tokens, "cost": 0.01},
        )
        time.sleep(0.1)
    print("done", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
