"""A conversation through the gate, turn by turn: what it would have kept, what not, and why.

A proposal waits: it is a decision from where somebody else accepts it, or the run carries it out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ebbtide.bounded import Bounded
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.repeats.duplicate_verdict import duplicate_assessment
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.decisions.turns.answered_questions import ASKING_TOOLS, answered_questions
from ebbtide.decisions.turns.filtered_turns import (
    PERSON,
    Disposition,
    FilteredCandidate,
    FilteredTurns,
    SpokenTurn,
)
from ebbtide.decisions.turns.turn_candidates import TurnCandidate, candidates_of
from ebbtide.decisions.turns.turn_deeds import carries_out, names_in, words_of_call
from ebbtide.decisions.turns.turn_rules import ACCEPTANCES
from ebbtide.decisions.turns.turn_signs import may_state_choice
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.profile import Profile
from ebbtide.text.extraction.turn import Speaker
from ebbtide.text.phrases import folded

_COMPARED = 256  # kept sentences that a new one is compared with
_REMEMBERED = 4_096  # turns whose candidates are remembered
_SHORT = 500  # characters of a turn that is remembered
_LONGEST = 20_000  # characters of a turn that are read; what stands behind them is data
_OPENING = 200  # characters of a turn in which it accepts what was put forward
_OPEN = 32  # sentences that wait for a deed, and calls that change something for which each waits
_FOLLOWED = 1.5  # evidence of a choice that it is to be accepted or carried out
_ANSWERED = "answer.option"  # the rule of what was chosen among the options of a question
_MOST = 32  # sentences of a turn that are judged: of 12,259 real turns none states more than 6 choices


_Candidates = tuple[tuple[TurnCandidate, Assessment], ...]


class TurnFilter:
    """Takes the turns of a conversation one by one, and the calls between them that change something.

    A sentence is judged by its own words: beside "Let me run it" in the same turn, a decision stays one. It
    is compared with the 256 latest that were kept before it: those in the window of the profile where its
    turn has a time, else all of them. Of a turn the first 20,000 characters are read, and the first 32
    sentences that state a choice are judged. Memory is bounded.

    What a method gives back are the sentences of which it says something new: those of the turn, and earlier
    ones under their ids, which then take the place of what was reported of them before.

    Args:
        profile: What the gate goes by.

    Attributes:
        turns: Turns that were taken.
        cut: Those that were longer than what is read.
        left_out: Sentences that were not judged.
    """

    def __init__(self, profile: Profile = Profile.DEFAULT) -> None:
        self.turns = self.heard = 0
        self.cut = 0
        self.left_out = 0
        self._profile = profile
        self._rules = profile.duplicates
        self._untimed = replace(self._rules, window_s=None)
        self._earlier: deque[Earlier] = deque(maxlen=_COMPARED)
        self._by_text: dict[str, _Candidates] = {}
        self._latest: tuple[int, int] = (0, 0)  # number of the latest turn, and how many candidates it had
        self._last: SpokenTurn | None = None
        self._answered: SpokenTurn | None = None  # the latest turn of somebody else
        self._open: Bounded[str, _Open] = Bounded(_OPEN)

    def take(self, turn: SpokenTurn) -> tuple[FilteredCandidate, ...]:
        """Take one more turn; what it states of choices, in order, and what becomes of each."""
        self.turns += 1
        accepted = self._accepted(turn)
        number, count = self._latest
        if number != turn.number:
            count = 0
        filtered = []
        for sentence, assessment in self._candidates(turn):
            count += 1
            filtered.append(self._judged(f"turn-{turn.number}-{count}", turn, sentence, assessment))
        self._latest = turn.number, count
        return (*accepted, *filtered)

    def hear(self, turn: SpokenTurn) -> tuple[FilteredCandidate, ...]:
        """Take note of a turn whose decisions are not asked for: it may accept what stands before it."""
        self.heard += 1
        return self._accepted(turn)

    def _accepted(self, turn: SpokenTurn) -> tuple[FilteredCandidate, ...]:
        if self._last is not None and self._last.speaker != turn.speaker:
            self._answered = self._last
        self._last = turn
        before = self._answered
        if before is None or not ACCEPTANCES.first(folded(turn.text[:_OPENING])):
            return ()
        latest = next(
            (
                each.candidate
                for each in reversed(self._open.values())
                if each.candidate.turn.number == before.number
                and each.candidate.disposition is Disposition.PROPOSED
            ),
            None,
        )
        return () if latest is None else (self._follow(replace(latest, accepted=turn.number)),)

    def call(self, number: int, call: ToolCall, tools: ToolPolicies) -> tuple[FilteredCandidate, ...]:
        """Take note of a call without a fault: it may have asked a person, or carry out a decision.

        Args:
            number: That of the call.
            call: The call, with its answer.
            tools: What is declared of tools.
        """
        if call.name in ASKING_TOOLS:
            return self.answer(number, call)
        policy = tools.get(call.name) if self._open else None
        is_change = policy is not None and policy.effect_of(call.args) is Effect.CHANGE
        return self.act(number, call.args) if is_change else ()

    def act(self, event: int, args: object) -> tuple[FilteredCandidate, ...]:
        """Take note of a call that changed something: it may carry out what was decided or put forward.

        Args:
            event: Its number.
            args: Its arguments.
        """
        words = words_of_call(args)
        followed = []
        for name, each in list(self._open.items()):
            each.calls += 1
            if carries_out(each.names, words):
                del self._open[name]
                followed.append(self._follow(replace(each.candidate, carried_out=event)))
            elif each.calls >= _OPEN:
                del self._open[name]
        return tuple(followed)

    def answer(self, number: int, call: ToolCall) -> tuple[FilteredCandidate, ...]:
        """Take note of a call that may have asked a person: what they chose of its options is a decision.

        Args:
            number: That of the turn which the answer is.
            call: The call, with its answer.
        """
        questions = [each for each in answered_questions(call.name, call.args, call.result) if each.decides]
        if not questions:
            return ()
        self.turns += 1
        filtered = []
        for count, each in enumerate(questions, start=1):
            turn = SpokenTurn(number=number, speaker=PERSON, text=each.text, ts=call.ts, role=Speaker.PERSON)
            sentence = TurnCandidate(
                text=each.text,
                rule=_ANSWERED,
                choice=", ".join(each.chosen),
                over=", ".join(each.over),
                start=0,
                end=len(each.text),
            )
            assessment = _assessed(sentence, self._profile)
            filtered.append(self._judged(f"turn-{number}-{count}", turn, sentence, assessment))
        return tuple(filtered)

    def _follow(self, candidate: FilteredCandidate) -> FilteredCandidate:
        """Settles a proposed candidate that was accepted or carried out."""
        if candidate.disposition is not Disposition.PROPOSED:
            return candidate
        settled = self._settled(
            candidate, _weighed(assess(candidate.sentence.candidate(), profile=self._profile), _FOLLOWED)
        )
        waiting = self._open.get(candidate.id)
        if waiting is not None:
            waiting.candidate = settled
        return settled

    def _candidates(self, turn: SpokenTurn) -> _Candidates:
        """The candidates of a turn, with what the gate says of each; turns that come again are read once."""
        text, by_person = turn.text, turn.role is Speaker.PERSON
        before = self._answered if by_person else None
        candidates = None if by_person else self._by_text.get(text)
        if candidates is None:
            head = text[:_LONGEST]
            self.cut += len(head) < len(text)
            # People say little, and approve with any word.
            sentences = (
                candidates_of(head, turn.role, None if before is None else before.text[:_LONGEST])
                if by_person or may_state_choice(head)
                else ()
            )
            self.left_out += max(len(sentences) - _MOST, 0)
            candidates = tuple((each, _assessed(each, self._profile)) for each in sentences[:_MOST])
            if len(text) <= _SHORT and not by_person:
                if len(self._by_text) >= _REMEMBERED:
                    self._by_text.clear()
                self._by_text[text] = candidates
        return candidates

    def result(self, filtered: Mapping[str, FilteredCandidate]) -> FilteredTurns:
        """All that was taken, of the latest word on each sentence by its id, in order."""
        return FilteredTurns(
            turns=self.turns,
            candidates=tuple(filtered.values()),
            profile=self._profile.name,
            cut=self.cut,
            left_out=self.left_out,
            heard=self.heard,
        )

    def _judged(
        self, name: str, turn: SpokenTurn, sentence: TurnCandidate, assessment: Assessment
    ) -> FilteredCandidate:
        candidate = FilteredCandidate(
            id=name, turn=turn, sentence=sentence, disposition=Disposition.REFUSED, assessment=assessment
        )
        if sentence.is_proposal and sentence.against is None:
            candidate = replace(
                candidate,
                disposition=Disposition.PROPOSED,
                assessment=replace(
                    assessment, keep=False, primary=_PROPOSED, rules=(_PROPOSED, *assessment.rules)
                ),
            )
        elif assessment.keep:
            candidate = self._settled(candidate, assessment)
        if candidate.disposition in (Disposition.PROPOSED, Disposition.KEPT):
            names = names_in(turn.text[sentence.start : sentence.end], sentence.choice)
            if names or candidate.disposition is Disposition.PROPOSED:
                self._open[name] = _Open(candidate, names)
        return candidate

    def _settled(self, candidate: FilteredCandidate, assessment: Assessment) -> FilteredCandidate:
        """Settles a candidate that the gate has judged and that is no mere proposal."""
        if not assessment.keep:
            return replace(candidate, disposition=Disposition.REFUSED, assessment=assessment)
        ts = candidate.turn.ts
        at = float(self.turns) if ts is None else ts
        rules = self._untimed if ts is None else self._rules
        words = candidate.sentence.candidate().description
        verdict = find_duplicate(words, tuple(self._earlier), rules, ts=at)
        disposition = Disposition.KEPT
        if verdict.is_duplicate:
            disposition, assessment = (
                Disposition.DUPLICATE,
                duplicate_assessment(verdict, assessment, self._profile),
            )
        else:
            self._earlier.append(Earlier(id=candidate.id, text=words, ts=at))
        return replace(candidate, disposition=disposition, assessment=assessment, duplicate=verdict)


@dataclass(slots=True)
class _Open:
    """A sentence that waits to be accepted or carried out, and for how many calls it has waited."""

    candidate: FilteredCandidate
    names: frozenset[str]
    calls: int = 0


def filter_turns(turns: Iterable[SpokenTurn], profile: Profile = Profile.DEFAULT) -> FilteredTurns:
    """Take a whole conversation through a `TurnFilter`.

    Args:
        turns: What was said, in order; leave out whose decisions are not asked for.
        profile: What the gate goes by.
    """
    turn_filter = TurnFilter(profile)
    filtered: dict[str, FilteredCandidate] = {}
    for turn in turns:
        filtered.update((each.id, each) for each in turn_filter.take(turn))
    return turn_filter.result(filtered)


def _weighed(assessment: Assessment, more: float) -> Assessment:
    """An assessment with more evidence of a choice, which no rule that decides alone gives way to."""
    deciding = any(rule.decides for rule in assessment.rules)
    keep = not deciding and assessment.noise - assessment.choice - more < assessment.threshold
    rules = (*assessment.rules, replace(_FOLLOW, weight=-more))
    primary = None if keep else assessment.primary
    return replace(assessment, keep=keep, primary=primary, choice=assessment.choice + more, rules=rules)


def _assessed(sentence: TurnCandidate, profile: Profile) -> Assessment:
    assessment = assess(sentence.candidate(), profile=profile)
    if sentence.against is None:
        return assessment
    reason = _AGAINST[sentence.against.partition(".")[0]]
    rule = RuleFired(id=sentence.against, layer=Layer.INFORMATIONAL, reason=reason, decides=True)
    return replace(assessment, keep=False, primary=rule, rules=(rule, *assessment.rules))


_AGAINST = {
    "step": "It names the next step and chooses nothing",
    "other": "It offers, advises or tells of others",
    "signs": "It has few signs of a choice",
}
_PROPOSED = RuleFired(
    id="proposal.open",
    layer=Layer.INFORMATIONAL,
    reason="It was put forward, and neither accepted nor carried out",
    decides=True,
)
_FOLLOW = RuleFired(
    id="choice.followed",
    layer=Layer.INFORMATIONAL,
    reason="It was accepted or carried out",
    weight=-_FOLLOWED,
)
