"""Whether a decision that takes an earlier one back is asked about, and what else is.

    python -m benchmarks.quality.opposites

Pairs of decisions of six genres, in `opposites.jsonl`, written from descriptions ("a setting is raised",
"somebody else takes it over") before the rules that find them were written: the second is the opposite of
the first, the same in other words, or about something else. Each pair goes into a log of its own, the second
decision a minute later in the same session, and a day later in another one. Where the answer names
the first decision as one that the second may reverse, it asks. A log in which all first decisions stand tells
whether it asks about the right one.

Whoever wrote the pairs wrote the rules as well, and knew the word lists of the contrast guard. No word was
put into a list for them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import setup, write_result
from ebbtide.decision_log.deliberation.answer import DecisionAnswer
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.rate import Rate

PAIRS = Path(__file__).with_name("opposites.jsonl")
_MINUTE, _DAY = 60.0, 86_400.0
LABELS = ("opposite", "same", "different")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two decisions, and what the second is to the first."""

    genre: str
    label: str
    first: str
    second: str


def pairs() -> list[Pair]:
    """All pairs, in the order of the file."""
    return [Pair(**json.loads(line)) for line in PAIRS.read_text(encoding="utf-8").splitlines()]


def soon(pair: Pair) -> bool:
    """Whether the second is asked about a minute later in one session."""
    return _asks(pair, session="s1", after=_MINUTE)


def later(pair: Pair) -> bool:
    """Whether the second is asked about a day later in another session."""
    return _asks(pair, session="s2", after=_DAY)


def _asks(pair: Pair, *, session: str, after: float) -> bool:
    with DecisionLog.open(":memory:", agent="coder") as log:
        work = Deliberation(log)
        first = work.record_decision(pair.first, session="s1", ts=0.0, force=True)
        answer = work.record_decision(pair.second, session=session, ts=after, force=True)
    return first.id in answer.reversals


def among_all(rows: Iterable[Pair]) -> dict[str, list[bool]]:
    """For each label, whether a log in which all first decisions stand asks about that of the pair.

    Of what is the same, or different, any question is a wrong one.
    """
    rows = list(rows)
    results: dict[str, list[bool]] = {label: [] for label in LABELS}
    with DecisionLog.open(":memory:", agent="coder") as log:
        work = Deliberation(log)
        ids = {
            text: work.record_decision(text, session="s1", ts=float(place) * 1e-3, force=True).id
            for place, text in enumerate(dict.fromkeys(pair.first for pair in rows))
        }
        for number, pair in enumerate(rows):
            answer: DecisionAnswer = work.record_decision(
                pair.second, session=f"t{number}", ts=_DAY * (number + 1), force=True
            )
            named = answer.reversals
            wanted = pair.label == "opposite"
            results[pair.label].append(ids[pair.first] in named if wanted else bool(named))
            if answer.id is not None:
                log.redact(answer.id, by="benchmark")  # only the first ones stand
    return results


def main() -> None:
    """Ask about every pair, print it, and write the result."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    rows = pairs()
    result: dict[str, Any] = {"setup": setup(), "pairs": len(rows)}
    questions: dict[str, Callable[[Pair], bool]] = {
        "one session, a minute later": soon,
        "another session, a day later": later,
    }
    for name, ask in questions.items():
        asked = {pair: ask(pair) for pair in rows}
        result[name] = {}
        print(f"\n{name}: asked about")
        for label in (*LABELS, "same or different"):
            of_label = [pair for pair in rows if pair.label in label.split()]
            rates = {
                "all": _rate(asked, of_label),
                **{
                    genre: _rate(asked, [pair for pair in of_label if pair.genre == genre])
                    for genre in dict.fromkeys(pair.genre for pair in rows)
                },
            }
            result[name][label] = {part: rate.to_dict() for part, rate in rates.items()}
            print(f"  {label:17} " + "  ".join(f"{part} {_shown(rate)}" for part, rate in rates.items()))
        result[name]["missed"] = [
            [pair.first, pair.second] for pair in rows if pair.label == "opposite" and not asked[pair]
        ]
        result[name]["asked in vain"] = [
            [pair.first, pair.second] for pair in rows if pair.label != "opposite" and asked[pair]
        ]
    crowd = among_all(rows)
    result["all first decisions stand"] = {}
    print("\nall first decisions stand: asked about the right one; else about any")
    for label, answers in crowd.items():
        rate = Rate(hits=sum(answers), total=len(answers))
        result["all first decisions stand"][label] = rate.to_dict()
        print(f"  {label:10} {_shown(rate)}")
    write_result("quality-opposites", result)


def _rate(asked: dict[Pair, bool], rows: list[Pair]) -> Rate:
    return Rate(hits=sum(asked[pair] for pair in rows), total=len(rows))


def _shown(rate: Rate) -> str:
    low, high = (100 * part for part in rate.interval)
    return f"{rate.hits}/{rate.total} [{low:.0f}, {high:.0f}]"


if __name__ == "__main__":
    main()
