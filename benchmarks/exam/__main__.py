"""An exam for whoever says that an agent is stuck: runs with known outcomes, told one event after the other.

    python -m benchmarks.exam [--data DIR] [--sets NAME ...] [--entrants NAME|FILE ...] [--json]

Each entrant gets the same events in the same order, and speaks at one of them or stays silent. Stuck runs
have to be told of, incidents before a deadline; failed runs may be; a word about a healthy run is wrong.
`benchmarks/exam/README.md` says what each set is, and how an entrant of your own gets in: a FILE.

Only a run of all sets and all entrants of the table writes its result. A set whose data is not there is
skipped, and so is an entrant whose package is not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.exam.cases import SETS, ExamSet
from benchmarks.exam.entrants import Entrant, from_file, table
from benchmarks.exam.grading import Mark, grade, mark
from benchmarks.exam.table import lines
from benchmarks.measure import add_data_option, setup, write_result

#: Packages with a like promise that do not sit the exam, and why.
ABSENT = {
    "agent-loop-guard 0.1.1": "takes 9 ms for a short call, seven times as long as all others together",
    "agent-patrol 0.1.0": "asks for the task and its milestones, which no record states",
    "agent-vitals 1.19.0": "asks for findings and coverage of each step, which no record states",
    "diminishing-returns 0.1.0a1": "judges whole transcripts, and takes minutes for a long one",
    "loopbrake 0.6.0": "has no limit before it has watched 19 good runs of the same agent",
    "savi-loop-guard 0.1.0": "counts calls within half a minute, and most records state no time",
}


def sit(exam: ExamSet, data: Path, entrants: Sequence[Entrant], title: str) -> dict[str, Any]:
    """Returns what each entrant makes of a set."""
    marks: dict[str, list[Mark]] = {entrant.name: [] for entrant in entrants}
    seconds = dict.fromkeys(marks, 0.0)
    console = Console(stderr=True)
    for source in track(exam.read(data), description=f"{title:<10}", console=console):
        case = source()
        for entrant in entrants:
            start = time.perf_counter()
            marks[entrant.name].append(mark(entrant, case))
            seconds[entrant.name] += time.perf_counter() - start
    return {
        "bad": exam.bad.value,
        "entrants": {
            name: {**grade(items), "seconds": round(seconds[name], 1)} for name, items in marks.items()
        },
    }


def chosen(names: Sequence[str] | None) -> tuple[list[Entrant], dict[str, str]]:
    """Returns the entrants that sit the exam, and why others of the table do not.

    Args:
        names: Names of the table and files; None for the whole table.

    Raises:
        ValueError: A name is none of the table, and no file with an entrant.
    """
    rows = table()
    wanted = [rows.get(name) or from_file(Path(name)) for name in (rows if names is None else names)]
    absent = {
        entrant.name: f"not installed: pip install {entrant.package}"
        for entrant in wanted
        if entrant.version is None
    }
    return [entrant for entrant in wanted if entrant.name not in absent], absent


def show(result: Mapping[str, Any], data: Path) -> None:
    """Prints the table, what each entrant got wrong, and who and what was left out."""
    for line in lines(result["sets"]):
        print(line)
    print("\nwrong (all of them with --json)")
    for name, values in result["sets"].items():
        for entrant, row in values["entrants"].items():
            for kind, ids in row["wrong"].items():
                if ids:
                    rest = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
                    print(f"  {name}: {entrant}: {kind}: {', '.join(ids[:5])}{rest}")
            for case, error in list(row["errors"].items())[:3]:
                print(f"  {name}: {entrant}: error at {case}: {error}")
    for name, reason in result["absent"].items():
        print(f"left out: {name}: {reason}")
    for name, values in result["skipped"].items():
        print(f"skipped: {name}: {data} has no {', '.join(values['missing'])}")
        print(f"  Where it comes from: {values['origin']}.")


def main() -> int:
    """Runs the sets and writes the result; 2 where no set could be run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), metavar="NAME", help=f"of {', '.join(SETS)}")
    parser.add_argument(
        "--entrants", nargs="+", metavar="NAME|FILE", help=f"of {', '.join(table())}, or Python files"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON, with every id")
    options = parser.parse_args()
    try:
        entrants, absent = chosen(options.entrants)
    except ValueError as error:
        parser.error(str(error))
    missing = {name: SETS[name].missing(options.data) for name in options.sets or SETS}
    start = time.monotonic()
    result: dict[str, Any] = {
        "setup": setup(*sorted({entrant.package for entrant in entrants if entrant.package})),
        "entrants": {entrant.name: entrant.version if entrant.package else None for entrant in entrants},
        "absent": absent | (ABSENT if options.entrants is None else {}),
        "skipped": {
            name: {"missing": files, "origin": SETS[name].origin} for name, files in missing.items() if files
        },
    }
    result["sets"] = {
        name: sit(SETS[name], options.data, entrants, name) for name in missing if not missing[name]
    }
    result["seconds"] = round(time.monotonic() - start)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        show(result, options.data)
    if not result["sets"]:
        return 2
    if options.sets is None and options.entrants is None and not absent and not result["skipped"]:
        wrong = {
            name: {entrant: row.pop("wrong") for entrant, row in values["entrants"].items()}
            for name, values in result["sets"].items()
        }
        write_result("exam", result)
        write_result("exam-wrong", wrong)
    else:
        print("not written: only some sets or entrants were there", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
