"""How much of what was decided a model gets back after a compaction, and what that costs.

    python -m benchmarks.quality.handed_back [--data DIR]

Recorded sessions of Claude Code are cut at each of their compactions, or in the middle where there is none.
Counted are the decisions before a cut that a person said, or that a call carries out, before the cut or after
it, and that nothing before the cut takes back. `given` is how many of them the hook hands back at the cut.

The decisions are those that the gate finds, so this measures what the choice and the 400 tokens lose, and not
what the gate misses: benchmarks.quality.decision_turns says that. `seconds` is the time of reading
without the decoding of lines.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.run_sets import session_files
from ebbtide.events.event import Event, Notice, NoticeKind
from ebbtide.service.hooks.handed_back import MOST_TOKENS, HandedBack, hand_back
from ebbtide.service.hooks.session_decisions import SessionDecision, SessionDecisions
from ebbtide.traces.reading import open_trace

_NARROW = (100, 200)  # tokens, for comparison


def cuts_of(events: list[Event]) -> tuple[list[int], bool]:
    """Numbers of the events at which a session is cut, and True if they are its compactions."""
    compactions = [
        number
        for number, event in enumerate(events)
        if isinstance(event, Notice) and event.kind is NoticeKind.COMPACTION and not event.chain_id
    ]
    places = [number for number in compactions if number]
    return (places, True) if places else ([len(events) // 2], False)


def given_at(events: list[Event], cut: int) -> tuple[list[SessionDecision], dict[int, HandedBack]]:
    """The decisions that stand at a cut, and what is handed back of them, by the tokens allowed."""
    decisions = SessionDecisions()
    for event in events[:cut]:
        decisions.take(event)
    standing, files = decisions.listed(), decisions.files_in_sight
    back = {most: hand_back(standing, files, most_tokens=most) for most in (*_NARROW, MOST_TOKENS)}
    return [each for each in standing if not each.is_proposal], back


def session_rows(path: Path) -> list[dict[str, Any]]:
    """A row for each cut of a session."""
    events = [event for event in open_trace(str(path)) if isinstance(event, Event)]
    start, whole = time.perf_counter(), SessionDecisions()
    for event in events:
        whole.take(event)
    seconds = time.perf_counter() - start
    carried_out = {each.id for each in whole.taken() if each.carried_out}
    cuts, is_compaction = cuts_of(events)
    rows = []
    for cut in cuts:
        standing, back = given_at(events, cut)
        people = {each.id for each in standing if each.by_person}
        done = {each.id for each in standing if each.id in carried_out} - people
        given = {most: {each.id for each in chosen.given} for most, chosen in back.items()}
        rows.append(
            {
                "is_compaction": is_compaction,
                "events": cut,
                "people": len(people),
                "carried_out": len(done),
                **{f"people_{most}": len(people & names) for most, names in given.items()},
                **{f"carried_out_{most}": len(done & names) for most, names in given.items()},
                "tokens": back[MOST_TOKENS].tokens if back[MOST_TOKENS].given else 0,
                "left_out": back[MOST_TOKENS].left_out,
                "seconds": seconds,
            }
        )
    return rows


def summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What is handed back over all rows, with intervals, and the tokens of the texts that are not empty."""
    sums = {
        name: sum(row[name] for row in rows) for name in rows[0] if name not in ("is_compaction", "seconds")
    }
    shares = {}
    for most in (*_NARROW, MOST_TOKENS):
        parts = {name: (sums[f"{name}_{most}"], sums[name]) for name in ("people", "carried_out")}
        parts["both"] = (sum(hits for hits, _ in parts.values()), sum(total for _, total in parts.values()))
        shares[str(most)] = {
            name: {"given": hits, "of": total, "interval": wilson(hits, total)}
            for name, (hits, total) in parts.items()
        }
    tokens = sorted(row["tokens"] for row in rows if row["tokens"])
    return {
        "cuts": len(rows),
        "with_text": len(tokens),
        "shares": shares,
        "tokens_median": statistics.median(tokens) if tokens else None,
        "tokens_most": max(tokens, default=None),
        "left_out": sums["left_out"],
        "seconds_most": round(max(row["seconds"] for row in rows), 3),
    }


def show(name: str, result: dict[str, Any]) -> None:
    print(f"{name}: {result['cuts']} cuts; a session takes at most {result['seconds_most']} s")
    texts = f"{result['with_text']} texts, {result['tokens_median']} tokens in the median"
    print(f"  {texts}, at most {result['tokens_most']}; {result['left_out']} decisions left out")
    for most, parts in result["shares"].items():
        for kind, row in parts.items():
            share = row["given"] / row["of"] if row["of"] else float("nan")
            print(
                f"  {most:>4} tokens  {kind:<12} {row['given']} of {row['of']}, {share:.1%} {row['interval']}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    rows = [
        row
        for path, card in session_files(data)
        if card["agent"].startswith("claude")
        for row in session_rows(path)
    ]
    parts = {
        "compactions": [row for row in rows if row["is_compaction"]],
        "middles": [row for row in rows if not row["is_compaction"]],
        "all": rows,
    }
    result = {name: summed(part) for name, part in parts.items() if part}
    for name, part in result.items():
        show(name, part)
    write_result("quality-handed-back", {"setup": setup(), "most_tokens": MOST_TOKENS, **result})


if __name__ == "__main__":
    main()
