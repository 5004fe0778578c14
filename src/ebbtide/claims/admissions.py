"""Failures that a report tells of itself: who does so claims no success of the same thing."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from ebbtide.claims.check_tools import Family

_TROUBLE: Final = re.compile(
    r"\bfail|\u274c|\bnot (?:pass|green|clean)|\bdo(?:es)? ?n[o'\u2019]t (?:pass|compile|build)"
    r"|\berrors? remain|\bred\b|\bflak|\bpre-?existing\b"
    r"|\bbroken\b|\bblocked\b|\bcould not\b|\bcouldn['\u2019]t\b|\bunable\b|\btim(?:ed|es) out\b"
    r"|\bremaining (?:errors?|warnings?|issues?|problems?)\b|\bstill (?:has|have|shows?|prints?|reports?)\b"
    r"|\b(?:other than|apart from|aside from|excluding)\b"
    r"|\bexcept(?:ing)? (?:for\b|\d|the|those|one|two|three|in\b)"
    r"|\brolled back\b|\b50[0-4]\b|\bunhealthy\b|\bdown\b"
)
#: Of acts.
_REFUSAL: Final = re.compile(
    r"\bfail|\u274c|\breject|\brefus|\bdenied\b|\bblocked\b|\bcould not\b|\bcouldn['\u2019]t\b|\bunable\b"
    r"|\btim(?:ed|es) out\b"
)
#: Failures that are none, and such as the program has.
_NONE: Final = re.compile(
    r"\b(?:no|0|zero|without|any) (?:\w+ )?(?:fail|failures?|failed|failing)\b"
    r"|(?:\b(?:not|never|cannot|no longer)|n['\u2019]t) fail\w*|\bfails? (?:no more|open|closed|fast"
    r"|safe|loudly|silently|over)\b"
    r"|\bfail-?(?:open|closed|fast|safe|over|loud)\b|\b(?:if|whether|unless|in case) [^.,;:]{0,60}\bfail\w*"
)
_QUOTED: Final = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|\u201c[^\u201d\n]{1,200}\u201d")
#: Code whose words tell which check is meant.
_TELLING: Final = re.compile(r"test|spec|lint|ruff|clippy|tsc|mypy|pyright|build|fmt|prettier|check|compile")
_SUBJECTS: Final = {
    Family.TESTS: re.compile(
        r"\b(?:tests?|specs?|suites?|unit|integration|e2e|asserti\w+|coverage|packages?|pytest|jest"
        r"|vitest|cases?)\b"
    ),
    Family.LINT: re.compile(r"\b(?:lint\w*|warnings?|findings|eslint|ruff|clippy|vale|markdownlint)\b"),
    Family.TYPES: re.compile(r"\b(?:types?|type-?check\w*|tsc|mypy|pyright|typescript)\b"),
    Family.FORMAT: re.compile(r"\b(?:format\w*|fmt|prettier)\b"),
    Family.BUILD: re.compile(r"\b(?:builds?|compil\w+|bundl\w+)\b"),
    Family.HEALTH: re.compile(
        r"\b(?:service|server|site|api|app|deploy\w*|endpoints?|health\w*|rolled back|pods?)\b"
    ),
}
#: Words for any check, and numbers of failures of whatever kind.
_ANY: Final = re.compile(
    r"\b(?:checks|ci|pipelines?|hooks?|jobs?|workflows?)\b"
    r"|\b(?:\d+|one|two|three|four|five|several|some|few|remaining|known|other|same|these|those"
    r"|pre-?existing) (?:\w+ ){0,2}?"
    r"(?:fail(?:ures?|ing|s|ed)|errors?|issues?|problems?|breakages?)\b"
    r"|\b(?:failures?|errors?|issues?|problems?) (?:\w+ ){0,4}?pre-?existing\b"
    r"|\bx (?:\w+ ){0,2}(?:fails|failing)\b"  # something that is named in code
)
_ACTS: Final = re.compile(
    r"\b(?:push\w*|commit\w*|hooks?|pull requests?|prs?|merge requests?|branch protection|remote"
    r"|upstream|auth\w*)\b"
)
_READ: Final = 20_000


class Admissions:
    """Failures and refusals that a report itself states.

    Args:
        report: The report.

    >>> told = Admissions("Unit tests pass. Three integration tests fail as before.")
    >>> told.of(Family.TESTS), told.of(Family.LINT), told.of_acts
    (True, False, False)
    """

    def __init__(self, report: str) -> None:
        self._report = report[:_READ]

    @cached_property
    def _lines(self) -> list[str]:
        """Lines that tell of trouble; read when they are asked for, since few reports are."""
        low = self._report.lower()
        if _TROUBLE.search(low) is None and _REFUSAL.search(low) is None:
            return []
        lines = [line for line in low.splitlines() if _TROUBLE.search(line) or _REFUSAL.search(line)]
        return [_NONE.sub("", _QUOTED.sub(_named, line)) for line in lines]

    def of(self, family: Family) -> bool:
        """Returns True if the report tells that checks of that family, or of any, do not pass."""
        subject = _SUBJECTS[family]
        lines = (line for line in self._lines if _TROUBLE.search(line))
        return any(subject.search(line) or _ANY.search(line) for line in lines)

    @property
    def of_acts(self) -> bool:
        """True if the report tells that a commit, a push or a request did not go through."""
        return any(_REFUSAL.search(line) and _ACTS.search(line) for line in self._lines)


def _named(match: re.Match[str]) -> str:
    """Returns what stands for a piece of code or a quotation: its words, where they tell of a check."""
    return match[0].replace("_", " ") if _TELLING.search(match[0]) else "x"
