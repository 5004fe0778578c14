"""Facts about a callable that an execution context has wrapped."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ebbtide.errors import ConfigError
from ebbtide.events.usage import Usage

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class CallOptions(TypedDict, total=False):
    """Options for counting the calls of a callable; the fields of `Operation` that its user gives."""

    name: str
    model: str
    usage: Callable[[Any], Usage | None]
    at_most: Usage | Callable[..., Usage | None]
    text: Callable[[Any], str | None]
    stream: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Operation:
    """A callable, and how its calls are counted.

    Args:
        kind: "llm", "tool", or a kind of your own.
        name: Shown in the graph and in signals.
        model: Shown in the graph, and priced where the meter names none.
        usage: The meter: what a result took, such as `Usage.of`. It is asked for each item of a stream, and
            of each number the last one counts. Without one, or where it gives None, what a model call took is
            not known; without one, a tool takes nothing.
        at_most: The most that one call can take, or a function of its arguments that returns it. It is set
            aside before the call, so that calls at the same time keep a limit together. None sets aside what
            the most expensive call so far took, and a sixteenth of the limit before any has ended.
        text: The text of a result, or of an item of a stream, for the monitor.
        stream: True if the returned object is read item by item, though it is no generator.
        parameters: Names of the positional parameters.
        most_usd: Cost of the most expensive call so far.
        most_tokens: The most tokens that a call took so far.
        unknown_reported: True if it was reported that a cost is not known.
    """

    kind: str
    name: str
    model: str | None = None
    usage: Callable[[Any], Usage | None] | None = None
    at_most: Usage | Callable[..., Usage | None] | None = None
    text: Callable[[Any], str | None] | None = None
    stream: bool = False
    parameters: tuple[str, ...] = ()
    most_usd: float | None = None
    most_tokens: int | None = None
    unknown_reported: bool = False
    is_free: bool = field(init=False)  #: whether a call takes no money and no tokens

    def __post_init__(self) -> None:
        if not (self.at_most is None or isinstance(self.at_most, Usage) or callable(self.at_most)):
            raise ConfigError(
                f"at_most = {self.at_most!r:.60}: expected a Usage, or a function that gives one"
            )
        self.is_free = self.kind != "llm" and self.usage is None and self.at_most is None

    @property
    def options(self) -> tuple[object, ...]:
        """Options that its user gave, beside its name."""
        return (self.model, self.usage, self.at_most, self.text, self.stream)

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the arguments of a call by the names of its parameters."""
        if not args:
            return kwargs
        by_name = dict(zip(self.parameters, args, strict=False))
        if len(args) > len(by_name):
            by_name["*"] = args[len(by_name) :]
        return {**by_name, **kwargs}


def name_of(function: Callable[..., Any]) -> str:
    """Returns the name of a callable: its own, that of what a partial calls, or that of its class."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of a callable's positional parameters, as far as they are known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(parameter.name for parameter in parameters if parameter.kind in _POSITIONAL)
