"""Lists of the runs: rows, what was spent, and what people did."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from typing import Any, Final

from ebbtide.clock import day_of
from ebbtide.codec import from_wire
from ebbtide.errors import ConfigError
from ebbtide.report.shipped import shipped_words
from ebbtide.service.runs.moments import QUARTER_S, quarter_number
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_origin import RunSource
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import live_word
from ebbtide.supervision.summary.run_shipped import RunShipped

_ACTIONS: Final = tuple(Action)
_COLUMNS: Final = (
    "run_id", "project", "agent", "user", "source", "started", "latest", "events", "standing", "kind",
    "reason", "cost_usd", "tokens", "wasted_usd", "ended", "stop_reason", "note", "stuck_since",
    "stuck_from_usd", "words", "title",
    "shipped",
)  # fmt: skip
# PostgreSQL has a word of its own that is "user".
_SELECTED: Final = ", ".join(f"runs.{column}" for column in (*_COLUMNS, "wasted_cents"))
_SELECT: Final = f"SELECT number, {_SELECTED} FROM runs"  # noqa: S608 - names of our own
_SPECIAL: Final = re.compile(r"[!%_]")  # in a pattern of LIKE
_SEARCHED: Final = ("run_id", "coalesce(project, '')", "coalesce(agent, '')", "reason", "title")


class RunOrder(StrEnum):
    """Order of a list of runs, by what comes first."""

    LATEST = "latest"
    WORST = "worst"


class SpendingBy(StrEnum):
    """Key by which spending is grouped."""

    DAY = "day"
    PROJECT = "project"
    AGENT = "agent"
    USER = "user"
    MODEL = "model"


_ORDERS: Final[Mapping[RunOrder, tuple[str, ...]]] = {
    RunOrder.LATEST: ("latest", "number"),
    RunOrder.WORST: ("wasted_cents", "standing", "latest", "number"),
}
_GROUPS: Final[Mapping[SpendingBy, str]] = {
    SpendingBy.DAY: "spending.quarter",
    SpendingBy.PROJECT: "runs.project",
    SpendingBy.AGENT: "runs.agent",
    SpendingBy.USER: "runs.user",
    SpendingBy.MODEL: "nullif(spending.model, '')",
}
_WHOLE: Final = "CAST(sum(spending.{}) AS BIGINT)"  # PostgreSQL would make it a decimal
_SUMS: Final = ", ".join(("sum(spending.cost_usd)", *map(_WHOLE.format, ("tokens", "calls", "unpriced"))))
_OF_WHOLE_RUNS: Final = (SpendingBy.PROJECT, SpendingBy.AGENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Filter of a list of runs, its order and its page.

    Args:
        standing: Only those at one of these actions; empty for all.
        since: Only those that were heard of since, in seconds since 1970.
        cursor: Where the page before has ended, as its answer says.
    """

    standing: Sequence[Action] = ()
    since: float | None = None
    project: str | None = None
    agent: str | None = None
    text: str | None = None
    order: RunOrder = RunOrder.LATEST
    limit: int = 100
    cursor: str | None = None


def list_runs(database: RunDatabase, wanted_runs: RunFilter) -> tuple[list[dict[str, Any]], str | None]:
    """The runs that a filter lets through, and where the next page begins; None where there is none.

    Raises:
        ConfigError: The cursor is none of this list.
        StoreError: The database cannot be read.
    """
    key = _ORDERS[wanted_runs.order]
    conditions, values = [], list[Any]()
    if wanted_runs.standing:
        conditions.append(f"standing IN ({', '.join('?' * len(wanted_runs.standing))})")
        values += [action.rank for action in wanted_runs.standing]
    for column, sign, value in (
        ("latest", ">=", wanted_runs.since),
        ("project", "=", wanted_runs.project),
        ("agent", "=", wanted_runs.agent),
    ):
        if value is not None:
            conditions.append(f"{column} {sign} ?")
            values.append(value)
    if wanted_runs.text is not None:
        tests = (f"lower({column}) LIKE lower(?) ESCAPE '!'" for column in _SEARCHED)
        conditions.append(f"({' OR '.join(tests)})")
        letters = _SPECIAL.sub(r"!\g<0>", wanted_runs.text)
        values += [f"%{letters}%"] * len(_SEARCHED)
    if wanted_runs.cursor is not None:
        conditions.append(f"({', '.join(key)}) < ({', '.join('?' * len(key))})")
        values += _place(wanted_runs.cursor, len(key))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    order = ", ".join(f"{column} DESC" for column in key)
    rows = database.read(f"{_SELECT}{where} ORDER BY {order} LIMIT ?", (*values, wanted_runs.limit + 1))
    page = rows[: wanted_runs.limit]
    cursor = None
    if len(rows) > len(page):
        last = dict(zip(("number", *_COLUMNS, "wasted_cents"), page[-1], strict=True))
        cursor = base64.urlsafe_b64encode(json.dumps([last[column] for column in key]).encode()).decode()
    return [_run(row) for row in page], cursor


def find_shipped(database: RunDatabase, run_id: str) -> RunShipped | None:
    """Returns what became of the commits of a run; None where git was not asked."""
    rows = database.read("SELECT shipped FROM runs WHERE run_id = ?", (run_id,))
    return shipped_of(rows[0][0]) if rows else None


def shipped_of(text: str | None) -> RunShipped | None:
    """Returns what the column ``shipped`` holds."""
    return None if text is None else from_wire(RunShipped, json.loads(text))


def find_run(database: RunDatabase, run_id: str) -> dict[str, Any] | None:
    """One run; None where it is not known."""
    return next(iter(find_runs(database, [run_id])), None)


def find_runs(database: RunDatabase, run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Those of some runs that are known."""
    if not run_ids:
        return []
    return run_rows(database, f"run_id IN ({', '.join('?' * len(run_ids))})", run_ids)


def run_rows(database: RunDatabase, condition: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """The runs for which a condition in SQL holds, in its order."""
    return [_run(row) for row in database.read(f"{_SELECT} WHERE {condition}", values)]


def spending(
    database: RunDatabase, by: SpendingBy, since: float | None, zone: tzinfo | None = None
) -> list[dict[str, Any]]:
    """Returns what was spent, by day (oldest first) or by something else (most expensive first).

    Args:
        by: How it is grouped; a group without a name is None.
        since: From the quarter of an hour of this time on, in seconds since 1970; None takes all.
        zone: By whose calendar a day begins; None takes that of this machine.
    """
    first = 0 if since is None else quarter_number(since)
    if by is SpendingBy.DAY:
        return _by_day(database, first, zone)
    rows = database.read(
        f"SELECT {_GROUPS[by]}, {_SUMS}, count(DISTINCT spending.run)"  # noqa: S608
        " FROM spending JOIN runs ON runs.number = spending.run"
        " WHERE spending.quarter >= ? GROUP BY 1 ORDER BY 2 DESC, 3 DESC",
        (first,),
    )
    waste = (
        {}
        if by not in _OF_WHOLE_RUNS
        else dict(
            database.read(
                f"SELECT {_GROUPS[by]}, sum(wasted_usd) FROM runs"  # noqa: S608 - names of our own
                " WHERE number IN (SELECT run FROM spending WHERE quarter >= ?) GROUP BY 1",
                (first,),
            )
        )
    )
    return [_group(name, *sums, runs=runs, wasted_usd=waste.get(name)) for name, *sums, runs in rows]


def _by_day(database: RunDatabase, first: int, zone: tzinfo | None) -> list[dict[str, Any]]:
    rows = database.read(
        f"SELECT spending.quarter, spending.run, {_SUMS} FROM spending"  # noqa: S608 - names of our own
        " WHERE spending.quarter >= ? GROUP BY 1, 2 ORDER BY 1",
        (first,),
    )
    names: dict[int, str] = {}
    sums: dict[str, list[Any]] = {}
    runs: dict[str, set[int]] = {}
    for quarter, run, *parts in rows:
        name = names.get(quarter)
        if name is None:
            name = names[quarter] = day_of(quarter * QUARTER_S, zone)
        whole = sums.setdefault(name, [0.0, 0, 0, 0])
        whole[:] = (before + part for before, part in zip(whole, parts, strict=True))
        runs.setdefault(name, set()).add(run)
    return [_group(name, *whole, runs=len(runs[name])) for name, whole in sums.items()]


def _group(
    name: str | None,
    cost: float,
    tokens: int,
    calls: int,
    unpriced: int,
    *,
    runs: int,
    wasted_usd: float | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        # Calls without a price, and nothing beside them: what they cost is not known.
        "cost_usd": None if unpriced and not cost else cost,
        "tokens": tokens,
        "model_calls": calls,
        "unpriced_calls": unpriced,
        "runs": runs,
        "wasted_usd": wasted_usd,
    }


def audit(database: RunDatabase, *, run_id: str | None, limit: int) -> list[dict[str, Any]]:
    """Returns what people did, the latest first."""
    names = ("at", "act", "run_id", "caller", "detail")
    where, values = ("", (limit,)) if run_id is None else (" WHERE run_id = ?", (run_id, limit))
    rows = database.read(
        f"SELECT at, act, run_id, caller, detail FROM audit{where} ORDER BY number DESC LIMIT ?",  # noqa: S608
        values,
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _run(row: Sequence[Any]) -> dict[str, Any]:
    fields = dict(zip(_COLUMNS, row[1:-1], strict=True))
    action = _ACTIONS[fields.pop("standing")]
    before, cost = fields.pop("stuck_from_usd"), fields["cost_usd"]
    shipped = shipped_of(fields["shipped"])
    return {
        **fields,
        "shipped": None if shipped is None else shipped_words(shipped),
        "action": action.value,
        "word": live_word(action, fields["kind"]).value,
        "ended": bool(fields["ended"]),
        "stuck_usd": None if before is None or cost is None else max(0.0, cost - before),
        "can_stop": RunSource(fields["source"]).can_stop,
    }


def _place(cursor: str, size: int) -> list[Any]:
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, RecursionError):
        place = None
    is_place = isinstance(place, list) and len(place) == size
    if not is_place or not all(type(part) in (int, float) and abs(part) < 1 << 62 for part in place):
        raise ConfigError(f"cursor = {cursor!r:.40}: expected `next_cursor` of the page before")
    return list(place)
