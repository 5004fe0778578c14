"""What holding reports against their records costs: beside `check` without it, and at the hook `Stop`.

    python -m benchmarks.speed.claims [--data DIR] [--every N] [--runs N]

`check` reads each Nth session of `DIR/sessions` with `check_claims` and without, in turn, by the processor
time of this process, the least of five; a run with no claim in it counts too. `Stop` is the hook with which a
coding agent ends its turn: the processor time of the client's process beside that of a bare Python, in turn,
medians; and of the service, a report of 2,000 characters over a session of 300 calls, with no note to give,
so that every claim of it is judged each time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.speed.hooks import BARE, processor_ms
from ebbtide.checking import check
from ebbtide.service.hooks import hook_client
from ebbtide.service.hooks.state_folder import Address, read_address
from ebbtide.supervision.run_options import RunOptions

_TIMES: Final = 5
_LARGEST: Final = 1_000_000  # bytes of a packed session
_CALLS: Final = 300
_STOPS: Final = 200
_REPORT: Final = (
    "I updated `src/tides.py`. All 212 tests pass, and lint is clean. Committed as `1c2d3e4` and pushed. "
    + "The table of berths is read once, and each berth keeps the tide that it was given. " * 22
)


def check_seconds(files: list[Path]) -> tuple[float, float]:
    """Processor seconds of all files without claims and with them."""
    options = RunOptions()
    off = replace(options.profile.supervision, check_claims=False)
    without = replace(options, profile=replace(options.profile, supervision=off))
    sums = [0.0, 0.0]
    for path in files:
        least = [float("inf")] * 2
        for _ in range(_TIMES):
            for place, kind in enumerate((without, options)):
                begin = time.process_time()
                check(path, kind)
                least[place] = min(least[place], time.process_time() - begin)
        sums = [total + part for total, part in zip(sums, least, strict=True)]
    return sums[0], sums[1]


def _event(name: str, **fields: Any) -> bytes:
    base = {"session_id": "s", "hook_event_name": name, "transcript_path": "absent.jsonl"}
    return json.dumps(base | fields).encode()


def _call(number: int) -> bytes:
    tests = "===== 212 passed in 4.10s =====\nAll checks passed!\n[main 1c2d3e4] tides\n1..2  main -> main"
    shell = {"command": f"pytest -q; ruff check .; git commit -m {number}; git push"}
    row = {"tool_name": "Bash", "tool_input": shell, "tool_use_id": f"t{number}", "tool_response": tests}
    return _event("PostToolBatch", tool_calls=[row])


def service_ms(address: Address, process: int) -> dict[str, float]:
    """Milliseconds of a `Stop` in the service: by the clock on the wall, and of its processor."""
    connection = http.client.HTTPConnection("127.0.0.1", address.port)
    headers = {"X-Ebbtide-Token": address.token}

    def ask(body: bytes) -> float:
        begin = time.perf_counter()
        connection.request("POST", "/hooks/claude", body, headers)
        answer = connection.getresponse().read()
        assert answer == b"{}", answer
        return 1e3 * (time.perf_counter() - begin)

    for number in range(_CALLS):
        ask(_call(number))
    stop = _event("Stop", last_assistant_message=_REPORT)
    first = ask(stop)
    begin = _processor_s(process)
    times = [ask(stop) for _ in range(_STOPS)]
    spent = 1e3 * (_processor_s(process) - begin) / _STOPS
    connection.close()
    return {
        "first": round(first, 2),
        "median": round(median(times), 2),
        "99th of 100": round(quantiles(times, n=100)[-1], 2),
        "processor": round(spent, 2),
    }


def _processor_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def client_ms(runs: int) -> dict[str, float]:
    """The median processor time of a bare Python, and of the client that takes a `Stop`."""
    client = [sys.executable, "-I", "-S", hook_client.__file__, "claude"]
    stop = _event("Stop", last_assistant_message=_REPORT)
    times: dict[str, list[float]] = {BARE: [], "client": []}
    for _ in range(runs):
        times[BARE].append(processor_ms([sys.executable, "-c", "pass"], b""))
        times["client"].append(processor_ms(client, stop))
    return {name: round(median(values), 1) for name, values in times.items()}


def main() -> None:
    """Time both and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--every", type=int, default=10, metavar="N", help="only each Nth session")
    parser.add_argument("--runs", type=int, default=40, help="processes of each kind")
    options = parser.parse_args()
    sessions = sorted((data_folder(options.data) / "sessions").rglob("*.jsonl.gz"))
    files = [path for path in sessions if path.stat().st_size < _LARGEST][:: options.every]
    without, with_claims = check_seconds(files)
    dearer = with_claims / without - 1
    print(f"check of {len(files)} sessions: {without:.2f} s, with claims {with_claims:.2f} s: {dearer:+.1%}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EBBTIDE_STATE"] = folder
        service = subprocess.Popen([sys.executable, "-m", "ebbtide", "hooks", "serve"])
        while (address := read_address(Path(folder))) is None:
            time.sleep(0.05)
        served = service_ms(address, service.pid)
        client = client_ms(options.runs)
        service.terminate()
        service.wait()
    beside = client["client"] - client[BARE] + served["processor"]
    print(f"Stop: client {client}, service {served}: {beside:.1f} ms of the processor beside a bare Python")
    result = {"sessions": len(files), "without_s": round(without, 3), "with_s": round(with_claims, 3)}
    result |= {"dearer": round(dearer, 4), "client_ms": client, "service_ms": served}
    write_result("speed-claims", {"setup": setup(), **result, "beside_ms": round(beside, 1)})


if __name__ == "__main__":
    main()
