"""One chain of a run, as the supervisor knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.divergence.signals import LoopKind
from ebbtide.divergence.watch import ChainWatch
from ebbtide.profile import Profile
from ebbtide.supervision.joint import Progress
from ebbtide.supervision.rounds import ChainRounds
from ebbtide.supervision.standing import Board, Standing
from ebbtide.text.embedding.vectors import Embedder

_RATES = frozenset({LoopKind.SPEND_RATE.value, LoopKind.BUDGET_END.value})
_HINTED = 64  # loops that are known to have been told
_ANSWERED = 256  # tools that are known to have answered; with more of them, all count as such


class RunChain:
    """What was said about one chain, and its conversation.

    Args:
        name: The chain.
        profile: Thresholds.
        embedder: Turns the semantic level of its conversation on.
    """

    __slots__ = (
        "_hinted",
        "answered",
        "batch",
        "board",
        "excused",
        "fresh_turn",
        "name",
        "progress",
        "rounds",
        "said",
        "turn",
    )

    def __init__(self, name: str, profile: Profile, embedder: Embedder | None = None) -> None:
        self.name = name
        self.turn = 0
        self.batch: str | int | None = None
        self.board = Board()
        self.rounds = ChainRounds(profile, embedder)
        self.progress = Progress()
        self.said = b""  # what a person said last
        self.fresh_turn = 0  # in which something new came, from a tool, a round or a person
        self.excused = False  # whether a person lets dry rounds go on until something new comes
        self._hinted: dict[str, int] = {}
        self.answered: set[str] = set()  # tools whose answers were known

    def hear_answer(self, tool: str) -> None:
        """Note that the answer of a tool is known, which is not in `answered`."""
        if len(self.answered) < _ANSWERED:
            self.answered.add(tool)

    def gave_answers(self, tools: Sequence[str]) -> bool:
        """Whether the answer of one of these tools was ever known: a trace may leave answers out."""
        known = self.answered
        return not tools or len(known) >= _ANSWERED or not known.isdisjoint(tools)

    def was_told(self, key: str) -> bool:
        """Whether a loop was told in an earlier turn, so that going on with it is no accident of one turn."""
        turn = self._hinted.get(key)
        return turn is not None and turn < self.turn

    def tell(self, key: str) -> None:
        """Note that a loop is told now; the first time counts."""
        if key not in self._hinted:
            if len(self._hinted) >= _HINTED:
                del self._hinted[next(iter(self._hinted))]
            self._hinted[key] = self.turn

    def untell(self, key: str) -> None:
        """Forget that something was told, so that it is told before it is acted on again."""
        self._hinted.pop(key, None)

    def lift_stale(self, watch: ChainWatch) -> None:
        """A tool gave an answer that was not known: what was said about a lack of news falls."""
        self.excused = False
        turn = self.turn
        stale = [
            key
            for key, item in self.board.items.items()
            if item.turn < turn and not _holds(item, watch) and not item.is_final
        ]
        if stale:
            self.board.lift(stale)

    def lift_answered(self) -> None:
        """A person said something new: only spending goes on as it did."""
        self.excused = False
        self.board.lift([key for key, item in self.board.items.items() if item.verdict.kind not in _RATES])

    def forgive(self) -> None:
        """A person has seen what stands, and lets the run go on."""
        for key, item in self.board.items.items():
            if item.verdict.ends:
                self._hinted.pop(key, None)
        self.excused = "rounds" in self.board.items
        self.board.lift([key for key, item in self.board.items.items() if item.verdict.ends])

    def to_state(self) -> dict[str, Any]:
        """All that later verdicts depend on."""
        return {
            "name": self.name,
            "turn": self.turn,
            "batch": self.batch,
            "board": self.board.to_state(),
            "rounds": self.rounds.to_state(),
            "progress": list(self.progress),
            "said": self.said.hex(),
            "excused": self.excused,
            "fresh_turn": self.fresh_turn,
            "hinted": self._hinted,
            "answered": sorted(self.answered),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` told."""
        self.turn, self.batch = state["turn"], state["batch"]
        self.board.restore(state["board"])
        self.rounds.restore(state["rounds"])
        self.progress = Progress(*state["progress"])
        self.said = bytes.fromhex(state["said"])
        self.excused, self.fresh_turn = state["excused"], state["fresh_turn"]
        self._hinted = dict(state["hinted"])
        self.answered = set(state["answered"])


def _holds(item: Standing, watch: ChainWatch) -> bool:
    """Whether what was said holds although something new has come."""
    if item.loop is None:
        return False
    if item.verdict.kind in _RATES:
        return watch.spend.over == item.verdict.kind
    loop = watch.ladder.loops.get(item.loop)
    return loop is not None and watch.goes_on(loop)
