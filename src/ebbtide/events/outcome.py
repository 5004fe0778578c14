"""Outcome of a call by what its answer says: harnesses put most failures into the text and set no flag.

Three endings are distinguished: the call failed, it came back empty, or neither can be seen. The lines that
say so are the *salient* part of the answer. Compared are those, not the answer: attempts that differ in
everything else and end in the same salient lines have the same outcome.

A long answer is content, and content may be about errors: there, only its first and last lines count, and
only what a program prints of itself. A short one is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ebbtide.text.late_pattern import LatePattern
from ebbtide.text.noise import without_fresh_names, without_noise


class Ending(StrEnum):
    """Ending of a call."""

    FAILED = "failed"  #: it says so, or its flag does
    EMPTY = "empty"  #: it looked for something and there is nothing


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome that the answer of a call states.

    Args:
        ending: Failed or empty.
        lines: The lines that say so, each as a template and in its own words. In neither are known noise,
            generated names, the arguments that it repeats and its place; in the template neither are quoted
            parts and numbers. Empty where they only say that it failed.
        numbers: Counts in those lines, in order: numbers before a word, a percent sign or a slash.
        is_down: True if they say that a service is down or busy.
        is_weak: True if they only say it in words, as a person would, and not as a program does.
    """

    ending: Ending
    lines: tuple[tuple[str, str], ...]
    numbers: tuple[float, ...]
    is_down: bool = False
    is_weak: bool = False


#: Of a query whose answer is an empty text.
NOTHING: Final = CallOutcome(Ending.EMPTY, (("", ""),), ())

_TOP_READ, _BOTTOM_READ = 500, 1_000  # characters at either end of an answer that are looked at
_SHORT: Final = 6  # lines up to which an answer is taken at its word
_LONG: Final = 600  # characters up to which it is
_TOP, _BOTTOM = 2, 5  # lines of a long answer that are looked at
_SALIENT: Final = 3  # lines that are kept
_CUT: Final = 300  # characters of a line

#: In small letters, one of these stands in every answer that a rule below matches; looking for them is cheap.
_HINTS: Final = (
    "err", "fail", "not", "n't", "no ", "denied", "exce", "nvalid", "time", "refus", "unab",
    "false", "missing", "exit", "return", "forbid", "unauth", "reject", "fatal", "unkn", "panic", "null",
    "none", "[]", "{}",
    "limit", "status", "http", "human", "captcha", "backoff", "lock", "must", "requir", "oom", "abort",
    "out of", "expired", "too many", "navail",
)  # fmt: skip
_NUMBERED: Final = 200  # characters up to which a zero may say that nothing was found
_TOP_HINT, _BOTTOM_HINT = 120, 240  # characters at either end of a long answer in which hints are looked for

#: What a program prints of its own failure, at the beginning of a line that is looked at.
_STRONG_START: Final = LatePattern(
    r"\W*(?:[\w./\\ -]{1,60}:\s*)?(?:fatal|error|failed|failure|panic|uncaught|unhandled|exception|"
    r"npm (?:ERR!|error)|E:)\b(?!\W*(?:none|no(?! ['\"\w])|0|null|false|nil)\b)"
    r"|Traceback \(most recent"
    r"|\W{0,40}[\w.]*(?:Error|Exception|Failure|Fault)(?:\[\w+\])?(?::|\W*$)"
    r"|\W*(?:Failed|Unable|Cannot|Could not|Couldn't) (?!find\b|locate\b)"
    r"|\W{0,40}[\d:T.,Z+ -]{8,99}+\W*+(?-i:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b"
    r"|(?:---? )?FAIL(?:ED)?\b|make(?:\[\d+\])?: \*\*\*|<tool_use_error>",
    re.IGNORECASE,
)
#: The same, anywhere in it.
_STRONG_ANYWHERE: Final = LatePattern(
    r"\berror\[\w+\]|: error:|\berror TS\d+|ERR!"
    r"|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b(?!: 0)"
    r"|\b(?:failed|failures|errors)[:=] ?[1-9]"
    r"|(?-i:\b(?:FAIL(?:ED|URE)?|TIMEOUT)\b)|\b(?:CrashLoopBackOff|ImagePullBackOff|ErrImagePull|OOMKilled)\b"
    r"|\bBUILD FAILED\b|\bTests? failed\b"
    r"|\b(?:exit(?:ed)?(?: with)?(?: code| status)?|return ?code|exit_code|rc)\W{1,5}"
    r"(?:code\W{1,3})?-?[1-9]\d*"
    r"|: (?:command not found|No such file or directory|Permission denied|not found)$"
    r"|\bHTTP(?:/[\d.]+)? (?:status )?(?:error )?[45]\d\d\b|\b(?:status|code|status_code)\W{1,4}[45]\d\d\b"
    r"|\b[45]\d\d (?:Not Found|Forbidden|Unauthorized|Bad Request|Internal Server Error|Bad Gateway|"
    r"Service Unavailable|Too Many Requests|Conflict|Gateway Time-?out|Client Error|Server Error)"
    r"|\"(?:success|ok)\": ?false|\"(?:is_?error)\": ?true|\"status\": ?\"(?:error|failed|failure)\""
    r"|\"error(?:s|_message|Message|_code)?\": ?(?:\"[^\"]|\{|\[[^\]])"
    r"|\bIntroduced new syntax error|##\[error\]"
    r"|\b(?:verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot|"
    r"checking (?:your browser|if the site connection)"
    r"|unusual traffic|captcha|enable javascript and cookies)\b",
    re.IGNORECASE,
)
#: In small letters, one of these stands in every line of ASCII that either matches, but for codes.
_STRONG_HINTS: Final = (
    "err", "fail", "fatal", "panic", "uncaught", "unhandled", "exception", "e:", "traceback", "fault",
    "unable ", "cannot ", "could", "critical", "severe", "make", "tool_use", "timeout", "backoff", "oomk",
    "exit", "returncode", "return code", ": command", ": no such", ": not found", ": perm", '"success"',
    '"ok"', "human", "robot", "checking ", "unusual ", "captcha", "enable java",
)  # fmt: skip
_STATUS: Final = re.compile(r"[45]\d\d")
#: What a short answer says in words.
_WEAK: Final = LatePattern(
    r"\b(?:(?:can|could|would|did|does|do)(?: ?not|n't) (?!need|any|only|yet been|produce)"
    r"|cannot|unable to|failed|fails|failure|error|exception|invalid|denied|refused|forbidden|unauthori[sz]ed"
    r"|timed? ?out|rejected|not (?:found|exist|allowed|permitted|supported|available|authori[sz]ed|possible|"
    r"recogni[sz]ed|valid|enough|defined|installed|clickable|visible|interactable|reachable)|no such|"
    r"unavailable|conflict|rate limit|too many requests|quota|haven't granted|"
    r"unknown (?:\w+ )?(?:tool|command|function|option|column|table|argument|parameter|id|host|error)|"
    r"is required|is missing|must (?:be|have|match)|out of (?:range|stock|memory)|"
    r"locked|expired|unresolved|unreachable|throttled|declined|"
    r"no longer|not in|abort(?:ed|ing)|undefined)\b",
    re.IGNORECASE,
)
#: That nothing was found; a short answer that begins so, or is nothing else.
_EMPTY: Final = LatePattern(
    r"^\W*(?:(?:sorry|there (?:are|is|were|was)|found|search returned|returned|query returned)\W+)?"
    r"(?:no|0|zero)\W+(?:\w+\W+){0,4}?"
    r"(?:results?|match(?:es)?|rows?|records?|hits?|items?|files?|documents?|docs|entries|events?|data|"
    r"messages?|issues?|resources?|pods?|flights?|products?|orders?|articles?|pages?|papers?|tickets?|users?|"
    r"emails?|contacts?|customers?|answers?|information|logs?|series|slots?|occurrences?|references?)\b"
    r"|^\W*(?:nothing|none|not) found\b|^\W*(?:Could not|Couldn't|Cannot|Unable to) (?:find|locate)\b"
    r"|^\W*(?:\[\]|\{\}|\(0 rows\))\W*$"
    r"|^\W*\"?(?:results|items|hits|data|matches|rows|records|documents|events|total\w*|count|entries)\"?"
    r"\W{1,3}(?:\[\]|0)\W*$"
    r"|^\{\"\w+\": ?(?:\[\]|\{\})\}$|\b(?:added|updated|inserted|created|changed|imported|matched) 0\b"
    r"|\{\"?(?:results|items|hits|data|matches|rows|records|documents|events|value)\"?: ?\[\]",
    re.IGNORECASE,
)
#: Without hints, one of these stands in every answer that the rule above matches.
_NONE: Final = re.compile(r"\b(?:0|no|zero)\b", re.IGNORECASE)
#: What programs complain of and go on.
_HARMLESS: Final = re.compile(
    r"child_copy|dofork|fork: retry|post-quantum|Remainder of file ignored|\bDeprecationWarning\b"
    r"|^\*\* WARNING"
)
#: Words of lines that only give a code.
_CODE_WORDS: Final = frozenset(
    "process command exited exit status return returncode rc with code error".split()
)
_ALL_WELL: Final = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:errors?|failures?|failed|problems?|conflicts?|issues?)\b"
    r"|\bnone failed\b"
    r"|\b(?:errors?|failures?|failed|exit code)[^\w,;]{1,4}(?:none|no(?! ['\"\w])|0|null|false|nil)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"'[^'\n]{1,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{1,200}`|\[[^\[\]\n]{0,300}\]")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
_COUNT: Final = re.compile(
    r"(?<![\w.#])(?:\d[\d,]*(?:\.\d+)?)(?= ?%| ?/ ?\d| [a-z]{3})|(?:(?<=[A-Za-z]=)|(?<=[a-z]: ))\d+(?![\w.])"
)
_TALLY: Final = re.compile(r"\b(?:pass(?:ed|ing)?|ok|remaining|left|total|succeeded|done)\b", re.IGNORECASE)
_PLACE: Final = re.compile(r"(?:\bline |:)\d+(?::\d+)?\b|\((?:\d+),(?:\d+)\)")
_SOURCE: Final = re.compile(r"^[\w./\\-]+:\d+:(?:\d+:)?", re.MULTILINE)
_CODE_LENGTH: Final = 60  # characters up to which a line may only give a code
_WORDS: Final = re.compile(r"[a-z]+")
_LETTERS: Final = re.compile(r"[A-Za-z]{3,}")
#: Words of lines that only say that something failed.
_EMPTY_WORDS: Final = frozenset(
    "error errors failed failure failures fail exit code status process command build test tests returned "
    "non zero with did not complete successfully traceback most recent call last text argument temp time "
    "duration warning passed skipped total files suites run ran the for and make target recipe line err "
    "npm lifecycle script elifecycle aborting due previous could compile".split()
)
_BLANK: Final = re.compile(r"\s+")
_TERM: Final = re.compile(r"[^\s'\"`,;:()\[\]{}<>|=]{3,}")
_TERMS: Final = 40  # of the arguments that are recognised inside an answer


def outcome_of(answer: str, args: object = "", *, failed: bool = False) -> CallOutcome | None:
    """Returns the outcome that an answer states; None if neither failure nor emptiness can be seen.

    Args:
        args: The arguments, which the answer may repeat.
        failed: True if a flag, or what is declared about the tool, says that it failed.

    >>> outcome_of("bash: foo: command not found", "foo").ending.value
    'failed'
    >>> outcome_of("12 passed in 3.1s") is None
    True
    """
    is_hinted = _is_hinted(answer)
    if not is_hinted and not failed and not _may_be_empty(answer):
        return None
    whole = len(answer) <= _TOP_READ + _BOTTOM_READ
    view = answer if whole else f"{answer[:_TOP_READ]}\n{answer[-_BOTTOM_READ:]}"
    lines = [line for line in view.splitlines() if line and not line.isspace()]
    is_short = whole and len(lines) <= _SHORT and len(answer) <= _LONG
    ends = _trimmed(lines if is_short else [*lines[:_TOP], *lines[_TOP:][-_BOTTOM:]])
    hinted = _hinted_lines(ends) if is_hinted else []
    hinted = [line for line in hinted if not _ALL_WELL.search(line) and not _HARMLESS.search(line)]
    salient = [line for line in hinted if _is_strong(line)]
    ending, is_weak = Ending.FAILED, False
    if not salient and is_short and not failed and _EMPTY.search(ends[0] if ends else ""):
        salient, ending = ends[:1], Ending.EMPTY
    elif is_short and all(map(_is_code, salient)):
        is_weak = not salient
        salient = [line for line in hinted if _WEAK.search(line)] or salient
    elif not is_short and (salient or failed) and all(map(_is_code, salient)):
        # It failed, and its end does not say why: somewhere before it may.
        strong = [line for line in _trimmed(lines) if _is_strong(line) and not _ALL_WELL.search(line)]
        salient = strong or salient
    if not salient:
        if not failed:
            return None
        salient = ends[-1:]
    text = without_noise("\n".join(salient[-_SALIENT:]))
    stable = without_fresh_names(_without_terms(_SOURCE.sub("", text), _values(args)))
    tallies = [line for line in ends if line not in salient and _TALLY.search(line)]
    counted = without_noise("\n".join((_PLACE.sub("", stable), *tallies)))
    numbers = tuple(float(number.replace(",", "")) for number in _COUNT.findall(counted)[:16])
    pairs = [(_template(line), _BLANK.sub(" ", line)) for line in stable.split("\n")]
    specific = [pair for pair in pairs if ending is Ending.EMPTY or _says_something(pair[0])]
    is_down = ending is Ending.FAILED and bool(_DOWN.search(text)) and not _UNPAID.search(text)
    specific = specific or [pair for pair in pairs[:1] if not _is_code(pair[1])]
    return CallOutcome(ending, tuple(specific), numbers, is_down=is_down, is_weak=is_weak)


_DOWN: Final = re.compile(
    r"\b(?:connection (?:was )?(?:refused|reset)|(?:could not|couldn't|failed to|can't) connect(?! to "
    r"[\w.-]{1,60}: (?:wrong|invalid|bad|unknown|permission|password|auth|access|no such))|"
    r"timed? ?out|temporarily|unavailable|"
    r"try again|throttl\w+|too many requests|rate limit\w*|50[234]|529|429|not ready|starting up|unreachable|"
    r"bad gateway|overloaded)\b",
    re.IGNORECASE,
)
#: What no time cures, though it comes with the code of a service that has too much to do.
_UNPAID: Final = LatePattern(
    r"insufficient_quota|exceeded your current quota|\bbilling\b|credit balance|payment required|"
    r"insufficient (?:funds|credits?)|out of credits",
    re.IGNORECASE,
)
_LOAD: Final = re.compile(
    r"\b(?:throttl\w+|too many requests|(?:rate|usage|request|hit your|session|weekly) limit\w*|quota|"
    r"overloaded|retry[- ]after|429|529)\b",
    re.IGNORECASE,
)
_DEEDS: Final = LatePattern(
    r"(?P<verb>\b|\\n)(?:delete[ds]?|updated?|inserted?|affected|moved|processed|removed|imported|exported|archived|"
    r"purged|copied|"
    r"sent|migrated|changed)[^\w\n]{1,4}[1-9]\d*\b"
    r"|\b[1-9][\d,]* (?:rows?|records?|items?|files?|documents?|objects?|messages?|entries|events?)\b",
    re.IGNORECASE,
)


def is_refused_for_load(answer: str) -> bool:
    """Returns True if an answer says that a service has too much to do, or that an allowance is used up.

    >>> is_refused_for_load("429 Too Many Requests"), is_refused_for_load("Connection refused")
    (True, False)
    """
    return bool(_LOAD.search(answer[:_BOTTOM_READ]))


def counts_deeds(answer: str) -> bool:
    r"""Returns True if an answer says of how many things something was done, and that it was more than none.

    >>> counts_deeds("[{'deleted': 20000}]"), counts_deeds("DELETE 0"), counts_deeds(r"{'out': '\nDELETE 9'}")
    (True, False, True)
    """
    return bool(_DEEDS.search(answer[:_TOP_READ]))


def states_deed(answer: str) -> bool:
    """Returns True if an answer says by a verb that something was done, and to how many things.

    >>> states_deed("DELETE 20000"), states_deed("2114 documents, nothing to do")
    (True, False)
    """
    match = _DEEDS.search(answer[:_TOP_READ])
    return match is not None and match["verb"] is not None


_CANCELLED: Final = ("Sibling tool call errored", "Cancelled: parallel tool call")
_CANCELLED_READ: Final = 100  # characters in which a harness says so


def is_cancelled(answer: str) -> bool:
    """Returns True if the harness did not make a call, since another one of its batch failed.

    >>> is_cancelled("<tool_use_error>Sibling tool call errored</tool_use_error>")
    True
    """
    head = answer[:_CANCELLED_READ]
    return any(words in head for words in _CANCELLED)


def begins_with_failure(answer: str) -> bool:
    r"""Returns True if a short answer begins with what a program prints of its own failure.

    >>> begins_with_failure("fatal: bad revision"), begins_with_failure("1: import os\n2: os.exit(1)")
    (True, False)
    """
    if len(answer) > _LONG:
        return False
    return any(_STRONG_START.match(line) for line in answer.strip().splitlines()[:1])


def _is_strong(line: str) -> bool:
    """Returns True if a line is what a program prints of its own failure."""
    if line.isascii():
        small = line.lower()
        for hint in _STRONG_HINTS:
            if hint in small:
                break
        else:
            has_code = "rc" in small and "rc" in small.replace("src", "")
            if not has_code and not _STATUS.search(small):
                return False
    return _STRONG_START.match(line) is not None or _STRONG_ANYWHERE.search(line) is not None


def _may_be_empty(answer: str) -> bool:
    """Returns True if an answer without hints may say that nothing was found."""
    return len(answer) <= _NUMBERED and "0" in answer and _NONE.search(answer) is not None


def _is_hinted(text: str) -> bool:
    if len(text) > _TOP_HINT + _BOTTOM_HINT:
        text = text[:_TOP_HINT] + text[-_BOTTOM_HINT:]
    text = text.lower()
    for hint in _HINTS:  # noqa: SIM110 - `any` takes twice the time
        if hint in text:
            return True
    return False


def _hinted_lines(lines: list[str]) -> list[str]:
    """Returns the lines in which a hint stands: few hints stand in any of them."""
    small = [line.lower() for line in lines]
    whole = "\n".join(small)
    hints = [hint for hint in _HINTS if hint in whole]
    return [line for line, low in zip(lines, small, strict=True) if any(hint in low for hint in hints)]


def _trimmed(lines: list[str]) -> list[str]:
    return [line.strip()[:_CUT] for line in lines]


def _values(args: object) -> str:
    if isinstance(args, str):
        return args
    if isinstance(args, Mapping):
        return " ".join(map(_values, args.values()))
    if isinstance(args, list | tuple):
        return " ".join(map(_values, args))
    return "" if args is None else str(args)


def _is_code(line: str) -> bool:
    """Returns True if a line only gives a code, such as "exit code 1"."""
    return len(line) <= _CODE_LENGTH and _CODE_WORDS.issuperset(_WORDS.findall(line.lower()))


def _template(line: str) -> str:
    return _BLANK.sub(" ", _NUMBER.sub("#", _QUOTED.sub("<text>", line)))


def _says_something(template: str) -> bool:
    """Returns True if a line says what went wrong, and not only that something did."""
    return len({word.lower() for word in _LETTERS.findall(template)} - _EMPTY_WORDS) > 1


def _without_terms(text: str, arguments: str) -> str:
    """Returns the text without what the arguments say, whole or in terms that are more than plain words."""
    if len(arguments) >= 3 and arguments in text:
        text = text.replace(arguments, "<argument>")
    terms = {
        term for term in _TERM.findall(arguments[:_BOTTOM_READ]) if not (term.isalpha() and term.islower())
    }
    for term in sorted(terms, key=len, reverse=True)[:_TERMS]:
        if term in text:
            text = text.replace(term, "<argument>")
    return text
