"""Consensus of agents: positions, majority and unanimity, circle by circle.

A circle is one turn of each speaker. Where speakers take turns it is found as the turns come: it is full when
everybody known so far has spoken in it, or when somebody speaks again, since the others pass. The first one,
where nobody is known yet, ends with the first who speaks again. Who passes keeps the answer; who passes two
circles has left. A person is no party, nor is a speaker who gave no answer in two circles.

Source: ours; see docs/convergence.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final

from ebbtide.codec import As, Record, State, from_wire, to_wire
from ebbtide.convergence.answers import CONCLUSION_RULES, Answer, AnswerKind
from ebbtide.convergence.novelty import claim_tokens
from ebbtide.convergence.semantic import cosine_at_least
from ebbtide.convergence.voices import Voice, voices_in
from ebbtide.events.transcript import Round
from ebbtide.profile.convergence import NoveltyRules
from ebbtide.text.contrast.guard import contrast
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.jaccard_index import jaccard

_MOST_SPEAKERS: Final = 64  # more are a crowd: no reading, and bounded memory
_LEFT: Final = 2  # circles without a word after which a speaker has left
_BYSTANDER: Final = 2  # circles without any answer after which a speaker is no party
_FEW_TOKENS: Final = 4  # under as many, words have to be equal
_THE_OTHER: Final = ("you", "the other", "this answer", "that answer")
_REMEMBERED: Final = 256  # answers that were given before


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Answer and the agents that give it.

    Args:
        answer: The answer in its normal form.
        agents: The agents that hold it, in the order in which they first spoke.
        claim: The best that is said for it; None where nothing is said but the answer.
    """

    answer: str
    agents: tuple[str, ...]
    claim: str | None
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusReading(Record):
    """Positions of the agents after a circle.

    Args:
        circle: Its number, from 1.
        positions: The answers, the one of most agents first.
        silent: Speakers without a readable answer.
        majority: Share of the speakers who hold the first position, over 0 to 1.
        unanimous: Every speaker holds it, and there are two at least.
        unchanged: Nobody who had an answer changed it; None in the first circle with answers.
        unanimous_rounds: Circles in a row with the same answer of everybody.
        disagreement_rounds: Circles in a row with more than one answer, in which nobody changed it.
        old_rounds: Circles in a row that brought no answer that was not given before.
    """

    circle: int
    positions: tuple[Position, ...]
    silent: tuple[str, ...]
    majority: float
    unanimous: bool
    unchanged: bool | None
    unanimous_rounds: int
    disagreement_rounds: int
    old_rounds: int
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Party:
    answer: Answer | None = None
    claim: str | None = None
    circles: int = 0  # in which it spoke
    passed: int = 0  # circles in a row without a word


def _alone_wire(turn: Round | Voice) -> dict[str, Any] | None:
    voice = next(iter(_voices(turn)), None)
    return None if voice is None else to_wire(voice)


# All that later turns need of a turn is what its first voice says.
_Turn = Annotated[Round | Voice, As(_alone_wire, partial(from_wire, Voice))]


class ConsensusMeter(State):
    """Comparison of the answers of agents, circle by circle.

    Args:
        alike: Similarity from which two answers in words are one.
        embedder: Compares them by meaning too.

    >>> meter = ConsensusMeter()
    >>> reading = meter.update(Round(number=1, claims=("80", "80", "75")))
    >>> reading.majority, [(position.answer, position.agents) for position in reading.positions]
    (0.666667, [('80', ('1', '2')), ('75', ('3',))])
    """

    _speakers: dict[str, _Party]
    _in_circle: list[str]  # in the open circle
    _answered: bool  # whether anybody gave an answer in it
    _answered_before: bool  # or in the one before
    _alone: _Turn | None  # the latest turn of the only agent that has spoken
    _ever: dict[str, None]  # every answer that was given, the oldest first
    _before: dict[str, Answer]  # answers after the circle before
    _circle: int
    latest: ConsensusReading | None

    def __init__(self, *, alike: NoveltyRules | None = None, embedder: Embedder | None = None) -> None:
        self._alike = alike or NoveltyRules()
        self._embedder = embedder
        self._speakers = {}
        self._in_circle = []
        self._answered = False
        self._answered_before = False
        self._alone = None
        self._ever = {}
        self._before = {}
        self._circle = 0
        self.latest = None

    def update(self, item: Round) -> ConsensusReading | None:
        """Takes a round; returns the positions after the circle that it completes, if it completes one."""
        if self._is_alone(item):
            return None
        if self._alone is not None:
            first, self._alone = self._alone, None
            self._take(_voices(first))
        return self._take(voices_in(item))

    @property
    def is_open(self) -> bool:
        """True if two agents or more stated answers, and some lately, so that these decide."""
        stated = sum(answer.rule not in CONCLUSION_RULES for answer in self._answers().values())
        return stated > 1 and (self._answered or self._answered_before)

    def _is_alone(self, item: Round) -> bool:
        """Returns True if one agent has spoken so far: its latest turn is read when another one speaks."""
        if item.agent is None or item.is_by_person or self._speakers:
            return False
        if self._alone is not None and self._alone.agent != item.agent:
            return False
        self._alone = item
        return True

    def _take(self, voices: tuple[Voice, ...]) -> ConsensusReading | None:
        if max(len(voices), len(self._speakers)) > _MOST_SPEAKERS:
            return None
        if len(voices) > 1:
            for voice in voices:
                self._record_voice(voice)
            return self._close()
        if not voices:
            return None
        voice = voices[0]
        if voice.agent not in self._in_circle:
            self._record_voice(voice)
            return self._close_if_full()
        # The others pass, or the first circle is full. Who speaks again may end agreement, and not make it.
        before, answered = self._answers(), self._answered
        self._record_voice(voice)
        is_agreed = len(self._groups(before)) == 1
        self._answered = answered
        reading = self._close(self._answers() if is_agreed else before)
        self._before, self._in_circle, self._answered = before, [voice.agent], voice.answer is not None
        return reading

    def _record_voice(self, voice: Voice) -> None:
        speaker = self._speakers.get(voice.agent, _Party())
        if voice.endorses is not None:
            endorsed = self._answer_of(voice.endorses, besides=voice.agent)
            if endorsed is not None:  # who agrees takes the answer over
                voice = replace(voice, answer=replace(endorsed, rule="answer.endorsed"))
        if voice.agent not in self._in_circle:
            self._in_circle.append(voice.agent)
        self._answered = self._answered or voice.answer is not None
        self._speakers[voice.agent] = _Party(
            answer=voice.answer or speaker.answer,
            claim=voice.claim if voice.answer else speaker.claim,
            circles=speaker.circles,
        )

    def _answer_of(self, words: str, *, besides: str) -> Answer | None:
        """Returns the answer of the agent whom "I agree with" names, or of the only other speaker."""
        lowered = words.lower()
        others = {agent: speaker for agent, speaker in self._speakers.items() if agent != besides}
        for agent, speaker in others.items():
            if lowered.startswith(agent.lower()) or (len(others) == 1 and lowered.startswith(_THE_OTHER)):
                return speaker.answer
        return None

    def _close_if_full(self) -> ConsensusReading | None:
        full = self._circle > 0 and len(self._speakers) > 1 and len(self._in_circle) >= len(self._speakers)
        return self._close() if full else None

    def _close(self, answers: dict[str, Answer] | None = None) -> ConsensusReading | None:
        self._circle += 1
        for agent, speaker in list(self._speakers.items()):
            spoke = agent in self._in_circle
            passed = 0 if spoke else speaker.passed + 1
            if passed < _LEFT:
                self._speakers[agent] = replace(speaker, circles=speaker.circles + spoke, passed=passed)
            else:
                del self._speakers[agent]
        answered = self._answered
        answers = self._answers() if answers is None else answers
        answers = {agent: answer for agent, answer in answers.items() if agent in self._speakers}
        reading = self._reading(answers) if answered and len(answers) > 1 else None
        self._before = answers
        self._in_circle, self._answered, self._answered_before = [], False, answered
        if answered or len(answers) < 2:
            self.latest = reading
        return reading

    def _answers(self) -> dict[str, Answer]:
        return {
            agent: speaker.answer for agent, speaker in self._speakers.items() if speaker.answer is not None
        }

    def _groups(self, answers: dict[str, Answer]) -> list[list[str]]:
        """Returns agents by their answer, the largest group first."""
        groups: list[list[str]] = []
        for agent, answer in answers.items():
            group = next((group for group in groups if self._same(answers[group[0]], answer)), None)
            if group is None:
                groups.append([agent])
            else:
                group.append(agent)
        return sorted(groups, key=lambda group: -len(group))

    def _reading(self, answers: dict[str, Answer]) -> ConsensusReading:
        groups = self._groups(answers)
        new = [answer.form for answer in answers.values() if answer.form not in self._ever]
        self._ever |= dict.fromkeys(new)
        while len(self._ever) > _REMEMBERED:
            del self._ever[next(iter(self._ever))]
        silent = tuple(
            agent
            for agent, speaker in self._speakers.items()
            if speaker.answer is None and speaker.circles < _BYSTANDER
        )
        unchanged = None
        if len(self._before) > 1:
            unchanged = all(
                self._same(self._before[agent], answer)
                for agent, answer in answers.items()
                if agent in self._before
            )
        unanimous = len(groups) == 1 and not silent
        latest = self.latest
        agreed_before = latest.unanimous_rounds if latest and unchanged else 0
        apart_before = latest.disagreement_rounds if latest and unchanged else 0
        return ConsensusReading(
            circle=self._circle,
            positions=tuple(self._position(group, answers) for group in groups),
            silent=silent,
            majority=round(len(groups[0]) / (len(answers) + len(silent)), 6),
            unanimous=unanimous,
            unchanged=unchanged,
            unanimous_rounds=agreed_before + 1 if unanimous else 0,
            disagreement_rounds=apart_before + 1 if len(groups) > 1 else 0,
            old_rounds=0 if new or latest is None else latest.old_rounds + 1,
            rule=_rule(unanimous=unanimous, unchanged=unchanged, groups=groups, silent=silent),
        )

    def _position(self, agents: list[str], answers: dict[str, Answer]) -> Position:
        claims = (self._speakers[agent].claim for agent in agents)
        answer = answers[agents[0]]
        return Position(
            answer=answer.form,
            agents=tuple(agents),
            claim=next((claim for claim in claims if claim is not None), None),
            rule=_weakest([answers[agent] for agent in agents]).rule,
        )

    def _same(self, one: Answer, other: Answer) -> bool:
        if one.form == other.form:
            return True
        exact = (AnswerKind.NUMBER, AnswerKind.CHOICE)
        if one.kind in exact or other.kind in exact:
            return False
        tokens = [claim_tokens(answer.form, self._alike.tokens) for answer in (one, other)]
        if min(map(len, tokens)) < _FEW_TOKENS:
            return False
        alike = jaccard(*tokens) >= self._alike.jaccard_at_least or self._means_the_same(one, other)
        return alike and contrast(one.form, other.form) is None

    def _means_the_same(self, one: Answer, other: Answer) -> bool:
        if self._embedder is None:
            return False
        left, right = self._embedder.embed([one.form, other.form])
        return float(left @ right) >= cosine_at_least(self._alike, self._embedder.model)


def _voices(turn: Round | Voice) -> tuple[Voice, ...]:
    return (turn,) if isinstance(turn, Voice) else voices_in(turn)


def _weakest(answers: list[Answer]) -> Answer:
    return next((answer for answer in answers if answer.rule in CONCLUSION_RULES), answers[0])


def _rule(
    *, unanimous: bool, unchanged: bool | None, groups: list[list[str]], silent: tuple[str, ...]
) -> str:
    if unanimous:
        return "consensus.unanimous-unchanged" if unchanged else "consensus.unanimous"
    if unchanged and len(groups) > 1:
        return "consensus.apart-unchanged"
    speakers = sum(map(len, groups)) + len(silent)
    return "consensus.majority" if len(groups[0]) * 2 > speakers else "consensus.none"
