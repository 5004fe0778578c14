"""What one hook event of a coding agent costs: the client that the agent runs, and the service that answers.

    python -m benchmarks.speed.hooks [--runs N]

`client` is one process of the client, with a service that answers, by the processor time of the process;
`python -c pass` and the status line in turn with it, the medians. `handler` is one event in the service, over
a connection that stays open: the time until the answer is there, the median and the 99th of 100. The events
are batches of one call each, of one session, which asks for another page each time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.measure import setup, write_result
from ebbtide.service.hooks import hook_client
from ebbtide.service.hooks.state_folder import Address, read_address

BARE = "python -c pass"
_EVENTS = 1000


def event(number: int) -> bytes:
    """A batch of one call, of another page each time."""
    call = {
        "tool_name": "Read",
        "tool_input": {"file_path": f"page-{number}.txt"},
        "tool_use_id": f"t{number}",
    }
    page = "\n".join(f"line {line} of page {number}" for line in range(100))
    base = {"session_id": "s", "hook_event_name": "PostToolBatch", "transcript_path": "absent.jsonl"}
    return json.dumps({**base, "tool_calls": [{**call, "tool_response": page}]}).encode()


def processor_ms(line: list[str], body: bytes) -> float:
    """Processor time of one process, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run(line, input=body, capture_output=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert answer.strip() in (b"", b"{}") or answer.startswith(b"ebbtide $")
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def client_ms(runs: int) -> dict[str, float]:
    """The median of each process, in turn."""
    client = [sys.executable, "-I", "-S", hook_client.__file__]
    status = json.dumps({"session_id": "s", "cost": {"total_cost_usd": 0.5}}).encode()
    times: dict[str, list[float]] = {BARE: [], "client": [], "status line": []}
    for number in range(runs):
        times[BARE].append(processor_ms([sys.executable, "-c", "pass"], b""))
        times["client"].append(processor_ms([*client, "claude"], event(_EVENTS + number)))
        times["status line"].append(processor_ms([*client, "statusline"], status))
    return {name: round(median(values), 1) for name, values in times.items()}


def handler_ms(address: Address) -> dict[str, float]:
    """Milliseconds until an answer is there, over a connection that stays open."""
    connection = http.client.HTTPConnection("127.0.0.1", address.port)
    headers = {"X-Ebbtide-Token": address.token}
    times = []
    for number in range(_EVENTS):
        body = event(number)
        start = time.perf_counter()
        connection.request("POST", "/hooks/claude", body, headers)
        answer = connection.getresponse().read()
        times.append(1e3 * (time.perf_counter() - start))
        assert answer == b"{}"
    connection.close()
    return {"median": round(median(times), 2), "99th of 100": round(quantiles(times, n=100)[-1], 2)}


def main() -> None:
    """Time both and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=25, help="processes of each kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EBBTIDE_STATE"] = folder
        service = subprocess.Popen([sys.executable, "-m", "ebbtide", "hooks", "serve"])
        while (address := read_address(Path(folder))) is None:
            time.sleep(0.05)
        handler = handler_ms(address)
        client = client_ms(options.runs)
        service.terminate()
        service.wait()
    for name, value in client.items():
        print(f"{name:<16} {value:6.1f} ms of the processor")
    print(f"{'handler':<16} {handler['median']:6.2f} ms, 99 of 100 within {handler['99th of 100']:.2f} ms")
    result: dict[str, Any] = {"setup": setup(), "runs": options.runs, "events": _EVENTS}
    write_result("speed-hooks", {**result, "processor_ms": client, "handler_ms": handler})


if __name__ == "__main__":
    main()
