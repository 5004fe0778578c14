"""One chain, as the loop monitor knows it: its events in order, and the detectors that see them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any, TypeVar

from ebbtide.budget.tally import Tally
from ebbtide.codec import As, State
from ebbtide.divergence.agent_tree import order_key
from ebbtide.divergence.answer_texts import AnswerTexts, Likeness, text_of
from ebbtide.divergence.chain_memory import ChainMemory, Detector, SessionMemory
from ebbtide.divergence.detector_table import DETECTORS, EVERYTHING, Restart, Sees, Trait
from ebbtide.divergence.detectors.errands import TALKS, Errands
from ebbtide.divergence.detectors.failing import FailingTools
from ebbtide.divergence.detectors.hand_offs import HandOffs
from ebbtide.divergence.detectors.same_tool import SameTool
from ebbtide.divergence.detectors.spawns import Spawns
from ebbtide.divergence.detectors.speech import Speech
from ebbtide.divergence.detectors.spend import Spend
from ebbtide.divergence.detectors.stated import Stated
from ebbtide.divergence.detectors.wake_ups import WakeUps
from ebbtide.divergence.loop_registry import Finding, Loop
from ebbtide.divergence.moment import Command, Moment, looks_at_rest
from ebbtide.divergence.numbering import Batch, Numbering
from ebbtide.events.awaited import has_come_so_far, is_over, is_under_way, may_pass, may_still_come
from ebbtide.events.effect import Effect
from ebbtide.events.event import Message, ModelCall, ModelPart, Notice, NoticeKind, Role, ToolCall
from ebbtide.events.identity import FAILED, UNKNOWN, Key, is_failed, key_of, settled_answer
from ebbtide.events.outcome import (
    NOTHING,
    CallOutcome,
    Ending,
    counts_deeds,
    is_cancelled,
    is_refused_for_load,
    outcome_of,
)
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind

_CALLERS = 64  # agents whose calls are known to be recorded
_COMMANDS = 64  # commands that wait
_AGENTS = 1_024  # orders of agents that are under way
_LONG_GAP_S = 100.0  # between a call and whatever came before it, from which it is a rest
_GLANCE = 300  # characters of an answer up to which a look may be a mere glance
_REPORT = 600  # characters of the answer of an agent from which it reports what it found, also failures
_NAME = 64  # characters of a name that are kept; the rest counts by its hash
_PASSIVE = (Effect.POLL, Effect.CLOCK)
_MAYBE_DEEDS = (Effect.CHANGE, Effect.ACKNOWLEDGE, None)
# Plain numbers and names: combining members of a flag takes as long as a detector.
_KNOWN, _LOOK, _NUMBERS, _CHANGE, _NO_READ, _FAILURE = (int(trait) for trait in Trait)
_READ, _CHANGES = Effect.READ, Effect.CHANGE
_CYCLES = (LoopKind.REPEAT, LoopKind.CYCLE)

_D = TypeVar("_D", bound=Detector)
# A detector's `see`, the bit that stands for it, and the bits of those that it excuses.
_Listener = tuple[Callable[[Moment], Finding | None], int, int]


# What a command did is all that is kept of one that waits.
_Waiting = Annotated[
    Command,
    As(lambda command: command[0].effect_of(command[1]), lambda effect: (ToolPolicy(effect=effect), None)),
]


class _UnreadCommands(State):
    """The commands of a chain whose effect is not known yet: what they did is found out when it matters.

    Reading a command line takes longer than everything else that is done with a call, and most are new.

    Args:
        memory: What is known of the chain.
    """

    _waiting: list[tuple[int, _Waiting]] = []  # with their places

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__()
        self._memory = memory

    @property
    def is_full(self) -> bool:
        """True if too many commands wait."""
        return len(self._waiting) >= _COMMANDS

    def wait(self, moment: Moment) -> bool:
        """Let a call wait where it is a command that was not read yet: whether it is one."""
        if moment.command is None:
            return False
        self._waiting.append((moment.now, moment.command))
        return True

    def settle(self) -> bool:
        """Find out what those that wait did; whether one of them changed something.

        From a change on, what is looked up is a new look.
        """
        if not self._waiting:
            return False
        has_changed = False
        repetition = self._memory.repetition
        answers, cycles, latest = repetition.answers, repetition.cycles, repetition.calls
        for now, (policy, args) in self._waiting:
            effect = policy.effect_of(args)
            if effect in _MAYBE_DEEDS:
                self._memory.deeds += 1
            if effect is Effect.CHANGE:
                symbols = cycles.recent[max(len(cycles) - (latest - now), 0) :]
                answers.start = answers.latest_change = now
                repetition.forget_stream()
                has_changed = True
                for symbol in symbols:
                    cycles.push(symbol)
            elif effect is None:
                answers.latest_change = max(answers.latest_change, now)
        self._waiting.clear()
        return has_changed


class LoopState(State):
    """State of one chain, in bounded memory.

    Args:
        name: The chain.
        rules: The thresholds.
        session: What the chains of the session share.
        tally: Counts what the chain takes.

    Attributes:
        event: Number of the latest event.
        ts: Time of the chain; None where none is known.
        gap_s: Seconds since the event before.
        settle: Whether calls and answers are known by their settled keys alone.
        moment: The latest call; None before the first.
        outcome: What the answer of the latest call says.
        same_since: Its place with the same answer before, or 0.
    """

    memory: ChainMemory
    tally: Tally
    numbering: Numbering
    _batch: Batch
    _texts: AnswerTexts
    _effects: _UnreadCommands
    event: int = 0
    ts: float | None = None
    gap_s: float | None = None
    has_time_passed: bool = False  # since the latest call
    has_waited: bool = False  # whether a call that waits was part of that
    is_broken: bool = False  # whether the latest call failed for no want of time
    is_paused: bool = False  # whether a long pause began after such a call
    _begun: dict[Key, int] = {}  # starts of agents whose calls have not ended, by their order
    unreadable: int = 0
    unrecorded: int = 0  # calls whose arguments are not known
    latest_user: Key = UNKNOWN
    has_spoken: bool = False  # whether `Speech` has anything to forget
    spending: bool = False
    retried: bool = False
    before_calls: deque[tuple[int, int]]  # units of money, and tokens, spent before each of the latest calls

    def __init__(self, name: str, rules: LoopRules, session: SessionMemory, tally: Tally) -> None:
        super().__init__()
        self.name = name
        self.settle = False
        self.memory = memory = ChainMemory(name, rules, session, tally)
        memory.take_deed = self._take_deed
        self.registry = memory.registry
        self.repetition = memory.repetition
        self.tally = tally
        self.detectors: dict[str, Detector] = {row.name: row.make(memory) for row in DETECTORS}
        # Traits of a call -> those that listen to it.
        self._calls: dict[int, tuple[_Listener, ...]] = {}
        self._talk = self._listeners(Sees.TALK)
        self._spawns = self._detector(Spawns)
        self._errands = self._detector(Errands)
        self.stated = self._detector(Stated)
        self.spend = self._detector(Spend)
        self.hand_offs = self._detector(HandOffs)
        self.wake_ups = self._detector(WakeUps)
        self._speech = self._detector(Speech)
        self._same_tool = self._detector(SameTool)
        self._failing = self._detector(FailingTools)
        self._forgetful = {
            news: [self.detectors[row.name] for row in DETECTORS if news in row.forgets] for news in Restart
        }
        self._effects = _UnreadCommands(memory)
        self._starts = memory.started
        self._texts = AnswerTexts()
        self._batch = Batch()
        self.numbering = Numbering()
        self.before_calls = deque(maxlen=rules.max_period)
        self.moment: Moment | None = None
        self.outcome: CallOutcome | None = None
        self.same_since = 0
        self.has_failures = False  # whether any call failed or came back empty

    def _listeners_to(self, moment: Moment) -> tuple[_Listener, ...]:
        """The detectors that may have something to say about a call: about most that are new, few have."""
        effect = moment.effect
        traits = _KNOWN if moment.memory is not None else 0
        if moment.is_look or moment.has_rested:
            traits |= _LOOK
        if moment.has_numbers:
            traits |= _NUMBERS
        if effect is not _READ:
            traits |= _CHANGE | _NO_READ if effect is _CHANGES else _NO_READ
        if self.has_failures or moment.has_failed or moment.outcome is not None:
            self.has_failures = True
            traits |= _FAILURE
        listeners = self._calls.get(traits)
        if listeners is None:
            listeners = self._calls[traits] = self._listeners(Sees.CALL, traits)
        return listeners

    def _listeners(self, sees: Sees, traits: int = 0) -> tuple[_Listener, ...]:
        detectors = self.detectors
        return tuple((detectors[name].see, bit, excused) for name, bit, excused in _plan(sees, traits))

    def _detector(self, kind: type[_D]) -> _D:
        return next(one for one in self.detectors.values() if isinstance(one, kind))

    @property
    def effect(self) -> Effect | None:
        """Effect of the latest call; None where it is not known."""
        return None if self.moment is None else self.moment.read_effect()

    def see(self, moment: Moment) -> Finding | None:
        """Take an event that is no call of a tool, and say what it shows."""
        event = moment.event
        if isinstance(event, ModelCall):
            stated = self.stated.see(moment)  # before the words: a stated call ends what was said before it
            self.has_spoken = True
            words = None
            if event.text is not None and event.part is not ModelPart.CHUNK:
                words = " ".join(event.text.split()).lower()
            if words:
                moment.key = key_of(event.part.value, words)
            moment.text = words or None
            return _explain(moment, self._talk) or stated
        if isinstance(event, Message):
            self._message(event)
            self._settle()
            return _explain(moment, self._talk)
        return self._notice(moment, event) if isinstance(event, Notice) else None

    def pause(self) -> None:
        """So much time has passed that the same call is a new look at things."""
        self.is_paused = False
        self.repetition.pause()
        self._forget(Restart.PAUSE)

    def rest(self) -> None:
        """Much time passes: a new look at things, unless the next call fails again as the latest did."""
        if self.is_broken:
            self.is_paused = True
        else:
            self.pause()

    def goes_on(self, loop: Loop) -> bool:
        """True if nothing has happened that ends a loop."""
        if loop.kind in _CYCLES:
            going_on = self.repetition.going_on
            return going_on is not None and going_on.key == loop.key
        answers = self.repetition.answers
        return loop.last >= max(answers.latest_change, answers.start)

    def call(
        self, moment: Moment, call: ToolCall, policy: ToolPolicy | None, turn: int | None
    ) -> Finding | None:
        """Take a call that has ended, and say what it shows.

        Args:
            moment: The moment of it.
            call: The call.
            policy: What is declared about its tool.
            turn: Number of the turn of the model that asked for it; None where nobody counts them.
        """
        callers = self.memory.callers
        if call.agent not in callers and len(callers) < _CALLERS:
            callers[call.agent] = None
        self.moment, self.outcome, self.same_since = moment, None, 0
        moment.begin(call, policy)
        if not self._counts(moment, call, turn):
            # A batch is one try, but each of its agents answers for itself.
            is_agent = self.outcome is not None and policy is not None and policy.spawns is not None
            return self._errands.see(moment) if is_agent else None
        self._compare(moment)
        self._remember(moment)
        if moment.ts is not None and moment.has_news:
            self.wake_ups.ask(moment)
        finding = _explain(moment, self._listeners_to(moment))
        if policy is not None and (policy.spawns is not None or moment.name in TALKS):
            self._settle()
            errand = self._errands.see(moment)
            finding = self.end_agent(moment, call, policy) or errand or finding
        moment.condense()
        return finding

    def _counts(self, moment: Moment, call: ToolCall, turn: int | None) -> bool:
        """Find out what a call is known by; whether it counts as one."""
        policy = moment.policy
        if policy is not None:
            if policy.exempt:
                return False
            if moment.effect is Effect.WAIT:
                self.has_time_passed = self.has_waited = True
                if not _shows_end(call, policy):
                    self._speech.reset()
                    return False
                moment.effect = Effect.POLL
            moment.name = policy.group or call.name
            effect = moment.effect
            if policy.command is None and policy.key_fields is None and effect not in _PASSIVE:
                moment.args = call.args
            else:
                moment.args = policy.arguments(call.args, effect)
        if len(moment.name) > _NAME:
            moment.name = f"{moment.name[:_NAME]} {key_of(moment.name).hex()}"
        if self.has_spoken:
            self._speech.reset()
            self.has_spoken = False
        if moment.args is None:
            self.unrecorded += 1
            self._unreadable(moment.name)
            return False
        if not moment.identify(call, settle=self.settle):
            self.unreadable += 1
            self._unreadable(moment.name)
            return False
        result = moment.result
        text = moment.text = result if type(result) is str else text_of(result)
        if text is not None:
            is_report = policy is not None and policy.spawns is not None and len(text) > _REPORT
            outcome = None if is_report else outcome_of(text, moment.args, failed=moment.is_flagged)
            if not text and moment.effect is Effect.READ and not moment.is_command and policy is not None:
                outcome = NOTHING  # a query that finds nothing says nothing; a command that is quiet is well
            self.outcome = moment.outcome = outcome
            if outcome is not None and outcome.ending is Ending.FAILED:
                moment.has_failed = True
        if moment.is_flagged:
            moment.answer = settled_answer(moment.answer) + FAILED
            if text and is_cancelled(text):
                return False
        if self._batch.has(moment.key, call.batch, turn):
            return False
        # What a batch changed or found is news, each for itself; that it failed is so once.
        if moment.has_failed and call.batch is not None and self._batch.fails_again():
            return False
        return not (self.retried and self._is_sent_again(moment))

    def _compare(self, moment: Moment) -> None:
        """Hold the answer of a call against the one that it gave before, and give the call its place."""
        key, text, answers = moment.key, moment.text, self.repetition.answers
        expected = answers.expected(key)
        if text:
            if expected is None:
                self._texts.put(key, text)
            elif expected == moment.answer:
                self._texts.again(key, text)
            elif (
                likeness := self._texts.compare(
                    key, text, deed=None if moment.whole_effect is Effect.READ else moment.arguments
                )
            ) is Likeness.PROGRESS:
                moment.is_progress = True
            elif likeness and is_failed(expected) == moment.is_flagged:
                moment.answer = expected
                if likeness is Likeness.FRESH_NAMES:
                    self.repetition.loosen(key)
        if expected is not None:
            moment.before = answers.place(key)
            if expected == moment.answer:
                self.same_since = moment.same_since = moment.before
                self.memory.known_looks += moment.effect is _READ
        if self.is_paused and not (moment.same_since and (moment.has_failed or is_over(text or ""))):
            self.pause()
        self.is_paused = False
        if expected is not None or moment.outcome is not None or self._effects.is_full:
            moment.read_effect()
            self._settle()
        moment.now = now = self.repetition.count(moment.name, moment.number)
        is_later = self.has_time_passed
        if is_later:
            self.has_time_passed, self.repetition.latest_wait = False, now
        if self.has_waited:
            self.has_waited, self.repetition.latest_rest = False, now
            moment.has_rested = moment.effect is _READ
        elif moment.effect is Effect.POLL:
            moment.has_rested = is_later or moment.pause_s > 0
        elif is_later and (not moment.is_deed or (moment.has_failed and may_pass(moment.beginning))):
            is_long = moment.effect is _READ and (moment.gap_s or 0.0) >= _LONG_GAP_S
            moment.has_rested = is_long or moment.pause_s > 0
        if self.spending:
            self.before_calls.append(self.spend.before(moment.number))

    def _settle(self) -> None:
        """Find out what commands did that were not read yet."""
        if self._effects.settle():
            self.memory.changes += 1
            self._failing.reset()

    def _remember(self, moment: Moment) -> None:
        """Enter a call, and say whether it brought news or changed something."""
        is_down = moment.outcome is not None and moment.outcome.is_down
        self.is_broken = moment.has_failed and not is_down
        repetition, now, effect = self.repetition, moment.now, moment.effect
        answers, same = repetition.answers, moment.same_since > 0
        if (same or effect in _PASSIVE) and self._is_look(moment, same=same):
            moment.is_look = True
            if effect is Effect.CLOCK:
                moment.answer = UNKNOWN  # what it says moves by itself
            elif not same:
                answers.latest_news = answers.latest_change = now
                self.memory.witnessed += 1
                self.memory.deeds += 1
                if self.spending:
                    self.spend.news()
            moment.memory = answers.see(moment.key, moment.answer, False, now)  # noqa: FBT003
            return
        # Something was done again, though it says the same.
        may_be_deed = moment.before > 0 and effect in _MAYBE_DEEDS and not moment.has_failed
        if may_be_deed and moment.text and counts_deeds(moment.text):
            moment.answer = key_of("deed", now)
        memory = answers.see(moment.key, moment.answer, moment.is_flagged, now)
        if memory is None:
            repetition.cycles.push_new((moment.key, moment.answer))
            repetition.going_on = None
        else:
            if moment.is_progress:  # whatever was done between two of such answers, it was not in vain
                memory.failures = min(memory.failures, 1)
                answers.latest_change = self.memory.advanced_at = now
            moment.memory, moment.times = memory, memory.same_answers
            moment.period = repetition.cycles.push((moment.key, moment.answer))
            if memory.same_answers > 1 or repetition.cycles.repeats_recent:
                return
        moment.has_news = True
        answers.latest_news = now
        if not moment.has_failed:
            self._starts.wait(moment)
            self.memory.witnessed += 1
            if moment.is_progress or moment.has_numbers or len(moment.text or "") > _GLANCE:
                self.memory.deeds += 1  # reading that goes on is work, too
        if not moment.has_failed and not self._effects.wait(moment):
            if effect in _MAYBE_DEEDS:
                self.memory.deeds += 1
            if effect is Effect.CHANGE:
                self._changed(now)
            elif effect is None:
                answers.latest_change = now
        if self.spending:
            self.spend.news()

    def _is_look(self, moment: Moment, *, same: bool) -> bool:
        """Returns True if a call looks at something that takes its time, and may still come."""
        effect, in_vain = moment.effect, same and self._is_in_vain(moment)
        if effect is Effect.POLL and moment.text is not None and is_over(moment.text):
            self.is_broken = in_vain = True
        is_retry = same and moment.has_failed and moment.has_rested and effect is not _READ
        if (effect in _PASSIVE or is_retry) and not in_vain:
            return True
        return same and self._waits(moment)

    def _waits(self, moment: Moment) -> bool:
        """True if a look that shows what it showed before waits for something."""
        text, repetition = moment.text, self.repetition
        if not text or moment.is_deed or self._is_in_vain(moment):
            return False
        has_time_passed = repetition.latest_wait > moment.before
        is_news_due = is_under_way(text) or (has_time_passed and self._is_worth_a_pause(moment, text))
        return is_news_due and may_still_come(text, moment.outcome)

    def _is_worth_a_pause(self, moment: Moment, text: str) -> bool:
        """Returns True if something that is looked at again after a pause may have changed by itself."""
        repetition = self.repetition
        # A pause alone is no reason to look again at what changes only where somebody changes it.
        if not looks_at_rest(moment):
            return True
        is_rest = repetition.latest_rest > moment.before
        return is_rest or self._starts.is_any(repetition.calls) or has_come_so_far(text)

    def _is_in_vain(self, moment: Moment) -> bool:
        """Returns True if a look that shows the same again shows a failure that nothing could end."""
        if not moment.has_failed or (moment.has_rested and may_pass(moment.beginning)):
            return False
        repetition = self.repetition
        is_down = moment.outcome is not None and moment.outcome.is_down
        if self._starts.is_any(repetition.calls):
            return not (is_down or moment.is_empty)
        has_rested = moment.effect is Effect.POLL or repetition.latest_rest > moment.before
        if is_down and moment.has_rested and is_under_way(moment.text or ""):
            return False
        return not (is_down and has_rested and is_refused_for_load(moment.beginning))

    def _unreadable(self, name: str) -> None:
        """A call that cannot be read matches nothing, not even itself."""
        repetition = self.repetition
        self.memory.witnessed += 1
        self.memory.deeds += 1
        now = repetition.count(name, self.event)
        repetition.answers.latest_news = now
        repetition.cycles.push_new((b"unreadable %d" % now, UNKNOWN))
        repetition.going_on = None
        self._same_tool.reset()

    def _is_sent_again(self, moment: Moment) -> bool:
        """True if a call after a retry is the one before it, sent again."""
        self.retried = False
        return self.repetition.answers.expected(moment.key) == moment.answer

    def _changed(self, now: int) -> None:
        """A call that is declared to change something did so: what is looked up now is a new look."""
        answers = self.repetition.answers
        answers.start = answers.latest_change = now
        self.memory.changes += 1
        self.repetition.forget_stream()
        self._forget(Restart.CHANGE)

    def _forget(self, news: Restart) -> None:
        for detector in self._forgetful[news]:
            detector.reset()

    def _take_deed(self, call: ToolCall) -> Finding | None:
        """Take a call that an agent states: nothing is declared about it."""
        return self.call(Moment(call, self.event, self.ts, self.gap_s), call, None, None)

    def start_agent(self, moment: Moment, order: str) -> Finding | None:
        """An agent is started with an order."""
        moment.start = self.memory.session.tree.start(self.name, order)
        self.tally.add_agent(moment.start.depth)
        return self._spawns.see(moment)

    def begin_agent(self, moment: Moment, call: ToolCall, policy: ToolPolicy) -> Finding | None:
        """A call that starts an agent is made; its end is not known."""
        order = policy.order_of(call.args)
        if order is None:
            return None
        if len(self._begun) < _AGENTS:
            key = order_key(order)
            self._begun[key] = self._begun.get(key, 0) + 1
        return self.start_agent(moment, order)

    def end_agent(self, moment: Moment, call: ToolCall, policy: ToolPolicy) -> Finding | None:
        """A call that starts an agent has ended: it counts, unless its beginning did."""
        order = policy.order_of(call.args)
        if order is None:
            return None
        key = order_key(order)
        if key in self._begun:
            self._begun[key] -= 1
            if not self._begun[key]:
                del self._begun[key]
            return None
        return self.start_agent(moment, order)

    def _message(self, event: Message) -> None:
        """New words of a person are news; the same words again come from a machine."""
        if self.latest_user == UNKNOWN and event.text:
            self.memory.session.tree.begin(self.name, event.text, is_by_person=event.role is Role.USER)
        if event.text and event.role is Role.USER:
            self._errands.hear(event.text)
        words = key_of(event.text or "")
        if words != self.latest_user:
            self.latest_user = words
            self.memory.started.hear(event.text or "")
            self._new_task()

    def _new_task(self) -> None:
        self.pause()
        self._forget(Restart.TASK)

    def _notice(self, moment: Moment, event: Notice) -> Finding | None:
        kind = event.kind
        if kind is NoticeKind.SPAWN and event.text:
            return self.start_agent(moment, event.text)
        if kind is NoticeKind.RUN_START:
            self.memory.runs += 1
            self._new_task()
            self._forget(Restart.RUN)
            self.memory.session.several = True
        elif kind is NoticeKind.RETRY:
            self.retried = True
            self._speech.reset()
        elif kind is NoticeKind.NOTE and event.text and event.text[:1] == "<":
            self._errands.hear(event.text, is_task=False)
        elif kind is NoticeKind.COMPACTION:
            self.has_spoken = True
            self.memory.condensed_at = self.repetition.calls
        self._settle()
        return _explain(moment, self._talk)

    def spent_before(self, event: int) -> tuple[int, int]:
        """Units and tokens that were spent before an event, or before the oldest one that is known."""
        backs = range(len(self.before_calls), 0, -1)
        back = next((back for back in backs if self.repetition.event_of(back) >= event), None)
        return self.spend.before(self.event) if back is None else self.before_calls[-back]

    def to_state(self) -> Any:
        """Everything that later findings about the chain depend on."""
        detectors = {name: detector.to_state() for name, detector in self.detectors.items()}
        return {**super().to_state(), "detectors": detectors}

    def restore(self, state: Any) -> None:
        """Make a new chain what `to_state` described; it knows calls by their settled keys alone."""
        self.settle = self.has_failures = True  # that it was so costs a look more, and changes nothing
        super().restore(state)
        for name, detector in self.detectors.items():
            detector.restore(state["detectors"][name])


@cache
def _plan(sees: Sees, traits: int) -> tuple[tuple[str, int, int], ...]:
    """Returns the detectors for an event of such traits: name, own bit, bits of those that it excuses."""
    rows = [row for row in DETECTORS if row.sees is sees and (row.needs is None or int(row.needs) & traits)]
    bits = {row.name: 1 << place for place, row in enumerate(rows)}
    return tuple(
        (
            row.name,
            bits[row.name],
            ~0 if row.excuses is EVERYTHING else sum(bits.get(name, 0) for name in row.excuses),
        )
        for row in rows
    )


def _shows_end(call: ToolCall, policy: ToolPolicy) -> bool:
    """Returns True if a call that waits, for no person, shows something that is over: there is no waiting."""
    return isinstance(call.result, str) and not policy.ends and is_over(call.result)


def _explain(moment: Moment, listeners: Iterable[_Listener]) -> Finding | None:
    """Show an event to the detectors that nobody excuses; the finding of the first that speaks."""
    finding, excused = None, 0
    for see, bit, excuses in listeners:
        if excused and excused & bit:
            continue
        seen = see(moment)
        if seen is not None:
            finding = finding or seen
            excused |= excuses
    return finding
