"""Which plain text is taken for a conversation where a folder is searched.

    python -m benchmarks.quality.text_runs [--data DIR] [--most N]

Two counts. Files that are not traces: Python's own modules, the packages that are installed, and the system's
documentation, up to N files of each; every one that is read as plain text with turns is an error, once as if
somebody had named it and once as a search comes upon it. Conversations: those of AutoGen's groups in the
data, written as plain text in four layouts; every one that a search does not take is a miss.
"""

from __future__ import annotations

import argparse
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.errors import TranscriptError
from ebbtide.traces.input.folder import entries_in
from ebbtide.traces.reading import Trace, load, open_trace

_LARGEST = 3_000_000  # bytes
_FOLDERS = {
    "standard library": sysconfig.get_path("stdlib"),
    "packages": sysconfig.get_path("purelib"),
    "documentation": "/usr/share/doc",
}
_LAYOUTS = ("{name}: {text}\n", "{name}:\n{text}\n\n", "**{name}:** {text}\n\n", "[12:03] {name}: {text}\n")
_CHATS = ("rounds/ledgers/*.json.gz", "traces/autogen_messages/*.json")


def no_traces(folder: Path, most: int) -> dict[str, Any]:
    """How many files there are, and how many of them are read as plain text with turns."""
    files = named = searched = 0
    for path in islice(_files(folder), most):
        files += 1
        if _is_text_run(path, is_named=True):
            named += 1
            searched += _is_text_run(path, is_named=False)
    return {"files": files, "named": named, "searched": searched, "interval": wilson(searched, files)}


def conversations(data: Path) -> dict[str, Any]:
    """How many conversations there are as plain text, and how many of them a search takes."""
    talks = [load(path) for pattern in _CHATS for path in sorted(data.glob(pattern))]
    hits = total = 0
    for talk in talks:
        turns = [(item.agent or "agent", (item.text or "").strip()) for item in talk.rounds]
        for layout in _LAYOUTS if len(turns) >= 4 else ():
            total += 1
            text = "".join(layout.format(name=name, text=text) for name, text in turns)
            try:
                Trace.of(text.encode(errors="replace"), source="talk.txt", is_named=False)
            except TranscriptError:
                continue
            hits += 1
    return {"taken": hits, "of": total, "interval": wilson(hits, total)}


def _files(folder: Path) -> Iterator[Path]:
    for entry in entries_in(folder):
        path = Path(entry.path)
        if entry.refusal is None and path.stat().st_size <= _LARGEST:
            yield path


def _is_text_run(path: Path, *, is_named: bool) -> bool:
    try:
        trace = open_trace(path, is_named=is_named)
        return trace.format.name == "text" and any(True for _ in trace)
    except TranscriptError:
        return False


def main() -> None:
    """Count both and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--most", type=int, default=8_000, help="files of each folder")
    options = parser.parse_args()
    talks = conversations(data_folder(options.data))
    print(f"conversations taken by a search: {talks['taken']} of {talks['of']}")
    folders = {}
    for name, place in _FOLDERS.items():
        if Path(place).is_dir():
            counts = folders[name] = no_traces(Path(place), options.most)
            runs = f"{counts['named']} text runs if named, {counts['searched']} in a search"
            print(f"{name}: {counts['files']} files, {runs}")
    write_result("quality-text-runs", {"setup": setup(), "conversations": talks, "no traces": folders})


if __name__ == "__main__":
    main()
