"""The timeline of a run: one cell an event, equal calls alike, so that loops show as stripes."""

from __future__ import annotations

import re

from ebbtide.divergence.near_duplicates import argument_display
from ebbtide.events.event import Event, Message, ModelCall, ToolCall, content, title
from ebbtide.events.identity import identify, key_of
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.supervision.summary.run_summary import Cell

_SHOWN = 160  # characters of a call, and of its answer
_ENTERS = re.compile(r"cd\s+[^\s;&|]+\s*(?:&&|;)\s*")  # says where, and not what


class Timeline:
    """The cells of a run so far.

    Args:
        policies: What is declared about tools: a call of a shell is named by its command.
    """

    def __init__(self, policies: ToolPolicies) -> None:
        self._policies = policies
        self.cells: list[Cell] = []
        self._identities: dict[bytes, int] = {}
        self._names: dict[str, str] = {}

    def add(self, event: Event, number: int, *, cost_usd: float | None, tokens: int | None) -> None:
        """Add an event.

        Args:
            cost_usd: Spent in the run up to and with it.
        """
        name, error = title(event), False
        if isinstance(event, ToolCall):
            kind, error = "tool", bool(event.error)
            identity = identify(event.name, event.args)
            key = identity[0] if identity else key_of(kind, number)
            policy, text = self._policies.get(name), argument_display(event.args)
            if policy is not None and policy.is_command(event.args):
                text = _ENTERS.sub("", text, count=1) if text.startswith("cd ") else text
            excerpt = f"{name} {text}"[:_SHOWN].strip()
            name = name if policy is None else policy.head(name, event.args)
            if event.result is not None:
                excerpt = f"{excerpt} \u2192 {str(event.result)[:_SHOWN]}"
        else:
            text = str(content(event) or "")
            kind = (
                "llm" if isinstance(event, ModelCall) else "user" if isinstance(event, Message) else "system"
            )
            error = bool(getattr(event, "error", False))
            key = key_of(kind, name, text)
            excerpt = text[:_SHOWN] or name
        self.cells.append(
            Cell(
                number=number,
                kind=kind,
                name=self._names.setdefault(name, name),
                identity=self._identities.setdefault(key, len(self._identities)),
                error=error,
                chain_id=event.chain_id,
                cost_usd=cost_usd,
                tokens=tokens,
                ts=event.ts,
                excerpt=excerpt,
            )
        )
