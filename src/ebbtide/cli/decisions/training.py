"""`ebbtide decisions train`: a model of labels, and what it brings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.table import Table

from ebbtide import __version__
from ebbtide.cli.decisions.labelling import Labels, labelled_candidates, labels_file, labels_in, rules_alone
from ebbtide.cli.decisions.place import Place, default_file, with_log
from ebbtide.cli.declaration import AsJson, Command, Output, ProfileName
from ebbtide.cli.terminal import console, print_json, styled
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
    as_json: AsJson = False,
) -> None:
    """Make a model of your labels and of the reviews in the log, and say what it brings.

    It is weighed beside the rules of the gate where a profile names it as model under [decisions]. It needs
    the extra semantic.
    """
    file = labels_file(labels)
    rules = Profile.load(profile)
    if not rules.decisions.weighs:
        raise ConfigError(f"--profile {profile}: a model is weighed beside the rules, and weighs = false")
    both = _Labels(of_file=_answered(labels_in(file)), of_log=_of_log(place))
    candidates = labelled_candidates(both.all, rules_alone(profile))
    if not candidates:
        raise ConfigError(f"{file}: there are no labels. `ebbtide decisions label FILE` asks for some")
    # numpy takes long to load, and may not be there.
    from ebbtide.decisions.learning.learned_rule import embedder
    from ebbtide.decisions.learning.training import labelled_table, model_of, training_report
    from ebbtide.text.embedding.minilm import FINGERPRINT

    terminal = console(stderr=as_json)
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
    if as_json:
        sizes = {"labels_of_file": len(both.of_file), "labels_of_log": len(both.of_log)}
        print_json({"schema": 1, "model": str(path), **sizes, **report.to_dict()})
        return
    of_log = f", {len(both.of_log)} of them from the log" if both.of_log else ""
    terminal.print(
        styled(
            f"{count(len(candidates), 'label')}{of_log}: {count(report.decisions, 'decision')}, "
            f"{report.others} none, in {count(report.documents, 'document')}"
        ),
        soft_wrap=True,
    )
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("labels", "decisions lost", "no decisions kept"):
        grid.add_column(name, justify="right" if name == "labels" else "left")
    for point in report.curve:
        grid.add_row(str(point.labels), _rate(point.loss), _rate(point.passed))
    terminal.print(grid)
    if report.honest is not None:
        lot = report.honest
        terminal.print(
            styled(f"Of those drawn by lot: {_rate(lot.loss)} lost, {_rate(lot.passed)} kept."),
            soft_wrap=True,
        )
    if not report.by_document:
        terminal.print(
            styled("All are of one document, so these rates are better than those of others.", "yellow"),
            soft_wrap=True,
        )
    terminal.print(styled(f"written: {path}"), soft_wrap=True)
    if rules.decisions.model is None or Path(rules.decisions.model).absolute() != path.absolute():
        terminal.print(
            styled(f'To use it: model = "{path.name}" under [decisions] in a profile beside it.', "dim"),
            soft_wrap=True,
        )


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
