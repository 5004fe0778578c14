"""A zip file with many JSON documents, one after the other."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.json_records import RecordScanner, text_from
from ebbtide.traces.input.unpacking import MOST_RATIO, MOST_ZSTD_RATIO, refuse_bomb

# Inspect packs its archives with zstandard.
if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

_CHUNK = 1 << 18
_BROKEN = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, ZstdError)


class Archive:
    """A zip file.

    Args:
        path: The file.

    Raises:
        TranscriptError: It is broken, or unpacks to far more than its size.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self._file = zipfile.ZipFile(path)
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            raise TranscriptError(f"broken zip: {error}", hint="Was the file cut off?") from error
        # The sizes that it states hold: no more than that is unpacked of a file.
        files = self._file.infolist()
        for file in files:
            refuse_bomb(file.compress_size, file.file_size, _most_ratio(file))
        # Files that share their bytes can stay under that one by one.
        refuse_bomb(Path(path).stat().st_size, sum(file.file_size for file in files), MOST_ZSTD_RATIO)

    def names(self) -> list[str]:
        """The names of its files."""
        return self._file.namelist()

    def document(self) -> Document:
        """Returns the archive as a document: what is in it, by name."""
        return Document(content=Content.ARCHIVE, head=tuple(self._file.namelist()))

    def records(
        self, names: Sequence[str], paths: tuple[str, ...], fault: Callable[[TranscriptError], None]
    ) -> Iterator[tuple[str, str, Any]]:
        """The records of documents, as the name of the document, a path and a value.

        Args:
            names: The documents, in the order to read them.
            paths: Where records stand in each.
            fault: Takes the errors of documents that cannot be read, or not any further.
        """
        with self._file:
            for name in names:
                try:
                    with self._file.open(name) as member:
                        pieces = iter(partial(member.read, _CHUNK), b"")
                        for path, value in RecordScanner(text_from(pieces), paths).records():
                            yield name, path, value
                except TranscriptError as error:
                    fault(TranscriptError(error.what, path=name, hint=error.hint))
                except _BROKEN as error:
                    fault(TranscriptError(f"cannot be unpacked: {error}", path=name))


def _most_ratio(file: zipfile.ZipInfo) -> int:
    return MOST_ZSTD_RATIO if file.compress_type == zipfile.ZIP_ZSTANDARD else MOST_RATIO
