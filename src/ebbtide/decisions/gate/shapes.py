"""Reads the shape of a text, which no list of phrases can: reports, orders, artefacts, status lines."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.decisions.gate.shape_rules import (
    ADJECTIVES,
    CALL,
    CHOSEN,
    DECLARATION,
    DETERMINER,
    ERRANDS,
    FENCE,
    IRREGULAR,
    LINK_MARK,
    LINK_WORDS,
    NEXT,
    NEXT_STEP,
    NOT_ORDERED,
    ORDERS,
    PARTICIPLE,
    PULL_REQUEST,
    SENTENCE,
    STEP,
    VERB_STEMS,
)
from ebbtide.decisions.gate.wording import Wording
from ebbtide.text.imperatives import IMPERATIVE_VERBS
from ebbtide.text.stems import stem


@dataclass(frozen=True, slots=True)
class Shape:
    """A form that a text can have, and what that is evidence of."""

    id: str
    weight: float
    reason: str


NOW_ORDER = Shape("narration.order", 2.0, "It tells itself what to do next")
COMMIT_LINE = Shape("shape.commit-line", 1.0, "It is the subject of a commit")
STEP_LINE = Shape("shape.step-line", 2.0, "It is the line of a step in a run")
REPORT = Shape("shape.report", 1.5, "It reports what was done")
CODE = Shape("shape.code", 1.0, "It is code")
LINK = Shape("shape.link", 1.5, "It is nothing but a link or a picture")
QUESTION = Shape("shape.question", 1.0, "It asks, and decides nothing")
TRAILS_OFF = Shape("shape.trails-off", 1.0, "It trails off")
LEADS_IN = Shape("shape.leads-in", 0.5, "It announces what should follow it")
ANNOUNCES = Shape("shape.announces", 1.0, "It ends with what the agent does next, or is about to show")
NO_WORDS = Shape("shape.no-words", 2.0, "It has no words")
ORDER = Shape("choice.order", 1.0, "It says what is to be done or to hold")
GERUND = Shape("choice.gerund", 0.5, "It names a change")


def noise_shapes(wording: Wording) -> list[tuple[Shape, str]]:
    """The shapes of noise that a text has, and the words that show them."""
    text = wording.text
    if not wording.words:
        return [(NO_WORDS, text[:60])]
    shapes = []
    if orders_itself := _own_order(wording):
        shapes.append((NOW_ORDER, orders_itself))
    if text[0] in "\"'`[" and (step := STEP.match(text)):
        shapes.append((STEP_LINE, step.group()))
    if past := _past_report(wording):
        shapes.append((REPORT, past))
    if _is_code(text):
        shapes.append((CODE, text[:60]))
    if not LINK_WORDS.isdisjoint(wording.words) and (link := _only_link(text)):
        shapes.append((LINK, link[:60]))
    end = text[-1]
    if end in ")?:." and (shape := _ending(end, wording)):
        shapes.append((shape, text[-60:]))
    return shapes


def choice_shapes(wording: Wording) -> list[tuple[Shape, str]]:
    """The shape of a choice that a text has, and the word that shows it."""
    if not wording.sentences:
        return []
    start, end, first = wording.sentences[0]
    sentence = wording.text[start:end]
    if " " in sentence:
        is_code = wording.text[start - 1 : start] == "`"
        if first in ORDERS and not is_code and not NOT_ORDERED.match(sentence, len(first)):
            return [(ORDER, first)]
        if first.endswith("ing") and first[:-3] not in ERRANDS and stem(first) in VERB_STEMS:
            return [(GERUND, first)]
    return []


def _own_order(wording: Wording) -> str | None:
    """The words by which a text orders the next step: "Now add the handler"."""
    if len(wording.sentences) < 2:
        return None
    (start, _, order), (_, end, first) = wording.sentences[:2]
    sentence = wording.text[:end]
    if first in NEXT_STEP and order in ORDERS | ERRANDS and sentence.find(first) < start:
        return f"{first} {order}"
    return None


def _ending(end: str, wording: Wording) -> Shape | None:
    """The shape that the end of a text shows."""
    text = wording.text
    if end == ")":
        return COMMIT_LINE if PULL_REQUEST.search(text) else None
    if end == "?":
        return None if any(mark in text for mark in (". ", "! ", "\n")) else QUESTION
    if end == ".":
        return TRAILS_OFF if text.endswith("...") else None
    start, stop, _ = wording.sentences[-1] if wording.sentences else (0, 0, "")
    return ANNOUNCES if NEXT.match(text, start, stop) else LEADS_IN


def _past_report(wording: Wording) -> str | None:
    if not wording.sentences:
        return None
    start, end, first = wording.sentences[0]
    if first in CHOSEN:
        return None
    if first in IRREGULAR:
        return first
    if not first.endswith("ed") or len(first) < 5:
        return None
    sentence = wording.text[start:end]
    if PARTICIPLE.match(sentence, len(first)):
        return None
    is_verb = stem(first) in VERB_STEMS and first not in IMPERATIVE_VERBS
    rest = sentence[len(first) :].lstrip(" :")
    if (is_verb and first not in ADJECTIVES) or DETERMINER.match(rest):
        return first
    return None


def _is_code(text: str) -> bool:
    if text[-1] in ";{}" or " && " in text or ("=" in text and " " not in text):
        return True
    if DECLARATION.match(text) or ("```" in text and FENCE.match(text)):
        return True
    return text[-1] == ")" and CALL.fullmatch(text) is not None


def _only_link(text: str) -> str | None:
    links, others = [], 0
    for token in text.split():
        if LINK_MARK.search(token):
            links.append(token)
        else:
            others += any(map(str.isalpha, token))
    return links[0] if links and others < SENTENCE else None
