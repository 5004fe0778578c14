"""Real files, cut and damaged anywhere: `check` gives a summary or a TranscriptError, and nothing else."""

import gzip
import random
import time
from pathlib import Path

import pytest

from benchmarks.campaign.inputs import mutations
from ebbtide.checking import check
from ebbtide.errors import EbbtideError

_ROUNDS = 6  # mutations of each file
_SEED = 12
_LONGEST = 200_000  # bytes of a file that is mutated
_MOST_SECONDS = 10


def escapes(path: Path, chance: random.Random, count: int, folder: Path) -> list[str]:
    """What escapes `check`, or takes too long, over mutations of a file."""
    problems = []
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    target = folder / path.name.removesuffix(".gz")
    for number, mutant in enumerate(mutations(data[:_LONGEST], chance, count)):
        target.write_bytes(mutant)
        begin = time.process_time()
        try:
            summary = check(target)
            if not summary.spent.events and not summary.rounds:
                problems.append(f"{path.name} {number}: a summary of nothing")
        except EbbtideError:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever escapes is what is looked for
            problems.append(f"{path.name} {number}: {error!r:.200}")
        if time.process_time() - begin > _MOST_SECONDS:
            problems.append(f"{path.name} {number}: took too long")
    return problems


def test_nothing_escapes_over_samples(samples: Path, tmp_path: Path) -> None:
    """A sample of each format, mutated."""
    chance = random.Random(_SEED)  # noqa: S311 - damage, no secrets
    assert not [
        problem
        for path in sorted(samples.iterdir())
        if path.is_file()
        for problem in escapes(path, chance, _ROUNDS, tmp_path)
    ]


@pytest.mark.parametrize("kind", ["runs/claude_code", "runs/mini_swe_agent", "rounds/ledgers"])
def test_nothing_escapes_over_real_runs(data: Path, tmp_path: Path, kind: str) -> None:
    """Some real runs mutated."""
    chance = random.Random(_SEED)  # noqa: S311 - damage, no secrets
    paths = chance.sample(sorted((data / kind).iterdir()), 3)
    assert not [problem for path in paths for problem in escapes(path, chance, _ROUNDS, tmp_path)]
