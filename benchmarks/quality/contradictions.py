"""How often a hook would name a decision that an edit contradicts, and how often falsely.

    python -m benchmarks.quality.contradictions [--data DIR] [--cases]

Recorded sessions of Claude Code are replayed in the order of their days, those of a repository behind one
another. A decision counts from its event on, in its session and in later ones of the repository. `spoken` is
how often the hook would speak, once a session and decision; `--cases` prints each, to be read. The tree of
the repository is not in the data, so that a name counts as one that the project has where anything that a
session read or wrote before has it.

`foreign` holds the same edits against decisions of other people's projects, those of 92 chats about code.
Nothing there can be contradicted, so each time it speaks it is false. `without the project` leaves out that
the project must not have the name yet.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.run_sets import session_files
from ebbtide.decisions.contradictions.added_text import EditText, edits_in
from ebbtide.decisions.contradictions.rejected_names import RejectedName, rejected_names
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, ToolCall
from ebbtide.service.hooks.contradiction import EDITORS
from ebbtide.service.hooks.session_decisions import SessionDecision, SessionDecisions
from ebbtide.traces.reading import open_trace


@dataclass
class Project:
    """One repository as its sessions show it up to now.

    Args:
        rulings: Names that decisions ruled out, by the words of the decision.
        words: Everything that was read or written, in lower case, without what edits add at this moment.
    """

    rulings: dict[str, tuple[RejectedName, ...]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    def has(self, name: RejectedName) -> bool:
        """Returns True if something that was read or written has a name."""
        return name.text.lower() in self.words


@dataclass
class Counts:
    """The edits that were held against decisions, and where it spoke."""

    edits: int = 0
    spoken: list[dict[str, str]] = field(default_factory=list)


def names_of(decision: SessionDecision) -> tuple[RejectedName, ...]:
    """The names that a decision ruled out, as the hook takes them from the log."""
    options = decision.candidate.options
    if len(options) < 2:
        return ()
    choice = None if options[0] == decision.text else options[0]
    parts = [part for each in options[1:] for part in dict.fromkeys((each, *each.split(", ")))]
    return rejected_names(decision.text, choice, parts)


def chat_names(data: Path) -> Iterator[tuple[str, tuple[RejectedName, ...]]]:
    """The names that decisions in chats of other projects ruled out, those of proposals with them."""
    for path in sorted((data / "decisions" / "coding_chats").glob("*.md.gz")):
        decisions = SessionDecisions()
        for event in open_trace(str(path)):
            if isinstance(event, Event):
                decisions.take(event)
        for each in (*decisions.taken(), *decisions.listed()):
            if names := names_of(each):
                yield each.text, names


def words_in(value: object) -> Iterator[str]:
    """The words of anything that a call has, as `git grep -w` would find them, in lower case."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    for word in set(re.findall(r"[\w./:@-]+", text.lower())):
        yield word
        yield from re.split(r"[./:@]", word)


def sessions_of(data: Path) -> Iterator[tuple[str, str, list[Event]]]:
    """The repository, the id and the events of each session of Claude Code, the oldest first."""
    cards = [item for item in session_files(data) if item[1]["agent"].startswith("claude")]
    for path, card in sorted(cards, key=lambda item: str(item[1].get("first"))):
        yield (
            card["repository"],
            card["id"],
            [item for item in open_trace(str(path)) if isinstance(item, Event)],
        )
    for path in sorted((data / "runs" / "claude_code").glob("*.jsonl.gz")):
        try:
            events = [item for item in open_trace(str(path)) if isinstance(item, Event)]
        except TranscriptError:
            continue
        yield "runs/claude_code", path.stem, events


def spoken_at(
    edit: EditText, rulings: Mapping[str, Sequence[RejectedName]], told: set[str]
) -> Iterator[tuple[str, RejectedName]]:
    """The decisions that an edit contradicts, each once."""
    lowered = edit.added.lower()
    for text, names in rulings.items():
        for name in names:
            if text not in told and name.text.lower() in lowered and edit.adds(name):
                yield text, name


def replay(
    sessions: Iterable[tuple[str, str, list[Event]]], foreign: Mapping[str, Sequence[RejectedName]]
) -> dict[str, Any]:
    """Counts over all sessions."""
    projects: dict[str, Project] = defaultdict(Project)
    kinds = ("own", "own, without the project", "foreign", "foreign, without the project")
    counts = {kind: Counts() for kind in kinds}
    totals = {"sessions": 0, "decisions": 0, "with_alternative": 0, "with_name": 0}
    bank: set[str] = set()
    for repository, session, events in sessions:
        totals["sessions"] += 1
        project, decisions = projects[repository], SessionDecisions()
        told: dict[str, set[str]] = {kind: set() for kind in kinds}
        for event in events:
            decisions.take(event)
            if isinstance(event, ToolCall) and event.name in EDITORS and isinstance(event.args, Mapping):
                for edit in () if event.error else edits_in(event.args):
                    rulings = {"own": project.rulings, "foreign": foreign}
                    for case in _cases(edit, project, rulings, counts, told):
                        case["session"] = session
            if isinstance(event, ToolCall):
                project.words.update(words_in(event.args))
                project.words.update(words_in(event.result or ""))
            for each in decisions.taken() if decisions.events % 25 == 0 or event is events[-1] else ():
                if each.replaced_by is None and not each.is_overruled and (names := names_of(each)):
                    project.rulings.setdefault(each.text, names)
        taken = decisions.taken()
        totals["decisions"] += len(taken)
        totals["with_alternative"] += sum(len(each.candidate.options) > 1 for each in taken)
        totals["with_name"] += sum(bool(names_of(each)) for each in taken)
        bank.update(each.text for each in taken if names_of(each))
    return {**totals, "bank": bank, "counts": counts}


def _cases(
    edit: EditText,
    project: Project,
    rulings: Mapping[str, Mapping[str, Sequence[RejectedName]]],
    counts: dict[str, Counts],
    told: dict[str, set[str]],
) -> Iterator[dict[str, str]]:
    """Counts an edit, and yields where it speaks."""
    for kind, part in rulings.items():
        for which in (kind, f"{kind}, without the project"):
            counts[which].edits += 1
            for text, name in list(spoken_at(edit, part, told[which])):
                if which != kind or not project.has(name):
                    told[which].add(text)
                    case = {"decision": text, "name": name.text, "file": Path(edit.path).name}
                    counts[which].spoken.append(case)
                    yield case


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--cases", action="store_true", help="print each case, to be read")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    chats = dict(chat_names(data))
    result = replay(sessions_of(data), chats)
    bank, counts = result.pop("bank"), result.pop("counts")
    print(", ".join(f"{number} {name.replace('_', ' ')}" for name, number in result.items()))
    print(f"{len(chats)} decisions of chats, and {len(bank)} of sessions, that rule out a name")
    for kind, part in counts.items():
        interval = wilson(len(part.spoken), part.edits)
        print(f"{kind}: spoken {len(part.spoken)} times at {part.edits} edits {interval}")
        for case in part.spoken if arguments.cases else ():
            print(f"    {case['name']} in {case['file']}: {case['decision'][:90]}")
    write_result(
        "quality-contradictions",
        {
            "setup": setup(),
            **result,
            "decisions_of_chats": len(chats),
            **{
                kind: {
                    "edits": part.edits,
                    "spoken": len(part.spoken),
                    "interval": wilson(len(part.spoken), part.edits),
                }
                for kind, part in counts.items()
            },
        },
    )


if __name__ == "__main__":
    main()
