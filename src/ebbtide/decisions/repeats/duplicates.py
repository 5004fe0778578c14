"""Finds a decision that was taken already: by its normal form, then by the words that it shares.

A duplicate is explained: of which decision, by which measure, how sure. What looks like one but reverses
an earlier decision is a question to ask, never a reason to drop it.

Source: decision quality gate, layer 2 (clauses Q06, Q07).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from ebbtide.decisions.repeats.compared_text import LONGEST_COMPARED, ComparedText, read_text
from ebbtide.decisions.repeats.differences import (
    Difference,
    DifferenceKind,
    find_contrast,
    find_difference,
)
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict, Measure, Repeat, Sureness
from ebbtide.decisions.repeats.subject import find_opposition
from ebbtide.profile.duplicates import DuplicateRules
from ebbtide.text.stems import stem_tokens

# Of more decisions that are alike, as the items of a list are, the most similar are read. On the public data,
# where up to 34 are alike, sixteen give the same verdicts as all of them.
_READ_CLOSELY = 16
_ALIKE = 0.5  # share of a text's tokens that both have, from which they are read for a contrast


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A decision that was taken before and still stands; what was superseded or refused is not one.

    Args:
        text: What it says.
        ts: When, in seconds since the epoch.
    """

    id: str
    text: str
    ts: float


def find_duplicate(
    text: str, earlier: Sequence[Earlier], rules: DuplicateRules = DuplicateRules.DEFAULT, *, ts: float
) -> DuplicateVerdict:
    """Returns the relation of `text` to the decisions before it.

    Every decision of the window is compared. An equal text comes first, the newest of several; then the
    most similar one. Where a newer decision of the window contradicts what the text repeats, the text
    reverses that one: "enable", "disable", "enable" again are three decisions.

    Args:
        text: What is to be decided.
        earlier: The decisions of the same tenant, agent and session that still stand, in any order; of two
            of one time the later in the row is newer.
        rules: Window and thresholds.
        ts: When, in seconds since the epoch. Decisions of the future are those of a clock that went back:
            they are compared.

    Source: decision quality gate, layer 2 (clause Q06): strictly above the threshold, and all decisions of
    the window.

    >>> before = [Earlier(id="d1", text="Enable retries for the billing client", ts=0.0)]
    >>> find_duplicate("Disable retries for the billing client", before, ts=60.0).repeat.value
    'possible_reversal'
    >>> find_duplicate("enable retries for the billing client.", before, ts=60.0).repeat.value
    'duplicate'
    """
    window_s = rules.window_s
    rows = [row for row in earlier if window_s is None or row.ts >= ts - window_s]
    rows.sort(key=lambda row: row.ts)  # stable: of one time, the later is newer
    here = read_text(text, rules.tokens)
    most = len(rows) if rules.compared_at_most is None else rules.compared_at_most
    first = max(len(rows) - most, 0)  # rows before it are compared by form alone
    tokens, many = here.tokens, len(here.tokens)
    # No measure is above the share of the smaller text that the other has: few rows are near.
    least = min(rules.jaccard_above, _ALIKE) - 1e-9
    equal = here.fingerprint if rules.exact_first else None
    readings = [read_text(row.text, rules.tokens) for row in rows]
    near = [
        (place, there)
        for place, there in enumerate(readings)
        if there.fingerprint == equal
        or (place >= first and 0 < len(tokens & there.tokens) >= least * min(many, len(there.tokens)))
    ]
    close = near if len(near) <= _READ_CLOSELY else _closest(here, near)
    same: _Found | None = None
    opposed: list[_Found] = []
    for place, there in close:
        of = rows[place].id
        if there.fingerprint == equal:
            same = _Found(of, place, Measure.FINGERPRINT, 1.0, Sureness.CERTAIN)
            continue
        alike = _alike(here, there, of, place, rules)
        if alike is not None and alike.difference is not None:
            opposed.append(alike)
        elif alike is not None and (same is None or same.rank <= alike.rank):
            same = alike
    compared, is_cut = len(rows), first > 0 or len(close) < len(near)
    found = max(_since(same, opposed), key=_order, default=same)
    if found is None:
        return DuplicateVerdict(repeat=Repeat.NEW, window_s=window_s, compared=compared, truncated=is_cut)
    return DuplicateVerdict(
        repeat=Repeat.DUPLICATE if found.difference is None else Repeat.POSSIBLE_REVERSAL,
        of=found.of,
        measure=found.measure,
        shared=found.shared,
        union=found.union,
        sure=found.sure,
        difference=found.difference,
        window_s=window_s,
        compared=compared,
        truncated=is_cut,
    )


def _closest(here: ComparedText, near: Sequence[tuple[int, ComparedText]]) -> list[tuple[int, ComparedText]]:
    """The rows with an equal text and the most similar ones, the newest of equals, in their order."""
    tokens, many = here.tokens, len(here.tokens)
    ranked = []
    for place, there in near:
        shared = len(tokens & there.tokens)
        ranked.append((shared / (many + len(there.tokens) - shared or 1), place))
    closest = {place for _, place in nlargest(_READ_CLOSELY, ranked)}
    return [row for row in near if row[0] in closest or row[1].fingerprint == here.fingerprint]


class _Found(NamedTuple):
    """An earlier decision that is alike."""

    of: str
    place: int  # the newest has the highest
    measure: Measure
    score: float
    sure: Sureness
    difference: Difference | None = None
    shared: int | None = None
    union: int | None = None

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Sort key: the surer comes first, then the more similar."""
        return (self.sure is Sureness.CERTAIN, self.sure is Sureness.LIKELY, self.score)


def _since(same: _Found | None, opposed: Sequence[_Found]) -> Sequence[_Found]:
    """Of what contradicts a text that which still does: what was decided before its equal is settled."""
    if same is None:
        return opposed
    # What was decided since and contradicts it stands now. An other word alone ("step-a", "step-b") may be
    # another matter: it does not make an equal text new.
    needed = Sureness.LIKELY if same.sure is Sureness.CERTAIN else None
    return [other for other in opposed if other.place > same.place and needed in (None, other.sure)]


def _order(alike: _Found) -> tuple[tuple[bool, bool, float], int]:
    return alike.rank, alike.place


def _alike(
    here: ComparedText, there: ComparedText, of: str, place: int, rules: DuplicateRules
) -> _Found | None:
    shared = len(here.tokens & there.tokens)
    smaller, larger = sorted((len(here.tokens), len(there.tokens)))
    union = len(here.tokens) + len(there.tokens) - shared
    # The quotient of two counts is the double that is nearest to it, and so is a decimal threshold: 3 of 5
    # is exactly 0.6, and not above it.
    similar = shared / union > rules.jaccard_above
    if not (similar or (rules.contrast_guard and shared / smaller >= _ALIKE)):
        return None
    alike = _Found(of, place, Measure.JACCARD, shared / union, Sureness.LIKELY, None, shared, union)
    if rules.contrast_guard:
        if max(len(here.form), len(there.form)) > LONGEST_COMPARED:
            return None
        if similar or shared / larger >= _ALIKE:
            difference = find_contrast(here.form, there.form)
            if difference is not None and not (
                similar
                or (
                    difference.kind
                    is not DifferenceKind.NUMBER  # "The free plan has 3", "the team plan has 50"
                    and _rest(here, there, difference) > rules.jaccard_above
                )
            ):
                difference = find_opposition(here.form, there.form)
                return None if difference is None else alike._replace(difference=difference)
        else:
            difference = find_opposition(here.form, there.form)
        if difference is not None:
            return alike._replace(difference=difference)
        # One word in the place of another counts twice in the union, once in the larger text.
        if similar or shared / larger > rules.jaccard_above:
            difference = find_difference(here.form, there.form)
            if difference is not None:
                return alike._replace(difference=difference, sure=Sureness.POSSIBLE)
    enough = min(here.content, there.content) >= rules.content_tokens
    return alike if similar and enough else None


def _rest(here: ComparedText, there: ComparedText, difference: Difference) -> float:
    """The similarity of what is not in contrast: 1 for "enable retries" and "disable retries"."""
    apart = stem_tokens(difference.here) | stem_tokens(difference.there)
    mine, theirs = here.tokens - apart, there.tokens - apart
    union = len(mine | theirs)
    return len(mine & theirs) / union if union else 1.0
