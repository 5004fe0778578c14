"""What a framework gives the kit: the adapter as a user wires it, and a run on its own offline model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Protocol

from conformance.environments import ENVIRONMENTS
from conformance.scripts import Reply, Script
from ebbtide.errors import ConfigError
from ebbtide.settings_file import nearest_name

#: The adapters that have a harness, by the name of their module.
ADAPTERS: Final = (
    "ag2",
    "agent_framework",
    "agno",
    "anthropic_client",
    "autogen",
    "crewai",
    "dspy",
    "google_adk",
    "haystack",
    "inspect_ai",
    "langchain",
    "litellm",
    "llamaindex",
    "openai_agents",
    "openai_client",
    "pydantic_ai",
    "smolagents",
    "strands",
)


@dataclass(slots=True)
class Trial:
    """One run, as its model and its user saw it.

    Args:
        inputs: What the model was sent, call by call, as one text each.
        has_tools: Whether it was offered tools, call by call.
        answer: What the user gets in the end, as text.
        steps: Messages, items or steps of the work so far that the user can get at afterwards.
        tokens: What the framework itself has counted; None where it counts none.
    """

    inputs: list[str] = field(default_factory=list)
    has_tools: list[bool] = field(default_factory=list)
    answer: str = ""
    steps: int = 0
    tokens: int | None = None

    def ask(self, script: Script, text: str, *, has_tools: bool) -> Reply:
        """What the scripted model answers to an input."""
        self.inputs.append(text)
        self.has_tools.append(has_tools)
        return script(len(self.inputs), has_tools)


class Harness(Protocol):
    """A framework under test.

    Attributes:
        modes: How a run can be started, of ``sync``, ``async`` and ``stream``.
        calls: Of the model until a plain loop has ended.
        takes_tools_away: Whether the last call comes without tools.
        counts_tokens: Whether the adapter sees tokens.
        has_parallel_calls: Whether an answer can ask for several calls at once.
    """

    modes: tuple[str, ...]
    calls: int
    takes_tools_away: bool
    counts_tokens: bool
    has_parallel_calls: bool

    def adapter(self, **options: Any) -> Any:
        """The adapter, as a user makes it."""

    def run(self, adapter: Any, script: Script, tools: Sequence[Callable[..., str]], mode: str) -> Trial:
        """One run of an agent with these tools, on the task of the kit; it may use an event loop of its own.

        Up to a hundred calls of the model have to be allowed.
        """


def harness(name: str) -> Harness:
    """The harness of an adapter.

    Raises:
        ConfigError: There is no such adapter, or its framework is not installed.
    """
    if name not in ADAPTERS:
        guess = nearest_name(name, ADAPTERS)
        hint = f"did you mean {guess}? " if guess else ""
        raise ConfigError(f"adapter {name!r}: there is none. {hint}There are {', '.join(ADAPTERS)}")
    try:
        module = import_module(f"conformance.{name}")
    except ImportError as error:
        install = " ".join(ENVIRONMENTS.get(name, (name,)))
        raise ConfigError(
            f"adapter {name}: its framework cannot be imported here: {error}. "
            f"Install it: pip install {install}"
        ) from error
    framework: Harness = module.HARNESS
    return framework
