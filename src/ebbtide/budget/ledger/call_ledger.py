"""Every model call once, with its largest usage, wherever and however often it is written.

What the ledger holds is a function of the set of records that it was shown: their order, their split over
files and processes, and copies of them change nothing. Two ledgers are merged by showing one the records of
the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Self, TypeVar

from ebbtide.events.model_call_id import CallId, Prompt
from ebbtide.events.usage import CLASSES, Usage

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value", float, str, tuple[int, str])


class SightedCall(NamedTuple):
    """One record of a model call. What it does not state is None.

    Args:
        ts: When, in seconds since 1970.
        tier: The tier of the service, where it is not the standard one.
        input_tokens: As in `Usage`; so are the other counts.
        cost_usd: Dollars, where the record states them for this call alone.
        is_own: Whether the record names the thread of its file as the one that made the call.
        is_result: Whether it is the last call of a sub-agent, as the result of that states it: one that has
            no id, and is the same as any call of the same agent whose prompt has the same sizes.
        is_replay: Whether a fork wrote it down that comes from another thread, whose call it is.
        agent: The sub-agent that made it, by its id; None for the agent itself.
        skill: The skill that was in use.
        server: The MCP server of which it called a tool.
        is_model: False for a call of a tool that states its own cost.
    """

    id: CallId
    ts: float | None = None
    model: str | None = None
    tier: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    cost_usd: float | None = None
    is_own: bool = True
    is_result: bool = False
    is_replay: bool = False
    agent: str | None = None
    skill: str | None = None
    server: str | None = None
    is_model: bool = True

    @property
    def prompt(self) -> Prompt:
        """The sizes of its prompt; empty where none is stated."""
        fresh, read, written = self[4], self[6], self[7]
        if fresh is None and read is None and written is None:
            return ()
        return fresh or 0, read or 0, written or 0


class CallPlace(NamedTuple):
    """The file or the run in which calls are recorded.

    Args:
        run: Its id; equal only for one run.
        began: Its first time, in seconds since 1970.
        session: The session that it belongs to.
        project: The folder that the agent worked in.
        agent: The coding agent or framework.
    """

    run: str
    began: float | None = None
    path: str = ""
    session: str = ""
    project: str | None = None
    agent: str = ""


class CountedCall(NamedTuple):
    """One call as it counts: once.

    Args:
        ts: Its earliest time.
        usage: Its largest usage, with its model; a cost only where a record states it.
        tier: The tier of the service, where it is not the standard one.
        owner: The place that it belongs to.
        copies: Other places in which it is recorded.
        agent: The sub-agent that made it, as its owner has it; so are the next two.
        skill: The skill that was in use.
        server: The MCP server of which it called a tool.
        stated_in: Places that state it as the result of its sub-agent, where another record of it is known.
        settled: Units of money, where a total that is stated says so.
        is_model: False for a call of a tool that states its own cost, and for what a stated total has above
            or below the calls.
    """

    id: CallId
    ts: float | None
    usage: Usage
    tier: str | None
    owner: CallPlace
    copies: tuple[CallPlace, ...] = ()
    agent: str | None = None
    skill: str | None = None
    server: str | None = None
    stated_in: tuple[CallPlace, ...] = ()
    settled: int | None = None
    is_model: bool = True


@dataclass(slots=True)
class CallSums:
    """Sums of some calls, in whole units: sums of parts are the sum of the whole.

    Args:
        input_tokens: Their tokens by class, as in `Usage`.
        cost_units: Units of money of the calls whose price is known.
        unpriced: Calls with tokens whose price nobody knows.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cost_units: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of all classes."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def add(self, usage: Usage, cost_units: int | None, *, is_call: bool = True) -> None:
        """Count a call.

        Args:
            cost_units: Units of money; None where its price is not known.
            is_call: False for what was taken beside the calls.
        """
        self.calls += is_call
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        self.cache_read_tokens += usage.cache_read_tokens or 0
        self.cache_write_tokens += usage.cache_write_tokens or 0
        self.cache_write_1h_tokens += usage.cache_write_1h_tokens or 0
        if cost_units is None:
            self.unpriced += usage.has_tokens
        else:
            self.cost_units += cost_units

    def __iadd__(self, other: CallSums) -> Self:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


_AMOUNTS = (*CLASSES, "reasoning_tokens", "cache_write_1h_tokens", "cost_usd")
_FIRST_AMOUNT, _END_OF_AMOUNTS = 4, 11  # of the fields of a sighting
_Rank = tuple[bool, int, bool, float, str, str]  # the smallest one owns a call
_Labels = tuple[str | None, ...]
_ResultKey = tuple[str | None, Prompt]


class _Call:
    """One call as far as its records are known; every field is a maximum, a minimum or a union over them."""

    __slots__ = (
        "amounts",
        "id",
        "is_model",
        "is_replay",
        "labels",
        "model",
        "places",
        "prompts",
        "rank",
        "tier",
        "times",
        "ts",
    )

    def __init__(self, place: CallPlace, call: SightedCall) -> None:
        self.id = CallId.at(f"agent {call.agent}", call.prompt) if call.is_result else call.id
        self.prompts: tuple[Prompt, ...] = (call.prompt,)
        self.times: tuple[float, ...] = () if call.ts is None else (call.ts,)
        self.ts = call.ts
        self.amounts: tuple[float | None, ...] = call[_FIRST_AMOUNT:_END_OF_AMOUNTS]  # type: ignore[assignment] # a slice of a NamedTuple
        output = -1 if call.output_tokens is None else call.output_tokens
        # With the output that it was stated with: of several, that with most counts.
        self.model: tuple[int, str] | None = None if call.model is None else (output, call.model)
        self.tier: tuple[int, str] | None = None if call.tier is None else (output, call.tier)
        self.places: tuple[CallPlace, ...] = (place,)
        self.rank: _Rank = _rank(place, call)
        self.is_replay = call.is_replay
        self.is_model = call.is_model
        self.labels: _Labels = (call.agent, call.skill, call.server)

    def absorb(self, other: _Call) -> None:
        """Take what another record of the call, or all that is known of it elsewhere, says."""
        self.prompts = _united(self.prompts, other.prompts)
        self.times = _united(self.times, other.times)
        self.ts = _least(self.ts, other.ts)
        if self.amounts != other.amounts:
            self.amounts = tuple(map(_most, self.amounts, other.amounts))
        self.model = _most(self.model, other.model)
        self.tier = _most(self.tier, other.tier)
        self.places = _united(self.places, other.places)
        self.is_replay = self.is_replay and other.is_replay
        self.is_model = self.is_model or other.is_model
        if other.rank < self.rank:
            self.rank, self.labels = other.rank, other.labels
        elif other.rank == self.rank and other.labels != self.labels:
            self.labels = tuple(map(_least, self.labels, other.labels))

    def counted(self, results: Sequence[_Call] = ()) -> CountedCall:
        """The call as it counts.

        Args:
            results: What results of its sub-agent state of it.
        """
        amounts, rank, places = self.amounts, self.rank, self.places
        for result in results:
            amounts = tuple(map(_most, amounts, result.amounts))
            if result.rank[:2] < rank[:2]:  # its own records end before the call does
                rank, places = result.rank, _united(result.places, self.places)
        fields = dict(zip(_AMOUNTS, amounts, strict=True))
        usage = Usage(model=None if self.model is None else self.model[1], **fields)  # type: ignore[arg-type] # fields by name
        usage.drop_impossible_parts()
        run = rank[-1]
        owner = min((place for place in places if place.run == run), key=_order_of_place)
        copies = () if len(self.places) == 1 else tuple(place for place in self.places if place.run != run)
        tier = None if self.tier is None else self.tier[1]
        stated_in = tuple(sorted({place for one in results for place in one.places}, key=_order_of_place))
        agent, skill, server = self.labels
        return CountedCall(
            self.id,
            self.ts,
            usage,
            tier,
            owner,
            copies,
            agent,
            skill,
            server,
            stated_in=stated_in,
            is_model=self.is_model,
        )


class CallLedger:
    """Calls by identity. Nothing is forgotten: 300,000 calls take some 150 MB.

    >>> ledger = CallLedger()
    >>> call = SightedCall(CallId.of("msg_1"), input_tokens=9, output_tokens=1)
    >>> ledger.sight(CallPlace("run 1"), call)
    True
    >>> ledger.sight(CallPlace("run 2"), call._replace(output_tokens=4))
    False
    >>> [(counted.usage.output_tokens, counted.owner.run) for counted in ledger.calls()]
    [(4, 'run 2')]
    """

    def __init__(self) -> None:
        # Most names are of one call: those of more are kept by what tells them apart.
        self._calls: dict[CallId, _Call | _Namesakes] = {}
        self._results: dict[_ResultKey, _Call] = {}

    def sight(self, place: CallPlace, call: SightedCall) -> bool:
        """Take a record of a call.

        Returns:
            Whether no record of the call was there before; results of sub-agents are compared with results.
        """
        return self._take(_Call(place, call), is_result=call.is_result, agent=call.agent)

    def merge(self, other: CallLedger) -> None:
        """Take all that another ledger has; it is of no use afterwards."""
        for call in other._each():
            self._take(call, is_result=False, agent=None)
        for (agent, _), call in other._results.items():
            self._take(call, is_result=True, agent=agent)

    def _take(self, new: _Call, *, is_result: bool, agent: str | None) -> bool:
        if is_result:
            key = (agent, new.prompts[0])
            result = self._results.setdefault(key, new)
            if result is not new:
                result.absorb(new)
            return result is new
        known = self._calls.get(new.id)
        if known is None:
            self._calls[new.id] = new
            return True
        if isinstance(known, _Call):
            if _is_same(known, new):
                known.absorb(new)
                return False
            known = self._calls[new.id] = _Namesakes(known)
        return known.take(new)

    def calls(self) -> Iterator[CountedCall]:
        """Every call, once; in no order that means anything.

        Calls that forks replay alone are left out: they are of a thread that is not here.
        """
        by_result = self._calls_of_results() if self._results else {}
        stated: dict[int, list[_Call]] = {}
        for key, call in by_result.items():
            stated.setdefault(id(call), []).append(self._results[key])
        for call in self._each():
            if not call.is_replay:
                yield call.counted(stated.get(id(call), ()))
        for key, result in self._results.items():
            if key not in by_result:
                yield result.counted()

    def absent(self) -> Iterator[CountedCall]:
        """Calls that forks replay, and whose own thread is not here; all places are those of forks."""
        return (call.counted() for call in self._each() if call.is_replay)

    def _each(self) -> Iterator[_Call]:
        for known in self._calls.values():
            if isinstance(known, _Call):
                yield known
            else:
                yield from known.all()

    def _calls_of_results(self) -> dict[_ResultKey, _Call]:
        """The call that each result of a sub-agent states, where there is another record of it."""
        found: dict[_ResultKey, _Call] = {}
        for call in self._each():
            agent = call.labels[0]
            if agent is None:
                continue
            for prompt in call.prompts:
                key = (agent, prompt)
                if key in self._results and (key not in found or _order(call) < _order(found[key])):
                    found[key] = call
        return found


class _Namesakes:
    """Calls that a recorder gave one name: kept apart by the sizes of their prompts, and by their times."""

    __slots__ = ("_by_prompt", "_by_time")

    def __init__(self, first: _Call) -> None:
        self._by_prompt: dict[Prompt, _Call] = {}
        self._by_time: dict[float, _Call] = {}
        self._enter(first)

    def all(self) -> Iterable[_Call]:
        """Each of them, once; records without a prompt are of the one that has one, if it is alone."""
        calls = {id(call): call for call in self._by_prompt.values()}
        bare = self._by_prompt.get(())
        if bare is None or len(calls) != 2:
            return calls.values()
        del calls[id(bare)]
        (whole,) = calls.values()
        whole = copy(whole)
        whole.absorb(bare)
        return (whole,)

    def take(self, new: _Call) -> bool:
        """Take a record, which may show that two calls are one; returns whether it is of a new one."""
        found = [self._by_prompt.get(prompt) for prompt in new.prompts]
        found += [self._by_time.get(time) for time in new.times]
        same = list({id(call): call for call in found if call is not None}.values())
        first = same[0] if same else new
        for other in (*same[1:], new):
            if other is not first:
                first.absorb(other)
        self._enter(first)
        return not same

    def _enter(self, call: _Call) -> None:
        self._by_prompt.update(dict.fromkeys(call.prompts, call))
        self._by_time.update(dict.fromkeys(call.times, call))


def _rank(place: CallPlace, call: SightedCall) -> _Rank:
    """Order in which places own a call: one that has all of it, then the one that made it or began first."""
    return (
        call.is_replay,
        -(call.output_tokens or 0),
        not call.is_own,
        inf if place.began is None else place.began,
        place.path,
        place.run,
    )


def _order_of_place(place: CallPlace) -> tuple[float, str, str]:
    return (inf if place.began is None else place.began, place.path, place.run)


def _order(call: _Call) -> tuple[CallId, float]:
    return (call.id, inf if call.ts is None else call.ts)


def _is_same(one: _Call, other: _Call) -> bool:
    return (
        one.prompts == other.prompts
        or not set(one.prompts).isdisjoint(other.prompts)
        or not set(one.times).isdisjoint(other.times)
    )


def _united(one: tuple[_Key, ...], other: tuple[_Key, ...]) -> tuple[_Key, ...]:
    """Both without repeats."""
    if one == other:
        return one
    return one + tuple(item for item in other if item not in one)


def _most(one: _Value | None, other: _Value | None) -> _Value | None:
    return other if one is None or (other is not None and other > one) else one


def _least(one: _Value | None, other: _Value | None) -> _Value | None:
    return other if one is None or (other is not None and other < one) else one
