"""A run, recorded while it is supervised: what came out of it, in one summary.

The summary is a fold over the events, in bounded memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.pricing import Pricer
from ebbtide.divergence.signals import Signal
from ebbtide.events.event import Call
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.summary.found import LoopNote, OtherNotes, dearest_first
from ebbtide.supervision.summary.ledger import Ledger
from ebbtide.supervision.summary.run_summary import RoundPoint, RunFinding, RunSummary, Saving, Spending
from ebbtide.supervision.summary.said import by_a_person, said_in
from ebbtide.supervision.summary.spending import plus, since, together
from ebbtide.supervision.summary.strip import Strip
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Action, Verdict
from ebbtide.text.embedding.vectors import Embedder

if TYPE_CHECKING:
    from ebbtide.supervision.summary.found_decisions import FoundDecisions

EAGER_ROUNDS = 1_000  #: rounds that are read for the report alone
_FINDINGS = 2_000
_POINTS = 20_000


class _Ending(NamedTuple):
    verdict: Verdict
    then: Spending  # taken up to it, by its chain or by the run


class RunRecorder:
    """Supervises a run, and keeps what its summary needs.

    Args:
        profile: Thresholds of all engines.
        tools: What is declared about tools.
        limits: What the run may take.
        prices: What tokens cost.
        shadow: As for `Supervisor`.
        embedder: Turns the semantic level of the conversation on.
        strip: Keep one cell an event, for a report; else memory does not grow with it.
        decisions: Look for decisions.

    >>> run = RunRecorder()
    >>> for name in ("search_web", "open_page") * 11:
    ...     _ = run.record(Call(name=name, result="nothing", cost_usd=0.25))
    >>> found = run.summary("run.jsonl", "ebbtide").findings[0]
    >>> sentences.finding(found, "calls")
    'calls 1-22: search_web and open_page in turn, 11 times, same answers, $5.50'
    """

    def __init__(
        self,
        profile: Profile = Profile.DEFAULT,
        *,
        tools: ToolPolicies | None = None,
        limits: Limits | None = None,
        prices: Prices | None = None,
        shadow: bool = False,
        embedder: Embedder | None = None,
        strip: bool = False,
        decisions: bool = True,
    ) -> None:
        self.supervisor = Supervisor(
            profile,
            tools=tools,
            limits=limits,
            shadow=shadow,
            embedder=embedder,
            eager_rounds=EAGER_ROUNDS,
            listener=self,
        )
        self._run = self.supervisor.run
        self._pricer = None if prices is None else Pricer(prices)
        self._ledgers: dict[str, Ledger] = {}
        self._latest: Ledger | None = None
        self._signals: list[tuple[Signal, Verdict]] = []  # of this event
        self._loops: dict[tuple[str, str], LoopNote] = {}
        self._others = OtherNotes()
        self._points: list[RoundPoint] = []
        self._highest = self._looked_at = self._run.calm
        self._ending: _Ending | None = None
        self._profile = profile
        self._decides = decisions
        self._decisions: FoundDecisions | None = None  # before anybody said anything
        self._strip = Strip() if strip else None

    def record(self, event: Call | Round) -> Verdict:
        """Take one more event or round; the verdict is that of `Supervisor.record`."""
        if isinstance(event, Call):
            if self._pricer is not None:
                event = self._pricer.priced(event)
            run = self._run
            before = run.events
            verdict = self.supervisor.record(event)
            number = run.events
            if number == before:
                return verdict  # a call that has only started, or an event that was told twice
            ledger = self._latest
            if ledger is None or ledger.name != event.chain_id:
                ledger = self._ledger(event.chain_id)
            ledger.take(event, number, run.place)
            if self._signals:
                self._note_loops(ledger)
            if self._strip is not None:
                self._cell(event, number)
            if event.kind == "llm" and event.text and self._decides:
                self._found_decisions().turn(event.text, agent=event.agent, event=number, ts=event.ts)
        else:
            verdict = self.supervisor.record(event)
            if isinstance(event, Round):
                self._ledger("" if self._latest is None else self._latest.name).take_round()
                self._take_round(event, self._run.events)
        if verdict is not self._looked_at:
            self._look_at(verdict)
        return verdict

    def _look_at(self, verdict: Verdict) -> None:
        """Take a verdict that is not the one of the event before."""
        self._looked_at = verdict
        if verdict.rank > self._highest.rank:
            self._highest = verdict
            if verdict.ends and self._ending is None:
                self._ending = _Ending(verdict, self._spent(verdict.chain_id))

    def loop(self, signal: Signal, verdict: Verdict) -> None:
        """Told by the supervisor; the ledger does not know this event yet."""
        self._signals.append((signal, verdict))

    def round(self, chain_id: str, read: ReadRound) -> None:
        """Told by the supervisor: a round was read."""
        if len(self._points) >= _POINTS:
            return
        reading = read.reading
        novelty = reading.novelty
        self._points.append(
            RoundPoint(
                number=len(self._points) + 1,
                event=read.event,
                agent=reading.agent,
                novelty_rate=novelty.rate,
                new_claims=novelty.new_claims,
                claims=novelty.claims,
                readiness=reading.readiness.readiness,
                signal=reading.recommendation.signal.value,
                chain_id=chain_id,
            )
        )

    def said(self, verdict: Verdict, first_event: int) -> None:
        """Told by the supervisor: a limit, dry rounds, or the joint rule."""
        if verdict.kind == "limit" and verdict.action is Action.NUDGE:
            return  # a limit that is near is no finding
        self._others.said(verdict, first_event)

    def summary(self, source: str, form: str) -> RunSummary:
        """What has come of the run so far; what a model said last counts as a round.

        Args:
            source: The file, or what else it was read from.
            form: Name of its format.
        """
        self.supervisor.settle()
        snapshot = self.supervisor.snapshot()
        latest = self.supervisor.verdict()
        if latest.rank > self._highest.rank:
            self._highest = latest
        findings = self._findings()
        spent = self._spent(None)
        signals = [item.signal for item in snapshot.conversations if item.signal is not None]
        converged = signals[-1].value if signals else None
        return RunSummary(
            source=source,
            format=form,
            verdict=sentences.verdict_of_run(self._highest, findings, spent),
            latest=latest,
            spent=spent,
            findings=findings,
            rounds=tuple(sorted(self._points, key=lambda point: point.event)),
            converged=converged,
            saving=self._saving(),
            decisions=self._decisions.listed() if self._decisions else (),
            decisions_left_out=self._decisions.left_out if self._decisions else 0,
            chains=tuple(self._ledgers),
            timed=any(ledger.times() for ledger in self._ledgers.values()),
            faults=(snapshot.last_fault,) if snapshot.last_fault else (),
            degraded=snapshot.degraded,
            strip=tuple(self._strip.cells) if self._strip else (),
        )

    def _ledger(self, name: str) -> Ledger:
        ledger = self._ledgers.get(name)
        if ledger is None:
            ledger = self._ledgers[name] = Ledger(name)
        self._latest = ledger
        return ledger

    def _take_round(self, item: Round, event: int) -> None:
        if self._decides and not by_a_person(item) and (text := said_in(item)):
            self._found_decisions().turn(text, agent=item.agent, event=event)

    def _found_decisions(self) -> FoundDecisions:
        if self._decisions is None:
            # The gate takes its time to import, and a run without words does not need it.
            from ebbtide.supervision.summary.found_decisions import FoundDecisions

            self._decisions = FoundDecisions(self._profile)
        return self._decisions

    def _cell(self, call: Call, number: int) -> None:
        if self._strip is not None:
            costs, tokens = zip(*(ledger.totals() for ledger in self._ledgers.values()), strict=True)
            self._strip.take(call, number, cost_usd=plus(costs), tokens=plus(tokens))

    def _note_loops(self, ledger: Ledger) -> None:
        told, self._signals = self._signals, []
        for signal, verdict in told:
            key = (signal.chain_id, signal.id)
            note = self._loops.get(key)
            if note is not None:
                note.tell(signal, verdict, ledger)
            elif len(self._loops) < _FINDINGS:
                self._loops[key] = LoopNote.of(signal, verdict, ledger)

    def _findings(self) -> tuple[RunFinding, ...]:
        ends = {
            (chain.chain_id, loop.id): loop
            for chain in self.supervisor.snapshot().calls.chains
            for loop in chain.loops
        }
        found = []
        for key, note in self._loops.items():
            end, copies = ends.get(key), note.signal.copies
            ledger = self._ledgers.get(key[0])
            if end is not None and ledger is not None and end.relapses == note.signal.relapses:
                note.reach(end.first_event, end.last_event, ledger)
                copies = end.copies
            found.append(note.finding(copies))
        found += self._others.findings(self._ledgers)
        return dearest_first(found)

    def _spent(self, chain_id: str | None) -> Spending:
        ledgers = list(self._ledgers.values())
        if chain_id is not None:
            ledgers = [ledger for ledger in ledgers if ledger.name == chain_id]
        times = [times for ledger in ledgers if (times := ledger.times()) is not None]
        seconds = max([last for _, last in times]) - min([first for first, _ in times]) if times else None
        return together([ledger.spending() for ledger in ledgers], seconds)

    def _saving(self) -> Saving | None:
        if self._ending is None:
            return None
        verdict, then = self._ending
        after = since(self._spent(verdict.chain_id), then)
        return Saving(verdict=verdict, after=after) if after.events else None
