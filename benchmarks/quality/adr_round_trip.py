"""What of architecture decision records comes back when they go into a log and out again.

    python -m benchmarks.quality.adr_round_trip [--data DIR]

134 pages of four public repositories: Nygard's style by hand and by adr-tools, and MADR 4. Each repository is
imported as a folder into a log of its own and exported into an empty folder. A page comes back where a file
of the same name has the same bytes; a field where the reader of fields finds the same in both. "templates"
is the export without the source document, which is what decisions get that were not imported: it shows what
was lost before the document was kept. "edited" supersedes and reviews every record that can be, and counts
the lines that differ then. The reader of fields is the one of the import, so that a field counts as kept that
it cannot see in either page; bytes are the stricter measure.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from ebbtide.decision_log.exchange.folder import export_folder
from ebbtide.decision_log.exchange.importing import import_decisions, linked_records
from ebbtide.decision_log.exchange.reading import read_decisions
from ebbtide.decision_log.exchange.record_fields import RecordFields, record_fields
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Review, Status
from ebbtide.decisions.candidate import Candidate

Pages = Mapping[str, str]
FIELDS = tuple(field.name for field in fields(RecordFields))


def repositories(path: Path) -> dict[str, dict[str, str]]:
    """The pages of each repository, by the name of their file."""
    pages: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for line in lines:
            row = json.loads(line)
            repository, _, name = row["id"].partition(":")
            pages[repository][name] = row["markdown"]
    return dict(pages)


def imported(log: DecisionLog, pages: Pages) -> list[Decision]:
    """The decisions of a folder, oldest first."""
    arrivals = (arrival for name, text in sorted(pages.items()) for arrival in read_decisions(text, name))
    import_decisions(log, linked_records(arrivals))
    return list(log.iterate(status=tuple(Status)))


def written(decisions: Iterable[Decision]) -> dict[str, str]:
    """The page of each decision, by the name of its file, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        export_folder(decisions, Path(folder))
        return {path.name: path.read_bytes().decode() for path in Path(folder).glob("*.md")}


def compare(pages: Pages, exported: Mapping[str, tuple[str, str]]) -> Counter[str]:
    """How many pages and fields came back, of pages and of those that are exported with another name."""
    counts: Counter[str] = Counter(pages=len(pages), exported=len(exported))
    for name, text in pages.items():
        if name not in exported:
            continue
        file, page = exported[name]
        before, after = record_fields(text, name), record_fields(page, file)
        same = [field for field in FIELDS if getattr(before, field) == getattr(after, field)]
        counts["file name"] += file == name
        counts["bytes"] += page == text
        counts["all fields"] += len(same) == len(FIELDS)
        counts.update(f"field {field}" for field in same)
    return counts


def from_documents(decisions: list[Decision]) -> dict[str, tuple[str, str]]:
    """Name and text of each exported page, by the name that it was imported with."""
    exported = written(decisions)
    return {name: (name, exported[name]) for each in decisions if (name := _name(each)) in exported}


def from_templates(decisions: list[Decision]) -> dict[str, tuple[str, str]]:
    """The same, where the document was not kept."""
    with tempfile.TemporaryDirectory() as folder:
        # What was rejected was not exported.
        rows = [replace(each, document=None) for each in decisions if each.status is not Status.ABANDONED]
        files = export_folder(rows, Path(folder)).files
        return {
            _name(each): (files[each.id], (Path(folder) / files[each.id]).read_bytes().decode())
            for each in decisions
            if each.id in files
        }


def edited(log: DecisionLog, decisions: list[Decision], pages: Pages) -> Counter[str]:
    """How many lines differ once a record is superseded and reviewed."""
    counts: Counter[str] = Counter()
    later = log.add(Candidate(description="Take another way, the reasons have changed"))
    for each in decisions:
        if each.status is not Status.KEPT:
            continue
        log.supersede(each.id, by=later.id)
        log.review(each.id, Review(outcome=DecisionOutcome.PARTIAL, by="a person", ts=1.7e9))
        counts["records"] += 1
    exported = written(log.iterate(status=tuple(Status)))
    for each in decisions:
        if each.status is not Status.KEPT:
            continue
        lines = list(difflib.ndiff(pages[_name(each)].split("\n"), exported[_name(each)].split("\n")))
        taken_out = [line for line in lines if line.startswith("- ") and line[2:].strip()]
        counts[f"{len(taken_out)} lines replaced"] += 1
        counts["lines added"] += sum(line.startswith("+ ") and bool(line[2:].strip()) for line in lines)
        before, after = (record_fields(text) for text in (pages[_name(each)], exported[_name(each)]))
        counts["other fields as before"] += replace(before, status=None, links=()) == replace(
            after, status=None, links=()
        )
        counts["status says superseded"] += after.status == "superseded"
    return counts


def _name(decision: Decision) -> str:
    return decision.document.name if decision.document else ""


def measure(path: Path) -> dict[str, Any]:
    """The counts, over all repositories."""
    totals: dict[str, Counter[str]] = {name: Counter() for name in ("documents", "templates", "edited")}
    for pages in repositories(path).values():
        with DecisionLog.open(":memory:") as log:
            decisions = imported(log, pages)
            totals["documents"].update(compare(pages, from_documents(decisions)))
            totals["templates"].update(compare(pages, from_templates(decisions)))
            totals["edited"].update(edited(log, decisions, pages))
    names = ("pages", "exported", "file name", "bytes", "all fields", *(f"field {name}" for name in FIELDS))
    result: dict[str, Any] = {
        kind: {name: totals[kind][name] for name in names} for kind in ("documents", "templates")
    }
    return {**result, "edited": dict(sorted(totals["edited"].items()))}


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_data_option(parser)
    arguments = parser.parse_args()
    counts = measure(data_folder(arguments.data) / "decisions" / "adr.jsonl.gz")
    print(f"{'':24}{'documents':>10}{'templates':>10}")
    for name, number in counts["documents"].items():
        print(f"{name:24}{number:10}{counts['templates'][name]:10}")
    print("\nsuperseded and reviewed")
    for name, number in counts["edited"].items():
        print(f"{name:24}{number:10}")
    write_result("quality-adr-round-trip", {"setup": setup(), **counts})


if __name__ == "__main__":
    main()
