"""Events of an agent's run: calls of tools and models, messages of people, and notices of the harness.

A class each, since they have little in common: a class says what an event is where a ``kind`` would have to
be compared, has no field that means nothing for it, and is made in a little less time than one class with all
fields. They are values that nobody changes, and not frozen: making a frozen dataclass takes three times as
long, and readers of traces make one for every line (``python -m benchmarks.speed.events`` prints both).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage

LARGEST: Final = 200_000  #: characters of a text, of arguments or of an answer that are read whole
LONGEST_ID: Final = 1_000  #: characters of an id or a name
MOST_ITEMS: Final = 40_000  #: items of arguments or of an answer that are read
DEEPEST: Final = 200  #: levels of them
WIDEST: Final = 1 << 4096  #: a whole number from some thousand digits on has no text form
FLAT: Final = frozenset({str, int, float, bool, type(None)})  #: classes of what holds nothing else

_SCALARS = frozenset({float, bool, type(None)})
_ITEM = LARGEST // MOST_ITEMS  # characters that an item counts for
_MOST_MODELS = 1_000  # of a stated total
_FEW = 100  # flat arguments whose names are not looked at
_NUMBERS = frozenset({float, int, type(None)})
_COUNTS = frozenset({int, type(None)})


class Phase(StrEnum):
    """Progress of a call of a tool."""

    STARTED = "started"
    FINISHED = "finished"


class ModelPart(StrEnum):
    """Part of a model's call that an event is."""

    WHOLE = "message"  #: the call, with what it said
    CHUNK = "stream"  #: a piece of what it says, as it comes
    THOUGHT = "thought"  #: reasoning, apart from what it said
    EMBEDDING = "embeddings"  #: a call that gives vectors, not words


class Stop(StrEnum):
    """Why a model said no more in a call."""

    END = "end"  #: its turn is over: it, or the harness around it, says so
    CALLS = "calls"  #: it waits for the answers of the tools that it calls
    LENGTH = "length"  #: the limit of its output cut it


class Role(StrEnum):
    """Speaker of a message that no model wrote."""

    USER = "user"
    SYSTEM = "system"  #: instructions, which nobody says at this moment


class NoticeKind(StrEnum):
    """Kinds of reports of the harness about the run."""

    RUN_START = "run_start"  #: a run begins in a chain that had one before
    HANDOFF = "handoff"  #: one agent hands over to another
    SPAWN = "spawn"  #: an agent is started: its order is the text
    COMPACTION = "condensation"  #: the context was condensed
    RETRY = "retry"  #: the next call is the one before, sent again
    REWIND = "rewind"  #: the conversation goes back to an earlier point
    USAGE = "usage"  #: spending at this moment that belongs to no event
    TOTAL = "total"  #: spending that is stated in one sum at its end, and fell at any time before
    ERROR = "error"  #: the harness or the provider failed
    NOTE = "note"  #: text that the harness put in
    OTHER = "other"


@dataclass(slots=True, kw_only=True)
class Event:
    """Fields that every event can state; an event is one of the four classes below.

    Args:
        chain_id: The chain that it belongs to: one run, or one agent of a session.
        agent: The agent that acts, if there are several.
        seq: Number of the event in its chain; one that was seen already is ignored. None counts by itself.
        ts: Seconds on any clock of the chain; None where it is not known.
        waited_s: Seconds since the event before, where that is known and `ts` is not.
        usage: The model, tokens and cost; None where nothing of them is known.
        call: The identity of the model call that the usage is of, where the record gives one: the same call
            counts once, wherever it is recorded.
    """

    chain_id: str = ""
    agent: str | None = None
    seq: int | None = None
    ts: float | None = None
    waited_s: float | None = None
    usage: Usage | None = None
    call: CallId | None = None


@dataclass(slots=True, kw_only=True)
class ToolCall(Event):
    """One call of a tool.

    It may be recorded twice: STARTED when it is dispatched, so that it can still be refused, and FINISHED
    with its answer. FINISHED alone is enough to find every loop.

    Args:
        name: The tool.
        args: Arguments, best as a mapping: ``{}`` for a call without any, None where they were not recorded.
        result: The answer: ``""`` for an empty one, None where it is not known.
        error: True if the call failed.
        phase: STARTED or FINISHED.
        batch: Equal for calls that were asked for at once; a call that is in it twice counts once.
        status: HTTP status or the like, where there is one.
        starts: Chain of the agent that the call started, if the record names the chain.
        started_calls: Calls of tools that this agent made, if the answer states their number.
    """

    name: str
    args: object = None
    result: object = None
    error: bool = False
    phase: Phase = Phase.FINISHED
    batch: str | int | None = None
    status: int | None = None
    starts: str | None = None
    started_calls: int | None = None

    @classmethod
    def of(cls, call: object, *, result: object = None, error: bool = False, **others: Any) -> ToolCall:
        """Returns the call that a model asked for, from an object of a provider's SDK or from a dict.

        Reads the calls of OpenAI (chat and responses), Anthropic (`tool_use`), Gemini (`function_call`),
        Bedrock (`toolUse`), Mistral, LangChain, pydantic-ai and MCP. Arguments that are a text of JSON are
        what it stands for, and stay a text where it is broken.

        >>> function = {"name": "ls", "arguments": '{"path": "."}'}
        >>> call = ToolCall.of({"id": "c1", "type": "function", "function": function}, result="a.txt")
        >>> call.name, call.args
        ('ls', {'path': '.'})

        Args:
            call: The call. Its answer is no part of it: state it as `result`.
            others: More fields of the class.

        Raises:
            TypeError: It names no tool.
        """
        from ebbtide.events.provider_answer import asked_call

        request = asked_call(call)
        if request is None:
            raise TypeError(
                f"{type(call).__name__}: expected a call of a tool, as the answer of a provider has it"
            )
        return cls(name=request.name, args=request.args, result=result, error=error, **others)

    @classmethod
    def started_in(cls, answer: object, **others: Any) -> list[ToolCall]:
        """Returns the calls that the answer of a provider asks for, in their order, STARTED.

        Calls that the provider makes by itself, such as its own web search, are left out.

        Args:
            answer: The returned object, as for `Usage.of`.
            others: More fields of the class, the same for every call.
        """
        from ebbtide.events.provider_answer import answer_parts

        requests = answer_parts(answer).requests
        return [cls(name=part.name, args=part.args, phase=Phase.STARTED, **others) for part in requests]


@dataclass(slots=True, kw_only=True)
class ModelCall(Event):
    """One call of a model, or a part of one.

    Args:
        text: Words of the model: ``""`` if it said nothing, None if they are not known.
        part: The whole call, or which part.
        error: True if the call failed.
        stop: Reason that it said no more; None if that is not known.
    """

    text: str | None = None
    part: ModelPart = ModelPart.WHOLE
    error: bool = False
    stop: Stop | None = None

    @classmethod
    def of(cls, answer: object, *, model: str | None = None, **others: Any) -> ModelCall:
        """Returns the call of a model from what it returned: its words without thoughts, and its usage.

        Args:
            answer: The returned object, as for `Usage.of`; a text is the words alone.
            model: The model, in place of the one that the answer names.
            others: More fields of the class.

        Raises:
            TypeError: A coroutine that nobody awaited, a generator, a function or a class: no answer.
        """
        from ebbtide.events.provider_answer import answer_parts

        usage = Usage.of(answer, model=model)
        return cls(text=answer_parts(answer).text, usage=usage, **others)


@dataclass(slots=True, kw_only=True)
class Message(Event):
    """Words of a person, or of a program in place of one, to the agent.

    Args:
        text: The words; None where they are not known.
        role: USER, or SYSTEM for instructions.
    """

    text: str | None = None
    role: Role = Role.USER


@dataclass(slots=True, kw_only=True)
class Notice(Event):
    """Report of the harness that is neither a call nor a message.

    Args:
        text: The report in words, if there are any.
        error: True if it reports a failure.
        source: The agent that hands over, in a hand-off; the record that states a total.
        target: The agent that takes over, in a hand-off.
        stated: The whole that the run took up to here, in a total: a usage a model, or one without a model
            for all of them. It is held against what the events took, and never added to it.
    """

    kind: NoticeKind
    text: str | None = None
    error: bool = False
    source: str | None = None
    target: str | None = None
    stated: tuple[Usage, ...] | None = None


_FINISHED, _STARTED = Phase.FINISHED, Phase.STARTED  # reading a member off its enum takes as long as a call


def is_total(event: Event) -> bool:
    """Returns True if an event states what was spent at some time before it."""
    return isinstance(event, Notice) and event.kind is NoticeKind.TOTAL


def is_spending(event: Event) -> bool:
    """Returns True if an event states what something took: of its own, or of the whole run."""
    return event.usage is not None or (isinstance(event, Notice) and event.stated is not None)


def content(event: Event) -> object:
    """Returns the arguments of a tool's call, or the text of any other event; None if not known."""
    if isinstance(event, ToolCall):
        return event.args
    return event.text if isinstance(event, ModelCall | Message | Notice) else None


def title(event: Event) -> str:
    """Returns a short name of an event, for lists and pictures.

    >>> title(ToolCall(name="ls")), title(ModelCall()), title(Message()), title(Notice(kind=NoticeKind.RETRY))
    ('ls', 'message', 'message', 'retry')
    >>> title(Message(role=Role.SYSTEM))
    'instructions'
    """
    if isinstance(event, ToolCall):
        return event.name
    if isinstance(event, ModelCall):
        return event.part.value
    if isinstance(event, Notice):
        return event.kind.value
    return "instructions" if isinstance(event, Message) and event.role is Role.SYSTEM else "message"


def is_plain_event(event: Any) -> bool:
    """Returns True if every field of an event is of its type, and of bounded size."""
    # Every event goes through this: what most of them look like is asked first, and in one piece.
    try:
        kind = type(event)
        if type(event.chain_id) is not str or len(event.chain_id) > LONGEST_ID:
            return False
        if (
            not (event.agent is event.waited_s is event.usage is event.call is None)
            or (event.ts is not None and type(event.ts) is not float)
            or (event.seq is not None and type(event.seq) is not int)
        ) and not _is_plain_common(event):
            return False
        if kind is ToolCall:
            args, result = event.args, event.result
            return (
                type(event.name) is str
                and len(event.name) <= LONGEST_ID
                and (event.error is False or event.error is True)
                and (event.phase is _FINISHED or event.phase is _STARTED)
                and (
                    event.batch is event.status is event.starts is event.started_calls is None
                    or _is_plain_rest(event)
                )
                and is_plain_value(args)
                and ((type(result) is str and len(result) <= LARGEST) or is_plain_value(result))
            )
        if kind is Event:
            return True
        text = event.text
        if text is not None and (type(text) is not str or len(text) > LARGEST):
            return False
        if kind is ModelCall:
            return (
                type(event.part) is ModelPart
                and type(event.error) is bool
                and (event.stop is None or type(event.stop) is Stop)
            )
        if kind is Message:
            return type(event.role) is Role
        return (
            kind is Notice
            and type(event.kind) is NoticeKind
            and type(event.error) is bool
            and _is_name(event.source)
            and _is_name(event.target)
            and (event.stated is None or is_plain_stated(event.stated))
        )
    except AttributeError:  # a field that was never set
        return False


def is_plain_call_id(call: Any) -> bool:
    """Returns True if the identity of a call is two names."""
    return type(call) is CallId and all(type(part) is str and len(part) <= LONGEST_ID for part in call)


def is_plain_usage(usage: Any) -> bool:
    """Returns True if every field of a usage is of its type."""
    return (
        type(usage) is Usage
        and (usage.model is None or (type(usage.model) is str and len(usage.model) <= LONGEST_ID))
        and type(usage.input_tokens) in _COUNTS
        and type(usage.output_tokens) in _COUNTS
        and type(usage.cache_read_tokens) in _COUNTS
        and type(usage.cache_write_tokens) in _COUNTS
        and type(usage.reasoning_tokens) in _COUNTS
        and type(usage.cache_write_1h_tokens) in _COUNTS
        and (usage.tier is None or (type(usage.tier) is str and len(usage.tier) <= LONGEST_ID))
        and type(usage.cost_usd) in _NUMBERS
    )


def is_plain_stated(stated: Any) -> bool:
    """Returns True if a stated total is a tuple of plain usages."""
    return type(stated) is tuple and len(stated) <= _MOST_MODELS and all(map(is_plain_usage, stated))


def is_plain_value(value: object) -> bool:
    """Returns True if a value can be used as it is."""
    if type(value) is str:
        return len(value) <= LARGEST
    if value is None:
        return True
    if type(value) is dict:
        for item in value.values():
            if type(item) is str:
                if len(item) > LARGEST:
                    return False
            elif type(item) is int:
                if not -WIDEST < item < WIDEST:
                    return False
            elif type(item) not in _SCALARS:
                break
        else:
            return len(value) <= _FEW or _is_plain_nested(value)
    return _is_plain_nested(value)


def _is_plain_common(event: Any) -> bool:
    return (
        (event.seq is None or type(event.seq) is int)
        and _is_name(event.agent)
        and type(event.ts) in _NUMBERS
        and type(event.waited_s) in _NUMBERS
        and (event.usage is None or is_plain_usage(event.usage))
        and (event.call is None or is_plain_call_id(event.call))
    )


def _is_plain_rest(call: Any) -> bool:
    return (
        _is_count(call.status)
        and (_is_count(call.batch) or _is_name(call.batch))
        and _is_name(call.starts)
        and _is_count(call.started_calls)
    )


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and -WIDEST < value < WIDEST)


def _is_name(value: object) -> bool:
    return value is None or (type(value) is str and len(value) <= LONGEST_ID)


def _is_plain_nested(value: object) -> bool:
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        return _room_after(value, LARGEST, 0) >= 0
    return kind in _SCALARS or (kind is int and -WIDEST < value < WIDEST)  # type: ignore[operator]


def _room_after(value: Any, room: int, depth: int) -> int:
    """Counts the characters that may follow a table or list; less than 0 if it is too large, or not plain."""
    room -= _ITEM * len(value)
    if depth >= DEEPEST or room < 0:
        return -1
    if type(value) is dict:
        for key in value:
            if type(key) is str:
                room -= len(key)
            elif type(key) not in FLAT:
                return -1
        value = value.values()
    for item in value:
        kind = type(item)
        if kind is str:
            room -= len(item)
        elif kind is dict or kind is list or kind is tuple:
            room = _room_after(item, room, depth + 1)
            if room < 0:
                return -1
        elif kind is int:
            if not -WIDEST < item < WIDEST:
                return -1
        elif kind not in _SCALARS:
            return -1
    return room
