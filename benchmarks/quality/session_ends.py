"""Measures the first word of real coding sessions, beside labels that readers made blind.

    python -m benchmarks.quality.session_ends [--data DIR] [--labels FILE] [--misses]

- the labels: a line a session, ``{"path" or "id", "end", "alternative"}``, in the words of the headline and
  ``INTERRUPTED``, which the headline calls CUT OFF; a right second answer counts as right;
- every session that is FAILED, CUT OFF, BLOCKED, LIMIT or STUCK, with what says so, to judge by hand;
- how often it is said that a run recovered, or that it did not.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.checking import check
from ebbtide.errors import EbbtideError

_JUDGED = ("FAILED", "CUT OFF", "BLOCKED", "LIMIT", "STUCK")


class Answer(NamedTuple):
    """Answer for a session: the headline, the rule and the words behind it, and how it went on."""

    path: str
    word: str
    rule: str
    text: str
    recovered: bool | None


def answer(path: Path) -> Answer:
    """The answer for one file; UNREADABLE where no reader takes it."""
    try:
        summary = check(path)
    except EbbtideError as error:
        return Answer(str(path), "UNREADABLE", "", str(error), None)
    ending = summary.ending
    return Answer(str(path), summary.headline.value, ending.rule, ending.text, summary.recovered)


def accepted(label: dict[str, Any]) -> set[str]:
    """The headlines that are right for a label."""
    words = {label["end"], label.get("alternative")} - {None}
    return {"CUT OFF" if word == "INTERRUPTED" else word.replace("_", " ") for word in words}


def labelled(path: Path) -> Iterator[dict[str, Any]]:
    """The labels of a file, in its order."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def main() -> None:
    """Print every number, and write them without a word of the sessions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--labels", type=Path, help="labels, a JSON object a line")
    parser.add_argument("--misses", action="store_true", help="print where reader and headline differ")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    files = sorted((data / "sessions").glob("*/*.jsonl.gz"))
    with ProcessPoolExecutor() as pool:
        answers = list(pool.map(answer, files, chunksize=8))
    result: dict[str, Any] = {"setup": setup(), "sessions": len(answers)}
    result["words"] = dict(Counter(item.word for item in answers))
    print(f"{len(answers)} sessions: {result['words']}")
    for word in _JUDGED:
        said = [item for item in answers if item.word == word]
        result[word] = dict(Counter(item.rule for item in said))
        print(f"\n{word}: {len(said)}, for a reader to judge")
        for item in said:
            print(f"  {Path(item.path).name[:13]} {item.rule:<22} {item.text[:100]}")
    result["recovered"] = {
        "yes": sum(item.recovered is True for item in answers),
        "no": sum(item.recovered is False for item in answers),
    }
    print(f"\nrecovered: {result['recovered']}")
    if arguments.labels is not None:
        result["labels"] = _compared(list(labelled(arguments.labels)), answers, misses=arguments.misses)
    write_result("quality-session-ends", result)


def _compared(labels: list[dict[str, Any]], answers: list[Answer], *, misses: bool) -> dict[str, Any]:
    by_id = {Path(item.path).name.partition(".")[0]: item for item in answers}
    table: Counter[tuple[str, str]] = Counter()
    right = readable = readable_right = 0
    for label in labels:
        item = by_id[label["id"]]
        hit = item.word in accepted(label)
        right += hit
        readable += item.word != "UNREADABLE"
        readable_right += hit and item.word != "UNREADABLE"
        first = min(accepted({"end": label["end"]}))
        table[first, item.word] += 1
        if misses and not hit:
            said = f"{item.word} {item.rule}: {item.text[:80]}"
            print(f"  {label['id'][:13]} is {sorted(accepted(label))}, said {said}")
    print(f"\nfirst word right: {right} of {len(labels)} {wilson(right, len(labels))}")
    print(f"  of those that are read: {readable_right} of {readable} {wilson(readable_right, readable)}")
    for (label_word, said), count in sorted(table.items()):
        print(f"  {label_word:<12} said {said:<12} {count}")
    return {
        "right": right,
        "of": len(labels),
        "interval": wilson(right, len(labels)),
        "read": [readable_right, readable],
        "table": {f"{label_word} said {said}": count for (label_word, said), count in sorted(table.items())},
    }


if __name__ == "__main__":
    main()
