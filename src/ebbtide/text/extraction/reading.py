"""Reading of one sentence: a claim, a decision, a question, an action, or nothing that counts."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from ebbtide.text.extraction import rules
from ebbtide.text.extraction.orders import base_of, is_order, is_titled
from ebbtide.text.extraction.words import FILLER, FINITE, NO_DEEDS, OBJECTS, PARTICLES
from ebbtide.text.imperatives import IMPERATIVE_VERBS, NOUNS_TOO
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrase_table import Openings, PhraseTable, Start
from ebbtide.text.phrases import Anchor, PhraseMatch, PhraseRule, folded

_CLAUSE_END = (
    r"(?=\s*[,;:.!?)\]\u2026\u2013\u2014\u3002\uff01\uff0c\u2600-\u27bf\U0001f300-\U0001faff]+(?!\w)"
    r"|\s*\Z|\s+-\s|\s+(?:but|because|since|then|so (?:i|it|let|that|the|this|we|you))\b)"
)
_TO_THE_END = r"\W{0,40}\Z"


def _table(table: tuple[PhraseRule, ...], *, behind: str = r"(?<!\w)", after: str = r"(?!\w)") -> PhraseTable:
    return PhraseTable(table, lower=True, behind=behind, after=after)


_SECTIONS = _table(rules.SECTIONS, after=_TO_THE_END)
_NOTHING = _table(rules.NOTHING, after=_TO_THE_END)
_CHECKBOXES = _table(rules.CHECKBOXES, after="")
_LABELS = _table(rules.LABELS, after=r"(?=\s*:|\s+[-\u2013\u2014]\s)")
_OPENINGS = _table(rules.OPENINGS, after=_CLAUSE_END)
_CODE = _table(rules.CODE, after="")
_NARRATION = _table(rules.NARRATION)
_COURTESY = _table(rules.COURTESY)
_REQUESTS = _table(rules.REQUESTS)
_TAGS = _table(rules.TAGS, behind="", after=r"\Z")
_QUESTIONS = _table(rules.QUESTIONS)
# What stands in quotes is the title of something: "I'll Keep the Light".
_DECISIONS = _table(rules.DECISIONS, behind=r"(?<![\w\"\u201c])")
_ACTIONS = _table(rules.ACTIONS)
_PROMISES = _table(rules.PROMISES)

_OF_PERSONS = _table((*rules.APPROVALS, *rules.PERSON_REQUESTS))

_LINES = Openings(_SECTIONS)
_LEADING = (_CHECKBOXES, _LABELS, _OPENINGS, _NOTHING, _CODE, _COURTESY)
_SENTENCES = Openings(*_LEADING, _REQUESTS, _QUESTIONS, _DECISIONS, _NARRATION, _ACTIONS, _PROMISES)
_ANSWERS = Openings(_OF_PERSONS)
_MAIN_CLAUSES = Openings(_PROMISES)
_NO_KEYS: frozenset[str] = frozenset()

# "It is unclear whether it scales" states something, "How does it scale" does not.
_STATING = frozenset(rule.id for rule in rules.QUESTIONS if rule.anchor is Anchor.ANYWHERE)

# What comes next, said to nobody in particular, and a nod: neither says anything about the subject.
_TELLING = frozenset("break describe list outline present report share show summarise summarize tell".split())
_NOT_STATING = frozenset(
    ("action.narrated", "action.ongoing", "decision.approved-it", "decision.sounds-good", "decision.agreed")
)

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
# The same for ASCII, several times as fast: all signs but ' and - make room, where none of these is loose.
_ROOM = bytes(code if chr(code).isalnum() or chr(code) in "'-" else 32 for code in range(256))
_LOOSE = re.compile(r"['-](?:(?![^\W_])|(?<![^\W_].))", re.DOTALL)
_SEPARATOR = re.compile(
    r"[^\w`\"'\u201c\u00ab(\[/@#$~\u00bf\u00a1-]*(?:-\s+)?(?:(?:so|and|but|then|because|since)\b[\s,]*)?"
)
# Words that open a part of a sentence behind which, and behind a comma, its main clause stands.
_FRONTS = frozenset("after as based before for from given in next now once since then to with".split())
_FRONT_COMMAS = 2
_FRONT_READ = 80  # characters behind a comma
_QUOTED_MARK = re.compile('[?\uff1f]["\u201d]')
_ASKING = re.compile(
    r"\W*(?:am|are|can|could|did|do|does|has|have|is|may|shall|should|was|were|will|would)\b"
    r"|[^\n]*\b(?:how|wh[aeoiy]\w*)\b"
)
_QUESTION_MARKS = frozenset("?\uff1f\u061f\u037e\u203d\u2047\u2048\u2049\u1367\u055e")
_CODE_ENDS = (";", "{", "}")
_CODE_MARKS = re.compile(r"\w\(|[{}=\[\]]")
_COLONS = (":", "\uff1a")
_SHORT_LEAD_IN = 5  # words


class SentenceReading(NamedTuple):
    """Reading of one sentence.

    The part of `rule` before the dot is a kind (claim, decision, question, action) or the reason why the
    sentence does not count. What counts of it is ``text[start:end]``; `states` says that it is a claim,
    whatever else it is.
    """

    rule: str
    start: int
    end: int
    states: bool = False

    @property
    def kind(self) -> str:
        """Part of the rule before the dot."""
        return _kind(self.rule)


def section_kind(text: str) -> str | None:
    """Returns the kind of the lines that a line announces; None if it announces none.

    >>> section_kind("**Next steps:**"), section_kind("Next steps are hard")
    ('action', None)
    """
    lowered = folded(text)
    hit = _LINES.at(lowered).opening(_SECTIONS)
    return _kind(hit.rule.id) if hit else None


def words_of(text: str, at: int = 0) -> list[str]:
    """Returns the words of `text` from `at` on, contractions and compounds in one: "isn't", "re-run"."""
    part = text[at:]
    if not part.isascii() or _LOOSE.search(part) is not None:
        return _WORD.findall(text, at)
    return part.encode("ascii").translate(_ROOM).decode("ascii").split()


def is_nothing(text: str) -> bool:
    """Returns True if `text` says that there is nothing: "None", "n/a", no word at all."""
    lowered = folded(text)
    return _WORD.search(lowered) is None or _SENTENCES.at(lowered).opening(_NOTHING) is not None


def read_sentence(
    text: str, from_place: str | None = None, *, heading: bool = False, person: bool = False
) -> SentenceReading:
    """Reads `text`, one sentence without markup.

    Args:
        from_place: The kind that its place gives it, where nothing in it says otherwise; "claim" gives none.
        heading: It is a heading, so that it counts only if it states something.
        person: A person says it, who can approve of something and ask for it.

    >>> read_sentence("Great, so we use Redis.")
    SentenceReading(rule='claim.statement', start=10, end=23, states=True)
    """
    lowered = folded(text)
    last = _question_end(lowered)
    if person and last is None and (answer := _answer(lowered, 0)) is not None:
        return answer
    place, skipped, label = _content_start(lowered)
    start = place.at
    if person and last is None and start and (answer := _answer(lowered, start)) is not None:
        return answer
    words = words_of(lowered, start)
    end = len(text)
    if not words:
        return SentenceReading(skipped or "fragment.no-words", 0, end)
    if place.opening(_NOTHING):
        return SentenceReading("fragment.none", 0, end)
    if _is_code(place, words):
        return SentenceReading("code.line", 0, end)

    rule: str | None = None
    if label is not None and not label.startswith("remark."):
        rule = label
    elif from_place not in (None, "claim") and not heading and not lowered.endswith(_COLONS):
        # "August 3, 2015" below "Next steps" is nothing to be done.
        dated = from_place == "action" and any(map(str.isdigit, text)) and is_titled(text)
        rule = None if dated and words[0] not in IMPERATIVE_VERBS else f"{from_place}.section"
    kind = _kind(rule) if rule else None

    # In words without marks inside, the parts that tables are searched by are the words themselves.
    parts = words_in(lowered) if "'" in lowered or "-" in lowered else words
    keys = _NO_KEYS if _searched().isdisjoint(parts) else frozenset(parts)
    if last is not None:
        tag = _TAGS.leftmost(lowered, start, last, words_in(lowered))
        if tag is not None:
            return read_sentence(
                text[: tag.start].rstrip(" ,;-\u2013\u2014"), from_place, heading=heading, person=person
            )
        answered = heading and from_place != "question"
        return SentenceReading(_question_rule(place, answered=answered), start, end)
    if kind in (None, "question"):
        question = _find(_QUESTIONS, place, keys)
        if question is not None:
            return SentenceReading(question.rule.id, start, end, states=question.rule.id in _STATING)
    if rule is None:
        rule = _statement_rule(text, place, words, keys, heading=heading)
    return SentenceReading(rule, start, end, states=kind != "question" and rule not in _NOT_STATING)


def _answer(lowered: str, at: int) -> SentenceReading | None:
    """Reads words in which a person approves or asks for something, and a model would be polite."""
    answer = _ANSWERS.at(lowered, at).opening(_OF_PERSONS)
    if answer is None:
        return None
    name = answer.rule.id
    return SentenceReading(name, at, len(lowered), states=name not in _NOT_STATING)


@cache
def _searched() -> frozenset[str]:
    """Returns the words for which the inside of a sentence is searched; most have none of them."""
    return _QUESTIONS.by_words.words | _DECISIONS.by_words.words | _ACTIONS.by_words.words


def _kind(rule: str) -> str:
    return rule.partition(".")[0]


def _find(table: PhraseTable, place: Start, keys: frozenset[str]) -> PhraseMatch | None:
    """Finds a match at the start, or else inside of a sentence if there are words to search for."""
    match = place.opening(table)
    if match is None and not table.by_words.words.isdisjoint(keys):
        match = table.leftmost(place.text, place.at, len(place.text), keys)
    return match


def _content_start(lowered: str) -> tuple[Start, str | None, str | None]:
    """Returns the start of the content, the rule of what was left out before it, and that of its label."""
    place, skipped, label = _SENTENCES.at(lowered), None, None
    while True:
        match = None
        if label is None:
            match = place.opening(_CHECKBOXES) or place.opening(_LABELS)
        if match is not None:
            label = match.rule.id
            skipped = skipped or "structure.label"
        else:
            match = place.opening(_OPENINGS)
            if match is None:
                return place, skipped, label
            skipped = match.rule.id
        separator = _SEPARATOR.match(lowered, match.end)
        place = _SENTENCES.at(lowered, separator.end() if separator else match.end)


def _question_end(lowered: str) -> int | None:
    """Returns the end of the last word of a question; None if a sentence does not end as one."""
    if "?" not in lowered and lowered.isascii():
        return None
    last = len(lowered)
    while last and not lowered[last - 1].isalnum():
        last -= 1
    tail = lowered[last:]
    # The Greek question mark, as people type it, is a semicolon.
    greek = tail.startswith(";") and "\u0370" <= lowered[last - 1] < "\u0400"
    if not greek and (_QUESTION_MARKS.isdisjoint(tail) or _is_in_title(lowered, last, tail)):
        return None
    return last


def _is_in_title(lowered: str, last: int, tail: str) -> bool:
    """Returns True if a question mark belongs to a title in quotes at the end of a statement."""
    if _QUOTED_MARK.match(tail) is None:
        return False
    opening = max(lowered.rfind('"', 0, last), lowered.rfind("\u201c", 0, last))
    before = lowered[: max(opening, 0)]
    return any(map(str.isalnum, before)) and _ASKING.match(before) is None


def _is_code(place: Start, words: list[str]) -> bool:
    if place.opening(_CODE):
        return True
    # A formula ends like code, but has backslashes.
    ends_like_code = place.text.endswith(_CODE_ENDS) and "\\" not in place.text and FINITE.isdisjoint(words)
    return ends_like_code and _CODE_MARKS.search(place.text) is not None


def _question_rule(place: Start, *, answered: bool) -> str:
    """Returns the rule of a question; `answered` if it is a heading, which the section below answers."""
    courtesy = place.opening(_COURTESY)
    if courtesy is not None:
        return courtesy.rule.id
    if answered:
        return "structure.heading"
    request = place.opening(_REQUESTS)
    return request.rule.id if request is not None else "question.mark"


def _statement_rule(text: str, place: Start, words: list[str], keys: frozenset[str], *, heading: bool) -> str:
    decision = _find(_DECISIONS, place, keys)
    if decision is not None:
        return decision.rule.id
    empty = _empty_rule(text, place, words, heading=heading)
    if empty is not None:
        return empty
    action = _find(_ACTIONS, place, keys)
    return action.rule.id if action is not None else _order_rule(text, place, words) or "claim.statement"


def _empty_rule(text: str, place: Start, words: list[str], *, heading: bool) -> str | None:
    """Returns the rule by which a sentence says nothing about its subject, if it does not."""
    leads_in = place.text.endswith(_COLONS)
    narration = place.opening(_NARRATION)
    if narration is not None:
        rest = words_of(place.text, narration.end)
        # "I see the issue", but not "I see that the issue is fixed".
        clause_follows = narration.rule.id == "narration.perception" and not FINITE.isdisjoint(rest)
        presents = leads_in and narration.rule.id == "narration.here"
        if presents or (FILLER.issuperset(rest) and not clause_follows):
            return narration.rule.id
    if not (leads_in or heading):
        return None
    ordered = words[0] in IMPERATIVE_VERBS and (
        words[0] not in NOUNS_TOO or (words[1:2] and words[1] in OBJECTS)
    )
    is_clause = ordered or not FINITE.isdisjoint(words)
    short = len(words) <= _SHORT_LEAD_IN and not is_clause
    titled = len(words) > 1 and is_titled(text)
    if leads_in and (short or titled or FILLER.issuperset(words)):
        return "structure.lead-in"
    return "structure.heading" if heading and not is_clause else None


def _order_rule(text: str, place: Start, words: list[str]) -> str | None:
    """Returns the rule by which a sentence orders or promises something, if it does."""
    promise = _promise_rule(place)
    if promise is not None:
        return promise
    first = words[0]
    if first in IMPERATIVE_VERBS:
        return "action.imperative" if is_order(text, place.text.index(first, place.at), words) else None
    if first in _FRONTS:
        return _behind_front(text, place.text, place.at)
    if first.endswith("ing") and len(words) > 1 and words[1] in OBJECTS and "," not in text:
        return "action.ongoing" if base_of(first) and FINITE.isdisjoint(words) else None
    return None


def _promise_rule(place: Start) -> str | None:
    promise = place.opening(_PROMISES)
    verb = _WORD.search(place.text, promise.end) if promise is not None else None
    if promise is None or verb is None:
        return None
    rule = promise.rule.id
    if verb[0] not in IMPERATIVE_VERBS:
        sees = verb[0] == "see" and rule == "action.promise"
        if sees or verb[0] in NO_DEEDS or FILLER.issuperset(words_of(place.text, verb.end())):
            return None
        # Of what is meant by these less is known: it may state a choice as well.
        return "action.commitment" if rule == "action.promise" else rule
    return "narration.telling" if rule == "action.narrated" and verb[0] in _TELLING else rule


def _behind_front(text: str, lowered: str, at: int) -> str | None:
    """Returns the rule of the main clause behind when or what for: "To begin, let's install it"."""
    for _ in range(_FRONT_COMMAS):
        comma = lowered.find(", ", at)
        if comma < 0:
            return None
        at = comma + 2
        place = _MAIN_CLAUSES.at(lowered, at)
        promise = _promise_rule(place)
        if promise is not None:
            return promise
        verb, *rest = words_of(lowered[at : at + _FRONT_READ]) or [""]
        acts = (
            rest
            and verb in IMPERATIVE_VERBS
            and (rest[0] in OBJECTS or (rest[0] in PARTICLES and verb not in NOUNS_TOO))
        )
        if acts and is_order(text, at, [verb, *rest]):
            return "action.imperative"
    return None
