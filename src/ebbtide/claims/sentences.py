"""Sentences about claims, for people and for the agent that made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ebbtide.claims.claim import ClaimAnswer, ClaimCheck

#: The least grave first, as a line about many of them counts them.
_ORDER = tuple(reversed(ClaimAnswer))
#: Answers that a reader should hear of first.
GRAVE = (ClaimAnswer.CONTRADICTED, ClaimAnswer.STALE, ClaimAnswer.NARROWER)
#: Answers that make a report wrong.
REFUTED = (ClaimAnswer.CONTRADICTED, ClaimAnswer.STALE)
_SAID = 100
_MOST = 3  # claims that an agent hears of


def is_refuted(checks: Iterable[ClaimCheck]) -> bool:
    """Returns True if the record contradicts or outdates one of the claims."""
    return any(check.answer in REFUTED for check in checks)


def claims_line(checks: Sequence[ClaimCheck]) -> str:
    """Returns how many claims a report makes and how they stand, with the gravest; empty where it makes none.

    >>> from ebbtide.claims.claim import ClaimKind
    >>> check = ClaimCheck(kind=ClaimKind.PUSHED, answer=ClaimAnswer.CONTRADICTED, text="Pushed.", start=0,
    ...     event=11, line="! [rejected] main", reason="the last push was refused")
    >>> claims_line([check])
    '1 claim: 1 contradicted: says "Pushed."; the last push was refused (event 11: ! [rejected] main)'
    """
    if not checks:
        return ""
    counts = Counter(check.answer for check in checks)
    parts = [f"{counts[answer]:,} {answer.value}" for answer in _ORDER if counts[answer]]
    line = f"{len(checks):,} claim{'s' * (len(checks) > 1)}: {', '.join(parts)}"
    gravest = next((check for answer in GRAVE for check in checks if check.answer is answer), None)
    return line if gravest is None else f"{line}: {claim_sentence(gravest)}"


def claim_sentence(check: ClaimCheck) -> str:
    """Returns what a claim says and what the record says to it."""
    said = check.text.replace('"', "'")
    said = said if len(said) <= _SAID else f"{said[: _SAID - 3].rstrip()}..."
    shown = f"event {check.event:,}" if check.event is not None and "event" not in check.reason else ""
    proof = ": ".join(part for part in (shown, check.line) if part)
    return f'says "{said}"; {check.reason}{f" ({proof})" if proof else ""}'


def correction(checks: Iterable[ClaimCheck]) -> str | None:
    """Returns what to tell an agent of claims that the record contradicts or outdates; None without one.

    >>> from ebbtide.claims.claim import ClaimKind
    >>> check = ClaimCheck(kind=ClaimKind.PUSHED, answer=ClaimAnswer.CONTRADICTED, text="Pushed.", start=0,
    ...     event=11, line="! [rejected] main", reason="the last push was refused")
    >>> correction([check])[:62]
    'Your report says "Pushed."; the last push was refused (event 1'
    """
    wrong = sorted(
        (check for check in checks if check.answer in REFUTED), key=lambda check: REFUTED.index(check.answer)
    )
    if not wrong:
        return None
    parts = list(dict.fromkeys(claim_sentence(check) for check in wrong))[:_MOST]
    return f"Your report {'. It '.join(parts)}. Check again, or correct the report, before you end."
