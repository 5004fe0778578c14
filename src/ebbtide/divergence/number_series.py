"""Numbers in the answers of one call: those that only count its repeats, and those that measure its progress.

A number that grows by the same amount with each repeat says how often the call was made, and so does one that
is named after that ("attempt 4"). It is no news. A number beside a word of measure is: of what is still to
do it has to reach a new lowest value to be progress, of what is done a new highest. One that jumps is news.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_MOST: Final = 24  # numbers of one answer; with more it is a table
_NEAR: Final = 32  # characters before and behind a number in which it is named
_TO_DO: Final = (
    r"fail(?:ed|ing|ures?)?|errors?|problems?|warnings?|conflicts?|violations?|issues?|missing|remaining|left|"
    r"to go|unresolved|todo|pending"
)
_DONE: Final = (
    r"pass(?:ed|ing)?|succeeded|done|complete[d]?|processed|imported|migrated|fixed|applied|resolved"
)
_UNITS: Final = (
    r"rows?|records?|items?|documents?|objects?|messages?|entries|tests?|pages?|steps?|epochs?|iterations?|"
    r"batch(?:es)?|chunks?|parts?|rounds?|score|progress|accuracy|loss|offset|cursor|total|count"
)
_WORD: Final = rf"(?:{_TO_DO}|{_DONE}|{_UNITS})"
_MEASURED: Final = re.compile(rf" ?(?:%|/ ?\d|of \d)|[ \w,-]{{0,24}}?\b{_WORD}\b", re.IGNORECASE)
_NAMED: Final = re.compile(rf"(?:\b{_WORD}\b[\"']?\W{{0,3}}|\d ?/ ?|\d of )\Z", re.IGNORECASE)
_REPEATS: Final = re.compile(
    r"\b(?:attempt|retry|retries|try|request)[\"']?(?: (?:no|number)\.?)?\W{0,3}\Z", re.IGNORECASE
)
_TALLY: Final = re.compile(rf"(?<![\w.,])(\d[\d,]*) (?:\w+ )?({_TO_DO}|{_DONE})\b", re.IGNORECASE)
_IS_TO_DO: Final = re.compile(_TO_DO, re.IGNORECASE)

Numbers = tuple[float, ...]


def skeleton_of(text: str) -> tuple[str, Numbers] | None:
    """Returns a text without its numbers, and them in order; None where it has none, or too many.

    >>> skeleton_of("12 lines, 3.5 kB")
    ('# lines, # kB', (12.0, 3.5))
    """
    found = list(islice(_NUMBER.findall(text), _MOST + 1))
    if not 0 < len(found) <= _MOST:
        return None
    return _NUMBER.sub("#", text), tuple(float(number.replace(",", "")) for number in found)


def steps_between(old: Numbers, new: Numbers) -> Numbers:
    """Returns by how much each number grew."""
    return tuple(after - before for before, after in zip(old, new, strict=True))


def only_count(text: str, steps: Numbers, before: Numbers, *, is_act: bool) -> bool:
    """Returns True if all numbers of an answer that moved only count the repeats of their call.

    Args:
        text: The answer.
        steps: By how much each number grew with this repeat.
        before: The same of the repeat before; empty where it is not known.
        is_act: True if the call may have changed something itself. What a look shows grows for other reasons.
    """
    for place, match in enumerate(_NUMBER.finditer(text)):
        step = steps[place]
        if not step:
            continue
        if step < 0 or step % 1:
            return False
        start = max(0, match.start() - _NEAR)
        ahead = text[start : match.start()]
        if _REPEATS.search(ahead):
            continue
        if not is_act or not before or before[place] != step:
            return False
        if _NAMED.search(ahead) or _MEASURED.match(text, match.end(), match.end() + _NEAR):
            return False
    return any(steps)


def tallies_of(text: str) -> dict[str, int]:
    """Returns what is still to do, and less than nothing for what is done, each by its word.

    >>> tallies_of("13 failed, 80 passed")
    {'failed': 13, 'passed': -80}
    """
    tallies: dict[str, int] = {}
    for number, word in islice(_TALLY.findall(text), _MOST):
        small = word.lower()
        amount = int(number.replace(",", ""))
        tallies[small] = amount if _IS_TO_DO.fullmatch(small) else -amount
    return tallies


def is_progress(best: dict[str, int], new: dict[str, int]) -> bool:
    """Returns True if less is to do, or more is done, than ever; the best are kept up.

    >>> best = {"failed": 13}
    >>> [is_progress(best, {"failed": number}) for number in (12, 13, 12, 11)]
    [True, False, False, True]
    """
    is_better = False
    for word, amount in new.items():
        known = best.get(word)
        if known is None or amount < known:
            is_better = is_better or known is not None
            if known is not None or len(best) < _MOST:
                best[word] = amount
    return is_better
