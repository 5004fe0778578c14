"""The wait of a good client of `ebbtide serve` while one bad neighbour after the other is at work beside it.

    python -m benchmarks.quality.neighbours [--seconds S] [--readers N] [--part NAME]

A real service on this machine alone, with its own bounds but for the readers of the stream. The good
client asks over an open connection, and over a new one each time: it sends an event, asks for advice,
and reads a run, all at a pace. The neighbours are processes of their own, each with a bound in
connections and in time, that send what nobody sends by mistake: heads and forms without an end before
they have signed in, requests a byte at a time, answers that nobody reads, a crowd of connections,
exports of 40,000 traces, a crowd that wants reports and checks, and readers of the stream by the
thousand. What they were refused with is counted. `readers` says how late the news of a verdict reach
them.

Neighbours, good client and service share the processors, with whatever else is on them: the times are a
bound from above. `nobody` is the good client without neighbours.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import setup, write_result

TOKEN: Final = "a-token-of-this-benchmark-alone"  # noqa: S105 - of a service that ends with it
_SIGNED: Final = f"Authorization: Bearer {TOKEN}\r\n"
_HEAD: Final = "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{signed}{fields}\r\n"
GOOD_PEER, BAD_PEER = "127.0.0.1", "127.0.0.2"
_PACE_S: Final = 0.02  # between two requests of the good client
_SETTLING_S: Final = 1.0  # that neighbours have to come
_FILES_BESIDE: Final = 2500  # descriptors beside the readers
_SERVICE: Final = """
import json, resource, sys
from ebbtide.service.web.server import serve_web
from ebbtide.service.web.service_settings import ServiceSettings
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
serve_web(
    ServiceSettings(port=0, **json.loads(sys.argv[1])),
    sys.argv[2],
    announce=lambda url: print(json.dumps({"url": url}), flush=True),
    open_log=None,
)
"""


def request(method: str, path: str, body: bytes = b"", *, fields: str = "", signed: bool = True) -> bytes:
    """The bytes of a request."""
    if body:
        fields += f"Content-Length: {len(body)}\r\n"
    return (
        _HEAD.format(method=method, path=path, signed=_SIGNED if signed else "", fields=fields).encode()
        + body
    )


class Neighbour:
    """What the processes of a bad neighbour know: where the service is, until when, and what it answered."""

    def __init__(self, port: int, seconds: float, count: int) -> None:
        self.port = port
        self.count = count
        self.until = time.monotonic() + seconds
        self.statuses: Counter[str] = Counter()
        self.retries: Counter[str] = Counter()

    @property
    def goes_on(self) -> bool:
        """True until the time is over."""
        return time.monotonic() < self.until

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection of its own."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(BAD_PEER, 0), limit=1 << 22)

    async def send(self, *parts: bytes, pause_s: float = 0.0, reads: bool = True) -> None:
        """One connection: send the parts, and note the status of the answer."""
        reader, writer = await self.open()
        try:
            with contextlib.suppress(OSError):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                    if pause_s:
                        await asyncio.sleep(pause_s)
                    if not self.goes_on or reader.at_eof():
                        break
            if reads:
                async with asyncio.timeout(max(1.0, self.until - time.monotonic())):
                    await self._note(reader)
            else:
                await asyncio.sleep(max(0.0, self.until - time.monotonic()))
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            self.statuses["no answer"] += 1
        finally:
            writer.close()

    async def _note(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        status = head[9:12].decode("ascii", "replace")
        self.statuses[status] += 1
        for line in head.decode("latin-1").lower().splitlines():
            if line.startswith("retry-after:"):
                self.retries[f"{status} after {line.partition(':')[2].strip()} s"] += 1

    async def again(self, act: Callable[[], Awaitable[None]]) -> None:
        """As many at once as it has connections, again and again until the time is over."""

        async def one() -> None:
            while self.goes_on:
                try:
                    await act()
                except OSError:
                    self.statuses["no connection"] += 1
                    await asyncio.sleep(0.1)

        await asyncio.gather(*(one() for _ in range(self.count)))


async def heads(bad: Neighbour) -> None:
    """Heads without an end, of somebody who has not signed in."""
    head = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    await bad.again(lambda: bad.send(head, *[b"X: " + b"x" * 65536 + b"\r\n"] * 200))


async def forms(bad: Neighbour) -> None:
    """Forms of 16 MB to the page that signs in, half of them without a length."""
    body = b"a=b&" * (4 << 20)
    chunk = b"10000\r\n" + b"a=b&" * (1 << 14) + b"\r\n"
    stated = request("POST", "/sign-in", body, signed=False)
    chunked = request("POST", "/sign-in", signed=False, fields="Transfer-Encoding: chunked\r\n")
    turn = 0

    async def act() -> None:
        nonlocal turn
        turn += 1
        await (bad.send(stated) if turn % 2 else bad.send(chunked, *[chunk] * 256))

    await bad.again(act)


async def slow_writers(bad: Neighbour) -> None:
    """Requests that come a byte at a time: heads before, bodies after signing in."""
    head = request("GET", "/v1/runs", signed=False)
    body = request("POST", "/v1/runs/slow/events", b'{"kind": "tool", "name": "ls"}' * 100)
    turn = 0

    async def act() -> None:
        nonlocal turn
        turn += 1
        first = body[:150] if turn % 2 else head[:10]
        rest = body[150:] if turn % 2 else head[10:]
        await bad.send(first, *(rest[at : at + 1] for at in range(len(rest))), pause_s=0.2)

    await bad.again(act)


async def slow_readers(bad: Neighbour) -> None:
    """Requests for everything, again and again on a connection that nobody reads."""
    asked = request("GET", "/v1/runs?limit=1000") * 50 + request("GET", "/v1/runs/large/report.html") * 5
    await bad.again(lambda: bad.send(asked, reads=False))


async def crowd(bad: Neighbour) -> None:
    """Connections that ask for nothing."""
    await bad.again(lambda: bad.send(b"", reads=False))


async def exports(bad: Neighbour) -> None:
    """Exports of 40,000 traces, of the largest size."""
    spans = [
        {
            "traceId": f"{os.getpid():08x}{number:024x}",
            "spanId": f"{number + 1:016x}",
            "name": "chat m",
            "startTimeUnixNano": "1790000000000000000",
            "endTimeUnixNano": "1790000001000000000",
            "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
        }
        for number in range(40_000)
    ]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    asked = request("POST", "/v1/traces", body, fields="Content-Type: application/json\r\n")
    await bad.again(lambda: bad.send(asked))


async def reports(bad: Neighbour) -> None:
    """Reports and summaries of a large run."""
    paths = ("report.html", "summary")
    turn = 0

    async def act() -> None:
        nonlocal turn
        turn += 1
        await bad.send(request("GET", f"/v1/runs/large/{paths[turn % 2]}"))

    await bad.again(act)


async def checks(bad: Neighbour) -> None:
    """Recorded runs of 4 MB to be checked."""
    line = json.dumps({"kind": "tool", "name": "ls", "args": {"n": 1}, "result": "x" * 350})
    asked = request("POST", "/v1/check", (line + "\n").encode() * 10_000)
    await bad.again(lambda: bad.send(asked))


async def events(bad: Neighbour) -> None:
    """Bodies of 20,000 events."""
    turn = 0

    async def act() -> None:
        nonlocal turn
        turn += 1
        lines = (
            f'{{"seq": {seq}, "kind": "tool", "name": "ls", "args": {{"n": {seq}}}, "result": "{seq}"}}'
            for seq in range(20_000)
        )
        await bad.send(request("POST", f"/v1/runs/bad-{turn}/events", "\n".join(lines).encode()))

    await bad.again(act)


#: The neighbours, with how many connections each has.
NEIGHBOURS: Final[dict[str, tuple[Callable[[Neighbour], Awaitable[None]], int]]] = {
    "heads": (heads, 20),
    "forms": (forms, 20),
    "slow writers": (slow_writers, 300),
    "slow readers": (slow_readers, 100),
    "crowd": (crowd, 1500),
    "exports": (exports, 4),
    "reports": (reports, 40),
    "checks": (checks, 40),
    "events": (events, 8),
}


def be_bad(name: str, port: int, seconds: float) -> None:
    """Be one of them; prints what the service answered."""
    _raise_files()
    act, count = NEIGHBOURS[name]
    bad = Neighbour(port, seconds, count)
    with contextlib.suppress(TimeoutError):
        asyncio.run(asyncio.wait_for(act(bad), seconds + 10))
    print(json.dumps({"answers": dict(bad.statuses), "retry_after": dict(bad.retries)}))


def listen(port: int, count: int, seconds: float) -> None:
    """Be readers of the stream; prints how late news came, by the time in the name of their run."""
    _raise_files()
    waiting = selectors.DefaultSelector()
    asked = request("GET", "/v1/stream")
    late: dict[str, list[float]] = {}
    refused = 0
    for number in range(count):
        peer = f"127.0.0.{10 + number // 500}"
        connection = socket.create_connection(("127.0.0.1", port), 20, source_address=(peer, 0))
        connection.sendall(asked)
        head = connection.recv(4096)
        if b" 200 " not in head[:16]:
            refused += 1
            connection.close()
            continue
        connection.settimeout(0)
        waiting.register(connection, selectors.EVENT_READ)
    print(json.dumps({"readers": count - refused, "refused": refused}), flush=True)
    until = time.monotonic() + seconds
    lost = 0
    while time.monotonic() < until:
        for key, _ in waiting.select(0.2):
            data = key.fileobj.recv(65536)  # type: ignore[union-attr]
            now = time.monotonic()
            if not data:
                lost += 1
                waiting.unregister(key.fileobj)
                continue
            if b"event: verdict" in data:
                at = data.find(b'"news-')
                moment = data[at + 6 : data.find(b'"', at + 6)].decode()
                late.setdefault(moment, []).append(1e3 * (now - int(moment) / 1e9))
    rows = [sorted(times) for times in late.values()]
    result = {
        "lost": lost,
        "news": len(rows),
        "reached": [len(row) for row in rows],
        "first_ms": [round(row[0], 1) for row in rows],
        "median_ms": [round(row[len(row) // 2], 1) for row in rows],
        "last_ms": [round(row[-1], 1) for row in rows],
    }
    print(json.dumps(result), flush=True)


def _raise_files() -> int:
    """Take as many descriptors as there may be; returns how many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


class Good:
    """The good client: a pace of requests, and how long each took."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._kept = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._seq = 0
        self.times: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.slowest = ""

    def work(self, seconds: float) -> None:
        """One request after the other."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._seq += 1
            event = {"seq": self._seq, "kind": "tool", "name": "ls", "args": {"n": self._seq}, "result": "a"}
            turn = self._seq % 4
            if turn == 0:
                self._ask("GET", "/v1/runs/good", b"", is_new=True)
            elif turn == 1:
                self._ask("POST", "/v1/runs/good/check", b"", is_new=True)
            elif turn == 2:
                self._ask("POST", "/v1/runs/good/check", b"", is_new=False)
            else:
                self._ask("POST", "/v1/runs/good/events", json.dumps(event).encode(), is_new=False)
            time.sleep(_PACE_S)

    def _ask(self, method: str, path: str, body: bytes, *, is_new: bool) -> None:
        start = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60) if is_new else self._kept
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse()
            answer.read()
            self.statuses[answer.status] += 1
        except OSError:
            self.statuses[0] += 1
            connection.close()
        took = 1e3 * (time.perf_counter() - start)
        if not self.times or took > max(self.times):
            self.slowest = f"{method} {path}"
        self.times.append(took)
        if is_new:
            connection.close()

    def result(self) -> dict[str, Any]:
        """Milliseconds, and what was answered."""
        times = sorted(self.times)
        return {
            "requests": len(times),
            "p50_ms": round(times[len(times) // 2], 1),
            "p99_ms": round(times[int(len(times) * 0.99)], 1),
            "max_ms": round(times[-1], 1),
            "slowest": self.slowest,
            "answers": {str(status or "none"): count for status, count in sorted(self.statuses.items())},
        }


@contextmanager
def served(folder: Path, readers: int) -> Iterator[tuple[int, int]]:
    """A service of its own: its port and its process."""
    settings = {"token": TOKEN, "readers": readers, "sessions": False}
    environment = {**os.environ, "EBBTIDE_STATE": str(folder / "state"), "HOME": str(folder)}
    line = [sys.executable, "-c", _SERVICE, json.dumps(settings), str(folder / "runs.db")]
    with subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        heard: list[str] = []
        thread = threading.Thread(target=lambda: heard.extend(process.stderr or ()), daemon=True)
        thread.start()
        try:
            yield int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]), process.pid
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                print("the service did not end by itself", flush=True)
                process.send_signal(signal.SIGKILL)
            thread.join(5)
            for line_ in heard[-30:]:
                print("service:", line_.rstrip()[:300])


def prepare(port: int) -> None:
    """The runs that the neighbours ask for: a large one, and some hundreds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def send(run_id: str, count: int, size: int) -> None:
        lines = [
            json.dumps({
                "seq": seq, "kind": "tool", "name": "read", "args": {"path": f"/{seq}.py"},
                "result": f"{seq} " * size,
            })
            for seq in range(count)
        ]  # fmt: skip
        path = f"/v1/runs/{run_id}/events"
        connection.request("POST", path, "\n".join(lines), {"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:300]

    send("large", 5000, 50)
    for number in range(300):
        send(f"small-{number}", 1, 3)


def measured(folder: Path, name: str, seconds: float) -> dict[str, Any]:
    """The good client beside one kind of neighbour; with `nobody` beside none, with `all` beside each."""
    names = {"nobody": [], "all": list(NEIGHBOURS)}.get(name, [name])
    with served(folder, 1000) as (port, pid):
        prepare(port)
        line = [sys.executable, "-m", "benchmarks.quality.neighbours", "--port", str(port), "--as"]
        bad = [
            subprocess.Popen(
                [*line, each, "--seconds", str(seconds + _SETTLING_S)], stdout=subprocess.PIPE, text=True
            )
            for each in names
        ]
        time.sleep(_SETTLING_S)
        good = Good(port)
        good.work(seconds)
        answers = {
            each: json.loads(one.communicate()[0] or "{}") for each, one in zip(names, bad, strict=True)
        }
        after = Good(port)
        after.work(1.0)
        memory = _memory_mb(pid)
    return {"neighbour": name, **good.result(), "memory_mb": memory, "after_max_ms": after.result()["max_ms"],
            "refused": answers}  # fmt: skip


def _memory_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return round(int(text.partition("VmHWM:")[2].split()[0]) / 1024, 1)


def read_along(folder: Path, readers: int, seconds: float) -> dict[str, Any]:
    """The good client beside readers of the stream, and verdicts about new runs that all of them hear of."""
    with served(folder, readers) as (port, pid):
        prepare(port)
        line = [sys.executable, "-m", "benchmarks.quality.neighbours", "--port", str(port)]
        with subprocess.Popen(
            [*line, "--listen", str(readers), "--seconds", str(seconds + 2)],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            came = json.loads(process.stdout.readline())
            time.sleep(_SETTLING_S)
            good = Good(port)
            thread = threading.Thread(target=good.work, args=(seconds,))
            thread.start()
            sender = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            until, taken = time.monotonic() + seconds - 1, []
            while time.monotonic() < until:
                name = f"news-{time.monotonic_ns()}"
                same = {"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt"}
                body = "\n".join(json.dumps({"seq": seq, **same}) for seq in range(1, 8))
                start = time.perf_counter()
                sender.request("POST", f"/v1/runs/{name}/events", body, {"Authorization": f"Bearer {TOKEN}"})
                sender.getresponse().read()
                taken.append(1e3 * (time.perf_counter() - start))
                time.sleep(1.0)
            thread.join()
            heard = json.loads(process.stdout.readline())
        memory = _memory_mb(pid)
    news = {key: heard.pop(key) for key in ("first_ms", "median_ms", "last_ms", "reached")}
    middle = {key: sorted(values)[len(values) // 2] if values else None for key, values in news.items()}
    return {
        "neighbour": "readers", **good.result(), "memory_mb": memory, **came, **heard,
        "event_ms": round(sorted(taken)[len(taken) // 2], 1), "event_max_ms": round(max(taken), 1),
        "news_of_the_middle": middle, "last_reader_max_ms": max(news["last_ms"], default=None),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each neighbour")
    parser.add_argument("--readers", type=int, default=10_000)
    parser.add_argument("--part", action="append", help="this alone, and nothing is written")
    parser.add_argument("--as", dest="bad", help=argparse.SUPPRESS)
    parser.add_argument("--listen", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bad:
        be_bad(options.bad, options.port, options.seconds)
        return
    if options.listen:
        listen(options.port, options.listen, options.seconds)
        return
    readers = min(options.readers, _raise_files() - _FILES_BESIDE)
    if readers < options.readers:
        print(f"{readers:,} readers instead of {options.readers:,}: there may be no more open files")
    rows = []
    for name in options.part or ("nobody", *NEIGHBOURS, "all", "readers"):
        with tempfile.TemporaryDirectory() as folder:
            if name == "readers":
                rows.append(read_along(Path(folder), readers, options.seconds))
            else:
                rows.append(measured(Path(folder), name, options.seconds))
        print(json.dumps(rows[-1]), flush=True)
    if not options.part:
        load = round(os.getloadavg()[0], 1)
        write_result("neighbours", {"setup": setup(), "load": load, "seconds": options.seconds, "rows": rows})


if __name__ == "__main__":
    main()
