"""What following the joint verdict saves, and what it loses, beside each engine alone and fixed limits.

    python -m benchmarks.quality.joint_verdict [--data DIR]

Each recorded run is ended at the first finalize, escalate or stop. Saved are the turns and tokens after that;
lost is a success that only came later. No run could be told anything: what a nudge would have changed cannot
be seen in a recording, so nudges only count, as runs that succeeded and were nudged before they did.

A turn is a call of a tool, or a message that is followed by none. No set tells tokens: they are characters
/ 4 of all that was said up to a turn, as a model reads the whole conversation at every turn. In the shell and
SQL episodes texts are cut in the data, so that there the tokens are too few.

Sets: shell and SQL episodes (a success is the full reward, at the step that brings it; 1,225 episodes are
given theirs at `submit` alone, and count as lost where they are ended before it), question answering
(CORRECT), airline support (reward 1), software issues (resolved; no answers of tools are in the data), and
the refinement chains and reflection trials of `benchmarks.quality.stopping`, handed over as rounds. Alone:
the loop monitor at the first report of a loop, and at the second report of one; the convergence engine on
every text of the model. Budget: the tokens that nine of ten successful runs of the set stay below, as a hard
limit alone, and with the joint rule before it.

Nothing was fitted to these sets. The rows below a set's line of dashes show what other settings would do.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality import run_sets, stopping
from benchmarks.quality.run_sets import RecordedRun
from ebbtide.budget.limits import Limits
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.profile.supervision import SupervisionRules
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.supervisor import Supervisor

_FIXED = (3, 5, 7, 10, 15, 20, 30)


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run: its events, with turn and tokens of each; the turn that brought success; its turns."""

    events: tuple[Event | Round, ...]
    turns: tuple[int, ...]
    tokens: tuple[int, ...]
    success: int | None
    length: int


def metered(run: RecordedRun) -> Run:
    """A run with the turn and the tokens of each of its events."""
    turns, turn, talking = [], 0, False
    for event in run.events:
        if isinstance(event, ToolCall):
            turn += not talking
            talking = False
        elif isinstance(event, ModelCall):
            turn += not talking
            talking = True
        else:
            talking = False
        turns.append(max(turn, 1))
    events: list[Event | Round] = []
    tokens, characters = [], 0
    for event in run.events:
        characters += _size(event)
        if isinstance(event, (ToolCall, ModelCall)):
            tokens.append(characters // 4)
            events.append(dataclasses.replace(event, usage=Usage(input_tokens=tokens[-1])))
        else:
            tokens.append(0)
            events.append(event)
    success = None if run.success_at is None else turns[run.success_at]
    return Run(tuple(events), tuple(turns), tuple(tokens), success, turns[-1] if turns else 0)


def _size(event: Event | Round) -> int:
    """Characters of an event."""
    if isinstance(event, ToolCall):
        return len(str(event.args or "")) + len(str(event.result or ""))
    return len(getattr(event, "text", None) or "")


def conversation(run: stopping.Run) -> Run:
    """A run whose rounds are handed over; what was not recorded gives none."""
    sizes = list(itertools.accumulate(map(len, run.texts)))
    rounds = tuple(Round.from_text(text, number=number) for number, text in enumerate(run.texts, start=1))
    turns = tuple(range(1, len(rounds) + 1))
    return Run(rounds, turns, tuple(size // 4 for size in sizes), run.solved_at, run.length)


SETS: dict[str, Callable[[Path], Iterator[Run]]] = {
    "shell and SQL episodes": lambda data: map(metered, run_sets.episodes(data)),
    "question answering": lambda data: map(metered, run_sets.questions(data)),
    "airline support": lambda data: map(metered, run_sets.support(data)),
    "software issues": lambda data: map(metered, run_sets.transitions(data)),
    "refinement chains": lambda data: map(conversation, stopping.refinement_chains(data)),
    "reflection trials": lambda data: map(conversation, stopping.reflection_trials(data)),
}

Policy = Callable[[Run], int | None]  # the event, from 0, after which the run is ended


def joint(limits: Limits | None = None, **rules: Any) -> Policy:
    profile = dataclasses.replace(Profile.DEFAULT, supervision=SupervisionRules(**rules))

    def ended(run: Run) -> int | None:
        supervisor = Supervisor(profile, limits=limits)
        for place, event in enumerate(run.events):
            if supervisor.record(event).ends:
                return place
        return None

    return ended


def loops_at(report: int) -> Policy:
    def ended(run: Run) -> int | None:
        monitor = LoopMonitor()
        for place, event in enumerate(run.events):
            if isinstance(event, Event) and any(signal.report >= report for signal in monitor.update(event)):
                return place
        return None

    return ended


def every_text(run: Run) -> int | None:
    """The convergence engine, told every text of the model as a round."""
    meter = ConvergenceMeter()
    number = 0
    for place, event in enumerate(run.events):
        text = event.text if isinstance(event, (Round, ModelCall)) else None
        if text:
            number += 1
            reading = meter.update(Round.from_text(text, number=number))
            if reading is not None and reading.recommendation.signal is not Signal.CONTINUE:
                return place
    return None


def fixed(turns: int) -> Policy:
    def ended(run: Run) -> int | None:
        at = sum(turn <= turns for turn in run.turns) - 1
        return at if run.length > turns and at >= 0 else None

    return ended


def outcome(runs: Sequence[Run], ends: Sequence[int | None]) -> dict[str, Any]:
    """Turns and tokens saved, and successes lost."""
    saved = tokens = lost = ended = 0
    for run, end in zip(runs, ends, strict=True):
        if end is None:
            continue
        ended += 1
        turn = run.turns[end]
        saved += run.length - turn
        tokens += sum(run.tokens[end + 1 :])
        lost += run.success is not None and run.success > turn
    successes = sum(run.success is not None for run in runs)
    turns, total = sum(run.length for run in runs), sum(sum(run.tokens) for run in runs)
    return {
        "ended": ended,
        "turns_saved": saved,
        "turns": turns,
        "turns_saved_share": round(saved / max(turns, 1), 4),
        "tokens_saved": tokens,
        "tokens": total,
        "tokens_saved_share": round(tokens / max(total, 1), 4),
        "lost": lost,
        "successes": successes,
        "lost_interval": wilson(lost, successes),
    }


def nudged(runs: Sequence[Run]) -> dict[str, Any]:
    """Runs that succeeded and were nudged before they did."""
    count = 0
    successes = [run for run in runs if run.success is not None]
    for run in successes:
        supervisor = Supervisor()
        verdicts = (
            supervisor.record(event)
            for event, turn in zip(run.events, run.turns, strict=True)
            if turn < (run.success or 0)
        )
        count += any(verdict.action is not Action.ALLOW for verdict in verdicts)
    return {"nudged": count, "of": len(successes), "interval": wilson(count, len(successes))}


def budget_of(runs: Sequence[Run]) -> int:
    """Tokens that nine of ten successful runs stay below."""
    used = sorted(sum(run.tokens) for run in runs if run.success is not None) or [0]
    return used[min(int(len(used) * 0.9), len(used) - 1)]


def measure(name: str, runs: Sequence[Run]) -> dict[str, Any]:
    budget = budget_of(runs)
    policies: dict[str, Policy] = {
        "joint verdict": joint(),
        "loops alone, first report": loops_at(1),
        "loops alone, second report": loops_at(2),
        "convergence alone": every_text,
        "budget alone": joint(Limits(tokens=budget, warn_at=None), joint_from=None),
        "budget and joint rule": joint(Limits(tokens=budget, warn_at=None)),
    }
    policies |= {f"at most {turns} turns": fixed(turns) for turns in _FIXED}
    policies |= {
        "- one dry round": joint(dry_rounds=1),
        "- three dry rounds": joint(dry_rounds=3),
        "- a person is no news": joint(person_is_news=False),
        "- joint rule from 0.25": joint(joint_from=0.25, joint_escalates_from=0.5),
    }
    rows = {label: outcome(runs, list(map(policy, runs))) for label, policy in policies.items()}
    print(f"\n{name}: {len(runs)} runs, {rows['joint verdict']['turns']} turns")
    for label, row in rows.items():
        low, high = row["lost_interval"]
        print(
            f"  {label:<26} ended {row['ended']:5}  saved {row['turns_saved']:6} turns "
            f"({row['turns_saved_share']:6.1%}), {row['tokens_saved_share']:6.1%} of tokens   "
            f"lost {row['lost']:4} of {row['successes']} (95 % {low:.4f} to {high:.4f})"
        )
    nudges = nudged(runs)
    print(f"  successful runs that are nudged before they succeed: {nudges['nudged']} of {nudges['of']}")
    return {"runs": len(runs), "budget_tokens": budget, "rows": rows, "nudged": nudges}


def main() -> None:
    """Run every set and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    sets = {}
    for name, read in SETS.items():
        sets[name] = measure(name, list(read(data)))
    write_result("quality-joint-verdict", {"setup": setup(), "sets": sets})


if __name__ == "__main__":
    main()
