"""Totals of a session that its agent keeps in a file beside it: tokens of the whole session, by model.

- Droid: ``ID.settings.json`` with ``tokenUsage``.
- Cline and Roo Code: ``ui_messages.json``, whose ``api_req_started`` state the tokens of each call.
- Grok Build: ``updates.jsonl``, in which each turn states its usage by model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ebbtide.events.event import Notice, NoticeKind
from ebbtide.events.usage import Usage, rows_by_model
from ebbtide.regular_file import open_regular
from ebbtide.traces.input.json_value import value_or_none
from ebbtide.traces.records.fields import dollars, from_json, items, mapping, text
from ebbtide.traces.records.provider_usage import disjoint_usage, usage_named
from ebbtide.traces.records.readers import TraceItem

_MOST: Final = 64 << 20  # bytes of a file that is read
_TICKS: Final = 1e10  # of a dollar, in which Grok states a cost


def with_total_beside(events: Iterator[TraceItem], file: Path, form: str) -> Iterator[TraceItem]:
    """Yields the events of a session, and the total that stands beside it, if there is one.

    Args:
        events: Those of the session.
        file: Its file.
        form: Name of its format, one of `FORMATS_WITH_TOTALS`.
    """
    yield from events
    name, usages = _TOTALS[form](file)
    rows = rows_by_model(usage for usage in usages if usage.tokens or usage.cost_usd)
    if rows:
        yield Notice(kind=NoticeKind.TOTAL, source=name, stated=rows)


def _of_droid(file: Path) -> tuple[str, list[Usage]]:
    beside = file.with_name(f"{file.stem}.settings.json")
    for settings in _values(beside):
        report = mapping(settings.get("tokenUsage"))
        names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens", "thinkingTokens")
        usage = usage_named(report, *names)
        usage.model = text(settings.get("model"))
        return beside.name, [usage]
    return beside.name, []


def _of_cline(file: Path) -> tuple[str, list[Usage]]:
    beside = file.with_name("ui_messages.json")
    usages = []
    for message in _values(beside):
        report = mapping(from_json(message.get("text")))
        if message.get("say") == "api_req_started":
            usage = usage_named(report, "tokensIn", "tokensOut", "cacheReads", "cacheWrites")
            usage.model = text(mapping(message.get("modelInfo")).get("modelId"))
            usage.cost_usd = dollars(report.get("cost"))
            usages.append(usage)
    return beside.name, usages


def _of_grok(file: Path) -> tuple[str, list[Usage]]:
    beside = file.with_name("updates.jsonl")
    turns: dict[object, Mapping[str, Any]] = {}  # a turn that is written again is the same turn
    for number, line in enumerate(_values(beside)):
        update = mapping(mapping(line.get("params")).get("update"))
        if isinstance(update.get("usage"), dict):
            turns[text(update.get("prompt_id")) or number] = update["usage"]
    usages = []
    for turn in turns.values():
        by_model = mapping(turn.get("modelUsage")) or {"": turn}
        for model, report in by_model.items():
            usage = disjoint_usage(
                total_input=mapping(report).get("inputTokens"),
                output=mapping(report).get("outputTokens"),
                cache_read=mapping(report).get("cachedReadTokens"),
                reasoning=mapping(report).get("reasoningTokens"),
            )
            ticks = dollars(mapping(report).get("costUsdTicks"))
            usage.model, usage.cost_usd = model or None, None if ticks is None else ticks / _TICKS
            usages.append(usage)
    return beside.name, usages


def _values(file: Path) -> Iterator[Mapping[str, Any]]:
    """The objects in a file: its lines, those of a list, or the one that it is; none if it is unreadable."""
    try:
        with open_regular(file) as stream:
            data = stream.read(_MOST)
    except OSError:
        return
    for part in data.splitlines() if file.suffix == ".jsonl" else [data]:
        value = value_or_none(part)
        yield from map(mapping, items(value) or ([] if value is None else [value]))


_Totals = Callable[[Path], tuple[str, list[Usage]]]
_TOTALS: Final[Mapping[str, _Totals]] = {"cline": _of_cline, "droid": _of_droid, "grok": _of_grok}
FORMATS_WITH_TOTALS: Final = frozenset(_TOTALS)  #: whose agents keep totals in a file of their own
