"""Claims that a report makes, sentence by sentence, by the rules of `claim_rules`.

A report in another language than English makes none here: silent rather than wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from ebbtide.claims.check_tools import Family
from ebbtide.claims.claim import JUDGED, Claim, ClaimKind
from ebbtide.claims.claim_rules import (
    ACTS,
    BEFORE,
    BETWEEN,
    CHECKS,
    COUNTS,
    ENGLISH,
    EVERY,
    FOREIGN,
    HEDGES,
    ITEM_ENDS,
    LIST_PASSES,
    MODIFIERS,
    NO_FAILURES,
    PARTS,
    PASSES,
    PLANS,
    SUBJECTS,
    VAGUE,
    WHOLES,
)
from ebbtide.text.excerpt import excerpt, one_line
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import PhraseMatch, folded
from ebbtide.text.sentence_ends import spans

_READ: Final = 20_000  # characters of a report that are read
_CLAIMS: Final = 60
_SHOWN: Final = 160
_LISTED: Final = 6_000  # characters after a heading in which its list is read
_LONGEST: Final = 600  # characters of a sentence that are read
_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)")
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?\s*$)")
_QUOTED: Final = re.compile(r"[\"\u201c][^\"\u201c\u201d\n]{3,300}[\"\u201d]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_PATH: Final = re.compile(r"\[?[`*]{1,3}([\w./~@-]{1,200}\.\w{1,10})(?::[\d-]+)?[`*]{0,3}")
_COMMAND: Final = re.compile(r"`([^`\n]{3,120})`")
_CODE: Final = re.compile(r"`[^`\n]{1,120}`")
_ASIDE: Final = re.compile(r"\([^()\n]{0,200}\)")
_HASH: Final = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
_ISSUE: Final = re.compile(r"(?:#|/pull/|/issues/|/merge_requests/)(\d{1,7})\b")
_OPEN_TASK: Final = re.compile(r"\s*[-*+]\s*\[ \]")
_FILES: Final = re.compile(
    r"(?:changes? (?:across|in|to)|changed|modified|updated|edited|touched|fix) (?:\()?(\d{1,6}) files?\b"
    r"|(\d{1,6}) files? (?:changed|modified|updated|edited|were changed)\b"
)
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+[`*\[]{0,4}[\w./~@-]{1,200}\.\w{1,10}\b")
_OTHER_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split(),
        start=2,
    )
}
_NUMBER: Final = rf"(?:\d{{1,2}}|{'|'.join(_NUMBERS)})"
#: A heading that counts what the list under it names, with no other number.
_COUNTED: Final = re.compile(
    rf"[^\d\n]{{0,120}}?(?<![\w.,:/#-])({_NUMBER}) (?:[a-z][\w-]{{0,30}} ){{0,3}}([a-z]{{3,20}}s)\b"
    r"[^\d\n]{0,60}:[*_ ]{0,4}"
)
_ORDERED: Final = re.compile(r"\d{1,2}[.)]\s+(.{0,300})")
#: An item that stands for several things.
_SEVERAL: Final = re.compile(
    rf"^[*`_ ]{{0,4}}(?:{_NUMBER}|both|all|several|multiple)\b|\(\d{{1,3}}[^)\n]{{0,20}}\)"
    r"|`[^`\n]{1,80}`(?:, | and | \+ | / )`",
    re.IGNORECASE,
)


class _Sentence(NamedTuple):
    text: str
    start: int


def is_english(text: str) -> bool:
    """Returns True if a text is in English by its short words; a text of a few words is taken to be.

    >>> is_english("All tests pass."), is_english("Tous les tests passent et la branche est en place.")
    (True, False)
    """
    words = _WORD.findall(text[:_READ].lower())
    foreign = len([word for word in words if word in FOREIGN])
    english = len([word for word in words if word in ENGLISH])
    others = len([word for word in words if not word.isascii()])
    return foreign <= english and others * 5 <= len(words) + (not words)


def claims_of(text: str) -> tuple[Claim, ...]:
    """Returns the claims of a report in their order, at most 60.

    >>> [(claim.kind.value, claim.number) for claim in claims_of("All 212 tests pass. Pushed.")]
    [('count', 212), ('pushed', None)]
    """
    text = excerpt(text, _READ).text
    if not is_english(text):
        return ()
    found: list[Claim] = []
    for sentence in _sentences(text):
        found += _claims_in(sentence, text)
        if len(found) >= _CLAIMS:
            break
    return tuple(found[:_CLAIMS])


def _sentences(text: str) -> Iterator[_Sentence]:
    """Yields what a report says in its own words: no code, no quotations, no plans."""
    is_fenced = is_plan = False
    start = 0
    for line in text.splitlines(keepends=True):
        begin, start = start, start + len(line)
        if _FENCE.match(line):
            is_fenced = not is_fenced
            continue
        if is_fenced or line.lstrip().startswith(">") or _OPEN_TASK.match(line):
            continue
        heading = _HEADING.match(line)
        if heading is not None:
            title = line.strip().strip("#*: ").lower()
            is_plan = any(word in title for word in PLANS)
            if line.lstrip().startswith("#"):
                continue
        if is_plan:
            continue
        bare = _QUOTED.sub(lambda match: " " * len(match[0]), line)
        masked = _CODE.sub(lambda match: match[0].replace(".", "_"), bare)  # `./...` ends no sentence
        for first, last in spans(masked, 0, len(bare)):
            sentence = bare[first:last]
            if sentence.strip() and not sentence.rstrip(" *_").endswith("?"):
                yield _Sentence(sentence[:_LONGEST], begin + first)


def _claims_in(sentence: _Sentence, report: str) -> Iterator[Claim]:
    low = folded(sentence.text)
    words = frozenset(re.findall(r"\w+", low))
    acts = _acts().matches(low, words)
    checks = _subjects().search(low) is not None or (
        ("all " in low or "everything" in low) and _every().search(low) is not None
    )
    files = _FILES.search(low)
    counted = None if files is not None else _COUNTED.fullmatch(low.strip(" *_#-\n"))
    if not acts and not checks and files is None and counted is None:
        return
    spared = _CODE.sub(lambda match: "`" + "x" * (len(match[0]) - 2) + "`", low)  # names hedge nothing
    softened = _no_failures().sub(lambda match: " " * len(match[0]), spared)
    hedge = _hedges().first(softened)
    found = sorted(
        [
            *(_checks_in(sentence, low) if checks and hedge is None else ()),
            *_acts_in(sentence, low, acts, softened),
        ],
        key=lambda claim: claim.start,
    )
    yield from found
    if files is not None and hedge is None:
        number = int(files[1] or files[2])
        listed = _listed_files(report, sentence.start + len(sentence.text))
        yield _claim(ClaimKind.NUMBER, sentence, files.start(), number=number, listed=listed)
    if counted is not None and hedge is None:
        stated = _NUMBERS.get(counted[1]) or int(counted[1])
        listed = _ordered(report, sentence.start + len(sentence.text))
        if listed is not None and listed != stated:  # where they agree, the record has still to show them
            place = low.find(counted[1])
            yield _claim(ClaimKind.NUMBER, sentence, place, subject=counted[2], number=stated, listed=listed)


def _ordered(report: str, end: int) -> int | None:
    """Returns the length of the ordered list after a place of a report; None where its items group things."""
    first, *lines = report[end : end + _LISTED].split("\n")
    if first.strip(" *:_"):
        return None
    number = 0
    for line in lines:
        item = _ORDERED.match(line)
        if item is not None:
            number += 1
            if not line.startswith(f"{number}") or _SEVERAL.search(item[1]):
                return None
        elif line.strip() and not line.startswith((" ", "\t")):
            break
    return number if number > 1 else None


def _listed_files(report: str, end: int) -> int | None:
    """Returns how many files the list names that follows a place of a report; None where there is none."""
    first, *lines = report[end : end + _LISTED].split("\n")
    if first.strip(" *:_"):
        return None
    number = 0
    for line in lines:
        if _ITEM.match(line):
            number += 1
        elif _OTHER_ITEM.match(line):
            return None
        elif line.strip() and not line.startswith((" ", "\t")):
            break
    return number or None


def _checks_in(sentence: _Sentence, low: str) -> list[Claim]:
    found: list[Claim] = []
    counts = _count_in(low)
    if counts is not None:
        at, number, is_part = counts
        is_whole = _wholes().search(low) is not None
        found.append(
            _claim(
                ClaimKind.COUNT, sentence, at, subject=Family.TESTS.value, number=number, is_part=is_part,
                is_whole=is_whole,
            )
        )  # fmt: skip
    listed = _listed_checks(low)
    for family in SUBJECTS:
        if family is Family.TESTS and counts is not None:
            continue
        match = next((match for pattern in _said(family) if (match := pattern.search(low)) is not None), None)
        span = listed.get(family) if match is None else match.span()
        if span is None:
            continue
        first, last = span
        kind = ClaimKind.TESTS_PASS if family is Family.TESTS else ClaimKind.LINT_OR_BUILD
        around = low[max(0, first - 40) : last]
        before = low[max(0, first - 25) : last]
        found.append(
            _claim(
                kind, sentence, first, subject=_subject(family, low[first:last]),
                is_whole=_wholes().search(around) is not None
                or (family is Family.TESTS and _speaks_of_all(low, first, last)),
                is_part=_parts().search(before) is not None,
            )
        )  # fmt: skip
    every = None if found else _every().search(low)
    if every is not None:
        found.append(_claim(ClaimKind.TESTS_PASS, sentence, every.start(), subject=CHECKS))
    return found


def _speaks_of_all(low: str, first: int, last: int) -> bool:
    """Returns True if "all" is said of a subject, and not of a list that the subject is one of."""
    if " all " in f" {low[max(0, first - 40) : first]}":
        return True
    is_listed = "," in low[first:last] or low[:first].endswith((", ", "and ", "& ", "+ "))
    return not is_listed and " all " in low[first:last]


def _listed_checks(low: str) -> dict[Family, tuple[int, int]]:
    """Returns the checks that a list names of which all passed, each with the place of its words.

    The list stands before the words ("lint (0 issues) and the unit tests all pass") or after them ("All
    checks pass: lint, tests").
    """
    bare = _ASIDE.sub(lambda match: " " * len(match[0]), low)
    lists = []
    if (match := _all_pass().search(bare)) is not None:
        lists.append(
            (max(bare.rfind(sign, 0, match.start()) for sign in (": ", "; ", " \u2014 ")) + 1, match.start())
        )
    if (match := _every().search(bare)) is not None:
        lists.append((match.end(), len(bare)))
    found: dict[Family, tuple[int, int]] = {}
    for first, last in lists:
        ends = [match.span() for match in _item_ends().finditer(bare, first, last)]
        starts = [first, *(end for _, end in ends)]
        for start, stop in zip(starts, [*(begin for begin, _ in ends), last], strict=True):
            for family in SUBJECTS:
                item = _item(family).match(bare, start, stop)
                if item is not None:
                    found.setdefault(family, item.span(1))
    return found


def _subject(family: Family, words: str) -> str:
    """Returns the family, with the kind of tests where the words name one: "tests:unit"."""
    kinds = [kind for kind in ("unit", "integration", "e2e", "end-to-end", "regression") if kind in words]
    return ":".join([family.value, *kinds])


def _count_in(low: str) -> tuple[int, int, bool] | None:
    for pattern in _counts():
        match = pattern.search(low)
        if match is None:
            continue
        before = low[max(0, match.start() - 14) : match.start()]
        if _vague().search(before) or low[match.start() - 1 : match.start()] in {"~", "-", ".", "v"}:
            return None
        number = int(match["of"].replace(",", ""))
        what = match.groupdict().get("what") or ""
        is_part = bool(what.strip()) or _parts().search(before) is not None
        return match.start(), number, is_part
    return None


def _acts_in(sentence: _Sentence, low: str, acts: Sequence[PhraseMatch], softened: str) -> Iterator[Claim]:
    for match in acts:
        kind = _kinds()[match.rule.id]
        clause = softened[_clause_start(low, match.start) : _clause_end(low, match.end)]
        if _hedges().first(clause) is not None:
            continue
        rest = sentence.text[match.start :]
        subject = ""
        if kind in {ClaimKind.CREATED, ClaimKind.DELETED, ClaimKind.READ_IN_FULL}:
            path = _PATH.search(rest[:300])
            if path is None:
                continue
            subject = path[1]
        elif kind is ClaimKind.RAN:
            command = _COMMAND.match(rest, len(match.phrase))
            named = "lint" if match.phrase.endswith("linter") else "tests"
            subject = f"{named}:" if command is None else command[1]
        elif kind is ClaimKind.COMMITTED:
            sha = _HASH.search(rest[:120].lower())
            subject = "" if sha is None else sha[0]
        elif kind is ClaimKind.OPENED:
            issue = _ISSUE.search(rest[:200])
            subject = "" if issue is None else issue[1]
        elif kind not in JUDGED and kind not in {ClaimKind.PUSHED, ClaimKind.HEALTHY}:
            continue
        yield _claim(kind, sentence, match.start, subject=subject)


def _clause_start(low: str, at: int) -> int:
    return max(low.rfind(sign, 0, at) for sign in (";", " \u2014 ", " - ", "(", ":", "|", ".")) + 1


def _clause_end(low: str, at: int) -> int:
    ends = [place for sign in (";", " \u2014 ", "(", "|") if (place := low.find(sign, at)) >= 0]
    return min(ends, default=len(low))


def _claim(
    kind: ClaimKind, sentence: _Sentence, at: int, *, subject: str = "", number: int | None = None,
    is_whole: bool = False, is_part: bool = False, listed: int | None = None,
) -> Claim:  # fmt: skip
    return Claim(
        kind=kind,
        text=one_line(sentence.text, _SHOWN),
        start=sentence.start + at,
        subject=subject,
        number=number,
        is_whole=is_whole,
        is_part=is_part,
        listed=listed,
    )


@cache
def _acts() -> PhraseTable:
    return PhraseTable([rule for _, rule in ACTS], lower=True)


@cache
def _kinds() -> dict[str, ClaimKind]:
    return {rule.id: kind for kind, rule in ACTS}


@cache
def _hedges() -> PhraseTable:
    return PhraseTable(HEDGES, lower=True)


@cache
def _subjects() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(SUBJECTS.values())}|\d (?:passed|passing))\b")


@cache
def _all_pass() -> re.Pattern[str]:
    return re.compile(LIST_PASSES)


@cache
def _item_ends() -> re.Pattern[str]:
    return re.compile(ITEM_ENDS)


@cache
def _item(family: Family) -> re.Pattern[str]:
    return re.compile(rf"\W{{0,6}}{MODIFIERS}[`*]{{0,3}}({SUBJECTS[family]})\b")


@cache
def _every() -> re.Pattern[str]:
    return re.compile(EVERY)


@cache
def _said(family: Family) -> tuple[re.Pattern[str], ...]:
    subject = SUBJECTS[family]
    return (
        re.compile(rf"\b(?:{subject})\b{BETWEEN}(?:{PASSES})"),
        re.compile(rf"`(?:{subject})\b[^`\n]{{1,80}}`{BETWEEN}(?:{PASSES})"),
        re.compile(rf"(?<!\w)(?:{BEFORE.format(subject=subject)})"),
    )


@cache
def _counts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![\w.,]){pattern}") for pattern in COUNTS)


@cache
def _no_failures() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{NO_FAILURES})")


@cache
def _vague() -> re.Pattern[str]:
    return re.compile(VAGUE)


@cache
def _parts() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{PARTS})\b")


@cache
def _wholes() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{WHOLES})\b")
