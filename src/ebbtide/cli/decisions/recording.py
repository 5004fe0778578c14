"""`ebbtide decisions record | think | review | amend`: what is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import click

from ebbtide.cli.decisions.place import By, Identifier, Place, Why, with_log
from ebbtide.cli.decisions.typed import Fields, Links, TextFile, typed_decision, typed_links, typed_text
from ebbtide.cli.declaration import Argument, Command, Option, ProfileName
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.terminal import Line, plain
from ebbtide.decision_log.deliberation.answer import DecisionAnswer, DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Link, Relation, Review, Status
from ebbtide.decision_log.record.review import SIGNAL
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.errors import ConfigError, UnknownDecisionError
from ebbtide.profile import Profile
from ebbtide.text.redaction import redact, redacted

_STYLES = {DecisionVerdict.OPENED: "bold cyan", DecisionVerdict.KEPT: "bold green"}

_Text = Annotated[
    str | None, Argument(metavar="[TEXT]", help="Text of the decision, or - for standard input.")
]


@click.command(
    cls=Command,
    exits={Exit.REFUSED: "the gate refuses the decision, it is a duplicate, or its frame is not captured"},
)
@with_log("agent", "session")
def record(
    place: Place,
    text: _Text = None,
    file: TextFile = None,
    reasons: Annotated[
        list[str] | None,
        Option(
            "--reason", "-r", metavar="TEXT", help="Reason, such as 'analysis: it is faster'. Repeatable."
        ),
    ] = None,
    options: Annotated[
        list[str] | None, Option("--option", metavar="TEXT", help="Option that was considered. Repeatable.")
    ] = None,
    confidence: Annotated[
        float | None,
        Option("--confidence", metavar="P", help="Probability that the decision turns out right, 0 to 1."),
    ] = None,
    review_by: Annotated[
        str | None,
        Option("--review-by", metavar="WHEN", help="Date to review the outcome: 2026-03-01, or 30d."),
    ] = None,
    fields: Fields = None,
    link: Links = None,
    opens: Annotated[bool, Option("--open", help="Only open the decision, and print its id.")] = False,
    of: Annotated[
        str | None, Option("--of", metavar="ID", help="Id of an open decision, which is now taken.")
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Record the decision even if the gate refuses it.")
    ] = False,
    profile: ProfileName = "default",
) -> Result:
    """Record a decision.

    If the gate refuses it, the reason is printed. A decision may take two steps: --open opens it, and --of ID
    takes it. A file may set any field, as front matter with the text below it, or as JSON.
    """
    if confidence is not None and not 0 <= confidence <= 1:
        raise ConfigError(f"--confidence {confidence}: expected a number from 0 to 1")
    typed = typed_decision(
        text,
        file,
        fields,
        needs_text=of is None,
        reasons=reasons,
        options=options,
        confidence=confidence,
        review_by=review_by,
    )
    links, rules = typed_links(link), Profile.load(profile)
    if opens and (of or links or typed.words):
        raise ConfigError("--open takes only a text and a frame; pass the other fields later with --of ID")
    with place.open(new=True) as log:
        work = Deliberation(log, profile=rules)
        frame, description = typed.frame or "decision", typed.description or ""
        if opens:
            answer = work.try_start(log.agent or "agent", description, frame, log.session)
        else:
            words = {**typed.words, "links": _targets(log, links), "force": force}
            if of is None:
                answer = work.record_decision(description, frame=frame, **words)
            else:
                answer = work.try_finalize(log.resolve(of), typed.description, **words)
        lines = _answer_lines(log, answer)
    return Result(redacted(answer).to_dict, lambda _: lines, Exit.DONE if answer.kept else Exit.REFUSED)


@click.command(cls=Command)
@with_log()
def think(
    place: Place,
    decision: Identifier,
    text: Annotated[
        str | None, Argument(metavar="[TEXT]", help="Text of the thought, or - for standard input.")
    ] = None,
    file: Annotated[
        Path | None,
        Option("--file", "-f", metavar="FILE", help="Read the text from FILE, or - for standard input."),
    ] = None,
) -> Result:
    """Add a thought to an open decision."""
    thought = typed_text(text, file, "thought")
    with place.open(new=True) as log:
        decision_id = log.resolve(decision)
        Deliberation(log).think(decision_id, thought)
        return _result(log.get(decision_id), "noted")


@click.command(cls=Command)
@with_log()
def review(
    place: Place,
    decision: Identifier,
    outcome: Annotated[
        DecisionOutcome,
        Argument(metavar="OUTCOME", help="Outcome: success, partial, failure, not_a_decision or unknown."),
    ],
    by: By = "a person",
    evidence: Annotated[
        str, Option("--evidence", "-e", metavar="TEXT", help="Evidence for the outcome.")
    ] = "",
    observed: Annotated[
        bool,
        Option("--observed", help="The machine that --by names measured the outcome; needs --evidence."),
    ] = False,
) -> Result:
    """Record how a decision turned out.

    Earlier reviews stay in the log; the latest review counts.
    """
    if observed and not evidence.strip():
        raise ConfigError("--observed needs --evidence, which names what the machine measured")
    if observed and not by.startswith(SIGNAL):
        by = f"{SIGNAL}{by}"
    with place.open(new=True) as log:
        opinion = Review(outcome=outcome, by=by, evidence=evidence, ts=log.clock(), observed=observed)
        reviewed = log.review(log.resolve(decision), opinion)
        return _result(reviewed, outcome.value)


@click.command(cls=Command)
@with_log()
def amend(
    place: Place,
    decision: Identifier,
    status: Annotated[
        RecordStatus | None,
        Option("--status", help="Status of the decision in the team; it stays in the log."),
    ] = None,
    link: Links = None,
    fields: Fields = None,
    file: TextFile = None,
    why: Why = "",
    version: Annotated[
        int | None,
        Option(
            "--at-version",
            metavar="N",
            help="Amend only if the decision still has this version, which `show --json` prints.",
        ),
    ] = None,
) -> Result:
    """Change the record of a decision, or its links to others.

    A new context or choice replaces the old one; other fields are added. The decision that replaces another
    links to it: --link supersedes=ID.
    """
    typed = typed_decision(None, file, fields, needs_text=False, standing=status)
    other = [name for name in typed.words if name not in ("particulars", "options")]
    if typed.description is not None or typed.frame is not None or other:
        names = ", ".join(other or ["description"])
        raise ConfigError(
            f"{names}: a recorded decision cannot change; record a new decision that supersedes it"
        )
    change, links = typed.words.get("particulars"), typed_links(link)
    titles = typed.words.get("options", ())
    if titles:
        change = _with_titles(change or Particulars(), titles)
    if change is None and not links:
        raise ConfigError("nothing to amend: pass --status, --set NAME=TEXT, --file FILE or --link KIND=ID")
    with place.open(new=True) as log:
        decision_id = log.resolve(decision)
        targets = _targets(log, links)
        if any(each.to == decision_id for each in targets):
            raise ConfigError(f"--link: decision {decision_id} cannot be linked to itself")
        if change is not None:
            log.amend(decision_id, change, why=why, version=version)
        for each in targets:
            if each.relation is Relation.SUPERSEDES:
                log.supersede(each.to, by=decision_id, why=why)
            else:
                log.link(decision_id, each.relation, each.to, why=why)
        return _result(log.get(decision_id), "amended")


def _with_titles(change: Particulars, titles: Sequence[str]) -> Particulars:
    """A change with the options that have no arguments too."""
    weighed = {each.title: each for each in change.options}
    return replace(change, options=tuple(weighed.get(title, RecordOption(title=title)) for title in titles))


def _targets(log: DecisionLog, links: Sequence[Link]) -> list[Link]:
    """The links with whole ids, before anything is written.

    Raises:
        UnknownDecisionError: One leads to no decision.
        ConfigError: It would supersede one that is not kept.
    """
    targets = [replace(link, to=log.resolve(link.to)) for link in links]
    for link in targets:
        status = log.get(link.to).status
        if link.relation is Relation.SUPERSEDES and status is not Status.KEPT:
            raise ConfigError(f"--link supersedes={link.to}: it is {status.value}, not kept")
    return targets


def _answer_lines(log: DecisionLog, answer: DecisionAnswer) -> list[Line]:
    verdict = Line(answer.verdict.value.replace("_", " "), _STYLES.get(answer.verdict, "bold yellow"))
    lines = [verdict.append(f" {plain(answer.id or '')}")]
    if answer.reason:
        lines.append(Line.safe(redact(answer.reason), indent=2))
    duplicate = answer.duplicate
    if duplicate is not None and duplicate.is_duplicate and duplicate.of is not None:
        lines.append(Line.safe(_described(log, duplicate.of), "dim", indent=2))
    for earlier in answer.reversals:
        question = f"Does it replace {_described(log, earlier)}?"
        lines.append(Line.safe(question, "magenta", indent=2))
    if answer.degraded:
        lines.append(Line.safe(f"The gate could not be used: {redact(answer.degraded)}", indent=2))
    if answer.verdict is DecisionVerdict.QUARANTINED and answer.id:
        back = f"It is in quarantine; `ebbtide decisions restore {answer.id}` brings it back."
        lines.append(Line.safe(back, "dim", indent=2))
    return lines


def _result(decision: Decision, what: str) -> Result:
    line = Line(what, "bold").append(f" {plain(decision.id)}")
    return Result(lambda: decision_document(redacted(decision)), lambda _: [line])


def _described(log: DecisionLog, decision_id: str) -> str:
    try:
        text = log.get(decision_id).candidate.description
    except UnknownDecisionError:
        return decision_id
    return f"{decision_id}: {redact(text)}"
