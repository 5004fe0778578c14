"""What was on disk and not yet charged is charged at the next start, whichever database has it."""

import time
from collections.abc import Iterator

import pytest

from ebbtide import Budget, Budgets, ModelCall, Usage
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_event import run_event
from ebbtide.service.runs.run_origin import RunOrigin, RunSource


@pytest.fixture
def database(db: str) -> Iterator[RunDatabase]:
    database = RunDatabase(db)
    yield database
    database.close()


def spent(budgets: Budgets) -> float:
    return sum(row.spent_usd for row in budgets.standings())


def test_what_was_not_charged_is_charged_once(database: RunDatabase, tmp_path) -> None:
    """Each start finds the calls that were kept and not taken, and charges none twice; new runs too."""
    budgets = Budgets([Budget(scope="all", limit_usd=100.0)], str(tmp_path / "budgets.db"))
    for number in range(1, 4):
        runs = LiveRuns(database, budgets=budgets)
        runs.resume()
        assert spent(budgets) == pytest.approx(1.5 * (number - 1))
        for run_id, cost, source in (
            ("told", 0.5, RunSource.API),
            ("killed", 1.0, RunSource.API),
            ("read", 8.0, RunSource.SESSION_FILE),
        ):
            event = ModelCall(usage=Usage(cost_usd=cost), seq=number)
            item = run_event(event, runs.prices, time.time())
            (place,) = runs.append(run_id, [item], RunOrigin(source=source)).result()
            if run_id == "told":
                runs.take(run_id, event, place)
        assert spent(budgets) == pytest.approx(1.5 * (number - 1) + 0.5)
        if number != 2:
            database.flush().result()  # else the mark is lost too
    budgets.close()


def test_what_was_spent_before_there_were_budgets(database: RunDatabase, tmp_path) -> None:
    """It stays uncharged when budgets are set, and when they were away for a while."""
    budgets = Budgets([Budget(scope="all", limit_usd=100.0)], str(tmp_path / "budgets.db"))
    for number, (has_budgets, total) in enumerate(((False, 0), (True, 1), (False, 1), (True, 2)), 1):
        runs = LiveRuns(database, budgets=budgets if has_budgets else None)
        runs.resume()
        event = ModelCall(usage=Usage(cost_usd=1.0), seq=number)
        item = run_event(event, runs.prices, time.time())
        (place,) = runs.append("k", [item], RunOrigin()).result()
        runs.take("k", event, place)
        database.flush().result()
        assert spent(budgets) == pytest.approx(total)
    budgets.close()
