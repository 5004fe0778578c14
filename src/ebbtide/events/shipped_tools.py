"""Declarations that come with Ebbtide, of the tools of known agents: one file a family, in ``tools/``.

A file lists names by effect, and by the outcome with which their calls end a run, as texts; ``[tools.NAME]``
says more. ``noise`` and ``failure`` at its top hold for all of its tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from ebbtide.events.effect import Effect
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.settings_file import read_package_data

FAMILIES = """claude_code codex gemini_cli openhands swe_agent mini_swe_agent opencode editors browsers mcp
frameworks""".split()
_PATTERNS = ("noise", "failure")


@cache
def shipped() -> ToolPolicies:
    """Returns the declarations that are shipped, read at the first call.

    >>> shipped().get("mcp__github__create_issue").effect.value
    'change'
    >>> shipped().get("exec_command").effect_of({"cmd": ["bash", "-lc", "git status"]}).value
    'read'
    """
    policies: dict[str, ToolPolicy] = {}
    for family in FAMILIES:
        for name, policy in declarations(family):
            earlier = policies.get(name)
            policies[name] = policy if earlier is None else _joined_policy(earlier, policy)
    # Behind the others, so that a bare name is looked up before it takes the whole name in.
    any_tool = ToolPolicies({"*": ToolPolicy(command="command", sql="sql", source="shipped: arguments")})
    return ToolPolicies(policies, fallback=any_tool)


def declarations(family: str) -> Iterator[tuple[str, ToolPolicy]]:
    """Yields the tools of one file, each with its declaration."""
    table = read_package_data(f"events/tools/{family}.toml")
    all_of = {name: tuple(table.get(name, ())) for name in _PATTERNS}
    for effect in Effect:
        policy = ToolPolicy(effect=effect, source=f"shipped: {family}", **_with_patterns_of(all_of, {}))
        for name in table.get(effect.value, "").split():
            yield name, policy
    for outcome in RunOutcome:
        ending = ToolPolicy(ends={outcome.value: ""}, source=f"shipped: {family}")
        for name in table.get(outcome.value, "").split():
            yield name, ending
    for name, values in table.get("tools", {}).items():
        yield name, ToolPolicy(**_with_patterns_of(all_of, values), source=f"shipped: {family}")


def _with_patterns_of(all_of: Mapping[str, tuple[str, ...]], values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, **{name: (*all_of[name], *values.get(name, ())) for name in _PATTERNS}}


def _joined_policy(one: ToolPolicy, other: ToolPolicy) -> ToolPolicy:
    """Joins two declarations of one tool: their effects agree, and both may have noise."""
    noise = dict.fromkeys((*one.noise, *other.noise))
    failure = dict.fromkeys((*one.failure, *other.failure))
    return replace(
        one.over(other), noise=tuple(noise), failure=tuple(failure), ends={**other.ends, **one.ends}
    )
