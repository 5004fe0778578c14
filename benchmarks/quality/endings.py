"""How well the headline says how a run ended: beside readers, and beside what checkers found.

    python -m benchmarks.quality.endings [--data DIR] [--misses]

- written ends of runs, and real runs, labelled by readers who knew no rule (tests/endings/README.md);
- software runs with outcomes: what a run's own words are worth;
- runs that are known to have failed: none may be CONVERGED.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, wilson, write_result
from ebbtide.checking import check, check_events
from ebbtide.errors import EbbtideError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.supervision.summary.headline import Headline
from ebbtide.supervision.summary.run_summary import RunSummary

LABELS = ROOT / "tests" / "endings"
#: What readers call it. A run that goes on where its record ends is cut off there.
KINDS = {"going on": EndKind.CUT_OFF, "stuck": EndKind.CUT_OFF}


def written() -> Iterator[dict[str, Any]]:
    """The written ends of runs."""
    with gzip.open(LABELS / "written.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def events_of(entries: Iterable[dict[str, Any]]) -> Iterator[Event]:
    """The entries of a written end as events."""
    for entry in entries:
        name, text = entry.get("name"), entry["text"]
        if entry["who"] == "agent":
            yield ModelCall(text=text, agent=name)
        elif entry["who"] == "person":
            yield Message(text=text)
        elif entry["who"] == "tool":
            yield ToolCall(name=name or "tool", args={}, result=text)
        else:
            yield Notice(kind=NoticeKind.OTHER, text=text)


def kind_of(label: str | None) -> EndKind | None:
    """The kind of a reader's label."""
    return None if label is None else KINDS.get(label) or EndKind(label)


def real(data: Path) -> Iterator[tuple[dict[str, Any], RunSummary]]:
    """The real runs that a reader labelled."""
    for row in json.loads((LABELS / "real.json").read_text(encoding="utf-8")):
        try:
            yield row, real_summary(row, data)
        except EbbtideError:
            yield row, check_events([])


def real_summary(row: dict[str, Any], data: Path) -> RunSummary:
    """The summary of a real run that a reader labelled."""
    path = data / row["file"]
    if row["at"] is None:
        return check(path)
    if row["file"].startswith("loops/"):
        return check_events(_steps(_episodes(path)[row["at"]]))
    messages = json.loads(path.read_text(encoding="utf-8"))[row["at"]]["traj"]
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder) / "run.json"
        one.write_text(json.dumps(messages), encoding="utf-8")
        return check(one)


def _episodes(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _steps(row: dict[str, Any]) -> Iterator[Event]:
    for step in row["steps"]:
        name, _, rest = step["action"].partition("[")
        yield ModelCall(text=step["thought"])
        yield ToolCall(name=name.lower(), args={"text": rest.rstrip("]")}, result=step["observation"])


def agreement(pairs: Iterable[tuple[tuple[EndKind | None, ...], EndKind]]) -> dict[str, Any]:
    """How often the rules say what a reader said, and by kind how often each is right."""
    rows = list(pairs)
    agreed = sum(kind in labels for labels, kind in rows)
    by_kind = {}
    for kind in EndKind:
        claimed = [labels for labels, other in rows if other is kind]
        labelled = [other for labels, other in rows if labels[0] is kind]
        by_kind[kind.value] = {
            "said": len(claimed),
            "right": sum(kind in labels for labels in claimed),
            "labelled": len(labelled),
            "recognised": sum(other is kind for other in labelled),
        }
    return {"runs": len(rows), "agreed": agreed, "interval": wilson(agreed, len(rows)), "by_kind": by_kind}


def failures(data: Path) -> Iterator[tuple[str, RunSummary]]:
    """Every run that is known to have failed."""
    for name in ("rounds/ledgers", "traces/autogen_messages"):
        for path in sorted((data / name).iterdir()):
            yield name, check(path)
    for name, solved in resolved(data).items():
        if not solved:
            yield "runs/mini_swe_agent, not resolved", check(data / "runs/mini_swe_agent" / name)
    for row in _episodes(data / "loops/hotpotqa_react_base.jsonl.gz"):
        if row["status"] != "CORRECT":
            yield f"hotpotqa, {row['status']}", check_events(_steps(row))


def resolved(data: Path) -> dict[str, bool]:
    """Whether each software run was solved, by its file."""
    rows = json.loads((data / "runs/mini_swe_agent/outcomes.json").read_text(encoding="utf-8"))
    return {row["run"]: row["resolved"] for row in rows}


def software(data: Path) -> dict[str, Any]:
    """What the runs' own words are worth: the headline against what the tests say."""
    table: Counter[tuple[str, bool]] = Counter()
    for name, solved in resolved(data).items():
        table[check(data / "runs/mini_swe_agent" / name).headline.value, solved] += 1
    words = sorted({word for word, _ in table})
    rows = {word: {"resolved": table[word, True], "not": table[word, False]} for word in words}
    for word, row in rows.items():
        total = sum(row.values())
        print(
            f"  {word:<12} {total:4}, resolved {row['resolved']:4}, interval {wilson(row['resolved'], total)}"
        )
    return rows


def main() -> None:
    """Print and write every number."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument(
        "--misses", action="store_true", help="print where reader and rules differ, open half"
    )
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    result: dict[str, Any] = {"setup": setup(), "written": {}, "real": {}}
    for half in ("open", "sealed"):
        pairs = []
        for row in written():
            if row["half"] != half:
                continue
            ending = check_events(events_of(row["entries"])).ending
            label = kind_of(row["ending"])
            pairs.append(((label,), ending.ending))
            if arguments.misses and half == "open" and ending.ending is not label:
                print(row["id"], label, ending.ending, ending.rule, ending.text)
        result["written"][half] = agreement(pairs)
    rows = [(row, summary.ending, summary.headline) for row, summary in real(data)]
    for half in ("open", "sealed"):
        part = [item for item in rows if item[0]["half"] == half]
        pairs = [((kind_of(row["ending"]), kind_of(row["second"])), ending.ending) for row, ending, _ in part]
        result["real"][half] = agreement(pairs)
        if arguments.misses and half == "open":
            for row, ending, _ in part:
                if ending.ending not in (kind_of(row["ending"]), kind_of(row["second"])):
                    print(row["file"], row["at"], row["ending"], ending)
    for name in ("written", "real"):
        for half, part in result[name].items():
            print(f"{name}, {half}: {part['agreed']} of {part['runs']} {part['interval']}")
            for kind, counts in part["by_kind"].items():
                if counts["said"] or counts["labelled"]:
                    print(
                        f"  {kind:<12} right {counts['right']} of {counts['said']}, "
                        f"recognised {counts['recognised']} of {counts['labelled']}"
                    )
    print("software runs")
    result["software"] = software(data)
    converged: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, summary in failures(data):
        total[name] += 1
        converged[name] += summary.headline is Headline.CONVERGED
    print("known failures that are CONVERGED")
    for name, count in total.items():
        print(f"  {name}: {converged[name]} of {count}")
    result["failures"] = {name: [converged[name], count] for name, count in total.items()}
    write_result("quality-endings", result)


if __name__ == "__main__":
    main()
