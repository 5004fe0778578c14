"""Many processes on one budget, some of which are killed."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import pytest

from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budget_refusal import BudgetRefused
from ebbtide.budget.shared.budgets import Budgets, open_budget_store
from ebbtide.budget.tally import UNITS

BOTH = pytest.mark.parametrize("place", ["file", "redis"], indirect=True)
RULES = [Budget(scope="all", limit_usd=1.0)]

SPENDER = """
import sys, threading
from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.budget.shared.budgets import open_budget_store
from ebbtide.budget.shared.budget_refusal import BudgetRefused

budgets = Budgets([Budget(scope="all", limit_usd=1.0)], open_budget_store(sys.argv[1]))
total, lock = 0, threading.Lock()

def spend():
    global total
    while True:
        try:
            call = budgets.reserve(0.013)
        except BudgetRefused:
            return
        call.settle(0.011)
        with lock:
            total += 11

threads = [threading.Thread(target=spend) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(total)
"""
HOLDER = """
import sys, time
from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.budget.shared.budgets import open_budget_store

budgets = Budgets([Budget(scope="all", limit_usd=1.0)], open_budget_store(sys.argv[1]), lease_s=1.5)
budgets.reserve(0.2).settle(0.1)
call = budgets.reserve(0.9)
print("holds", flush=True)
time.sleep(60)
"""


@BOTH
def test_processes_and_threads_never_pass_the_limit(place: str, store) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", SPENDER, place], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    totals = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert all(process.returncode == 0 for process in processes)
    (standing,) = store.spent()
    assert standing.reserved == 0
    assert standing.spent == sum(totals) * UNITS // 1000
    assert 0.98 < standing.spent / UNITS <= 1.0


@BOTH
def test_a_killed_process_gives_back_in_its_time(place: str, store) -> None:
    budgets = Budgets(RULES, store)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, place], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "holds\n"
        since = time.monotonic()
        process.kill()
    with pytest.raises(BudgetRefused):
        budgets.reserve(0.5)
    while True:
        try:
            budgets.reserve(0.5).release()
            break
        except BudgetRefused:
            assert time.monotonic() - since < 5
            time.sleep(0.02)
    assert 1.0 < time.monotonic() - since < 3.0
    assert store.spent()[0].spent == UNITS // 10


@BOTH
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_goes_on_with_the_same_budgets(place: str, store) -> None:
    budgets = Budgets(RULES, store)
    budgets.reserve(0.1).settle(0.1)
    processes = [
        multiprocessing.get_context("fork").Process(target=_charge, args=(budgets,)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    for _ in range(20):
        budgets.reserve(0.01).settle(0.01)
    for process in processes:
        process.join(30)
        assert process.exitcode == 0
    assert store.spent()[0].spent == 6 * UNITS // 10


def _charge(budgets: Budgets) -> None:
    for _ in range(10):
        budgets.reserve(0.01).settle(0.01)


@pytest.mark.parametrize("place", ["file"], indirect=True)
def test_processes_that_make_one_file_at_once_all_find_it(place: str) -> None:
    errors: list[Exception] = []

    def make() -> None:
        try:
            open_budget_store(place).close()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=make) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize("place", ["file"], indirect=True)
@pytest.mark.filterwarnings("ignore:the store of budgets is away")
def test_a_file_that_another_process_holds_is_away_and_comes_back(place: str, monkeypatch) -> None:
    import sqlite3

    from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore

    monkeypatch.setattr("ebbtide.budget.shared.store_link._REST_S", 0.0)
    budgets = Budgets(RULES, SQLiteBudgetStore(place, wait_s=0.05))
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BudgetRefused, match=r"budgets\.db: database is locked"):
        budgets.reserve(0.1)
    other.execute("ROLLBACK")
    budgets.reserve(0.1)
    other.close()
