"""The model calls of all sessions of a machine, each once, in as little time as reading the files takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace, CountedCall
from ebbtide.budget.ledger.call_price import StatedTotals, settled
from ebbtide.budget.prices import Prices
from ebbtide.errors import TranscriptError
from ebbtide.traces.money.money_cache import KnownFile, MoneyCache
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile
from ebbtide.traces.sessions.session_origin import SessionOrigin, root_session


class MachineCalls:
    """The calls of some sessions.

    Attributes:
        ledger: Every call once.
        places: The files, as the ledger knows them, by path.
        stated: What files state that all of their calls took.
        unread: Files that cannot be read, and why.
        empty: Sessions in which no call is recorded.
    """

    def __init__(self) -> None:
        self.ledger = CallLedger()
        self.places: dict[str, CallPlace] = {}
        self.stated = StatedTotals()
        self.unread: dict[str, str] = {}
        self.empty: set[str] = set()

    @classmethod
    def of(cls, files: Iterable[SessionFile], cache: MoneyCache) -> MachineCalls:
        """Read the calls of some files, as far as the cache does not have them.

        Args:
            files: The files.
            cache: What is known of them; it is saved.
        """
        machine = cls()
        machine._read(list(files), cache)
        cache.save()
        return machine

    def calls(self, prices: Prices) -> Iterator[CountedCall]:
        """Every call, once; what files state that they cost is settled."""
        return settled(self.ledger.calls(), self.stated.by_place(), prices)

    def _read(self, files: list[SessionFile], cache: MoneyCache) -> None:
        known: list[tuple[SessionFile, KnownFile, SessionOrigin]] = []
        for file in files:
            if file.obstacle:
                self.unread[file.path] = file.obstacle
                continue
            try:
                known.append((file, cache.known(file), cache.origin(file)))
            except (TranscriptError, OSError, RecursionError) as error:
                self.unread[file.path] = str(error)
        origins: dict[CodingAgent, dict[str, SessionOrigin]] = {}
        for file, _, origin in known:
            origins.setdefault(file.agent, {})[origin.id] = origin
        for file, item, origin in known:
            of_agent = origins[file.agent]
            root = root_session(origin, of_agent)
            project = of_agent[root].project if root in of_agent else None
            place = place_of(file, item, root, project or origin.project)
            self.places[file.path] = place
            self.stated.add(place, item.found.stated_at, item.found.stated)
            if not item.found.calls:
                self.empty.add(root)
            sight = self.ledger.sight
            for call in item.found.calls:
                sight(place, call)


def place_of(file: SessionFile, known: KnownFile, root: str, project: str | None) -> CallPlace:
    """The place of the calls of a file."""
    return CallPlace(
        run=f"{file.agent.value}:{file.path}",
        began=known.found.began,
        path=file.path,
        session=root,
        project=project or known.origin.project,
        agent=file.agent.value,
    )
