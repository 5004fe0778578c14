"""`ebbtide decisions train`: a model of labels, and what it brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ebbtide import __version__
from ebbtide.cli.decisions.labelling import Labels, labelled_candidates, labels_file, labels_in, rules_alone
from ebbtide.cli.decisions.place import Place, default_file, with_log
from ebbtide.cli.declaration import Command, Output, ProfileName
from ebbtide.cli.result import Result
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, console
from ebbtide.decision_log.log.decision_labels import labels_of
from ebbtide.decisions.learning.decision_label import DecisionLabel, LabelKind
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.rate import Rate
from ebbtide.report.plurals import count
from ebbtide.text.redaction import redact

_NAME = "decision-model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    of_file: list[DecisionLabel]
    of_log: list[DecisionLabel]

    @property
    def all(self) -> list[DecisionLabel]:
        """Both; what a person said of the same words in the file stands over the log."""
        texts = {each.text for each in self.of_file}
        return [*self.of_file, *(each for each in self.of_log if each.text not in texts)]


@click.command(cls=Command)
@with_log(session=True)
def train(
    place: Place,
    labels: Labels = None,
    output: Output = None,
    profile: ProfileName = "default",
) -> Result:
    """Train a model on your labels and the reviews in the log.

    The screen reports what the model improves. The gate uses the model together with its rules if a profile
    names it as `model` under [decisions]. Training needs the semantic extra.
    """
    file = labels_file(labels)
    rules = Profile.load(profile)
    if not rules.decisions.weighs:
        raise ConfigError(
            f"--profile {profile}: a model needs weighs = true, and the profile has weighs = false"
        )
    both = _Labels(of_file=_answered(labels_in(file)), of_log=_of_log(place))
    candidates = labelled_candidates(both.all, rules_alone(profile))
    if not candidates:
        raise ConfigError(f"{file}: there are no labels. `ebbtide decisions label FILE` collects labels")
    # numpy takes long to load, and may not be there.
    from ebbtide.decisions.learning.learned_rule import embedder
    from ebbtide.decisions.learning.training import labelled_table, model_of, training_report
    from ebbtide.text.embedding.minilm import FINGERPRINT

    terminal = console(stderr=True)
    embeds = embedder()
    if terminal.is_terminal:
        with terminal.status(f"Reading {count(len(candidates), 'label')}"):
            table = labelled_table(candidates, embeds)
    else:
        table = labelled_table(candidates, embeds)
    report = training_report(table)
    model = model_of(table, embedding=FINGERPRINT, refuse_at=rules.decisions.refuse_at, made_by=__version__)
    path = output or Path(rules.decisions.model or file.parent / _NAME)
    model.save(path)

    def wire() -> dict[str, Any]:
        sizes = {"labels_of_file": len(both.of_file), "labels_of_log": len(both.of_log)}
        return {"schema": 1, "model": str(path), **sizes, **report.to_dict()}

    def text(width: int) -> Iterator[Line]:
        of_log = f", {len(both.of_log)} of them from the log" if both.of_log else ""
        yield Line(
            f"{count(len(candidates), 'label')}{of_log}: {count(report.decisions, 'decision')}, "
            f"{report.others} none, in {count(report.documents, 'document')}"
        )
        grid = Table("labels", "decisions lost", "no decisions kept", right=(0,))
        for point in report.curve:
            grid.add(str(point.labels), _rate(point.loss), _rate(point.passed))
        yield from grid.lines(width)
        if report.honest is not None:
            lot = report.honest
            yield Line(f"Of those drawn at random: {_rate(lot.loss)} lost, {_rate(lot.passed)} kept.")
        if not report.by_document:
            yield Line(
                "All labels are from one document, so the rates for other documents will be lower.", "yellow"
            )
        yield Line.safe(f"written: {path}")
        if rules.decisions.model is None or Path(rules.decisions.model).absolute() != path.absolute():
            hint = f'To use it: model = "{path.name}" under [decisions] in a profile in the same folder.'
            yield Line.safe(hint, "dim")

    return Result(wire, text)


def _answered(labels: list[DecisionLabel]) -> list[DecisionLabel]:
    return [each for each in labels if each.label is not LabelKind.SKIPPED]


def _of_log(place: Place) -> list[DecisionLabel]:
    """Returns the labels of a log, where there is one; one that is named has to be there."""
    if place.log is None and not default_file().exists():
        return []
    with place.open() as log:
        return [replace(each, text=redact(each.text)) for each in labels_of(log)]


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    low, high = rate.interval
    return f"{rate.hits} of {rate.total}, {rate.value:.0%} ({low:.0%} to {high:.0%})"
