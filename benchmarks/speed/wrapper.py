"""What `ebbtide run` adds to a key, and `ebbtide acp` to a line: from either to its echo, beside a bare way.

    python -m benchmarks.speed.wrapper [--keys N]

The command is `cat`: in a terminal that echoes each key itself, and on pipes, where each line is an update of
a session that is watched. They come one by one, 2 ms after the echo of the last; each way is asked in turn,
in blocks of fifty.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import subprocess
import sys
import time
from statistics import median, quantiles

from benchmarks.measure import setup, write_result

_BARE = "import pty; pty.spawn(['cat'])"
_BLOCK = 50


class Relay:
    """A program between this process and `cat`."""

    def __init__(self, words: list[str]) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - no shell
        self.echo(b"x")

    def echo(self, key: bytes) -> float:
        """Seconds from a key to its echo."""
        begin = time.perf_counter()
        os.write(self.fd, key)
        while key not in os.read(self.fd, 4096):
            pass
        return time.perf_counter() - begin

    def close(self) -> None:
        """End it."""
        os.write(self.fd, b"\x03")
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Pipes:
    """A program that sends back the lines of this process, by itself or through another."""

    def __init__(self, words: list[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)

    def echo(self, key: bytes) -> float:
        """Seconds from a line that holds the key to its echo."""
        content = {"type": "text", "text": key.decode() * 200}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        params = {"sessionId": "s", "update": update}
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        begin = time.perf_counter()
        self.process.stdin.write(line)
        left = len(line)
        while left:
            left -= len(self.process.stdout.read(left) or b"")
        return time.perf_counter() - begin

    def close(self) -> None:
        """End it."""
        self.process.communicate()


def main() -> None:
    """Prints each way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keys", type=int, default=500)
    keys = parser.parse_args().keys
    ways: dict[str, Relay | Pipes] = {
        "bare": Relay(["-c", _BARE]),
        "ebbtide": Relay(["-m", "ebbtide", "run", "--", "cat"]),
        "pipes": Pipes(["cat"]),
        "acp": Pipes([sys.executable, "-m", "ebbtide", "acp", "--", "cat"]),
    }
    time.sleep(3)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for start in range(0, keys, _BLOCK):
        for name, way in ways.items():
            for number in range(start, min(start + _BLOCK, keys)):
                time.sleep(0.002)
                times[name].append(way.echo(b"abcdefghij"[number % 10 : number % 10 + 1]))
    result = {}
    for name, way in ways.items():
        way.close()
        found = [second * 1000 for second in times[name]]
        result[name] = {"median_ms": round(median(found), 3), "p99_ms": round(quantiles(found, n=100)[98], 3)}
        print(f"{name:8} median {result[name]['median_ms']} ms, p99 {result[name]['p99_ms']} ms")
    write_result("speed-wrapper", {"keys": keys, **result, "setup": setup()})


if __name__ == "__main__":
    main()
