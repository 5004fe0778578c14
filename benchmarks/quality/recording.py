"""A recording of what the product says of every run at hand: proof that a change of the code changes nothing.

    python -m benchmarks.quality.recording [--data DIR] write PATH [--set NAME ...] [--every N]
    python -m benchmarks.quality.recording [--data DIR] compare PATH [--set NAME ...] [--every N]
    python -m benchmarks.quality.recording [--data DIR] renew

`write` keeps, one run a line, what `compare` then holds the code at hand against: it lists what differs and
ends with 1, or with 0 where nothing does. `renew` writes both files anew that `tests/recording` holds the
code against, for a change that is meant: look first, with `compare`, at what it changes.

A run goes through the reader of its format; event by event through a supervisor of the default profile that
only watches; through a second one that is asked before each call, as a live loop asks it; and through
`ebbtide.check`. Kept are hashes over canonical JSON: of the events that the reader gave; of each report of
a loop and each change of a verdict, with all facts; of what the asked one answered, and of what both know
at the end; of the summary. Beside them stand the changes in short, so that a difference has an event, and
the summary itself, so that it has a place. Paths are no part of it, nor the order of keys, nor the tenth
digit of a number.

Files that `write` makes hold texts of the runs. Those in `tests/recording` do not: of the repository's own
runs they have hashes, and changes without reasons; of other data hashes alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import ebbtide
from benchmarks.measure import ROOT, add_data_option, data_folder
from benchmarks.quality.alarms import asks_model
from benchmarks.quality.scenario_files import read_scenarios
from ebbtide import (
    DegradedEventWarning,
    EbbtideError,
    Event,
    LoopSignal,
    Round,
    Supervisor,
    ToolCall,
    Verdict,
)
from ebbtide.events.event_json import event_wire, read_events

FOLDER = ROOT / "tests" / "recording"
OWN_RUNS = FOLDER / "own_runs.jsonl.gz"
DATA_DIGESTS = FOLDER / "data_digests.json"

Recording = dict[str, Any]
Json = Any

_SESSIONS_EVERY: Final = 4  # one in so many sessions, by a hash of its name
_LARGEST: Final = 5 << 20  # bytes of a session as it is stored
_SHORT, _LONG = 8, 16  # hexadecimal digits of a hash
_SHOWN: Final = 12  # differences of one run that are printed


@dataclass(frozen=True, slots=True)
class Run:
    """A run that can be recorded: a name, unique among all, and what reads its recording."""

    id: str
    record: Callable[[], Recording]


# ----- what a run came to -----


def canonical(value: Json) -> str:
    """JSON of a value: keys in order, nine digits of a number, since a sum may differ in the last ones."""
    return json.dumps(
        _rounded(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=repr
    )


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


class _Digest:
    """A hash over values that come one after the other."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, value: Json) -> None:
        self._hash.update(canonical(value).encode("utf-8", "surrogatepass") + b"\n")

    def __str__(self) -> str:
        return self._hash.hexdigest()[:_LONG]


def _short(value: Json) -> str:
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:_SHORT]


class _Changes:
    """What changed, event by event: in a hash with everything, and in short."""

    def __init__(self) -> None:
        self.digest = _Digest()
        self.rows: list[list[Json]] = []
        self._latest: dict[str, Json] = {}

    def note(self, number: int, who: str, verdict: Verdict) -> None:
        """Take what somebody says at an event, where it is not what they said last."""
        if self._latest.get(who) == verdict:
            return
        self._latest[who] = verdict
        self.add(number, who, verdict.to_dict())

    def add(self, number: int, who: str, wire: Mapping[str, Any]) -> None:
        """Take a report at an event."""
        self.digest.add([number, who, wire])
        shown = (wire.get(name) for name in ("action", "kind", "chain_id"))
        self.rows.append([number, who, *shown, _short(wire), wire.get("reason")])


class _Reports:
    """Listens to a supervisor, and notes each report."""

    def __init__(self, changes: _Changes) -> None:
        self.number = 0
        self._changes = changes

    def event(self, event: Event, number: int, loops: object) -> None:
        """Nothing is noted of what the reader gave."""

    def loop(self, signal: LoopSignal, verdict: Verdict) -> None:
        self._changes.add(self.number, "loop", verdict.to_dict())  # its facts are the signal

    def ignored(self, subject: object) -> None:
        self._changes.add(self.number, "ignored", {})

    def round(self, chain_id: str, read_round: object) -> None:
        """Rounds are in the summary."""

    def verdict(self, verdict: Verdict, first_event: int) -> None:
        self._changes.add(self.number, "report", verdict.to_dict() | {"first_event": first_event})


def watched(events: Iterable[Event | Round]) -> _Changes:
    """What a supervisor that nobody asks reports of a run, and what holds after each event."""
    changes = _Changes()
    reports = _Reports(changes)
    supervisor = Supervisor(listener=reports)
    for number, event in enumerate(events, start=1):
        reports.number = number
        changes.note(number, "record", supervisor.record(event))
        changes.note(number, "run", supervisor.verdict())
    changes.digest.add(supervisor.snapshot().to_dict())
    return changes


def asked(events: Iterable[Event | Round]) -> _Changes:
    """What a supervisor answers before each call of the model and of a tool, and knows at the end."""
    changes = _Changes()
    supervisor = Supervisor()
    latest: dict[str, Event] = {}
    for number, event in enumerate(events, start=1):
        if isinstance(event, Event):
            if asks_model(event, latest.get(event.chain_id)):
                changes.note(number, "before model", supervisor.check_before_model(event.chain_id))
            if isinstance(event, ToolCall):
                changes.note(number, "before tool", supervisor.check_before_tool(event))
            latest[event.chain_id] = event
        changes.note(number, "asked", supervisor.record(event))
    changes.digest.add(supervisor.snapshot().to_dict())
    return changes


def recording_of(events: Sequence[Event | Round], summary: Mapping[str, Any]) -> Recording:
    """What is kept of a run.

    Args:
        events: What happened, in order.
        summary: What `ebbtide.check` says of it, without paths.
    """
    read = _Digest()
    for event in events:
        read.add(dataclasses.asdict(event) if isinstance(event, Round) else event_wire(event))
    alone, live = watched(events), asked(events)
    return {
        "events": len(events),
        "digests": {
            "events": str(read),
            "verdicts": str(alone.digest),
            "answers": str(live.digest),
            "summary": _digest(summary),
        },
        "changes": alone.rows + live.rows,
        "summary": json.loads(canonical(summary)),
    }


def _digest(value: Json) -> str:
    digest = _Digest()
    digest.add(value)
    return str(digest)


def file_recording(path: Path) -> Recording:
    """The recording of a file; where it cannot be read, of the refusal."""
    try:
        events = list(ebbtide.open_trace(path))
        summary = ebbtide.check(path).to_dict()
    except EbbtideError as error:
        refusal = {"error": type(error).__name__, "what": str(error).replace(str(path), "")}
        return _without_events(refusal)
    del summary["source"]
    # Faults name their file.
    text = json.dumps(summary, default=repr).replace(json.dumps(str(path))[1:-1], "")
    return recording_of(events, json.loads(text))


def events_recording(events: Sequence[Event | Round]) -> Recording:
    """The recording of a run whose events are at hand."""
    return recording_of(events, ebbtide.check_events(events).to_dict())


def folder_recording(folder: Path) -> Recording:
    """What the command says of a folder of runs that belong together."""
    environment = os.environ | {"PYTHONPATH": str(Path(ebbtide.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "ebbtide", "check", ".", "--json"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = map(json.loads, done.stdout.splitlines())
    runs = [line for line in lines if line.get("type") != "totals"]
    return _without_events({"code": done.returncode, "runs": runs, "said": done.stderr})


def _without_events(answer: Mapping[str, Any]) -> Recording:
    return {
        "events": 0,
        "digests": {"summary": _digest(answer)},
        "changes": [],
        "summary": json.loads(canonical(answer)),
    }


# ----- the runs -----


def _files(prefix: str, folder: Path, paths: Iterable[Path]) -> Iterator[Run]:
    for path in sorted(paths):
        if path.is_file():
            yield Run(f"{prefix}/{path.relative_to(folder).as_posix()}", partial(file_recording, path))


def _own_samples() -> Iterator[Run]:
    folder = ROOT / "tests" / "traces" / "samples"
    yield from _files("samples", folder, folder.iterdir())


def _own_examples() -> Iterator[Run]:
    folder = ROOT / "examples"
    paths = (path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl", ".txt", ".md"})
    yield from _files("examples", folder, paths)


def _own_scenarios() -> Iterator[Run]:
    for path in sorted((ROOT / "tests" / "scenarios").glob("*.jsonl.gz")):
        for number, scenario in enumerate(read_scenarios(path), start=1):
            # Both lengths of a family may have one id.
            name = f"scenarios/{path.name.removesuffix('.jsonl.gz')}/{number}/{scenario.id}"
            yield Run(name, partial(events_recording, scenario.events))


def _runs(data: Path) -> Iterator[Run]:
    folder = data / "runs"
    paths = (path for path in folder.rglob("*") if path.name != "outcomes.json")
    yield from _files("runs", folder, paths)


def _traces(data: Path) -> Iterator[Run]:
    folder = data / "traces"
    yield from _files("traces", folder, folder.rglob("*"))


def _sessions(data: Path) -> Iterator[Run]:
    folder = data / "sessions"
    for run in _files("sessions", folder, folder.rglob("*.jsonl.gz")):
        if _hash_of(run.id) % _SESSIONS_EVERY == 0 and (data / run.id).stat().st_size <= _LARGEST:
            yield run


def _loops(data: Path) -> Iterator[Run]:
    for row in json.loads((data / "loops" / "scenarios.json").read_text(encoding="utf-8")):
        yield Run(f"loops/{row['id']}", partial(_row_recording, row["events"]))


def _row_recording(wires: Sequence[object]) -> Recording:
    return events_recording(tuple(read_events(wires)))


def _incidents(data: Path) -> Iterator[Run]:
    folder = data / "incidents"
    cases = sorted(path for path in folder.iterdir() if path.is_dir())
    yield from _files("incidents", folder, (path for case in cases for path in case.rglob("*")))
    for case in cases:
        yield Run(f"incidents/{case.name}", partial(folder_recording, case))


OWN_SETS: Mapping[str, Callable[[], Iterator[Run]]] = {
    "samples": _own_samples,
    "examples": _own_examples,
    "scenarios": _own_scenarios,
}
DATA_SETS: Mapping[str, Callable[[Path], Iterator[Run]]] = {
    "runs": _runs,
    "traces": _traces,
    "sessions": _sessions,
    "loops": _loops,
    "incidents": _incidents,
}


def _hash_of(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:_SHORT], 16)


def own_runs() -> Iterator[Run]:
    """The runs in the repository."""
    for runs in OWN_SETS.values():
        yield from runs()


def data_runs(data: Path) -> Iterator[Run]:
    """The runs of the data that is not in the repository."""
    for runs in DATA_SETS.values():
        yield from runs(data)


def record(run: Run) -> Recording:
    """The recording of a run, with its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegradedEventWarning)
        return {"id": run.id, **run.record()}


# ----- what is kept of a recording, and what differs -----


def without_texts(recording: Recording) -> Recording:
    """A recording without reasons, and with hashes of the parts of its summary."""
    return recording | {
        "changes": [row[:-1] for row in recording["changes"]],
        "summary": {key: _short(value) for key, value in recording["summary"].items()},
    }


def digests_of(recording: Recording) -> list[Json]:
    """The number of events of a run, and one hash of everything."""
    return [recording["events"], _digest(recording["digests"])]


def write_recordings(path: Path, recordings: Iterable[Recording]) -> int:
    """Write recordings, one a line, and return how many; the same ones give the same bytes."""
    count = 0
    with path.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as file:
        for recording in recordings:
            count += 1
            file.write(canonical(recording).encode("utf-8", "surrogatepass") + b"\n")
    return count


def read_recordings(path: Path) -> dict[str, Recording]:
    """The recordings in a file, by name."""
    with gzip.open(path, "rb") as file:
        rows = (json.loads(line.decode("utf-8", "surrogatepass")) for line in file)
        return {row["id"]: row for row in rows}


def differences(before: Recording, now: Recording) -> list[str]:
    """What differs between two recordings of a run, in lines to be read; empty where nothing does.

    Args:
        before: As it was written, with texts or without.
        now: As it is now, with texts.
    """
    if before["digests"] == now["digests"]:
        return []
    lines = [
        f"{name} differ" for name in now["digests"] if before["digests"].get(name) != now["digests"][name]
    ]
    if before["events"] != now["events"]:
        lines.append(f"events: {before['events']}, now {now['events']}")
    lines += _changed_rows(before["changes"], now["changes"])
    is_short = all(isinstance(value, str) and len(value) == _SHORT for value in before["summary"].values())
    lines += _places(before["summary"], (without_texts(now) if is_short else now)["summary"], "summary")
    return lines


def _changed_rows(before: Sequence[Sequence[Json]], now: Sequence[Sequence[Json]]) -> Iterator[str]:
    """Rows that are in one of the two only, event by event; reasons where they are known."""
    known = {canonical(row[:6]) for row in before}, {canonical(row[:6]) for row in now}
    only = [(row, "-") for row in before if canonical(row[:6]) not in known[1]]
    only += [(row, "+") for row in now if canonical(row[:6]) not in known[0]]
    for row, sign in sorted(only, key=lambda item: (item[0][0], item[0][1], item[1])):
        number, who, action, kind, chain, digest, *reason = row
        words = (who, action, kind, f"chain {chain!r}" if chain else "", f"[{digest}]", *reason)
        yield f"{sign} event {number}: " + " ".join(str(word) for word in words if word)


def _places(before: Json, now: Json, place: str) -> Iterator[str]:
    """Where two values of JSON differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from _places(before.get(key), now.get(key), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _places(one, other, f"{place}[{number}]")
    elif before != now:
        yield f"{place}: {canonical(before):.200}, now {canonical(now):.200}"


# ----- the command -----


def _chosen(data: Path, names: Sequence[str] | None, every: int) -> Iterator[tuple[str, Iterator[Run]]]:
    wanted = names or [*OWN_SETS, *DATA_SETS]
    if DATA_SETS.keys() & set(wanted):
        data_folder(data)
    for name in wanted:
        runs = OWN_SETS[name]() if name in OWN_SETS else DATA_SETS[name](data)
        yield name, islice(runs, 0, None, every)


def _recorded(sets: Iterable[tuple[str, Iterator[Run]]]) -> Iterator[Recording]:
    """The recordings of sets; says of each how long it took."""
    for name, runs in sets:
        start, count, events = time.perf_counter(), 0, 0
        for run in runs:
            recording = record(run)
            count, events = count + 1, events + recording["events"]
            yield recording
        print(f"{name:<10} {count:5} runs {events:7} events {time.perf_counter() - start:7.1f} s", flush=True)


def compare(
    path: Path, sets: Iterable[tuple[str, Iterator[Run]]], *, names: Sequence[str], whole: bool
) -> int:
    """Hold the code at hand against a recording, print what differs, and return in how many runs.

    Args:
        path: The recording.
        sets: The runs.
        names: The sets that are compared.
        whole: Whether each run of those sets is among the runs.
    """
    before = read_recordings(path)
    expected = {name for name in before if name.split("/")[0] in names} if whole else set()
    wrong, parts = 0, Counter[str]()
    for now in _recorded(sets):
        expected.discard(now["id"])
        lines = differences(before[now["id"]], now) if now["id"] in before else ["is not in the recording"]
        if lines:
            wrong += 1
            parts.update(line for line in lines if line.endswith(" differ"))
            print(f"{now['id']}: {lines[0]}", *lines[1:_SHOWN], sep="\n    ")
            if len(lines) > _SHOWN:
                print(f"    and {len(lines) - _SHOWN} more")
    for name in sorted(expected):
        print(f"{name}: is in the recording only")
    for part, count in parts.items():
        print(f"{part} in {count} runs")
    return wrong + len(expected)


def renew(data: Path) -> None:
    """Write the two committed files anew."""
    FOLDER.mkdir(exist_ok=True)
    own = _recorded((name, runs()) for name, runs in OWN_SETS.items())
    write_recordings(OWN_RUNS, map(without_texts, own))
    others = _recorded((name, runs(data)) for name, runs in DATA_SETS.items())
    rows = {recording["id"]: digests_of(recording) for recording in others}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    DATA_DIGESTS.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def main() -> None:
    """Write a recording, compare with one, or renew the committed ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("write", "compare"):
        command = commands.add_parser(name)
        command.add_argument("path", type=Path, help="the recording, .jsonl.gz")
        command.add_argument(
            "--set", action="append", choices=[*OWN_SETS, *DATA_SETS], dest="sets", help="only this set"
        )
        command.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth run of a set")
    commands.add_parser("renew")
    arguments = parser.parse_args()
    if arguments.command == "renew":
        renew(data_folder(arguments.data))
        return
    start = time.perf_counter()
    sets = _chosen(arguments.data, arguments.sets, arguments.every)
    if arguments.command == "write":
        count = write_recordings(arguments.path, _recorded(sets))
        print(f"written: {count} runs in {time.perf_counter() - start:.0f} s")
        return
    names = arguments.sets or [*OWN_SETS, *DATA_SETS]
    wrong = compare(arguments.path, sets, names=names, whole=arguments.every == 1)
    print(f"{wrong} runs differ; {time.perf_counter() - start:.0f} s")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
