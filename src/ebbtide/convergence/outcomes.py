"""How work came out, as whoever speaks last says: finished, failed, blocked, handed back, at a limit.

A report counts with its polarity ("not finished yet", "once it is done"), with who makes it (a page that an
agent read finishes nothing), and by its place: what is said later takes back what was said before, and who
announces the next step has not finished. It is what somebody says, never a proof that it is so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ebbtide.convergence import outcome_rules as rules
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.text.excerpt import excerpt
from ebbtide.text.extraction.blocks import Form
from ebbtide.text.extraction.quoted import own_words
from ebbtide.text.extraction.reading import read_sentence
from ebbtide.text.extraction.sentences import Sentence, sentences
from ebbtide.text.extraction.turn import Speaker
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import PhraseMatch, PhraseRule, folded

_LONGEST = 4_000  # characters of a turn that are read, at its beginning and its end
_SHOWN = 160  # characters of the sentence that is kept as evidence
_ASKING_END = 2  # sentences at the end of a turn among which a question is put to somebody
_REQUEST_WORDS = 25  # a longer message of a person asks for something, whatever it thanks for


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeReading:
    """How work came out, as a text says.

    Args:
        outcome: How.
        rule: The rule that says so.
        text: The sentence, cut.
        speaker: Whose words they are.
    """

    outcome: RunOutcome
    rule: str
    text: str
    speaker: Speaker = Speaker.MODEL


class _Hit(NamedTuple):
    outcome: RunOutcome
    match: PhraseMatch


class _Tables:
    """The rules of one speaker, in one table: where several match, the order of the outcomes decides."""

    def __init__(self, tables: Mapping[str, tuple[PhraseRule, ...]]) -> None:
        self._table = PhraseTable((rule for table in tables.values() for rule in table), lower=True)

    def hits(self, sentence: str, words: frozenset[str]) -> list[_Hit]:
        return [
            _Hit(RunOutcome(match.rule.id.partition(".")[0]), match)
            for match in self._table.matches(sentence, words)
        ]


_TABLES = {
    Speaker.MODEL: _Tables(rules.AGENT),
    Speaker.PERSON: _Tables(rules.PERSON),
    Speaker.HARNESS: _Tables(rules.HARNESS),
}
_NOT_YET = PhraseTable(rules.NOT_YET, lower=True)
_NOT_ALL = PhraseTable(rules.NOT_ALL, lower=True)
_GOES_ON = PhraseTable(rules.GOES_ON, lower=True)
_OFFER = PhraseTable(rules.OFFER, lower=True)
_CAVEAT = PhraseTable(rules.CAVEATS, lower=True)
_CLAUSE = re.compile(r"[,;:(\u2013\u2014]|\s-\s|\b(?:and|but|so|because|since|confirm(?:ed)? that|means)\b")
_BAD = (RunOutcome.FAILED, RunOutcome.BLOCKED, RunOutcome.LIMIT)
_SIGNALS = ("finished.terminate", "finished.final-answer")  # which say that it ends, not how
_FIRST = ("handed_back.human", "blocked.until", "blocked.cannot-go-on")  # whatever else their sentence says
_UNCONDITIONAL = (
    "finished.terminate",
    "failed.could-not",
    "failed.nothing",
    "failed.unable",
    "blocked.until",
)


def read_outcome(text: str, speaker: Speaker = Speaker.MODEL) -> OutcomeReading | None:
    """What a turn says of how the work came out; None where it says nothing of it.

    Args:
        text: The turn. What it quotes is not read.
        speaker: Whose it is.

    >>> read_outcome("All 42 tests pass now. The fix is in.").outcome.value
    'finished'
    >>> read_outcome("Once the tests pass, it is done. Let me run them.").outcome.value
    'going_on'
    """
    if not text.strip():
        empty = OutcomeReading(outcome=RunOutcome.FAILED, rule="failed.empty", text="", speaker=speaker)
        return empty if speaker is Speaker.MODEL else None
    head, tail, _ = excerpt(text if speaker is Speaker.HARNESS else own_words(text), _LONGEST)
    turn = [
        sentence for part in (head, tail) for sentence in sentences(part) if sentence.form is not Form.CODE
    ]
    return _person(turn) if speaker is Speaker.PERSON else _agent(turn, speaker)


def _agent(turn: list[Sentence], speaker: Speaker) -> OutcomeReading | None:
    latest: OutcomeReading | None = None
    for number, sentence in enumerate(turn):
        lowered = folded(sentence.text)
        words = words_in(lowered)
        if _asks(lowered):
            if number >= len(turn) - _ASKING_END and _OFFER.first(lowered, words) is None:
                latest = _reading(RunOutcome.HANDED_BACK, "handed_back.question", sentence, speaker)
            continue
        if _OFFER.first(lowered, words) is not None:
            continue
        hit = _weightiest(_TABLES[speaker].hits(lowered, words), lowered)
        more = _GOES_ON.first(lowered, words) if speaker is Speaker.MODEL else None
        if more is not None and (hit is None or hit.outcome is not RunOutcome.HANDED_BACK):
            latest = _reading(RunOutcome.GOING_ON, more.rule.id, sentence, speaker)
            continue
        if hit is not None and not (latest and _is_weaker(hit, latest, lowered, words)):
            latest = _reading(hit.outcome, hit.match.rule.id, sentence, speaker)
    return latest


def _person(turn: list[Sentence]) -> OutcomeReading | None:
    latest: OutcomeReading | None = None
    length = sum(len(sentence.text.split()) for sentence in turn)
    for sentence in turn:
        lowered = folded(sentence.text)
        hits = _TABLES[Speaker.PERSON].hits(lowered, words_in(lowered))
        if _asks(lowered) or (not hits and _requests(lowered)):
            # Who thanks and asks for more has not said that it is over.
            latest = None if latest is None or latest.outcome is RunOutcome.FINISHED else latest
        elif hits and (hits[0].outcome is not RunOutcome.FINISHED or length <= _REQUEST_WORDS):
            latest = _reading(hits[0].outcome, hits[0].match.rule.id, sentence, Speaker.PERSON)
    return latest


def _asks(lowered: str) -> bool:
    """Whether a sentence ends as a question does, whatever sign follows."""
    return "?" in lowered[-8:] and not any(sign.isalnum() for sign in lowered[lowered.rindex("?") :])


def _requests(lowered: str) -> bool:
    """Whether a sentence of a person asks for something."""
    return read_sentence(lowered).kind in ("action", "question", "decision")


def _weightiest(hits: list[_Hit], lowered: str) -> _Hit | None:
    """Of the reports in a sentence that nothing takes back, the one that says most; else the first."""
    standing = [hit for hit in hits if not _taken_back(hit, lowered)]
    return min(
        standing,
        key=lambda hit: (hit.match.rule.id not in _FIRST, hit.match.rule.id in _SIGNALS, hit.match.start),
        default=None,
    )


def _taken_back(hit: _Hit, lowered: str) -> bool:
    if hit.match.rule.id in _UNCONDITIONAL:
        return False
    before = _CLAUSE.split(lowered[: hit.match.start])[-1]
    if _NOT_YET.first(before) is not None:
        return True
    after = _CLAUSE.split(lowered[hit.match.end :], maxsplit=1)[0]
    return hit.outcome is RunOutcome.FINISHED and _NOT_ALL.first(after) is not None


def _is_weaker(hit: _Hit, latest: OutcomeReading, lowered: str, words: frozenset[str]) -> bool:
    """Whether a report leaves the one before it in the same turn as it is."""
    if hit.outcome is RunOutcome.FINISHED:
        # "I could not find it. TERMINATE" has not finished anything.
        return latest.outcome in _BAD and hit.match.rule.id in _SIGNALS
    return latest.outcome is RunOutcome.FINISHED and _CAVEAT.first(lowered, words) is not None


def _reading(outcome: RunOutcome, rule: str, sentence: Sentence, speaker: Speaker) -> OutcomeReading:
    text = sentence.text
    cut = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3].rstrip()}..."
    return OutcomeReading(outcome=outcome, rule=rule, text=cut, speaker=speaker)
