"""Finds a standing decision that a new one takes back, whenever and wherever it was taken."""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict, Measure, Repeat, Sureness
from ebbtide.decisions.repeats.subject import find_opposition
from ebbtide.text.normal_form import normal_form


def find_reversal(text: str, standing: Iterable[tuple[str, str]]) -> DuplicateVerdict | None:
    """The newest decision on the subject of `text`, where the two contradict each other; else None.

    Where a newer one says the same as `text`, what contradicts them was taken back already.

    Args:
        text: What is to be decided.
        standing: Ids and texts of the decisions that stand, the newest first.

    >>> standing = [("d1", "Set the client timeout to 30 s")]
    >>> find_reversal("Raise the client timeout to 60 s, uploads are slow", standing).of
    'd1'
    >>> find_reversal("Set the query timeout to 60 s", standing) is None
    True
    """
    form, print_of_text = normal_form(text), fingerprint(text)
    for number, (identifier, earlier) in enumerate(standing, start=1):
        if fingerprint(earlier) == print_of_text:
            return None
        difference = find_opposition(form, normal_form(earlier))
        if difference is not None:
            return DuplicateVerdict(
                repeat=Repeat.POSSIBLE_REVERSAL,
                of=identifier,
                measure=Measure.SUBJECT,
                sure=Sureness.LIKELY,
                difference=difference,
                compared=number,
            )
    return None
