"""Mutated files for readers, odd events and states for live objects: our own errors alone, and in time."""

from __future__ import annotations

import gzip
import random
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.campaign.attack import Attack
from benchmarks.measure import ROOT
from benchmarks.quality import fuzzing
from ebbtide.checking import check
from ebbtide.errors import EbbtideError

MOST = 1_000_000  # cases of one seed
_JOBS = 2
_PART = 100  # cases that a process takes at once
_HANGS_S = 30.0  # of one input, on a busy machine
_LONGEST = 100_000  # bytes of a file that is mutated
_SPLICES = (
    b"\0" * 64, b"\xff\xfe", b"[" * 3_000, b'{"a":' * 3_000, b"\n", b'"', b"\\ud800", b"1e999", b"null", b"-",
)  # fmt: skip


def mutations(data: bytes, chance: random.Random, count: int) -> Iterator[bytes]:
    """The data with a cut, a splice, a repeated stretch or changed bytes, one to three of them at once."""
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(mutant) + 1)
            to = min(len(mutant), at + chance.choice((1, 10, 1_000)))
            kind = chance.randrange(4)
            if kind == 0:
                del mutant[at : to if chance.random() < 0.7 else None]
            elif kind == 1:
                mutant[at:to] = chance.choice(_SPLICES)
            elif kind == 2:
                mutant[at:at] = mutant[at:to]
            else:
                mutant[at:to] = chance.randbytes(to - at)
        yield bytes(mutant)


def read_some(seed: str) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Check mutations of one sample."""
    chance = random.Random(seed)
    path = chance.choice(sorted(path for path in (ROOT / "tests/traces/samples").iterdir() if path.is_file()))
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    counts: Counter[str] = Counter()
    findings = []
    signal.signal(signal.SIGALRM, fuzzing.cut_off)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, path.name.removesuffix(".gz"))
        for number, mutant in enumerate(mutations(data[:_LONGEST], chance, _PART)):
            target.write_bytes(mutant)
            counts["files"] += 1
            signal.setitimer(signal.ITIMER_REAL, _HANGS_S)
            try:
                check(target)
            except EbbtideError:
                counts["files refused"] += 1
            except BaseException as error:  # noqa: BLE001 - what escapes is what is looked for
                findings.append(
                    {"seed": seed, "number": number, "file": path.name, "error": repr(error)[:300]}
                )
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return counts, findings


def use_some(seed: str) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Use live objects in odd ways."""
    base, name, first = seed.split()
    numbers = range(int(first), int(first) + _PART)
    outcomes, _, failures = fuzzing.run_cases((name, int(base), numbers))
    # A call that is slow on a busy machine is no finding; one that was cut off is.
    found = [row for row in failures if row["outcome"] == "hang" or row["outcome"].startswith("ESCAPE")]
    return Counter({f"live {name}": outcomes.total()}), found


def attack(one: Attack) -> None:
    """Readers and live objects in turn, on all processes, until the time or the count is over."""
    warnings.simplefilter("ignore")
    done = 0
    with ProcessPoolExecutor(_JOBS) as pool:
        while one.goes_on and done < MOST:
            tasks = [
                (use_some, f"{one.seed} {name} {done}") for name in fuzzing.CASES
            ] + [(read_some, f"{one.seed} {done} {number}") for number in range(3)]  # fmt: skip
            for future in [pool.submit(work, seed) for work, seed in tasks]:
                counts, findings = future.result()
                one.counts += counts
                done += _PART
                for finding in findings:
                    one.find("an error that is not ours escapes, or a hang", **finding)
