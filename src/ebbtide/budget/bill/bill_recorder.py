"""The bill of a run, as it goes on: a fold over its events, in memory that grows with its calls of models.

Between two calls of one context the input grew by what came between: the answer of the model, the results of
tools, the words of people. So what each event put into the context is known from the usage alone. It pays
when it enters, and at each later call that reads it again, until it is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final, NamedTuple

from ebbtide.budget.bill.advice import with_advice
from ebbtide.budget.bill.bill import WASTED, Bill, Compaction, ContextPart, WasteKind
from ebbtide.budget.bill.charges import charge_of
from ebbtide.budget.bill.context import Charge, Context, Item, missed_ranges
from ebbtide.budget.bill.growth import first_growth, growth_of, is_understated
from ebbtide.budget.bill.ledger import Ledger
from ebbtide.budget.bill.statement import bill_of
from ebbtide.budget.bill.titles import call_title, file_of, length_of, task_title
from ebbtide.budget.prices import Prices
from ebbtide.budget.reconciling import Settlement
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
from ebbtide.events.usage import CHARACTERS_OF_TOKEN, Usage
from ebbtide.text.excerpt import one_line

_CONTEXTS: Final = 4  # of a chain that may go on
_LOG: Final = 10_000  # items that wait to be read by another context of their chain
_LEAST_MISS: Final = 1_024  # tokens; caches hold no smaller part
_MISS_SHARE: Final = 0.05  # of what was in the cache; less is an error of counting
_COMPACTION: Final = 2_000  # tokens
_TITLED: Final = 400  # characters of an answer from which on its call is named in full
_PAUSE_S: Final = 300.0  # how long a cache lasts where nothing else is stated
_LONG_PAUSE_S: Final = 3_600.0  # and one that was written for an hour
_FEW_WORDS: Final = 200  # characters beside a list of tasks; more are a report
_EXCERPT: Final = 80  # characters of a refusal


class CallReview(NamedTuple):
    """Review of a call of a tool: what is known of it beside its event.

    Args:
        name: What a person would call it: the tool, or the command of a shell.
        waste: Why it bought nothing, or could have been had for less; None where nothing is known.
        has_failed: Whether it failed.
        changes: Whether it changed something.
        was_refused: Whether it was not allowed, so that it was never made.
        was_cancelled: Whether its harness dropped it, since another call of its batch failed.
    """

    name: str
    waste: WasteKind | None = None
    has_failed: bool = False
    changes: bool = False
    was_refused: bool = False
    was_cancelled: bool = False


@dataclass(slots=True, eq=False)
class _Turn:
    """A call of a model, and the calls of tools that came of it."""

    charge: Charge
    words: Item
    context: Context | None  # that the call read; None where it states no size of one
    calls: list[tuple[Item, int]] = field(default_factory=list)  # with the length of their arguments
    refusal: str | None = None  # of the harness, which could not use the answer
    asks: bool = False  # whether its words end in a question


@dataclass(slots=True, eq=False)
class _Chain:
    log: list[Item] = field(default_factory=list)
    offset: int = 0  # items before the log
    contexts: list[Context] = field(default_factory=list)
    turn: _Turn | None = None
    model: str = ""
    ts: float | None = None  # of the latest call of a model
    instructions: int = 0  # tokens that stand before everything else
    compacted: tuple[int, int] | None = None  # the event, and the tokens before it

    def put(self, item: Item) -> None:
        """Put something behind the log, which all contexts have still to read."""
        self.log.append(item)
        if item.length:
            for context in self.contexts:
                context.waiting += item.length


class BillRecorder:
    """Takes the events of a run in order, each with what it was counted with.

    Args:
        prices: What tokens cost, so that the cost of a call can be shown by class.
        zone: By whose calendar a day begins; None takes that of this machine.
    """

    def __init__(self, prices: Prices | None = None, *, zone: tzinfo | None = None) -> None:
        self._prices = prices
        self._zone = zone
        self._chains: dict[str, _Chain] = {}
        self._root: str | None = None
        self.ledger = Ledger()

    def add(self, event: Event, number: int, cost: int | None, review: CallReview | None = None) -> None:
        """Take the next event.

        Args:
            number: Its number in the run, from 1.
            cost: Units that it was counted with; None where it has no usage, or nobody knows.
            review: Of a call of a tool, what else is known.
        """
        chain = self._chains.get(event.chain_id)
        if chain is None:
            chain = self._chains[event.chain_id] = _Chain()
            if self._root is None:
                self._root = event.chain_id
        if event.ts is not None:
            self.ledger.now = event.ts
        usage = event.usage
        if isinstance(event, ToolCall):
            if event.phase is not Phase.STARTED:
                item = self._tool(chain, event, number, review or CallReview(event.name))
                if usage is not None and (usage.has_tokens or cost):
                    self._spend_on(chain, item, event, usage, cost)
                    return
        elif isinstance(event, ModelCall):
            if event.part is ModelPart.WHOLE:
                self._model(chain, event, number, cost)
                return
        elif isinstance(event, Message):
            self._message(chain, event, number)
        elif isinstance(event, Notice):
            self._notice(chain, event, number)
        if usage is not None:
            self.ledger.spend_apart(event, usage, cost)

    def settle(self, event: Event, settlement: Settlement) -> None:
        """Takes a total that is stated of the whole run, as it was held against the calls."""
        if event.ts is not None:
            self.ledger.now = event.ts
        self.ledger.settle(settlement)

    def _message(self, chain: _Chain, message: Message, number: int) -> None:
        part = ContextPart.INSTRUCTIONS if message.role is Role.SYSTEM else ContextPart.PERSON
        if part is ContextPart.PERSON and message.chain_id == self._root:
            is_answer = chain.turn is not None and chain.turn.asks and not chain.turn.calls
            self.ledger.request(number, message.text or "", is_answer=is_answer)
        length = None if message.text is None else len(message.text)
        chain.put(Item(number, part, length, title=(message.text or "")[:200]))

    def _notice(self, chain: _Chain, notice: Notice, number: int) -> None:
        if notice.kind is NoticeKind.COMPACTION:
            size = max((context.size for context in chain.contexts), default=0)
            self._close(chain, list(chain.contexts))
            if size:
                chain.compacted = (number, size)
        if notice.error and chain.turn is not None and not chain.turn.calls:
            chain.turn.refusal = one_line((notice.text or "")[:_TITLED], _EXCERPT)
        if notice.text:
            is_summary = chain.compacted is not None and notice.kind is NoticeKind.NOTE
            part = ContextPart.SUMMARY if is_summary else ContextPart.NOTES
            chain.put(Item(number, part, len(notice.text), title=notice.text[:200]))

    def _tool(self, chain: _Chain, call: ToolCall, number: int, review: CallReview) -> Item:
        length = None if call.result is None else length_of(call.result)
        # A small answer is not among the most expensive.
        is_small = length is not None and length < _TITLED and review.waste is None and call.usage is None
        item = Item(
            number,
            ContextPart.TOOL_OUTPUT,
            length,
            review.name,
            file_of(call.args),
            review.name if is_small else call_title(review.name, call.args),
            review.waste,
            review.has_failed,
        )
        if len(chain.log) > 2 * _LOG:
            self._trim(chain)
        chain.put(item)
        self.ledger.call(item, changes=review.changes)
        if call.starts is not None:
            self.ledger.start(call.starts, task_title(call.args))
        if chain.turn is not None:
            asked_for = length_of(call.args)
            chain.turn.calls.append((item, asked_for))
            if chain.turn.words.length is not None:
                chain.turn.words.length += asked_for
                for context in chain.contexts:
                    if context is not chain.turn.context:
                        context.waiting += asked_for
        return item

    def _spend_on(self, chain: _Chain, item: Item, call: ToolCall, usage: Usage, cost: int | None) -> None:
        """A call of a tool states itself what it took."""
        charge = self._charge(call, usage, item.event, cost)
        self.ledger.charge_call(item, charge, usage, agent=call.agent or call.chain_id)
        if item.waste in WASTED:
            call_item = item if chain.turn is None else None  # else it counts at the end of its turn
            tokens = charge.size + charge.output
            self.ledger.waste(item.waste, charge.cost or 0, tokens, call_item, tool=item.tool)

    def _model(self, chain: _Chain, call: ModelCall, number: int, cost: int | None) -> None:
        usage = call.usage
        if usage is None or not usage.has_tokens:
            if usage is not None and cost:
                self.ledger.spend_apart(call, usage, cost)
            if call.text:
                chain.put(Item(number, ContextPart.OWN_WORDS, len(call.text), title=call.text[:200]))
            return
        self._end_turn(chain)
        charge = self._charge(call, usage, number, cost)
        agent = call.agent or call.chain_id
        self.ledger.charge(charge, usage, agent=agent)
        words = Item(
            number,
            ContextPart.OWN_WORDS,
            None if call.text is None else len(call.text),
            title=(call.text or "")[:200],
        )
        context: Context | None = None
        if charge.size:
            context = self._context(chain, charge, call.agent)
            self._extend(chain, context, charge, call)
            context.charge(charge)
            context.own_words = words
            if call.chain_id == self._root:
                self.ledger.read_context(charge)
        chain.put(words)
        if context is not None:
            context.position, context.waiting = chain.offset + len(chain.log), 0
        chain.turn = _Turn(charge, words, context, asks=(call.text or "").rstrip().endswith("?"))
        chain.model, chain.ts = usage.model or "", call.ts
        self._trim(chain)

    def _charge(self, call: ModelCall | ToolCall, usage: Usage, number: int, cost: int | None) -> Charge:
        rates = None
        if cost is not None and self._prices is not None and usage.model:
            sizes = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
            size = sum(count for count in sizes if type(count) is int and count > 0)
            tier = usage.tier
            rates = self._prices.rates(usage.model, input_tokens=size, ts=call.ts, tier=tier)
            if rates is None and usage.stated_cost is not None:
                # A router states what it took; its classes cost in proportion what they cost at the maker's.
                maker = usage.model.rpartition("/")[2]
                rates = self._prices.rates(maker, input_tokens=size, ts=call.ts, tier=tier)
        return charge_of(number, usage, cost, rates)

    def _context(self, chain: _Chain, charge: Charge, agent: str | None) -> Context:
        """The context that a call goes on with: the one whose expected size is nearest; or a new one."""
        nearest: Context | None = None
        distance = 0.0
        for context in chain.contexts:
            if context.agent == agent and 2 * charge.size >= context.size:
                gap = abs(charge.size - context.size - _expected(context))
                if nearest is None or gap < distance:
                    nearest, distance = context, gap
        if nearest is None:
            same = [context for context in chain.contexts if context.agent == agent]
            position = max((context.position for context in same), default=chain.offset)
            nearest = Context(agent=agent, position=position)
            if same and chain.compacted is None:
                nearest.follows = max(same, key=lambda context: context.position)
            if len(chain.contexts) >= _CONTEXTS:
                self._close(chain, [min(chain.contexts, key=lambda context: context.position)])
            chain.contexts.append(nearest)
        else:
            for context in chain.contexts:
                if context.follows is nearest:
                    context.follows = None  # the earlier one goes on: this was a conversation beside it
        return nearest

    def _extend(self, chain: _Chain, context: Context, charge: Charge, call: ModelCall) -> None:
        """Bring a context to the size that the next call reads."""
        waiting = chain.log[max(context.position - chain.offset, 0) :]
        items = [item.again() if item.size else item for item in waiting]
        growth = charge.size - context.size
        if context.latest is None:
            context.cached = charge.hits + charge.writes
            if context.follows is not None and charge.size < chain.instructions:
                context.grow([(Item(charge.event, ContextPart.SIDE, None), growth)])
                return
            shares, hidden = first_growth(growth, items)
            context.grow(self._before(chain, hidden, charge, context) + shares)
            return
        charge.before = min(context.size, charge.size)
        latest, words = context.latest, context.own_words
        if words is not None and words.size:
            words = words.again()  # another context has read it, too
        pause_s = None if chain.ts is None or call.ts is None else call.ts - chain.ts
        if pause_s is not None and pause_s <= (_LONG_PAUSE_S if context.keeps_for_an_hour else _PAUSE_S):
            pause_s = None  # too short for a cache to end
        if growth < 0:
            # Something was dropped, beside what came in.
            length = sum(item.length or 0 for item in items)
            expected = min(latest.output + length // CHARACTERS_OF_TOKEN, charge.size)
            size = context.size
            for item in context.shrink(min(expected - growth, size), charge.hits):
                self.ledger.fold(item)
            if size - context.size >= max(_COMPACTION, size // 5):
                self.ledger.compactions.append(Compaction(event=charge.event, before=size, after=charge.size))
        # What was dropped may be why the cache did not hold; after a pause it holds nothing anyway.
        if context.cached > charge.hits and (growth >= 0 or pause_s is not None):
            self._miss(context, charge, pause_s)
        shares, rest = growth_of(charge.size - context.size, words, latest.output, items)
        if rest:
            shares.append((Item(charge.event, ContextPart.UNRECORDED, None), rest))
        context.grow(shares)
        context.cached = charge.hits + charge.writes

    def _before(self, chain: _Chain, hidden: int, charge: Charge, context: Context) -> list[tuple[Item, int]]:
        """Returns what stands before all that is recorded: instructions, and the summary of a compaction."""
        instructions = hidden
        if chain.compacted is not None:
            instructions = min(hidden, chain.instructions)
            _, before = chain.compacted
            self.ledger.compactions.append(Compaction(event=charge.event, before=before, after=charge.size))
            chain.compacted = None
        elif context.follows is not None:
            instructions = min(hidden, chain.instructions)
        else:
            chain.instructions = max(chain.instructions, hidden)
            if chain is self._chains.get(self._root or ""):
                self.ledger.instructions = chain.instructions
        parts = [(Item(charge.event, ContextPart.INSTRUCTIONS, None), instructions)]
        return [*parts, (Item(charge.event, ContextPart.SUMMARY, None), hidden - instructions)]

    def _miss(self, context: Context, charge: Charge, pause_s: float | None) -> None:
        tokens = min(context.cached, charge.size) - charge.hits
        if tokens < max(_LEAST_MISS, _MISS_SHARE * context.cached):
            return
        charge.misses = tokens
        if charge.is_split:
            charge.miss_cost = sum(above for _, _, above in missed_ranges(charge))
        self.ledger.miss(charge, pause_s)

    def _end_turn(self, chain: _Chain) -> None:
        turn, chain.turn = chain.turn, None
        if turn is not None:
            _end(turn, self.ledger)

    def _trim(self, chain: _Chain) -> None:
        """Forget what every context has read."""
        if len(chain.log) > _LOG and len(chain.contexts) > 1:
            latest = max(chain.contexts, key=lambda context: context.position)
            self._close(chain, [context for context in chain.contexts if context is not latest])
        position = min((context.position for context in chain.contexts), default=chain.offset)
        if len(chain.log) > _LOG and not chain.contexts:
            position = chain.offset + len(chain.log) - _LOG // 2
        if position > chain.offset:
            del chain.log[: position - chain.offset]
            chain.offset = position

    def _close(self, chain: _Chain, contexts: list[Context]) -> None:
        """Contexts that no call goes on with."""
        self._end_turn(chain)
        for context in contexts:
            context.settle()
            for segment in context.segments:
                self.ledger.fold(segment.item)
            _note_compaction(context, self.ledger)
            chain.contexts.remove(context)

    def folded(self) -> Ledger:
        """Returns the sums so far, as if nothing were read any more; what comes later is not in them."""
        ledger = self.ledger.copy()
        for chain in self._chains.values():
            if chain.turn is not None:
                _end(chain.turn, ledger)
            for context in chain.contexts:
                for item in context.items():
                    ledger.fold(item)
                _note_compaction(context, ledger)
        return ledger

    def bill(self, total_cost: int | None, total_tokens: int | None) -> Bill:
        """The bill so far.

        Args:
            total_cost: Units that were spent in all; None where nothing of it is known.
            total_tokens: Tokens likewise.
        """
        ledger = self.folded()
        ledger.share_out()
        bill = bill_of(ledger, total_cost, total_tokens, zone=self._zone)
        return with_advice(bill, ledger.charges, ledger.instructions, ledger.openings)


def _expected(context: Context) -> int:
    """By how many tokens a context should have grown."""
    output = 0 if context.latest is None else context.latest.output
    return output + context.waiting // CHARACTERS_OF_TOKEN


def _end(turn: _Turn, ledger: Ledger) -> None:
    """Say whether a turn was for nothing: all of its calls were."""
    charge, words = turn.charge, turn.words
    if not charge.is_stated and is_understated(charge.output, words.length):
        ledger.is_least = True
    is_waste = bool(turn.calls) and all(item.waste is not None for item, _ in turn.calls)
    if is_waste and turn.calls[0][0].waste is WasteKind.TODO_LIST:
        is_waste = (words.length or 0) - sum(length for _, length in turn.calls) <= _FEW_WORDS
    if not is_waste:
        for item, _ in turn.calls:
            # A list that is rewritten beside other work costs no turn.
            item.waste = None if item.waste is WasteKind.TODO_LIST else item.waste
    charge.waste = turn.calls[0][0].waste if is_waste else None
    if turn.refusal is not None and not turn.calls:
        charge.waste = WasteKind.REFUSED_ANSWER
        ledger.waste(charge.waste, charge.cost or 0, charge.size + charge.output, words, turn.refusal)
    words.waste = charge.waste
    ledger.end_turn(charge, words, turn.calls)


def _note_compaction(context: Context, ledger: Ledger) -> None:
    before = context.follows
    if before is not None and context.calls > 1 and before.size - context.began >= _COMPACTION:
        event = context.segments[0].item.event if context.segments else 0
        ledger.compactions.append(Compaction(event=event, before=before.size, after=context.began))
