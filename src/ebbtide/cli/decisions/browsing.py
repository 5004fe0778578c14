"""`ebbtide decisions list | search | show | overdue | stats | sample | verify`: what is only read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from ebbtide.cli.decisions.place import Place
from ebbtide.cli.decisions.table import print_decision, print_decisions, when
from ebbtide.cli.terminal import console, plain, print_json, styled, warn
from ebbtide.decision_log.record.entry import FoundBy
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.decisions.candidate import Source
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.rate import Rate
from ebbtide.report.plurals import count
from ebbtide.settings_file import read_text

if TYPE_CHECKING:
    from ebbtide.text.embedding.vectors import Embedder

_LARGEST_HEADS = 16 << 20  # bytes of a file


def list_decisions(
    place: Place,
    *,
    status: tuple[Status, ...] | None,
    category: str | None,
    source: Source | None,
    since: float | None,
    until: float | None,
    limit: int,
    cursor: str | None,
    as_json: bool,
) -> None:
    """Print a page of decisions, the newest first.

    Raises:
        UnknownDecisionError: The page before ended at none of them.
    """
    with place.open() as log:
        if cursor is not None:
            log.get(cursor)
        page = log.list(
            status=status,
            category=category,
            source=source,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )
    if as_json:
        print_json(page.to_dict())
        return
    quarantined = status is not None and Status.QUARANTINED in status
    _print_list(list(page.decisions), notes=_objections(page.decisions) if quarantined else None)
    if page.cursor:
        warn(f"there are more: --cursor {page.cursor}")


def search(
    place: Place,
    query: str,
    *,
    meaning: bool,
    status: tuple[Status, ...] | None,
    limit: int,
    as_json: bool,
) -> None:
    """Print the decisions that have words, or mean the same; the best first."""
    embedder = _embedder(place) if meaning else None
    with place.open() as log:
        if embedder is None:
            hits = log.search(query, limit=limit, status=status)
        else:
            from ebbtide.decision_log.log.meaning import search_by_meaning

            with console(stderr=True).status("Reading what the decisions mean"):
                hits = search_by_meaning(log, query, embedder, limit=limit, status=status)
    if as_json:
        print_json({"schema": 1, "query": query, "hits": [hit.to_dict() for hit in hits]})
        return
    notes = {hit.decision.id: "by its meaning" for hit in hits if FoundBy.WORDS not in hit.found_by}
    _print_list([hit.decision for hit in hits], notes=notes)
    if not hits and not meaning:
        warn("no decision has these words; --meaning finds what says the same in other words")


def _embedder(place: Place) -> Embedder | None:
    """What makes vectors; None, with a hint, where it is not installed."""
    from ebbtide.text.embedding.embedder import open_embedder

    try:
        return open_embedder(cache=place.vectors)
    except SemanticError as error:
        warn(f"only words are compared: {error}")
        return None


def show(place: Place, beginning: str, *, events: bool, as_json: bool) -> None:
    """Print everything about a decision."""
    with place.open() as log:
        decision_id = log.resolve(beginning)
        decision = log.get(decision_id)
        history = log.events(decision_id) if events else ()
    if as_json:
        wire = decision_document(decision)
        print_json({**wire, "events": [event.to_dict() for event in history]} if events else wire)
        return
    terminal = console()
    print_decision(terminal, decision)
    for event in history:
        body = json.dumps(event.body, ensure_ascii=False) if event.body is not None else "(purged)"
        line = Text.assemble((f"  {event.seq:>6} {when(event.ts)}  {event.kind.value:<12} ", "dim"))
        terminal.print(line.append(plain(body, 200)), soft_wrap=True)


def overdue(place: Place, *, limit: int, as_json: bool) -> None:
    """Print the decisions that somebody should have looked at by now."""
    with place.open() as log:
        decisions = log.overdue(limit=limit)
    if as_json:
        print_json({"schema": 1, "decisions": [decision_document(decision) for decision in decisions]})
        return
    _print_list(list(decisions), empty="No review is overdue.")


def stats(place: Place, *, prometheus: bool, as_json: bool) -> None:
    """Print how much was kept and refused, and by which rule."""
    with place.open() as log:
        counters = log.counts()
    if prometheus:
        sys.stdout.write(counters.prometheus())
        return
    if as_json:
        print_json(counters.to_dict())
        return
    terminal = console()
    total = counters.kept + counters.refused
    line = f"{counters.kept} kept, {counters.refused} refused"
    terminal.print(Text(f"{line} of {total} candidates" if total else "No candidates yet", style="bold"))
    if counters.would_refuse:
        terminal.print(f"{counters.would_refuse} were kept over the objection of the gate.")
    if counters.not_captured:
        terminal.print(f"{counters.not_captured} were not looked at, because of their frame.")
    _print_counts("refused by rule", counters.refused_by_rule())
    _print_counts("in the log now", counters.by_status)
    for name in ("source", "frame", "mode"):
        rows = counters.by(name)
        if rows:
            lines = {
                value: ", ".join(f"{times} {key}" for key, times in of.items()) for value, of in rows.items()
            }
            _print_counts(f"by {name}", lines)


def sample(place: Place, *, size: int, as_json: bool) -> None:
    """Print decisions for people to look at, and what those who did found."""
    with place.open() as log:
        samples = log.sample(size)
    if as_json:
        print_json(samples.to_dict())
        return
    terminal = console()
    for decisions, of, what in (
        (samples.kept_decisions, samples.kept_of, "that the gate kept"),
        (samples.refused_decisions, samples.refused_of, "that it was against"),
    ):
        terminal.print(Text(f"{len(decisions)} of {of} {what}", style="bold"))
        if decisions:
            print_decisions(terminal, decisions, notes=_objections(decisions))
        terminal.print()
    terminal.print(f"Noise among the kept:      {_rate(samples.noise)}")
    terminal.print(f"Missed among the refused:  {_rate(samples.missed)}")
    terminal.print(
        styled("`ebbtide decisions review ID not_a_decision` or `restore ID` says what one is.", "dim"),
        soft_wrap=True,
    )


def verify(place: Place, *, heads: Path | None, write_heads: Path | None, as_json: bool) -> bool:
    """Print whether the chains of events are as they were written.

    Returns:
        Whether they are.

    Raises:
        ConfigError: The noted heads cannot be read or written.
    """
    heads_before = None if heads is None else _noted(heads)
    with place.open() as log:
        verification = log.verify(heads=heads_before)
    if as_json:
        print_json(verification.to_dict())
    else:
        terminal = console()
        for fault in verification.faults:
            place_of = f"{plain(fault.agent)}, event {fault.seq}: "
            terminal.print(Text.assemble(("FAULT ", "bold red"), place_of, plain(fault.what)), soft_wrap=True)
        chains = f"{count(verification.events, 'event')} in {count(len(verification.heads), 'chain')}"
        verdict = ("verified", "bold green") if verification.ok else ("NOT VERIFIED", "bold red")
        terminal.print(Text.assemble(verdict, f": {chains}, {verification.purged} purged"))
    if write_heads is not None and verification.ok:
        text = json.dumps({"schema": 1, "heads": verification.heads}, indent=2) + "\n"
        try:
            write_heads.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{write_heads}: cannot be written: {error.strerror or error}") from error
    return verification.ok


def _noted(path: Path) -> dict[str, str]:
    try:
        table: Any = json.loads(read_text(path, _LARGEST_HEADS))
        heads = table["heads"]
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ConfigError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path}: no heads in it: {error}. --write-heads writes such a file") from error
    if not isinstance(heads, dict) or not all(isinstance(head, str) for head in heads.values()):
        raise ConfigError(f"{path}: expected an object 'heads' with a text for each agent")
    return heads


def _objections(decisions: Iterable[Decision]) -> dict[str, str]:
    """Why the gate was against a decision, by its id."""
    reasons = {each.id: each.assessment.reason for each in decisions if each.assessment is not None}
    return {identifier: reason for identifier, reason in reasons.items() if reason}


def _print_list(
    decisions: list[Decision], *, notes: Mapping[str, str] | None = None, empty: str = "No decisions."
) -> None:
    terminal = console()
    if decisions:
        print_decisions(terminal, decisions, notes=notes)
    else:
        terminal.print(empty)


def _print_counts(title: str, rows: dict[str, Any]) -> None:
    if not rows:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(title, overflow="fold")
    table.add_column("", overflow="fold")
    for name, value in rows.items():
        table.add_row(styled(name), styled(str(value)))
    terminal = console()
    terminal.print()
    terminal.print(table)


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "nobody looked yet"
    low, high = rate.interval
    return f"{rate.value:.0%} ({low:.0%} to {high:.0%}), {rate.hits} of {rate.total} looked at"
