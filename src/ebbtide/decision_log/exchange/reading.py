"""Any file of decisions in: its format is recognised by its content, or named."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from ebbtide.decision_log.exchange.arrivals import Arrival, Broken, Origins
from ebbtide.decision_log.exchange.json_form import KIND, json_object, parsed, read_document, read_jsonl
from ebbtide.decision_log.exchange.madr_reading import read_record
from ebbtide.decision_log.exchange.rows import RowFields, read_csv
from ebbtide.errors import ConfigError, TranscriptError


def read_decisions(
    content: str, source: str, *, kind: FileFormat | None = None, keys: RowFields | None = None
) -> Iterator[Arrival]:
    """The decisions of a file, in its order.

    Args:
        content: The file; bytes that are no UTF-8 as ``surrogateescape`` decodes them.
        source: Name of the file, for messages.
        kind: Its format; None recognizes it by the content.
        keys: Which key or column means what, in JSON lines and CSV of other logs.

    Raises:
        TranscriptError: It is empty, or as a whole not of the format.
    """
    page, content = content, content.removeprefix("\ufeff")
    if not content.strip():
        raise TranscriptError("the file is empty", source=source, hint="It has one decision at least.")
    kind = kind or _kind_of(content, source)
    if kind is FileFormat.CSV:
        return read_csv(content, source, keys)
    if kind is FileFormat.MADR:
        return iter([_page(page, source)])
    if kind is FileFormat.JSONL:
        return read_jsonl(content.split("\n"), source, keys)
    return read_document(content, source, keys)


def _kind_of(content: str, source: str) -> FileFormat:
    start = content.lstrip()
    if not start.startswith(("{", "[")):
        page = source.lower().endswith((".md", ".markdown")) or start.startswith(("# ", "---", "<!--"))
        return FileFormat.MADR if page else FileFormat.CSV
    first = start.split("\n", 1)
    try:
        row = json_object(first[0])
    except TranscriptError:  # a document over several lines; or lines of which the first is broken
        try:
            parsed(content)
        except TranscriptError:
            return FileFormat.JSONL
        return FileFormat.JSON
    return FileFormat.JSON if row.get("kind") == KIND else FileFormat.JSONL


def _page(content: str, source: str) -> Arrival:
    try:
        return read_record(content, source, Origins("madr"))
    except (TranscriptError, ConfigError) as error:
        return Broken.of(error, source)


class FileFormat(StrEnum):
    """Formats that are read."""

    JSON = "json"  #: complete, one document; or a list of rows with keys of its own
    JSONL = "jsonl"  #: likewise, one decision a line
    CSV = "csv"
    MADR = "madr"  #: markdown, one record a page; Nygard's records as well


class WriteFormat(StrEnum):
    """Formats that are written."""

    MADR = "madr"  #: a folder of numbered pages
    JSON = "json"
    JSONL = "jsonl"
