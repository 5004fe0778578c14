"""One run: every engine fed with its events in order, and what each of them says put on the board."""

from __future__ import annotations

from ebbtide.budget.limit_alerts import LimitState, LimitWatch, Near
from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.budget.pricing import Pricer
from ebbtide.convergence.recommendation import Signal as RoundSignal
from ebbtide.divergence.signals import Level, LoopKind, Signal
from ebbtide.divergence.watch import ChainWatch
from ebbtide.events.event import Call, Phase
from ebbtide.events.identity import key_of
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.joint import Progress, burn, flatness, stretch
from ebbtide.supervision.listener import Listener
from ebbtide.supervision.rounds import ReadRound, Turn
from ebbtide.supervision.run_chain import RunChain
from ebbtide.supervision.run_monitor import RunMonitor
from ebbtide.supervision.standing import LOOP, Board
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.verdict import Action, Cause, Verdict, with_nudge
from ebbtide.text.embedding.vectors import Embedder

CHAINS = 64  # as the loop monitor; the one that was silent longest is dropped
_STARTED = Phase.STARTED
_ROUNDS = "rounds"
_JOINT = "joint"
_LIMIT = "limit "
_NEAR = {Near.WARN: Action.NUDGE, Near.LAST: Action.FINALIZE, Near.REACHED: Action.STOP}
_STARTS = frozenset({"run_start", "conversation_start"})
_NO_CALLS = frozenset({"llm", "user", "system"})
_SPOKEN = frozenset({"message", "generate"})  # instructions, as against what somebody says


class RunWatch:
    """What is known about one run. The arguments are those of `Supervisor`."""

    def __init__(
        self,
        profile: Profile,
        *,
        tools: ToolPolicies | None,
        limits: Limits | None,
        pricer: Pricer | None,
        shadow: bool,
        embedder: Embedder | None,
        eager_rounds: int,
        listener: Listener | None,
    ) -> None:
        self.profile = profile
        self.rules = profile.supervision
        self.monitor = RunMonitor(profile, tools=tools, max_chains=CHAINS)
        self.limits = None if limits is None else LimitWatch(limits)
        self.chains: dict[str, RunChain] = {}
        self.latest: RunChain | None = None
        self.board = Board()  # of the run as a whole
        self.checked = False  # whether turns are told by `check_before_model`
        self.events = 0
        self.place = 0  # of the latest event in its chain, as the loop monitor numbers it
        self.calm = Verdict(shadow=shadow)
        self._pricer = pricer
        self._shadow = shadow
        self._embedder = embedder
        self._eager_rounds = eager_rounds
        self._listener = listener
        self._said: list[Verdict] = []  # at this event
        # Calls without news from which the joint rule is worth a look, where there is no conversation.
        joint = self.rules.joint_from
        self._flat_from = 1 << 62 if joint is None else -int(-joint / flatness(profile, 1, 0) // 1)

    def call(self, call: Call) -> Verdict:
        """Take one more event."""
        chain = self.latest
        if chain is None or chain.name != call.chain_id:
            chain = self.chain(call.chain_id)
        if self._pricer is not None:
            call = self._pricer.priced(call)
        monitor = self.monitor
        if call.phase is _STARTED:
            monitor.update(call)
            return self.answer(chain)
        signals = monitor.taken(call)
        if signals is None:
            return self.answer(chain)
        self.events += 1
        watch = monitor.latest
        self.place = 0 if watch is None else watch.event
        if watch is None or watch.name != chain.name:
            return self.answer(chain)  # the monitor could not read it at all, and has counted that
        board, rounds, repetition = chain.board, chain.rounds, watch.repetition
        stale = repetition.calls - repetition.answers.news
        if call.kind in _NO_CALLS:
            self._message(chain, call)
        else:
            rounds.held = None  # what was said before a call is no round
            rounds.calls += 1
            if call.name not in chain.answered and (call.result is not None or call.error):
                chain.hear_answer(call.name)
            if not self.checked and (call.batch is None or call.batch != chain.batch):
                chain.turn += 1
                chain.batch = call.batch
            if not stale and not call.error and repetition.event == watch.event:
                chain.fresh_turn = chain.turn
                if board.items:
                    chain.untell(_JOINT)
                    chain.lift_stale(watch)  # what was said about a lack of news
        if signals:
            self._loops(chain, signals)
        if self.limits is not None:
            states = self.limits.take(call)
            if states:
                self.say_limits(states)
        if (stale >= self._flat_from or rounds.calm) and self.rules.joint_from is not None:
            self._burn(chain, watch)
        return self.answer(chain) if self._said or board.items or self.board.items else self.calm

    def round(self, item: Round) -> Verdict:
        """Take a round that the caller hands over."""
        chain = self.latest or self.chain("")
        self.events += 1
        self.heard(chain, chain.rounds.take(item, self.events, self._news_place(chain)))
        return self.answer(chain)

    def chain(self, name: str) -> RunChain:
        """A chain, moved to the end: the first in line was silent longest."""
        chain = self.chains.pop(name, None)
        if chain is None:
            chain = RunChain(name, self.profile, self._embedder)
            if len(self.chains) >= CHAINS:
                del self.chains[next(iter(self.chains))]
        self.chains[name] = self.latest = chain
        return chain

    def settle(self, chain: RunChain) -> None:
        """Nothing was called after what a model said last."""
        rounds = chain.rounds
        if rounds.held is not None:
            eager = rounds.read < self._eager_rounds
            self.heard(chain, rounds.settle(self._news_place(chain), eager=eager))

    def conclude(self, chain: RunChain) -> None:
        """Nothing more comes: a conversation is judged by all its rounds, whoever spoke.

        Not before its end, since a person who goes on talking has not been told anything; and not where
        somebody asks before each call of the model, since a person who answers a verdict has overruled it.
        """
        rounds = chain.rounds
        if self.checked or not rounds.talk or rounds.latest in (None, RoundSignal.CONTINUE):
            return
        if rounds.flat >= self.rules.dry_rounds:
            self._dry(chain, rounds.flat, rounds.flat_since)

    def answer(self, chain: RunChain | None) -> Verdict:
        """What was said at this event; else the ending that stands; else allow."""
        found = self.calm
        if self._said:
            found = max(self._said, key=lambda verdict: verdict.rank)
            self._said = []
        ending = self.board.ending  # which is not a matter of turns
        if ending is not None and ending.rank > found.rank:
            found = ending
        if (
            chain is not None
            and (ending := chain.board.ending) is not None
            and ending.rank > found.rank
            and chain.turn > chain.board.silent_until
        ):
            found = ending
        return found

    def hand_over(self, chain: RunChain | None) -> Verdict:
        """What the next call of the model is told: an ending, or what it was not told yet."""
        self._said = []
        boards = self._boards(chain)
        standing = [item for board, turn in boards if (item := board.standing(turn)) is not None]
        highest = max(standing, key=lambda item: item.verdict.rank, default=None)
        if highest is not None and highest.verdict.ends:
            verdict = highest.verdict
            if verdict.action is Action.FINALIZE:
                if highest.told_at is not None and self.events > highest.told_at:
                    return self._verdict(
                        Action.STOP, verdict.cause, "The last call was made.", verdict.kind, chain
                    )
                if highest.told_at is None:
                    highest.told_at = self.events
            return verdict
        nudges = [item.verdict for board, _ in boards for item in board.nudges()]
        for board, _ in boards:
            board.lift([key for key, item in board.items.items() if item.verdict.action is Action.NUDGE])
        if not nudges:
            return self.calm
        texts = dict.fromkeys(nudge.nudge for nudge in nudges if nudge.nudge)
        latest = nudges[-1]
        return latest if len(texts) < 2 else with_nudge(latest, " ".join(texts))

    def loop_verdict(self, signal: Signal, action: Action, *, goes_on: bool) -> Verdict:
        """A loop, or spending, as a verdict."""
        spending = signal.kind in sentences.SPENDING
        chain = self.chains.get(signal.chain_id)
        answers = chain is None or chain.gave_answers(signal.tools)
        return Verdict(
            action=action,
            cause=Cause.SPENDING if spending else Cause.DIVERGENCE,
            reason=sentences.loop_verdict(signal, goes_on=goes_on, answers=answers),
            nudge=sentences.loop_nudge(signal, answers=answers) if action is Action.NUDGE else None,
            event=self.events,
            signal_id=signal.id,
            kind=signal.kind.value,
            chain_id=signal.chain_id,
            shadow=self._shadow,
        )

    def say_limits(self, states: list[LimitState]) -> None:
        """Limits have come nearer."""
        for state in states:
            action = _NEAR[state.near]
            verdict = self._verdict(action, Cause.LIMIT, sentences.limit(state), "limit", None)
            if action is not Action.STOP:
                verdict = with_nudge(verdict, sentences.limit_nudge(state))
            self._say(self.board, 0, f"{_LIMIT}{state.kind}", verdict)
            if self._listener is not None:
                self._listener.said(verdict, 1)

    def heard(self, chain: RunChain, read: list[ReadRound]) -> None:
        """Rounds were read."""
        for item in read:
            if self._listener is not None:
                self._listener.round(chain.name, item)
        if not read:
            return
        rounds, items = chain.rounds, chain.board.items
        if not rounds.low_run:
            chain.excused = False
            chain.board.lift([key for key in (_ROUNDS, _JOINT) if key in items and not items[key].is_final])
            self._progress(chain)
        elif rounds.dry >= self.rules.dry_rounds and rounds.latest is not RoundSignal.CONTINUE:
            self._dry(chain, rounds.dry, rounds.dry_since)

    def _dry(self, chain: RunChain, dry: int, since: int) -> None:
        if chain.excused:
            return
        ready = chain.rounds.latest is RoundSignal.SHIP
        action = Action.FINALIZE if ready else Action.ESCALATE
        verdict = self._verdict(
            action,
            Cause.CONVERGENCE,
            sentences.rounds(dry, ready=ready),
            "ready_rounds" if ready else "stuck_rounds",
            chain,
        )
        if ready:
            verdict = with_nudge(verdict, sentences.LAST_CALL)
        if self._listener is not None:
            self._listener.said(verdict, since)
        before = chain.board.items.get(_ROUNDS)
        if before is None or before.verdict.action is not action:
            self._say(chain.board, chain.turn, _ROUNDS, verdict)

    def _message(self, chain: RunChain, call: Call) -> None:
        """Take what a model or a person said, or another event that is no call."""
        kind, rounds = call.kind, chain.rounds
        if kind == "llm":
            if call.name in ("stream", "thought"):
                return
            if not self.checked:
                chain.turn += 1
            text = call.text if call.text is not None else call.result
            if isinstance(text, str) and text:
                if rounds.held is not None:
                    self.settle(chain)
                rounds.spoken += 1
                if self.rules.turns_are_rounds:
                    talk = rounds.talk and not self.checked
                    rounds.held = Turn(text, call.agent, self.events, talk=talk)
        elif kind == "user":
            self.settle(chain)
            if not self.checked:
                chain.turn += 1
            rounds.spoken += 1
            listens = rounds.talk and self.rules.turns_are_rounds and not self.checked
            if call.text and listens and call.name in _SPOKEN:
                turn = Turn(call.text, call.agent or "user", self.events)
                eager = rounds.read < self._eager_rounds
                self.heard(chain, rounds.listen(turn, self._news_place(chain), eager=eager))
            said = key_of(call.text or "")
            if said != chain.said:
                chain.said = said
                if self.rules.person_is_news:
                    rounds.person = True
                    self._person(chain)
        elif call.name in _STARTS:
            self.settle(chain)
            rounds.person = True
            self._person(chain)

    def _loops(self, chain: RunChain, signals: tuple[Signal, ...]) -> None:
        for signal in signals:
            key = f"{LOOP}{signal.id}"
            action = Action.NUDGE
            if signal.kind in sentences.SPENDING:
                if signal.kind is LoopKind.SPEND_WITHOUT_NEWS and not self._is_flat(chain):
                    continue
                # Money that leaves is a person's to judge, and twice the threshold is what it takes.
                if signal.copies >= 2 and chain.was_told(key):
                    action = Action.ESCALATE
            elif signal.level is not Level.HINT and chain.was_told(key):
                action = Action.STOP
            verdict = self.loop_verdict(signal, action, goes_on=action is not Action.NUDGE)
            if signal.level is Level.HINT or action is not Action.NUDGE or key not in chain.board.items:
                chain.tell(key)
                self._say(chain.board, chain.turn, key, verdict)
            if self._listener is not None:
                self._listener.loop(signal, verdict)

    def _is_flat(self, chain: RunChain) -> bool:
        """Whether nothing has come for some turns by anybody's measure, not by the tools' alone."""
        self.heard(chain, chain.rounds.catch_up())
        return chain.turn - chain.fresh_turn >= self.rules.flat_turns

    def _burn(self, chain: RunChain, watch: ChainWatch) -> None:
        """Look whether spending and flatness together are enough."""
        rules, rounds = self.rules, chain.rounds
        least = rules.joint_from or 1.0
        calls = stretch(watch)
        if flatness(self.profile, calls, max(rounds.dry, rounds.calm)) < least:
            return
        limits = self.limits
        left_usd = None if limits is None else limits.left(LimitKind.COST_USD)
        left_tokens = None if limits is None else limits.left(LimitKind.TOKENS)
        left = {"left_usd": left_usd, "left_tokens": left_tokens}
        found = burn(self.profile, watch, chain.progress, rounds.dry, **left)
        if found.spending < least:
            return
        if rounds.waiting:
            self.heard(chain, rounds.catch_up())
            found = burn(self.profile, watch, chain.progress, rounds.dry, **left)
        if found.share < least:
            return
        before = chain.board.items.get(_JOINT)
        worse = found.share >= rules.joint_escalates_from and chain.was_told(_JOINT)
        action = Action.ESCALATE if worse else Action.NUDGE
        reason = f"{sentences.joint(found)}."
        verdict = self._verdict(action, Cause.JOINT, reason, "burn_without_progress", chain)
        if not worse:
            verdict = with_nudge(verdict, sentences.JOINT_NUDGE)
        if self._listener is not None:
            self._listener.said(verdict, max(self.events - found.calls - found.low_rounds + 1, 1))
        if (before is None and (worse or not chain.was_told(_JOINT))) or (
            before is not None and before.verdict.action is not action and worse
        ):
            chain.tell(_JOINT)
            self._say(chain.board, chain.turn, _JOINT, verdict)

    def _person(self, chain: RunChain) -> None:
        """A person said something new: whatever was said before is answered with it."""
        chain.untell(_JOINT)
        chain.lift_answered()
        self._progress(chain)

    def _progress(self, chain: RunChain) -> None:
        watch = self.monitor.watch_of(chain.name)
        if watch is not None:
            chain.progress = Progress(watch.spend.cost_usd or 0.0, watch.spend.tokens or 0)
        chain.fresh_turn = chain.turn
        chain.untell(_JOINT)

    def _news_place(self, chain: RunChain) -> int:
        watch = self.monitor.watch_of(chain.name)
        return 0 if watch is None else watch.repetition.answers.news

    def _boards(self, chain: RunChain | None) -> list[tuple[Board, int]]:
        # A hard limit is not a matter of turns: nobody extends it by waiting.
        return [(self.board, 1), *([(chain.board, chain.turn)] if chain else [])]

    def _say(self, board: Board, turn: int, key: str, verdict: Verdict) -> None:
        board.put(key, verdict, turn)
        self._said.append(verdict)

    def _verdict(
        self, action: Action, cause: Cause, reason: str, kind: str | None, chain: RunChain | None
    ) -> Verdict:
        return Verdict(
            action=action,
            cause=cause,
            reason=reason,
            event=self.events,
            kind=kind,
            chain_id=chain.name if chain else None,
            shadow=self._shadow,
        )
