"""Lengths of the lists under a stated number, and sums of its parts: "5 issues (3 critical, 2 minor)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ebbtide.claims.claim_rules import PARTS_OF_SUM

_LISTED: Final = 6_000  # characters after a heading in which its list is read
NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split(),
        start=2,
    )
}
_NUMBER: Final = rf"(?:\d{{1,2}}|{'|'.join(NUMBERS)})"
#: A heading that counts what the list under it names, with no other number.
_COUNTED: Final = re.compile(
    rf"[^\d\n]{{0,120}}?(?<![\w.,:/#-])({_NUMBER}) (?:[a-z][\w-]{{0,30}} ){{0,3}}([a-z]{{3,20}}s)\b"
    r"[^\d\n]{0,60}:[*_ ]{0,4}"
)
_ORDERED: Final = re.compile(r"\d{1,2}[.)]\s+(.{0,300})")
_BULLET: Final = re.compile(r"[-*+]\s+(.{0,300})")
#: An item of a list without an order that stands for one thing: it begins with a name in signs.
_NAMED: Final = re.compile(r"(?:\*\*)?\[?`[^`\n]{1,100}`|\*\*[^*\n]{1,80}\*\*")
_FIRST: Final = re.compile(r"[*_`]{0,3}(\d{1,4})\b(?![.,:/%-]\d) ")
#: An item that stands for several things.
_SEVERAL: Final = re.compile(
    rf"^[*`_ ]{{0,4}}(?:{_NUMBER}|both|all|several|multiple|bonus|also|plus)\b"
    rf"|^\(|\(\d{{1,3}}[^)\n]{{0,20}}\)"
    r"|`[^`\n]{1,80}`(?:, | and | \+ | / )`",
    re.IGNORECASE,
)
_PART: Final = (
    rf"[*`_]{{0,3}}\d{{1,4}} (?:are |were )?[*`_]{{0,3}}(?:{'|'.join(PARTS_OF_SUM)})\b[*`_]{{0,3}}"
    r"(?: [a-z]{2,20}){0,2}"
)
_SUM: Final = re.compile(
    r"(?<![\w.,:/#$-])(\d{1,4}) (?:[a-z][\w-]{0,20} ){0,2}([a-z]{3,20}s)"
    r"(?: total| found| overall)?[*`_]{0,3} ?[(:=\u2013\u2014-] ?"
    rf"({_PART}(?:(?:,|;| \+| and|, and| &| /|, plus) {_PART}){{1,6}})[*`_]{{0,3}}(?:[);]|\.(?!\w)|$)"
)
_ADDEND: Final = re.compile(r"(?<![\w.])(\d{1,4}) (?:are |were )?[*`_]{0,3}([\w-]+)")
_KINDS: Final = tuple(re.compile(kind) for kind in PARTS_OF_SUM)


class ListedNumber(NamedTuple):
    """A number that a report states, and the one that its own list has.

    Args:
        start: Place of the stated number in the sentence.
        things: Name of what is counted.
        stated: The stated number.
        listed: The length of the list, or the sum of the parts.
    """

    start: int
    things: str
    stated: int
    listed: int


def listed_numbers(low: str, after: str) -> Iterator[ListedNumber]:
    """Yields the numbers of a sentence that its own list or parts differ from.

    Args:
        low: The sentence, in small letters.
        after: What follows it in the report.
    """
    bare = low.strip(" *_#-\n")
    counted = _COUNTED.fullmatch(bare) if bare.endswith((":", ":**")) else None
    if counted is not None:
        stated = NUMBERS.get(counted[1]) or int(counted[1])
        listed = _length(after[:_LISTED], stated)
        if listed is not None and listed != stated:  # where they agree, the record has still to show them
            yield ListedNumber(low.find(counted[1]), counted[2], stated, listed)
    match = _SUM.search(low) if "," in low or " and " in low else None
    if match is not None and "of which" not in low:
        total = _sum(match[3], int(match[1]))
        if total is not None:
            yield ListedNumber(match.start(1), match[2], int(match[1]), total)


def _sum(parts: str, stated: int) -> int | None:
    """Returns the sum of parts that is more than the whole; None where they may be of several kinds.

    Less may be named than there is, as where only the grave ones are.
    """
    addends = _ADDEND.findall(parts)
    numbers = [int(number) for number, _ in addends]
    if sum(numbers) <= stated or max(numbers) > stated:
        return None
    is_one_kind = any(all(kind.fullmatch(word) for _, word in addends) for kind in _KINDS)
    return sum(numbers) if is_one_kind else None


def _length(after: str, stated: int) -> int | None:
    """Returns the length of the list that follows in a report; None where its items may group things."""
    first, *lines = after.split("\n")
    if first.strip(" *:_"):
        return None
    ordered, bullets = 0, list[str]()
    for line in lines:
        item, bullet = _ORDERED.match(line), _BULLET.match(line)
        if item is not None and not bullets:
            ordered += 1
            if not line.startswith(f"{ordered}") or _SEVERAL.search(item[1]):
                return None
        elif bullet is not None and not ordered:
            bullets.append(bullet[1])
        elif item is not None or bullet is not None:
            return None
        elif line.strip() and not line.startswith((" ", "\t")):
            break
    if ordered:
        return ordered if ordered > 1 else None
    return _of_bullets(bullets, stated)


def _of_bullets(bullets: list[str], stated: int) -> int | None:
    numbers = [_FIRST.match(item) for item in bullets]
    if len(bullets) > 1 and all(numbers):
        return sum(int(match[1]) for match in numbers if match is not None)
    is_plain = all(_NAMED.match(item) and not _SEVERAL.search(item) for item in bullets)
    # Another length by far is a list of something else.
    return len(bullets) if len(bullets) > 2 and is_plain and abs(len(bullets) - stated) < stated / 2 else None
