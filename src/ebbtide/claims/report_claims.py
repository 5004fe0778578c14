"""Claims that a report makes, sentence by sentence, by the rules of `claim_rules`.

A report in another language than English makes none here: silent rather than wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from ebbtide.claims.check_tools import Family
from ebbtide.claims.claim import JUDGED, Claim, ClaimKind
from ebbtide.claims.claim_rules import (
    ACTS,
    ANY_SUBJECT,
    CHECKS,
    CLEANS,
    COUNTS,
    ENGLISH,
    EVERY,
    FOREIGN,
    HEDGES,
    ITEM_ENDS,
    ITEMS,
    LIST_PASSES,
    NO_FAILURES,
    OF_OTHERS,
    OF_PART,
    OF_TESTS,
    PARTS,
    SAID,
    SUBJECTS,
    SUCCESSES,
    VAGUE,
    WHOLES,
)
from ebbtide.claims.listed_numbers import NUMBERS, listed_numbers
from ebbtide.claims.own_lines import OwnLine, listed_file, own_lines
from ebbtide.text.excerpt import excerpt, one_line
from ebbtide.text.phrases import PhraseMatch, folded
from ebbtide.text.sentence_ends import spans

_READ: Final = 20_000  # characters of a report that are read
_CLAIMS: Final = 60
_SHOWN: Final = 160
_LISTED: Final = 6_000  # characters after a heading in which its list is read
_LONGEST: Final = 600  # characters of a sentence that are read
_OF_TOTAL: Final = re.compile(
    r"(?<![\d,])(\d[\d,]{0,8}) ?(?:/|(?:out )?of) ?(\d[\d,]{0,8})(?: \w{1,20}){0,2} (?:tests? )?pass"
)
#: Words before a subject up to one that says it is not of a part: "with this change, all tests".
_OF_ALL: Final = re.compile(r"^.*(?:[,;:(] |(?<!of )\b(?:all|the|every) )")
_WORD: Final = re.compile(r"[^\W\d_]+")
_PATH: Final = re.compile(r"\[?[`*]{1,3}([\w./~@-]{1,200}\.[A-Za-z]\w{0,9})(?![\w(])(?::[\d-]+)?[`*]{0,3}")
_COMMAND: Final = re.compile(r"`([^`\n]{3,120})`")
_CODE: Final = re.compile(r"`[^`\n]{1,120}`")
_ASIDE: Final = re.compile(r"\([^()\n]{0,200}\)")
_HASH: Final = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
_ISSUE: Final = re.compile(r"(?:#|/pull/|/issues/|/merge_requests/)(\d{1,7})\b")
_NUMBER: Final = rf"\d{{1,6}}|one|a single|{'|'.join(NUMBERS)}"
_CHANGED: Final = r"changed|modified|updated|edited|touched|committed"
_FILES: Final = re.compile(
    rf"\b(?:changes? (?:across|in|to)|{_CHANGED}|touches|touching|fix"
    rf"|commit (?:has|holds|contains|changes|of|with)) (?:\()?(?:all |the |only |just )?({_NUMBER}) files?\b"
    rf"|\b({_NUMBER}) files? (?:were |was |are |have been )?(?:{_CHANGED})\b"
    rf"|\b(?:{_CHANGED}) files? ?\((\d{{1,6}})(?: files?| total)?\)"
    rf"|\bfiles? (?:{_CHANGED}) ?(?:\(|: ?)(\d{{1,6}})\b"
    # Of a part of the change, perhaps.
    rf"|\b(?:changes?|{_CHANGED}|renam\w+|replaced|added|removed|fixed) [^.;:\n]{{0,60}} (?:across|in)"
    rf" (?P<part>{_NUMBER}) files?\b"
)
#: Other changes beside those of files that a sentence counts.
_OTHER_CHANGES: Final = re.compile(
    r"\b(?:add(?:ed|s|ing)|creat(?:ed|es|ing)(?! (?:the |a )?commit)|delet\w+|remov\w+"
    r"|renam\w+|plus|and \d)\b"
)
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+[`*\[]{0,4}[\w./~@-]{1,200}\.\w{1,10}\b")
_OTHER_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")


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
    for line in own_lines(text):
        found += _claims_on(line, text)
        if len(found) >= _CLAIMS:
            break
    return tuple(found[:_CLAIMS])


def _sentences(line: OwnLine) -> Iterator[_Sentence]:
    """Yields the sentences of a line that are no questions."""
    masked = _CODE.sub(lambda match: match[0].replace(".", "_"), line.text)  # `./...` ends no sentence
    for first, last in spans(masked, 0, len(line.text)):
        sentence = line.text[first:last]
        if sentence.strip() and not sentence.rstrip(" *_").endswith("?"):
            yield _Sentence(sentence[:_LONGEST], line.start + first)


def _claims_on(line: OwnLine, report: str) -> list[Claim]:
    """Returns the claims of a line: of its sentences, and of the file that it lists."""
    claims = []
    if not line.is_heading:
        claims = [claim for sentence in _sentences(line) for claim in _claims_in(sentence, report)]
    file = listed_file(line)
    if file is None or any(claim.subject == file.path for claim in claims):
        return claims
    kind = ClaimKind.DELETED if file.is_gone else ClaimKind.CREATED
    sentence = _Sentence(line.text, line.start)
    listed = _claim(kind, sentence, file.start - line.start, subject=file.path)
    return sorted([*claims, listed], key=lambda claim: claim.start)


def _claims_in(sentence: _Sentence, report: str) -> Iterator[Claim]:
    low = folded(sentence.text)
    words = frozenset(re.findall(r"\w+", low))
    acts = ACTS.matches(low, words)
    checks = any(map(low.__contains__, SUCCESSES)) and (
        ANY_SUBJECT.search(low) is not None
        or (("all " in low or "everything" in low) and EVERY.search(low) is not None)
    )
    files = _FILES.search(low) if "file" in low else None
    after = report[sentence.start + len(sentence.text) :]
    numbers = [] if files is not None else list(listed_numbers(low, after))
    if not acts and not checks and files is None and not numbers:
        return
    spared = _CODE.sub(lambda match: "`" + "x" * (len(match[0]) - 2) + "`", low)  # names hedge nothing
    softened = NO_FAILURES.compiled.sub(lambda match: " " * len(match[0]), spared)
    hedge = HEDGES.first(softened)
    found = sorted(
        [
            *(_checks_in(sentence, low) if checks and hedge is None else ()),
            *_acts_in(sentence, low, acts, softened),
        ],
        key=lambda claim: claim.start,
    )
    yield from found
    if (
        files is not None
        and hedge is None
        and not VAGUE.search(low[max(0, files.start() - 14) : files.end()])
    ):
        listed = _listed_files(report, sentence.start + len(sentence.text))
        yield _claim(
            ClaimKind.NUMBER, sentence, files.start(), number=_number_of(files), listed=listed,
            is_part=files["part"] is not None or _OTHER_CHANGES.search(low) is not None,
        )  # fmt: skip
    if hedge is None:
        for item in numbers:
            yield _claim(
                ClaimKind.NUMBER, sentence, item.start, subject=item.things, number=item.stated,
                listed=item.listed,
            )  # fmt: skip


def _number_of(files: re.Match[str]) -> int:
    word: str = next(word for word in files.groups() if word is not None)
    return int(word) if word.isdigit() else NUMBERS.get(word, 1)


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
    counts = None if _tells_of_rest(low) else _count_in(low)
    if counts is not None:
        at, number, is_part = counts
        is_whole = WHOLES.search(low) is not None
        found.append(
            _claim(
                ClaimKind.COUNT, sentence, at, subject=Family.TESTS.value, number=number, is_part=is_part,
                is_whole=is_whole,
            )
        )  # fmt: skip
    listed = _listed_checks(low)
    for family in SUBJECTS:
        if family is Family.TESTS and (counts is not None or _tells_of_rest(low)):
            continue
        match = next((match for pattern in SAID[family] if (match := pattern.search(low)) is not None), None)
        span = listed.get(family) if match is None else match.span()
        if span is None:
            continue
        first, last = span
        kind = ClaimKind.TESTS_PASS if family is Family.TESTS else ClaimKind.LINT_OR_BUILD
        around = low[max(0, first - 40) : last]
        before = _OF_ALL.sub("", low[max(0, first - 25) : first]) + low[first:last]
        found.append(
            _claim(
                kind, sentence, first, subject=_subject(family, low[first:last]),
                is_whole=WHOLES.search(around) is not None
                or (family is Family.TESTS and _speaks_of_all(low, first, last)),
                is_part=PARTS.search(before) is not None,
                is_clean=CLEANS.search(low[first : last + 30]) is not None,
            )
        )  # fmt: skip
    every = None if found else EVERY.search(low)
    if every is not None:
        found.append(_claim(ClaimKind.TESTS_PASS, sentence, every.start(), subject=CHECKS))
    return found


def _tells_of_rest(low: str) -> bool:
    """Returns True if fewer tests are said to pass than there are: "209 of 212 tests pass"."""
    match = _OF_TOTAL.search(low)
    return match is not None and int(match[1].replace(",", "")) < int(match[2].replace(",", ""))


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
    if (match := LIST_PASSES.search(bare)) is not None:
        lists.append(
            (max(bare.rfind(sign, 0, match.start()) for sign in (": ", "; ", " \u2014 ")) + 1, match.start())
        )
    if (match := EVERY.search(bare)) is not None:
        lists.append((match.end(), len(bare)))
    found: dict[Family, tuple[int, int]] = {}
    for first, last in lists:
        ends = [match.span() for match in ITEM_ENDS.compiled.finditer(bare, first, last)]
        starts = [first, *(end for _, end in ends)]
        for start, stop in zip(starts, [*(begin for begin, _ in ends), last], strict=True):
            for family in SUBJECTS:
                item = ITEMS[family].match(bare, start, stop)
                if item is not None:
                    found.setdefault(family, item.span(1))
    return found


def _subject(family: Family, words: str) -> str:
    """Returns the family, with the kind of tests where the words name one: "tests:unit"."""
    kinds = [kind for kind in ("unit", "integration", "e2e", "end-to-end", "regression") if kind in words]
    return ":".join([family.value, *kinds])


def _count_in(low: str) -> tuple[int, int, bool] | None:
    for pattern in COUNTS:
        match = pattern.search(low)
        if match is None:
            continue
        before = low[max(0, match.start() - 14) : match.start()]
        if VAGUE.search(before) or low[match.start() - 1 : match.start()] in {"~", "-", ".", "v"}:
            return None
        number = int(match["of"].replace(",", ""))
        what = match.groupdict().get("what") or ""
        is_part = bool(what.strip()) or PARTS.search(before) is not None
        is_part = is_part or OF_TESTS.search(low) is None or OF_OTHERS.search(low) is not None
        is_part = is_part or OF_PART.match(low, match.end()) is not None
        return match.start(), number, is_part
    return None


def _acts_in(sentence: _Sentence, low: str, acts: Sequence[PhraseMatch], softened: str) -> Iterator[Claim]:
    for match in acts:
        kind = ClaimKind(match.rule.id)
        clause = softened[_clause_start(low, match.start) : _clause_end(low, match.end)]
        if HEDGES.first(clause) is not None:
            continue
        rest = sentence.text[match.start :]
        subject = ""
        if kind in {ClaimKind.CREATED, ClaimKind.DELETED, ClaimKind.READ_IN_FULL}:
            path = _PATH.search(sentence.text[match.end : match.end + 300])
            if path is not None:
                subject = path[1]
            elif kind is not ClaimKind.READ_IN_FULL or not match.phrase.endswith(("files", "in full")):
                continue
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


def _claim(kind: ClaimKind, sentence: _Sentence, at: int, **others: Any) -> Claim:
    return Claim(kind=kind, text=one_line(sentence.text, _SHOWN), start=sentence.start + at, **others)
