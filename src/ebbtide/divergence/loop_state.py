"""One chain, as the loop monitor knows it: every detector, fed with its events in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ebbtide.budget.tally import Tally
from ebbtide.divergence.command_effects import CommandEffects
from ebbtide.divergence.detectors.across_chains import Chains
from ebbtide.divergence.detectors.failing import FailingTools
from ebbtide.divergence.detectors.hand_offs import HandOffs
from ebbtide.divergence.detectors.near_duplicates import stem_of
from ebbtide.divergence.detectors.repetition import Repetition
from ebbtide.divergence.detectors.same_tool import NO_CALL, SameTool
from ebbtide.divergence.detectors.speech import Speech, may_tell
from ebbtide.divergence.detectors.spend import Spend
from ebbtide.divergence.detectors.sweep import Sweeps
from ebbtide.divergence.loop_registry import Finding, Loop, LoopRegistry
from ebbtide.divergence.outcomes import AnswerTexts, Likeness, Outcomes, text_of
from ebbtide.divergence.signals import LoopKind
from ebbtide.divergence.waiting import Batch, Numbering, Waits
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, ToolCall
from ebbtide.events.identity import (
    FAILED,
    UNKNOWN,
    Answer,
    Key,
    identify,
    identify_answer,
    is_failed,
    key_of,
    settled,
    settled_answer,
    without_notes,
)
from ebbtide.events.outcome import NOTHING, CallOutcome, Ending, counts_deeds, outcome_of
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules

if TYPE_CHECKING:
    from ebbtide.divergence.told_calls import ToldCalls

_CALLERS = 64  # agents whose calls are known to be recorded
_NAME = 64  # characters of a name that are kept; the rest counts by its hash
_PASSIVE = (Effect.POLL, Effect.CLOCK)
_DEEDS = (Effect.CHANGE, Effect.ACKNOWLEDGE)
_MAYBE_DEEDS = (*_DEEDS, None)
_CYCLES = (LoopKind.REPEAT, LoopKind.CYCLE)


class LoopState:
    """What is known about one chain, in bounded memory.

    Rules speak in the order in which they explain best, one an event: a cycle before a call that comes again
    among others, before failures, before runs of one tool, before readings of known ground, before monotony.

    Args:
        name: The chain.
        rules: The thresholds.
        chains: What the chains of the session have in common.
        tally: Counts what the chain takes.
    """

    def __init__(self, name: str, rules: LoopRules, chains: Chains, tally: Tally) -> None:
        self._rules = rules
        self._stale = rules.stale or (1 << 62)
        self._tells = rules.told_actions
        self._window = rules.entropy_window  # one window is measured after the other
        self.name = name
        self.settle = False  # whether calls and answers are known by their settled keys alone
        self.chains = chains
        self.registry = LoopRegistry()
        self.repetition = Repetition(rules, self.registry, self._patience)
        self.waiting = Waits(rules, self.repetition)
        self.failing = FailingTools(rules, self.registry)
        self.effects = CommandEffects(self.repetition, self.failing)
        self.same_tool = SameTool(rules, self.registry)
        self.sweeps = Sweeps(rules)
        self.outcomes = Outcomes(rules, self.registry)
        self.texts = AnswerTexts()
        self.callers: dict[str | None, None] = {}  # agents whose calls are recorded
        self.telling: ToldCalls | None = (
            None  # made where an agent first tells an action, or is given an order
        )
        self.speech = Speech(rules)
        self.hand_offs = HandOffs(rules)
        self.tally = tally
        self.spend = Spend(rules, tally)
        self.event = 0  # number of the latest event
        self.numbering = Numbering()
        self.ts: float | None = None
        self.gap_s: float | None = None  # since the event before
        self.runs = 0
        self.unreadable = 0
        self.unrecorded = 0  # calls whose arguments are not known
        self.latest_user: Key = UNKNOWN
        self.has_spoken = False  # whether `speech` has anything to forget
        self.spending = False
        # Units of money, and tokens, spent before each of the latest calls.
        self.before_calls: deque[tuple[int, int]] = deque(maxlen=rules.max_period)
        self.latest = NO_CALL
        # Of the latest call: what its answer says, and its place with the same answer before, or 0.
        self.outcome: CallOutcome | None = None
        self.same_since = 0
        self.batch = Batch()
        self.retried = False

    def see(self, event: Event) -> Finding | None:
        """Take an event that is no call of a tool, and say what it shows."""
        if isinstance(event, ModelCall):
            # Before the words: a call that is told ends what was said before it.
            tells = self.telling is not None or (self._tells and may_tell(event.text, event.agent))
            finding = self.hear_told().see(event, self.event) if tells else None
            self.has_spoken = True
            return self._model(event) or finding
        if isinstance(event, Message):
            self._message(event)
            return None
        return self._notice(event) if isinstance(event, Notice) else None

    def pause(self) -> None:
        """So much time has passed that the same call is a new look at things."""
        self.repetition.pause()
        self.latest = NO_CALL

    def goes_on(self, loop: Loop) -> bool:
        """Whether nothing has happened that ends a loop."""
        if loop.kind in _CYCLES:
            going_on = self.repetition.going_on
            return going_on is not None and going_on.key == loop.key
        answers = self.repetition.answers
        return loop.last >= max(answers.latest_change, answers.start)

    def _new_run(self) -> None:
        self.runs += 1
        self._new_task()
        self.sweeps.reset()
        self.failing.tools.clear()
        self.hand_offs.reset()
        self.chains.several = True

    # One pass over the rules, in one piece: calls between its parts would take a tenth of its time.
    def call(  # noqa: PLR0915
        self, call: ToolCall, policy: ToolPolicy | None, turn: int | None = None
    ) -> Finding | None:
        """Take a call that has ended, and say what it shows.

        Args:
            call: The call.
            policy: What is declared about its tool.
            turn: Number of the turn of the model that asked for it; None where nobody counts them.
        """
        name, args, result, failed = call.name, call.args, without_notes(call.result), call.error
        if call.agent not in self.callers and len(self.callers) < _CALLERS:
            self.callers[call.agent] = None
        self.outcome, self.same_since = None, 0
        effects = self.effects
        effect = effects.begin(policy, args)
        if policy is not None:
            if policy.exempt:
                return None
            if effect is Effect.WAIT:
                self.waiting.has_time_passed = True
                self.speech.reset()
                return None
            name = policy.group or name
            args = policy.arguments(args)
            failed = failed or policy.failed(result)
            result = policy.answer(result)
        if len(name) > _NAME:
            name = f"{name[:_NAME]} {key_of(name).hex()}"
        if self.has_spoken:
            self.speech.reset()
            self.has_spoken = False
        if args is None:
            self.unrecorded += 1
            self._unreadable(name)
            return None
        identity = identify(name, args, settle=self.settle)
        answer = identify_answer(result, settle=self.settle)
        if identity is None or answer is None:
            self.unreadable += 1
            self._unreadable(name)
            return None
        key, size, numeric = identity
        text = result if type(result) is str else text_of(result)
        outcome = None
        if text is not None:
            outcome = outcome_of(text, args, failed=failed)
            if not text and effect is Effect.READ and policy is not None and not policy.is_command(args):
                outcome = NOTHING  # a query that finds nothing says nothing; a command that is quiet is well
            self.outcome = outcome
        if failed:
            answer = settled_answer(answer) + FAILED
        if self.batch.has(key, call.batch, turn) or (self.retried and self._sent(key, answer)):
            return None
        repetition, waiting, event = self.repetition, self.waiting, self.event
        answers, cycles = repetition.answers, repetition.cycles
        expected = answers.expected(key)
        if text:
            if expected is None or expected == answer:
                self.texts.put(key, text)
            elif (likeness := self.texts.compare(key, text)) and is_failed(expected) == failed:
                answer = expected
                if likeness is not Likeness.NOISE:
                    repetition.loosen(key)
        if expected == answer:
            self.same_since = answers.place(key)
        if expected is not None or outcome is not None or effects.is_full:
            effect = effects.latest
            effects.settle()
        now = repetition.calls = repetition.calls + 1
        if waiting.has_time_passed:
            waiting.has_time_passed, waiting.latest = False, now
        repetition.names.append(name)
        repetition.steps.append(event - repetition.event)
        repetition.event = event
        if self.spending:
            self.before_calls.append(self.spend.before(event))
        if effect is not None and effect in _PASSIVE:
            # Its work is waiting: only the same answer again and again counts, with more patience.
            if effect is Effect.CLOCK:
                answer = UNKNOWN  # what it says moves by itself
            elif answer != expected:
                answers.latest_news = answers.latest_change = now
                if self.spending:
                    self.spend.news()
            return waiting.look(name, key, answer, call)
        if text and expected == answer and effect not in _DEEDS and waiting.is_wait(key, text, outcome):
            return waiting.look(name, key, answer, call)
        bad = failed or (outcome is not None and outcome.ending is Ending.FAILED)
        is_look = bad or effect is Effect.READ
        if expected is not None and effect in _MAYBE_DEEDS and text and not bad and counts_deeds(text):
            answer = key_of("deed", now)  # something was done again, though it says the same
        memory = answers.see(key, answer, failed, now)
        if memory is None:
            period = None
            cycles.push_new((key, answer))
        else:
            period = cycles.push((key, answer))
        if memory is None or (memory.same_answers == 1 and not cycles.repeats_recent):
            answers.latest_news = now
            if bad or effects.wait(now):
                pass
            elif effect is Effect.CHANGE:
                self._changed(now)
            elif effect is None:
                answers.latest_change = now
            if self.spending:
                self.spend.news()
        finding = None
        if period is not None or repetition.going_on is not None:
            finding = repetition.cycle(
                period, policy, call, is_change=effect in _DEEDS and not bad, is_look=is_look
            )
        if (
            memory is not None
            and finding is None
            and ((memory.same_answers > 3 and (bad or effect not in _DEEDS)) or memory.failures > 2)
        ):
            finding = repetition.again(memory, key, name, policy, call, is_look=is_look)
        before, self.latest = self.latest, (name, key, size, answer, event)
        if name == before[0] or (answer == before[3] and stem_of(name) == stem_of(before[0])):
            if answer == before[3]:
                effect = effects.latest
            run = self.same_tool.follow(
                before, self.latest, args, result, policy, effect, now, is_told=outcome is not None
            )
            finding = finding or run
        if numeric:
            swept = self.sweeps.see(name, args, event, new=memory is None, known=answers.latest_news != now)
            finding = finding or swept
        if bad or self.failing.tools:
            # A call that was sent before, and fails again after other work, is a check, not another attempt;
            # and a service that is down says nothing about the attempts.
            if not bad:
                self.failing.succeeded(name)
            elif (memory is None or memory.failures > 1) and not self._patience(call):
                failing = self.failing.failed(
                    name, args, result, policy, answers.latest_change, now, event, by_text=not failed
                )
                finding = finding or failing
        if text is not None:
            ended = self.outcomes.see(
                name,
                key,
                answer,
                args,
                text,
                outcome,
                policy,
                effect,
                effects.command,
                now,
                event,
                failed=bad,
                times=0 if memory is None else memory.same_answers,
            )
            finding = finding or ended
        if self.chains.several and memory is not None and (memory.same_answers > 1 or failed):
            again, chain, call_key = memory.same_answers > 1, f"{self.name}#{self.runs}", settled(key)
            pair = call_key + settled_answer(answer)
            across = self.chains.see(pair, call_key, chain, name, event, repeated=again)
            finding = finding or across
        if finding is None and (now % self._window == 0 or now - answers.latest_news >= self._stale):
            finding = repetition.monotony()
        return finding

    def _unreadable(self, name: str) -> None:
        """A call that cannot be read matches nothing, not even itself."""
        repetition = self.repetition
        now = repetition.count(name, self.event)
        repetition.answers.latest_news = now
        repetition.cycles.push_new((b"unreadable %d" % now, UNKNOWN))
        repetition.going_on = None
        self.latest = NO_CALL

    def _sent(self, key: Key, answer: Answer) -> bool:
        """Whether a call after a retry is the one before it, sent again."""
        self.retried = False
        return self.repetition.answers.expected(key) == answer

    def _changed(self, now: int) -> None:
        """A call that is declared to change something did so: what is looked up now is a new look."""
        answers = self.repetition.answers
        answers.start = answers.latest_change = now
        self.repetition.forget_stream()
        self.latest = NO_CALL
        self.sweeps.reset()
        self.failing.tools.clear()
        self.hand_offs.reset()
        self.chains.reset()

    def _patience(self, call: ToolCall | None) -> int:
        return self.failing.patience(call, self.outcome, self.gap_s)

    def _model(self, event: ModelCall) -> Finding | None:
        text = event.text
        if event.part is ModelPart.CHUNK:
            return self.speech.stream(text, self.event) if text else None
        words = None if text is None else " ".join(text.split()).lower()
        if not words:
            return None
        key = key_of(event.part.value, words)
        self.hand_offs.hear(key, self.event)
        return self.speech.message(key, words, text or "", self.event)

    def hear_told(self) -> ToldCalls:
        """What reads what the agents tell of their actions; it is made where it is first needed."""
        if self.telling is None:
            from ebbtide.divergence.told_calls import ToldCalls  # hardly any run needs it

            self.telling = ToldCalls(self._rules, self.registry, self.repetition, self.callers, self.call)
        return self.telling

    def _message(self, event: Message) -> None:
        """New words of a person are news; the same words again come from a machine."""
        words = key_of(event.text or "")
        if words != self.latest_user:
            self.latest_user = words
            self._new_task()

    def _new_task(self) -> None:
        self.pause()
        self.speech.reset()
        self.outcomes.reset()
        if self.telling is not None:
            self.telling.reset()

    def _notice(self, event: Notice) -> Finding | None:
        kind = event.kind
        if kind is NoticeKind.RUN_START:
            self._new_run()
        elif kind is NoticeKind.RETRY:
            self.retried = True
            self.speech.reset()
        elif kind is NoticeKind.COMPACTION:
            self.has_spoken = True
            return self.speech.condensation(self.event)
        elif kind is NoticeKind.HANDOFF and (event.source is not None or event.target is not None):
            return self.hand_off(str(event.source), str(event.target))
        return None

    def hand_off(self, source: str, target: str) -> Finding | None:
        """One agent hands over to another."""
        repetition = self.repetition
        return self.hand_offs.hand_off(
            source, target, repetition.answers.latest_news, repetition.calls, self.event
        )

    def spent_before(self, event: int) -> tuple[int, int]:
        """Units and tokens that were spent before an event, or before the oldest one that is known."""
        backs = range(len(self.before_calls), 0, -1)
        back = next((back for back in backs if self.repetition.event_of(back) >= event), None)
        return self.spend.before(self.event) if back is None else self.before_calls[-back]
