"""What extraction makes of labelled sentences of issue threads.

    python -m benchmarks.quality.extraction [--data DIR]

The rules were made with the even lines in sight; the odd ones are reported apart.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.text.extraction.turn import extract


def measure(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Precision and recall of decisions and open questions, and what is set aside of two labels."""
    read = [(row["label"], extract(row["text"])) for row in rows]
    decided = [label for label, found in read if found.decisions]
    asked = [label for label, found in read if found.open_questions]
    empty = [label for label, found in read if not found.items]
    labels = [label for label, _ in read]
    return {
        "decision precision": _rate(decided.count("decision"), len(decided)),
        "decision recall": _rate(decided.count("decision"), labels.count("decision")),
        "open question precision": _rate(asked.count("issue"), len(asked)),
        "open question recall": _rate(asked.count("issue"), labels.count("issue")),
        "irrelevant set aside": _rate(empty.count("irrelevant"), labels.count("irrelevant")),
        "decisions set aside": _rate(empty.count("decision"), labels.count("decision")),
    }


def _rate(hits: int, total: int) -> dict[str, Any]:
    return {"hits": hits, "of": total, "interval": wilson(hits, total)}


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    """Measure both halves and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    rows = _rows(data_folder(parser.parse_args().data) / "decisions" / "condec.jsonl.gz")
    result = {"in sight": measure(rows[::2]), "not looked at": measure(rows[1::2])}
    for half, rates in result.items():
        print(half)
        for name, rate in rates.items():
            low, high = rate["interval"]
            print(f"  {name:<26} {rate['hits']:>4} of {rate['of']:>4}  {low:.3f} to {high:.3f}")
    write_result("quality-extraction", {"setup": setup(), **result})


if __name__ == "__main__":
    main()
