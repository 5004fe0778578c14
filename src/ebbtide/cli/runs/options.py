"""The options that say by what a run is judged, and how they are read.

The engines are imported when they are called for: to print a line of help nobody needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from ebbtide.cli.declaration import (
    FILE,
    Option,
    PricesFile,
    ProfileName,
    Redact,
    WordChoice,
    read_prices,
    shared,
)
from ebbtide.cli.runs.ignoring import with_ignored
from ebbtide.cli.settings.options import limits_table
from ebbtide.profile import Profile
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
WhenUnknown = Annotated[
    str | None,
    Option(
        "--when-unknown",
        type=WordChoice(["refuse", "allow"]),
        help="What to make of a limit that cannot be counted; allow counts what is unknown as zero.",
        section=_LIMITS,
    ),
]
Timezone = Annotated[
    str | None,
    Option(
        "--timezone",
        metavar="NAME",
        help="The zone in which a day begins, such as Europe/Berlin. Default: that of this machine.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    Option(
        "--ignore",
        metavar="WHAT",
        help="Do not report this: a rule such as monotony, tool=NAME, or run=GLOB (check). Repeatable.",
    ),
]


def read_run_options(
    *,
    profile: str,
    tools: str | None,
    ignore: list[str] | None = None,
    limits: str | None = None,
    prices: str | None = None,
    when_unknown: str | None = None,
    redact: bool = True,
    timezone: str | None = None,
    **most: float | None,
) -> RunOptions:
    """What the command line says.

    Args:
        profile: Name of a profile, or a file.
        tools: A file.
        ignore: Rules and tools, as the option names them; those of the project's settings come on top.
        limits: A file; single limits override those in it.
        prices: A file; None takes public prices where they are installed.
        redact: Mask keys and passwords.
        timezone: The name of a zone; None takes that of this machine.
        when_unknown: "refuse" or "allow", as in `Limits`; overrides that in the file.
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
        limits=_limits(limits, most, when_unknown),
        prices=read_prices(prices),
        redact=redact,
        timezone=timezone,
    )


def _limits(file: str | None, most: Mapping[str, float | None], when_unknown: str | None) -> Limits | None:
    from ebbtide.budget.limits import Limits

    table = limits_table(file, most, when_unknown)
    return Limits.from_dict(table) if table else None


with_thresholds = shared(
    {
        "profile": (ProfileName, "default"),
        "tools": (Tools, None),
        "ignore": (Ignore, None),
        "redact": (Redact, True),
    },
    read_run_options,
)
with_run_options = shared(
    {
        "profile": (ProfileName, "default"),
        "tools": (Tools, None),
        "ignore": (Ignore, None),
        "prices": (PricesFile, None),
        "limits": (LimitsFile, None),
        "cost_usd": (MaxCost, None),
        "tokens": (MaxTokens, None),
        "steps": (MaxSteps, None),
        "wall_s": (MaxSeconds, None),
        "when_unknown": (WhenUnknown, None),
        "timezone": (Timezone, None),
        "redact": (Redact, True),
    },
    read_run_options,
)
