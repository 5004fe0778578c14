"""The options that say by what a run is judged, and how they are read.

The engines are imported when they are called for: to print a line of help nobody needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from ebbtide.cli.declaration import FILE, Option
from ebbtide.cli.shared_options import PricesFile, ProfileName, read_prices, shared
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.settings_file import read_settings
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    from ebbtide.budget.limits import Limits

_LIMITS = "Limits"

Tools = Annotated[
    str | None,
    Option(
        "--tools", metavar="FILE", type=FILE, help="TOML file of tool declarations: effect, key fields, ..."
    ),
]
LimitsFile = Annotated[
    str | None,
    Option(
        "--limits",
        metavar="FILE",
        type=FILE,
        help="TOML file of limits: cost_usd, tokens, steps, wall_s, ...",
        section=_LIMITS,
    ),
]
MaxCost = Annotated[
    float | None,
    Option("--max-cost", metavar="USD", help="Maximum cost in US dollars.", section=_LIMITS),
]
MaxTokens = Annotated[
    int | None,
    Option("--max-tokens", metavar="N", help="Maximum number of tokens.", section=_LIMITS),
]
MaxSteps = Annotated[
    int | None,
    Option("--max-steps", metavar="N", help="Maximum number of calls.", section=_LIMITS),
]
MaxSeconds = Annotated[
    float | None,
    Option("--max-seconds", metavar="S", help="Maximum duration in seconds.", section=_LIMITS),
]
WhenUnknown = Annotated[
    str | None,
    Option(
        "--when-unknown",
        metavar="refuse|allow",
        help="What to make of a limit that cannot be counted; allow takes what is unknown for nothing.",
        section=_LIMITS,
    ),
]


def read_run_options(
    *,
    profile: str,
    tools: str | None,
    limits: str | None = None,
    prices: str | None = None,
    when_unknown: str | None = None,
    **most: float | None,
) -> RunOptions:
    """What the command line says.

    Args:
        profile: Name of a profile, or a file.
        tools: A file.
        limits: A file; single limits override those in it.
        prices: A file; None takes public prices where they are installed.
        when_unknown: "refuse" or "allow", as in `Limits`; overrides that in the file.
        **most: A limit by the name of its kind.

    Raises:
        ConfigError: A file or a value cannot be used.
    """
    from ebbtide.events.tool_policy import ToolPolicies

    return RunOptions(
        profile=Profile.load(profile),
        tools=None if tools is None else ToolPolicies.load(tools),
        limits=_limits(limits, most, when_unknown),
        prices=read_prices(prices),
    )


def _limits(file: str | None, most: dict[str, float | None], when_unknown: str | None) -> Limits | None:
    from ebbtide.budget.limits import LimitKind, Limits

    table: dict[str, Any] = {} if file is None else read_settings(file, _limits_table)
    for name, value in most.items():
        if value is not None:
            whole = LimitKind(name) not in (LimitKind.COST_USD, LimitKind.WALL_S)
            table[name] = int(value) if whole else value
    if when_unknown is not None:
        table["when_unknown"] = when_unknown
    return Limits.from_dict(table) if table else None


def _limits_table(table: Mapping[str, Any]) -> dict[str, Any]:
    from ebbtide.budget.limits import Limits

    inside = table.get("limits", table)
    if not isinstance(inside, dict):
        raise ConfigError(f"limits = {inside!r:.60}: expected a table")
    Limits.from_dict(inside)
    return dict(inside)


with_thresholds = shared({"profile": (ProfileName, "default"), "tools": (Tools, None)}, read_run_options)
with_run_options = shared(
    {
        "profile": (ProfileName, "default"),
        "tools": (Tools, None),
        "prices": (PricesFile, None),
        "limits": (LimitsFile, None),
        "cost_usd": (MaxCost, None),
        "tokens": (MaxTokens, None),
        "steps": (MaxSteps, None),
        "wall_s": (MaxSeconds, None),
        "when_unknown": (WhenUnknown, None),
    },
    read_run_options,
)
