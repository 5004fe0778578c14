"""The chains of one run: the latest at hand, the silent ones packed small, and none dropped unheard."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

from ebbtide.codec import State
from ebbtide.engine_state import pack_state, unpack_state

LIVE_CHAINS = 64  #: chains of one run that are kept at hand; those that were silent longer are packed
MOST_CHAINS = 8192  #: chains of one run that are watched; for one more, the one silent longest is dropped
_MAGIC = b"EBBH\x01"


class Chain(Protocol):
    """Entry of the table."""

    name: str


_C = TypeVar("_C", bound=Chain)
_N = TypeVar("_N")


class ChainTable(State, Generic[_C, _N]):
    """Chains by name, the one that was silent longest first.

    A chain that is packed comes back as it was when it is asked for: some hundred microseconds. So a run may
    have any number of agents at once, and the memory of a few.

    Args:
        new: Makes a chain of a name.
        pack: Its state, as plain data that JSON can carry.
        unpack: Makes a new chain what `pack` gave.
        note: What has to be known of a chain while it is packed; None for nothing.
        live: Chains that are kept at hand, 1 or more.
        most: Chains that are kept at all. What was known of a chain that is dropped is forgotten.

    Attributes:
        notes: Of the chains that are packed, where there is something to note.
        losses: Chains that made room for others.
    """

    __slots__ = (
        "_live",
        "_most",
        "_new",
        "_note",
        "_pack",
        "_unpack",
        "archive",
        "chains",
        "losses",
        "notes",
    )

    def __init__(
        self,
        new: Callable[[str], _C],
        pack: Callable[[_C], Mapping[str, Any]],
        unpack: Callable[[_C, Mapping[str, Any]], None],
        *,
        note: Callable[[_C], _N | None] = lambda _: None,
        live: int = LIVE_CHAINS,
        most: int = MOST_CHAINS,
    ) -> None:
        self._new, self._pack, self._unpack, self._note = new, pack, unpack, note
        self._live, self._most = live, most
        self.chains: dict[str, _C] = {}  # at hand, the one that was silent longest first
        self.archive: dict[str, bytes] = {}  # likewise; all of them were silent for longer
        self.notes: dict[str, _N] = {}
        self.losses = 0

    @property
    def latest(self) -> _C | None:
        """The one that was taken last; None before the first."""
        return next(reversed(self.chains.values()), None)

    def __len__(self) -> int:
        return len(self.chains) + len(self.archive)

    def __contains__(self, name: str) -> bool:
        return name in self.chains or name in self.archive

    def take(self, name: str) -> _C:
        """The chain of a name, which is the latest now; a new one where there was none."""
        chain = self.chains.pop(name, None)
        drops = False
        if chain is None:
            data = self.archive.pop(name, None)
            self.notes.pop(name, None)
            chain = self._unpacked(name, data)
            drops = data is None and len(self) >= self._most
            if drops:
                self._drop_oldest()
            if len(self.chains) >= self._live:
                self._pack_oldest()
        self.chains[name] = chain
        if drops and self.losses == 1:
            warnings.warn(
                f"more than {self._most:,} chains in one run: what was known of the one that was silent "
                "longest is forgotten. Give each run a supervisor of its own, as ebbtide.Runs does",
                RuntimeWarning,
                stacklevel=2,
            )
        return chain

    def find(self, name: str) -> _C | None:
        """The chain of a name, as a copy where it is packed; None where it is not known."""
        chain = self.chains.get(name)
        if chain is None and name in self.archive:
            return self._unpacked(name, self.archive[name])
        return chain

    def change(self, name: str | None) -> Iterator[_C]:
        """The chain of a name, or every one, the one that was silent longest first; changes are kept."""
        names = [*self.archive, *self.chains] if name is None else [name]
        for each in names:
            if each in self.archive:
                chain = self._unpacked(each, self.archive[each])
                yield chain
                self._archive(chain)
            elif each in self.chains:
                yield self.chains[each]

    def all(self) -> Iterator[_C]:
        """Every chain, the one that was silent longest first; of those that are packed, copies."""
        for name, data in list(self.archive.items()):
            yield self._unpacked(name, data)
        yield from list(self.chains.values())

    def to_state(self) -> dict[str, Any]:
        """Every chain, as plain data that JSON can carry."""
        return {
            "chains": [[name, self._pack(chain)] for name, chain in self.chains.items()],
            "archive": [
                [name, base64.b64encode(data).decode("ascii")] for name, data in self.archive.items()
            ],
            "losses": self.losses,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.losses = state["losses"]
        self.archive = {name: base64.b64decode(text) for name, text in state["archive"]}
        for name, entry in state["chains"]:
            self._unpack(self.take(name), entry)

    def _unpacked(self, name: str, data: bytes | None) -> _C:
        chain = self._new(name)
        if data is not None:
            self._unpack(chain, unpack_state(data, _MAGIC, "a chain"))
        return chain

    def _archive(self, chain: _C) -> None:
        self.archive[chain.name] = pack_state(self._pack(chain), _MAGIC)
        self.notes.pop(chain.name, None)
        note = self._note(chain)
        if note is not None:
            self.notes[chain.name] = note

    def _pack_oldest(self) -> None:
        name, chain = next(iter(self.chains.items()))
        self._archive(chain)
        del self.chains[name]

    def _drop_oldest(self) -> None:
        name = next(iter(self.archive or self.chains))
        self.archive.pop(name, None)
        self.notes.pop(name, None)
        self.chains.pop(name, None)
        self.losses += 1
