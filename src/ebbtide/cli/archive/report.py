"""`ebbtide archive report`: what the results of many checked runs say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import click

from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import ArchiveTable, archive_page, sentences, tables
from ebbtide.cli.declaration import Argument, Command, Option, Page
from ebbtide.cli.result import Result
from ebbtide.cli.table import Table, more_rows
from ebbtide.cli.terminal import Line, write_file

_SHOWN = 8  # rows of a table
_LEAST_WIDTH = 16  # of the last column


@click.command(cls=Command)
def report(
    results: Annotated[Path, Argument(metavar="FILE", help="Results of `ebbtide archive check`.")],
    html: Page = None,
    everything: Annotated[
        bool, Option("--all", help="Show everything, not just one screen.", section="Output")
    ] = False,
) -> Result:
    """Report what the runs cost, what was wasted, and where.

    The tables list waste by kind, tool, agent, model and week, and the hundred worst runs.
    """
    summary = ArchiveSummary.load(results)
    if html is not None:
        write_file(html, archive_page(summary, results.name))
    return Result(summary.to_dict, partial(_lines, summary, everything))


def _lines(summary: ArchiveSummary, everything: bool, width: int) -> Iterator[Line]:
    yield from map(Line.safe, sentences(summary))
    for item in tables(summary):
        yield Line()
        yield Line(item.title, "bold")
        yield from _table_lines(item, width, everything=everything)


def _table_lines(table: ArchiveTable, width: int, *, everything: bool) -> Iterator[Line]:
    visible = table.rows if everything else table.rows[:_SHOWN]
    # The name is what a row is about, and may be long: it comes last, where it is broken.
    order = [*range(1, len(table.headers)), 0] if table.headers[-1] != "why" else range(len(table.headers))
    right = [place for place, header in enumerate(order) if table.headers[header] not in table.words]
    drawn = Table(*(table.headers[place] for place in order), right=right, least=_LEAST_WIDTH)
    for row in visible:
        drawn.add(*(row[place] for place in order))
    yield from drawn.lines(width)
    yield from more_rows(len(table.rows) - len(visible))
