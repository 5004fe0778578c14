"""The options that say by what a run is judged."""

from __future__ import annotations

from typing import Annotated

from ebbtide.cli.declaration import FILE, Option
from ebbtide.cli.runs.rules import Rules
from ebbtide.cli.shared_options import ProfileName, shared

_LIMITS = "Limits that the run is held against"

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
    Option("--max-cost", metavar="USD", help="Dollars that a run may take.", section=_LIMITS),
]
MaxTokens = Annotated[
    int | None,
    Option("--max-tokens", metavar="N", help="Tokens that a run may take.", section=_LIMITS),
]
MaxSteps = Annotated[
    int | None,
    Option("--max-steps", metavar="N", help="Calls that a run may make.", section=_LIMITS),
]
MaxSeconds = Annotated[
    float | None,
    Option("--max-seconds", metavar="S", help="Seconds that a run may take.", section=_LIMITS),
]
PricesFile = Annotated[
    str | None,
    Option(
        "--prices", metavar="FILE", type=FILE, help="TOML file of prices: USD per million tokens, by model."
    ),
]

with_rules = shared(
    {
        "profile": (ProfileName, "default"),
        "tools": (Tools, None),
        "prices": (PricesFile, None),
        "limits": (LimitsFile, None),
        "cost_usd": (MaxCost, None),
        "tokens": (MaxTokens, None),
        "steps": (MaxSteps, None),
        "wall_s": (MaxSeconds, None),
    },
    Rules.of,
)
