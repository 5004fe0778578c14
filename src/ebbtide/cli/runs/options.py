"""The options that say by what a run is judged, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from ebbtide.cli.declaration import (
    FILE,
    Option,
    PricesFile,
    ProfileName,
    Redact,
    read_prices,
    shared,
)
from ebbtide.cli.runs.ignoring import with_ignored
from ebbtide.cli.settings.options import limits_table
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import RULES
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    from ebbtide.budget.limits import Limits

_LIMITS = "Limits"

Tools = Annotated[
    str | None,
    Option(
        "--tools", metavar="FILE", type=FILE, help="TOML file that declares tools: effect, key fields, ..."
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
    Option("--max-cost", metavar="USD", at_least=0, help="Maximum cost in US dollars.", section=_LIMITS),
]
MaxTokens = Annotated[
    int | None,
    Option("--max-tokens", metavar="N", at_least=0, help="Maximum number of tokens.", section=_LIMITS),
]
MaxSteps = Annotated[
    int | None,
    Option("--max-steps", metavar="N", at_least=0, help="Maximum number of calls.", section=_LIMITS),
]
MaxSeconds = Annotated[
    float | None,
    Option("--max-seconds", metavar="S", at_least=0, help="Maximum duration in seconds.", section=_LIMITS),
]
Timezone = Annotated[
    str | None,
    Option(
        "--timezone",
        metavar="NAME",
        help="Time zone of the days, such as Europe/Berlin; the default is the zone of this machine.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    Option(
        "--ignore",
        metavar="WHAT",
        help="Do not report a rule such as monotony, tool=NAME, or run=GLOB (check). Repeatable.",
        shell_complete=lambda _context, _option, typed: [name for name in RULES if name.startswith(typed)],
    ),
]


def read_run_options(
    *,
    profile: str,
    tools: str | None,
    ignore: list[str] | None = None,
    limits: str | None = None,
    prices: str | None = None,
    redact: bool = True,
    timezone: str | None = None,
    **most: float | None,
) -> RunOptions:
    """The options that a command line says.

    Args:
        ignore: Rules and tools, as the option names them; those of the project's settings come on top.
        limits: A file; single limits override those in it.
        prices: A file; None takes public prices where they are installed.
        timezone: The name of a zone; None takes that of this machine.
        **most: A limit by the name of its kind.

    Raises:
        ConfigError: A file or a value cannot be used.
    """
    from ebbtide.events.tool_policy import ToolPolicies

    if timezone is not None:
        from ebbtide.clock import time_zone

        time_zone(timezone)
    return RunOptions(
        profile=with_ignored(Profile.load(profile), ignore or ()),
        tools=None if tools is None else ToolPolicies.load(tools),
        limits=_limits(limits, most),
        prices=read_prices(prices),
        redact=redact,
        timezone=timezone,
    )


def _limits(file: str | None, most: Mapping[str, float | None]) -> Limits | None:
    from ebbtide.budget.limits import Limits

    table = limits_table(file, most)
    return Limits.from_dict(table) if table else None


_THRESHOLDS: dict[str, tuple[Any, Any]] = {
    "profile": (ProfileName, "default"),
    "tools": (Tools, None),
    "ignore": (Ignore, None),
}
_FILES: dict[str, tuple[Any, Any]] = {"prices": (PricesFile, None), "limits": (LimitsFile, None)}
_LIMITS_OF_A_RUN: dict[str, tuple[Any, Any]] = {
    "cost_usd": (MaxCost, None),
    "tokens": (MaxTokens, None),
    "steps": (MaxSteps, None),
    "wall_s": (MaxSeconds, None),
}
_ZONE: dict[str, tuple[Any, Any]] = {"timezone": (Timezone, None)}
_REDACT: dict[str, tuple[Any, Any]] = {"redact": (Redact, True)}

with_thresholds = shared(_THRESHOLDS, read_run_options)
with_loop_options = shared(_THRESHOLDS | _REDACT, read_run_options)
with_run_options = shared(_THRESHOLDS | _FILES | _LIMITS_OF_A_RUN | _ZONE | _REDACT, read_run_options)
#: Of an agent that is started no days are shown, and no text that is not masked.
with_agent_options = shared(_THRESHOLDS | _FILES | _LIMITS_OF_A_RUN, read_run_options)
#: Who checks an archive has its limits in a file.
with_archive_options = shared(_THRESHOLDS | _FILES | _REDACT, read_run_options)
