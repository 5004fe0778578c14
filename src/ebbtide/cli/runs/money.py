"""Sums the cost of the calls in this machine's sessions by any key, each call once."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import cache
from operator import attrgetter
from pathlib import PurePath
from typing import Any

from ebbtide.budget.ledger.call_ledger import CallSums, CountedCall
from ebbtide.budget.ledger.call_price import StatedTotals, units_of
from ebbtide.budget.ledger.inherited_calls import InheritedCalls, inherited_in
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import usd
from ebbtide.clock import time_zone
from ebbtide.traces.money.machine_calls import MachineCalls
from ebbtide.traces.money.money_cache import MoneyCache
from ebbtide.traces.sessions.session_files import SessionFile

_NONE = "none"
_UNKNOWN = "unknown"
_UNDATED = "undated"
_QUARTER_S = 900  # every zone differs from UTC by a number of them
_PLUGIN = "plugin_"


class MoneyKey(StrEnum):
    """By what money is summed."""

    MODEL = "model"
    DAY = "day"
    HOUR = "hour"
    PROJECT = "project"
    SESSION = "session"
    TREE = "tree"
    AGENT = "agent"
    SKILL = "skill"
    SERVER = "server"
    PLUGIN = "plugin"


@dataclass(slots=True)
class MoneySums:
    """The tokens and money of a group of calls, and the sessions that they belong to."""

    sums: CallSums
    sessions: set[str]

    @property
    def cost_usd(self) -> float | None:
        """Dollars as far as prices are known; None where none is."""
        sums = self.sums
        return None if sums.unpriced and not sums.cost_units else usd(sums.cost_units)

    @property
    def is_partial(self) -> bool:
        """True if calls with tokens have no known price."""
        return self.sums.unpriced > 0

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        sums = self.sums
        tokens = {
            "input": sums.input_tokens,
            "output": sums.output_tokens,
            "cache_read": sums.cache_read_tokens,
            "cache_write": sums.cache_write_tokens,
        }
        return {
            "sessions": len(self.sessions),
            "cost_usd": self.cost_usd,
            "tokens": tokens,
            "llm_calls": sums.calls,
            "unpriced": sums.unpriced,
        }


@dataclass(slots=True)
class TreeMoney:
    """The money of a session and of all that it started.

    Args:
        project: The folder that its agent worked in; None where unknown.
        model: The model that cost most; None where unknown.
    """

    sums: CallSums
    agent: str
    project: str | None
    model: str | None


class SessionMoney:
    """The calls of some sessions that fall into a period, with their prices.

    Args:
        calls: The calls.
        prices: What they cost.
        absent: Calls that forks replay, of threads that are not here; they do not count.
        stated: What files state of their sessions, which is settled.
        empty: Sessions in which no call is recorded.
        since: Seconds since 1970 from which calls count; None: all. Calls without a time count always.
        until: Seconds since 1970 before which they do; None: all.
        timezone: The name of the zone in which days begin; None: that of this machine.
    """

    def __init__(
        self,
        calls: Iterable[CountedCall],
        prices: Prices,
        *,
        absent: Iterable[CountedCall] = (),
        stated: StatedTotals | None = None,
        empty: Collection[str] = (),
        since: float | None = None,
        until: float | None = None,
        timezone: str | None = None,
    ) -> None:
        self._zone = None if timezone is None else time_zone(timezone)
        self._calls: list[tuple[CountedCall, int | None]] = []
        self._empty = frozenset(empty)
        self.copies: set[str] = set()
        self.copied_units = 0
        self.copied_calls = 0
        #: The files that hold calls, and none of the period: what they cost and wasted is not asked for.
        self.outside: set[str] = set()
        #: By file, the calls in it that other files own.
        self.inherited: dict[str, InheritedCalls] = {}
        self._units_by_path: dict[str, int] = {}
        shared: list[CountedCall] = []
        inside: set[str] = set()
        for call in calls:
            ts = call.ts
            if call.copies or call.stated_in:
                shared.append(call)
            paths = {place.path for place in (call.owner, *call.copies)}
            self.outside |= paths
            if ts is not None and ((since is not None and ts < since) or (until is not None and ts >= until)):
                continue
            inside |= paths
            cost = units_of(call, prices)
            self._calls.append((call, cost))
            path = call.owner.path
            self._units_by_path[path] = self._units_by_path.get(path, 0) + (cost or 0)
            if call.copies:
                self.copies.update(place.path for place in call.copies)
                self.copied_units += (cost or 0) * len(call.copies)
                self.copied_calls += len(call.copies)
        self.outside -= inside
        self.inherited = inherited_in(shared, absent, attrgetter("path"), stated or StatedTotals())

    @classmethod
    def read(
        cls,
        files: Collection[SessionFile],
        prices: Prices,
        cache: MoneyCache,
        **period: Any,
    ) -> SessionMoney:
        """Reads the calls of some files, of a period as for the class."""
        was_enabled = gc.isenabled()
        gc.disable()  # many small objects that live to the end: looking for circles doubles the time
        try:
            machine = MachineCalls.of(files, cache)
            absent, stated = machine.ledger.absent(), machine.stated
            calls = machine.calls(prices)
            return cls(calls, prices, absent=absent, stated=stated, empty=machine.empty, **period)
        finally:
            if was_enabled:
                gc.enable()

    def units_of(self, path: str) -> int:
        """The cost of the calls that a file owns, in units of money."""
        return self._units_by_path.get(path, 0)

    def total(self) -> MoneySums:
        """The sum of all."""
        total = self._sums(lambda _: "").get("", MoneySums(CallSums(), set()))
        total.sessions |= self._empty
        return total

    def by(self, key: MoneyKey) -> dict[str, MoneySums]:
        """Sums by a key: the dearest first, of days and hours the latest."""
        sums = self._sums(_keys(self._zone)[key])
        if key in (MoneyKey.DAY, MoneyKey.HOUR):
            return dict(sorted(sums.items(), reverse=True))
        return dict(sorted(sums.items(), key=_dearest))

    def trees(self) -> dict[str, TreeMoney]:
        """The money of each session with all that it started."""
        trees: dict[str, TreeMoney] = {}
        models: dict[str, Counter[str | None]] = {}
        for call, cost in self._calls:
            owner = call.owner
            if owner.session not in trees:
                trees[owner.session] = TreeMoney(CallSums(), owner.agent, owner.project, None)
                models[owner.session] = Counter()
            trees[owner.session].sums.add(call.usage, cost)
            models[owner.session][call.usage.model] += cost or 0
        for session, tree in trees.items():
            tree.model = max(models[session], key=lambda model: (models[session][model], model or ""))
        return trees

    def _sums(self, key: Callable[[CountedCall], str]) -> dict[str, MoneySums]:
        groups: dict[str, MoneySums] = {}
        for call, cost in self._calls:
            name = key(call)
            group = groups.get(name)
            if group is None:
                group = groups[name] = MoneySums(CallSums(), set())
            group.sums.add(call.usage, cost, is_call=call.is_model)
            group.sessions.add(call.owner.session)
        return groups

    def wire(self, keys: Iterable[MoneyKey]) -> dict[str, Any]:
        """The totals as JSON, and sums by some keys."""
        total = self.total().to_dict()
        spent = {name: total[name] for name in ("cost_usd", "tokens", "llm_calls", "unpriced")}
        tables: Mapping[MoneyKey, dict[str, MoneySums]] = {key: self.by(key) for key in keys}
        return {
            "spent": spent,
            "shared": {
                "calls": self.copied_calls,
                "cost_usd": usd(self.copied_units),
                "files": len(self.copies),
            },
            **{
                f"by_{key}": [{key.value: name, **sums.to_dict()} for name, sums in table.items()]
                for key, table in tables.items()
            },
        }


def _dearest(item: tuple[str, MoneySums]) -> tuple[int, int, str]:
    name, group = item
    return (-group.sums.cost_units, -group.sums.tokens, name)


def _keys(zone: tzinfo | None) -> dict[MoneyKey, Callable[[CountedCall], str]]:
    @cache
    def moment(quarter: int) -> str:
        return f"{datetime.fromtimestamp(quarter * _QUARTER_S, UTC).astimezone(zone):%Y-%m-%d %H:00}"

    def hour(call: CountedCall) -> str:
        try:
            return _UNDATED if call.ts is None else moment(int(call.ts // _QUARTER_S))
        except (ValueError, OverflowError, OSError):
            return _UNDATED

    return {
        MoneyKey.MODEL: lambda call: call.usage.model or _UNKNOWN,
        MoneyKey.DAY: lambda call: hour(call).partition(" ")[0],
        MoneyKey.HOUR: hour,
        MoneyKey.PROJECT: lambda call: call.owner.project or _UNKNOWN,
        MoneyKey.SESSION: lambda call: PurePath(call.owner.path).stem,
        MoneyKey.TREE: lambda call: call.owner.session,
        MoneyKey.AGENT: lambda call: call.owner.agent,
        MoneyKey.SKILL: lambda call: call.skill or _NONE,
        MoneyKey.SERVER: lambda call: call.server or _NONE,
        MoneyKey.PLUGIN: _plugin,
    }


def _plugin(call: CountedCall) -> str:
    """The plugin that a skill or a server comes from, by its name."""
    name, sign, _ = (call.skill or "").partition(":")
    if sign:
        return name
    server = call.server or ""
    return server.removeprefix(_PLUGIN).partition("_")[0] if server.startswith(_PLUGIN) else _NONE
