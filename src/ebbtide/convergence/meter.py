"""The convergence meter: rounds in, one recommendation out.

Source: novelty spec, sections 2 to 4; rubric, sections 1 to 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Self

from ebbtide.codec import restore_state, state_of
from ebbtide.convergence.agreement import read_agreement
from ebbtide.convergence.composite import Composite
from ebbtide.convergence.consensus import ConsensusMeter, ConsensusReading
from ebbtide.convergence.consensus_signal import consensus_signal, still_open
from ebbtide.convergence.deferrals import Deferrals
from ebbtide.convergence.gaming import GamingFlag, RoundFacts, find_gaming
from ebbtide.convergence.novelty import NoveltyMeter, is_low
from ebbtide.convergence.novelty import classify as classify_novelty
from ebbtide.convergence.readiness import Readiness, assess_readiness
from ebbtide.convergence.recommendation import Recommendation, recommend, with_last_words
from ebbtide.convergence.score import ConvergenceScore, RoundReading, RoundSummary
from ebbtide.convergence.signal import Signal
from ebbtide.convergence.stability import StabilityMeter
from ebbtide.convergence.witness import WorkOutcome
from ebbtide.engine_state import EngineState
from ebbtide.errors import ConfigError, TranscriptError, expect, shown
from ebbtide.events.transcript import LISTS, Round, Transcript
from ebbtide.profile import Profile
from ebbtide.text.embedding.vectors import Embedder

_RECENT = 16  # rounds that a round's size is compared with; bounded, so that a long run costs no more a round


class ConvergenceMeter(EngineState):
    """Meter of a conversation, round by round.

    `update` learns and returns what it made of the round; `score` reads and changes nothing; `to_state` and
    `from_state` carry the meter over a restart. The result depends on the rounds alone: no clock, no chance.

    Args:
        explain: Find the most similar claim for new claims too, which takes a search over everything said.
        embedder: Turns the semantic level on: L2 novelty, stability, and deferrals found by meaning.

    >>> meter = ConvergenceMeter()
    >>> meter.update(Round(number=1, claims=("The cache is cold.",))).recommendation.signal.value
    'CONTINUE'
    """

    _MAGIC = b"EBBC\x01"
    _SCHEMA = 2
    _OWNER = "a meter"

    _claims: NoveltyMeter
    _question_novelty: NoveltyMeter
    _consensus: ConsensusMeter | None
    _stability: StabilityMeter | None
    _outcome: WorkOutcome | None
    _composite: Composite
    _rounds: dict[int, RoundSummary]
    _flags: list[GamingFlag]
    _questions: tuple[str, ...]
    _low_run: list[Readiness]
    _latest: Recommendation | None

    def __init__(
        self, profile: Profile = Profile.DEFAULT, *, explain: bool = False, embedder: Embedder | None = None
    ) -> None:
        expect("profile", profile, Profile)
        if embedder is not None and not callable(getattr(embedder, "embed", None)):
            raise TypeError(f"embedder: expected an Embedder or None, not {shown(embedder)}")
        self._profile = profile
        self._explain = explain
        self._embedder = embedder
        self._claims = NoveltyMeter(profile.novelty, explain=explain, embedder=embedder)
        self._question_novelty = NoveltyMeter(profile.novelty)
        self._consensus = (
            ConsensusMeter(alike=profile.novelty, embedder=embedder) if profile.consensus.counts else None
        )
        self._stability = StabilityMeter(embedder) if embedder else None
        self._deferrals = Deferrals(embedder) if embedder else None
        self._outcome = WorkOutcome() if profile.stop.needs_witness else None
        self._composite = Composite(rounds_needed=profile.novelty.low_rounds)
        self._rounds = {}
        self._flags = []
        self._questions = ()
        self._low_run = []
        self._latest = None

    def update(self, item: Round) -> RoundReading | None:
        """Learns one more round.

        Returns:
            The reading of it; None for a round that was counted already, so that a source that delivers
            twice does no harm.

        Raises:
            TranscriptError: A round that is older than the latest one, and was not counted; or a field of it
                is no text or number.
            TypeError: It is no round.
        """
        expect("item", item, Round)
        _check(item)
        if item.number in self._rounds:
            return None
        latest = next(reversed(self._rounds), 0)
        if item.number < latest:
            raise TranscriptError(
                f"round {item.number} came after round {latest}",
                path="round",
                hint="Feed the rounds in the order of their numbers.",
            )
        profile = self._profile
        novelty = self._claims.update(item.claims, item.number)
        question_novelty = self._question_novelty.update(item.open_questions, item.number)
        readiness = assess_readiness(item, len(self._questions) if self._rounds else None, profile.readiness)
        agreement = read_agreement(item, novelty) if self._rounds else None
        stability = self._stability.update(item) if self._stability else None
        low = is_low(novelty, profile.novelty, asks_anew=question_novelty.new_claims > 0)
        if low:
            self._low_run.append(readiness.classification)
        else:
            self._low_run.clear()
        alike = stability.rounds if stability else None
        self._composite = self._composite.after(
            low=low,
            stable=None if alike is None else alike >= profile.stop.stable_at_least,
            blocked=readiness.blocked,
        )
        standing = None
        if self._outcome is not None:
            dry = not novelty.new_claims and not question_novelty.new_claims
            standing = self._outcome.update(item, readiness, low=low, dry=dry)
        novelty_class = classify_novelty(novelty, len(self._low_run), profile.novelty)
        recommendation = recommend(
            novelty=novelty_class,
            readiness=readiness,
            readiness_of_low_run=tuple(self._low_run),
            rate=novelty.rate,
            rounds=len(self._rounds) + 1,
            # The first round sets the peak, so it is never low: k low rounds need one more.
            rounds_needed=profile.novelty.low_rounds + 1,
            rules=profile.stop,
            standing=standing,
        )
        consensus = self._consensus.update(item) if self._consensus else None
        recommendation = self._with_consensus(recommendation, consensus, blocked=readiness.blocked)
        facts = RoundFacts(
            item=item,
            novelty=novelty,
            novelty_class=novelty_class,
            readiness=readiness,
            questions_before=self._questions,
            totals_before=[
                earlier.total_claims for earlier in islice(reversed(self._rounds.values()), _RECENT)
            ],
        )
        flags = find_gaming(facts, profile.gaming, profile.novelty)
        if self._deferrals:
            flags += self._deferrals.find(item)
        reading = RoundReading(
            number=item.number,
            agent=item.agent,
            novelty=novelty,
            readiness=readiness,
            recommendation=recommendation,
            agreement=agreement,
            stability=stability,
            consensus=consensus,
            flags=flags,
        )
        self._rounds[item.number] = RoundSummary.of(item, reading)
        self._flags.extend(flags)
        self._questions = item.open_questions
        self._latest = recommendation
        return reading

    def score(self) -> ConvergenceScore:
        """Returns the score after the rounds so far.

        Raises:
            TranscriptError: There was no round yet.
        """
        if self._latest is None:
            raise TranscriptError("there are no rounds", path="rounds", hint="Feed at least one round first.")
        return ConvergenceScore(
            profile=self._profile.name,
            rounds=tuple(self._rounds.values()),
            recommendation=with_last_words(self._latest, self._outcome.report() if self._outcome else None),
            flags=tuple(self._flags),
            composite=self._composite,
            semantic=self._embedder.model if self._embedder else None,
            consensus=self._consensus.latest if self._consensus else None,
        )

    def content(self) -> dict[str, Any]:
        """Returns everything that the meter knows, as plain data that JSON can carry."""
        return {
            "profile": self._profile.to_dict(),
            "semantic": self._embedder is not None,
            **state_of(self),
        }

    def restore(self, content: Mapping[str, Any]) -> None:
        """Takes up what `content` gave; for a meter of the same profile that has read nothing yet."""
        restore_state(self, content)

    @classmethod
    def _blank_for(
        cls, content: Mapping[str, Any], *, explain: bool = False, embedder: Embedder | None = None
    ) -> Self:
        """Returns a meter with the profile of the state.

        Vectors are not in it: every claim is embedded again.
        """
        if content["semantic"] != (embedder is not None):
            had = "without" if embedder else "with"
            raise ConfigError(f"the state is of a meter {had} an embedder; give it back the same way")
        profile = Profile.from_dict({"base": "spec", **content["profile"]})
        return cls(profile, explain=explain, embedder=embedder)

    def _with_consensus(
        self, recommendation: Recommendation, reading: ConsensusReading | None, *, blocked: bool
    ) -> Recommendation:
        """Returns the signal of the agents' answers, if there are some; nothing ships while it is blocked."""
        if self._consensus is None or not self._consensus.is_open:
            return recommendation
        verdict = consensus_signal(reading, self._profile.consensus) if reading else None
        if blocked and (verdict is None or verdict.signal is Signal.SHIP):
            return recommendation
        verdict = verdict or still_open()
        if verdict.signal is recommendation.signal is Signal.CONTINUE:
            return recommendation
        return replace(
            recommendation,
            signal=verdict.signal,
            rule=verdict.rule,
            caveat=None,
            rationale=f"{verdict.rationale} {recommendation.rationale}",
            hint=verdict.hint,
            witness=verdict.witness,
        )

    def _settings(self) -> dict[str, Any]:
        return {"explain": self._explain, "embedder": self._embedder}


def score_transcript(
    transcript: Transcript | Mapping[str, Any],
    profile: Profile = Profile.SPEC,
    *,
    embedder: Embedder | None = None,
) -> dict[str, Any]:
    """Scores a whole transcript: the fold of `ConvergenceMeter.update` over its rounds.

    Args:
        transcript: In memory, or in the wire form (transcript format 0.1).
        profile: Thresholds. This is the spec's documented function, so it follows the spec by default.
        embedder: Turns the semantic level on.

    Returns:
        The output object of the novelty spec, 4.3.

    Raises:
        TranscriptError: The wire form has another shape, or there are no rounds.
    """
    if not isinstance(transcript, Transcript):
        transcript = Transcript.from_dict(transcript)
    meter = ConvergenceMeter(profile, embedder=embedder)
    for item in transcript.rounds:
        meter.update(item)
    return meter.score().to_dict()


def _check(item: Round) -> None:
    if type(item.number) is not int:
        raise TranscriptError(f"{shown(item.number)}: expected a whole number", path="round")
    for name in ("agent", "text", "summary"):
        value = getattr(item, name)
        if value is not None and not isinstance(value, str):
            raise TranscriptError(f"{shown(value)}: expected a text or None", path=name)
    for name in LISTS:
        texts = getattr(item, name)
        if not isinstance(texts, tuple | list) or not all(isinstance(text, str) for text in texts):
            raise TranscriptError(f"{shown(texts)}: expected texts", path=name)
