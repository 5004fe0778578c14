"""The results of an archive while they grow: a folder of small Parquet files, joined to one at the end.

Each file is complete or not there, so who is killed goes on where it was. The folder stands beside the file
that is wanted, under its name with ``.parts`` behind it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.results.archive_counts import COUNTED, ArchiveCounts
from ebbtide.batch.results.arrow_types import arrow_library, parquet_library
from ebbtide.batch.results.run_result import RESULT_VERSION, result_schema
from ebbtide.bounded import Bounded
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError, error_text
from ebbtide.regular_file import refuse_special
from ebbtide.supervision.summary.run_shipped import RunShipped

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_SETTINGS: Final = b"ebbtide.settings"
_OPEN: Final = 16  # parts in memory while they are joined
_ROWS: Final = 2_048  # of a group in the file that is wanted


class ResultParts:
    """The parts of one file of results.

    Args:
        output: The file that is wanted.
        settings: What the runs are judged by, in any words: results of other settings are not gone on with.

    Attributes:
        run_ids: The runs that are in it.
        earlier: What came of them.

    Raises:
        ConfigError: The folder cannot be used, or was begun with other settings.
    """

    def __init__(self, output: Path, settings: str) -> None:
        self._output = output
        self._folder = Path(f"{output}.parts")
        self._settings = settings
        self.run_ids: set[str | None] = set()
        self.earlier = ArchiveCounts()
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(exist_ok=True)
            for path in self._folder.glob("*.new"):
                path.unlink()
        except OSError as error:
            raise ConfigError(f"{self._folder}: cannot be written: {error.strerror or error}") from error
        for path in self._files():
            table = self._own(_read(path, COUNTED))
            self.run_ids.update(table["run_id"].to_pylist())
            self.earlier.add(ArchiveCounts.of(table))
        self._number = max((int(path.stem.partition("-")[0]) for path in self._files()), default=-1)

    def next_path(self) -> str:
        """Returns the path of the next part to write."""
        self._number += 1
        return str(self._folder / f"{self._number:08}.parquet")

    def rows(self, columns: list[str]) -> Iterator[dict[str, Any]]:
        """Yields some columns of all rows so far, in the order of the parts."""
        for path in self._files():
            yield from _read(path, columns).to_pylist()

    def join(self, shipped: Mapping[str, RunShipped] | None = None) -> None:
        """Make one file of the parts, ordered by run, and remove them; the file appears as a whole.

        Args:
            shipped: What runs shipped, by their ids; it is known only when all runs are.

        Raises:
            ConfigError: It cannot be written.
        """
        pq = parquet_library()

        draft = Path(f"{self._output}.new")
        schema = result_schema()
        try:
            with pq.ParquetWriter(draft, schema, compression="zstd") as writer:
                for table in self._in_order():
                    writer.write_table(_with_shipped(table, shipped) if shipped else table)
            draft.replace(self._output)
            shutil.rmtree(self._folder)
        except OSError as error:
            raise ConfigError(f"{self._output}: cannot be written: {error.strerror or error}") from error

    def _in_order(self) -> Iterator[pa.Table]:
        """All rows in tables of some thousand, by run."""
        pa = arrow_library()
        places: list[tuple[str, str, Path, int]] = []
        for path in self._files():
            columns = _read(path, ["run_id", "source"]).to_pydict()
            rows = zip(columns["run_id"], columns["source"], strict=True)
            places += [(run_id or "", source, path, row) for row, (run_id, source) in enumerate(rows)]
        places.sort()
        open_parts: Bounded[Path, Any] = Bounded(_OPEN)
        pieces = [result_schema().empty_table()]
        count = 0
        for path, first, length in _stretches([(path, row) for _, _, path, row in places]):
            part = open_parts.pop(path, None)
            open_parts[path] = part = _read(path) if part is None else part
            pieces.append(part.slice(first, length).replace_schema_metadata(pieces[0].schema.metadata))
            count += length
            if count >= _ROWS:
                yield pa.concat_tables(pieces).combine_chunks()
                pieces, count = pieces[:1], 0
        yield pa.concat_tables(pieces).combine_chunks()

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.parquet"))

    def _own(self, table: pa.Table) -> pa.Table:
        metadata = table.schema.metadata or {}
        if metadata.get(_SETTINGS, b"").decode() != self._settings:
            raise ConfigError(
                f"{self._folder}: begun with other settings or another version. Go on with those, "
                "or remove the folder and begin anew."
            )
        return table


def _with_shipped(table: pa.Table, shipped: Mapping[str, RunShipped]) -> pa.Table:
    found = [shipped.get(run_id) for run_id in table["run_id"].to_pylist()]
    place = table.schema.get_field_index("shipped")
    field = table.schema.field(place)
    rows = [None if item is None else to_wire(item) for item in found]
    return table.set_column(place, field, arrow_library().array(rows, field.type))


def _stretches(places: list[tuple[Path, int]]) -> Iterator[tuple[Path, int, int]]:
    """Rows that stand one behind the other in one part, as its path, the first row and their number."""
    start = 0
    for at in range(1, len(places) + 1):
        path, row = places[start]
        if at == len(places) or places[at] != (path, row + at - start):
            yield path, row, at - start
            start = at


def write_part(path: str, batches: Iterator[pa.RecordBatch], settings: str) -> pa.Table:
    """Write a part, complete or not at all.

    Args:
        path: As `ResultParts.next_path` gave it.
        batches: Its rows.
        settings: Those of the `ResultParts`.

    Returns:
        Its rows.
    """
    pq = parquet_library()

    pa = arrow_library()
    schema = result_schema()
    marks = {**(schema.metadata or {}), _SETTINGS: settings.encode()}
    table = pa.Table.from_batches(batches, schema).replace_schema_metadata(marks)
    pq.write_table(table, f"{path}.new", compression="zstd")
    os.replace(f"{path}.new", path)  # noqa: PTH105
    return table


def result_batches(
    path: str | os.PathLike[str], columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a file of results, some thousand at a time.

    Args:
        path: It, or a folder of such files, as Spark writes them.
        columns: Those that are wanted; None reads all.

    Raises:
        ConfigError: It cannot be read, or holds something else, or results of a later version.
    """
    arrow_library()
    place = Path(path)
    for part in sorted(place.glob("*.parquet")) or [place]:
        yield from _part_batches(part, columns)


def _part_batches(path: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    pq = parquet_library()

    try:
        refuse_special(path)
        file = pq.ParquetFile(path)
    except Exception as error:
        raise ConfigError(f"{path}: no file of results: {error_text(error)}") from error
    with file:
        version = _version(file)
        if version != str(RESULT_VERSION):
            what = f"results of version {version}" if version else "no results of `ebbtide archive`"
            raise ConfigError(f"{path}: {what}: this version reads {RESULT_VERSION}")
        try:
            yield from file.iter_batches(_ROWS, columns=columns)
        except Exception as error:
            raise ConfigError(f"{path}: damaged: {error_text(error)}") from error


def _version(file: pq.ParquetFile) -> str:
    """The version of the columns of a file; empty where it holds something else."""
    mark = str((file.schema_arrow.metadata or {}).get(b"ebbtide.results", b""), "utf-8")
    if mark or not set(COUNTED) < set(file.schema_arrow.names):
        return mark
    # Another engine wrote it, and left our mark out.
    rows = next(file.iter_batches(1, columns=["version"]), None)
    return str(rows["version"][0] if rows else RESULT_VERSION)


def _read(path: Path, columns: list[str] | None = None) -> pa.Table:
    pq = parquet_library()

    return pq.read_table(path, columns=columns, memory_map=False, use_threads=False)
