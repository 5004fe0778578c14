"""Who sits the exam: a row of a table or a file each, and what each says of one run.

An entrant is a function without arguments that gives a fresh watcher: a function that takes one event after
the other and says of each whether it speaks there. `benchmarks/exam/README.md` has an example.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.loop_peers import PEERS, Watcher, starts_anew
from benchmarks.quality.alarms import equal_calls
from ebbtide.claims.sentences import is_refuted
from ebbtide.events.event import Event, Phase, ToolCall
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder

PACKAGES = Path(__file__).parent / "packages"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One that sits the exam.

    Args:
        name: Its name in the table.
        watcher: Gives a fresh watcher.
        package: The distribution that has to be installed; "" where nothing has.
        knows_agents: One watcher is told the whole run, and keeps its agents apart. Any other gets a fresh
            watcher for each agent, and where an agent begins a new run.
    """

    name: str
    watcher: Callable[[], Watcher]
    package: str = ""
    knows_agents: bool = False

    @property
    def version(self) -> str | None:
        """Version of its package; None where that is not installed."""
        try:
            return importlib.metadata.version(self.package or "ebbtide")
        except importlib.metadata.PackageNotFoundError:
            return None


class EbbtideWatcher:
    """The recorder of `ebbtide check`, which takes one event after the other as a live run gives them.

    Args:
        rung: The mildest action that counts.
    """

    def __init__(self, rung: Action) -> None:
        self._recorder = RunRecorder(RunOptions())
        self._rung = rung

    def __call__(self, event: Event) -> bool:
        """Says whether the verdict after an event counts."""
        return self._recorder.record(event).action.rank >= self._rung.rank

    def at_end(self) -> bool:
        """Answers once more when the run is over: words that its record contradicts are known only then."""
        summary = self._recorder.summary("run", "events")
        found = any(finding.action.rank >= self._rung.rank for finding in summary.findings)
        return found or (self._rung is Action.NUDGE and is_refuted(summary.claims))


def calls(least: int) -> Watcher:
    """So many calls of tools, whatever they are: the limit that most loops of agents have."""
    seen = 0

    def see(event: Event) -> bool:
        nonlocal seen
        seen += isinstance(event, ToolCall) and event.phase is not Phase.STARTED
        return seen >= least

    return see


def table() -> dict[str, Entrant]:
    """Returns the entrants of this folder by name: ourselves, rules of thumb, published packages."""
    rows = [
        Entrant("Ebbtide, first word", partial(EbbtideWatcher, Action.NUDGE), knows_agents=True),
        Entrant("Ebbtide, end", partial(EbbtideWatcher, Action.FINALIZE), knows_agents=True),
        *(Entrant(f"{count} equal calls", partial(equal_calls, count)) for count in (3, 5)),
        *(Entrant(f"{count} calls", partial(calls, count)) for count in (10, 50)),
        *(Entrant(name, make, package=name.split(" ")[0]) for name, (_, make) in PEERS.items()),
        *map(from_file, sorted(PACKAGES.glob("*.py"))),
    ]
    return {row.name: row for row in rows}


def from_file(path: Path) -> Entrant:
    """Reads an entrant from a file: `watcher`, and `NAME`, `PACKAGE` and `KNOWS_AGENTS` where it states them.

    Raises:
        ValueError: It is no Python file, or has no `watcher`.
    """
    module = _load(path)
    watcher = getattr(module, "watcher", None)
    if not callable(watcher):
        raise ValueError(  # noqa: TRY004 - of a file, not of an argument
            f"{path}: an entrant needs a function `watcher` that gives a fresh watcher"
        )
    package = getattr(module, "PACKAGE", "")
    name = getattr(module, "NAME", package or path.stem)
    return Entrant(name, watcher, package, bool(getattr(module, "KNOWS_AGENTS", False)))


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"exam_entrant_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"{path}: no entrant of the table and no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a file of somebody else does
        raise ValueError(f"{path}: {type(error).__name__}: {error}") from error
    return module


def first_word(entrant: Entrant, events: Sequence[Event]) -> int | None:
    """Returns the event at which an entrant speaks first, from 1; None where it stays silent.

    What it says once more at the end of a run counts as said at the last event.
    """
    watchers: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):  # some print what they raise
        for place, event in enumerate(events, start=1):
            agent = "" if entrant.knows_agents else event.chain_id
            if agent not in watchers or (starts_anew(event) and not entrant.knows_agents):
                watchers[agent] = entrant.watcher()
            if watchers[agent](event):
                return place
        for watcher in watchers.values():
            at_end = getattr(watcher, "at_end", None)
            if at_end is not None and at_end():
                return len(events)
    return None
