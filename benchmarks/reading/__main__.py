"""How much has to be read: the functions and files that one thing enters on its way, and what src holds.

    python -m benchmarks.reading [--json | --markdown] [--walk NAME]

Each walk is recorded in a process of its own by `sys.setprofile`, in every thread: of a package that is
imported and warm, after the same way was gone once. The functions and files that all of three recordings
entered count, and the fewest crossings, since threads in the background enter something now and then.
`benchmarks/reading/recorder.py` says what counts as a function, a crossing and a name. The walks go by
entrances that users have: the command, the public names of `ebbtide`, HTTP. The lower half is counted in the
syntax trees of `src/ebbtide` and the table of commands.

`--json` prints the result, `--markdown` the tables as ARCHITECTURE.md has them. With `--walk` one walk is
recorded, and nothing is written.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
from collections import Counter
from typing import Any

from benchmarks.measure import ROOT, setup, write_result
from benchmarks.reading.sources import counts
from benchmarks.reading.walks import WALKS, recordings

_TURNS = 3
_MOST_S = 300.0  # of a walk


def record(name: str) -> dict[str, Any]:
    """Returns what a walk enters each time; this process is not to be used for another."""
    turns = recordings(name, _TURNS)
    files = set.intersection(*(turn.files for turn in turns))
    names = set.intersection(*(turn.names for turn in turns))
    result: dict[str, Any] = {
        "functions": len(set.intersection(*(turn.functions for turn in turns))),
        "files": len(files),
        "crossings": min(turn.crossings for turn in turns),
        "files_by_room": dict(Counter(file.partition("/")[0] for file in sorted(files)).most_common()),
    }
    return {**result, "names": len(names), "which_names": sorted(names)} if names else result


def record_apart(name: str) -> dict[str, Any]:
    """Does the same in a process of its own.

    Raises:
        SystemExit: It failed.
    """
    line = [sys.executable, "-m", "benchmarks.reading", "--json", "--inside", "--walk", name]
    process = subprocess.run(
        line, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=_MOST_S
    )
    if process.returncode:
        raise SystemExit(f"the walk {name} failed:\n{process.stderr}")
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def walk_table(walks: dict[str, dict[str, Any]]) -> str:
    """The walks as a table of Markdown."""
    rows = ["| what comes | functions | files | crossings |", "|---|---|---|---|"]
    for name, walk in walks.items():
        words = WALKS[name][0] + (f", under {walk['names']} names" if "names" in walk else "")
        rows.append(f"| {words} | {walk['functions']:,} | {walk['files']:,} | {walk['crossings']:,} |")
    return "\n".join(rows)


def source_table(sources: dict[str, Any]) -> str:
    """What the sources hold, as a table of Markdown."""
    rows = {
        "files": f"{sources['files']:,}",
        "lines": f"{sources['lines']:,}",
        "files that `Supervisor` reaches, by any import": f"{sources['reached_from_supervisor']:,}",
        "files that one other file imports": f"{sources['files_with_one_user']:,}",
        "imports inside functions": f"{sources['imports_in_functions']:,}",
        "commands, and their options": f"{sources['commands']:,}, {sources['options']:,}",
        "docstrings that begin with What, Whether, How, Which or Where": (
            f"{sources['questions']:,} of {sources['docstrings']:,} ({sources['questions_share']:.0%})"
        ),
    }
    return "\n".join(
        ["| in `src` | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]
    )


def room_table(rooms: dict[str, dict[str, int]]) -> str:
    """The rooms by size, as a table of Markdown."""
    lines = (f"| `{name}` | {room['files']:,} | {room['lines']:,} |" for name, room in rooms.items())
    return "\n".join(["| room | files | lines |", "|---|---|---|", *lines])


def main() -> None:
    """Records every walk, counts the sources and writes the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the result as JSON")
    form.add_argument("--markdown", action="store_true", help="print the tables for ARCHITECTURE.md alone")
    parser.add_argument("--walk", choices=WALKS, help="this walk alone, and nothing is written")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(record(options.walk)))
        return
    names = list(WALKS) if options.walk is None else [options.walk]
    walks = {name: record_apart(name) for name in names}
    if options.walk is not None:
        print(json.dumps(walks, indent=1) if options.json else walk_table(walks))
        return
    result: dict[str, Any] = {"setup": setup(), "walks": walks, "sources": counts(ROOT / "src")}
    if options.json:
        print(json.dumps(result, indent=1))
    elif options.markdown:
        print(walk_table(walks), source_table(result["sources"]), sep="\n\n")
    else:
        sources = result["sources"]
        print(walk_table(walks), source_table(sources), room_table(sources["rooms"]), sep="\n\n")
    with contextlib.redirect_stdout(sys.stderr):  # standard output has the result alone
        write_result("reading", result)


if __name__ == "__main__":
    main()
