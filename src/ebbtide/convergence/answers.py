r"""Answer of a speaker: a number, a choice, a boxed result, what "the answer is" brings, a conclusion.

Read is what the speaker states as the answer, the latest statement first. What is denied, supposed, quoted or
somebody else's is none, and talk without an answer has none: unknown, and equal to nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ebbtide.convergence.answer_rules import ABOUT_IT, CONCLUSIONS, HINTS, NAMED, NOT_STATED, RESULTS
from ebbtide.text.contrast.quantities import quantity_at
from ebbtide.text.normal_form import normal_form
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import PhraseMatch
from ebbtide.text.sentence_ends import spans

_READ: Final = 2_000  # characters at the end of a turn: an answer comes last
_LINES: Final = 16  # at the end of a turn that may hold an answer
_LONGEST: Final = 300  # characters of an answer
_LEAST: Final = 3  # words of a conclusion
_BARE: Final = 40  # characters of a turn that is a number or a choice and no more
_SHORT: Final = 4  # words that a name may have

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_EMPHASIS = re.compile(r"\*\*|__|`|^\s{0,3}(?:#{1,3}\s|[-*]\s)", re.MULTILINE)
_FIELD = re.compile(
    r"[\"'](?:final_?)?answer[\"']\s*:\s*(?:\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'|([^\s,}\"']{1,300}))",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(?:final_)?answer>([^<]{1,300})</(?:final_)?answer>", re.IGNORECASE)
_HASHES = re.compile(r"^####\s*(\S.{0,300})$", re.MULTILINE)
_BOXED: Final = "\\boxed{"
_LATEX = re.compile(
    r"\\(?:text|mathrm|mathbf|textbf)\s*|\\(?:left|right|displaystyle)\b|\\[,;:! ()\[\]]|\$|\^?\\circ"
    r"|\\(?=%)|[{}]"
)
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,40})\}\{([^{}]{1,40})\}")
_CHOICE = re.compile(
    r"(?:(?:option|choice|answer) )?(?:\(([A-Ja-j])\)|([A-HJ])(?=[.:)]|\s*$))", re.IGNORECASE
)
_YES_NO = re.compile(r"(yes|no|true|false)(?=[.,;:!]|\s*$)", re.IGNORECASE)
_RATIO = re.compile(r"(-?\d{1,12})\s*/\s*(\d{1,12})(?![\d/])")
_FILLER = re.compile(
    r"(?:(?:approximately|about|roughly|around|exactly|indeed|therefore|thus|simply|just|actually|clearly"
    r"|equal to|still|:|~|\u2248|=)\s*)+",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[A-Z0-9][\w'&-]+|of|the|de|and|for)")
_NUMERAL = re.compile(r"[$\u20ac\u00a3]?\d(?:[\d,]*\d)?(?:\.\d+)?%?(?!\w)")
_RANGE = re.compile(r"\s*(?:-|\u2013|to|or|and)\s*[$\u20ac\u00a3]?\d", re.IGNORECASE)
_EDGES: Final = " \t\"'\u201c\u201d\u2018\u2019.,;:!()[]"
_CLAUSE_MARK = re.compile(r"[,;:\u2013\u2014]\s|\s-\s|\bbut\b|\bso\b|\band\b")


#: Rules that read what a sentence concludes, where nothing is called the answer.
CONCLUSION_RULES: Final = frozenset(rule.id for rule in CONCLUSIONS.rules)


class AnswerKind(StrEnum):
    """Kinds of answers."""

    NUMBER = "number"
    CHOICE = "choice"  #: a letter, yes or no
    WORDS = "words"  #: stated as the answer, in words
    CONCLUSION = "conclusion"  #: drawn in the last sentence, and not called the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it was read.

    Args:
        form: Its normal form: equal answers have equal forms. A number has that of its value.
        text: The sentence that states it.
    """

    kind: AnswerKind
    form: str
    text: str
    rule: str


def read_answer(text: str) -> Answer | None:
    r"""Returns the answer that a turn states last, or None. Linear in the length of the text.

    >>> read_answer("8 * 10 = 80, so the answer is 80.").form
    '80'
    >>> read_answer(r"Hence \boxed{\frac{1}{2}}").form
    '0.5'
    >>> read_answer("I don't think that the answer is 80.") is None
    True
    """
    whole = text.strip()
    if len(whole) <= _BARE and "\n" not in whole:
        bare = _value(whole, whole, "answer.bare")
        if bare is not None:
            return bare
    tail = whole[-_READ:]
    marked = _marked_answer(tail)
    if marked is not None:
        return marked
    lines = (_FENCE.sub("", tail) if "```" in tail else tail).splitlines()
    return _last_stated(lines) or _conclusion(lines)


def read_short(text: str) -> Answer | None:
    """Returns a turn that is a name and no more as the answer that it is: "Paris"."""
    words = text.strip(_EDGES).split()
    is_name = 0 < len(words) <= _SHORT and words[0][0].isupper() and all(map(_NAME.fullmatch, words))
    return _in_words(text, text, "answer.short") if is_name else None


def _marked_answer(tail: str) -> Answer | None:
    """Returns the last answer that is marked as one, by a box, a tag, a field or a line."""
    at = tail.rfind(_BOXED)
    if at >= 0 and (inside := _braced(tail, at + len(_BOXED))):
        return _any_value(inside, inside, "answer.boxed")
    for rule, pattern in (("answer.tag", _TAG), ("answer.hashes", _HASHES), ("answer.field", _FIELD)):
        matches = list(pattern.finditer(tail))
        # A report with several such fields answers several questions, none of them the one.
        if matches and (rule != "answer.field" or len(matches) == 1):
            value = next(group for group in matches[-1].groups() if group is not None)
            reader = _value if rule == "answer.hashes" else _any_value  # "#### Cast" is a heading
            answer = reader(value, value.strip(), rule)
            if answer is not None:
                return answer
    return None


def _braced(text: str, start: int) -> str | None:
    depth = 1
    for at in range(start, min(len(text), start + _LONGEST)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[start:at]
    return None


def _sentences(line: str) -> list[str]:
    if line.lstrip().startswith(">"):  # what is quoted somebody else said
        return []
    line = _EMPHASIS.sub("", line)
    return [text for start, end in spans(line, 0, len(line)) if (text := line[start:end].strip())]


def _last_stated(lines: list[str]) -> Answer | None:
    """Returns the answer that the last of the lines with a word of the rules states."""
    whole = "\n".join(lines).lower()
    hints = [word for word in HINTS if word in whole]
    following = ""
    lines_to_go = _LINES if hints else 0
    for line in reversed(lines):
        if not lines_to_go:
            break
        if not line.strip():
            continue
        lowered = line.lower()
        if any(word in lowered for word in hints):
            lines_to_go -= 1
            for sentence in reversed(_sentences(line)):
                answer = _answer_in(sentence, following)
                if answer is not None:
                    return answer
                following = sentence
        following = line
    return None


def _answer_in(sentence: str, following: str) -> Answer | None:
    if sentence.endswith("?"):
        return None
    sentence = sentence.replace("\u2019", "'")
    for table, reader in ((NAMED, _any_value), (RESULTS, _value)):
        match = _last(table, sentence)
        if match is not None:
            span = sentence[match.end :].strip() or (following if table is NAMED else "")
            answer = reader(span, sentence, match.rule.id)
            if answer is not None:
                return answer
    return None


def _last(table: PhraseTable, sentence: str) -> PhraseMatch | None:
    """Returns the last match in a sentence that its speaker states, by its place in the sentence."""
    last = None
    start = 0
    while (match := table.first(sentence[start:])) is not None:
        before = sentence[: start + match.start]
        clause = before[max((mark.end() for mark in _CLAUSE_MARK.finditer(before)), default=0) :]
        if NOT_STATED.first(clause) is None:
            last = PhraseMatch(match.rule, match.phrase, start + match.start, start + match.end)
        start += match.end
    return last


def _conclusion(lines: list[str]) -> Answer | None:
    """Returns the conclusion of the last sentence."""
    line = next((line for line in reversed(lines) if line.strip()), "")
    sentence = next(reversed(_sentences(line)), "")
    match = CONCLUSIONS.first(sentence)
    if match is None or sentence.endswith("?") or len(sentence) > _LONGEST:
        return None
    rest = sentence[match.end :].strip(_EDGES)
    numerals = _NUMERAL.findall(rest)
    if len(numerals) == 1 and (number := _number(numerals[0], alone=False)) is not None:
        return Answer(kind=AnswerKind.NUMBER, form=number, text=sentence, rule=match.rule.id)
    if len(rest.split()) < _LEAST:
        return None
    return Answer(kind=AnswerKind.CONCLUSION, form=normal_form(rest), text=sentence, rule=match.rule.id)


def _any_value(span: str, sentence: str, rule: str) -> Answer | None:
    return _value(span, sentence, rule) or _in_words(span, sentence, rule)


def _value(span: str, sentence: str, rule: str) -> Answer | None:
    """Returns a number or a choice at the start of a span; for the whole of a turn nothing may follow."""
    plain = _LATEX.sub("", _FRACTION.sub(r"\1/\2", span)).strip()
    filler = _FILLER.match(plain)
    plain = plain[filler.end() :] if filler else plain
    core = plain.strip(_EDGES)
    choice = _CHOICE.match(plain.lstrip("\"'*: "))
    alone = rule == "answer.bare"
    if choice is not None and not (alone and choice.end() < len(plain.rstrip(_EDGES))):
        letter = (choice[1] or choice[2]).upper()
        return Answer(kind=AnswerKind.CHOICE, form=letter, text=sentence, rule=rule)
    verdict = _YES_NO.match(core)
    if verdict is not None and not alone:
        return Answer(kind=AnswerKind.CHOICE, form=verdict[1].lower(), text=sentence, rule=rule)
    number = _number(core, alone=alone)
    return None if number is None else Answer(kind=AnswerKind.NUMBER, form=number, text=sentence, rule=rule)


def _number(core: str, *, alone: bool) -> str | None:
    if "=" in core:
        core = core.rsplit("=", 1)[1]  # "40 + 40 = 80"
    core = core.strip(_EDGES)
    ratio = _RATIO.match(core)
    if ratio is not None and int(ratio[2]):
        return None if alone and ratio.end() < len(core) else f"{int(ratio[1]) / int(ratio[2]):.10g}"
    words = [word.strip(_EDGES) for word in core.lower().split()[:3]]
    if not words or not words[0]:
        return None
    quantity, length = quantity_at(words, 0)
    if quantity is None or isinstance(quantity.amount, str) or quantity.dimension == "ordinal":
        return None
    rest = core.split(maxsplit=length)[length:]
    if rest and (alone or _RANGE.match(rest[0]) or rest[0][0].isupper()):  # "12 Steps Down" is a name
        return None
    if quantity.dimension in (None, "share"):
        return f"{quantity.value:.10g}"
    return f"{quantity.amount:.10g} {quantity.dimension}"


def _in_words(span: str, sentence: str, rule: str) -> Answer | None:
    line = next((line for line in span.splitlines() if line.strip()), "")
    first = next(iter(_sentences(line)), "")
    filler = _FILLER.match(first)
    plain = _LATEX.sub("", first[filler.end() :] if filler else first).strip(_EDGES)
    if not plain or len(plain) > _LONGEST or ABOUT_IT.first(plain):
        return None
    return Answer(kind=AnswerKind.WORDS, form=normal_form(plain), text=sentence, rule=rule)
