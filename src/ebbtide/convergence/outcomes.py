"""Outcomes of work, as whoever speaks last says: finished, failed, blocked, handed back, at a limit.

A report counts with its polarity ("not finished yet", "once it is done"), with who makes it (a page that an
agent read finishes nothing), and by its place: how a run ended stands at the end of its last words, and a
fault in the middle of a report is one of the work. It is what somebody says, never a proof that it is so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ebbtide.convergence import outcome_rules
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.text.excerpt import excerpt, one_line
from ebbtide.text.extraction.blocks import Form
from ebbtide.text.extraction.quoted import own_words
from ebbtide.text.extraction.reading import read_sentence
from ebbtide.text.extraction.sentences import Sentence, sentences
from ebbtide.text.extraction.turn import Speaker
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import PhraseMatch, PhraseRule, folded

_LONGEST = 4_000  # characters of a turn that are read, at its beginning and its end
_SHOWN = 160  # characters of the sentence that is kept as evidence
_ASKING_END = 2  # sentences at the end of a turn among which a question is put to somebody
_END = 3  # sentences at the end of a turn that say how it ended, where they say anything of that
_WHOLE = 3  # sentences of a turn that may be what the program around an agent printed
_BARE = 2  # words of a report that does not say what is done
_SHORT = 6  # sentences of a turn that has no middle
_REQUEST_WORDS = 25  # a longer message of a person asks for something, whatever it thanks for


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeReading:
    """Outcome of work, as a text says.

    Args:
        text: The sentence, cut.
        speaker: Whose words they are.
    """

    outcome: RunOutcome
    rule: str
    text: str
    speaker: Speaker = Speaker.MODEL


def _table(tables: Mapping[str, tuple[PhraseRule, ...]], *others: tuple[PhraseRule, ...]) -> PhraseTable:
    """The rules of one speaker in one table, since a look at a sentence costs more than a rule."""
    return PhraseTable((rule for rules in (*tables.values(), *others) for rule in rules), lower=True)


_TABLES = {
    Speaker.MODEL: _table(outcome_rules.AGENT, outcome_rules.GOES_ON, outcome_rules.OFFER),
    Speaker.PERSON: _table(outcome_rules.PERSON),
    Speaker.HARNESS: _table(outcome_rules.HARNESS),
}
_NOT_YET = PhraseTable(outcome_rules.NOT_YET, lower=True)
_DID = "finished.did-it"
_OFFERS = frozenset(rule.id for rule in outcome_rules.OFFER)
_AFTER_OTHERS = PhraseTable(outcome_rules.AFTER_OTHERS, lower=True)
_CHOICE = re.compile(
    r",? or (?:should|shall|do|would|can|may) (?:i|we|you)\b"
)  # what follows an offer and asks
_CLAUSE = re.compile(r"[,;:(\u2013\u2014]|\s-\s|\b(?:and|but|so|because|since|confirm(?:ed)? that|means)\b")
_FIRST = ("handed_back.human", "blocked.until", "blocked.cannot-go-on")  # whatever else their sentence says
_UNCONDITIONAL = (
    "finished.terminate",
    "failed.could-not",
    "failed.nothing",
    "failed.unable",
    "blocked.until",
)


def read_outcome(text: str, speaker: Speaker = Speaker.MODEL) -> OutcomeReading | None:
    """Returns the outcome of the work that a turn reports; None where it reports none.

    Args:
        text: The turn. What it quotes is not read.

    >>> read_outcome("All 42 tests pass now. The fix is in.").outcome.value
    'finished'
    >>> read_outcome("Once the tests pass, it is done. Let me run them.").outcome.value
    'going_on'
    """
    if not text.strip():
        return None
    spoken = text if speaker is Speaker.HARNESS else own_words(text)
    if speaker is Speaker.PERSON:
        return _person([sentence for part in _parts(spoken) for sentence in _prose(part)])
    return _agent(spoken, speaker)


def _parts(text: str) -> tuple[str, ...]:
    head, tail, _ = excerpt(text, _LONGEST)
    return (head, tail) if tail else (head,)


def _prose(text: str) -> Iterator[Sentence]:
    return (sentence for sentence in sentences(text) if sentence.form is not Form.CODE)


def _agent(text: str, speaker: Speaker) -> OutcomeReading | None:
    """The end of a turn decides, and what the turn is as a whole.

    A sentence in the middle of a report is about the work. That something went wrong with the run stands in
    its first or its last sentences; and where a turn reports that the work is done, only that the agent
    itself gives up, waits or goes on counts against that.
    """
    turn = [sentence for part in _parts(text) for sentence in _prose(part)]
    length, setback, signal = len(turn), None, None
    for number, sentence in enumerate(reversed(turn)):
        reading = _report(sentence, speaker, number, length)
        if reading is None:
            continue
        if reading.rule in outcome_rules.SIGNALS:
            signal = signal or reading
        elif reading.outcome is RunOutcome.FINISHED:
            if setback is not None and _outweighs(setback, number):
                return setback
            if _tells(reading):
                return reading
            return _telling(turn[: -number - 1], speaker) or _with_neighbour(
                reading, turn, length - number - 1
            )
        elif setback is None:
            setback = reading
            if reading.outcome in (RunOutcome.HANDED_BACK, RunOutcome.GOING_ON):
                break
    return setback or signal


def _telling(turn: list[Sentence], speaker: Speaker) -> OutcomeReading | None:
    """Returns the latest report of a turn that says what is done; None if none does."""
    length = len(turn)
    for number, sentence in enumerate(reversed(turn)):
        reading = _report(sentence, speaker, number, length)
        if reading is not None and reading.outcome is RunOutcome.FINISHED and _tells(reading):
            return reading
    return None


def _with_neighbour(reading: OutcomeReading, turn: list[Sentence], place: int) -> OutcomeReading:
    """Returns a report that does not say what is done with the sentence before or after it, which may."""
    first = place - 1 if reading.text.endswith(":") else place
    words = " ".join(sentence.text for sentence in turn[max(0, first) : first + 2])
    return replace(reading, text=one_line(words, _SHOWN))


def _tells(reading: OutcomeReading) -> bool:
    """Returns True if a report says what is done: "Fixed." and "Here's a summary:" leave that to others."""
    return (
        not reading.text.endswith(":")
        and len(reading.text.split()) > _BARE
        and reading.rule not in outcome_rules.SIGNALS
    ) or reading.speaker is not Speaker.MODEL


def _outweighs(setback: OutcomeReading, finished: int) -> bool:
    """Returns True if a setback counts beside a report that work is done, with so many sentences after it."""
    return setback.rule in outcome_rules.OWN_FAILURES or (
        setback.outcome is not RunOutcome.FAILED and finished > 0
    )


def _report(sentence: Sentence, speaker: Speaker, number: int, length: int) -> OutcomeReading | None:
    """Returns the report of one sentence of an agent or a harness; None if it reports nothing.

    Args:
        number: How many follow it in its turn.
        length: How many there are.
    """
    lowered = folded(sentence.text)
    matches = _TABLES[speaker].matches(lowered)
    if any(match.rule.id in _OFFERS for match in matches) and _CHOICE.search(lowered) is None:
        return None
    if _asks(lowered):
        at_end = number < _ASKING_END
        return _reading(RunOutcome.HANDED_BACK, "handed_back.question", sentence, speaker) if at_end else None
    goes_on = [match for match in matches if match.rule.id.startswith("going_on.")]
    hit = _weightiest([match for match in matches if match not in goes_on], lowered)
    if goes_on and (hit is None or _outcome(hit) is not RunOutcome.HANDED_BACK):
        last = number == 0 and _AFTER_OTHERS.first(lowered) is None
        return _reading(RunOutcome.GOING_ON, goes_on[0].rule.id, sentence, speaker) if last else None
    if hit is None:
        return None
    if hit.rule.id == _DID and not _is_said(sentence):
        return None  # an entry of a list names a step as well as a deed
    outcome = _outcome(hit)
    if outcome is not RunOutcome.FINISHED and speaker is Speaker.MODEL:
        in_the_middle = number >= _END and length > _SHORT and number != length - 1
        of_program = outcome is RunOutcome.LIMIT or hit.rule.id in outcome_rules.WHOLE_TURNS
        if in_the_middle or (of_program and length > _WHOLE):
            return None
        if outcome is RunOutcome.FAILED and not _is_said(sentence):
            return None
    return _reading(outcome, hit.rule.id, sentence, speaker)


def _is_said(sentence: Sentence) -> bool:
    """Returns True if a sentence is said in the course of a text, and no entry of a list or a table."""
    return sentence.form in (Form.PROSE, Form.HEADING)


def _person(turn: list[Sentence]) -> OutcomeReading | None:
    latest: OutcomeReading | None = None
    length = sum(len(sentence.text.split()) for sentence in turn)
    for sentence in turn:
        lowered = folded(sentence.text)
        hits = _TABLES[Speaker.PERSON].matches(lowered)
        if _asks(lowered) or (not hits and _requests(lowered)):
            # Who thanks and asks for more has not said that it is over.
            latest = None if latest is None or latest.outcome is RunOutcome.FINISHED else latest
        elif hits and (_outcome(hits[0]) is not RunOutcome.FINISHED or length <= _REQUEST_WORDS):
            latest = _reading(_outcome(hits[0]), hits[0].rule.id, sentence, Speaker.PERSON)
    return latest


def _asks(lowered: str) -> bool:
    """True if a sentence ends as a question does, whatever sign follows."""
    return "?" in lowered[-8:] and not any(sign.isalnum() for sign in lowered[lowered.rindex("?") :])


def _requests(lowered: str) -> bool:
    """True if a sentence of a person asks for something."""
    return read_sentence(lowered).kind in ("action", "question", "decision")


def _outcome(match: PhraseMatch) -> RunOutcome:
    return RunOutcome(match.rule.id.partition(".")[0])


def _weightiest(matches: list[PhraseMatch], lowered: str) -> PhraseMatch | None:
    """Of the reports in a sentence that nothing takes back, the one that says most; else the first."""
    return min(
        (match for match in matches if not _taken_back(match, lowered)),
        key=lambda match: (match.rule.id not in _FIRST, match.rule.id in outcome_rules.SIGNALS, match.start),
        default=None,
    )


def _taken_back(match: PhraseMatch, lowered: str) -> bool:
    if match.rule.id in _UNCONDITIONAL:
        return False
    return _NOT_YET.first(_CLAUSE.split(lowered[: match.start])[-1]) is not None


def _reading(outcome: RunOutcome, rule: str, sentence: Sentence, speaker: Speaker) -> OutcomeReading:
    return OutcomeReading(outcome=outcome, rule=rule, text=one_line(sentence.text, _SHOWN), speaker=speaker)
