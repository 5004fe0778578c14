"""Claims of a report, and the answers that a record gives to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ebbtide.codec import Record


class ClaimKind(StrEnum):
    """Kinds of claims."""

    TESTS_PASS = "tests_pass"  # noqa: S105 - no password
    COUNT = "count"  #: so many tests pass
    LINT_OR_BUILD = "lint_or_build"  #: lint, types, format or build are clean
    RAN = "ran"  #: a command was run
    COMMITTED = "committed"
    PUSHED = "pushed"
    OPENED = "opened"  #: a pull request or an issue was opened
    CREATED = "created"  #: a file was created or changed
    DELETED = "deleted"  #: a file was deleted
    NUMBER = "number"  #: so many files were changed
    HEALTHY = "healthy"  #: a service answers
    READ_IN_FULL = "read_in_full"  #: a file was read to its end
    FIXED = "fixed"  #: a fault is repaired
    VERIFIED = "verified"  #: somebody looked at the result
    NOTHING_LEFT = "nothing_left"  #: nothing remains to be done


#: Kinds that need judgement: no record makes them false.
JUDGED: Final = frozenset({ClaimKind.FIXED, ClaimKind.VERIFIED, ClaimKind.NOTHING_LEFT})


class ClaimAnswer(StrEnum):
    """Answers of a record to a claim, the gravest first."""

    CONTRADICTED = "contradicted"  #: a line of the record says otherwise
    STALE = "stale"  #: it was so, and what it is about was changed since
    NARROWER = "narrower"  #: less was checked than the words say
    UNSUPPORTED = "unsupported"  #: nothing in the record shows it
    UNKNOWN = "unknown"  #: the record cannot show it
    PROVEN = "proven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One assertion of a report.

    Args:
        text: The sentence, on one line.
        start: Place in the report where the words that assert it begin, in characters.
        subject: The object: a kind of check, a path, a command or a hash; empty where none is named.
        number: The stated number; None where none is stated.
        is_whole: True if the words speak of everything: "the full suite".
        is_part: True if they speak of chosen parts: "the new tests".
        is_clean: True if they deny warnings too: "lint is clean".
        listed: Number of things that the list under the words names; None where there is no list.
    """

    kind: ClaimKind
    text: str
    start: int
    subject: str = ""
    number: int | None = None
    is_whole: bool = False
    is_part: bool = False
    is_clean: bool = False
    listed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCheck(Record):
    """A claim with the answer of the record.

    Args:
        text: The sentence that asserts it, on one line, cut; secrets are masked.
        start: Place of its words in the report, in characters.
        event: Number of the event that shows it; None where none does.
        changed: Number of the event that changed what was checked; None where none did.
        line: The line of the record that shows it, cut; secrets are masked. Empty where none does.
        reason: The grounds of the answer, in words.
    """

    kind: ClaimKind
    answer: ClaimAnswer
    text: str
    start: int
    event: int | None = None
    changed: int | None = None
    line: str = ""
    reason: str = ""
