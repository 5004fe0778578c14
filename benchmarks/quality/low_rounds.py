"""Which rounds are low: by the peak, by a round's own share of new claims, by either or by both.

    python -m benchmarks.quality.low_rounds [--data DIR]

A run is stopped at the second low round in a row, whatever is recommended there: three while hardly anything
was said. Saved are the rounds after that; lost is a success that the run only reached later. In conversations
without a label a stop is early if more than a tenth of what is new came after it. The last lines stop after
one low round where readiness is HIGH and nothing is new.

In five folds of the three sets with outcomes the definition is chosen that saves the most, as a share of each
set, among those that lose no more than the present one in any of them; held out is what it then saves and
loses on the fifth that it was not chosen on.

Sets: those of `benchmarks.quality.stopping`, the debates of `benchmarks.quality.consensus` (lost is a success
of the majority), chats, sessions of coding agents, and runs under an orchestrator.
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.consensus import Debate, as_turns, debates, ledgers
from benchmarks.quality.stopping import EARLY, SETS, Run, conversations, outcome
from ebbtide.convergence.novelty import NoveltyMeter
from ebbtide.convergence.readiness import Readiness, assess_readiness
from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.traces.reading import loads

_FOLDS = 5
_SEEDS = 4
_NEEDED = 2  # low rounds in a row
_THIN = 2  # claims so far under which it takes one more


class Facts(NamedTuple):
    """What a definition looks at in a round."""

    rate: float
    new: int
    claims: int
    asks_anew: bool
    new_so_far: int
    ready: bool

    @property
    def share(self) -> float:
        """New claims over the claims of the round."""
        return self.new / self.claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """When a round with claims is low, and how many of them stop a run that is ready."""

    name: str
    low: Callable[[Facts], bool] = field(repr=False)
    ready_needed: int = _NEEDED


def _definitions() -> Iterator[Definition]:
    yield Definition(name="peak < 0.15", low=lambda facts: facts.rate < 0.15)
    yield Definition(
        name="peak < 0.15, own <= 0.5", low=lambda facts: facts.rate < 0.15 and facts.share <= 0.5
    )
    for own in (0.1, 0.15, 0.2, 0.25, 0.34, 0.5):
        yield Definition(name=f"own < {own}", low=lambda facts, own=own: facts.share < own)
    for own in (0.15, 0.25, 0.34, 0.5):
        yield Definition(
            name=f"either, own < {own}",
            low=lambda facts, own=own: facts.share < own or (facts.rate < 0.15 and facts.share <= 0.5),
        )
    for own in (0.15, 0.25, 0.34):
        yield Definition(
            name=f"both, own < {own}", low=lambda facts, own=own: facts.rate < 0.15 and facts.share < own
        )


DEFINITIONS = tuple(_definitions())
LETTER, PRESENT = DEFINITIONS[:2]
DEFAULT = next(each for each in DEFINITIONS if each.name == "own < 0.25")
READY_ONCE = tuple(
    Definition(name=f"{each.name}, once if ready", low=each.low, ready_needed=1)
    for each in (LETTER, PRESENT, DEFAULT)
)


def facts_of(rounds: Iterable[Round]) -> list[Facts]:
    """What the definitions look at, round by round."""
    rules = Profile.DEFAULT
    claims, questions = NoveltyMeter(rules.novelty), NoveltyMeter(rules.novelty)
    rows: list[Facts] = []
    before: int | None = None
    for item in rounds:
        novelty = claims.update(item.claims, item.number)
        asked = questions.update(item.open_questions, item.number)
        readiness = assess_readiness(item, before, rules.readiness)
        before = len(item.open_questions)
        rows.append(
            Facts(
                rate=novelty.rate,
                new=novelty.new_claims,
                claims=novelty.claims,
                asks_anew=asked.new_claims > 0,
                new_so_far=novelty.new_so_far,
                ready=readiness.classification is Readiness.HIGH and not readiness.blocked,
            )
        )
    return rows


def stop_of(rows: Sequence[Facts], definition: Definition) -> int | None:
    """The round at which a run is stopped; None where it is not."""
    low_run = 0
    for number, facts in enumerate(rows, start=1):
        low = definition.low(facts) if facts.claims else not facts.asks_anew
        low_run = low_run + 1 if low else 0
        needed = definition.ready_needed if facts.ready and not facts.new else _NEEDED
        if low_run and low_run >= needed + (facts.new_so_far < _THIN):
            return number
    return None


def _texts(run: Run) -> list[Round]:
    return [Round.from_text(text, number=number) for number, text in enumerate(run.texts, start=1)]


def debate_outcome(pairs: Sequence[tuple[Debate, list[Facts]]], definition: Definition) -> dict[str, Any]:
    """Turns saved and successes of the majority lost."""
    saved = lost = 0
    for debate, rows in pairs:
        stop = stop_of(rows, definition)
        if stop is None or stop >= len(rows):
            continue
        saved += len(rows) - stop
        latest = [here.answers for _, here in as_turns(debate)][stop - 1]
        lost += debate.right(debate.rounds[-1]) and not debate.right(latest)
    turns = sum(len(rows) for _, rows in pairs)
    successes = sum(debate.right(debate.rounds[-1]) for debate, _ in pairs)
    return {"saved": saved, "rounds": turns, "lost": lost, "lost_interval": wilson(lost, successes)}


def early_stops(chats: Sequence[list[Facts]], definition: Definition) -> dict[str, Any]:
    """How many conversations are stopped, and how many of them with much that is new to come."""
    stopped = early = 0
    for rows in chats:
        stop = stop_of(rows, definition)
        if stop is not None:
            new = [facts.new for facts in rows]
            stopped += 1
            early += sum(new[stop:]) / max(sum(new), 1) > EARLY
    return {"conversations": len(chats), "stopped": stopped, "early": early}


def coding_sessions(data: Path) -> Iterator[list[Round]]:
    """Sessions of coding agents that are read as conversations."""
    for path in sorted((data / "decisions" / "coding_chats").glob("*.md.gz")):
        try:
            yield list(loads(gzip.decompress(path.read_bytes()).decode("utf-8"), source=path.stem).rounds)
        except TranscriptError:
            continue


_Labelled = Mapping[str, Sequence[tuple[Run, list[Facts]]]]


def _outcome(pairs: Sequence[tuple[Run, list[Facts]]], definition: Definition) -> dict[str, Any]:
    return outcome([run for run, _ in pairs], [stop_of(rows, definition) for _, rows in pairs])


def choose(sets: _Labelled) -> Definition:
    """The definition that saves the most among those that lose no more than the present one in any set."""
    rows = {each: [_outcome(pairs, each) for pairs in sets.values()] for each in DEFINITIONS}

    def allowed(definition: Definition) -> bool:
        pairs = zip(rows[definition], rows[PRESENT], strict=True)
        return all(here["lost"] <= there["lost"] for here, there in pairs)

    return max(filter(allowed, DEFINITIONS), key=lambda each: sum(row["saved_share"] for row in rows[each]))


def held_out(sets: _Labelled) -> dict[str, Any]:
    """What the chosen definition saves and loses where it was not chosen, a repetition's mean."""
    names: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for seed in range(_SEEDS):
        mixed = {name: random.Random(seed).sample(pairs, len(pairs)) for name, pairs in sets.items()}
        for fold in range(_FOLDS):
            inside = {n: [p for at, p in enumerate(ps) if at % _FOLDS != fold] for n, ps in mixed.items()}
            chosen = choose(inside)
            names[chosen.name] += 1
            for name, pairs in mixed.items():
                for label, each in (("chosen", chosen), ("default", DEFAULT), ("present", PRESENT)):
                    row = _outcome(pairs[fold::_FOLDS], each)
                    totals[f"{name}, {label}, saved"] += row["saved"]
                    totals[f"{name}, {label}, lost"] += row["lost"]
    return {"chosen": dict(names), **{name: total / _SEEDS for name, total in totals.items()}}


def main() -> None:
    """Print one table, and what the folds choose."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    labelled = {name: [(run, facts_of(_texts(run))) for run in read(data)] for name, read in SETS.items()}
    argued = [(debate, facts_of(item for item, _ in as_turns(debate))) for debate in debates(data)]
    talk = {
        "chats": [facts_of(rounds) for rounds in conversations(data).values()],
        "coding": [facts_of(rounds) for rounds in coding_sessions(data)],
        "ledgers": [facts_of(rounds) for _, rounds in ledgers(data)],
    }
    heads = [*labelled, "debates", *(f"{name} ({len(chats)})" for name, chats in talk.items())]
    print(f"{'':<34}" + "".join(f"{head:>19}" for head in heads))
    print(f"{'':<34}" + f"{'saved, lost':>19}" * (len(labelled) + 1) + f"{'stopped, early':>19}" * len(talk))
    table: dict[str, dict[str, Any]] = {}
    for definition in (*DEFINITIONS, *READY_ONCE):
        row = {name: _outcome(pairs, definition) for name, pairs in labelled.items()}
        row["debates"] = debate_outcome(argued, definition)
        cells = [f"{each['saved']}, {each['lost']}" for each in row.values()]
        row |= {name: early_stops(chats, definition) for name, chats in talk.items()}
        cells += [f"{row[name]['stopped']}, {row[name]['early']}" for name in talk]
        print(f"{definition.name:<34}" + "".join(f"{cell:>19}" for cell in cells))
        table[definition.name] = row
    for name, pairs in labelled.items():
        longest = max(run.length for run, _ in pairs)
        fixed = {k: outcome([run for run, _ in pairs], [k] * len(pairs)) for k in range(1, longest)}
        print(
            f"{name}, after k rounds: "
            + "; ".join(f"{k}: {r['saved']}, {r['lost']}" for k, r in fixed.items())
        )
    folds = held_out(labelled)
    print(f"folds choose {folds['chosen']}; held out:")
    for name in labelled:
        cells = [
            f"{label} {folds[f'{name}, {label}, saved']:.1f}, {folds[f'{name}, {label}, lost']:.1f}"
            for label in ("chosen", "default", "present")
        ]
        print(f"  {name}: {'; '.join(cells)}")
    write_result("quality-low-rounds", {"setup": setup(), "definitions": table, "folds": folds})


if __name__ == "__main__":
    main()
