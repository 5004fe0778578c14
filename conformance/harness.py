"""What a framework gives the kit: the adapter as a user wires it, and a run on its own offline model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, NamedTuple

from conformance.scripts import Script
from ebbtide.errors import ConfigError
from ebbtide.settings_file import nearest_name

#: What pip installs beside Ebbtide for the checks of each adapter, an environment each. No versions are
#: named: the newest ones are checked.
ENVIRONMENTS: Final[dict[str, tuple[str, ...]]] = {
    "ag2": ("ag2",),
    "agent_framework": ("agent-framework-core",),
    "agno": ("agno", "openai"),
    "autogen": ("autogen-agentchat", "autogen-ext[openai]"),
    "crewai": ("crewai",),
    "dspy": ("dspy",),
    "google_adk": ("google-adk",),
    "haystack": ("haystack-ai",),
    "inspect_ai": ("inspect-ai",),
    "langchain": ("langchain", "langgraph", "langchain-openai"),
    "litellm": ("litellm", "mcp"),
    "llamaindex": ("llama-index-core",),
    "openai_agents": ("openai-agents",),
    "pydantic_ai": ("pydantic-ai-slim[openai]",),
    "smolagents": ("smolagents",),
    "strands": ("strands-agents",),
}
#: The adapters that have a harness, by the name of their module; those of clients need no environment.
ADAPTERS: Final = tuple(sorted([*ENVIRONMENTS, "anthropic_client", "openai_client"]))

Tools = Sequence[Callable[..., str]]


class AskedCall(NamedTuple):
    """A call of a tool that the scripted model asks for."""

    id: str
    name: str
    args: dict[str, str]


class Answer(NamedTuple):
    """What the scripted model answers in one call of a run: words, or calls of tools."""

    text: str
    calls: tuple[AskedCall, ...]

    @property
    def openai_calls(self) -> list[dict[str, Any]]:
        """The calls as OpenAI has them in a message."""
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.args)},
            }
            for call in self.calls
        ]


@dataclass(slots=True)
class Trial:
    """One run, as its model and its user saw it.

    Args:
        script: What the model answers.
        inputs: What the model was sent, call by call, as one text each.
        has_tools: Whether it was offered tools, call by call.
        answer: What the user gets in the end, as text.
        steps: Messages, items or steps of the work so far that the user can get at afterwards.
        tokens: What the framework itself has counted; None where it counts none.
    """

    script: Script
    inputs: list[str] = field(default_factory=list)
    has_tools: list[bool] = field(default_factory=list)
    answer: str = ""
    steps: int = 0
    tokens: int | None = None

    def ask(self, text: str, *, has_tools: bool) -> Answer:
        """What the model answers to an input."""
        self.inputs.append(text)
        self.has_tools.append(has_tools)
        number = len(self.inputs)
        reply = self.script(number, has_tools)
        calls = (
            AskedCall(f"call_{number}_{place}", name, dict(args))
            for place, (name, args) in enumerate(reply.calls)
        )
        return Answer(reply.text, tuple(calls))


class Harness:
    """A framework under test.

    Attributes:
        adapter: Makes the adapter of its options, as a user does.
        modes: How a run can be started.
        has_parallel_calls: Whether an answer can ask for several calls at once.
    """

    adapter: Any
    modes: tuple[str, ...] = ("sync", "async", "stream")
    has_parallel_calls = True

    def run(self, adapter: Any, script: Script, tools: Tools, mode: str) -> Trial:
        """One run of an agent with these tools, on the task of the kit."""
        trial = Trial(script)
        self.play(adapter, trial, tools, mode)
        return trial

    def play(self, adapter: Any, trial: Trial, tools: Tools, mode: str) -> None:
        """Makes a run; it may use an event loop of its own.

        Up to a hundred calls of the model have to be allowed.
        """
        raise NotImplementedError


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
