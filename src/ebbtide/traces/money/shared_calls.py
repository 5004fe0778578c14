"""Calls that files have in common: copies, resumed sessions and forks, each call with the file it is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace
from ebbtide.errors import EbbtideError
from ebbtide.events.event import Event
from ebbtide.events.model_call_id import CallId, Prompt
from ebbtide.events.usage import Usage
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.source import STDIN, unpacked_pieces
from ebbtide.traces.money import claude, codex
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.reading import open_trace

_READERS: Final = {"claude-code": claude.add_calls, "codex": codex.add_calls}


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedCalls:
    """Calls in a file that another file owns.

    Args:
        calls: Their identities, each with the sizes of its prompt: a masked id is that of many calls.
        owner: The file that owns most of them, as the one that a copy or a fork comes from; None where they
            are the last calls of sub-agents alone, which those have in files of their own.
    """

    calls: frozenset[tuple[CallId, Prompt]]
    owner: str | None

    def has(self, event: Event) -> bool:
        """Returns True if an event carries the usage of one of these calls."""
        return (
            event.call is not None
            and event.usage is not None
            and (event.call, _prompt_of(event.usage)) in self.calls
        )


def inherited_calls(paths: Sequence[Path]) -> dict[Path, InheritedCalls]:
    """Returns what files inherit from others among them; a file that inherits nothing is left out.

    Args:
        paths: The files. One that stands there twice is one file.
    """
    ledger = CallLedger()
    of_agents: dict[tuple[str | None, Prompt], str] = {}  # files, by sub-agent and prompt
    results: list[tuple[str, str | None, Prompt]] = []
    for path in dict.fromkeys(paths):
        found = _calls_of(path)
        if found is not None:
            place = CallPlace(run=str(path), began=found.began, path=str(path))
            for call in found.calls:
                ledger.sight(place, call)
                if call.is_result:
                    results.append((place.path, call.agent, call.prompt))
                elif call.agent is not None:
                    of_agents.setdefault((call.agent, call.prompt), place.path)
    calls: dict[str, set[tuple[CallId, Prompt]]] = {}
    owners: dict[str, Counter[str]] = {}
    for counted in ledger.calls():
        for copy in counted.copies:
            calls.setdefault(copy.path, set()).add((counted.id, _prompt_of(counted.usage)))
            owners.setdefault(copy.path, Counter())[counted.owner.path] += 1
    for path_of_result, agent, prompt in results:
        # The last call of a sub-agent, which its own file has too.
        owner = of_agents.get((agent, prompt))
        if owner is not None and owner != path_of_result:
            call_id = CallId.at(f"agent {agent}", prompt)
            calls.setdefault(path_of_result, set()).add((call_id, prompt))
    return {
        Path(path): InheritedCalls(
            calls=frozenset(names), owner=owners[path].most_common(1)[0][0] if path in owners else None
        )
        for path, names in calls.items()
    }


def _calls_of(path: Path) -> FileCalls | None:
    """Returns the calls of a file whose agent may copy them into another one; None for any other."""
    if str(path) == STDIN:
        return None
    try:
        adding = _READERS.get(open_trace(path, is_named=False, is_growing=True).format.name)
        if adding is None:
            return None
        found, splitter = FileCalls(calls=[], models={}), LineSplitter()
        for piece in unpacked_pieces(path):
            adding(found, splitter.feed(piece))
        adding(found, splitter.finish())
    except (EbbtideError, OSError, RecursionError):
        return None  # whoever reads it says why
    return found


def _prompt_of(usage: Usage) -> Prompt:
    return usage.input_tokens or 0, usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
