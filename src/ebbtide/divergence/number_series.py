"""Numbers in the answers of one call: those that only count its repeats, and those that measure its progress.

A number that grows by the same amount with each repeat says how often the call was made, and so does one that
is named after that ("attempt 4"). It is no news. Nor is the place of a text in a file, or how often a line
stands in it, where the call itself puts that line in again. A number beside a word of measure is: of
what is still to do it has to reach a new lowest value to be progress, of what is done a new highest. One that
jumps is news.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

_NUMBER: Final = re.compile(r"(?<![\w.])(?:-(?<!\w-))?\d[\d,]*(?:\.\d+)?")
_MOST: Final = 24  # numbers of one answer; with more it is a table
_BLOCK: Final = 4  # lines of a block that is known again when it follows itself
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
# The lines of a file are where it stands, not what is done.
_MEASURED: Final = re.compile(
    rf" ?(?:%|/ ?\d|of \d)|(?! (?:more )?lines?\b)[ \w,-]{{0,24}}?\b{_WORD}\b", re.IGNORECASE
)
_NAMED: Final = re.compile(rf"(?:\b{_WORD}\b[\"']?\W{{0,3}}|\d ?/ ?|\d of )\Z", re.IGNORECASE)
_TIMES: Final = r"(?:attempts?|retry|retries|try|tries|requests?)"
_REPEATS: Final = re.compile(
    rf"(?<![^\W_]){_TIMES}(?:[ _-](?:no|number|count|id)\b\.?)?[\"']?\W{{0,3}}\Z", re.IGNORECASE
)
_REPEATED: Final = re.compile(
    r" (?:\w{1,16} )?(?:attempts|retries|tries)\b(?! (?:left|remain))", re.IGNORECASE
)
_LINE_NUMBER: Final = re.compile(r"(?<!\d)\d++[ \t]?[:|\t\u2192]")
_TALLY: Final = re.compile(rf"(\d(?<![\w.,]\d)[\d,]*) (?:\w+ )?({_TO_DO}|{_DONE})\b", re.IGNORECASE)
#: How far something has come.
_SHARE: Final = re.compile(r"(?<![\w.,/])(\d{1,9}) ?(?:/|of) ?(\d{1,9})(?![\w/]|[.,]\d)")
_IS_TO_DO: Final = re.compile(_TO_DO, re.IGNORECASE)

Numbers = tuple[float, ...]


class Skeleton(NamedTuple):
    """A text apart from its numbers.

    Args:
        text: The text without lines that repeat those before them.
        form: The same without numbers.
        numbers: They, in order; the last one counts the lines that were left out.
        again: Those lines.
    """

    text: str
    form: str
    numbers: Numbers
    again: tuple[str, ...]


def skeleton_of(text: str) -> Skeleton | None:
    r"""Returns a text apart from its numbers; None where nothing in it counts, or too much.

    Of line numbers that follow each other only the first is a number, since the others follow from it.

    >>> skeleton_of("12 lines, 3.5 kB")[1:3]
    ('# lines, # kB', (12.0, 3.5, 0.0))
    >>> skeleton_of("7: a\n8: b\n9: b")[1:]
    ('#: a\n+1: b', (7.0, 1.0), ('b',))
    """
    kept, again = _without_copies(text)
    found = list(islice(_numbers(kept), _MOST + 1))
    if len(found) > _MOST or not (found or again):
        return None
    counted = {match.start() for match in found}
    form = _NUMBER.sub(lambda match: "#" if match.start() in counted else "+1", kept)
    values = (float(match.group().replace(",", "")) for match in found)
    return Skeleton(kept, form, (*values, float(len(again))), again)


def _numbers(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text, without line numbers that follow the one of the line before."""
    following = None
    for match in _NUMBER.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        if match.group().isdecimal() and not text[line : match.start()].strip():
            number, expected = int(match.group()), following
            following = number + 1
            if number == expected:
                continue
        yield match


def _without_copies(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without lines that repeat those before them, whatever their line numbers, and those lines."""
    if "\n" not in text:
        return text, ()
    kept: list[str] = []
    words: list[str] = []
    again: list[str] = []
    for line in text.split("\n"):
        kept.append(line)
        bare = line.strip()
        place = _LINE_NUMBER.match(bare)
        words.append(bare[place.end() :].lstrip() if place else bare)
        for size in range(1, _BLOCK + 1):
            if words[-size:] == words[-2 * size : -size] and any(words[-size:]):
                again += words[-size:]
                del kept[-size:], words[-size:]
                break
    return "\n".join(kept), tuple(again)


def steps_between(old: Numbers, new: Numbers) -> Numbers:
    """Returns by how much each number grew."""
    return tuple(after - before for before, after in zip(old, new, strict=True))


def only_count(skeleton: Skeleton, steps: Numbers, before: Numbers, *, deed: str | None) -> bool:
    """Returns True if all numbers of an answer that moved only count the repeats of their call.

    Args:
        skeleton: Of the answer.
        steps: By how much each number grew with this repeat.
        before: The same of the repeat before; empty where it is not known.
        deed: The arguments of a call that may have changed something itself; None of a look, since what that
            shows grows for other reasons.
    """
    text = skeleton.text
    for place, match in enumerate(_numbers(text)):
        step = steps[place]
        if not step:
            continue
        if step < 0 or step % 1:
            return False
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _NEAR)
        ahead = text[start : match.start()]
        if _REPEATS.search(ahead) or _REPEATED.match(text, match.end(), match.end() + _NEAR):
            continue
        if deed is None or not before or before[place] != step:
            return False
        if _NAMED.search(ahead) or _MEASURED.match(text, match.end(), match.end() + _NEAR):
            return False
    if not steps[-1]:
        return any(steps)
    if deed is None or not before or before[-1] != steps[-1] or steps[-1] < 0:
        return False
    return all(line in deed for line in skeleton.again)


def tallies_of(text: str) -> dict[str, int]:
    """Returns what is still to do, and less than nothing for what is done, each by its word.

    >>> tallies_of("13 failed, 80 passed"), tallies_of("Building 166/412: geo")
    ({'failed': 13, 'passed': -80}, {'of 412': -166})
    """
    tallies: dict[str, int] = {}
    for number, word in islice(_TALLY.findall(text), _MOST):
        small = word.lower()
        amount = int(number.replace(",", ""))
        tallies[small] = amount if _IS_TO_DO.fullmatch(small) else -amount
    shares = islice(_SHARE.findall(text), _MOST)
    tallies |= {f"of {whole}": -int(part) for part, whole in shares if int(part) <= int(whole)}
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
