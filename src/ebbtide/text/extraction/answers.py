"""Effect of one turn on the turn before: it approves a proposal, or answers a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ebbtide.text.extraction.reading import words_of
from ebbtide.text.extraction.words import FILLER
from ebbtide.text.phrases import folded
from ebbtide.text.stems import stem

_PROPOSAL: Final = re.compile(
    r"\W*(?:(?:so|and|or|then|now|great|ok|okay)\W+)*"
    r"(?:(?:would|do|did) you (?:like|want|prefer|agree)|(?:shall|should|may|can|could) (?:i|we)|want me to"
    r"|ready to|(?:could|can|would) you (?:please )?confirm"
    r"|(?:please )?(?:let me know|confirm) (?:if|whether|that)"
    r"|(?:is|does|would) (?:that|this|it) (?:ok|okay|fine|work|sound|acceptable)"
    r"|proceed|continue|go ahead|how about)\b"
)
_LEAVE: Final = re.compile(
    r"\A\W*(?:(?:me|us) )?(?:to )?(?:proceed with |go ahead and |go ahead with )?", re.IGNORECASE
)
_AGREES: Final = re.compile(
    r"\W*(?:yes|yeah|yep|yup|sure|ok(?:ay)?|correct|exactly|absolutely|of course|please do)\b"
)
_ANSWERS: Final = re.compile(r"\W*(?:yes|yeah|yep|no|nope)(?=\W*\Z|[,.;:!])")
_NODS: Final = frozenset(
    "yes yeah yep yup sure okay please thanks thank great perfect ahead confirm approve approved lgtm sounds"
    " looks works like interested moving forward going fine who why".split()
)
_SHARED: Final = 0.66  # part of a question's words that its answer has


def is_proposal(question: str) -> bool:
    """Returns True if a question asks for leave to do something.

    >>> is_proposal("Shall I rotate the keys?"), is_proposal("Who owns the keys?")
    (True, False)
    """
    return _PROPOSAL.match(folded(question)) is not None


def without_asking(proposal: str) -> str:
    """Returns the deed for which a question asks leave, without the asking.

    >>> without_asking("Would you like me to rotate the keys?"), without_asking("We rotate the keys.")
    ('rotate the keys', 'We rotate the keys.')
    """
    lead = _PROPOSAL.match(folded(proposal))
    if lead is None:
        return proposal
    return _LEAVE.sub("", proposal[lead.end() :]).strip().rstrip("?").strip() or proposal


def agrees(text: str) -> bool:
    """Returns True if a turn begins by saying yes."""
    return _AGREES.match(folded(text)) is not None


def says_what(approval: str) -> bool:
    """Returns True if an approval names its object: "go ahead with the upgrade", but not "with that"."""
    return bool(_content(approval))


def still_open(questions: Sequence[str], later_turns: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Returns the questions of a turn that no later turn answers.

    A turn answers the last question if it begins with yes or no, and any question of which one statement
    has two thirds of the words that mean something.

    Args:
        questions: Questions of one turn, in order.
        later_turns: The text of each turn of others behind it, and its statements.
    """
    unanswered = list(questions)
    for text, statements in later_turns:
        if unanswered and _ANSWERS.match(folded(text)):
            unanswered.pop()
        stated = [_content(statement) for statement in statements]
        unanswered = [question for question in unanswered if not _is_answered(_content(question), stated)]
    return tuple(unanswered)


def _is_answered(question: frozenset[str], stated: Iterable[frozenset[str]]) -> bool:
    return bool(question) and any(len(question & words) >= _SHARED * len(question) for words in stated)


def _content(text: str) -> frozenset[str]:
    return frozenset(
        stem(word) for word in words_of(folded(text)) if word not in FILLER and word not in _NODS
    )
