"""The quick version of `python -m benchmarks.campaign`: each fault once on each store that is a file."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.campaign import attack, faults

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that every user reaches: those of pytest are for one alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("store", faults.STORES)
@pytest.mark.parametrize("fault", ["no room", "read-only", "torn"])
def test_a_store_outlives_a_fault(store: str, fault: str, folder: Path) -> None:
    """Nothing acknowledged is lost, and no error but our own escapes."""
    one = attack.Attack(7, 1.0)
    if fault == "torn":
        faults.torn(one, store, folder)
    else:
        faults.held(one, store, fault, folder)
    assert one.findings == []


def test_clocks_that_jump(folder: Path) -> None:
    """Everything counts once."""
    one = attack.Attack(7, 1.0)
    faults.clocks(one, folder)
    assert one.findings == []


def test_what_is_found_fails_the_attack() -> None:
    """A seed that finds something is none that passes."""

    def finds(one: attack.Attack) -> None:
        one.expect(one.seed != 2, "two", number=one.seed)

    assert attack.run("none", finds, [1], 0.1, keeps=False)
    assert not attack.run("none", finds, [1, 2], 0.1, keeps=False)
