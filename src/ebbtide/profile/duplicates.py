"""Thresholds for a decision that was taken already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ebbtide.checks import flag, member, number, share, whole
from ebbtide.profile.convergence import TokenForm


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRules:
    """Thresholds for a decision that repeats an earlier one.

    The values without arguments are those of the spec.

    Args:
        window_s: Seconds that an earlier decision is looked back for, both ends included; None looks at all.
        jaccard_above: Token Jaccard above which two texts may be one decision; this value itself is too
            little.
        tokens: WORDS are the white-space separated words of the lower-cased text, as in the spec. STEMS
            lose punctuation and endings, and cut scripts without spaces into pairs of characters.
        exact_first: Texts of one normal form are one decision, whatever else there is.
        contrast_guard: A text that reverses, replaces, reorders or limits something is no duplicate; it may
            reverse the earlier one.
        content_tokens: Tokens beside function words that both texts need before similarity counts. Under
            that, only one normal form makes a duplicate.
        compared_at_most: Newest rows of the window whose words are compared; the others are compared by
            normal form alone, and the verdict says so. None compares all.
        rivals_at_most: Decisions that share most of the subject of a text and are read for one that it
            contradicts, of all sessions and whatever their age; 0 reads none.

    Source: decision quality gate, layer 2 (clause Q06). The last five are ours, and off in the SPEC profile.
    """

    SPEC: ClassVar[DuplicateRules]
    DEFAULT: ClassVar[DuplicateRules]

    window_s: float | None = 300.0
    jaccard_above: float = 0.6
    tokens: TokenForm = TokenForm.WORDS
    exact_first: bool = False
    contrast_guard: bool = False
    content_tokens: int = 0
    compared_at_most: int | None = None
    rivals_at_most: int = 0

    def __post_init__(self) -> None:
        if self.window_s is not None:
            number("window_s", self.window_s, least=0, expected="seconds, 0 or more")
        share("jaccard_above", self.jaccard_above)
        object.__setattr__(self, "tokens", member("tokens", self.tokens, TokenForm))
        flag("exact_first", self.exact_first)
        flag("contrast_guard", self.contrast_guard)
        whole("content_tokens", self.content_tokens, 0)
        if self.compared_at_most is not None:
            whole("compared_at_most", self.compared_at_most, 0)
        whole("rivals_at_most", self.rivals_at_most, 0)


DuplicateRules.SPEC = DuplicateRules()
DuplicateRules.DEFAULT = DuplicateRules(
    tokens=TokenForm.STEMS,
    exact_first=True,
    contrast_guard=True,
    content_tokens=4,
    compared_at_most=1000,
    rivals_at_most=16,
)
