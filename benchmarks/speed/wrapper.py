"""What `ebbtide run` adds to a key: from the key to its echo, beside a bare relay of a terminal.

    python -m benchmarks.speed.wrapper [--keys N]

The command is `cat` in a terminal that echoes each key itself. Keys come one by one, 2 ms after the echo of
the last; both relays are asked in turn, in blocks of fifty.
"""

from __future__ import annotations

import argparse
import os
import pty
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


def main() -> None:
    """Prints both, and the difference."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keys", type=int, default=500)
    keys = parser.parse_args().keys
    relays = {"bare": Relay(["-c", _BARE]), "ebbtide": Relay(["-m", "ebbtide", "run", "--", "cat"])}
    time.sleep(3)
    times: dict[str, list[float]] = {name: [] for name in relays}
    for start in range(0, keys, _BLOCK):
        for name, relay in relays.items():
            for number in range(start, min(start + _BLOCK, keys)):
                time.sleep(0.002)
                times[name].append(relay.echo(b"abcdefghij"[number % 10 : number % 10 + 1]))
    result = {}
    for name, relay in relays.items():
        relay.close()
        found = [second * 1000 for second in times[name]]
        result[name] = {"median_ms": round(median(found), 3), "p99_ms": round(quantiles(found, n=100)[98], 3)}
        print(f"{name:8} median {result[name]['median_ms']} ms, p99 {result[name]['p99_ms']} ms")
    write_result("speed-wrapper", {"keys": keys, **result, "setup": setup()})


if __name__ == "__main__":
    main()
