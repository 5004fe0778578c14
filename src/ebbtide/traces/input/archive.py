"""A zip file with many JSON documents, one after the other."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.json_records import RecordScanner, text_from

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
        TranscriptError: It is broken.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self._file = zipfile.ZipFile(path)
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            raise TranscriptError(f"broken zip: {error}", hint="Was the file cut off?") from error

    def names(self) -> list[str]:
        """The names of its files."""
        return self._file.namelist()

    def document(self) -> Document:
        """What is in it, by name."""
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
