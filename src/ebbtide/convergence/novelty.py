"""What a round brings that was not said before.

L0 compares normal forms, L1 compares token sets by Jaccard; the lower of the two rates counts.

Source: novelty spec, section 2 (clauses N01 to N07, N10 to N12).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.profile import NoveltyRules, TokenForm
from ebbtide.text.contrast import Contrast, contrast
from ebbtide.text.jaccard_index import JaccardIndex, Match
from ebbtide.text.normal_form import normal_form
from ebbtide.text.stems import stem_tokens


class Novelty(StrEnum):
    """How much new content a conversation still brings. Source: novelty spec, 2.3."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The seen claim that is most like a claim.

    Args:
        text: Its normal form.
        round: The round that said it.
        similarity: Jaccard, 0 to 1.
    """

    text: str
    round: int
    similarity: float

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {"text": self.text, "round": self.round, "similarity": round(self.similarity, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReading:
    """One distinct claim of a round, and what it was compared with.

    Args:
        text: The claim as it was said.
        new_L0: No earlier round said it in the same words.
        new_L1: No claim said before it is as similar as the threshold.
        nearest: The claim that made it a repeat or a paraphrase. For a new claim the most similar one, where
            the meter was asked to explain, else None.
        reversed: The claim as similar as the threshold that it contradicts, if there is one.
        contrast: How it contradicts that claim.
    """

    text: str
    new_L0: bool
    new_L1: bool
    nearest: Nearest | None = None
    reversed: Nearest | None = None
    contrast: Contrast | None = None

    @property
    def is_new(self) -> bool:
        """New at every level."""
        return self.new_L0 and self.new_L1

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        wire: dict[str, Any] = {"claim": self.text, "new_L0": self.new_L0, "new_L1": self.new_L1}
        wire["nearest"] = self.nearest.to_dict() if self.nearest else None
        if self.reversed and self.contrast:
            wire["reverses"] = {
                **self.reversed.to_dict(),
                "kind": self.contrast.kind,
                "here": self.contrast.left,
                "there": self.contrast.right,
            }
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundNovelty:
    """What one round brought.

    Args:
        total_claims: Claims as given, repeats within the round included.
        claims: Distinct normal forms among them.
        new_L0: Claims that are new at L0; `peak_L0` is the most that any round so far brought.
        new_L1: Claims that are new at L1; `peak_L1` likewise.
        new_so_far: Claims that were new at L1 in this round and all before it.
        readings: One a distinct claim, in the order in which they were said.
    """

    total_claims: int
    claims: int
    new_L0: int
    new_L1: int
    peak_L0: int
    peak_L1: int
    new_so_far: int
    readings: tuple[ClaimReading, ...] = ()

    @property
    def rate_L0(self) -> float:
        """New claims over the peak at L0, 0 to 1."""
        return self.new_L0 / max(self.peak_L0, 1)

    @property
    def rate_L1(self) -> float:
        """New claims over the peak at L1, 0 to 1."""
        return self.new_L1 / max(self.peak_L1, 1)

    @property
    def rate(self) -> float:
        """The lowest rate of all levels, 0 to 1. Source: novelty spec, 2.2."""
        return min(self.rate_L0, self.rate_L1)

    @property
    def new_claims(self) -> int:
        """New claims at the level that found the fewest."""
        return min(self.new_L0, self.new_L1)

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "claims": self.claims,
            "new_claims": self.new_claims,
            "new_claims_L0": self.new_L0,
            "new_claims_L1": self.new_L1,
            "novelty_rate": round(self.rate, 6),
            "novelty_rate_L0": round(self.rate_L0, 6),
            "novelty_rate_L1": round(self.rate_L1, 6),
        }


def is_low(novelty: RoundNovelty, rules: NoveltyRules, *, asks_anew: bool = False) -> bool:
    """Whether a round brought next to nothing.

    Args:
        novelty: What it brought.
        rules: The thresholds.
        asks_anew: It asks something that was not asked before.

    Source: novelty spec, 2.3. The two exceptions are ours: beside one very long round every short one has a
    low rate, also where all that it says is new; and a turn that only asks has no claims.
    """
    if novelty.rate >= rules.low_below:
        return False
    if novelty.claims:
        return novelty.new_claims <= rules.mostly_new_above * novelty.claims
    return not (rules.questions_count and asks_anew)


def classify(novelty: RoundNovelty, low_run: int, rules: NoveltyRules) -> Novelty:
    """The class of a round that ends `low_run` low rounds; one low round may be a pause: it is MEDIUM.

    Source: novelty spec, 2.3 and 2.4.
    """
    if novelty.rate > rules.high_above:
        return Novelty.HIGH
    needed = rules.low_rounds + (novelty.new_so_far < rules.thin_below)
    return Novelty.LOW if low_run >= needed else Novelty.MEDIUM


class NoveltyMeter:
    """Every claim said so far, and how new the claims of the next round are.

    Args:
        rules: Thresholds, token form and contrast guard.
        explain: Find the most similar claim for new claims too, by a search over everything.
    """

    def __init__(self, rules: NoveltyRules, *, explain: bool = False) -> None:
        self._rules = rules
        self._explain = explain
        self._seen: dict[str, int] = {}  # normal form -> the round that said it first
        self._index = JaccardIndex(rules.jaccard_at_least)
        self._indexed: list[str] = []  # normal forms in the order of the index
        self._peak_L0 = 0
        self._peak_L1 = 0
        self._new_so_far = 0

    def update(self, claims: Iterable[str], number: int) -> RoundNovelty:
        """Compare the claims of round `number` with everything said before, and remember them."""
        total = 0
        forms: dict[str, str] = {}
        for claim in claims:
            form = normal_form(claim)
            if form:
                total += 1
                forms.setdefault(form, claim)
        readings = tuple(self._read(form, claim, number) for form, claim in forms.items())
        new_l0 = sum(reading.new_L0 for reading in readings)
        new_l1 = sum(reading.new_L1 for reading in readings)
        self._peak_L0 = max(self._peak_L0, new_l0)
        self._peak_L1 = max(self._peak_L1, new_l1)
        self._new_so_far += new_l1
        return RoundNovelty(
            total_claims=total,
            claims=len(forms),
            new_L0=new_l0,
            new_L1=new_l1,
            peak_L0=self._peak_L0,
            peak_L1=self._peak_L1,
            new_so_far=self._new_so_far,
            readings=readings,
        )

    def to_state(self) -> dict[str, Any]:
        """Everything said so far and the counts, as plain data."""
        return {
            "seen": [list(entry) for entry in self._seen.items()],
            "peaks": [self._peak_L0, self._peak_L1],
            "new_so_far": self._new_so_far,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` of another meter with the same rules told."""
        for form, number in state["seen"]:
            self._seen[form] = number
            self._index.add(self._tokens(form))
            self._indexed.append(form)
        self._peak_L0, self._peak_L1 = state["peaks"]
        self._new_so_far = state["new_so_far"]

    def _read(self, form: str, claim: str, number: int) -> ClaimReading:
        first = self._seen.get(form)
        if first is not None:
            same = Nearest(text=form, round=first, similarity=1.0)
            return ClaimReading(text=claim, new_L0=False, new_L1=False, nearest=same)
        tokens = self._tokens(form)
        closest = self._index.nearest(tokens) if self._explain else None
        matches = self._index.add(tokens)
        self._seen[form] = number
        self._indexed.append(form)
        reverses: tuple[Match, Contrast] | None = None
        for match in matches:
            opposed = contrast(form, self._indexed[match.number]) if self._rules.contrast_guard else None
            if opposed is None:
                return ClaimReading(text=claim, new_L0=True, new_L1=False, nearest=self._nearest(match))
            reverses = reverses or (match, opposed)
        return ClaimReading(
            text=claim,
            new_L0=True,
            new_L1=True,
            nearest=self._nearest(closest) if closest else None,
            reversed=self._nearest(reverses[0]) if reverses else None,
            contrast=reverses[1] if reverses else None,
        )

    def _tokens(self, form: str) -> frozenset[str]:
        stems = stem_tokens(form) if self._rules.tokens is TokenForm.STEMS else frozenset()
        return stems or frozenset(form.split())

    def _nearest(self, match: Match) -> Nearest:
        form = self._indexed[match.number]
        return Nearest(text=form, round=self._seen[form], similarity=match.similarity)
