"""What one sentence is: a claim, a decision, a question, an action, or nothing that counts."""

from __future__ import annotations

import re
from typing import NamedTuple

from ebbtide.text import extraction_rules as rules
from ebbtide.text.imperatives import IMPERATIVE_VERBS, NOUNS_TOO
from ebbtide.text.phrase_table import Hit, PhraseTable, folded
from ebbtide.text.phrases import Anchor

_CLAUSE_END = (
    r"(?=\s*[,;:.!?)\]\u2026\u2013\u2014\u3002\uff01\uff0c\u2600-\u27bf\U0001f300-\U0001faff]+(?!\w)"
    r"|\s*\Z|\s+-\s|\s+(?:but|so|because|since|then)\b)"
)
_TO_THE_END = r"\W{0,40}\Z"

_SECTIONS = PhraseTable(rules.SECTIONS, after=_TO_THE_END)
_NOTHING = PhraseTable(rules.NOTHING, after=_TO_THE_END)
_LABELS = PhraseTable(rules.LABELS, after=r"(?=\s*:|\s+[-\u2013\u2014]\s)")
_CHECKBOXES = PhraseTable(rules.CHECKBOXES, after="")
_OPENINGS = PhraseTable(rules.OPENINGS, after=_CLAUSE_END)
_NARRATION = PhraseTable(rules.NARRATION)
_COURTESY = PhraseTable(rules.COURTESY)
_TAGS = PhraseTable(rules.TAGS, before=r"[,;\u2013\u2014-]\s*", after=r"\Z")
_QUESTIONS = PhraseTable(rules.QUESTIONS, words=rules.QUESTION_WORDS)
_DECISIONS = PhraseTable(rules.DECISIONS, before=r"(?<![\w\"\u201c])", words=rules.DECISION_WORDS)
_ACTIONS = PhraseTable(rules.ACTIONS, words=rules.ACTION_WORDS)
_PROMISES = PhraseTable(rules.PROMISES)
_CODE = PhraseTable(rules.CODE, after="")
_STATEMENTS = frozenset(rule.id for rule in rules.QUESTIONS if rule.anchor is Anchor.ANYWHERE)

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_SEPARATOR = re.compile(r"[^\w`\"'\u201c\u00ab(\[/@#$~\u00bf\u00a1-]*(?:-\s+)?(?:(?:so|and|but|then|because|since)\b[\s,]*)?")
_QUESTION_MARKS = frozenset("?\uff1f\u061f\u037e\u203d\u2047\u2048\u2049\u1367\u055e")
_CODE_ENDS = (";", "{", "}")
_CODE_MARKS = re.compile(r"[(){}=\[\]]")
_SHORT_LEAD_IN = 5  # words


class Reading(NamedTuple):
    """What a sentence is.

    The part of `rule` before the dot is a kind (claim, decision, question, action) or the reason why the
    sentence does not count. What counts of it is ``text[start:end]``; `states` says that it is a claim,
    whatever else it is.
    """

    rule: str
    start: int
    end: int
    states: bool


def section_kind(text: str) -> str | None:
    """The kind of what stands below a line: claim, decision, question or action. None for any other line.

    >>> section_kind("**Next steps:**"), section_kind("Next steps are hard")
    ('action', None)
    """
    hit = _SECTIONS.opening(folded(text))
    return hit.rule.partition(".")[0] if hit else None


def is_nothing(text: str) -> bool:
    """Whether `text` says that there is nothing: "None", "n/a", no word at all."""
    lowered = folded(text)
    return _WORD.search(lowered) is None or _NOTHING.opening(lowered) is not None


def read_sentence(text: str, given: str | None = None, *, heading: bool = False) -> Reading:
    """What `text`, one sentence without markup, is.

    Args:
        text: The sentence.
        given: The kind that its place gives it, where nothing in it says otherwise.
        heading: It is a heading, so that it counts only if it states something.

    >>> read_sentence("Great, so we use Redis.")
    Reading(rule='claim.statement', start=10, end=23, states=True)
    """
    lowered = folded(text)
    start, skipped, label = _content_start(lowered)
    words = _WORD.findall(lowered, start)
    end = _last_word_end(lowered)
    if not words:
        return _nothing(skipped or "fragment.no-words", text)
    # "Risks" above a sentence and "Note:" before it leave open what it is.
    kind, rule = (None if given == "claim" else given), f"{given}.section"
    if label is not None and not label.startswith("remark."):
        kind, rule = label.partition(".")[0], label
    if _NOTHING.opening(lowered, start):
        return _nothing("fragment.none", text)
    if _is_code(lowered, start, words):
        return _nothing("code.line", text)

    ends_as_question = _ends_as_question(lowered, end)
    if ends_as_question:
        courtesy = _COURTESY.opening(lowered, start)
        if courtesy:
            return _nothing(courtesy.rule, text)
        tag = _TAGS.inside(lowered, start, end, words)
        if tag is None and heading and kind != "question":
            # The section below it answers it.
            return _nothing("structure.heading", text)
        if tag is None:
            return Reading("question.mark", start, len(text), states=False)
        text = text[: tag.start].rstrip(" ,;\u2013\u2014-")
    if kind is None or kind == "question":
        asked = None if ends_as_question else _find(_QUESTIONS, lowered, start, words)
        if asked:
            return Reading(asked.rule, start, len(text), states=asked.rule in _STATEMENTS)
    if kind == "question":
        return Reading(rule, start, len(text), states=False)
    if kind:
        return Reading(rule, start, len(text), states=True)
    found = _find(_DECISIONS, lowered, start, words)
    if found is None:
        empty = _empty(lowered, start, words, heading=heading)
        if empty:
            return _nothing(empty, text)
        found = _find(_ACTIONS, lowered, start, words)
    rule = found.rule if found else _order(lowered, start, words) or "claim.statement"
    return Reading(rule, start, len(text), states=True)


def _find(table: PhraseTable, lowered: str, start: int, words: list[str]) -> Hit | None:
    return table.opening(lowered, start) or table.inside(lowered, start, len(lowered), words)


def _nothing(rule: str, text: str) -> Reading:
    return Reading(rule, 0, len(text), states=False)


def _content_start(lowered: str) -> tuple[int, str | None, str | None]:
    """Where the content starts, the rule of the opening left out before it, and that of the label."""
    at, skipped, label = 0, None, None
    while True:
        found: Hit | None = None
        if label is None:
            found = _CHECKBOXES.opening(lowered, at) or _LABELS.opening(lowered, at)
            label = found.rule if found else None
        if found is None:
            found = _OPENINGS.opening(lowered, at)
            skipped = found.rule if found else skipped
        if found is None:
            return at, skipped or ("structure.label" if label else None), label
        separator = _SEPARATOR.match(lowered, found.end)
        at = separator.end() if separator else found.end


def _last_word_end(lowered: str) -> int:
    end = len(lowered)
    while end and not lowered[end - 1].isalnum():
        end -= 1
    return end


def _ends_as_question(lowered: str, end: int) -> bool:
    tail = lowered[end:]
    if not _QUESTION_MARKS.isdisjoint(tail):
        return True
    # The Greek question mark, as people type it.
    return tail.startswith(";") and "\u0370" <= lowered[end - 1] < "\u0400"


def _is_code(lowered: str, start: int, words: list[str]) -> bool:
    if _CODE.opening(lowered, start):
        return True
    # A formula ends like code, but has backslashes.
    ends_like_code = lowered.endswith(_CODE_ENDS) and "\\" not in lowered and rules.FINITE.isdisjoint(words)
    return ends_like_code and _CODE_MARKS.search(lowered) is not None


def _empty(lowered: str, start: int, words: list[str], *, heading: bool) -> str | None:
    """The rule by which a sentence says nothing about its subject, if it does not."""
    leads_in = lowered.endswith((":", "\uff1a"))
    narration = _NARRATION.opening(lowered, start)
    if narration and _says_nothing(narration.rule, _WORD.findall(lowered, narration.end), leads_in=leads_in):
        return narration.rule
    if leads_in and (_all_filler(words) or (len(words) <= _SHORT_LEAD_IN and not _is_clause(words))):
        return "structure.lead-in"
    if heading and not _is_clause(words):
        return "structure.heading"
    return None


def _says_nothing(rule: str, words: list[str], *, leads_in: bool) -> bool:
    """Whether `words`, which follow a narration opening, name nothing of the subject."""
    if rule == "narration.here" and leads_in:
        return True
    # "I see the issue", but not "I see that the issue is already fixed".
    clause_follows = rule == "narration.perception" and not rules.FINITE.isdisjoint(words)
    return _all_filler(words) and not clause_follows


def _all_filler(words: list[str]) -> bool:
    return rules.FILLER.issuperset(words)


def _is_clause(words: list[str]) -> bool:
    return not rules.FINITE.isdisjoint(words) or words[0] in IMPERATIVE_VERBS - NOUNS_TOO


def _order(lowered: str, start: int, words: list[str]) -> str | None:
    """The rule by which a sentence orders or promises something, if it does."""
    promise = _PROMISES.opening(lowered, start)
    if promise:
        after = _WORD.search(lowered, promise.end)
        return promise.rule if after and after[0] in IMPERATIVE_VERBS else None
    verb, *rest = words
    if verb not in IMPERATIVE_VERBS or not rest or rest[0] in rules.FINITE or rest[0] == "of":
        return None
    if verb in NOUNS_TOO and rest[0] not in rules.OBJECTS and not rules.FINITE.isdisjoint(rest):
        return None
    return None if lowered.startswith((":", ","), start + len(verb)) else "action.imperative"
