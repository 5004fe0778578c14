"""Claims, decisions, open questions and next actions of one raw turn, by rules that are data.

A heuristic that keeps what it is unsure about: a pleasantry that counts as a claim costs less than a claim
that is lost. What it leaves out comes back too, with the rule that says why.

Source: rubric, v0.2 upgrades (clause B06).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from ebbtide.text.excerpt import excerpt
from ebbtide.text.extraction.answers import agrees, is_proposal, says_what
from ebbtide.text.extraction.blocks import Form
from ebbtide.text.extraction.json_fields import Field, is_json, json_fields
from ebbtide.text.extraction.quoted import QuotedMatter
from ebbtide.text.extraction.reading import is_nothing, read_sentence, section_kind
from ebbtide.text.extraction.rules import APPROVALS
from ebbtide.text.extraction.sentences import Sentence, plain, sentences
from ebbtide.text.extraction.words import FIELDS


class ItemKind(StrEnum):
    """Kinds of items that a sentence gives."""

    CLAIM = "claim"
    DECISION = "decision"
    OPEN_QUESTION = "open_question"
    NEXT_ACTION = "next_action"


class Speaker(StrEnum):
    """Speaker of a turn."""

    MODEL = "model"
    PERSON = "person"
    TOOL = "tool"  #: what a program printed, or a page: it states, and neither asks nor decides anything
    HARNESS = "harness"  #: the program around a model, or its provider; likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedItem:
    """Something that a turn says.

    Args:
        text: The sentence without greeting, label or tag question.
        sentence: The sentence it came from, without markup.
        start: Start of the sentence in the turn.
        end: End of the sentence in the turn.
        approves: The sentence of the turn before that it approves, if it does not say so itself; or None.
    """

    kind: ItemKind
    text: str
    sentence: str
    rule: str
    start: int
    end: int
    approves: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """Part of a turn that is not about its subject, at ``turn[start:end]``, and the rule that says so."""

    text: str
    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Content of a turn, in its order. A decision and a next action are claims as well.

    Args:
        set_aside: Pleasantries, narration, code, headings and fragments.
        left_out: Characters that were not read, between the beginning and the end of a text that is longer
            than `ebbtide.text.excerpt.LONGEST_TEXT`.
    """

    items: tuple[ExtractedItem, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    left_out: int = 0

    @property
    def claims(self) -> tuple[str, ...]:
        """Statements, decisions and wishes of the turn."""
        return self._texts(ItemKind.CLAIM)

    @property
    def decisions(self) -> tuple[str, ...]:
        """Decisions; an approval that names nothing becomes the sentence that it approves."""
        return tuple(item.approves or item.text for item in self.items if item.kind is ItemKind.DECISION)

    @property
    def open_questions(self) -> tuple[str, ...]:
        """Questions that it asks or leaves open."""
        return self._texts(ItemKind.OPEN_QUESTION)

    @property
    def next_actions(self) -> tuple[str, ...]:
        """Actions that it asks for."""
        return self._texts(ItemKind.NEXT_ACTION)

    def _texts(self, kind: ItemKind) -> tuple[str, ...]:
        return tuple(item.text for item in self.items if item.kind is kind)


def extract(
    text: str,
    *,
    speaker: Speaker = Speaker.MODEL,
    before: str | None = None,
    worth_reading: Callable[[Sentence], bool] | None = None,
) -> Extraction:
    """Reads one turn. Linear in its length.

    What the speaker only quotes (a page, the output of a tool, a quotation) is stated, and no more: it gives
    no decisions, questions and actions.

    Args:
        before: The turn before it, of somebody else, for a person who says no more than "go ahead".
        worth_reading: Returns True for a sentence that is to be read if no heading or lead-in makes it a
            decision; the others are left out of the result. None reads them all.

    >>> found = extract("Sure! The cache is stale. Next step: flush it. Who owns it?")
    >>> found.claims, found.next_actions, found.open_questions
    (('The cache is stale.', 'flush it.'), ('flush it.',), ('Who owns it?',))
    >>> [(aside.text, aside.rule) for aside in found.set_aside]
    [('Sure!', 'pleasantry.acknowledgement')]
    """
    extraction = _extract(text, speaker, worth_reading)
    if before and speaker is Speaker.PERSON:
        return _with_approvals(extraction, extract(before))
    return extraction


def _extract(text: str, speaker: Speaker, worth_reading: Callable[[Sentence], bool] | None) -> Extraction:
    head, tail, left_out = excerpt(text)
    quoted = speaker in (Speaker.TOOL, Speaker.HARNESS)
    reader = _Reader(speaker, worth_reading)
    reader.read(head, quoted=quoted)
    if not left_out:
        return Extraction(items=tuple(reader.items), set_aside=tuple(reader.set_aside))
    end, shift = _Reader(speaker, worth_reading), len(head) + left_out
    end.read(tail, quoted=quoted)
    items = (replace(item, start=item.start + shift, end=item.end + shift) for item in end.items)
    aside = (replace(part, start=part.start + shift, end=part.end + shift) for part in end.set_aside)
    return Extraction(items=(*reader.items, *items), set_aside=(*reader.set_aside, *aside), left_out=left_out)


def _with_approvals(extraction: Extraction, before: Extraction) -> Extraction:
    """Adds what a person approves, from the turn before; a mere yes approves what it proposes at its end."""
    latest = before.items[-1] if before.items else None
    proposed = latest is not None and latest.kind is ItemKind.OPEN_QUESTION and is_proposal(latest.text)
    proposals = [
        item for item in before.items if item.kind is ItemKind.OPEN_QUESTION and is_proposal(item.text)
    ]
    plans = [item for item in before.items if item.kind in (ItemKind.DECISION, ItemKind.NEXT_ACTION)]
    content = next((item.text for item in (*reversed(proposals), *reversed(plans))), None)
    if content is None:
        return extraction
    items = [
        replace(item, approves=content)
        if item.kind is ItemKind.DECISION and item.rule in _APPROVALS and not says_what(item.text)
        else item
        for item in extraction.items
    ]
    nod = extraction.set_aside[0] if extraction.set_aside else None
    approved = any(item.kind is ItemKind.DECISION for item in items)
    if (
        proposed
        and not approved
        and nod is not None
        and nod.rule.startswith("pleasantry.")
        and agrees(nod.text)
    ):
        items.insert(
            0,
            ExtractedItem(
                kind=ItemKind.DECISION,
                text=nod.text,
                sentence=nod.text,
                rule="decision.yes",
                start=nod.start,
                end=nod.end,
                approves=content,
            ),
        )
        return replace(extraction, items=tuple(items), set_aside=extraction.set_aside[1:])
    return replace(extraction, items=tuple(items))


_KINDS = {
    "claim": ItemKind.CLAIM,
    "decision": ItemKind.DECISION,
    "question": ItemKind.OPEN_QUESTION,
    "action": ItemKind.NEXT_ACTION,
}
_LEADS_INTO_LIST = frozenset({"decision.decided", "decision.was-decided"})
_ORDERS_TOO = frozenset(
    # What is decided is to be done, and so is what is asked for.
    {"decision.approved", "decision.lets", "decision.lets-proceed", "question.request"}
)
_ANSWERS = re.compile(
    r"(?:because|(?:yes|no|nope|yep)[,.:]|the answer is|(?:that's|it's) because)\b|(?:yes|no)[,.]",
    re.IGNORECASE,
)
_APPROVALS = frozenset(rule.id for rule in APPROVALS)
_FORMULA = re.compile(r"\s*(?:\\[\[(]|\$\$|\\begin\b)")
_NEXT = 3  # characters between a sentence and the next
_LINE_HEADING = 7  # a level below every heading with hashes
_SHORT_LINE = 60  # characters
_SENTENCE_WORDS = 4
_SENTENCE_ENDS = ("\u3002", "\uff01", "\uff1f", "\u0964", "\u061f")  # of scripts that have few spaces


class _Reader:
    def __init__(self, speaker: Speaker, worth_reading: Callable[[Sentence], bool] | None) -> None:
        self.items: list[ExtractedItem] = []
        self.set_aside: list[SetAside] = []
        self._person = speaker is Speaker.PERSON
        self._worth_reading = worth_reading

    def read(self, text: str, place: tuple[int, int] | None = None, *, quoted: bool = False) -> None:
        """Reads `text` into items and what is set aside.

        Args:
            text: The turn, or a part of it.
            place: Place of all of it in the turn, if it is not the turn itself.
            quoted: True if all of it are the words of others.
        """
        sections, quotations = _Sections(), QuotedMatter(text, whole=quoted)
        for sentence in sentences(text):
            if sentence.form is Form.CODE:
                self._code(sentence, quotations, place)
            else:
                self._sentence(sentence, sections, quotations, place)

    def _sentence(
        self, sentence: Sentence, sections: _Sections, quotations: QuotedMatter, place: tuple[int, int] | None
    ) -> None:
        at, sentence_end = sentence.start, sentence.end
        if place is not None:
            sentence = sentence._replace(start=place[0], end=place[1])
        text, form = sentence.text, sentence.form
        if form is Form.HEADER or self._is_section(sentence, sections):
            self._leave("structure.heading", sentence)
            return
        heading = form is Form.HEADING
        if heading:
            sections.heading(sentence.depth, None)
        kind_here = sections.kind(sentence)
        if kind_here != "decision" and self._worth_reading is not None and not self._worth_reading(sentence):
            return
        if self.items and self.items[-1].kind is ItemKind.OPEN_QUESTION:
            self._settle_question(self.items[-1], sentence)
        reading = read_sentence(text, kind_here, heading=heading, person=self._person)
        rule, start, end, states = reading
        kind = reading.kind
        if rule == "action.imperative" and (
            form is Form.ROW or (text.endswith(":") and _FORMULA.match(quotations.text, sentence_end))
        ):
            # A cell of a table orders nothing, and what a formula does at once is not to be done.
            kind, rule = "claim", "claim.statement"
        if kind not in _KINDS:
            self._leave(rule, sentence)
        elif kind != "claim" and quotations.cover(at):
            self._keep_quoted(kind, text[start:end], sentence)
        else:
            if rule in _LEADS_INTO_LIST and text.endswith((":", "\uff1a")):
                sections.lead_in(sentence, kind)
            self._keep(kind, rule, text[start:end], sentence, states=states)

    def _settle_question(self, question: ExtractedItem, sentence: Sentence) -> None:
        """Settles a question that its speaker answers at once: it was asked of nobody."""
        if sentence.start - question.end <= _NEXT and _ANSWERS.match(sentence.text):
            self.items.pop()
            self.set_aside.append(
                SetAside(
                    text=question.sentence, rule="question.answered", start=question.start, end=question.end
                )
            )

    def _is_section(self, sentence: Sentence, sections: _Sections) -> bool:
        """Returns True if a line announces the lines below it, and notes that."""
        text, heading = sentence.text, sentence.form is Form.HEADING
        if not sentence.opens or len(text) > _SHORT_LINE or text.endswith("." if heading else (".", "?")):
            return False
        kind = section_kind(text)
        if kind is None:
            return False
        if heading or not text.endswith((":", "\uff1a")):
            sections.heading(sentence.depth if heading else _LINE_HEADING, kind)
        else:
            sections.lead_in(sentence, kind)
        return True

    def _code(self, code: Sentence, quotations: QuotedMatter, place: tuple[int, int] | None) -> None:
        fields = list(json_fields(code.text, FIELDS)) if is_json(code.text) else []
        quoted = bool(fields) and quotations.cover_code(code.start)
        named = any(field.kind not in (None, "code") for field in fields)
        before = len(self.items)
        for field in fields:
            start, end = place or (code.start + field.start, code.start + field.end)
            if not (field.kind and field.direct) and not _is_sentence(field.text):
                continue
            if field.kind in _KINDS:
                self._field(field, start, end, quoted=quoted)
            elif field.kind == "prose" or (field.kind is None and not named):
                self.read(field.text, (start, end), quoted=quoted)
        if len(self.items) == before:
            start, end = place or (code.start, code.end)
            self._leave("code.json" if fields else "code.block", code._replace(start=start, end=end))

    def _field(self, field: Field, start: int, end: int, *, quoted: bool) -> None:
        sentence = Sentence(plain(field.text), start, end)
        kind = field.kind or "claim"
        if is_nothing(sentence.text):
            self._leave("fragment.none", sentence)
        elif kind == "action" and sentence.text.isascii() and sentence.text.isidentifier():
            self._leave("code.tool", sentence)
        elif quoted and kind != "claim":
            self._keep_quoted(kind, sentence.text, sentence)
        else:
            self._keep(kind, f"{kind}.field", sentence.text, sentence, states=kind != "question")

    def _keep_quoted(self, kind: str, text: str, sentence: Sentence) -> None:
        """Keeps decisions and wishes of others as statements, and drops their questions."""
        if kind == "question":
            self._leave("quoted.question", sentence)
        else:
            self._keep("claim", "claim.quoted", text, sentence, states=True)

    def _keep(self, kind: str, rule: str, text: str, sentence: Sentence, *, states: bool) -> None:
        kinds = [kind]
        if rule in _ORDERS_TOO:
            kinds.append("action")
        if states and kind != "claim":
            kinds.append("claim")
        self.items += [
            ExtractedItem(
                kind=_KINDS[name],
                text=text,
                sentence=sentence.text,
                rule=rule,
                start=sentence.start,
                end=sentence.end,
            )
            for name in kinds
        ]

    def _leave(self, rule: str, sentence: Sentence) -> None:
        self.set_aside.append(SetAside(text=sentence.text, rule=rule, start=sentence.start, end=sentence.end))


class _Sections:
    """Kinds that sentences get from their place: the headings above them, and the line above their list."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str | None]] = []
        self._lead_in: tuple[int, str] | None = None  # the indent that a list must exceed, and its kind
        self._in_list = False

    def heading(self, level: int, kind: str | None) -> None:
        """Takes a heading of a level from 1; one that says no kind keeps that of the headings above it."""
        self._lead_in = None
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, kind or self._kind_of_heading()))

    def lead_in(self, sentence: Sentence, kind: str) -> None:
        """Takes a line that announces the list below it."""
        self._lead_in = (sentence.depth if sentence.form is Form.ITEM else -1, kind)
        self._in_list = False

    def kind(self, sentence: Sentence) -> str | None:
        """Returns the kind that its place gives to a sentence; only the first of a block gets one."""
        if not sentence.opens:
            return None
        if self._lead_in is not None:
            depth, kind = self._lead_in
            was_in_list = self._in_list
            self._in_list = sentence.form is Form.ITEM and sentence.depth > depth
            if not self._in_list:
                self._lead_in = None
            if self._in_list or not was_in_list:
                return kind
        return self._kind_of_heading()

    def _kind_of_heading(self) -> str | None:
        return self._headings[-1][1] if self._headings else None


def _is_sentence(text: str) -> bool:
    """Returns True if a text of unknown meaning is more than a name or a value."""
    long = len(text.split(maxsplit=_SENTENCE_WORDS)) >= _SENTENCE_WORDS
    return long or text.rstrip().endswith(_SENTENCE_ENDS)
