"""What stopping a debate on its answers saves and loses, and how often plain talk counts as consensus.

    python -m benchmarks.quality.consensus [--data DIR]

Debates: three agents answer a question in 2 to 4 rounds, each seeing the others' answers. Saved are the
rounds after the stop. A success is a debate at whose end more than half of the agents give the right
answer; it is lost where at the stop not more than half did. Beside the signal stand every fixed number of
rounds, "all agree" (the first round in which all give one answer) and "nobody changed" (the first round
equal to the one before). A rule is worse on both if another saves at least as much and loses no more, one of
the two strictly.

The debates are read twice: as rounds that list the answers as claims, and as turns whose text is the bare
answer, where the circles of the speakers have to be found.

Plain talk: chats of a customer with an agent, of several agents at work on a task, and runs of agents under
an orchestrator. Whatever is read there as all agents' agreement is counted as false consensus.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.stopping import better, conversations
from ebbtide.convergence.consensus import ConsensusMeter, ConsensusReading
from ebbtide.convergence.consensus_signal import consensus_signal
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile

_AGENTS = ("ann", "bob", "cid", "dan", "eve", "fay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Debate:
    """The answers of each agent, round by round, and the right one."""

    rounds: tuple[tuple[str, ...], ...]
    gold: str

    def right(self, answers: Sequence[str]) -> bool:
        """Whether more than half of the answers are the right one."""
        return sum(_value(answer) == _value(self.gold) for answer in answers) * 2 > len(answers)


def debates(data: Path) -> list[Debate]:
    """Every debate of the set."""
    with gzip.open(data / "rounds" / "debate_answers.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Debate(rounds=tuple(map(tuple, row["rounds"])), gold=str(row["gold"])) for row in rows]


def _value(answer: str) -> float | str:
    try:
        return float(answer.replace(",", ""))
    except ValueError:
        return answer.strip().lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where a debate stops: after so many turns, with these latest answers; None where it runs to its end."""

    turns: int
    answers: tuple[str, ...]


Rule = Callable[[Debate], Stop | None]


def after_round(debate: Debate, number: int) -> Stop:
    """The stop after a whole round."""
    return Stop(turns=sum(map(len, debate.rounds[:number])), answers=debate.rounds[number - 1])


def fixed(number: int) -> Rule:
    """Stop after so many rounds."""
    return lambda debate: after_round(debate, min(number, len(debate.rounds)))


def all_agree(debate: Debate) -> Stop | None:
    """Stop at the first round in which all give one answer."""
    at = (n for n, answers in enumerate(debate.rounds, start=1) if len(set(map(_value, answers))) == 1)
    number = next(at, None)
    return None if number is None else after_round(debate, number)


def nobody_changed(debate: Debate) -> Stop | None:
    """Stop at the first round that repeats the one before."""
    rounds = debate.rounds
    at = (n for n in range(2, len(rounds) + 1) if rounds[n - 1] == rounds[n - 2])
    number = next(at, None)
    return None if number is None else after_round(debate, number)


def as_rounds(debate: Debate) -> Iterator[tuple[Round, Stop]]:
    """A round a circle: the answers are its claims."""
    for number, answers in enumerate(debate.rounds, start=1):
        yield Round(number=number, claims=answers), after_round(debate, number)


def as_turns(debate: Debate) -> Iterator[tuple[Round, Stop]]:
    """A round a turn: its text is the answer."""
    latest: dict[str, str] = {}
    turns = [(agent, text) for row in debate.rounds for agent, text in zip(_AGENTS, row, strict=False)]
    for number, (agent, text) in enumerate(turns, start=1):
        latest[agent] = text
        yield (
            Round.from_text(text, number=number, agent=agent),
            Stop(turns=number, answers=tuple(latest.values())),
        )


Cut = Callable[[Debate], Iterator[tuple[Round, Stop]]]


def by_meter(cut: Cut, profile: Profile) -> Rule:
    """Stop at the first SHIP or ESCALATE of the whole meter."""

    def stop(debate: Debate) -> Stop | None:
        meter = ConvergenceMeter(profile)
        for item, here in cut(debate):
            reading = meter.update(item)
            if reading is not None and reading.recommendation.signal is not Signal.CONTINUE:
                return here
        return None

    return stop


def by_consensus(cut: Cut, profile: Profile) -> Rule:
    """Stop where the answers alone say so."""

    def stop(debate: Debate) -> Stop | None:
        meter = ConsensusMeter(profile.consensus)
        for item, here in cut(debate):
            reading = meter.update(item)
            if reading is not None and consensus_signal(reading, profile.consensus) is not None:
                return here
        return None

    return stop


def outcome(runs: Sequence[Debate], rule: Rule) -> dict[str, Any]:
    """Turns saved, as a share of all, and successes lost."""
    saved = lost = gained = 0
    for debate in runs:
        total = sum(map(len, debate.rounds))
        stop = rule(debate)
        if stop is None or stop.turns >= total:
            continue
        saved += total - stop.turns
        at_end, at_stop = debate.right(debate.rounds[-1]), debate.right(stop.answers)
        lost += at_end and not at_stop
        gained += at_stop and not at_end
    turns = sum(len(answers) for debate in runs for answers in debate.rounds)
    successes = sum(debate.right(debate.rounds[-1]) for debate in runs)
    return {
        "saved": saved,
        "turns": turns,
        "saved_share": round(saved / turns, 4),
        "lost": lost,
        "gained": gained,
        "successes": successes,
        "lost_interval": wilson(lost, successes),
    }


def compare(runs: Sequence[Debate]) -> dict[str, Any]:
    """Every rule beside every other."""
    longest = max(len(debate.rounds) for debate in runs)
    rules: dict[str, Rule] = {f"after {k} rounds": fixed(k) for k in range(1, longest)}
    rules |= {"all agree": all_agree, "nobody changed": nobody_changed}
    plain = tuple(rules)
    default = Profile.DEFAULT.consensus
    variants = {
        "two circles": replace(default, at_once_from=0),
        "two circles, 2 apart": replace(default, at_once_from=0, disagreement_rounds=2),
        "at once, 2 apart": replace(default, disagreement_rounds=2),
    }
    for name, variant in variants.items():
        rules[f"consensus, {name}"] = by_consensus(as_rounds, replace(Profile.DEFAULT, consensus=variant))
    for name, cut in (("rounds", as_rounds), ("turns", as_turns)):
        rules[f"consensus, {name}"] = by_consensus(cut, Profile.DEFAULT)
        rules[f"signal, spec, {name}"] = by_meter(cut, Profile.SPEC)
        rules[f"signal, default, {name}"] = by_meter(cut, Profile.DEFAULT)
    rows = {name: outcome(runs, rule) for name, rule in rules.items()}
    total = rows["all agree"]
    print(f"debates: {len(runs)}, {total['turns']} turns, {total['successes']} successes")
    for name, row in rows.items():
        low, high = row["lost_interval"]
        row["worse_than"] = [other for other in plain if better(rows[other], row)]
        print(
            f"  {name:<32} saved {row['saved_share']:6.1%}   lost {row['lost']:2} of {row['successes']}"
            f" (95 % {low:.3f} to {high:.3f})   gained {row['gained']}"
            f"   worse on both than: {', '.join(row['worse_than']) or 'none'}"
        )
    return {"debates": len(runs), "rules": rows}


def ledgers(data: Path) -> Iterator[tuple[str, list[Round]]]:
    """What the agents of the runs under an orchestrator say to each other."""
    for path in sorted((data / "rounds" / "ledgers").glob("*.json.gz")):
        history = json.loads(gzip.decompress(path.read_bytes()))["history"]
        turns = [(entry["role"], entry["content"]) for entry in history if isinstance(entry["content"], str)]
        yield (
            path.name,
            [Round.from_text(text, number=n, agent=role) for n, (role, text) in enumerate(turns, start=1)],
        )


def readings(rounds: Sequence[Round]) -> list[ConsensusReading]:
    """What is read of a conversation, circle by circle."""
    meter = ConsensusMeter(Profile.DEFAULT.consensus, alike=Profile.DEFAULT.novelty)
    return [reading for item in rounds if (reading := meter.update(item))]


def plain_talk(data: Path) -> dict[str, Any]:
    """How many conversations are read as agreement of all, and by which rules."""
    sets: dict[str, list[list[Round]]] = {}
    for source, rounds in conversations(data).items():
        sets.setdefault(source.split("/")[0], []).append(rounds)
    sets["ledgers"] = [rounds for _, rounds in ledgers(data)]
    result: dict[str, Any] = {}
    for name, chats in sets.items():
        unanimous = stopped = answered = 0
        rules: Counter[str] = Counter()
        for rounds in chats:
            found = readings(rounds)
            signals = [
                signal for item in found if (signal := consensus_signal(item, Profile.DEFAULT.consensus))
            ]
            answered += bool(found)
            unanimous += any(item.unanimous for item in found)
            stopped += bool(signals)
            rules.update(signal.rule for signal in signals[:1])
        result[name] = {
            "conversations": len(chats),
            "rounds": sum(map(len, chats)),
            "with_positions": answered,
            "unanimous": unanimous,
            "stopped": stopped,
            "stopped_interval": wilson(stopped, len(chats)),
            "rules": dict(rules),
        }
        print(
            f"{name}: {len(chats)} conversations, positions in {answered}, all agree in {unanimous}, "
            f"stopped {stopped} {dict(rules) or ''}"
        )
    return result


def main() -> None:
    """Run the debates and the talk, and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    result = {"debates": compare(debates(data)), "plain_talk": plain_talk(data)}
    write_result("quality-consensus", {"setup": setup(), **result})


if __name__ == "__main__":
    main()
