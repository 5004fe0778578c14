"""Voices in a round: one speaker, or several whose words one round holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ebbtide.convergence.agreement import CHANGE
from ebbtide.convergence.answers import Answer, read_answer, read_short
from ebbtide.events.transcript import Round
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import anywhere

REASONS = PhraseTable(
    (
        anywhere(
            "reason.given",
            r"because|since|due to|given that|as a result|follows from|the reason|which means",
        ),
    )
)
_NAMED_LINE = re.compile(r"^(?:\*\*)?([A-Z][\w .-]{0,30}?)(?:\*\*)?:(?:\*\*)?[ \t]+(?=\S)", re.MULTILINE)
_READ: Final = 4_000  # characters at the end of a turn
_LAST: Final = 3  # claims and decisions of a round that may hold its answer
_ENDORSES = re.compile(
    r"(?<!\w)(?:i|we)(?: fully| completely| also)? (?:agree|concur) with @?([\w .-]{1,40})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Words of one speaker in a round.

    Args:
        agent: Its name, or its place where it has none.
        answer: The answer that it states; None where none can be read.
        claim: The best reason that it gives, or else the sentence that says more than the answer; None if
            there is neither.
        endorses: Words behind "I agree with", where nothing of it is taken back; None without.
    """

    agent: str
    answer: Answer | None
    claim: str | None = None
    endorses: str | None = None


def voices_in(item: Round) -> tuple[Voice, ...]:
    """Returns the speakers of a round, in their order; none if they cannot be distinguished.

    A round has its speaker in `agent`. One that holds several has them under ``turns`` in `extra`, each with
    its agent and text, or has lines "Name: text", or claims that are a bare answer each, one a speaker.
    """
    if item.agent is not None:
        return () if item.is_by_person else (_voice(item.agent, item.text, item.claims, item.decisions),)
    turns = item.extra.get("turns")
    if isinstance(turns, Sequence) and all(isinstance(turn, Mapping) for turn in turns):
        return tuple(
            _voice(str(turn.get("agent")), str(turn.get("text", "")), (), ())
            for turn in turns
            if not Round(number=item.number, agent=str(turn.get("agent"))).is_by_person
        )
    if item.text is not None:
        return tuple(_named_lines(item.text))
    answers = [read_answer(claim) for claim in item.claims]
    if len(answers) < 2 or not all(answer and answer.rule == "answer.bare" for answer in answers):
        return ()
    names = item.extra.get("agents")
    if not isinstance(names, Sequence) or len(names) != len(answers):
        names = range(1, len(answers) + 1)
    return tuple(Voice(agent=str(name), answer=answer) for name, answer in zip(names, answers, strict=True))


def _named_lines(text: str) -> Iterator[Voice]:
    starts = list(_NAMED_LINE.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)][: len(starts)]
    voices = [
        _voice(start[1].strip(), text[start.end() : end], (), ())
        for start, end in zip(starts, ends, strict=True)
    ]
    latest = {voice.agent: voice for voice in voices if voice.answer is not None}
    if len(latest) > 1:
        yield from latest.values()


def _voice(agent: str, text: str | None, claims: Sequence[str], decisions: Sequence[str]) -> Voice:
    if text is not None:
        answer = read_answer(text)
        if answer is None and len(claims) == 1 and claims[0] == text.strip():
            answer = read_short(text)
    else:
        answer = _structured(claims, decisions)
    endorsement = None if answer is not None or text is None else _ENDORSES.search(text[-_READ:])
    taken_back = endorsement is not None and text is not None and CHANGE.first(text) is not None
    return Voice(
        agent=agent,
        answer=answer,
        claim=_claim(claims, answer),
        endorses=None if endorsement is None or taken_back else endorsement[1],
    )


def _structured(claims: Sequence[str], decisions: Sequence[str]) -> Answer | None:
    """Returns the answer of a round that lists its claims.

    A stated one, or else its only claim if that is a name.
    """
    answers = (read_answer(text) for text in reversed((*claims[-_LAST:], *decisions[-_LAST:])))
    answer = next((answer for answer in answers if answer is not None), None)
    return read_short(claims[0]) if answer is None and len(claims) == 1 else answer


def _claim(claims: Sequence[str], answer: Answer | None) -> str | None:
    if answer is None:
        return None
    reason = next((claim for claim in reversed(claims) if REASONS.first(claim) is not None), None)
    says_more = len(answer.text.split()) > len(answer.form.split())
    return reason or (answer.text if says_more else None)
