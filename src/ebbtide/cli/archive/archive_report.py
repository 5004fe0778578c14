"""`ebbtide archive report`: what the results of an archive say."""

from __future__ import annotations

from pathlib import Path

from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import ArchiveTable, sentences, tables
from ebbtide.cli.lines import Line, cell_width, columns, print_lines, terminal_width
from ebbtide.cli.terminal import print_json
from ebbtide.errors import ConfigError

_SHOWN = 8  # rows of a table
_LEAST_WIDTH = 16  # of the last column


def report_archive(results: Path, *, html: Path | None, everything: bool, as_json: bool) -> None:
    """Print what a file of results says.

    Args:
        results: The file.
        html: Write the page into this file; None writes none.
        everything: Print all rows of all tables.
        as_json: Print JSON.

    Raises:
        ConfigError: The results cannot be read, or the page cannot be written.
    """
    summary = ArchiveSummary.load(results)
    if html is not None:
        from ebbtide.batch.archive.archive_page import archive_page

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
