"""`ebbtide archive report`: what the results of many checked runs say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from ebbtide.batch.archive.archive_page import archive_page
from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import ArchiveTable, sentences, tables
from ebbtide.cli.declaration import Argument, AsJson, Command, Option, Page
from ebbtide.cli.terminal import Line, cell_width, columns, print_json, print_lines, terminal_width
from ebbtide.errors import ConfigError

_SHOWN = 8  # rows of a table
_LEAST_WIDTH = 16  # of the last column


@click.command(cls=Command)
def report(
    results: Annotated[Path, Argument(metavar="FILE", help="Results of `ebbtide archive check`.")],
    html: Page = None,
    everything: Annotated[
        bool, Option("--all", help="Show everything, not just one screen.", section="Output")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the runs of an archive cost, what of that bought nothing, and on which tools.

    By kind of waste, tool, agent, model and week, with the hundred worst runs.
    """
    summary = ArchiveSummary.load(results)
    if html is not None:
        try:
            html.write_text(archive_page(summary, results.name), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{html}: cannot be written: {error.strerror or error}") from error
    if as_json:
        print_json(summary.to_dict())
        return
    lines = [Line.safe(sentence) for sentence in sentences(summary)]
    for item in tables(summary):
        lines += [Line(), Line(item.title, "bold"), *_table(item, terminal_width(), everything=everything)]
    print_lines(lines)


def _table(table: ArchiveTable, width: int, *, everything: bool) -> list[Line]:
    visible = table.rows if everything else table.rows[:_SHOWN]
    # The name is what a row is about, and may be long: it comes last, where it is broken.
    order = [*range(1, len(table.headers)), 0] if table.headers[-1] != "why" else range(len(table.headers))
    rows = [[Line(table.headers[place], "dim") for place in order]]
    rows += [[Line.safe(row[place]) for place in order] for row in visible]
    widths = [max(cell_width(row[place].text) for row in rows) for place in range(len(order) - 1)]
    rest = max(_LEAST_WIDTH, width - sum(widths) - 2 * len(widths))
    right = [place for place, header in enumerate(order) if table.headers[header] not in table.words]
    lines = columns(rows, [*widths, rest], right=right)
    if len(visible) < len(table.rows):
        lines.append(Line(f"and {len(table.rows) - len(visible):,} more: --all", "dim"))
    return lines
