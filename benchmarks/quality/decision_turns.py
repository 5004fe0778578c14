"""What `decisions from` finds in 150 turns of six genres that were labelled before its rules were looked at.

    python -m benchmarks.quality.decision_turns [--part open|tuning|sealed] [--data DIR]

Each turn goes through the gate by itself, so that an approval has no turn before it to take its content from.
`recall` is over the turns that are labelled as decisions: one is hit where a kept sentence overlaps a
labelled one. `precision` is over the kept sentences: one is right where it overlaps a labelled sentence of a
decision. Both with and without the labels that are in doubt. The rules were written with the open part at
hand, and the weights of people's signs are fitted to it and to the tuning part (person_signs has the folds).
The sealed part was read once, when all was done: whoever changes the rules by what it says needs another one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.decisions_blind import fill, rows
from ebbtide.decisions.turns.filtered_turns import Disposition, SpokenTurn
from ebbtide.decisions.turns.turn_filter import filter_turns
from ebbtide.profile import Profile
from ebbtide.text.extraction.turn import Speaker

_ALL = "all"


def judged(row: dict[str, Any]) -> dict[str, int]:
    """What the gate makes of one turn."""
    role = Speaker.PERSON if row["by"] == "user" else Speaker.MODEL
    turn = SpokenTurn(number=1, speaker=row["speaker"], text=row["text"], role=role)
    kept = filter_turns([turn], Profile.DEFAULT).having(Disposition.KEPT)
    is_decision = row["label"] == "decision"
    spans = [(row["text"].index(part), len(part)) for part in row["sentences"]] if is_decision else []
    right = [
        item
        for item in kept
        if any(item.sentence.start < at + size and at < item.sentence.end for at, size in spans)
    ]
    return {
        "turns": 1,
        "decisions": is_decision,
        "hits": bool(is_decision and right),
        "sentences": len(kept),
        "right": len(right),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("open", "tuning", "sealed"), default="open", help="which set")
    add_data_option(parser)
    options = parser.parse_args()
    data = data_folder(options.data)
    results = []
    for with_doubt in (True, False):
        sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for stored in rows(options.part):
            row = fill(stored, str(data))
            if row["doubt"] and not with_doubt:
                continue
            for name, value in judged(row).items():
                sums[row["genre"]][name] += value
                sums[_ALL][name] += value
                sums["people" if row["by"] == "user" else "agents"][name] += value
        for genre, counts in sums.items():
            recall = wilson(counts["hits"], counts["decisions"])
            precision = wilson(counts["right"], counts["sentences"])
            results.append(
                {"genre": genre, "with_doubt": with_doubt, **counts, "recall": recall, "precision": precision}
            )
            print(
                f"{'all labels' if with_doubt else 'firm labels'}  {genre:<16} {counts['hits']} of "
                f"{counts['decisions']} decisions {recall}, {counts['right']} of {counts['sentences']} kept "
                f"sentences right {precision}"
            )
    name = "quality-decision-turns" + ("" if options.part == "open" else f"-{options.part}")
    write_result(name, {"setup": setup(), "part": options.part, "rows": results})


if __name__ == "__main__":
    main()
