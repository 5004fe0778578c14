"""The options that the commands of the decision log share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from ebbtide.cli.decisions.place import Place
from ebbtide.cli.declaration import Argument, Option
from ebbtide.cli.shared_options import shared
from ebbtide.decision_log.record import Mode, Status
from ebbtide.decisions.candidate import ConfidenceSource, Stakes

Log = Annotated[
    str | None,
    Option("--log", envvar="EBBTIDE_LOG", help="File or postgresql:// URL; else a file in your data folder."),
]
Tenant = Annotated[str, Option("--tenant", help="Whose log.")]
Agent = Annotated[str | None, Option("--agent", "-a", help="Of which agent; without it, of all.")]
Session = Annotated[str | None, Option("--session", "-s", help="Of which session; without it, of all.")]
GateMode = Annotated[Mode, Option("--mode", help="What the gate may do: shadow, advise or enforce.")]
TextFile = Annotated[Path | None, Option("--file", "-f", help="Read the text from this file.")]
Frame = Annotated[str, Option("--frame", help="What the agent was doing: decision, debug, task, ...")]
Reasons = Annotated[
    list[str] | None,
    Option("--reason", "-r", help="Why, such as 'analysis: it is faster'. May be repeated."),
]
Options = Annotated[list[str] | None, Option("--option", "-o", help="What was weighed. May be repeated.")]
Assumptions = Annotated[list[str] | None, Option("--assume", help="What has to hold. May be repeated.")]
StakesOf = Annotated[Stakes | None, Option("--stakes", help="What it costs to be wrong.")]
Category = Annotated[
    str | None, Option("--category", "-c", help="Any name, such as architecture or tooling.")
]
Confidence = Annotated[float | None, Option("--confidence", help="How sure it is to turn out right, 0 to 1.")]
ConfidenceFrom = Annotated[
    ConfidenceSource | None,
    Option("--confidence-source", help="Where that is from; without it exactly 0.5 is the default."),
]
Prediction = Annotated[str | None, Option("--predict", help="What is expected to happen.")]
ReviewBy = Annotated[
    str | None, Option("--review-by", help="When to look how it turned out: 2026-03-01, or 30d.")
]
Force = Annotated[bool, Option("--force", help="Record it over the objection of the gate.")]
By = Annotated[str, Option("--by", help="Who says so.")]
Why = Annotated[str, Option("--why", help="Why.")]
Statuses = Annotated[list[Status] | None, Option("--status", help="Only these. May be repeated.")]
Limit = Annotated[int, Option("--limit", "-n", at_least=1, at_most=100_000, help="How many at most.")]
Since = Annotated[str | None, Option("--since", help="From then on: 2026-03-01, or 7d for seven days ago.")]
Until = Annotated[str | None, Option("--until", help="Up to then.")]
Identifier = Annotated[str, Argument(help="Id of a decision, or its beginning.")]

_OF_A_LOG = {
    "log": (Log, None),
    "tenant": (Tenant, "default"),
    "agent": (Agent, None),
    "session": (Session, None),
}


def with_log(*, session: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options that name a log; what they say is its first argument, a `Place`.

    Args:
        session: Whether one session can be named too.
    """
    options = {name: option for name, option in _OF_A_LOG.items() if session or name != "session"}
    return shared(options, Place)


Details = dict[str, Any]  # what `Said.of` takes beside the text

with_details = shared(
    {
        "reasons": (Reasons, None),
        "options": (Options, None),
        "assumptions": (Assumptions, None),
        "stakes": (StakesOf, None),
        "category": (Category, None),
        "confidence": (Confidence, None),
        "confidence_source": (ConfidenceFrom, None),
        "prediction": (Prediction, None),
        "review_by": (ReviewBy, None),
    },
    dict,
)
