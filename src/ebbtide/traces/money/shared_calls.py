"""Calls that files have in common: copies, resumed sessions and forks, each call with the file it is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace
from ebbtide.events.event import Event
from ebbtide.events.model_call_id import CallId, Prompt
from ebbtide.events.usage import Usage
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.source import STDIN, unpacked_pieces
from ebbtide.traces.money import claude, codex
from ebbtide.traces.money.event_calls import read_calls
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.reading import open_trace

_READERS: Final = {"claude-code": claude.add_calls, "codex": codex.add_calls}

_BY_EVENTS: Final = frozenset({"opencode"})  # whose forks copy calls too


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedCalls:
    """Calls in a file that another file owns.

    Args:
        calls: Their identities, each with the sizes of its prompt: a masked id is that of many calls.
        owner: The file that owns most of them, as the one that a copy or a fork comes from; None where they
            are the last calls of sub-agents alone, which those have in files of their own.
        is_absent: Whether the owner is a thread that a fork of it names, and none of the files.
    """

    calls: frozenset[tuple[CallId, Prompt]]
    owner: str | None
    is_absent: bool = False

    def has(self, event: Event) -> bool:
        """Returns True if an event carries the usage of one of these calls."""
        return (
            event.call is not None
            and event.usage is not None
            and (event.call, _prompt_of(event.usage)) in self.calls
        )


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """The calls of some files, each once.

    Args:
        ledger: The calls.
        inherited: What runs inherit from others among them, or from a thread that is not among them; one that
            inherits nothing is left out. The run of a file is its path.
    """

    ledger: CallLedger
    inherited: dict[str, InheritedCalls]

    @classmethod
    def of(cls, paths: Sequence[Path]) -> SharedCalls:
        """Read the calls of some files.

        Args:
            paths: The files. One that stands there twice is one file.
        """
        found = ((path, _calls_of(path)) for path in dict.fromkeys(paths))
        return cls.of_calls(
            (CallPlace(run=str(path), began=calls.began, path=str(path)), calls)
            for path, calls in found
            if calls is not None
        )

    @classmethod
    def of_calls(cls, files: Iterable[tuple[CallPlace, FileCalls]]) -> SharedCalls:
        """Takes the calls of files that were read.

        Args:
            files: Each with its place; files with one run inherit nothing from each other.
        """
        ledger = CallLedger()
        of_agents: dict[tuple[str | None, Prompt], str] = {}  # files, by sub-agent and prompt
        results: list[tuple[CallPlace, str | None, Prompt]] = []
        for place, found in files:
            for call in found.calls:
                ledger.sight(place, call)
                if call.is_result:
                    results.append((place, call.agent, call.prompt))
                elif call.agent is not None:
                    of_agents.setdefault((call.agent, call.prompt), place.path)
        calls: dict[str, set[tuple[CallId, Prompt]]] = {}
        owners: dict[str, Counter[str]] = {}
        for counted in ledger.calls():
            for copy in counted.copies:
                calls.setdefault(copy.run, set()).add((counted.id, _prompt_of(counted.usage)))
                owners.setdefault(copy.run, Counter())[counted.owner.run] += 1
        absent: set[str] = set()
        for counted in ledger.absent():
            for place in (counted.owner, *counted.copies):
                calls.setdefault(place.run, set()).add((counted.id, _prompt_of(counted.usage)))
                absent.add(place.run)
        for place, agent, prompt in results:
            # The last call of a sub-agent, which its own file has too.
            owner = of_agents.get((agent, prompt))
            if owner is not None and owner != place.path:
                calls.setdefault(place.run, set()).add((CallId.at(f"agent {agent}", prompt), prompt))
        inherited = {
            run: InheritedCalls(
                calls=frozenset(names),
                owner=owners[run].most_common(1)[0][0] if run in owners else None,
                is_absent=run in absent and run not in owners,
            )
            for run, names in calls.items()
        }
        return cls(ledger, inherited)


def _calls_of(path: Path) -> FileCalls | None:
    """Returns the calls of a file whose agent may copy them into another one; None for any other."""
    if str(path) == STDIN:
        return None
    try:
        form = open_trace(path, is_named=False, is_growing=True).format.name
        if form in _BY_EVENTS:
            return read_calls(str(path), str(path))
        adding = _READERS.get(form)
        if adding is None:
            return None
        found, splitter = FileCalls(calls=[], models={}), LineSplitter()
        for piece in unpacked_pieces(path):
            adding(found, splitter.feed(piece))
        adding(found, splitter.finish())
    except Exception:  # noqa: BLE001 - whoever reads it says why, and the other files are read
        return None
    return found


def _prompt_of(usage: Usage) -> Prompt:
    return usage.input_tokens or 0, usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
