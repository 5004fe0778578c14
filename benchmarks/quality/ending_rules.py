"""Measures what each phrase rule for the end of a run is worth, by taking it out.

    python -m benchmarks.quality.ending_rules [--data DIR] [--show]

Each run is read once as it is, and once without each rule that matches anywhere in the texts from which its
first word is made. A row counts, for one rule: the recorded runs where it matches, those whose first word
changes without it, and those where a round comes out otherwise; the written ends that change; and of all
labelled ends that change, how many are right with the rule and how many without. A rule is idle that
changes no recorded run. `--show` prints each run that changes, to be read.

The runs are those of the repository (samples, examples, scenarios, written ends), and of the data (sessions,
runs, traces, incidents). The labels are those of `session_ends` and of `endings`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, write_result
from benchmarks.quality.endings import events_of, kind_of, real_summary, written
from benchmarks.quality.faces import own_files
from benchmarks.quality.scenario_files import read_scenarios
from benchmarks.quality.session_ends import accepted, labelled
from ebbtide.checking import check, check_events
from ebbtide.convergence import outcomes, witness
from ebbtide.errors import EbbtideError
from ebbtide.supervision.summary.ending import EndingReader, EndKind
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.text.extraction.turn import Speaker
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import PhraseMatch

_LARGEST = 5 << 20  # bytes of a file as it is stored
_OTHERS = ("_NOT_YET", "_AFTER_OTHERS")
_outcomes: Any = importlib.import_module(outcomes.__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """Effect of taking one rule out of one run."""

    rule: str
    run: str
    is_written: bool
    before: str
    after: str
    text: str
    rounds: int
    right: bool | None
    right_without: bool | None


class _Table:
    """A table of rules, one of which can be taken out."""

    muted = ""
    heard: set[str] = set()  # noqa: RUF012  (one for all tables)

    def __init__(self, table: PhraseTable) -> None:
        self._table = table
        self.rules = table.rules
        self._known: dict[str, list[PhraseMatch]] = {}

    def matches(self, text: str) -> list[PhraseMatch]:
        """As that of the table, without the rule."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._table.matches(text)
        self.heard.update(match.rule.id for match in found)
        return [match for match in found if match.rule.id != self.muted]

    def first(self, text: str) -> PhraseMatch | None:
        """As that of the table, without the rule."""
        return next(iter(self.matches(text)), None)

    def forget(self) -> None:
        """Forget the texts of a run."""
        self._known.clear()


def _tables() -> list[_Table]:
    """Returns the tables that endings are read with, each of them so that a rule can be taken out."""
    spoken = vars(outcomes)["_TABLES"]
    if isinstance(spoken[Speaker.MODEL], PhraseTable):
        spoken.update({speaker: _Table(table) for speaker, table in spoken.items()})
        for name in _OTHERS:
            setattr(_outcomes, name, _Table(getattr(_outcomes, name)))
    return [*spoken.values(), *(getattr(_outcomes, name) for name in _OTHERS)]


@contextlib.contextmanager
def _listening() -> Iterator[tuple[list[EndingReader], set[tuple[str, Speaker]]]]:
    """Gives the readers of the end, and the texts of rounds that are read for their outcome."""
    readers: list[EndingReader] = []
    texts: set[tuple[str, Speaker]] = set()
    read = EndingReader.read

    def read_end(reader: EndingReader) -> Any:
        readers.append(reader)
        return read(reader)

    def read_round(text: str, speaker: Speaker = Speaker.MODEL) -> Any:
        texts.add((text, speaker))
        return outcomes.read_outcome(text, speaker)

    setattr(EndingReader, "read", read_end)  # noqa: B010  (a method is no attribute to mypy)
    setattr(witness, "read_outcome", read_round)  # noqa: B010
    try:
        yield readers, texts
    finally:
        setattr(EndingReader, "read", read)  # noqa: B010
        setattr(witness, "read_outcome", outcomes.read_outcome)  # noqa: B010


@dataclass(frozen=True, slots=True)
class Case:
    """A run, and what a reader says of its end: headlines or kinds; None where nobody has read it."""

    name: str
    summary: Callable[[], RunSummary]
    label: frozenset[str] | None = None
    is_written: bool = False


class Result(NamedTuple):
    """First word of a run, the rules that match in it, and what changes without each."""

    word: str
    heard: set[str]
    changes: list[Change]
    is_written: bool


def changes(case: Case) -> Result:
    """Returns what each rule that matches in a run is worth there."""
    tables = _tables()
    _Table.muted, _Table.heard = "", set()
    with _listening() as (readers, texts):
        try:
            summary = case.summary()
        except EbbtideError:
            return Result("UNREADABLE", set(), [], case.is_written)
    heard = set(_Table.heard)
    before, kind = summary.headline.value, summary.ending.ending
    rounds = {item: _outcome(*item) for item in texts}
    found = []
    for rule in sorted(heard):
        _Table.muted = rule
        ending = readers[-1].read()
        after = replace(summary, ending=ending).headline.value
        turned = sum(_outcome(*item) != outcome for item, outcome in rounds.items())
        if after == before and not turned and ending.ending is kind:
            continue
        right = None if case.label is None else bool(case.label & {before, kind.value})
        without = None if case.label is None else bool(case.label & {after, ending.ending.value})
        text = summary.ending.text
        found.append(
            Change(rule, case.name, case.is_written, before, after, text, turned, right, without)
        )
    _Table.muted = ""
    for table in tables:
        table.forget()
    return Result(before, heard, found, case.is_written)


def _outcome(text: str, speaker: Speaker) -> str | None:
    reading = outcomes.read_outcome(text, speaker)
    return None if reading is None else reading.outcome.value


# ----- the runs -----


def cases(data: Path) -> Iterator[Case]:
    """Every run at hand."""
    labels = {}
    for half in ("open", "sealed"):
        for row in labelled(Path(__file__).with_name(f"session_ends_{half}.jsonl")):
            labels[row["id"]] = frozenset(accepted(row))
    for row in json.loads((ROOT / "tests/endings/real.json").read_text(encoding="utf-8")):
        label = _kinds(row["ending"], row["second"])
        if row["at"] is None:
            labels[row["file"]] = label
        else:
            yield Case(f"{row['file']} {row['at']}", partial(real_summary, row, data), label)
    files = [*own_files(), *(ROOT / "examples").rglob("*.jsonl")]
    for folder in ("runs", "sessions", "traces", "incidents"):
        files += (path for path in (data / folder).rglob("*") if path.is_file())
    for path in sorted(set(files)):
        if path.stat().st_size <= _LARGEST and not path.name.endswith((".md", "outcomes.json", ".meta.json")):
            named = path.relative_to(data).as_posix() if path.is_relative_to(data) else ""
            read_as = labels.get(path.name.partition(".")[0]) or labels.get(named)
            yield Case(path.name, partial(check, path, is_alone=False), read_as)
    for path in sorted((ROOT / "tests" / "scenarios").glob("*.jsonl.gz")):
        for scenario in read_scenarios(path):
            yield Case(scenario.id, partial(check_events, scenario.events))
    for row in written():
        events = list(events_of(row["entries"]))
        label = _kinds(row["ending"], None)
        yield Case(row["id"], partial(check_events, events), label, is_written=True)


def _kinds(*labels: str | None) -> frozenset[str]:
    kinds: set[EndKind | None] = {kind_of(label) for label in labels}
    return frozenset(kind.value for kind in kinds if kind is not None)


def _rules() -> list[str]:
    rules: dict[str, None] = {}
    for table in _tables():
        rules |= dict.fromkeys(rule.id for rule in table.rules)
    return list(rules)


def table_of(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """Returns what each rule is worth, by its id."""
    matching: Counter[str] = Counter()
    by_rule: defaultdict[str, list[Change]] = defaultdict(list)
    for result in results:
        matching.update(() if result.is_written else result.heard)
        for change in result.changes:
            by_rule[change.rule].append(change)
    rows = {}
    for rule in _rules():
        turned = [change for change in by_rule[rule] if change.before != change.after]
        recorded = [change for change in turned if not change.is_written]
        judged = [change for change in turned if change.right != change.right_without]
        rows[rule] = {
            "matches": matching[rule],
            "words": len(recorded),
            "rounds": sum(change.rounds > 0 and not change.is_written for change in by_rule[rule]),
            "written": len(turned) - len(recorded),
            "right": sum(change.right is True for change in judged),
            "right_without": sum(change.right_without is True for change in judged),
            "changes": dict(Counter(f"{item.before} to {item.after}" for item in recorded)),
        }
    return rows


def main() -> None:
    """Print a row a rule, and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--show", action="store_true", help="print each recorded run that changes")
    arguments = parser.parse_args()
    runs = list(cases(data_folder(arguments.data)))
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(changes, runs, chunksize=4))
    recorded = [result for result in results if not result.is_written and result.word != "UNREADABLE"]
    words = Counter(result.word for result in recorded)
    labels = sum(case.label is not None for case in runs)
    print(f"{len(recorded)} recorded runs: {dict(words)}; {labels} ends have labels")
    rows = table_of(results)
    print(f"{'rule':<26}{'matches':>8}{'words':>8}{'rounds':>8}{'written':>8}{'right':>8}{'without':>8}")
    for rule, row in sorted(rows.items(), key=lambda item: (item[1]["words"], item[1]["rounds"])):
        numbers = [row[name] for name in ("matches", "words", "rounds", "written", "right", "right_without")]
        print(f"{rule:<26}{''.join(f'{number:8}' for number in numbers)}  {row['changes'] or ''}")
    if arguments.show:
        for change in sorted((item for result in results for item in result.changes), key=lambda it: it.rule):
            if change.before != change.after and not change.is_written:
                print(f"{change.rule}: {change.run}: {change.before} to {change.after}: {change.text[:110]}")
    idle = [rule for rule, row in rows.items() if not row["words"] and not row["rounds"]]
    print(f"{len(rows)} rules, {len(idle)} idle: {', '.join(idle)}")
    result = {"setup": setup(), "runs": len(recorded), "words": dict(words), "rules": rows, "idle": idle}
    write_result("quality-ending-rules", result)


if __name__ == "__main__":
    main()
