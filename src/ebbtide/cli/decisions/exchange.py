"""`ebbtide decisions export | import`: decisions out of a log and into one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Annotated

import click

from ebbtide.cli.decisions.browsing import Statuses
from ebbtide.cli.decisions.place import Place, with_log
from ebbtide.cli.declaration import FORMAT, Argument, Command, Fields, Option, Redact
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.terminal import Line, plain, tracked, warn, write_text
from ebbtide.decision_log.exchange.arrivals import Arrival, Broken
from ebbtide.decision_log.exchange.folder import export_folder, read_files
from ebbtide.decision_log.exchange.importing import Imported, import_decisions, linked_records, survey
from ebbtide.decision_log.exchange.json_form import write_document, write_jsonl
from ebbtide.decision_log.exchange.reading import FileFormat, WriteFormat, read_decisions
from ebbtide.decision_log.exchange.rows import RowFields
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.report.plurals import count
from ebbtide.text.redaction import redacted
from ebbtide.traces.input.folder import refuse_special
from ebbtide.traces.input.source import STDIN, gather, read_pieces, source_name

_IN_FORCE = (Status.KEPT, Status.SUPERSEDED)
_WITH_TEXT = tuple(status for status in Status if status is not Status.PURGED)
_SUFFIXES = {".json": WriteFormat.JSON, ".jsonl": WriteFormat.JSONL, ".ndjson": WriteFormat.JSONL}
_RECORDS = ("*.md", "*.markdown")
#: What stands beside the records of a folder.
_NO_RECORDS = frozenset({"readme", "index", "template", "adr-template"})
_SHOWN = 20  # problems
_LARGEST = 256 << 20  # bytes of a file


@click.command(cls=Command)
@with_log("agent", "session")
def export(
    place: Place,
    to: Annotated[
        Path | None,
        Argument(
            metavar="[FILE|DIR]", help="Folder for pages, or file for JSON; without it, JSON is printed."
        ),
    ] = None,
    kind: Annotated[WriteFormat | None, Option("--format", metavar="FORMAT", help=FORMAT)] = None,
    status: Statuses = None,
    redact: Redact = True,
) -> Result | None:
    """Export decisions as markdown records or JSON.

    The name selects the format: madr for a folder (one record per page), jsonl or json for a file, which
    `decisions import` reads. Keys and passwords are masked.
    """
    kind = kind or _kind_of(to)
    states = tuple(status or ()) or (_IN_FORCE if kind is WriteFormat.MADR else _WITH_TEXT)
    with place.open() as log:
        if status is None and kind is WriteFormat.MADR:
            # A record that was rejected is one of the folder that it came from.
            every = log.iterate(status=(*_IN_FORCE, Status.ABANDONED))
            decisions = iter([each for each in every if each.status in _IN_FORCE or each.document])
        else:
            decisions = log.iterate(status=states)
        if redact:
            decisions = map(redacted, decisions)
        if kind is not WriteFormat.MADR:
            _export_file(list(decisions), to, kind)
            return None
        if to is None:
            raise ConfigError(f"--format {kind} writes one page per decision: name a folder for the pages")
        result = export_folder(decisions, to)
    summary = f"{result.changed} of them new or changed, {result.new} numbers given"
    line = Line.safe(f"{count(len(result.files), 'page')} in {to}, {summary}.")
    return Result(result.to_dict, lambda _: [line])


@click.command(
    cls=Command,
    name="import",
    exits={Exit.BAD_INPUT: "wrong usage, or a file or a part of one that cannot be used"},
)
@with_log("agent", "session")
def import_files(
    place: Place,
    files: Annotated[
        list[str], Argument(metavar="FILE...", help="Files, folders of records, or - for standard input.")
    ],
    kind: Annotated[FileFormat | None, Option("--format", metavar="FORMAT", help=FORMAT)] = None,
    fields: Fields = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only read the files, and report what they contain.")
    ] = False,
) -> Result:
    """Import decisions from another log.

    Importing the same file again is safe. The content identifies the format. For tables, --fields
    description=COLUMN,time=COLUMN names the columns.
    """
    keys = None if fields is None else RowFields.parse(fields)
    paths = [path for name in files for path in _expanded(name)]
    arrivals = _linked(_shown(paths, kind, keys))
    if keys is not None:
        arrivals = iter(list(arrivals))  # every row is read before one is put in
        keys.check()
    # Of a file that cannot be read at all no log is begun.
    arrivals = chain(list(islice(arrivals, 1)), arrivals)
    if dry_run:
        result = survey(arrivals)
    else:
        with place.open(new=True) as log:
            result = import_decisions(log, arrivals)
    result = redacted(result)  # what could not be read is quoted
    return Result(
        lambda: {**result.to_dict(), "dry_run": dry_run},
        lambda _: _import_lines(result, dry_run=dry_run),
        Exit.BAD_INPUT if result.broken else Exit.DONE,
    )


def _kind_of(to: Path | None) -> WriteFormat:
    return WriteFormat.JSON if to is None else _SUFFIXES.get(to.suffix.lower(), WriteFormat.MADR)


def _export_file(decisions: Sequence[Decision], to: Path | None, kind: WriteFormat) -> None:
    if kind is WriteFormat.JSONL:
        text = "".join(f"{line}\n" for line in write_jsonl(decisions))
    else:
        text = "".join(write_document(decisions))
    if to is None:
        sys.stdout.write(text)
        return
    write_text(to, text)
    warn(f"{len(decisions)} decisions written to {to}")


def _expanded(name: str) -> list[str]:
    if name == STDIN or not Path(name).is_dir():
        return [name]
    pages = sorted(path for pattern in _RECORDS for path in Path(name).glob(pattern))
    for page in pages:
        if page.stem.lower() in _NO_RECORDS:
            warn(f"skipped: {page}: its name is not that of a record")
    pages = [page for page in pages if page.stem.lower() not in _NO_RECORDS]
    refusals = {page: refuse_special(page) for page in pages}
    for refusal in filter(None, refusals.values()):
        warn(f"skipped: {refusal}")
    pages = [page for page in pages if refusals[page] is None]
    if not pages:
        raise TranscriptError("this folder contains no record", source=name, hint="It looks for *.md.")
    return [str(page) for page in pages]


def _linked(pairs: Iterator[tuple[str, Arrival]]) -> Iterator[Arrival]:
    """Yields the decisions of the files; records of one folder with links to each other."""
    for folder, group in groupby(pairs, key=lambda pair: _folder(pair[0])):
        arrivals = (arrival for _, arrival in group)
        if folder is None:
            yield from arrivals
        else:
            ids = {name: identifier for identifier, name in read_files(folder).items()}
            yield from linked_records(arrivals, ids)


def _folder(path: str) -> Path | None:
    return Path(path).parent if path.endswith((".md", ".markdown")) else None


def _shown(
    paths: Sequence[str], kind: FileFormat | None, keys: RowFields | None
) -> Iterator[tuple[str, Arrival]]:
    """Yields the decisions of each file, with a bar on a terminal where that takes a while."""
    is_alone = len(paths) == 1
    for path in tracked("Files", paths, 0 if is_alone else len(paths)):
        try:
            content = _content(path)
            arrivals = read_decisions(content, source_name(path), kind=kind, keys=keys)
            lines = content.count("\n") + 1
            for arrival in tracked("Reading", arrivals, lines if is_alone else 0):
                yield path, arrival
        except TranscriptError as error:
            if is_alone:
                raise
            yield path, Broken.of(error, source_name(path))


def _content(path: str) -> str:
    try:
        content, ended = gather(b"", read_pieces(path), _LARGEST)
    except TranscriptError as error:
        raise error.located(source=source_name(path)) from error
    if not ended:
        raise TranscriptError(
            f"more than {_LARGEST:,} bytes", source=source_name(path), hint="Split the file."
        )
    return content.decode(errors="surrogateescape")


def _import_lines(result: Imported, *, dry_run: bool) -> Iterator[Line]:
    verb = "could be imported" if dry_run else "imported"
    line = Line(f"{len(result.created)} {verb}", "bold green" if result.created else "bold")
    yield line.append(f", {result.present} already there" if result.present else "")
    if result.broken:
        warn(f"{len(result.broken)} could not be read:")
        for broken in result.broken[:_SHOWN]:
            print(f"  {plain(str(broken))}", file=sys.stderr)
        if len(result.broken) > _SHOWN:
            print(f"  and {len(result.broken) - _SHOWN} more; --json lists all", file=sys.stderr)
