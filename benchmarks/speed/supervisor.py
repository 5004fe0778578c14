"""What an event costs the supervisor, with loops, convergence, limits and the joint rule on, no semantics.

    python -m benchmarks.speed.supervisor [--data DIR] [--events N]

Mixes: `calls` are the six tools of `benchmarks.speed.monitor`, with times; `spending` are the same, each
with tokens and a cost; `usage` are calls of a model that tell tokens and a cost, each before a call of a
tool; `agent` is a coding agent: real thoughts and actions of software issues, each thought a message before
its call, with tokens and a cost, and a round of the conversation with a person every 40 events; `support`
is the airline's runs, texts of a model, a person and tools, as they are; `talk` are the model's texts of
these, one round after the other, and nothing else: the dearest there is. Texts repeat after 2,000 to 3,000
events; every repeat has a number in each text, so that nothing is found in a memory of texts. `recorder` is
the same with the summary of `ebbtide check` kept beside it, and `monitor` the loop monitor alone.

Only our part is timed, by the processor time of the thread, in blocks; the median block is told, and the
mean, which has the bursts in it.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.run_sets import chat_events, lines
from benchmarks.speed.monitor import flat
from ebbtide.budget.limits import Limits
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.supervisor import Supervisor

_BLOCK = 500
_LIMITS = Limits(cost_usd=1e9, tokens=10**11, steps=10**9, llm_calls=10**9, tool_calls=10**9, wall_s=1e9)
_EVERY = 40
_KINDS = {"tool": ToolCall, "llm": ModelCall, "user": Message}

Make = Callable[[], Iterator[Event]]


def calls(_data: Path) -> Iterator[ToolCall]:
    for number in itertools.count():
        yield dataclasses.replace(flat(number), seq=None, ts=float(number))


def spending(_data: Path) -> Iterator[Event]:
    for call in calls(_data):
        yield dataclasses.replace(call, usage=Usage(input_tokens=900, cost_usd=0.004))


def usage(_data: Path) -> Iterator[Event]:
    for call in calls(_data):
        yield ModelCall(ts=call.ts, usage=Usage(cost_usd=0.02, input_tokens=4_000, output_tokens=90))
        yield call


def _thoughts(data: Path) -> Iterator[tuple[str, str]]:
    rows = list(lines(data / "loops" / "swe_transitions.jsonl.gz"))
    for again in itertools.count():
        for row in rows:
            for thought, action in zip(row["thoughts"], row["actions"], strict=False):
                yield f"{thought} ({again})", f"{action} {again}"


def agent(data: Path) -> Iterator[Event]:
    spent = Usage(model="some-model", input_tokens=4_000, output_tokens=300, cost_usd=0.02)
    for number, (thought, action) in enumerate(_thoughts(data)):
        at = float(number * 10)
        yield ModelCall(text=thought, ts=at, usage=spent)
        if number % (_EVERY // 2) == 0:
            yield Message(text=f"Now do part {number}.", ts=at)
        else:
            yield ToolCall(name="bash", args={"command": action}, result=f"{action} done", ts=at + 3)


def support(data: Path) -> Iterator[Event]:
    path = data / "traces" / "openai_messages" / "tau_airline_20.json"
    runs = [list(chat_events(run["traj"])) for run in json.loads(path.read_text(encoding="utf-8"))]
    for again in itertools.count():
        for event in itertools.chain.from_iterable(runs):
            if isinstance(event, ToolCall):
                args = {**event.args, "again": again} if isinstance(event.args, dict) else event.args
                yield dataclasses.replace(event, args=args)
            else:
                text = None if event.text is None else f"{event.text} ({again})"
                yield dataclasses.replace(event, text=text)


def talk(data: Path) -> Iterator[Event]:
    for event in support(data):
        if isinstance(event, ModelCall):
            yield event


MIXES: dict[str, Callable[[Path], Iterator[Event]]] = {
    "calls": calls,
    "spending": spending,
    "usage": usage,
    "agent": agent,
    "support": support,
    "talk": talk,
}


def cost_us(see: Callable[[Event], object], events: Iterator[Event], count: int) -> dict[str, float]:
    """Microseconds an event: the median block, and the mean."""
    blocks = []
    gc.collect()
    for _ in range(max(count // _BLOCK, 1)):
        block = list(itertools.islice(events, _BLOCK))
        gc.disable()
        begin = time.thread_time()
        for event in block:
            see(event)
        blocks.append((time.thread_time() - begin) / len(block) * 1e6)
        gc.enable()
    return {"median_us": round(median(blocks), 2), "mean_us": round(mean(blocks), 2)}


def main() -> None:
    """Measure every mix and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--events", type=int, default=20_000, help="events of a mix; a tenth of it for talk")
    options = parser.parse_args()
    data = data_folder(options.data)
    rows: dict[str, Any] = {}
    for name, mix in MIXES.items():
        count = options.events // 10 if name == "talk" else options.events
        supervisor = Supervisor(limits=_LIMITS)
        row: dict[str, Any] = {"events": count, "supervisor": cost_us(supervisor.record, mix(data), count)}
        row["rounds_read"] = sum(one.rounds for one in supervisor.snapshot().conversations)
        row["state_bytes"] = len(supervisor.to_bytes())
        row["monitor"] = cost_us(LoopMonitor().update, mix(data), count)
        row["recorder"] = cost_us(RunRecorder(RunOptions(limits=_LIMITS)).record, mix(data), count)
        kinds = [type(event) for event in itertools.islice(mix(data), 2_000)]
        row["mix"] = {label: round(kinds.count(kind) / len(kinds), 3) for label, kind in _KINDS.items()}
        rows[name] = row
        print(
            f"{name:8} {row['mix']}: {row['supervisor']['median_us']:.2f} us an event (mean "
            f"{row['supervisor']['mean_us']:.2f}), monitor alone {row['monitor']['median_us']:.2f}, recorder "
            f"{row['recorder']['median_us']:.2f} (mean {row['recorder']['mean_us']:.2f}); "
            f"{row['rounds_read']} rounds read of {count} events, {row['state_bytes']} bytes"
        )
    write_result("speed-supervisor", {"mixes": rows, "setup": setup()})


if __name__ == "__main__":
    main()
