"""Novelty of a round: what it brings that was not said before.

L0 compares normal forms, L1 compares token sets by Jaccard, and L2, where there is an embedder, compares
meanings by the cosine of their embeddings; the lowest of the rates counts.

Source: novelty spec, section 2 (clauses N01 to N12).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Final, NamedTuple

from ebbtide.codec import Record, Rounded, State
from ebbtide.convergence.semantic import SemanticIndex, SemanticReading, cosine_at_least
from ebbtide.profile.convergence import LowBy, NoveltyRules, TokenForm
from ebbtide.text.contrast.guard import Contrast, contrast
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.jaccard_index import JaccardIndex
from ebbtide.text.normal_form import normal_form
from ebbtide.text.stems import stem_tokens

# Bounds for texts made to be slow. In the public data no round states more than 351 different claims,
# no claim shares two rare words with more than 72 earlier ones, and none contradicts more than four.
_MOST_CLAIMS: Final = 512  # of a round
_ALIKE: Final = 64  # earlier claims that are compared because of the same two words
_MOST_CONTRASTS: Final = 8  # similar claims that are read for a contrast


_NO_PEAKS = (0, 0, 0)  # of the three levels


class Novelty(StrEnum):
    """Class of the new content that a conversation still brings. Source: novelty spec, 2.3."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest(Record):
    """Seen claim that is most like a claim.

    Args:
        text: Its normal form.
        similarity: Jaccard, 0 to 1; at L2 the cosine.
    """

    text: str
    round: int
    similarity: Rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReading:
    """One distinct claim of a round, and what it was compared with.

    Args:
        text: The claim as it was said.
        new_L0: No earlier round said it in the same words.
        new_L1: No claim said before it is as similar as the threshold.
        new_L2: No claim said before it means as much the same as the threshold; None without an embedder.
        nearest: The claim that made it a repeat or a paraphrase. For a new claim the most similar one, where
            the meter was asked to explain, else None.
        nearest_L2: The claim that is nearest in meaning; None without an embedder, or where it is the first.
        reversed: The claim as similar as the threshold that it contradicts, if there is one.
    """

    text: str
    new_L0: bool
    new_L1: bool
    new_L2: bool | None = None
    nearest: Nearest | None = None
    nearest_L2: Nearest | None = None
    reversed: Nearest | None = None
    contrast: Contrast | None = None

    @property
    def is_new(self) -> bool:
        """True if the claim is new at every level."""
        return self.new_L0 and self.new_L1 and self.new_L2 is not False

    def to_dict(self) -> dict[str, Any]:
        """Returns the reading in the wire form."""
        wire: dict[str, Any] = {"claim": self.text, "new_L0": self.new_L0, "new_L1": self.new_L1}
        wire["nearest"] = self.nearest.to_dict() if self.nearest else None
        if self.new_L2 is not None:
            wire["new_L2"] = self.new_L2
            wire["nearest_L2"] = self.nearest_L2.to_dict() if self.nearest_L2 else None
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
    """Counts of what one round brought.

    Args:
        total_claims: Claims as given, repeats within the round included.
        claims: Distinct normal forms among them.
        new_L0: Claims that are new at L0; `peak_L0` is the most that any round so far brought.
        new_L1: Claims that are new at L1; `peak_L1` is the most that any round so far brought.
        new_L2: Claims that are new at L2; None without an embedder. `peak_L2` is the most that any round
            brought.
        new_so_far: `new_claims` of this round and all before it.
        left_out: Claims that were not read, since 512 different ones stand before them in the round.
        crowded: Claims that have so many similar ones that they were not compared with all of them; they may
            count as new where one of those says the same.
        readings: One a distinct claim, in the order in which they were said.
    """

    total_claims: int
    claims: int
    new_L0: int
    new_L1: int
    new_L2: int | None = None
    peak_L0: int
    peak_L1: int
    peak_L2: int = 0
    new_so_far: int
    left_out: int = 0
    crowded: int = 0
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
    def rate_L2(self) -> float | None:
        """New claims over the peak at L2, 0 to 1; None without an embedder."""
        return None if self.new_L2 is None else self.new_L2 / max(self.peak_L2, 1)

    @property
    def rate(self) -> float:
        """The lowest rate of all levels, 0 to 1. Source: novelty spec, 2.2."""
        rate = min(self.rate_L0, self.rate_L1)
        return rate if self.rate_L2 is None else min(rate, self.rate_L2)

    @property
    def new_claims(self) -> int:
        """New claims at the level that found the fewest."""
        new = min(self.new_L0, self.new_L1)
        return new if self.new_L2 is None else min(new, self.new_L2)

    def to_dict(self) -> dict[str, Any]:
        """Returns the counts, the rates and the readings in the wire form."""
        wire: dict[str, Any] = {
            "claims": self.claims,
            "new_claims": self.new_claims,
            "new_claims_L0": self.new_L0,
            "new_claims_L1": self.new_L1,
            "novelty_rate": round(self.rate, 6),
            "novelty_rate_L0": round(self.rate_L0, 6),
            "novelty_rate_L1": round(self.rate_L1, 6),
        }
        if self.rate_L2 is not None:
            wire |= {"new_claims_L2": self.new_L2, "novelty_rate_L2": round(self.rate_L2, 6)}
        if self.left_out:
            wire["claims_left_out"] = self.left_out
        if self.crowded:
            wire["claims_crowded"] = self.crowded
        return wire


def claim_tokens(form: str, tokens: TokenForm) -> frozenset[str]:
    """Returns the tokens of a claim for its Jaccard; a claim without stems keeps its words.

    Args:
        form: The normal form of the claim.
    """
    stems = stem_tokens(form) if tokens is TokenForm.STEMS else frozenset()
    return stems or frozenset(form.split())


def is_low(novelty: RoundNovelty, rules: NoveltyRules, *, asks_anew: bool = False) -> bool:
    """Returns True if a round brought next to nothing.

    Args:
        asks_anew: True if it asks something that was not asked before.

    Source: novelty spec, 2.3, by the peak. By the round's own claims is ours: beside a very long round every
    short one has a low rate, also where all that it says is new; and one new sentence of six is not low where
    no round brings more than six. A turn that only asks has no claims.
    """
    if not novelty.claims:
        return not (rules.questions_count and asks_anew)
    by_peak = rules.low_by is LowBy.PEAK
    return (novelty.rate if by_peak else novelty.new_claims / novelty.claims) < rules.low_below


def classify(novelty: RoundNovelty, low_run: int, rules: NoveltyRules) -> Novelty:
    """Returns the class of a round that ends `low_run` low rounds.

    One low round may be a pause: it is MEDIUM.

    Source: novelty spec, 2.3 and 2.4.
    """
    if low_run and low_run >= rules.low_rounds + (novelty.new_so_far < rules.thin_below):
        return Novelty.LOW
    return Novelty.HIGH if novelty.rate > rules.high_above else Novelty.MEDIUM


class _Verdict(NamedTuple):
    """Verdict of one level on a claim."""

    is_new: bool
    nearest: Nearest | None
    reversal: tuple[Nearest, Contrast] | None


class NoveltyMeter(State):
    """Memory of every claim said so far, which finds how new the claims of the next round are.

    The work grows with the length of a round and not with its square, also where its claims are all alike, as
    the lines of a log are: of a round 512 different claims are read, and each is compared with a bounded
    number of similar ones. `RoundNovelty` counts what was left out.

    Args:
        rules: Thresholds, token form and contrast guard.
        explain: Find the most similar claim for new claims too, by a search over everything.
        embedder: Adds L2.
    """

    _claims: list[tuple[str, int]]  # normal form and the round that said it first, by number
    _peaks: list[int]
    _new_so_far: int

    def __init__(
        self, rules: NoveltyRules, *, explain: bool = False, embedder: Embedder | None = None
    ) -> None:
        self._rules = rules
        self._explain = explain
        self._claims = []
        self._numbers: dict[str, int] = {}  # normal form -> its number in both indexes
        self._index = JaccardIndex(rules.jaccard_at_least, crowd=_ALIKE)
        self._meanings = SemanticIndex(embedder, cosine_at_least(rules, embedder.model)) if embedder else None
        self._peaks = [*_NO_PEAKS]
        self._new_so_far = 0
        self._crowded = 0

    def update(self, claims: Iterable[str], number: int) -> RoundNovelty:
        """Compares the claims of round `number` with everything said before, and remembers them.

        Raises:
            SemanticError: The embedder failed. Nothing is remembered then.
        """
        total = left_out = 0
        forms: dict[str, str] = {}
        for claim in claims:
            form = normal_form(claim)
            if not form:
                continue
            total += 1
            if form not in forms:
                if len(forms) < _MOST_CLAIMS:
                    forms[form] = claim
                else:
                    left_out += 1
        crowded = self._crowded
        unseen = [form for form in forms if form not in self._numbers]
        meanings = dict(zip(unseen, self._meanings.add(unseen), strict=True)) if self._meanings else {}
        readings = tuple(
            self._reading(form, claim, number, meanings.get(form)) for form, claim in forms.items()
        )
        new = [
            sum(reading.new_L0 for reading in readings),
            sum(reading.new_L1 for reading in readings),
            sum(reading.new_L2 is True for reading in readings),
        ]
        self._peaks = [max(pair) for pair in zip(self._peaks, new, strict=True)]
        self._new_so_far += min(new if self._meanings else new[:2])
        return RoundNovelty(
            total_claims=total,
            claims=len(forms),
            new_L0=new[0],
            new_L1=new[1],
            new_L2=new[2] if self._meanings else None,
            peak_L0=self._peaks[0],
            peak_L1=self._peaks[1],
            peak_L2=self._peaks[2],
            new_so_far=self._new_so_far,
            left_out=left_out,
            crowded=self._crowded - crowded,
            readings=readings,
        )

    def restore(self, state: Any) -> None:
        """Takes up what `to_state` of another meter with the same rules gave.

        With an embedder, every claim is embedded again; one with a cache on disk makes that cheap.
        """
        super().restore(state)
        for number, (form, _) in enumerate(self._claims):
            self._numbers[form] = number
            self._index.add(claim_tokens(form, self._rules.tokens))
        if self._meanings:
            self._meanings.add(list(self._numbers))
        if len(self._peaks) != len(_NO_PEAKS):
            raise ValueError(f"{len(self._peaks)} peaks: expected {len(_NO_PEAKS)}")

    def _reading(self, form: str, claim: str, number: int, meaning: SemanticReading | None) -> ClaimReading:
        first = self._numbers.get(form)
        if first is not None:
            same = self._nearest((first, 1.0))
            new_l2 = False if self._meanings else None
            return ClaimReading(text=claim, new_L0=False, new_L1=False, new_L2=new_l2, nearest=same)
        tokens = claim_tokens(form, self._rules.tokens)
        closest = self._index.nearest(tokens) if self._explain else None
        crowded = self._index.crowded
        matches = self._index.add(tokens)
        self._crowded += self._index.crowded > crowded or len(matches) > _MOST_CONTRASTS
        self._numbers[form] = len(self._claims)
        self._claims.append((form, number))
        words = self._verdict(
            form,
            ((match.number, match.similarity) for match in matches),
            (closest.number, closest.similarity) if closest else None,
        )
        sense = self._verdict(form, meaning.matches, meaning.nearest) if meaning else None
        reversal = words.reversal or (sense.reversal if sense else None)
        return ClaimReading(
            text=claim,
            new_L0=True,
            new_L1=words.is_new,
            new_L2=sense.is_new if sense else None,
            nearest=words.nearest,
            nearest_L2=sense.nearest if sense else None,
            reversed=reversal[0] if reversal else None,
            contrast=reversal[1] if reversal else None,
        )

    def _verdict(
        self, form: str, matches: Iterable[tuple[int, float]], closest: tuple[int, float] | None
    ) -> _Verdict:
        """Returns new, unless one of the matches does not contradict it."""
        reversal: tuple[Nearest, Contrast] | None = None
        for match in islice(matches, _MOST_CONTRASTS):
            other = self._claims[match[0]][0]
            opposed = contrast(form, other) if self._rules.contrast_guard else None
            if opposed is None:
                return _Verdict(is_new=False, nearest=self._nearest(match), reversal=None)
            reversal = reversal or (self._nearest(match), opposed)
        return _Verdict(is_new=True, nearest=self._nearest(closest) if closest else None, reversal=reversal)

    def _nearest(self, match: tuple[int, float]) -> Nearest:
        form, number = self._claims[match[0]]
        return Nearest(text=form, round=number, similarity=match[1])
