"""Finds what a person chose where an agent asked them with a tool that offers options.

Tools such as `AskUserQuestion` state the question and its options in their arguments, and the answer in
their result. An answer chooses where it is made of options that were offered and leaves one out. It decides
nothing where it hands the choice back ("You decide"), and where the question is about the talk or the next
step: "Ready to push?".

Source: `python -m benchmarks.quality.decision_answers`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

#: Tools that ask a person, by their names.
ASKING_TOOLS: Final = frozenset({"AskUserQuestion", "question", "request_user_input"})
_MOST: Final = 32  # questions of a call, and options of a question
_LONGEST: Final = 1_000  # characters of a question or an option
_ANSWERS: Final = 20_000  # characters of a result that are read
#: Where the answer stands behind its question in the words of a result.
_ANSWER: Final = re.compile(r'"\s*=\s*"([^"]{0,4000})"')
_RECOMMENDED: Final = re.compile(r"\((?:recommended|default)\)\Z", re.IGNORECASE)
_HANDED_BACK: Final = re.compile(
    r"\b(?:you|claude|codex|agent) (?:decide|choose|pick)|\bup to you\b|\bno preference\b|\bnot sure\b",
    re.IGNORECASE,
)
_OF_THE_TALK: Final = re.compile(
    r"(?:any )?(?:more|other|further) questions\b|ready to\b|(?:shall|should|can|may) i\b"
    r"|(?:would you like|do you want) (?:me )?to (?!.{0,200}\bor\b)|what(?:'s| is)? next\b"
    r"|(?:what|how) (?:would you like|do you want) (?:me )?to (?:do|proceed|continue)\b"
    r"|did you\b|do you have\b|have you\b|please\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """A question of an agent with what a person chose.

    Args:
        question: The question.
        chosen: The options that were chosen, in the order of the call.
        over: The others.
    """

    question: str
    chosen: tuple[str, ...]
    over: tuple[str, ...]

    @property
    def text(self) -> str:
        """The question with what was chosen, in one line."""
        return " ".join(f"{self.question} {', '.join(self.chosen)}".split())

    @property
    def decides(self) -> bool:
        """True if the answer chooses something of the work, not of the talk."""
        if any(_HANDED_BACK.search(option) for option in self.chosen):
            return False
        return not _OF_THE_TALK.match(self.question)


def answered_questions(tool: str, args: object, result: object) -> tuple[AnsweredQuestion, ...]:
    """Returns the questions of a call to which a person chose some of the options and left out others.

    Args:
        tool: The name of the tool.
        args: Its arguments.
        result: Its answer: words with ``"question"="answer"``, or an object with ``answers``.

    >>> options = [{"label": "SQLite"}, {"label": "Redis"}]
    >>> asked = {"questions": [{"question": "Which store?", "options": options}]}
    >>> answer = 'User has answered your questions: "Which store?"="SQLite".'
    >>> [(each.chosen, each.over) for each in answered_questions("AskUserQuestion", asked, answer)]
    [(('SQLite',), ('Redis',))]
    """
    if tool not in ASKING_TOOLS or not isinstance(args, Mapping):
        return ()
    found = []
    for key, question, options in _questions(args):
        chosen = _chosen(options, _answer(key, question, result))
        over = tuple(option for option in options if option not in chosen)
        if chosen and over:
            found.append(AnsweredQuestion(question=question, chosen=chosen, over=over))
    return tuple(found)


def _questions(args: Mapping[str, object]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yields the key, the words and the options of each question."""
    asked = args.get("questions", [args])
    for each in asked[:_MOST] if isinstance(asked, list) else ():
        if not isinstance(each, Mapping):
            continue
        question, options = each.get("question"), each.get("options", each.get("choices"))
        if not isinstance(question, str) or not isinstance(options, list):
            continue
        labels = (option.get("label") if isinstance(option, Mapping) else option for option in options)
        names = (_named(label) for label in labels if isinstance(label, str) and len(label) <= _LONGEST)
        if question.strip() and len(question) <= _LONGEST:
            yield str(each.get("id", question)), question, tuple(filter(None, names))[:_MOST]


def _answer(key: str, question: str, result: object) -> str | list[str] | None:
    """Returns what was answered to a question; None where the result does not say."""
    if isinstance(result, str):
        place = result[:_ANSWERS].find(f'"{question}"')
        match = _ANSWER.match(result, place + len(question) + 1) if place >= 0 else None
        if match is not None:
            return match[1]
        try:
            result = json.loads(result) if result.lstrip()[:1] == "{" else None
        except (ValueError, RecursionError):
            return None
    if not isinstance(result, Mapping):
        return None
    answers = result.get("answers")
    answer = answers.get(key, answers.get(question)) if isinstance(answers, Mapping) else result.get("answer")
    if isinstance(answer, Mapping):
        answer = answer.get("answers", answer.get("answer"))
    if isinstance(answer, list):
        return [item for item in answer if isinstance(item, str)]
    return answer if isinstance(answer, str) else None


def _chosen(options: Sequence[str], answer: str | list[str] | None) -> tuple[str, ...]:
    """Returns the options that an answer names, where it names nothing else."""
    if answer is None:
        return ()
    by_name = {option.lower(): option for option in options}
    if isinstance(answer, str):
        answer = [answer] if _named(answer).lower() in by_name else answer.split(", ")
    names = [_named(part).lower() for part in answer]
    if not all(name in by_name for name in names):
        return ()
    return tuple(option for option in options if option.lower() in names)


def _named(option: str) -> str:
    """Returns an option without the remark that it is recommended."""
    return _RECOMMENDED.sub("", option.strip()).strip()
