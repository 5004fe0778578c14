"""The options that the commands of the decision log share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from ebbtide.cli.decisions.place import Place
from ebbtide.cli.declaration import FILE, Argument, Option
from ebbtide.cli.shared_options import OF_AGENT, SINCE, shared
from ebbtide.decision_log.record.record import Mode, Status
from ebbtide.decisions.candidate import ConfidenceSource, Stakes

Log = Annotated[
    str | None,
    Option(
        "--log",
        metavar="FILE|URL",
        envvar="EBBTIDE_LOG",
        help="File or postgresql:// URL; else a file in your data folder.",
    ),
]
Tenant = Annotated[str, Option("--tenant", metavar="NAME", help="Whose log.")]
Agent = Annotated[str | None, Option("--agent", "-a", metavar="NAME", help=OF_AGENT)]
Session = Annotated[
    str | None, Option("--session", "-s", metavar="NAME", help="Of which session; without it, of all.")
]
GateMode = Annotated[Mode, Option("--mode", help="What the gate may do: shadow, advise or enforce.")]
TextFile = Annotated[Path | None, Option("--file", "-f", metavar="FILE", help="Read the text from FILE.")]
Frame = Annotated[
    str, Option("--frame", metavar="NAME", help="What the agent was doing: decision, debug, task, ...")
]
Reasons = Annotated[
    list[str] | None,
    Option("--reason", "-r", metavar="TEXT", help="Why, such as 'analysis: it is faster'. Repeatable."),
]
Options = Annotated[
    list[str] | None, Option("--option", metavar="TEXT", help="What was weighed. Repeatable.")
]
Assumptions = Annotated[
    list[str] | None, Option("--assume", metavar="TEXT", help="What has to hold. Repeatable.")
]
StakesOf = Annotated[Stakes | None, Option("--stakes", help="What it costs to be wrong.")]
Category = Annotated[
    str | None, Option("--category", "-c", metavar="NAME", help="Any name, such as architecture or tooling.")
]
Confidence = Annotated[
    float | None, Option("--confidence", metavar="P", help="How sure it is to turn out right, 0 to 1.")
]
ConfidenceFrom = Annotated[
    ConfidenceSource | None,
    Option("--confidence-source", help="Where that is from; without it exactly 0.5 is the default."),
]
Prediction = Annotated[str | None, Option("--predict", metavar="TEXT", help="What is expected to happen.")]
ReviewBy = Annotated[
    str | None,
    Option("--review-by", metavar="WHEN", help="When to look how it turned out: 2026-03-01, or 30d."),
]
Links = Annotated[
    list[str] | None,
    Option(
        "--link",
        metavar="KIND=ID",
        help="How it stands to another one: depends_on, related_to, contradicts or supersedes. Repeatable.",
    ),
]
Context = Annotated[str | None, Option("--context", metavar="TEXT", help="The problem that is decided.")]
Chosen = Annotated[str | None, Option("--chosen", metavar="TEXT", help="The option that was chosen.")]
Consequences = Annotated[
    list[str] | None, Option("--consequence", metavar="TEXT", help="What follows from it. Repeatable.")
]
Pros = Annotated[
    list[str] | None,
    Option("--pro", metavar="TEXT", help="What speaks for an option: 'SQLite: no server'. Repeatable."),
]
Cons = Annotated[
    list[str] | None,
    Option("--con", metavar="TEXT", help="What speaks against one: 'SQLite: one writer'. Repeatable."),
]
Deciders = Annotated[list[str] | None, Option("--decider", metavar="NAME", help="Who decided. Repeatable.")]
Proposed = Annotated[bool, Option("--proposed", help="It is proposed, and not accepted yet.")]
GuardrailsFile = Annotated[
    str | None,
    Option("--guardrails", metavar="FILE", type=FILE, help="TOML file of rules for decisions."),
]
Force = Annotated[bool, Option("--force", help="Record it over the objection of the gate.")]
By = Annotated[str, Option("--by", metavar="NAME", help="Who says so.")]
Why = Annotated[str, Option("--why", metavar="TEXT", help="Why.")]
Statuses = Annotated[
    list[Status] | None, Option("--status", metavar="STATUS", help="Only these. Repeatable.")
]
Users = Annotated[bool, Option("--users", help="Read what users say too.")]
Limit = Annotated[
    int, Option("--limit", "-n", metavar="N", at_least=1, at_most=100_000, help="How many at most.")
]
Since = Annotated[str | None, Option("--since", metavar="WHEN", help=SINCE)]
Until = Annotated[str | None, Option("--until", metavar="WHEN", help="Up to then.")]
Identifier = Annotated[str, Argument(metavar="ID", help="Id of a decision, or its beginning.")]

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


Details = dict[str, Any]  # what `DecisionOptions.of` takes beside the text

_OF_A_RECORD = {
    "context": (Context, None),
    "choice": (Chosen, None),
    "options": (Options, None),
    "pros": (Pros, None),
    "cons": (Cons, None),
    "consequences": (Consequences, None),
    "deciders": (Deciders, None),
}

#: What a record says, as `RecordTexts` takes it.
with_record_texts = shared(_OF_A_RECORD, dict)

with_details = shared(
    {
        **_OF_A_RECORD,
        "proposed": (Proposed, False),
        "reasons": (Reasons, None),
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
