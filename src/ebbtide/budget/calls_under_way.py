"""Calls of a model that were let through, and of which nobody has said yet what came of them."""

from __future__ import annotations

from ebbtide.codec import State

_CHAINS = 4096


class CallsUnderWay(State):
    """Counts, for each chain, the model calls that were asked for since its latest one was recorded.

    So agents that ask at the same time share what is left, and a run whose model calls nobody records is
    counted by its questions.

    Attributes:
        count: How many there are, over all chains.
    """

    __slots__ = ("_chains", "count")

    _chains: dict[str | None, int]
    count: int

    def __init__(self) -> None:
        self._chains = {}
        self.count = 0

    def add(self, chain_id: str | None) -> None:
        """A call is let through; None where its chain was not named."""
        if chain_id not in self._chains and len(self._chains) >= _CHAINS:
            chain_id = None
        self._chains[chain_id] = self._chains.get(chain_id, 0) + 1
        self.count += 1

    def end(self, chain_id: str) -> None:
        """A call of a chain was recorded: of those before it nothing more comes."""
        self.count -= self._chains.pop(chain_id, 0) + self._chains.pop(None, 0)
