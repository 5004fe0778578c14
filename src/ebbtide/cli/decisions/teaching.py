"""The commands that teach the gate: labels of a user's own, and the model that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ebbtide.cli.decisions.browsing import Place
from ebbtide.cli.decisions.recording import Users, with_log
from ebbtide.cli.declaration import Argument, AsJson, CommandGroup, Option, Output, ProfileName

app = CommandGroup()

Labels = Annotated[
    Path | None,
    Option(
        "--labels",
        metavar="FILE",
        help="The labels; without it decision-labels.jsonl beside the settings of the project, or here.",
    ),
]


@app.command()
@with_log(session=True)
def label(
    place: Place,
    traces: Annotated[
        list[str] | None, Argument(metavar="[FILE...]", help="Traces; without them what is in the log.")
    ] = None,
    labels: Labels = None,
    come_with: Annotated[
        Path | None, Option("--from", metavar="FILE", help="Add labels from a JSONL file: text and label.")
    ] = None,
    everyone: Users = False,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """Say of candidates whether they are decisions, a key each; train makes a model of it.

    Half of them are drawn by lot, half because the gate is least sure. Keys: y decision, n none, s skip,
    u undo, q quit. Without a terminal each line of standard input is a key. Labels are kept at once, so that
    the next call goes on where this one stopped.
    """
    from ebbtide.cli.decisions import labelling as commands

    file = commands.labels_file(labels)
    if come_with is not None:
        commands.import_labels(come_with, file, as_json=as_json and not traces)
        if not traces:
            return
    commands.label(place, traces or (), file, profile=profile, everyone=everyone, as_json=as_json)


@app.command()
@with_log(session=True)
def train(
    place: Place,
    labels: Labels = None,
    output: Output = None,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """Make a model of your labels and of the reviews in the log, and say what it brings.

    It is weighed beside the rules of the gate where a profile names it as model under [decisions]. It needs
    the extra semantic.
    """
    from ebbtide.cli.decisions import labelling, training

    training.train_gate(place, labelling.labels_file(labels), output, profile=profile, as_json=as_json)
