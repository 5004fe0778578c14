"""One chain of a run, as the supervisor knows it."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.codec import State
from ebbtide.divergence.detectors.spend import SpentSoFar
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.signals import SPENDING
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.active_verdicts import BURN, ROUNDS, ActiveVerdict, ActiveVerdicts, Subject
from ebbtide.supervision.facts import LoopFacts
from ebbtide.supervision.rounds import ChainRounds, RoundMoment
from ebbtide.text.embedding.vectors import Embedder

_RATES = (LoopKind.SPEND_RATE, LoopKind.BUDGET_END)
_REPORTED = 64  # subjects that are known to have been reported
_ANSWERED = 256  # tools that are known to have answered; with more of them, all count as such


class ChainState(State):
    """State of one chain, and of its conversation.

    Args:
        embedder: Turns the semantic level of its conversation on.
    """

    turn: int = 0
    batch: str | int | None = None
    active: ActiveVerdicts
    rounds: ChainRounds
    progress: SpentSoFar = SpentSoFar()  # when a round or a person last brought something new
    latest_message: bytes = b""  # key of what a person said last
    fresh_turn: int = 0  # in which something new came, from a tool, a round or a person
    excused: bool = False  # whether a person lets dry rounds go on until something new comes
    _reported: dict[Subject, int] = {}
    answering_tools: set[str] = set()  # whose answers were known at least once

    def __init__(self, name: str, profile: Profile, embedder: Embedder | None = None) -> None:
        super().__init__()
        self.name = name
        self.active = ActiveVerdicts()
        self.rounds = ChainRounds(profile, embedder)

    @property
    def awaits_round(self) -> bool:
        """True if something holds that a round with something new would end."""
        items = self.active.items
        return self.excused or ROUNDS in items or BURN in items

    @property
    def goes_in_circles(self) -> bool:
        """True if a loop holds that was reported."""
        every = (item.verdict.facts for item in self.active.items.values())
        return any(isinstance(facts, LoopFacts) and facts.signal.kind not in SPENDING for facts in every)

    def add_answering_tool(self, tool: str) -> None:
        """Note that the answer of a tool is known."""
        if len(self.answering_tools) < _ANSWERED:
            self.answering_tools.add(tool)

    def answers_known(self, tools: Sequence[str]) -> bool:
        """True if the answer of one of these tools was ever known: a trace may leave answers out."""
        names = self.answering_tools
        return not tools or len(names) >= _ANSWERED or not names.isdisjoint(tools)

    def was_reported(self, subject: Subject) -> bool:
        """True if it was reported in an earlier turn: going on with it is no accident of one turn then."""
        turn = self._reported.get(subject)
        return turn is not None and turn < self.turn

    def report(self, subject: Subject) -> None:
        """Note that something is reported now; the first time counts."""
        if subject not in self._reported:
            if len(self._reported) >= _REPORTED:
                del self._reported[next(iter(self._reported))]
            self._reported[subject] = self.turn

    def forget(self, subject: Subject) -> None:
        """Forget that something was reported, so that it is reported before it is acted on again."""
        self._reported.pop(subject, None)

    def fresh_answer(self, loops: LoopState) -> None:
        """A tool gave an answer that was not known: what was reported about a lack of news falls."""
        self.fresh_turn = self.turn
        if self.active.items:
            self.forget(BURN)
            self._lift_stale(loops)

    def _lift_stale(self, loops: LoopState) -> None:
        self.excused = False
        turn = self.turn
        stale = [
            subject
            for subject, item in self.active.items.items()
            if item.turn < turn and not _holds(item, loops) and not item.is_final
        ]
        if stale:
            self.active.lift(stale)

    def lift_answered(self) -> None:
        """A person said something new: only spending goes on as it did."""
        self.excused = False
        rates = {kind.value for kind in _RATES}
        items = self.active.items
        self.active.lift([subject for subject in items if items[subject].verdict.kind not in rates])

    def lift_rounds(self) -> None:
        """A round brought something new."""
        self.excused = False
        items = self.active.items
        self.active.lift([key for key in (ROUNDS, BURN) if key in items and not items[key].is_final])

    def moment(self, loops: LoopState | None) -> RoundMoment:
        """Returns the moment of the chain now.

        Args:
            loops: What it spent; None where that is not watched.
        """
        return RoundMoment(self.turn, SpentSoFar() if loops is None else loops.spend.spent)

    def progress_made(self, moment: RoundMoment) -> None:
        """Something new came, from a round or a person: spending is measured from there."""
        # A round that is read late may be older than what a tool or a person brought since.
        self.progress = max(self.progress, moment.spent)
        self.fresh_turn = max(self.fresh_turn, moment.turn)
        self.forget(BURN)

    def forgive(self) -> None:
        """A person has seen what holds, and lets the run go on."""
        endings = [subject for subject, item in self.active.items.items() if item.verdict.ends]
        for subject in endings:
            self.forget(subject)
        self.excused = ROUNDS in self.active.items
        self.active.lift(endings)


def _holds(item: ActiveVerdict, loops: LoopState) -> bool:
    """True if a verdict holds although something new has come."""
    facts = item.verdict.facts
    if not isinstance(facts, LoopFacts):
        return False
    signal = facts.signal
    if signal.kind in _RATES:
        return loops.spend.exceeded is signal.kind
    loop = loops.registry.loops.get(bytes.fromhex(signal.id))
    return loop is not None and loops.goes_on(loop)
