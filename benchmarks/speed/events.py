"""What it costs to make an event, and to tell what it is: one class for all, or a class each.

    python -m benchmarks.speed.events [--pieces N]

`one class` has every field that any event has, and a text that names its kind; it is what there was before.
`a class each` are the four of `ebbtide.events.event`. Both are measured frozen and not: a frozen dataclass
sets each field through `object.__setattr__`. The events are those of a chain: four calls of a tool, two of a
model with usage, a message and a notice. They are made, and told apart as the loop monitor does it, in
short pieces that take turns, of which the median and the least are printed: the machine has other work.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from benchmarks.measure import setup, write_result
from ebbtide.events.event import Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import CLASSES, Usage

_PIECE = 50  # turns of a chain
_TURN = (4, 2, 1, 1)  # calls of tools, calls of models, messages and notices of one turn
_NO_CALLS = frozenset({"llm", "user", "system"})
_ANY = (
    *("args", "result", "text", "agent", "seq", "ts", "waited_s", "batch", "status", "model", "cost_usd"),
    *CLASSES,
)


Counts = tuple[int, int, int, int]


class Variant(NamedTuple):
    """One way to have events: how those of a turn are made, and how they are told apart."""

    make: Callable[[int], list[Any]]
    tell: Callable[[list[Any]], Counts]


def one_class(*, frozen: bool) -> Variant:
    fields = [
        ("name", str),
        ("kind", str, dataclasses.field(default="tool")),
        ("error", bool, dataclasses.field(default=False)),
        ("phase", str, dataclasses.field(default="finished")),
        ("chain_id", str, dataclasses.field(default="")),
        *((name, object, dataclasses.field(default=None)) for name in _ANY),
    ]
    call = dataclasses.make_dataclass("Call", fields, frozen=frozen, slots=True, kw_only=True)

    def make(number: int) -> list[Any]:
        args, ts = {"path": "src"}, float(number)
        return [
            call(name="grep", args=args, result="12 lines", ts=ts),
            call(
                kind="llm",
                name="message",
                text="Next.",
                ts=ts,
                input_tokens=900,
                output_tokens=90,
                cost_usd=0.1,
            ),
            call(name="grep", args=args, result="12 lines", ts=ts),
            call(kind="user", name="message", text="Go on.", ts=ts),
            call(name="grep", args=args, result="12 lines", ts=ts),
            call(
                kind="llm",
                name="message",
                text="Next.",
                ts=ts,
                input_tokens=900,
                output_tokens=90,
                cost_usd=0.1,
            ),
            call(name="grep", args=args, result="12 lines", ts=ts),
            call(kind="system", name="retry", ts=ts),
        ]

    def tell(events: list[Any]) -> Counts:
        tools = models = messages = notices = 0
        for event in events:
            kind = event.kind
            if kind not in _NO_CALLS:  # any other kind was a tool
                tools += 1
            elif kind == "llm":
                models += 1
            elif kind == "user":
                messages += 1
            else:
                notices += 1
        return tools, models, messages, notices

    return Variant(make, tell)


def class_each(*, frozen: bool) -> Variant:
    classes: tuple[Any, ...] = (ToolCall, ModelCall, Message, Notice, Usage)
    if frozen:
        classes = tuple(map(_frozen, classes))
    tool_call, model_call, message, notice, usage = classes

    def make(number: int) -> list[Any]:
        args, ts = {"path": "src"}, float(number)
        return [
            tool_call(name="grep", args=args, result="12 lines", ts=ts),
            model_call(text="Next.", ts=ts, usage=usage(input_tokens=900, output_tokens=90, cost_usd=0.1)),
            tool_call(name="grep", args=args, result="12 lines", ts=ts),
            message(text="Go on.", ts=ts),
            tool_call(name="grep", args=args, result="12 lines", ts=ts),
            model_call(text="Next.", ts=ts, usage=usage(input_tokens=900, output_tokens=90, cost_usd=0.1)),
            tool_call(name="grep", args=args, result="12 lines", ts=ts),
            notice(kind=NoticeKind.RETRY, ts=ts),
        ]

    def tell(events: list[Any]) -> Counts:
        tools = models = messages = notices = 0
        for event in events:
            if isinstance(event, tool_call):
                tools += 1
            elif isinstance(event, model_call):
                models += 1
            elif isinstance(event, message):
                messages += 1
            else:
                notices += 1
        return tools, models, messages, notices

    return Variant(make, tell)


def _frozen(kind: Any) -> Any:
    """The same class, frozen."""
    fields = [
        (field.name, field.type)
        if field.default is dataclasses.MISSING
        else (field.name, field.type, dataclasses.field(default=field.default))
        for field in dataclasses.fields(kind)
    ]
    return dataclasses.make_dataclass(kind.__name__, fields, frozen=True, slots=True, kw_only=True)


def cost(variants: dict[str, Variant], pieces: int) -> dict[str, dict[str, float]]:
    """Microseconds an event, for each variant."""
    times: dict[str, dict[str, list[float]]] = {name: {"make": [], "tell": []} for name in variants}
    events_of_piece = _PIECE * sum(_TURN)
    gc.collect()
    gc.disable()
    for _ in range(pieces):
        for name, (make, tell) in variants.items():
            begin = time.perf_counter()
            turns = [make(number) for number in range(_PIECE)]
            times[name]["make"].append((time.perf_counter() - begin) / events_of_piece * 1e6)
            begin = time.perf_counter()
            counts = [tell(turn) for turn in turns]
            times[name]["tell"].append((time.perf_counter() - begin) / events_of_piece * 1e6)
            assert set(counts) == {_TURN}
    gc.enable()
    return {
        name: {
            f"{part}_{measure}_us": round(least_or_median(values), 4)
            for part, values in parts.items()
            for measure, least_or_median in (("median", median), ("least", min))
        }
        for name, parts in times.items()
    }


def main() -> None:
    """Measure the four ways and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pieces", type=int, default=500, help=f"pieces of {_PIECE} turns")
    pieces = parser.parse_args().pieces
    rows = cost(
        {
            "one class, frozen": one_class(frozen=True),
            "one class": one_class(frozen=False),
            "a class each, frozen": class_each(frozen=True),
            "a class each": class_each(frozen=False),
        },
        pieces,
    )
    for name, row in rows.items():
        print(
            f"{name:<22} made in {row['make_median_us']:.3f} us (least {row['make_least_us']:.3f}), "
            f"told apart in {row['tell_median_us']:.3f} us (least {row['tell_least_us']:.3f})"
        )
    write_result("speed-events", {"variants": rows, "pieces": pieces, "setup": setup()})


if __name__ == "__main__":
    main()
