"""How much a run may take.

Source: divergence spec, section 1 (clause X01).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.errors import ConfigError, shown


class LimitKind(StrEnum):
    """What is limited."""

    COST_USD = "cost_usd"  #: dollars
    TOKENS = "tokens"  #: tokens of all classes
    STEPS = "steps"  #: calls of any kind
    LLM_CALLS = "llm_calls"
    TOOL_CALLS = "tool_calls"
    RETRIES = "retries"  #: calls that were tried again after they failed
    WALL_S = "wall_s"  #: seconds since the scope was made


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits. None sets no limit; 0 means that there may be none of it.

    Args:
        cost_usd: Dollars.
        tokens: Tokens of all classes together.
        steps: Calls of any kind.
        llm_calls: Calls of a model.
        tool_calls: Calls of a tool.
        retries: Calls that are tried again after they failed.
        wall_s: Seconds from the making of the scope; a call that runs then is not cut off.
        warn_at: Share of each limit at which a warning is due, over 0 to 1; None warns of nothing.

    Raises:
        ConfigError: A limit is negative, infinite or no number.
    """

    cost_usd: float | None = None
    tokens: int | None = None
    steps: int | None = None
    llm_calls: int | None = None
    tool_calls: int | None = None
    retries: int | None = None
    wall_s: float | None = None
    warn_at: float | None = 0.7

    def __post_init__(self) -> None:
        for kind in LimitKind:
            value = getattr(self, kind)
            if value is None:
                continue
            whole = kind not in (LimitKind.COST_USD, LimitKind.WALL_S)
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise ConfigError(
                    f"{kind} = {shown(value)}: expected a {'whole ' * whole}number, or None for no limit"
                )
            if not 0 <= value <= 1e12:
                raise ConfigError(f"{kind} = {shown(value)}: expected 0 to 1e12, or None for no limit")
        share = self.warn_at
        if share is not None and (
            isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1
        ):
            raise ConfigError(f"warn_at = {shown(share)}: expected over 0 to 1, or None for no warning")

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Limits:
        """The limits of a parsed TOML or JSON table.

        Raises:
            ConfigError: An unknown key, or a value out of range.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        for key in table:
            if key not in names:
                raise ConfigError(f"limits.{key}: no such limit; there are {', '.join(names)}")
        return cls(**table)
