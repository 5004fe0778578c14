"""Blockers in other words: sentences that put off what has to be settled first, found by meaning.

"We'll figure out auth later" names no blocker, and is one. Topics would drown that, so the examples come in
pairs: what is put off in the first sentence is settled, planned or plainly missing in the second, and the
direction from the mean of the second ones to the mean of the first ones is what is left of meaning once the
topics cancel. How far a sentence lies along that direction and how near it is to some of the examples is its
score. A wording that often puts things off, such as "later", lowers the bar, and never decides alone.

Source: novelty spec, 5.5 (clause F05).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.convergence.gaming import Gaming, GamingFlag
from ebbtide.events.transcript import Round
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.normal_form import normal_form
from ebbtide.text.phrases import anywhere

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: A deferral, and a sentence about the same that is none.
PAIRS = (
    ("we will figure out the login later", "the login works and is tested"),
    ("let's not worry about who may see the files for now", "only editors may see the files"),
    ("somebody can sort out the passwords at some point", "rita sorts out the passwords on monday"),
    (
        "we can come back to the security question another time",
        "the security question was answered in the review",
    ),
    ("just assume that the key will be there by then", "the key arrived and was installed"),
    ("leave the licence problem for a later phase", "the licence problem was solved in the first phase"),
    ("we'll cross that bridge when we come to it", "the team crossed the bridge an hour later"),
    (
        "how the parts fit together can be worked out down the road",
        "the parts fit together as the drawing shows",
    ),
    (
        "skip the approval for the moment and hope that it comes through",
        "the approval came through on thursday",
    ),
    ("we postpone the decision about hosting", "we decided to host it in frankfurt"),
    ("the shipping costs are still to be determined", "the shipping costs are four euros a parcel"),
    ("let's pretend that the library already supports it", "the library supports it since version two"),
    ("for now we ignore the failing test", "the failing test was fixed"),
    ("we can ask the lawyers after the launch", "the lawyers have to agree before the launch"),
    (
        "we do not have the money yet but it will turn up somehow",
        "we cannot start because we do not have the money",
    ),
    ("that is a problem for another day", "that problem stops us today"),
    ("someone will have to deal with the old data eventually", "karim moves the old data on friday at ten"),
    (
        "the contract can wait until everything else is done",
        "we wait for the contract and nothing else can be done",
    ),
    ("let's move on and see what happens with the permit", "the office refused the permit"),
    ("who is responsible can be settled in due course", "the sales team is responsible"),
    (
        "we can always add error handling in some future version",
        "the next version on 2 june adds error handling",
    ),
    (
        "the supplier has not replied but that should not hold us up",
        "the supplier has not replied so we are blocked",
    ),
    ("let's park the discussion about prices", "the discussion about prices ended with a vote"),
    ("maybe we look at the legal side once people use it", "people use it every day and like it"),
    ("backups are not important at this stage", "backups run every night at two"),
    ("we'll deal with refunds if they ever come up", "a refund is paid within five days"),
    ("it is too early to think about support", "support answers within an hour"),
    ("we'll find some way around the missing parts", "the missing parts are delivered tomorrow at noon"),
)
#: What people say of the future, of wishes and of duties without putting anything off.
PLAIN = (
    "we should spend more money on schools",
    "this law will help poor families in the future",
    "one day we may need the medicine",
    "i will not come back to this place",
    "i hope they get better",
    "once you send the number we can go on",
    "please call us if you need help later",
    "this can be done automatically when the file changes",
)
PUTS_OFF = anywhere(
    "deferral.wording",
    r"later|after(?:wards?)?|eventually|some ?day|future|yet|until|once|when|as we go|in due course"
    r"|aside|for (?:now|the (?:moment|time being))|(?:right|not) now|at (?:some|this) (?:point|stage)"
    r"|some (?:point|stage|time)|another (?:day|time|meeting|topic)|down the (?:road|line)"
    r"|someone|somebody|whoever|somehow|let['\u2019]s|wait|hope|assume|pretend|ignore|defer|postpone"
    r"|to be (?:decided|determined|clarified)|tbd",
)
_NEAREST = 3  # examples
_ALONG = 4.0  # weight of the direction beside nearness, which has the wider range
_BAR = 0.54
_BAR_WITH_WORDING = 0.38


class Deferrals:
    """Finder of deferrals in what a round says.

    Args:
        embedder: Source of the vectors. The bars were measured with the default model.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._examples = embedder.embed([deferral for deferral, _ in PAIRS])
        deferral = self._examples.mean(axis=0)
        settled = embedder.embed([plain for _, plain in PAIRS]).mean(axis=0)
        other = (settled + embedder.embed(PLAIN).mean(axis=0)) / 2
        self._direction: npt.NDArray[np.float32] = deferral - other
        self._middle = float(self._direction @ (deferral + other)) / 2

    def find(self, item: Round) -> tuple[GamingFlag, ...]:
        """Returns one flag with every deferral of the round, if there is one."""
        sentences = dict.fromkeys((*item.claims, *item.decisions, *item.next_actions, item.summary or ""))
        texts = [text for text in sentences if normal_form(text)]
        deferrals = tuple(text for text, put_off in zip(texts, self.put_off(texts), strict=True) if put_off)
        if not deferrals:
            return ()
        puts_off = "sentence puts" if len(deferrals) == 1 else "sentences put"
        return (
            GamingFlag(
                kind=Gaming.BLOCKER_EVASION,
                round=item.number,
                rule="blocker.deferred",
                evidence=f"{len(deferrals)} {puts_off} something off",
                texts=deferrals,
            ),
        )

    def put_off(self, texts: list[str]) -> list[bool]:
        """Returns for each text, in order, True if it is a deferral."""
        if not texts:
            return []
        forms = [normal_form(text) for text in texts]
        return [
            score >= (_BAR_WITH_WORDING if PUTS_OFF.find(form) else _BAR)
            for form, score in zip(forms, self._scores(forms), strict=True)
        ]

    def _scores(self, forms: list[str]) -> list[float]:
        vectors = self._embedder.embed(forms)
        nearness = vectors @ self._examples.T
        nearness.sort(axis=1)
        along = vectors @ self._direction - self._middle
        scores: list[float] = (nearness[:, -_NEAREST:].mean(axis=1) + _ALONG * along).tolist()
        return scores
