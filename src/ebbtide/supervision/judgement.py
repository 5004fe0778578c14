"""Judgement of what each engine reports: it becomes verdicts that hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ebbtide.budget.limit_alerts import LimitAlert, LimitAlerts
from ebbtide.budget.limits import LimitKind
from ebbtide.budget.shared.budget_refusal import BudgetRefusal
from ebbtide.budget.tally import UNITS
from ebbtide.convergence.signal import Signal
from ebbtide.divergence.detector_table import is_for_person
from ebbtide.divergence.detectors.spend import CACHE_DISCOUNT, SpentSoFar
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.signals import SPENDING, LoopSignal, Measurement, Unit
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.active_verdicts import BUDGET, BURN, ROUNDS, ActiveVerdicts, Subject
from ebbtide.supervision.chain_state import ChainState
from ebbtide.supervision.facts import BudgetFacts, BurnFacts, DryRoundFacts, Facts, LimitFacts, LoopFacts
from ebbtide.supervision.ladder import (
    BUDGET_STEPS,
    CHANT_REPORTS,
    LIMIT_STEPS,
    PERSON_STEPS,
    ROUND_STEPS,
    SPENDING_TWICE,
    STEPS,
    SUSPECT_TIMES,
    SUSPICION_STEPS,
    Action,
    Cause,
)
from ebbtide.supervision.listener import Listener
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.verdict import Verdict

_EQUAL_CALLS = (LoopKind.REPEAT, LoopKind.CYCLE)


class Judgement:
    """Takes what loops, limits, rounds and the joint rule report, and puts the verdicts where they hold.

    Args:
        shadow: Whether nothing is to be done about any of it.
        listener: Called with everything that is reported.

    Attributes:
        run: The verdicts that are about the run as a whole.
        event: Number of the latest event in the run.
        due: The verdicts that came at this event.
    """

    def __init__(self, profile: Profile, *, shadow: bool, listener: Listener | None) -> None:
        self.run = ActiveVerdicts()
        self.event = 0
        self.due: list[Verdict] = []
        self.all_clear = Verdict(shadow=shadow)
        self._profile = profile
        self._rules = profile.supervision
        self._shadow = shadow
        self._listener = listener
        # Calls without news from which the joint rule is worth a look, where there is no conversation.
        least = self._rules.joint_from
        self._flat_from = 1 << 62 if least is None else -int(-least / flatness(profile, 1, 0) // 1)

    def count_losses(self, chains: int) -> None:
        """Note how many chains were dropped: from then on every verdict says so."""
        if chains != self.all_clear.dropped_chains:
            self.all_clear = replace(self.all_clear, dropped_chains=chains)

    def answer(self, chain: ChainState | None) -> Verdict:
        """Returns the strictest verdict of this event, or a stricter ending that holds; else allow."""
        verdict = self.all_clear
        if self.due:
            verdict = max(self.due, key=lambda due: due.rank)
            if verdict.action is Action.NUDGE and len(self.due) > 1:
                others = [due.facts for due in self.due if due is not verdict and due.facts is not None]
                verdict = replace(verdict, more=tuple(others))
            self.due = []
        ending = self.ending(chain)
        if ending is not None and ending.rank > verdict.rank:
            return ending
        return verdict

    def ending(self, chain: ChainState | None) -> Verdict | None:
        """The finalize, escalate or stop that holds for a chain; that of the run goes before its equals."""
        of_run = self.run.ending  # which is not a matter of turns
        of_chain = None if chain is None else chain.active.ending_at(chain.turn)
        if of_chain is None or (of_run is not None and of_run.rank >= of_chain.rank):
            return of_run
        return of_chain

    def loops(self, chain: ChainState, loops: LoopState, signals: Iterable[LoopSignal]) -> None:
        """Loops, or spending, were reported of a chain."""
        for signal in signals:
            spending = signal.kind in SPENDING
            if signal.kind is LoopKind.SPEND_WITHOUT_NEWS and not self._is_flat(chain):
                continue
            if self.ignores(signal):
                if self._listener is not None:
                    self._listener.ignored(("loop", signal.chain_id, signal.id))
                continue
            subject = ("loop", signal.id)
            goes_on = signal.copies >= SPENDING_TWICE if spending else signal.report > 1
            # A stream takes no nudge: it is cut where it chants on.
            is_deaf = signal.kind is LoopKind.CHANTING and signal.report >= CHANT_REPORTS
            is_later = is_deaf or chain.was_reported(subject)
            if goes_on and signal.is_proof and not spending and not is_later:
                # The model could not hear of it yet: what counts is the first call of a later turn.
                loops.registry.report_next(bytes.fromhex(signal.id))
            goes_on = goes_on and is_later
            verdict = self.loop_verdict(signal, chain, goes_on=goes_on)
            if signal.report == 1 or goes_on or subject not in chain.active.items:
                chain.report(subject)
                self._put(chain.active, subject, verdict, chain.turn)
            if self._listener is not None:
                self._listener.loop(signal, verdict)

    def ignores(self, signal: LoopSignal) -> bool:
        """True if a loop, or spending, is not to be reported."""
        ignore = self._profile.ignore
        return bool(ignore) and ignore.covers(signal.kind.value, signal.tools)

    def loop_verdict(self, signal: LoopSignal, chain: ChainState | None, *, goes_on: bool) -> Verdict:
        """A loop, or spending, as a verdict."""
        cause = Cause.SPENDING if signal.kind in SPENDING else Cause.DIVERGENCE
        answers_known = chain is None or signal.is_stated or chain.answers_known(signal.tools)
        facts = LoopFacts(signal=signal, answers_known=answers_known, goes_on=goes_on)
        proves = (
            signal.is_proof
            or cause is Cause.SPENDING
            or (
                signal.kind in _EQUAL_CALLS
                and not signal.is_stated
                and signal.copies >= SUSPECT_TIMES * signal.threshold
            )
        )
        steps = STEPS[cause] if proves else SUSPICION_STEPS
        if is_for_person(signal.kind):
            steps = PERSON_STEPS
        return self._verdict(steps.again if goes_on else steps.first, cause, facts, signal.chain_id)

    def limits(self, alerts: Iterable[LimitAlert]) -> None:
        """Limits have come nearer."""
        for alert in alerts:
            verdict = self.limit_verdict(alert)
            self._put(self.run, ("limit", alert.kind.value), verdict, 0)
            if self._listener is not None:
                self._listener.verdict(verdict, 1)

    def limit_verdict(self, alert: LimitAlert) -> Verdict:
        """A limit that has come nearer, as a verdict."""
        return self._verdict(LIMIT_STEPS[alert.nearness], Cause.LIMIT, LimitFacts(alert=alert), None)

    def budget(self, refusal: BudgetRefusal | None) -> None:
        """A budget does not allow the next call; None where all of them do."""
        before = self.run.items.get(BUDGET)
        if refusal is None:
            if before is not None:
                self.run.lift([BUDGET])
            return
        verdict = self._verdict(BUDGET_STEPS[refusal.reason], Cause.LIMIT, BudgetFacts(refusal=refusal), None)
        self._put(self.run, BUDGET, verdict, 0)
        if self._listener is not None and (before is None or before.verdict.action is not verdict.action):
            self._listener.verdict(verdict, 1)

    def rounds(self, chain: ChainState, new_rounds: Iterable[ReadRound]) -> None:
        """Judge rounds as they are read.

        Args:
            chain: Whose conversation it is.
            new_rounds: The rounds; between two of them its state is that after the first.
        """
        rounds = chain.rounds
        for item in new_rounds:
            if self._listener is not None:
                self._listener.round(chain.name, item)
            if not rounds.low_run:
                chain.lift_rounds()
                chain.progress_made(item.moment)
            elif (
                rounds.rounds_without_new_claims >= self._rules.dry_rounds
                and rounds.latest is not Signal.CONTINUE
            ):
                self.dry_rounds(chain, rounds.rounds_without_new_claims, rounds.without_new_claims_since)

    def dry_rounds(self, chain: ChainState, count: int, first_event: int) -> None:
        """So many rounds in a row brought nothing new."""
        signal = chain.rounds.latest
        if chain.excused or signal is None:
            return
        if signal is Signal.SHIP and chain.goes_in_circles:
            signal = (
                Signal.ESCALATE
            )  # what is said no longer changes since nothing is done, not since it is done
        facts = DryRoundFacts(rounds=count, ready=signal is Signal.SHIP)
        verdict = self._verdict(ROUND_STEPS[signal], Cause.CONVERGENCE, facts, chain.name)
        if self._is_ignored(verdict):
            return
        if self._listener is not None:
            self._listener.verdict(verdict, first_event)
        before = chain.active.items.get(ROUNDS)
        if before is None or before.verdict.action is not verdict.action:
            self._put(chain.active, ROUNDS, verdict, chain.turn)

    def spending(
        self, chain: ChainState, loops: LoopState, idle_calls: int, alerts: LimitAlerts | None
    ) -> None:
        """Look whether spending and flatness together are enough."""
        rounds = chain.rounds
        least = self._rules.joint_from
        if least is None or (idle_calls < self._flat_from and not rounds.idle):
            return
        dry_or_idle = max(rounds.rounds_without_new_claims, rounds.idle)
        if flatness(self._profile, calls_without_news(loops), dry_or_idle) < least:
            return
        left_cost = None if alerts is None else alerts.left(LimitKind.COST_USD)
        left_tokens = None if alerts is None else alerts.left(LimitKind.TOKENS)
        remaining = {"left_cost": left_cost, "left_tokens": left_tokens}
        measured = burn(self._profile, loops, chain.progress, rounds.rounds_without_new_claims, **remaining)
        if measured.spending < least:
            return
        if rounds.waiting:
            self.rounds(chain, rounds.catch_up())
            measured = burn(
                self._profile, loops, chain.progress, rounds.rounds_without_new_claims, **remaining
            )
        if measured.share < least:
            return
        facts = measured.facts
        goes_on = measured.share >= self._rules.joint_escalates_from and chain.was_reported(BURN)
        steps = STEPS[Cause.JOINT]
        verdict = self._verdict(steps.again if goes_on else steps.first, Cause.JOINT, facts, chain.name)
        if self._is_ignored(verdict):
            return
        if self._listener is not None:
            self._listener.verdict(verdict, max(self.event - facts.calls - facts.rounds + 1, 1))
        before = chain.active.items.get(BURN)
        is_new = before is None and (goes_on or not chain.was_reported(BURN))
        if is_new or (before is not None and goes_on and before.verdict.action is not verdict.action):
            chain.report(BURN)
            self._put(chain.active, BURN, verdict, chain.turn)

    def _is_ignored(self, verdict: Verdict) -> bool:
        """True if rounds, or the joint rule, are not to be reported; the listener hears of it."""
        kind = verdict.kind or ""
        if not self._profile.ignore.covers(kind):
            return False
        if self._listener is not None:
            self._listener.ignored((kind, verdict.chain_id))
        return True

    def _is_flat(self, chain: ChainState) -> bool:
        """True if nothing has come for some turns by anybody's measure, not by the tools' alone."""
        self.rounds(chain, chain.rounds.catch_up())
        return chain.turn - chain.fresh_turn >= self._rules.flat_turns

    def _put(self, active: ActiveVerdicts, subject: Subject, verdict: Verdict, turn: int) -> None:
        active.put(subject, verdict, turn)
        self.due.append(verdict)

    def _verdict(self, action: Action, cause: Cause, facts: Facts, chain_id: str | None) -> Verdict:
        return Verdict(
            action=action,
            cause=cause,
            facts=facts,
            event=self.event,
            chain_id=chain_id,
            shadow=self._shadow,
            dropped_chains=self.all_clear.dropped_chains,
        )


_STALE = 32  # calls, where the profile has no such rule


class Burn(NamedTuple):
    """Progress of spending and flatness towards a report, and its facts.

    Args:
        spending: Share of what spending alone needs to be reported, 0 and more.
        flatness: Share of what a lack of progress alone needs, 0 and more.
        facts: Calls and rounds since anything new, and the measure of spending that has come furthest.
    """

    spending: float
    flatness: float
    facts: BurnFacts

    @property
    def share(self) -> float:
        """The lesser of the two: both have to be there."""
        return min(self.spending, self.flatness)


def flatness(profile: Profile, calls: int, low_rounds: int) -> float:
    """Returns the flatness of a stretch: idle calls and rounds, as shares of their engines' needs, summed."""
    return calls / (profile.divergence.stale or _STALE) + low_rounds / (profile.novelty.low_rounds + 1)


def calls_without_news(loops: LoopState) -> int:
    """Calls since a new answer, or since a person or a long pause began things afresh."""
    answers, calls = loops.repetition.answers, loops.repetition.calls
    return calls - max(answers.latest_news, min(answers.start - 1, calls))


def burn(
    profile: Profile,
    loops: LoopState,
    progress: SpentSoFar,
    low_rounds: int,
    *,
    left_cost: float | None,
    left_tokens: float | None,
) -> Burn:
    """Returns the progress of spending and flatness towards a report.

    Args:
        profile: What each engine needs alone.
        progress: What was spent when a round last brought something new.
        low_rounds: Rounds since then.
        left_cost: What is left of the budget, in units of money; None where there is none.
    """
    spend, rules = loops.spend, profile.divergence
    calls = calls_without_news(loops)
    spent, before = spend.spent, max(spend.spent_at_news, progress)  # counts that only grow, together
    cost = (spent.cost - before.cost) / UNITS
    tokens = spent.tokens - before.tokens
    unpriced = (spent.unpriced - before.unpriced) // CACHE_DISCOUNT
    hour = spend.windows[-1]
    left_usd = None if left_cost is None else left_cost / UNITS
    measures = (
        # Were the stretch to last as long again as it has, what is left would be gone at 1.
        (Measurement(Unit.USD, cost, rules.usd_without_news or 0), rules.usd_without_news, None),
        (Measurement(Unit.TOKENS, unpriced, rules.tokens_without_news or 0), rules.tokens_without_news, None),
        (
            Measurement(Unit.USD, hour.cost / UNITS, rules.usd_per_hour or 0, hour.span_s),
            rules.usd_per_hour,
            None,
        ),
        (Measurement(Unit.USD, cost, left_usd or 0), left_usd, left_usd),
        (Measurement(Unit.TOKENS, tokens, left_tokens or 0), left_tokens, left_tokens),
    )
    spending, measure, remaining = max(
        ((_share(measure.value, full), measure, remaining) for measure, full, remaining in measures),
        key=lambda item: item[0],
    )
    facts = BurnFacts(calls=calls, rounds=low_rounds, measure=measure, remaining=remaining)
    return Burn(spending, flatness(profile, calls, low_rounds), facts)


def _share(value: float, full: float | None) -> float:
    if full is None or not value:
        return 0.0
    return value / full if full > 0 else 1.0
