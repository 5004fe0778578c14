"""Runs that are stuck now, in a sentence: the one answer of the page and the API.

What asks the database raises `StoreError` where it cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Final

from ebbtide.report.plurals import count
from ebbtide.report.wording import money
from ebbtide.service.runs.listing import run_rows
from ebbtide.service.runs.moments import rough_time
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_origin import WITH_PERSON

CONNECT: Final = "ebbtide hooks install claude"
_WINDOW_S: Final = 86_400.0  # a run that was silent for longer is not of now
_MOST_NAMED: Final = 3  # in the sentence
_MOST: Final = 50  # runs of a kind
_MARKS: Final = ", ".join("?" * len(WITH_PERSON))
# A coding agent that waits for its person is silent too, so that its silence says nothing.
_STATE: Final = f"""
CASE WHEN stop_reason IS NOT NULL THEN 'stopped'
     WHEN latest < ? AND source IN ({_MARKS}) THEN 'waiting'
     WHEN stuck_since IS NOT NULL THEN 'stuck'
     WHEN latest < ? THEN 'silent'
     ELSE 'working' END
"""
_OF_NOW: Final = "ended = 0 AND latest >= ?"


class StateOfNow(StrEnum):
    """State of a run that has not ended."""

    STUCK = "stuck"  #: it goes in circles, or may not go on, and a person can do something about it
    SILENT = "silent"  #: nothing was heard of it for a while, which need not mean anything
    WORKING = "working"  #: events come, and nothing is wrong
    WAITING = "waiting"  #: a coding agent that was silent for a while, as when its person thinks
    STOPPED = "stopped"  #: a person has ended it, and it may not know yet


def now_answer(database: RunDatabase, now: float, *, silent_after_s: float) -> dict[str, Any]:
    """Returns the runs that are stuck or silent now, with a sentence about them.

    Args:
        silent_after_s: Seconds without an event after which a run is silent.

    Returns:
        ``sentence`` says it all in words, ``connect`` is a command where no run has reported yet, else None.
        ``counts`` has runs by `StateOfNow`, ``stuck`` and ``silent`` are runs, the most expensive first, each
        with its ``label`` and a ``line`` about it. ``silent_after_s`` is that of the arguments.
    """
    counts = count_states(database, now, silent_after_s=silent_after_s)
    since, state_values = now - _WINDOW_S, _state_values(now, silent_after_s)
    runs = {
        state: run_rows(
            database,
            f"{_OF_NOW} AND {_STATE} = ?"
            " ORDER BY coalesce(cost_usd - stuck_from_usd, 0) DESC, latest LIMIT ?",
            (since, *state_values, state.value, _MOST),
        )
        for state in (StateOfNow.STUCK, StateOfNow.SILENT)
        if counts[state]
    }
    stuck = [_shown(run, _stuck_line(run, now)) for run in runs.get(StateOfNow.STUCK, ())]
    silent = [
        _shown(run, f"nothing for {rough_time(now - run['latest'])}")
        for run in runs.get(StateOfNow.SILENT, ())
    ]
    latest = None
    if not any(counts.values()):
        latest = next(iter(run_rows(database, "TRUE ORDER BY latest DESC LIMIT 1", ())), None)
    return {
        "sentence": _sentence(counts, stuck, silent, latest, now),
        "connect": CONNECT if latest is None and not any(counts.values()) else None,
        "counts": counts,
        "stuck": stuck,
        "silent": silent,
        "silent_after_s": silent_after_s,
    }


def count_states(database: RunDatabase, now: float, *, silent_after_s: float) -> dict[str, int]:
    """Runs of now by `StateOfNow`; the arguments are those of `now_answer`."""
    rows = database.read(
        f"SELECT {_STATE}, count(*) FROM runs WHERE {_OF_NOW} GROUP BY 1",  # noqa: S608 - names of ours
        (*_state_values(now, silent_after_s), now - _WINDOW_S),
    )
    return {state.value: 0 for state in StateOfNow} | dict(rows)


def is_under_way(run: dict[str, Any], now: float, *, silent_after_s: float) -> bool:
    """True if more is to come of a run: it was heard of lately, and nobody has ended it."""
    return not run["ended"] and run["stop_reason"] is None and run["latest"] >= now - silent_after_s


def state_line(run: dict[str, Any], now: float, *, silent_after_s: float) -> str:
    """Returns a sentence on whether a run still goes on.

    It stays true: `words.js` of the page counts seconds.
    """
    latest = f"{datetime.fromtimestamp(run['latest'], UTC):%Y-%m-%d %H:%M:%S} UTC"
    if run["ended"]:
        return f"It ended on {latest}."
    if run["stop_reason"] is not None:
        return f"A person ended it; its last event was on {latest}."
    if is_under_way(run, now, silent_after_s=silent_after_s):
        return f"Still running, last event on {latest}."
    if run["source"] in WITH_PERSON:
        return f"Waiting for its person, last event on {latest}."
    return f"Silent since {latest}, and nobody has said that it is over."


def _state_values(now: float, silent_after_s: float) -> tuple[float | str, ...]:
    edge = now - silent_after_s
    return edge, *WITH_PERSON, edge


def label(run: dict[str, Any]) -> str:
    """Returns the name of a run for people: its agent, of a coding agent with the folder, else its id."""
    agent, project = run["agent"], run["project"]
    if agent is None:
        return str(run["run_id"])
    if run["source"] in WITH_PERSON:
        return f"{agent} in {PurePath(project).name}" if project else str(run["run_id"])
    return str(agent)


def _sentence(
    counts: dict[str, int],
    stuck: Sequence[dict[str, Any]],
    silent: Sequence[dict[str, Any]],
    latest: dict[str, Any] | None,
    now: float,
) -> str:
    stuck_count, silent_count, working_count, waiting_count, stopped_count = (
        counts[state] for state in StateOfNow
    )
    under_way = stuck_count + silent_count + working_count
    if not under_way:
        if latest is not None:
            age = rough_time(now - latest["latest"])
            return f"Nothing is stuck, and no run is under way. The latest, {label(latest)}, was {age} ago."
        if waiting_count or stopped_count:
            return "Nothing is stuck, and no run is under way."
        return "No run has reported yet."
    quiet = f" {_runs_are(silent_count)} silent: {_named(silent, silent_count)}." if silent else ""
    if stuck:
        verb = "is" if stuck_count == 1 else "are"
        head = f"{stuck_count:,} of {count(under_way, 'run')} {verb} stuck: {_named(stuck, stuck_count)}."
        return f"{head}{quiet}"
    work = f"{_runs_are(working_count)} working." if working_count else "No run is working."
    return f"Nothing is stuck. {work}{quiet}"


def _runs_are(number: int) -> str:
    return f"{count(number, 'run')} {'is' if number == 1 else 'are'}"


def _named(runs: Sequence[dict[str, Any]], number: int) -> str:
    parts = [f"{run['label']}, {run['line']}" for run in runs[:_MOST_NAMED]]
    if number > len(parts):
        parts.append(f"and {number - len(parts):,} more")
    return "; ".join(parts)


def _shown(run: dict[str, Any], line: str) -> dict[str, Any]:
    return {**run, "label": label(run), "line": line}


def _stuck_line(run: dict[str, Any], now: float) -> str:
    since = rough_time(now - run["stuck_since"])
    if run["kind"] in ("limit", "limit_unknown", "budget"):
        return f"{since}, held by {'a budget' if run['kind'] == 'budget' else 'a limit'}"
    cost = run["stuck_usd"]
    return f"{since}, {'unknown cost' if cost is None else money(cost)} since anything new"
