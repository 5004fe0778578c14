"""How the cost of one text grows with its length, for every shape of text and every path that takes one.

    python -m benchmarks.speed.text_growth [--shape NAME] [--path NAME] [--largest KB]

For each path and shape: milliseconds of processor time at 32 KB, and the exponent of the growth from 8 to 32
KB (1 is linear, 2 quadratic; not shown below half a millisecond, where it would be noise). The goal is 20 ms
at 30 KB and an exponent below 1.3. A path that took more than 0.4 seconds is not asked for larger sizes.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import setup, write_result
from benchmarks.speed.text_shapes import SHAPES, text_of
from ebbtide.convergence.meter import ConvergenceMeter, score_transcript
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decisions.candidate import Candidate, Source, TurnContext
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.decisions.turns.filtered_turns import SpokenTurn
from ebbtide.decisions.turns.turn_candidates import candidates_of
from ebbtide.decisions.turns.turn_filter import TurnFilter
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, ToolCall
from ebbtide.events.outcome import outcome_of
from ebbtide.events.transcript import Round, Transcript
from ebbtide.profile import Profile
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.text.extraction.turn import Speaker, extract
from ebbtide.text.noise import without_fresh_names, without_noise

_ROUNDS = 3  # similar texts that follow each other
_PIECE = 24  # characters of a piece of a stream
_KB = 1 << 10
_SLOW_S = 0.4
_FAST_MS = 0.5
GOAL_MS = 20.0
GOAL_EXPONENT = 1.3

#: Takes similar texts one after the other, and gives the seconds that the slowest of them took.
Path = Callable[[list[str]], float]


def _slowest(see: Callable[[str], object], texts: list[str]) -> float:
    longest = 0.0
    for text in texts:
        begin = time.thread_time()
        see(text)
        longest = max(longest, time.thread_time() - begin)
    return longest


def model_text(texts: list[str]) -> float:
    """A turn of a model that is read as a round, since a person answers."""
    supervisor = Supervisor(eager_rounds=1_000)

    def see(text: str) -> None:
        supervisor.record(ModelCall(text=text))
        supervisor.record(Message(text="Go on."))

    return _slowest(see, texts)


def message_text(texts: list[str]) -> float:
    supervisor = Supervisor(eager_rounds=1_000)
    return _slowest(lambda text: supervisor.record(Message(text=text)), texts)


def thought_text(texts: list[str]) -> float:
    supervisor = Supervisor()
    return _slowest(lambda text: supervisor.record(ModelCall(text=text, part=ModelPart.THOUGHT)), texts)


def stream(texts: list[str]) -> float:
    """A turn that comes in pieces."""
    supervisor = Supervisor()

    def see(text: str) -> None:
        for start in range(0, len(text), _PIECE):
            piece = text[start : start + _PIECE]
            supervisor.record(ModelCall(text=piece, part=ModelPart.CHUNK))
        supervisor.record(Message(text=f"Go on with {len(text)}."))

    return _slowest(see, texts)


def one_chunk(texts: list[str]) -> float:
    """A turn that comes in one piece of a stream."""
    supervisor = Supervisor()
    return _slowest(lambda text: supervisor.record(ModelCall(text=text, part=ModelPart.CHUNK)), texts)


def _calls(make: Callable[[str], Event]) -> Path:
    def path(texts: list[str]) -> float:
        supervisor = Supervisor()
        return _slowest(lambda text: supervisor.record(make(text)), texts)

    return path


def recorder(texts: list[str]) -> float:
    """As `check` reads a run: with a summary and its decisions."""
    run = RunRecorder()

    def see(text: str) -> None:
        run.record(ModelCall(text=text))
        run.record(Message(text="Go on."))

    return _slowest(see, texts)


def rounds(texts: list[str]) -> float:
    meter = ConvergenceMeter()
    numbers = iter(range(1, len(texts) + 1))
    return _slowest(lambda text: meter.update(Round.from_text(text, number=next(numbers))), texts)


def explained(texts: list[str]) -> float:
    meter = ConvergenceMeter(explain=True)
    numbers = iter(range(1, len(texts) + 1))
    return _slowest(lambda text: meter.update(Round.from_text(text, number=next(numbers))), texts)


def _listed(profile: Profile, *, lines: bool) -> Path:
    """A transcript whose rounds list claims, questions and actions: the lines of a text, or all of it."""

    def path(texts: list[str]) -> float:
        rows = [tuple(text.split("\n")) if lines else (text,) for text in texts]
        items = tuple(
            Round(number=place, claims=row, open_questions=row, next_actions=row, summary=text)
            for place, (row, text) in enumerate(zip(rows, texts, strict=True), 1)
        )
        transcript = Transcript(conversation_id="x", rounds=items)
        begin = time.thread_time()
        score_transcript(transcript, profile)
        return (time.thread_time() - begin) / len(texts)

    return path


def _assessed(profile: Profile) -> Path:
    def see(text: str) -> None:
        assess(Candidate(description=text), TurnContext(text=f"{text}.", tool_results=("",)), profile)
        assess(Candidate(description=text, source=Source.EXPLICIT), profile=profile)

    return lambda texts: _slowest(see, texts)


def filtered(texts: list[str]) -> float:
    """As `decisions from` reads a conversation."""
    turns = TurnFilter()

    def see(text: str) -> None:
        turns.take(SpokenTurn(number=turns.turns + 1, speaker="agent", text=text))

    return _slowest(see, texts)


def duplicates(texts: list[str]) -> float:
    earlier: list[Earlier] = []

    def see(text: str) -> None:
        find_duplicate(text, earlier, ts=0.0)
        earlier.append(Earlier(id=str(len(earlier)), text=text, ts=0.0))

    return _slowest(see, texts)


def decision_log(texts: list[str]) -> float:
    with DecisionLog.open(":memory:", agent="coder") as log:
        work = Deliberation(log)
        return _slowest(work.record_decision, texts)


PATHS: dict[str, Path] = {
    "record a model's text": model_text,
    "record a message": message_text,
    "record a thought": thought_text,
    "record a stream": stream,
    "record one chunk": one_chunk,
    "record an answer": _calls(lambda text: ToolCall(name="read", args={"path": "a"}, result=text)),
    "record a failure": _calls(lambda text: ToolCall(name="run", args={"n": 1}, result=text, error=True)),
    "record arguments": _calls(lambda text: ToolCall(name="write", args={"text": text}, result="ok")),
    "record a command": _calls(lambda text: ToolCall(name="bash", args={"command": text}, result="ok")),
    "RunRecorder": recorder,
    "rounds": rounds,
    "rounds, explained": explained,
    "score, lines": _listed(Profile.SPEC, lines=True),
    "score, one claim": _listed(Profile.SPEC, lines=False),
    "score, lines, default": _listed(Profile.DEFAULT, lines=True),
    "score, one claim, default": _listed(Profile.DEFAULT, lines=False),
    "extract": lambda texts: _slowest(extract, texts),
    "assess": _assessed(Profile.DEFAULT),
    "assess, spec": _assessed(Profile.SPEC),
    "candidates": lambda texts: _slowest(candidates_of, texts),
    "candidates, person": lambda texts: _slowest(lambda text: candidates_of(text, Speaker.PERSON), texts),
    "decisions from": filtered,
    "duplicates": duplicates,
    "DecisionLog": decision_log,
    "outcome": lambda texts: _slowest(lambda text: outcome_of(text, text, failed=True), texts),
    "noise": lambda texts: _slowest(lambda text: without_fresh_names(without_noise(text)), texts),
}


def grow(path: Path, shape: str, sizes: list[int]) -> dict[int, float]:
    """Milliseconds by size; of several similar texts that of the slowest, the best of three times."""
    by_size: dict[int, float] = {}
    for size in sizes:
        texts = [text_of(shape, size, variant) for variant in range(_ROUNDS)]
        seconds = path(texts)
        if seconds > GOAL_MS / 2e3 and seconds < _SLOW_S:
            seconds = min(seconds, path(texts), path(texts))
        by_size[size] = round(seconds * 1e3, 3)
        if seconds > _SLOW_S:
            break
    return by_size


def exponent(by_size: dict[int, float]) -> float | None:
    """The exponent of the growth over the two last doublings; None where the times are too short to say."""
    last = max(by_size)
    first = last // 4
    if first not in by_size or by_size[last] < _FAST_MS or by_size[first] <= 0:
        return None
    return round(math.log(by_size[last] / by_size[first], 4), 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", help="only shapes with this in their name")
    parser.add_argument("--path", help="only paths with this in their name")
    parser.add_argument("--largest", type=int, default=32, help="KB of the largest text")
    parser.add_argument("--worst", type=int, default=40, help="how many rows to show")
    options = parser.parse_args()
    sizes = [size * _KB for size in (8, 16, 32, 64, 128, 256, 512, 1024) if size <= options.largest]
    rows = []
    gc.disable()
    for name, path in PATHS.items():
        if options.path and options.path not in name:
            continue
        path([text_of("prose", 2 * _KB, variant) for variant in range(2)])  # loads and compiles
        for shape in SHAPES:
            if options.shape and options.shape not in shape:
                continue
            by_size = grow(path, shape, sizes)
            at = by_size.get(32 * _KB, max(by_size.values()))
            row = {"path": name, "shape": shape, "ms_at_32_kb": at, "exponent": exponent(by_size)}
            rows.append({**row, "ms": {str(size): each for size, each in by_size.items()}})
            gc.collect()
    rows.sort(key=lambda row: -row["ms_at_32_kb"])
    slow = [row for row in rows if row["ms_at_32_kb"] > GOAL_MS]
    steep = [row for row in rows if (row["exponent"] or 0) > GOAL_EXPONENT]
    print(f"{len(rows)} rows; {len(slow)} over {GOAL_MS:g} ms at 32 KB, {len(steep)} grow steeper than asked")
    show(rows[: options.worst])
    print("steepest:")
    show(sorted(steep, key=lambda row: -row["exponent"])[: options.worst])
    if not (options.shape or options.path):
        result: dict[str, Any] = {
            "setup": setup(),
            "goal": {"ms_at_32_kb": GOAL_MS, "exponent": GOAL_EXPONENT},
            "rows": len(rows),
            "over_ms": len(slow),
            "over_exponent": len(steep),
            "by_path": {
                name: max((row["ms_at_32_kb"] for row in rows if row["path"] == name), default=0.0)
                for name in PATHS
            },
            "worst": [{key: value for key, value in row.items() if key != "ms"} for row in rows[:100]],
            "steepest": [{key: value for key, value in row.items() if key != "ms"} for row in steep[:100]],
        }
        write_result("speed-text-growth", result)


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows."""
    for row in rows:
        times = " ".join(f"{each:9.2f}" for each in row["ms"].values())
        print(
            f"{row['path']:26} {row['shape']:22} {row['ms_at_32_kb']:10.2f} ms  ^{row['exponent']}  [{times}]"
        )


if __name__ == "__main__":
    main()
