"""What following the signal saves, and what it loses, on three sets of real runs with outcomes.

    python -m benchmarks.quality.stopping [--data DIR]

Each run is stopped at the first round at which the meter says SHIP or ESCALATE. Saved are the rounds that
the run went on for after that; lost is a success that it only reached later. Beside it stand every fixed
number of rounds, and no stopping. A fixed number is better than the signal if it saves at least as much and
loses no more, one of the two strictly.

In conversations that have no label, a stop is measured by what it would have cut off: the share of all new
claims that came after it.

Sets: refinement chains (a success is the judge's target label), trials of one environment with reflections
between them (a success is the environment's), steps of question answering (a success is the exact answer).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.traces.reading import loads

EARLY = 0.1  # a stop is early if more than this share of the new claims was still to come


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A real run: the texts that a meter could read, round by round, and how it ended.

    `texts` may be shorter than `length`: what was not recorded gives no signal.
    """

    id: str
    texts: tuple[str, ...]
    length: int
    solved_at: int | None


def refinement_chains(data: Path) -> Iterator[Run]:
    """Rewrites of a review towards a sentiment; the target is met where the judge says so."""
    for row in _rows(data / "rounds" / "self_refine_yelp_gpt4.jsonl.gz"):
        judged = [
            attempt["judged"].rsplit("sentiment is", 1)[-1].strip(" .").lower() for attempt in row["attempts"]
        ]
        met = [number for number, label in enumerate(judged, start=1) if label == row["target"].lower()]
        texts = tuple(attempt["text"] for attempt in row["attempts"])
        yield Run(id=row["id"], texts=texts, length=len(texts), solved_at=met[0] if met else None)


def reflection_trials(data: Path) -> Iterator[Run]:
    """Trials of one household task; a round is the reflection after a failed trial, where one was kept."""
    for row in _rows(data / "rounds" / "alfworld_base.jsonl.gz"):
        solved = next((n for n, trial in enumerate(row["trials"], start=1) if trial["success"]), None)
        length = solved or len(row["trials"])
        failed = length if solved is None else solved - 1
        yield Run(id=row["id"], texts=tuple(row["memory"][:failed]), length=length, solved_at=solved)


def question_steps(data: Path) -> Iterator[Run]:
    """Thought by thought of a question answered with searches; the answer comes with the last step."""
    for row in _rows(data / "loops" / "hotpotqa_react_base.jsonl.gz"):
        texts = tuple(step["thought"] for step in row["steps"])
        solved = len(texts) if row["status"] == "CORRECT" else None
        yield Run(id=row["id"], texts=texts, length=len(texts), solved_at=solved)


SETS: dict[str, Callable[[Path], Iterator[Run]]] = {
    "refinement chains": refinement_chains,
    "reflection trials": reflection_trials,
    "question steps": question_steps,
}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def signal_stop(run: Run, profile: Profile) -> tuple[int, Signal] | None:
    """The first round at which the meter says stop, and which stop."""
    meter = ConvergenceMeter(profile)
    for number, text in enumerate(run.texts, start=1):
        reading = meter.update(Round.from_text(text, number=number))
        if reading is not None and reading.recommendation.signal is not Signal.CONTINUE:
            return number, reading.recommendation.signal
    return None


def outcome(runs: list[Run], stops: list[int | None]) -> dict[str, Any]:
    """Rounds saved and successes lost when each run stops after the given round, or not at all."""
    saved = lost = 0
    for run, stop in zip(runs, stops, strict=True):
        if stop is None or stop >= run.length:
            continue
        saved += run.length - stop
        lost += run.solved_at is not None and run.solved_at > stop
    rounds, solved = sum(run.length for run in runs), sum(run.solved_at is not None for run in runs)
    return {
        "saved": saved,
        "rounds": rounds,
        "saved_share": round(saved / rounds, 4),
        "lost": lost,
        "successes": solved,
        "lost_interval": wilson(lost, solved),
    }


def compare(name: str, runs: list[Run]) -> dict[str, Any]:
    """The signal of both profiles beside every fixed number of rounds."""
    longest = max(run.length for run in runs)
    fixed = {k: outcome(runs, [k] * len(runs)) for k in range(1, longest + 1)}
    result: dict[str, Any] = {"runs": len(runs), "fixed": fixed}
    for profile in (Profile.SPEC, Profile.DEFAULT):
        stops = [signal_stop(run, profile) for run in runs]
        row = outcome(runs, [stop[0] if stop else None for stop in stops])
        early = [
            (stop[1], stop[0]) for run, stop in zip(runs, stops, strict=True) if stop and stop[0] < run.length
        ]
        row["stopped_early"] = {f"{signal} at {at}": n for (signal, at), n in sorted(Counter(early).items())}
        row["stopped_unsolved"] = sum(
            stop is not None and stop[0] < run.length and run.solved_at is None
            for run, stop in zip(runs, stops, strict=True)
        )
        row["unsolved"] = sum(run.solved_at is None for run in runs)
        row["better_fixed"] = [k for k, other in fixed.items() if better(other, row)]
        row["lost_runs"] = [
            run.id
            for run, stop in zip(runs, stops, strict=True)
            if stop and run.solved_at is not None and run.solved_at > stop[0]
        ]
        result[profile.name] = row
    _show(name, result)
    return result


def better(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether a rule saves at least as much and loses no more, one of the two strictly."""
    here, there = (left["saved"], -left["lost"]), (right["saved"], -right["lost"])
    return here != there and all(a >= b for a, b in zip(here, there, strict=True))


def _show(name: str, result: dict[str, Any]) -> None:
    total = result["spec"]
    print(f"\n{name}: {result['runs']} runs, {total['rounds']} rounds, {total['successes']} successes")
    rows = [(f"after {k} rounds", row) for k, row in result["fixed"].items()]
    rows += [(f"signal, {profile}", result[profile]) for profile in ("spec", "default")]
    for label, row in rows:
        low, high = row["lost_interval"]
        print(
            f"  {label:<18} saved {row['saved']:5} ({row['saved_share']:6.1%})   "
            f"lost {row['lost']:4} of {row['successes']} (95 % {low:.3f} to {high:.3f})"
        )
    for profile in ("spec", "default"):
        row = result[profile]
        print(
            f"  {profile}: stopped early {row['stopped_early']}; of {row['unsolved']} unsolved runs "
            f"{row['stopped_unsolved']}; fixed numbers better on both: {row['better_fixed'] or 'none'}"
        )


def conversations(data: Path) -> dict[str, list[Round]]:
    """Chats of two and more speakers, a round a turn."""
    found = {}
    for path in sorted((data / "traces").glob("*_messages/*.json")):
        wire = json.loads(path.read_text(encoding="utf-8"))
        runs = [run["traj"] for run in wire] if isinstance(wire, list) else [wire["history"]]
        for at, messages in enumerate(runs):
            source = f"{path.parent.name}/{path.stem}[{at}]"
            found[source] = list(loads(json.dumps(messages), source=source).rounds)
    return found


def cut_off(rounds: list[Round], profile: Profile) -> float | None:
    """The share of the new claims that came after the first stop; None if there was no stop."""
    meter = ConvergenceMeter(profile)
    readings = [reading for item in rounds if (reading := meter.update(item))]
    stops = (
        at for at, reading in enumerate(readings) if reading.recommendation.signal is not Signal.CONTINUE
    )
    stop = next(stops, None)
    if stop is None:
        return None
    new = [reading.novelty.new_claims for reading in readings]
    return sum(new[stop + 1 :]) / max(sum(new), 1)


def premature_stops(data: Path) -> dict[str, Any]:
    """How many conversations are stopped, and how many of them too early."""
    chats = conversations(data)
    result: dict[str, Any] = {"conversations": len(chats), "rounds": sum(map(len, chats.values()))}
    print(f"\nconversations: {len(chats)}, {result['rounds']} rounds")
    for profile in (Profile.SPEC, Profile.DEFAULT):
        shares = [share for rounds in chats.values() if (share := cut_off(rounds, profile)) is not None]
        early = sum(share > EARLY for share in shares)
        result[profile.name] = {
            "stopped": len(shares),
            "early": early,
            "early_interval": wilson(early, len(chats)),
            "cut_off_shares": sorted(round(share, 3) for share in shares),
        }
        print(
            f"  {profile.name}: stopped {len(shares)}, with over {EARLY:.0%} of what is new to come {early}"
        )
    return result


def main() -> None:
    """Run every set and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    sets = {name: compare(name, list(read(data))) for name, read in SETS.items()}
    chats = premature_stops(data)
    write_result("quality-stopping", {"setup": setup(), "sets": sets, "conversations": chats})


if __name__ == "__main__":
    main()
