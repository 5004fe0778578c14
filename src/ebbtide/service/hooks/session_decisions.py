"""Decisions of a session, folded event by event: what people and the agent decided, and what stands of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ebbtide.bounded import Bounded
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.contradictions.added_text import PATHS
from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.decisions.repeats.subject import find_reversal
from ebbtide.decisions.turns.filtered_turns import Disposition, FilteredCandidate, SpokenTurn
from ebbtide.decisions.turns.turn_deeds import names_in
from ebbtide.decisions.turns.turn_filter import TurnFilter
from ebbtide.divergence.monitor import tools_of
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.profile import Profile
from ebbtide.text.extraction.turn import Speaker

_MOST: Final = 1_000  # decisions of people that are remembered, and of agents; the oldest go
_COMPARED: Final = 256  # standing ones that a new one may take back
_IN_SIGHT: Final = 24  # calls whose files count as in sight


@dataclass(slots=True, kw_only=True)
class SessionDecision:
    """A sentence of a session that decides something, or puts it forward.

    Args:
        id: ``turn-31-1``: the first of those that event 31 states.
        event: Number of the event in the session, from 1.
        ts: When, in seconds since the epoch; None where that is not known.
        names: Files, packages and identifiers that it names.
        is_proposal: True if it was put forward, and neither accepted nor carried out so far.
        accepted: Number of the event that accepts it; None where none does.
        carried_out: Number of the event that carries it out; None where none is known to.
        replaced_by: Id of the one that takes its place; None where none does.
        is_overruled: True if it contradicts what a person said before, which stands.
    """

    id: str
    event: int
    ts: float | None
    speaker: str
    by_person: bool
    candidate: Candidate
    assessment: Assessment
    names: frozenset[str]
    is_proposal: bool
    accepted: int | None
    carried_out: int | None
    replaced_by: str | None = None
    is_overruled: bool = False

    @property
    def text(self) -> str:
        """Decision in the words of the speaker."""
        return self.candidate.description


class SessionDecisions:
    """The decisions of one session, those of people with them. Memory is bounded.

    Only the words between a person and the agent that they talk to count: an order to a sub-agent is that of
    an agent. A word of a person is taken back by a person alone, or by what a person accepts.

    Attributes:
        events: Events that were taken.
    """

    def __init__(self) -> None:
        self.events = 0
        self._filter = TurnFilter()
        self._tools = tools_of(None, Profile.DEFAULT.divergence)
        # Apart, so that what an agent says does not push out what a person said.
        self._people: Bounded[str, SessionDecision] = Bounded(_MOST)
        self._agents: Bounded[str, SessionDecision] = Bounded(_MOST)
        self._standing: Bounded[str, str] = Bounded(_COMPARED)  # ids, by fingerprints of what stands
        self._heard = 0  # the latest event that a person said
        self._files: deque[str] = deque(maxlen=_IN_SIGHT)

    @property
    def files_in_sight(self) -> frozenset[str]:
        """Names of files, without their folders, that the latest calls were about."""
        return frozenset(self._files)

    def take(self, event: Event) -> None:
        """Takes the next event of the session."""
        self.events += 1
        if event.chain_id:
            return
        if isinstance(event, ToolCall):
            self._call(event)
        elif isinstance(event, Message | ModelCall) and (event.text or "").strip():
            self._turn(event)

    def listed(self) -> tuple[SessionDecision, ...]:
        """All that stand, in order; of what was only put forward, that which no person has answered."""
        return tuple(
            each
            for each in self._in_order()
            if each.replaced_by is None
            and not each.is_overruled
            and (not each.is_proposal or each.event > self._heard)
        )

    def taken(self) -> tuple[SessionDecision, ...]:
        """All that were decided, in order, those with them that were taken back."""
        return tuple(each for each in self._in_order() if not each.is_proposal)

    def _turn(self, event: Message | ModelCall) -> None:
        self._add(self._filter.take(SpokenTurn.of(event, self.events)))
        if isinstance(event, Message):
            self._heard = self.events

    def _call(self, call: ToolCall) -> None:
        if isinstance(call.args, Mapping):
            paths = (call.args.get(name) for name in PATHS)
            self._files.extend(_base(path) for path in paths if isinstance(path, str) and path)
        if not call.error:
            self._add(self._filter.call(self.events, call, self._tools))

    def _add(self, candidates: Iterable[FilteredCandidate]) -> None:
        for each in candidates:
            before = self._find(each.id)
            if each.disposition not in (Disposition.KEPT, Disposition.PROPOSED):
                if before is not None:  # what was put forward says again what was decided, or is no choice
                    del self._table(before)[each.id]
                continue
            decision = _decision(each)
            if before is not None and before.is_proposal == decision.is_proposal:
                before.accepted, before.carried_out = each.accepted, each.carried_out
            elif decision.is_proposal:
                self._table(decision)[each.id] = decision
            else:
                self._decide(decision, each.reverses)

    def _decide(self, decision: SessionDecision, reverses: str | None) -> None:
        same = self._find(self._standing.get(fingerprint(decision.text)))
        if same is not None and same.id != decision.id:
            self._table(decision).pop(decision.id, None)  # said again, after the window of duplicates
            same.carried_out = same.carried_out or decision.carried_out
            return
        self._table(decision)[decision.id] = decision
        for other in self._opposed(decision, reverses):
            if other.by_person and not (decision.by_person or decision.accepted):
                decision.is_overruled = True
                return
            other.replaced_by = decision.id
            self._standing.pop(fingerprint(other.text), None)
        self._standing.renew(fingerprint(decision.text), decision.id)

    def _table(self, decision: SessionDecision) -> Bounded[str, SessionDecision]:
        return self._people if decision.by_person else self._agents

    def _find(self, name: str | None) -> SessionDecision | None:
        return None if name is None else self._people.get(name) or self._agents.get(name)

    def _in_order(self) -> list[SessionDecision]:
        return sorted((*self._people.values(), *self._agents.values()), key=lambda each: each.event)

    def _opposed(self, decision: SessionDecision, reverses: str | None) -> list[SessionDecision]:
        """Returns the standing decisions that one contradicts."""
        names = map(self._find, reversed(self._standing.values()))
        standing = [(each.id, each.text) for each in names if each is not None]
        verdict = find_reversal(decision.text, standing)
        opposed = {reverses, None if verdict is None else verdict.of} - {None, decision.id}
        found = map(self._find, opposed)
        return [each for each in found if each is not None and each.replaced_by is None]


def _decision(each: FilteredCandidate) -> SessionDecision:
    sentence, turn = each.sentence, each.turn
    return SessionDecision(
        id=each.id,
        event=turn.number,
        ts=turn.ts,
        speaker=turn.speaker,
        by_person=turn.role is Speaker.PERSON,
        candidate=sentence.candidate(),
        assessment=each.assessment,
        names=names_in(turn.text[sentence.start : sentence.end]),
        is_proposal=each.disposition is Disposition.PROPOSED,
        accepted=each.accepted,
        carried_out=each.carried_out,
    )


def _base(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
