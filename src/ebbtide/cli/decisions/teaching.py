"""`ebbtide decisions label | train`: what a person says of candidates, and a model of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click
from rich.console import Console

from ebbtide import __version__
from ebbtide.checking import refuse_nothing
from ebbtide.cli.decisions.from_trace import filtered_trace
from ebbtide.cli.decisions.place import Place, Users, default_file, with_log
from ebbtide.cli.declaration import Argument, AsJson, Command, Option, Output, ProfileName
from ebbtide.cli.result import Result
from ebbtide.cli.settings.options import current_settings
from ebbtide.cli.single_file import single_file
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, console, plain
from ebbtide.decision_log.log.decision_labels import labels_of
from ebbtide.decision_log.record.record import Status
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.learning.decision_label import (
    DecisionLabel,
    Draw,
    LabelKind,
    read_labels,
    write_labels,
)
from ebbtide.decisions.learning.drawing import (
    Doubt,
    OpenQuestion,
    doubt_of_labels,
    doubt_of_rules,
    next_question,
)
from ebbtide.decisions.learning.features import LabelledCandidate, RuleReading
from ebbtide.decisions.turns.filtered_turns import Disposition, FilteredCandidate
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.profile import Profile
from ebbtide.rate import Rate
from ebbtide.report.plurals import count
from ebbtide.text.redaction import redact
from ebbtide.traces.input.source import STDIN
from ebbtide.traces.reading import open_trace

_LABELS = "decision-labels.jsonl"
_MODEL = "decision-model.json"
_KEYS = {"y": LabelKind.DECISION, "n": LabelKind.NONE, "s": LabelKind.SKIPPED}
_UNDO, _QUIT = "u", "q"
_ENDS = frozenset({"", "\x03", "\x04"})  # no more input, Ctrl-C, Ctrl-D
_RETHOUGHT = 10  # labels after which the gate's doubt is learned anew
_SHOWN = 300  # characters of a line
_WHY = {Draw.RANDOM: "drawn at random", Draw.UNCERTAIN: "the gate is unsure"}


def labels_file(path: Path | None) -> Path:
    """The file of labels: the one that is named, else beside the settings of the project, else here."""
    if path is not None:
        return path
    settings = current_settings()
    return Path("" if settings is None else settings.folder, _LABELS)


def labels_in(path: Path) -> list[DecisionLabel]:
    """The labels in a file; none where there is no file yet.

    Raises:
        ConfigError: It cannot be read.
    """
    return read_labels(path) if path.exists() else []


def _import_labels(source: Path, path: Path) -> Result:
    """Adds labels that are not there yet; one that is there with another label is replaced.

    Raises:
        ConfigError: A file cannot be read or written.
    """
    by_key = {(each.text, each.document): each for each in labels_in(path)}
    new = 0
    for each in read_labels(source):
        key = (each.text, each.document)
        before = by_key.get(key)
        new += before is None or before.label is not each.label
        by_key[key] = each
    write_labels(path, by_key.values())
    wire = {"schema": 1, "labels": str(path), "new": new, "total": len(by_key)}
    line = Line(f"{count(new, 'label')} added, {len(by_key)} in {path}")
    return Result(lambda: wire, lambda _: [line])


Labels = Annotated[
    Path | None,
    Option(
        "--labels",
        metavar="FILE",
        help="File of the labels; the default is decision-labels.jsonl beside the project settings, or in "
        "the current folder.",
    ),
]


@click.command(cls=Command)
@with_log("agent", "session")
def label(
    place: Place,
    traces: Annotated[
        list[str] | None,
        Argument(metavar="[FILE...]", help="Traces; without a FILE, the candidates in the log."),
    ] = None,
    labels: Labels = None,
    come_with: Annotated[
        Path | None,
        Option("--from", metavar="FILE", help="Add labels from a JSONL file with text and label."),
    ] = None,
    everyone: Users = False,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """Label candidates as decisions or not, one key each.

    Half of the candidates are drawn at random; for the other half the gate is least sure. Keys: y decision,
    n not a decision, s skip, u undo, q quit. Without a terminal, each line of standard input is a key. Each
    label is saved at once, and the next call continues there. `decisions train` trains a model on the labels.
    """
    path = labels_file(labels)
    if come_with is not None:
        imported = _import_labels(come_with, path)
        imported.print(as_json=as_json and not traces)
        if not traces:
            return
    rules = rules_alone(profile)
    kept = labels_in(path)
    terminal = console(stderr=as_json)
    questions = list(_of_traces(traces, rules, everyone=everyone) if traces else _of_log(place, rules))
    session = _Labelling(questions, kept, path, rules, terminal)
    new = session.run()
    counts = {kind.value: sum(each.label is kind for each in kept) for kind in LabelKind}
    left_open = len(session.open_questions())
    totals = ", ".join(f"{number} {name}" for name, number in counts.items())
    line = Line.safe(f"{new} new; {totals} in {path}; {left_open} open")
    wire = {"schema": 1, "labels": str(path), "new": new, "open": left_open, "counts": counts}
    Result(lambda: wire, lambda _: [line]).print(as_json=as_json)


def rules_alone(profile: str) -> Profile:
    """The profile without a trained model: labels are weighed against what the rules say.

    Raises:
        ConfigError: There is no such profile.
    """
    rules = Profile.load(profile)
    return replace(rules, decisions=replace(rules.decisions, model=None))


class _Labelling:
    """Asks a person on a terminal, and keeps each answer in the file of labels at once."""

    def __init__(
        self,
        questions: Sequence[OpenQuestion],
        labels: list[DecisionLabel],
        path: Path,
        rules: Profile,
        terminal: Console,
    ) -> None:
        self._questions = {question.text: question for question in questions}
        self._labels = labels
        self._path = path
        self._rules = rules
        self._terminal = terminal
        self._doubt: Doubt = doubt_of_rules
        self._learned_at = 0

    def open_questions(self) -> list[OpenQuestion]:
        """Returns the questions that nobody answered yet."""
        answered = {each.text for each in self._labels}
        return [question for text, question in self._questions.items() if text not in answered]

    def run(self) -> int:
        """Ask, until there is no more to ask; how many labels are new."""
        before = len(self._labels)
        self._terminal.print(
            Line.safe(
                f"{count(len(self.open_questions()), 'candidate')} open, {before} labelled. "
                "Half are drawn at random, for an unbiased estimate; half are those of which the gate is "
                "least sure."
            ).to_rich(),
            soft_wrap=True,
        )
        again: tuple[OpenQuestion, Draw] | None = None
        while open_questions := self.open_questions():
            if again is None:
                self._think()
            question, draw = again or next_question(open_questions, len(self._labels), self._doubt)
            key = self._ask(question, draw)
            if key == _QUIT:
                break
            if key == _UNDO:
                again = self._undo() or (question, draw)
                continue
            again = None
            self._keep(question, draw, _KEYS[key])
        return len(self._labels) - before

    def _keep(self, question: OpenQuestion, draw: Draw, kind: LabelKind) -> None:
        rules = tuple(rule.id for rule in question.assessment.rules)
        self._labels.append(
            DecisionLabel(
                text=question.text,
                label=kind,
                document=question.document,
                place=question.place,
                rules=rules,
                draw=draw,
            )
        )
        write_labels(self._path, self._labels)

    def _undo(self) -> tuple[OpenQuestion, Draw] | None:
        """Take the latest answer back; the question that it was to."""
        latest = self._labels[-1] if self._labels else None
        question = None if latest is None else self._questions.get(latest.text)
        if latest is None or question is None or latest.draw is Draw.ELSEWHERE:
            self._terminal.print(Line("There is nothing to undo.", "yellow").to_rich())
            return None
        self._labels.pop()
        write_labels(self._path, self._labels)
        return question, latest.draw

    def _think(self) -> None:
        """Learn from the labels so far where the gate is unsure; without the extra, by the rules."""
        labels = _answered(self._labels)
        if len(labels) < _RETHOUGHT or len(labels) - self._learned_at < _RETHOUGHT:
            return
        self._learned_at = len(labels)
        try:
            # numpy takes long to load, and may not be there.
            from ebbtide.decisions.learning.learned_rule import embedder
            from ebbtide.decisions.learning.training import labelled_table

            candidates = labelled_candidates(labels, self._rules)
            self._doubt = doubt_of_labels(labelled_table(candidates, embedder()), embedder())
        except SemanticError:
            self._doubt = doubt_of_rules

    def _ask(self, question: OpenQuestion, draw: Draw) -> str:
        speaker = f"{plain(question.speaker, 24)}, " if question.speaker else ""
        title = f"{plain(question.document, 60)} {question.place}, {speaker}{_WHY[draw]}"
        self._terminal.print()
        self._terminal.print(Line.safe(title, "dim").to_rich(), soft_wrap=True)
        for text, style in ((question.before, "dim"), (question.text, "bold"), (question.after, "dim")):
            line = Line("> " if style == "bold" else "  ").append(plain(text, _SHOWN), style)
            for part in line.wrap(self._terminal.width) if text else ():
                self._terminal.print(part.to_rich(), soft_wrap=True)
        while True:
            self._terminal.print("A decision? y yes, n no, s skip, u undo, q quit: ", end="")
            key = _key()
            self._terminal.print(plain(key))
            if key in _KEYS or key in (_UNDO, _QUIT):
                return key


def labelled_candidates(labels: Sequence[DecisionLabel], rules: Profile) -> list[LabelledCandidate]:
    """Labels with what the rules make of their texts; skipped ones are left out."""
    return [
        LabelledCandidate(each, RuleReading.of(assess(Candidate(description=each.text), profile=rules)))
        for each in _answered(labels)
    ]


def _key() -> str:
    """A key, or the first character of a line where nobody types; the end of input quits."""
    if sys.stdin.isatty():
        key = click.getchar()
        if key == "\x03":
            raise KeyboardInterrupt
        return _QUIT if key in _ENDS else key.lower()
    line = sys.stdin.readline()
    return line.strip()[:1].lower() if line else _QUIT


def _of_traces(traces: Sequence[str], rules: Profile, *, everyone: bool) -> Iterator[OpenQuestion]:
    for name in traces:
        trace = open_trace(single_file(name, "Name its files."))
        filtered = filtered_trace(trace, rules, everyone=everyone)
        refuse_nothing(trace.source, trace.events, trace.faults)
        document = "stdin" if name == STDIN else Path(name).name
        for each in filtered.candidates:
            if each.disposition is not Disposition.DUPLICATE:
                yield _question(each, document)


def _question(each: FilteredCandidate, document: str) -> OpenQuestion:
    text = each.turn.text
    before = [line for line in text[: each.sentence.start].splitlines() if line.strip()]
    after = [line for line in text[each.sentence.end :].splitlines() if line.strip()]
    return OpenQuestion(
        text=redact(each.sentence.text),
        document=document,
        place=each.id,
        speaker=each.turn.speaker,
        before=redact(before[-1]) if before else "",
        after=redact(after[0]) if after else "",
        assessment=each.assessment,
    )


def _of_log(place: Place, rules: Profile) -> Iterator[OpenQuestion]:
    with place.open() as log:
        for decision in log.iterate(status=(Status.KEPT, Status.SUPERSEDED, Status.QUARANTINED)):
            text = redact(decision.candidate.description)
            if text.strip():
                yield OpenQuestion(
                    text=text,
                    document=decision.scope.session or decision.scope.agent,
                    place=decision.id,
                    speaker=decision.scope.agent,
                    before=redact(decision.question or ""),
                    after=redact(decision.thoughts[-1]) if decision.thoughts else "",
                    assessment=assess(Candidate(description=text), profile=rules),
                )


@click.command(cls=Command)
@with_log("agent", "session")
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
    of_file, of_log = _answered(labels_in(file)), _labels_of_log(place)
    # What a person said of the same words in the file stands over the log.
    texts = {each.text for each in of_file}
    labels_of_both = [*of_file, *(each for each in of_log if each.text not in texts)]
    candidates = labelled_candidates(labels_of_both, rules_alone(profile))
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
    path = output or Path(rules.decisions.model or file.parent / _MODEL)
    model.save(path)

    def wire() -> dict[str, Any]:
        sizes = {"labels_of_file": len(of_file), "labels_of_log": len(of_log)}
        return {"schema": 1, "model": str(path), **sizes, **report.to_dict()}

    def text(width: int) -> Iterator[Line]:
        part = f", {len(of_log)} of them from the log" if of_log else ""
        yield Line(
            f"{count(len(candidates), 'label')}{part}: {count(report.decisions, 'decision')}, "
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


def _answered(labels: Iterable[DecisionLabel]) -> list[DecisionLabel]:
    return [each for each in labels if each.label is not LabelKind.SKIPPED]


def _labels_of_log(place: Place) -> list[DecisionLabel]:
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
