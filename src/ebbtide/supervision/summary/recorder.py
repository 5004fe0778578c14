"""A run, recorded while it is supervised: what came out of it, in one summary.

The summary is a fold over the events, in bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ebbtide.budget.bill.advice import with_missing_calls
from ebbtide.budget.bill.bill_recorder import BillRecorder, CallReview
from ebbtide.budget.tally import usd
from ebbtide.claims.sentences import is_refuted
from ebbtide.clock import time_zone
from ebbtide.convergence.signal import Signal
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.monitor import tools_of
from ebbtide.divergence.signals import LoopSignal
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, ModelCall, Notice, Role, ToolCall
from ebbtide.events.outcome import Ending
from ebbtide.events.run_outcome import FAILURES
from ebbtide.events.transcript import Round
from ebbtide.supervision.facts import DryRoundFacts, LimitFacts, LoopFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.run_options import DEFAULTS, RunOptions
from ebbtide.supervision.summary.call_reviewer import CallReviewer
from ebbtide.supervision.summary.ending import EndingReader, EndKind
from ebbtide.supervision.summary.fact_counter import FactCounter
from ebbtide.supervision.summary.findings import LoopNote, OtherNotes, most_expensive_first
from ebbtide.supervision.summary.headline import is_for_a_person
from ebbtide.supervision.summary.ladder_steps import LadderSteps
from ebbtide.supervision.summary.run_summary import RoundPoint, RunFinding, RunSummary, Saving, Spending
from ebbtide.supervision.summary.run_title import title_of
from ebbtide.supervision.summary.sentences import run_reason
from ebbtide.supervision.summary.spending import since, spending_of, together
from ebbtide.supervision.summary.tally_history import TallyHistory
from ebbtide.supervision.summary.timeline import Timeline
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

if TYPE_CHECKING:
    from ebbtide.claims.claim_record import LastWords
    from ebbtide.supervision.summary.run_decisions import RunDecisions
    from ebbtide.supervision.supervisor_snapshot import SupervisorSnapshot

EAGER_ROUNDS = 1_000  #: rounds that are read for the report alone
_FINDINGS = 2_000
_POINTS = 20_000
_STRETCHES = 2_000
_NO_NEWS = (0, 0, 0)  # so many new answers prove that a run recovered whose end says nothing
# A shell, or the program that was called, says what is wrong: the name of who speaks comes first.
_COMPLAINT = re.compile(r"(?:/bin/)?(?:ba|z|da)?sh: |(?P<name>[\w.-]+): .*\s*\Z")
_CRASHES = (EndKind.FAILED, EndKind.BLOCKED, EndKind.LIMIT)  # ends that nothing recovered before


class _Stretch(NamedTuple):
    """Stretch that would have been saved: from a verdict that would have ended the run to its resolution."""

    verdict: Verdict
    start: Spending  # up to the verdict, by its chain or by the run
    end: Spending | None = None  # up to where it held no longer; None where it still does


class RunRecorder:
    """Supervises a run, and keeps what its summary needs.

    Args:
        options: By what it is judged. A limit that could not be counted is in the summary, and ends nothing.
        eager_rounds: Rounds that are read for the summary alone; later ones are read where a verdict needs
            them.

    >>> from ebbtide.events.event import ToolCall
    >>> from ebbtide.events.usage import Usage
    >>> run = RunRecorder()
    >>> for name in ("web_search", "web_fetch") * 11:
    ...     _ = run.record(ToolCall(name=name, args={}, result="nothing", usage=Usage(cost_usd=0.25)))
    >>> run.summary("run.jsonl", "ebbtide").reason
    'web_search and web_fetch in turn, 11 times, same results (calls 1-22, $5.50).'
    """

    def __init__(
        self,
        options: RunOptions = DEFAULTS,
        *,
        decisions: bool = True,
        eager_rounds: int = EAGER_ROUNDS,
    ) -> None:
        self.supervisor = Supervisor(**options.of_supervisor, eager_rounds=eager_rounds, listener=self)
        self._options = options
        self._histories: dict[str, TallyHistory] = {}
        self._latest: TallyHistory | None = None
        self._loops: dict[tuple[str, str], LoopNote] = {}
        self._others = OtherNotes()
        self._ignored: set[Hashable] = set()
        self._points: list[RoundPoint] = []
        self._highest = self._previous = self.supervisor.verdict()
        self._steps = LadderSteps(self.supervisor.tally)
        self._stretches: list[_Stretch] = []
        # By chain, the latest events that brought a new answer, or a round with new claims.
        self._news: dict[str, tuple[int, ...]] = {}
        self._setbacks: dict[str, int] = {}  # by chain, the latest call that failed or found nothing
        self._facts = FactCounter()
        self._policies = policies = tools_of(options.tools, options.profile.divergence)
        self._endings = EndingReader(policies)
        self._reviewer = CallReviewer(policies)
        zone = None if options.timezone is None else time_zone(options.timezone)
        self._bill = BillRecorder(options.prices, zone=zone)
        self._title = ""  # of the first request
        self._decides = decisions
        self._decisions: RunDecisions | None = None  # before anybody said anything
        self._timeline = Timeline(policies) if options.timeline else None
        self._claims = options.profile.supervision.check_claims
        self._report: LastWords | None = None  # before the first call of a tool

    def record(self, event: Event | Round) -> Verdict:
        """Take one more event or round; the verdict is that of `Supervisor.record`."""
        open_stretch = self._open_stretch(event)
        before = None if open_stretch is None else self._spent(open_stretch.verdict.chain_id)
        verdict = self.supervisor.record(event)
        if isinstance(event, Round):
            self._take_round(event)
        if verdict is not self._previous:
            self._previous = verdict
            if verdict.rank > self._highest.rank:
                self._highest = verdict
                self._steps.add(verdict)
            if open_stretch is not None and verdict.rank < open_stretch.verdict.rank:
                self._stretches[-1] = open_stretch._replace(end=before)
            elif verdict.ends and (not self._stretches or self._stretches[-1].end is not None):
                self._begin_stretch(verdict)
        return verdict

    def _open_stretch(self, event: Event | Round) -> _Stretch | None:
        """Returns the stretch that would be saved now, where an event may resolve it; else None.

        An event of another chain does not resolve it.
        """
        if not self._stretches or self._stretches[-1].end is not None:
            return None
        stretch = self._stretches[-1]
        chain_id = stretch.verdict.chain_id
        return stretch if chain_id is None or isinstance(event, Round) or event.chain_id == chain_id else None

    def _begin_stretch(self, verdict: Verdict) -> None:
        if len(self._stretches) < _STRETCHES:
            self._stretches.append(_Stretch(verdict, self._spent(verdict.chain_id)))

    def _take_round(self, item: Round) -> None:
        name = "" if self._latest is None else self._latest.name
        tally = self.supervisor.tally_of(name)
        if self._latest is None and tally is not None:
            self._latest = self._histories[name] = TallyHistory(name, tally)
        self._endings.hear(item, self.supervisor.events)
        if item.words:
            self._say(item.words, item.agent, self.supervisor.events, by_person=item.is_by_person)

    def event(self, event: Event, number: int, loops: LoopState) -> None:
        """As `Listener.event`."""
        tally = loops.tally
        history = self._latest
        if history is None or history.name != event.chain_id:
            history = self._histories.get(event.chain_id)
            if history is None:
                history = self._histories[event.chain_id] = TallyHistory(event.chain_id, tally)
            self._latest = history
        history.note(tally, number, loops.event, None if event.ts is None else tally.latest_ts)
        if not self._title and isinstance(event, Message) and event.role is Role.USER and event.text:
            self._title = title_of(event.text)
        self._endings.see(event, number)
        if self._claims:
            self._hold(event, number)
        review = self._reviewer.review(event, loops) if isinstance(event, ToolCall) else None
        self._facts.see(event, loops, review)
        if isinstance(event, Notice) and event.stated is not None and tally.settlement is not None:
            self._bill.add(replace(event, usage=None), number, None)
            self._bill.settle(event, tally.settlement)
        else:
            self._bill.add(event, number, None if event.usage is None else tally.last_cost, review)
        repetition = loops.repetition
        is_news = review is not None and repetition.calls == repetition.answers.latest_news
        if isinstance(event, ToolCall) and self._is_setback(event, review, loops):
            self._setbacks[event.chain_id] = number
        elif is_news and not (isinstance(event, ToolCall) and event.result is None):
            self._add_news(event.chain_id, number)
        if self._timeline is not None:
            total = self.supervisor.tally
            self._timeline.add(event, number, cost_usd=usd(total.cost), tokens=total.tokens)
        if isinstance(event, ToolCall):
            if self._decisions is not None and not event.error:
                self._decisions.call(event, self._policies, number)
        elif isinstance(event, ModelCall | Message) and event.text:
            self._say(event.text, event.agent, number, event.ts, by_person=isinstance(event, Message))

    def _hold(self, event: Event, number: int) -> None:
        """Takes an event as a fact that the last words of the run can be held against."""
        if self._report is None:
            # Its tables take their time to import, and a run that only talks does not need them.
            from ebbtide.claims.claim_record import LastWords

            self._report = LastWords()
        self._report.see(event, number)

    def _add_news(self, chain_id: str, number: int) -> None:
        self._news[chain_id] = (*self._news.get(chain_id, _NO_NEWS)[1:], number)

    def _is_setback(self, call: ToolCall, review: CallReview | None, loops: LoopState) -> bool:
        """Returns True if a call failed, found nothing, or stands for what ended the run in a failure."""
        policy = self._policies.get(call.name)
        if policy is not None and (ended := policy.outcome_of(call.args)) is not None:
            return ended in FAILURES
        if (review is not None and (review.has_failed or review.was_cancelled)) or call.result == "":
            return True
        if isinstance(call.result, str) and (complaint := _COMPLAINT.match(call.result)) is not None:
            name = complaint["name"]
            return name is None or (review is not None and name == review.name.partition(" ")[0])
        outcome = loops.outcome
        if outcome is None:
            return False
        is_content = loops.effect is Effect.READ and outcome.ending is Ending.FAILED
        return outcome.is_weak or not is_content

    def loop(self, signal: LoopSignal, verdict: Verdict) -> None:
        """As `Listener.loop`."""
        key = (signal.chain_id, signal.id)
        history = self._histories[signal.chain_id]
        note = self._loops.get(key)
        if note is not None:
            note.extend(signal, verdict, history)
        elif len(self._loops) < _FINDINGS:
            self._loops[key] = LoopNote.of(signal, verdict, history)

    def ignored(self, subject: Hashable) -> None:
        """As `Listener.ignored`."""
        if len(self._ignored) < _FINDINGS:
            self._ignored.add(subject)

    def round(self, chain_id: str, read_round: ReadRound) -> None:
        """As `Listener.round`."""
        reading = read_round.reading
        novelty = reading.novelty
        if novelty.new_claims and not reading.recommendation.low_run:
            self._add_news(chain_id, read_round.event)
        if len(self._points) >= _POINTS:
            return
        self._points.append(
            RoundPoint(
                number=len(self._points) + 1,
                event=read_round.event,
                agent=reading.agent,
                novelty_rate=novelty.rate,
                new_claims=novelty.new_claims,
                claims=novelty.claims,
                readiness=reading.readiness.readiness,
                signal=reading.recommendation.signal.value,
                chain_id=chain_id,
            )
        )

    def verdict(self, verdict: Verdict, first_event: int) -> None:
        """As `Listener.verdict`."""
        if isinstance(verdict.facts, LimitFacts) and verdict.action is Action.NUDGE:
            return  # a limit that is near is no finding
        self._others.add(verdict, first_event)

    def summary(self, source: str, form: str, *, advice: str = "", over: bool = True) -> RunSummary:
        """Returns the summary of the run so far.

        Args:
            source: The file, or what else it was read from.
            advice: What to switch on, so that arguments, answers and words are recorded.
            over: Whether nothing more comes: what a model said last is a round then.
        """
        if over:
            self.supervisor.settle()
        snapshot = self.supervisor.snapshot()
        latest = self.supervisor.verdict()
        if latest.rank > self._highest.rank:
            self._highest = latest
            self._steps.add(latest)
        highest = self._highest
        if isinstance(highest.facts, DryRoundFacts):
            is_same = latest.kind == highest.kind and latest.action is highest.action
            highest = self._others.latest(highest)
            latest = self._others.latest(latest) if is_same else latest
        limits = self._options.limits
        uncounted = self.supervisor.uncounted_limits() if limits and limits.refuses_unknown else []
        if uncounted and highest.action is not Action.STOP:
            highest = latest = uncounted[0]
        findings = most_expensive_first([*self._findings(), *OtherNotes.of_run(uncounted)])
        spent = self._spent(None)
        facts = self._facts.facts(tool_calls=spent.tool_calls, model_calls=spent.llm_calls, advice=advice)
        bill = self._bill.bill(self.supervisor.tally.cost, self.supervisor.tally.tokens)
        unrecorded = sum(agent.count for agent in facts.coverage.unrecorded)
        spent = replace(spent, unrecorded=unrecorded, understated=bill.is_least)
        ending = self._endings.read()
        claims = () if self._report is None else self._report.check()
        signals = [item.signal for item in snapshot.conversations if item.signal is not None]
        signal = signals[-1] if signals else None
        if signal is Signal.SHIP and is_refuted(claims):
            signal = Signal.CONTINUE  # words that the record denies are no witness
        return RunSummary(
            source=source,
            format=form,
            title=self._title,
            verdict=highest,
            reason=run_reason(highest, findings, spent, facts.coverage, ending.ending),
            latest=latest,
            spent=spent,
            facts=facts,
            bill=with_missing_calls(bill, unrecorded) if unrecorded else bill,
            ending=ending,
            recovered=self._recovered(highest, latest, findings, ending.ending),
            findings=findings,
            ignored=len(self._ignored),
            rounds=tuple(sorted(self._points, key=lambda point: point.event)),
            converged=None if signal is None else signal.value,
            open_loop=_open_loop(snapshot.active, at_limit=_is_at_limit(ending.ending, highest)),
            saving=self._saving(),
            steps=self._steps.listed(),
            decisions=self._decisions.listed() if self._decisions else (),
            decisions_left_out=self._decisions.left_out if self._decisions else 0,
            claims=claims,
            chains=tuple(self._histories),
            timed=self.supervisor.tally.first_ts is not None,
            began_s=self.supervisor.tally.first_ts,
            ended_s=self.supervisor.tally.latest_ts,
            faults=self._faults(snapshot),
            degraded=snapshot.degraded,
            over=over,
            timeline=tuple(self._timeline.cells) if self._timeline else (),
        )

    def _say(
        self, words: str, agent: str | None, event: int, ts: float | None = None, *, by_person: bool
    ) -> None:
        if not self._decides:
            return
        if self._decisions is None:
            # The gate takes its time to import, and a run without words does not need it.
            from ebbtide.supervision.summary.run_decisions import RunDecisions

            self._decisions = RunDecisions(self._options.profile)
        self._decisions.turn(words, agent=agent, event=event, ts=ts, by_person=by_person)

    def _faults(self, snapshot: SupervisorSnapshot) -> tuple[str, ...]:
        """Returns what was not read, in words."""
        faults = [snapshot.last_fault] if snapshot.last_fault else []
        if self._decisions is not None and self._decisions.fault:
            faults.append(self._decisions.fault)
        cut = sum(item.cut_texts for item in snapshot.conversations)
        claims = sum(item.claims_left_out for item in snapshot.conversations)
        if cut:
            faults.append(f"{cut:,} long {'text was' if cut == 1 else 'texts were'} read only at both ends")
        if claims:
            faults.append(f"{claims:,} claims were not compared, because their rounds contain too many")
        return tuple(faults)

    def _findings(self) -> list[RunFinding]:
        ends = {
            (chain.chain_id, loop.id): loop
            for chain in self.supervisor.snapshot().calls.chains
            for loop in chain.loops
        }
        findings = []
        for key, note in self._loops.items():
            end, copies = ends.get(key), note.signal.copies
            if end is not None and end.relapses == note.signal.relapses:
                note.reach(end.first_event, end.last_event, self._histories[key[0]])
                copies = end.copies
            findings.append(note.finding(copies))
        findings += self._others.findings(self._histories)
        return findings

    def _spent(self, chain_id: str | None) -> Spending:
        if chain_id is None:
            return spending_of([self.supervisor.tally])
        history = self._histories.get(chain_id)
        return spending_of([] if history is None else history.tallies)

    def _recovered(
        self, highest: Verdict, latest: Verdict, findings: Sequence[RunFinding], ending: EndKind
    ) -> bool | None:
        """Returns True if something new came in the same chain after the cause of the highest verdict."""
        if latest.rank >= highest.rank or highest.action is Action.FINALIZE:
            return None
        if ending in _CRASHES or highest.cause is Cause.LIMIT:
            return False
        behind = [
            item
            for item in findings
            if item.action is highest.action and item.id == (highest.loop_id or item.id)
        ]
        last = max((item.last_event for item in behind), default=highest.event or 0)
        chains = {item.chain_id for item in behind} or {highest.chain_id or ""}
        news = [(self._news[chain], self._setbacks.get(chain, 0)) for chain in chains if chain in self._news]
        if ending in (EndKind.FINISHED, EndKind.HANDED_BACK):
            return any(places[-1] > last for places, _ in news)
        # One new answer may be that of a last attempt, and what ends in failures has not recovered.
        return any(places[0] > last and places[-1] > setback for places, setback in news)

    def _saving(self) -> Saving | None:
        parts = [
            since(stretch.end or self._spent(stretch.verdict.chain_id), stretch.start)
            for stretch in self._stretches
        ]
        after = together(parts)
        return Saving(verdict=self._stretches[0].verdict, after=after) if after.events else None


def _is_at_limit(ending: EndKind, highest: Verdict) -> bool:
    """Returns True if a limit ended a run: that of its harness, or a hard one."""
    return ending is EndKind.LIMIT or (highest.cause is Cause.LIMIT and highest.action is Action.STOP)


def _open_loop(active: Iterable[Verdict], *, at_limit: bool) -> str | None:
    """Returns the kind of a loop that goes on at the end: one that a model cannot mend before others.

    Args:
        active: What holds at the end.
        at_limit: True if a limit ended the run: then a suspicion that went on after it was reported counts.
    """
    loops = [
        verdict
        for verdict in active
        if verdict.cause is Cause.DIVERGENCE
        and (verdict.ends or (at_limit and isinstance(verdict.facts, LoopFacts) and verdict.facts.goes_on))
    ]
    return (
        max(loops, key=lambda verdict: (is_for_a_person(verdict.kind), verdict.rank)).kind if loops else None
    )
