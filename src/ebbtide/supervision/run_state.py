"""State of one run: its engines, each fed with the events in order, and its chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ebbtide.budget.limit_alerts import LimitAlerts
from ebbtide.budget.limits import Limits, require_limits
from ebbtide.budget.prices import Prices
from ebbtide.convergence.signal import Signal
from ebbtide.divergence.chain_table import ChainTable
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.divergence.signals import SPENDING
from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Phase,
    Role,
    ToolCall,
)
from ebbtide.events.identity import MARK, key_of
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.active_verdicts import BURN, ActiveVerdicts
from ebbtide.supervision.chain_state import ChainState
from ebbtide.supervision.facts import LoopFacts
from ebbtide.supervision.judgement import Judgement
from ebbtide.supervision.listener import Listener
from ebbtide.supervision.rounds import Utterance
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.embedding.vectors import Embedder

_SPOKEN = (ModelPart.WHOLE, ModelPart.EMBEDDING)


class RunState:
    """State of one run. The arguments are those of `Supervisor`.

    Attributes:
        monitor: Loops and spending.
        alerts: Hard limits; None where there are none.
        judgement: The verdicts.
        chains: The chains.
        latest: The chain of the latest event.
        checked: Whether turns are counted by `Supervisor.check_before_model`.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        tools: ToolPolicies | None,
        limits: Limits | None,
        prices: Prices | None,
        shadow: bool,
        embedder: Embedder | None,
        eager_rounds: int,
        listener: Listener | None,
    ) -> None:
        self._profile = profile
        self._rules = profile.supervision
        self._embedder = embedder
        self._eager_rounds = eager_rounds
        self._listener = listener
        self.monitor = LoopMonitor(profile, tools=tools, prices=prices)
        self.alerts = None if limits is None else LimitAlerts(limits, self.monitor.tally)
        self.judgement = Judgement(profile, shadow=shadow, listener=listener)
        # What holds for a chain that is packed has to be known at hand.
        self.chains = ChainTable(self._new_chain, ChainState.to_state, ChainState.restore, note=_held)
        self._turns_ahead = 0  # that were asked for before there was a chain
        self.latest: ChainState | None = None
        self.checked = False

    def take(self, event: Event) -> Verdict:
        """Take one more event; a note of our own, which nobody said, changes nothing."""
        monitor, judgement = self.monitor, self.judgement
        if isinstance(event, Message) and event.text is not None and event.text.startswith(MARK):
            return judgement.answer(self.latest)
        chain = self.latest
        if chain is None or chain.name != event.chain_id:
            chain = self.chain(event.chain_id)
        signals = monitor.take(event, (chain.turn or None) if self.checked else None)
        loops = monitor.latest
        if isinstance(event, ToolCall) and event.phase is Phase.STARTED:
            # It shows that an agent is one too many, and no more.
            if signals and loops is not None:
                judgement.loops(chain, loops, signals)
            if self.alerts is not None and (alerts := self.alerts.agents()):
                judgement.limits(alerts)
            return judgement.answer(chain)
        if signals is None or loops is None or loops.name != chain.name:
            return judgement.answer(chain)
        judgement.event = monitor.tally.events
        if self._listener is not None:
            self._listener.event(event, judgement.event, loops)
        repetition = loops.repetition
        idle_calls = repetition.calls - repetition.answers.latest_news
        if isinstance(event, ToolCall):
            self._tool_call(chain, event)
            if not idle_calls and not event.error and repetition.event == loops.event:
                chain.fresh_answer(loops)
        elif isinstance(event, ModelCall):
            self._model_call(chain, event)
            if not idle_calls and repetition.calls and repetition.event == loops.event:  # it states a call
                chain.fresh_answer(loops)
        elif isinstance(event, Message):
            self._message(chain, event, loops)
        elif isinstance(event, Notice) and event.kind is NoticeKind.RUN_START:
            self.settle(chain)
            self._new_word(chain, loops)
        if signals:
            judgement.loops(chain, loops, signals)
        if self.alerts is not None:
            alerts = self.alerts.see(event)
            if alerts:
                judgement.limits(alerts)
        if idle_calls or chain.rounds.idle:
            judgement.spending(chain, loops, idle_calls, self.alerts)
        if judgement.due or chain.active.items or judgement.run.items:
            return judgement.answer(chain)
        return judgement.all_clear

    def take_round(self, item: Round) -> Verdict:
        """Take a round that the caller hands over."""
        chain = self.latest or self.chain("")
        loops = self.monitor.add_round(chain.name)
        self.judgement.event = self.monitor.tally.events
        moment, place = chain.moment(loops), _news_place(loops)
        self.judgement.rounds(chain, chain.rounds.take(item, self.monitor.tally.events, moment, place))
        return self.judgement.answer(chain)

    def _tool_call(self, chain: ChainState, call: ToolCall) -> None:
        rounds = chain.rounds
        rounds.pending_turn = None  # what was said before a call is no round
        rounds.calls += 1
        if call.name not in chain.answering_tools and (call.result is not None or call.error):
            chain.add_answering_tool(call.name)
        if not self.checked and (call.batch is None or call.batch != chain.batch):
            chain.turn += 1
            chain.batch = call.batch

    def _model_call(self, chain: ChainState, call: ModelCall) -> None:
        if call.part not in _SPOKEN:
            return
        if not self.checked:
            chain.turn += 1
        text = call.text
        if isinstance(text, str) and text:
            rounds = chain.rounds
            if rounds.pending_turn is not None:
                self.settle(chain)
            rounds.turns += 1
            if self._rules.turns_are_rounds:
                talk = rounds.talk and not self.checked
                rounds.pending_turn = Utterance(text, call.agent, self.monitor.tally.events, talk=talk)

    def _message(self, chain: ChainState, message: Message, loops: LoopState) -> None:
        """Take what a person said."""
        rounds, text = chain.rounds, message.text
        self.settle(chain)
        if not self.checked:
            chain.turn += 1
        rounds.turns += 1
        listens = rounds.talk and self._rules.turns_are_rounds and not self.checked
        if text and listens and message.role is Role.USER:
            turn = Utterance(text, message.agent or "user", self.monitor.tally.events)
            moment, place, eager = chain.moment(loops), _news_place(loops), self._reads_now(chain)
            self.judgement.rounds(chain, rounds.listen(turn, moment, place, eager=eager))
        words = key_of(text or "")
        if words != chain.latest_message:
            chain.latest_message = words
            if self._rules.person_is_news:
                self._new_word(chain, loops)

    def _new_word(self, chain: ChainState, loops: LoopState) -> None:
        """A person said something new, or a run began: whatever was reported before is answered with it."""
        chain.rounds.person = True
        chain.forget(BURN)
        chain.lift_answered()
        chain.progress_made(chain.moment(loops))

    def settle(self, chain: ChainState) -> None:
        """Nothing was called after what a model said last."""
        rounds = chain.rounds
        if rounds.pending_turn is not None:
            loops = self.monitor.chain(chain.name)
            moment, place, eager = chain.moment(loops), _news_place(loops), self._reads_now(chain)
            self.judgement.rounds(chain, rounds.settle(moment, place, eager=eager))

    def _reads_now(self, chain: ChainState) -> bool:
        return chain.rounds.rounds_read < self._eager_rounds or chain.awaits_round

    def conclude(self, chain: ChainState) -> None:
        """Nothing more comes: a conversation is judged by all its rounds, whoever spoke.

        Not before its end, since a person who goes on talking has heard nothing; and not where
        somebody asks before each call of the model, since a person who answers a verdict has overruled it.
        """
        rounds = chain.rounds
        if self.checked or not rounds.talk or rounds.latest in (None, Signal.CONTINUE):
            return
        if rounds.flat_rounds >= self._rules.dry_rounds:
            self.judgement.dry_rounds(chain, rounds.flat_rounds, rounds.flat_rounds_since)

    def chain(self, name: str) -> ChainState:
        """A chain, which is the latest now."""
        chain = self.latest = self.chains.take(name)
        if self._turns_ahead:
            chain.turn += self._turns_ahead
            self._turns_ahead = 0
        self.judgement.count_losses(self.chains.losses)
        return chain

    def begin_turn(self, chain_id: str | None) -> ChainState | None:
        """The model of a chain is called next: of the latest one, where none is named."""
        chain = self.latest
        if chain_id is not None:
            if chain is not None:
                self.chains.take(chain.name)  # else it might be packed, and still take the next event
            chain = self.chains.take(chain_id)
        self.checked = True
        if chain is None:
            self._turns_ahead += 1
        else:
            self.settle(chain)
            chain.turn += 1
        return chain

    def verdicts(self, chain_id: str | None) -> Iterator[Verdict]:
        """Yields the verdicts that hold, for one chain or all of them."""
        of_run = self.judgement.run.at(1)
        if of_run is not None:
            yield of_run.verdict
        if chain_id is None:
            yield from self.chains.notes.values()
            chains = list(self.chains.chains.values())
        else:
            chain = self.chains.find(chain_id)
            chains = [] if chain is None else [chain]
        yield from filter(None, map(_held, chains))

    def counted(self, verdict: Verdict) -> Verdict:
        """A verdict that holds, with how often its loop has come by now."""
        facts = verdict.facts
        if not isinstance(facts, LoopFacts) or facts.signal.kind in SPENDING:
            return verdict
        signal = facts.signal
        loops = self.monitor.chain(signal.chain_id)
        loop = None if loops is None else loops.registry.loops.get(bytes.fromhex(signal.id))
        if loop is None or loop.relapses != signal.relapses or loop.count <= signal.copies:
            return verdict
        signal = replace(signal, copies=loop.count, calls=loop.calls, last_event=loop.last_event)
        return replace(verdict, facts=replace(facts, signal=signal))

    def _new_chain(self, name: str) -> ChainState:
        return ChainState(name, self._profile, self._embedder)

    def actives(self, chain: ChainState | None) -> list[tuple[ActiveVerdicts, int]]:
        """The verdicts of the run and of a chain, each with the turn in which they are looked at."""
        # A hard limit is not a matter of turns: nobody extends it by waiting.
        return [(self.judgement.run, 1), *([(chain.active, chain.turn)] if chain else [])]

    def to_state(self) -> dict[str, Any]:
        """All that later verdicts depend on."""
        return {
            "monitor": self.monitor.content(),
            "chains": self.chains.to_state(),
            "silent_verdicts": [[name, item.to_dict()] for name, item in self.chains.notes.items()],
            "turns_ahead": self._turns_ahead,
            "latest": self.latest.name if self.latest else None,
            "run": self.judgement.run.to_state(),
            "alerts": self.alerts.to_state() if self.alerts else None,
            "checked": self.checked,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.monitor.restore(state["monitor"])
        self.chains.restore(state["chains"])
        self.chains.notes = {name: Verdict.from_dict(item) for name, item in state["silent_verdicts"]}
        self._turns_ahead = state["turns_ahead"]
        self.latest = self.chains.chains.get(state["latest"])
        self.judgement.count_losses(self.chains.losses)
        self.judgement.run.restore(state["run"])
        self.judgement.event = self.monitor.tally.events
        if self.alerts is not None:
            if state["alerts"] is not None:
                self.alerts.restore(state["alerts"])
        elif state["alerts"] is not None:
            require_limits(state["alerts"]["kinds"], None)
        self.checked = state["checked"]


def _held(chain: ChainState) -> Verdict | None:
    """The highest verdict that holds for a chain."""
    item = chain.active.at(chain.turn)
    return None if item is None else item.verdict


def _news_place(loops: LoopState | None) -> int:
    """Place of the chain's latest new answer."""
    return 0 if loops is None else loops.repetition.answers.latest_news
