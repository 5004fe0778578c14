"""`ebbtide decisions`: what an agent decided, behind a gate that keeps decisions and no noise."""

from __future__ import annotations

from typing import Annotated

from ebbtide.cli.decisions import teaching as decisions_teaching
from ebbtide.cli.decisions import upkeep as decisions_upkeep
from ebbtide.cli.decisions.browsing import Place
from ebbtide.cli.decisions.recording import (
    By,
    Category,
    Details,
    Force,
    Frame,
    GateMode,
    Identifier,
    Limit,
    Links,
    Since,
    Statuses,
    TextFile,
    Until,
    Why,
    with_details,
    with_log,
    with_record_texts,
)
from ebbtide.cli.declaration import Argument, AsJson, CommandGroup, Option, ProfileName
from ebbtide.cli.exits import Exit
from ebbtide.decision_log.record.record import DecisionOutcome, Mode
from ebbtide.decisions.candidate import Source

app = CommandGroup(
    name="decisions",
    help="The decision log: what an agent decided, behind a gate that keeps decisions and no noise.",
)
for command in (*decisions_upkeep.app.commands.values(), *decisions_teaching.app.commands.values()):
    app.add_command(command)

Text = Annotated[str | None, Argument(metavar="[TEXT]", help="What is decided; - for standard input.")]


@app.command(exits={Exit.REFUSED: "the gate refuses it, or it is a duplicate, or its frame is not captured"})
@with_log(session=True)
@with_details
def record(
    details: Details,
    place: Place,
    text: Text = None,
    file: TextFile = None,
    frame: Frame = "decision",
    link: Links = None,
    force: Force = False,
    mode: GateMode = Mode.ENFORCE,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """Record a decision on purpose; where the gate refuses it, with the reason."""
    from ebbtide.cli.decisions import recording as commands
    from ebbtide.cli.decisions.recording import links_of, typed_text

    options = commands.DecisionOptions.of(text=typed_text(text, file), **details)
    links = links_of(link or ())
    with commands.Work.open(place, profile, mode, as_json=as_json) as work:
        if not work.record(options, links, frame=frame, force=force):
            raise SystemExit(Exit.REFUSED)


@app.command(exits={Exit.REFUSED: "it repeats a decision, or its frame is not captured"})
@with_log(session=True)
def start(
    place: Place,
    text: Text = None,
    file: TextFile = None,
    frame: Frame = "decision",
    mode: GateMode = Mode.ENFORCE,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """Open a decision and print its id."""
    from ebbtide.cli.decisions import recording as commands
    from ebbtide.cli.decisions.recording import typed_text

    with commands.Work.open(place, profile, mode, as_json=as_json) as work:
        if not work.start(typed_text(text, file), frame=frame):
            raise SystemExit(Exit.REFUSED)


@app.command()
@with_log(session=False)
def think(
    place: Place,
    decision: Identifier,
    text: Annotated[str | None, Argument(metavar="[TEXT]", help="The thought; - for standard input.")] = None,
    file: TextFile = None,
    as_json: AsJson = False,
) -> None:
    """Add a thought to a decision that is open."""
    from ebbtide.cli.decisions import recording as commands
    from ebbtide.cli.decisions.recording import typed_text

    with commands.Work.open(place, as_json=as_json) as work:
        work.think(decision, typed_text(text, file, "thought"))


@app.command(exits={Exit.REFUSED: "the gate refuses it, or it is a duplicate"})
@with_log(session=False)
@with_details
def finalize(
    details: Details,
    place: Place,
    decision: Identifier,
    text: Text = None,
    file: TextFile = None,
    mode: GateMode = Mode.ENFORCE,
    profile: ProfileName = "default",
    as_json: AsJson = False,
) -> None:
    """Settle a decision that is open; where the gate refuses it, with the reason."""
    from ebbtide.cli.decisions import recording as commands
    from ebbtide.cli.decisions.recording import typed_text

    words = None if text is None and file is None else typed_text(text, file)
    options = commands.DecisionOptions.of(text=words, **details)
    with commands.Work.open(place, profile, mode, as_json=as_json) as work:
        if not work.finalize(decision, options):
            raise SystemExit(Exit.REFUSED)


@app.command()
@with_log(session=False)
def review(
    place: Place,
    decision: Identifier,
    outcome: Annotated[
        DecisionOutcome,
        Argument(
            metavar="OUTCOME", help="How it turned out: success, partial, failure, not_a_decision or unknown."
        ),
    ],
    by: By = "a person",
    evidence: Annotated[str, Option("--evidence", "-e", metavar="TEXT", help="What that rests on.")] = "",
    observed: Annotated[
        bool,
        Option("--observed", help="A machine measured it, and is named by --by; needs --evidence."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say how a decision turned out. Reviews are added; the latest one counts."""
    from ebbtide.cli.decisions import recording as commands

    with commands.Work.open(place, as_json=as_json) as work:
        work.review(decision, outcome, by=by, evidence=evidence, observed=observed)


@app.command()
@with_log(session=False)
def supersede(
    place: Place,
    old: Identifier,
    by: Annotated[str, Option("--with", metavar="ID", help="Id of the decision that takes its place.")],
    why: Why = "",
    as_json: AsJson = False,
) -> None:
    """Say that another decision took the place of this one."""
    from ebbtide.cli.decisions import recording as commands

    with commands.Work.open(place, as_json=as_json) as work:
        work.supersede(old, by, why=why)


@app.command()
@with_log(session=False)
@with_record_texts
def amend(
    texts: Details,
    place: Place,
    decision: Identifier,
    link: Links = None,
    why: Why = "",
    version: Annotated[
        int | None,
        Option("--at-version", metavar="N", help="Only if it has this version still; `show --json` has it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change what the record of a decision says, or how it stands to others.

    A context and a chosen option take the place of those before; the rest is added.
    """
    from ebbtide.cli.decisions import recording as commands
    from ebbtide.cli.decisions.recording import RecordTexts, links_of

    links = links_of(link or ())
    with commands.Work.open(place, as_json=as_json) as work:
        work.amend(decision, RecordTexts(**texts), links, why=why, version=version)


@app.command()
@with_log(session=False)
def accept(place: Place, decision: Identifier, why: Why = "", as_json: AsJson = False) -> None:
    """Say that a decision is accepted: one that was proposed, rejected or deprecated."""
    _say(place, decision, "accepted", why=why, as_json=as_json)


@app.command()
@with_log(session=False)
def reject(place: Place, decision: Identifier, why: Why = "", as_json: AsJson = False) -> None:
    """Say that a decision is rejected; it stays in the log, as its record does."""
    _say(place, decision, "rejected", why=why, as_json=as_json)


@app.command()
@with_log(session=False)
def deprecate(place: Place, decision: Identifier, why: Why = "", as_json: AsJson = False) -> None:
    """Say that a decision holds no longer, and that none took its place."""
    _say(place, decision, "deprecated", why=why, as_json=as_json)


def _say(place: Place, decision: str, standing: str, *, why: str, as_json: bool) -> None:
    from ebbtide.cli.decisions import recording as commands
    from ebbtide.decision_log.record.particulars import RecordStatus

    with commands.Work.open(place, as_json=as_json) as work:
        work.say(decision, RecordStatus(standing), why=why)


@app.command(name="list")
@with_log(session=True)
def list_decisions(
    place: Place,
    status: Statuses = None,
    category: Category = None,
    source: Annotated[Source | None, Option("--source", help="How it came up.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Annotated[
        str | None, Option("--cursor", metavar="CURSOR", help="Where the page before ended.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List decisions, the newest first; those in quarantine with --status quarantined."""
    from ebbtide.cli.decisions import browsing as commands
    from ebbtide.cli.decisions.recording import past_moment_of

    commands.list_decisions(
        place,
        status=tuple(status) if status else None,
        category=category,
        source=source,
        since=past_moment_of(since, "--since"),
        until=past_moment_of(until, "--until"),
        limit=limit,
        cursor=cursor,
        as_json=as_json,
    )


@app.command()
@with_log(session=True)
def search(
    place: Place,
    query: Annotated[str, Argument(metavar="WORDS", help="Words to look for.")],
    meaning: Annotated[
        bool, Option("--meaning", help="Find what says the same in other words, too; extra semantic.")
    ] = False,
    status: Statuses = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Find decisions by their words, the best first."""
    from ebbtide.cli.decisions import browsing as commands

    statuses = tuple(status) if status else None
    commands.search(place, query, meaning=meaning, status=statuses, limit=limit, as_json=as_json)


@app.command()
@with_log(session=False)
def show(
    place: Place,
    decision: Identifier,
    events: Annotated[bool, Option("--events", help="With everything that happened to it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show everything that is known of a decision."""
    from ebbtide.cli.decisions import browsing as commands

    commands.show(place, decision, events=events, as_json=as_json)


@app.command()
@with_log(session=False)
def overdue(
    place: Place,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List kept decisions whose review date has passed and that nobody reviewed."""
    from ebbtide.cli.decisions import browsing as commands

    commands.overdue(place, limit=limit, as_json=as_json)
