"""By what a run is judged, as options say it.

The engines are imported when they are asked for: to print a line of help nobody needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.errors import ConfigError
from ebbtide.settings_file import read_settings

if TYPE_CHECKING:
    from ebbtide.budget.limits import Limits
    from ebbtide.budget.prices import Prices
    from ebbtide.events.tool_policy import ToolPolicies
    from ebbtide.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """By what a run is judged.

    Args:
        profile: The thresholds.
        tools: What is declared about tools; None declares nothing.
        limits: What a run may take; None sets no limit.
        prices: What tokens cost; None asks nobody.
    """

    profile: Profile
    tools: ToolPolicies | None
    limits: Limits | None
    prices: Prices | None

    @classmethod
    def of(
        cls,
        *,
        profile: str,
        tools: str | None,
        limits: str | None,
        prices: str | None,
        **most: float | None,
    ) -> Rules:
        """The rules that options name.

        Args:
            profile: Name of a profile, or a file.
            tools: A file.
            limits: A file; single limits given beside it take the place of its own.
            prices: A file; without it, public prices are asked where they are installed.
            **most: A limit by the name of its kind.

        Raises:
            ConfigError: A file or a value cannot be used.
        """
        from ebbtide.budget.prices import Prices
        from ebbtide.events.tool_policy import ToolPolicies
        from ebbtide.profile import Profile

        return cls(
            profile=Profile.load(profile),
            tools=None if tools is None else ToolPolicies.load(tools),
            limits=_limits(limits, most),
            prices=Prices() if prices is None else Prices.load(prices),
        )


def _limits(file: str | None, most: dict[str, float | None]) -> Limits | None:
    from ebbtide.budget.limits import LimitKind, Limits

    table: dict[str, Any] = {} if file is None else read_settings(file, _limits_table)
    for name, value in most.items():
        if value is not None:
            whole = LimitKind(name) not in (LimitKind.COST_USD, LimitKind.WALL_S)
            table[name] = int(value) if whole else value
    return Limits.from_dict(table) if table else None


def _limits_table(table: Mapping[str, Any]) -> dict[str, Any]:
    from ebbtide.budget.limits import Limits

    inside = table.get("limits", table)
    if not isinstance(inside, dict):
        raise ConfigError(f"limits = {inside!r:.60}: expected a table")
    Limits.from_dict(inside)
    return dict(inside)
