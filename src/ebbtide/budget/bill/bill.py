"""The bill of a run: where its money went, and what bought nothing.

Every amount is exact: what is attributed and what is not add up to what was spent, to the unit. An amount has
dollars where they are known, and tokens; a token that is read again at every call counts at every call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ebbtide.budget.reconciling import StatedTotal


class TokenClass(StrEnum):
    """Class of tokens, by how they are charged."""

    INPUT = "input"  #: read at the full price
    CACHE_WRITE = "cache_write"  #: read, and put into the cache
    CACHE_WRITE_1H = "cache_write_1h"  #: read, and put into the cache for an hour
    CACHE_READ = "cache_read"  #: read again from the cache
    OUTPUT = "output"  #: written, apart from reasoning where that is stated
    REASONING = "reasoning"  #: written while thinking


class ContextPart(StrEnum):
    """Kind of content that tokens carried."""

    INSTRUCTIONS = "instructions"  #: the system prompt, the tool definitions, and what else comes before
    PERSON = "person"  #: what people said
    TOOL_OUTPUT = "tool_output"  #: answers of tools
    TOOL_CALL = "tool_call"  #: what calls of tools state that they took themselves
    OWN_WORDS = "own_words"  #: what the model had said and asked for, as it is read again
    NEW_OUTPUT = "new_output"  #: what the model wrote, once
    NOTES = "notes"  #: what the harness put in
    SUMMARY = "summary"  #: what a compaction left
    SIDE = "side"  #: short conversations beside the main one: a title, a summary of a page
    UNRECORDED = "unrecorded"  #: in the context, and not in the trace
    UNATTRIBUTED = "unattributed"  #: spent, and nothing says on what


class WasteKind(StrEnum):
    """Kind of waste: spending that bought nothing, or could have been had for less."""

    SAME_CALL = "same_call"  #: a call whose answer was known, and nothing had changed since
    FAILED_AGAIN = "failed_again"  #: a call that had failed before in the same way
    REFUSED_AGAIN = "refused_again"  #: asked for again what had been refused
    REFUSED_ANSWER = "refused_answer"  #: an answer of the model that the harness could not use
    FAILED_EDIT = "failed_edit"  #: a change that did not apply
    OWN_EDIT = "own_edit"  #: a change of lines that the run itself had written
    SLICES = "slices"  #: lines of a file beside lines that were read before, from the third piece on
    TODO_LIST = (
        "todo_list"  #: a turn that did nothing but rewrite the list of tasks: its reading of the context
    )
    LARGE_OUTPUT = "large_output"  #: of a large answer, what is beyond `LARGE_TOKENS`
    CACHE_MISS = "cache_miss"  #: context that had been in the cache, paid for again above a hit


#: Kinds that bought nothing; the others could have been had for less.
WASTED = frozenset(
    {WasteKind.SAME_CALL, WasteKind.FAILED_AGAIN, WasteKind.REFUSED_AGAIN, WasteKind.REFUSED_ANSWER}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Money and tokens.

    Args:
        cost_usd: Dollars; None where they are not known.
        tokens: Tokens that were paid for, each time that they were.
        share: Of the whole bill, 0 to 1: of its money, or of its tokens where no cost is known.
    """

    cost_usd: float | None = None
    tokens: int = 0
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BillLine:
    """One line of a breakdown.

    Args:
        name: Of what: a class, a content, a tool, a file, a model, an agent, a request.
        amount: What it took.
        first: Of it, what was paid when it was read for the first time.
        count: Events behind it: results of a tool, calls of a model.
        failures: Failed calls among them, of a tool.
        event: Where it began, of a request; None of other lines.
        title: Words for a person where the name is an id, such as the task of a sub-agent; empty where there
            are none.
    """

    name: str
    amount: Amount
    first: Amount = field(default_factory=Amount)
    count: int = 0
    failures: int = 0
    event: int | None = None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedEvent:
    """One event, and what it cost to read it and to carry it along.

    Args:
        event: Its number in the run.
        content: What it is.
        title: Its name for a person: the tool with its arguments, cut.
        tool: The tool, or the command of a shell; None of other events.
        size: Tokens of it in the context.
        reads: Calls of the model that read it.
        amount: What all of them paid for it.
        is_estimated: Whether its size was split from that of others by length.
    """

    event: int
    content: ContextPart
    title: str
    tool: str | None
    size: int
    reads: int
    amount: Amount
    is_estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheMisses:
    """Calls that read anew what had been in the cache.

    Args:
        tokens: What they read anew.
        above_hit: What that cost above reading it from the cache.
        after_pauses: Calls among them that came after a pause longer than the cache lasts: five minutes, or
            an hour where something was written for an hour.
        pauses_above_hit: What those cost above a hit.
        longest_pause_s: The longest such pause; None where there is none.
    """

    calls: int = 0
    tokens: int = 0
    above_hit: Amount = field(default_factory=Amount)
    after_pauses: int = 0
    pauses_above_hit: Amount = field(default_factory=Amount)
    longest_pause_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSize:
    """Number of tokens that a call of the model read.

    Args:
        tokens: All that it read, cached or not.
    """

    event: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """The context became smaller.

    Args:
        event: The call that read the smaller one.
        before: Tokens of the context before.
        after: Tokens after.
    """

    event: int
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteLine:
    """One kind of waste.

    Args:
        amount: What would not have been spent without it.
        count: Calls.
        events: The first of them, by number in the run, at most eight.
        example: One of them in words.
        tools: Of it, what belongs to calls of a tool, by tool; a turn that was for nothing counts to the tool
            that it called first.
    """

    kind: WasteKind
    amount: Amount
    count: int
    events: tuple[int, ...] = ()
    example: str = ""
    tools: tuple[BillLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Suggestion for a cheaper run, with what it would have saved in this one.

    Args:
        text: In one sentence, with the money.
        saving: At most so much.
        event: Where it begins; None where it concerns the whole run.
    """

    text: str
    saving: Amount
    event: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildBill:
    """The share of a run that another one started, or that goes on from it, with all that comes from it.

    Args:
        run: Its id, or that of the chain where it has no file of its own.
        kind: ``sub-agent``, ``thread``, ``child session``, ``fork`` or ``copy``.
        amount: What it took; the share is that of the tree.
        unrecorded: Calls of tools that it made, where none of them is recorded: it took more than the amount.
    """

    run: str
    name: str
    kind: str
    amount: Amount
    unrecorded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BillTree:
    """The cost of a run together with all that come from it; the shares are those of the tree.

    Args:
        total: All of them.
        own: Of that, the run without its sub-agents.
        runs: How many runs with files of their own there are in it.
        children: Those that come from it directly, each with what comes from it in turn: the five dearest,
            and all above a hundredth of the tree.
        children_left_out: How many more there are.
        rest: What those took.
        is_least: True where calls in it have no known cost or are not recorded, or where a trace states less
            output than it holds: the tree cost more.
    """

    total: Amount
    own: Amount
    runs: int = 1
    children: tuple[ChildBill, ...] = ()
    children_left_out: int = 0
    rest: Amount = field(default_factory=Amount)
    is_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Breakdown of what a run spent, in money and tokens.

    Args:
        sentence: The bill in one sentence; empty where neither tokens nor cost are known.
        total: All that was spent.
        unattributed: Of it, what no event can be charged with.
        why_unattributed: Why, by reason.
        classes: By class of tokens.
        contents: By what the tokens carried.
        models: By model.
        days: By the day of each call in the zone of the reader, in their order: ``2026-10-24``, or
            ``undated``.
        agents: By agent and sub-agent.
        tools: By tool, and in shells by command: what it cost to read and to carry their answers.
        files: By file, where a tool names one, likewise.
        requests: By what a person asked for; in the order of the run.
        phases: Before the first change, up to the last one, and after it.
        events: The ten most expensive.
        failures: What failed calls cost: asking for them, and carrying their answers.
        misses: Of the cache.
        compactions: In the order of the run, at most a hundred.
        context: The size of the main context by event, thinned out.
        wasted: What bought nothing.
        avoidable: What could have been had for less.
        waste: Both by kind, the most expensive first; they do not overlap.
        suggestions: At most three.
        tree: The run together with those that come from it; None where none is known.
        stated: The total that the record states, held against the calls; None where it states none.
        is_least: Whether the trace states less output than it holds, so that the bill is a lower bound.
        is_estimated: Whether nobody knows what a model costs by class of tokens, so that stated costs were
            shared out as most providers charge.
    """

    sentence: str = ""
    total: Amount = field(default_factory=Amount)
    unattributed: Amount = field(default_factory=Amount)
    why_unattributed: tuple[BillLine, ...] = ()
    classes: tuple[BillLine, ...] = ()
    contents: tuple[BillLine, ...] = ()
    models: tuple[BillLine, ...] = ()
    days: tuple[BillLine, ...] = ()
    agents: tuple[BillLine, ...] = ()
    tools: tuple[BillLine, ...] = ()
    files: tuple[BillLine, ...] = ()
    requests: tuple[BillLine, ...] = ()
    phases: tuple[BillLine, ...] = ()
    events: tuple[CarriedEvent, ...] = ()
    failures: BillLine | None = None
    misses: CacheMisses = field(default_factory=CacheMisses)
    compactions: tuple[Compaction, ...] = ()
    context: tuple[ContextSize, ...] = ()
    wasted: Amount = field(default_factory=Amount)
    avoidable: Amount = field(default_factory=Amount)
    waste: tuple[WasteLine, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    tree: BillTree | None = None
    stated: StatedTotal | None = None
    is_least: bool = False
    is_estimated: bool = False
