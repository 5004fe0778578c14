"""Whether bills add up, what they say of real runs, and what making them costs.

    python -m benchmarks.quality.bill [--runs N] [--data DIR]

`conservation`: of every trace in the data, and of random runs, what is attributed and what is not, beside
what was spent, in units of 1e-12 dollars and in tokens. `waste`: money by kind, over all runs. `cost`:
processor time of `check` with and without the bill, the best of three, on real sessions and on generated
runs (`benchmarks.speed.check`).
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.speed.check import agent, calls, usage, write
from ebbtide.budget.bill.bill import Bill
from ebbtide.budget.bill.bill_recorder import BillRecorder
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally, units
from ebbtide.checking import check
from ebbtide.errors import EbbtideError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary import recorder
from ebbtide.traces.reading import open_trace

_SETS = ("runs/claude_code", "runs/mini_swe_agent", "traces")
_EVENTS = 20_000


def bill_of(events: Iterator[Event] | list[Event], prices: Prices) -> tuple[Bill, Tally]:
    """The bill of a run, and the tally that it has to agree with."""
    run = Tally(prices)
    chains: dict[str, Tally] = {}
    bills = BillRecorder(prices)
    for number, event in enumerate(events, start=1):
        tally = chains.get(event.chain_id)
        if tally is None:
            tally = chains[event.chain_id] = Tally(prices, run)
        tally.add(event, event.ts)
        bills.add(event, number, None if event.usage is None else tally.last_cost)
    return bills.bill(run.cost, run.tokens), run


def gap(bill: Bill, run: Tally) -> tuple[int, int]:
    """Units and tokens by which the parts of a bill miss what was spent."""
    cost = sum(units(line.amount.cost_usd or 0.0) for line in bill.contents)
    tokens = sum(line.amount.tokens for line in bill.contents)
    return cost - (run.cost or 0), tokens - (run.tokens or 0)


def random_run(chance: random.Random) -> list[Event]:
    """A run of every kind of event, with usage of every shape."""
    events: list[Event] = []
    size = 0
    for _ in range(chance.randrange(1, 120)):
        chain = chance.choice(("", "", "", "helper"))
        kind = chance.random()
        if kind < 0.45:
            size = max(0, size + chance.choice((100, 900, 20_000, -500, -size // 2)))
            hits = chance.choice((0, size, size * 9 // 10))
            tokens = {
                "cache_read_tokens": hits,
                chance.choice(("input_tokens", "cache_write_tokens")): size - hits,
            }
            cost = chance.choice((None, None, chance.random()))
            model = chance.choice(("claude-sonnet-4-5", "gpt-5", "nobody-knows"))
            spent = Usage(model=model, output_tokens=chance.choice((None, 3, 700)), cost_usd=cost, **tokens)
            spent.reasoning_tokens = chance.choice((None, 2, 600))
            spent.cache_write_1h_tokens = chance.choice((None, 0, hits, size - hits))
            spent.drop_impossible_parts()
            text = "w" * chance.choice((0, 40, 4_000))
            events.append(ModelCall(text=text, usage=spent, chain_id=chain))
        elif kind < 0.85:
            answer = "r" * chance.choice((0, 30, 3_000, 60_000))
            events.append(ToolCall(name="tool", args={"q": len(events)}, result=answer, chain_id=chain))
        elif kind < 0.93:
            events.append(Message(text="p" * chance.randrange(200), chain_id=chain))
        else:
            notice = chance.choice(
                (NoticeKind.COMPACTION, NoticeKind.TOTAL, NoticeKind.USAGE, NoticeKind.NOTE)
            )
            spent = Usage(cost_usd=chance.random(), output_tokens=chance.randrange(99))
            is_sum = notice in (NoticeKind.TOTAL, NoticeKind.USAGE)
            events.append(Notice(kind=notice, text="n" * 50, usage=spent if is_sum else None, chain_id=chain))
    return events


def conservation(data: Path, runs: int) -> list[dict[str, Any]]:
    """Gaps by set of runs."""
    prices, chance = Prices(), random.Random(14)
    rows = []
    for name in _SETS:
        files = [file for file in sorted((data / name).rglob("*")) if file.is_file()]
        rows.append(_row(name, _bills(files, prices)))
    rows.append(_row("random", (bill_of(random_run(chance), prices) for _ in range(runs))))
    return rows


def _bills(files: list[Path], prices: Prices) -> Iterator[tuple[Bill, Tally]]:
    for file in files:
        try:
            events = [event for event in open_trace(file) if isinstance(event, Event)]
        except EbbtideError:
            continue
        yield bill_of(events, prices)


def _row(name: str, bills: Iterator[tuple[Bill, Tally]]) -> dict[str, Any]:
    runs = with_bill = unequal = 0
    attributed = spent = 0
    for bill, run in bills:
        runs += 1
        with_bill += bill.sentence != ""
        unequal += gap(bill, run) != (0, 0)
        spent += run.cost or 0
        attributed += (run.cost or 0) - units(bill.unattributed.cost_usd or 0.0)
    share = attributed / spent if spent else None
    return {"runs": name, "n": runs, "with a bill": with_bill, "unequal": unequal, "attributed": share}


def waste(data: Path) -> list[dict[str, Any]]:
    """Money by kind of waste, over the runs of each agent."""
    options = RunOptions(prices=Prices())
    rows = []
    for name in _SETS[:2]:
        cost, runs, whole = Counter[str](), Counter[str](), 0.0
        for file in sorted((data / name).glob("*.gz")):
            try:
                bill = check(file, options).bill
            except EbbtideError:
                continue
            whole += bill.total.cost_usd or 0.0
            for line in bill.waste:
                cost[line.kind.value] += line.amount.cost_usd or 0.0
                runs[line.kind.value] += 1
        rows += [
            {"set": name, "kind": kind, "runs": runs[kind], "usd": round(amount, 2), "share": amount / whole}
            for kind, amount in cost.most_common()
        ]
    return rows


class _NoBill:
    """Stands for the bill where its cost is taken away."""

    def __init__(self, *_: object) -> None: ...

    def add(self, *_: object) -> None: ...

    def bill(self, *_: object) -> Bill:
        return Bill()

    def review(self, *_: object) -> None: ...


def cost(data: Path, folder: Path) -> list[dict[str, Any]]:
    """Seconds of `check` with and without the bill."""
    sessions = sorted((data / _SETS[0]).glob("*.gz"), key=lambda file: file.stat().st_size)[-4:]
    sessions += sorted((data / _SETS[1]).glob("*.traj*.gz"))[:20]
    generated = {"calls": calls(_EVENTS), "usage": usage(_EVENTS), "agent": agent(_EVENTS // 5, data)}
    inputs = {"real": sessions}
    inputs |= {name: [write(folder / f"{name}.jsonl", events)] for name, events in generated.items()}
    options = RunOptions(prices=Prices())
    rows = []
    for name, files in inputs.items():
        with_bill, without = (
            _seconds(files, options, with_bill=True),
            _seconds(files, options, with_bill=False),
        )
        for _ in range(2):
            with_bill = min(with_bill, _seconds(files, options, with_bill=True))
            without = min(without, _seconds(files, options, with_bill=False))
        rows.append(
            {"input": name, "with bill s": with_bill, "without s": without, "ratio": with_bill / without}
        )
    return rows


def _seconds(files: list[Path], options: RunOptions, *, with_bill: bool) -> float:
    classes = recorder.BillRecorder, recorder.CallReviewer
    if not with_bill:
        recorder.BillRecorder = recorder.CallReviewer = _NoBill  # type: ignore[assignment,misc]
    try:
        begin = time.process_time()
        for file in files:
            check(file, options)
        return time.process_time() - begin
    finally:
        recorder.BillRecorder, recorder.CallReviewer = classes  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--runs", type=int, default=10_000, help="random runs")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    result: dict[str, Any] = {"setup": setup(), "conservation": conservation(data, arguments.runs)}
    result["waste"] = waste(data)
    with tempfile.TemporaryDirectory() as folder:
        result["cost"] = cost(data, Path(folder))
    for name in ("conservation", "waste", "cost"):
        for row in result[name]:
            print(
                name,
                *(
                    f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}"
                    for key, value in row.items()
                ),
                sep="  ",
            )
    write_result("bill", result)


if __name__ == "__main__":
    main()
