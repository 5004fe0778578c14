"""The model calls of one trace, each once: by the identity that its provider gave it, with most usage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ebbtide.events.model_call_id import CallId, Prompt, prompt_of
from ebbtide.events.usage import COUNTS, Usage

AMOUNTS: Final = (*COUNTS, "cost_usd")  #: fields of `Usage` that add up
_Sizes = tuple[int | None, ...]  # of a prompt, as `Prompt`, but None where one is not stated


class Sighting(NamedTuple):
    """Contribution of one record of a model call.

    Args:
        name: The identity of the call; None where nothing identifies it.
        is_new: Whether no record of it was there before.
        growth: What its usage has beyond the records before, with the model; no amounts where nothing.
    """

    name: str | None
    is_new: bool
    growth: Usage


@dataclass(slots=True)
class _Call:
    """One call, as far as it is known."""

    name: str
    usage: Usage
    prompt: _Sizes
    first_ts: float | None
    last_ts: float | None

    def is_same(self, prompt: _Sizes, ts: float | None) -> bool:
        """True if a record under the same name is of this call: by the size of its prompt, or its time.

        A recorder that masks ids gives one name to all: then both differ.
        """
        if _agree(self.prompt, prompt):
            return True
        if ts is None or self.first_ts is None or self.last_ts is None:
            return ts is self.first_ts
        return self.first_ts <= ts <= self.last_ts


class CallsOnce:
    """Finds what each record of a model call has beyond the records before it, wherever they stood.

    Nothing is forgotten: a call that comes back after any number of others is still the same.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[_Call]] = {}
        self._prompts: dict[tuple[str, Prompt], str] = {}  # names of calls of agents

    def sight(
        self, name: str | None, usage: Usage, *, ts: float | None = None, agent: str | None = None
    ) -> Sighting:
        """Take a record of a call.

        Args:
            name: The ids that its provider gave it; None where it has none: then equal prompts at an equal
                time are one call, and without a time each record is a call of its own.
            usage: Its usage as this record states it.
            ts: When, in seconds.
            agent: The sub-agent that made it, by its id.
        """
        prompt = _sizes_of(usage)
        if name is None:
            if ts is None or not usage.has_tokens:
                return Sighting(None, is_new=True, growth=usage)
            name = f"{ts} {prompt}"
        variants = self._calls.setdefault(name, [])
        call = next((one for one in variants if one.is_same(prompt, ts)), None)
        if call is None:
            own = name if not variants else f"{name} {ts} {prompt}"
            variants.append(_Call(own, replace(usage), prompt, ts, ts))
            if agent is not None and any(prompt):
                self._prompts.setdefault((agent, prompt_of(usage)), name)
            return Sighting(own, is_new=True, growth=usage)
        if ts is not None:
            call.first_ts = ts if call.first_ts is None else min(ts, call.first_ts)
            call.last_ts = ts if call.last_ts is None else max(ts, call.last_ts)
        call.prompt = tuple(
            one if other is None else other for one, other in zip(call.prompt, prompt, strict=True)
        )
        return Sighting(call.name, is_new=False, growth=raise_to(call.usage, usage))

    def of_agent(self, agent: str, usage: Usage) -> str:
        """The name of the call that the result of a sub-agent states: one that is known, or its own.

        Args:
            agent: The sub-agent, by its id.
            usage: Of its last call.
        """
        prompt = prompt_of(usage)
        return self._prompts.get((agent, prompt), f"{agent} {prompt}")


def is_same_prompt(one: Usage, other: Usage) -> bool:
    """Returns True if the sizes of two prompts agree, as far as both are stated."""
    return _agree(_sizes_of(one), _sizes_of(other))


def _sizes_of(usage: Usage) -> _Sizes:
    return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens


def nameless_call(ts: float | None, usage: Usage) -> CallId | None:
    """The identity of a call that its provider gave none: its time and the sizes of its prompt, in any file.

    Args:
        ts: When, in seconds; None where that is not known: then nothing identifies it.
        usage: What it took.
    """
    if ts is None or not usage.has_tokens:
        return None
    return CallId(f"{ts} {prompt_of(usage)}")


def _agree(one: _Sizes, other: _Sizes) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def raise_to(before: Usage, usage: Usage) -> Usage:
    """Raise each amount to that of another record of the same call, and give back by how much."""
    new = Usage(model=usage.model, tier=usage.tier)
    for key in AMOUNTS:
        amount, known = getattr(usage, key), getattr(before, key)
        if amount is None:
            continue
        if known is None:
            setattr(new, key, amount)
        elif amount > known:
            setattr(new, key, amount - known)
        if known is None or amount > known:
            setattr(before, key, amount)
    before.drop_impossible_parts()
    new.drop_impossible_parts()
    return new
