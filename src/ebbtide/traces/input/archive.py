"""A zip file with many JSON documents, one after the other."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from functools import partial

from ebbtide.errors import TranscriptError
from ebbtide.traces.formats import ArchiveFormat, TraceItem
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.json_records import RecordScanner, text_from
from ebbtide.traces.intake import Intake

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

    def document(self) -> Document:
        """What is in it, by name."""
        return Document(content=Content.ARCHIVE, head=tuple(self._file.namelist()))

    def events(self, form: ArchiveFormat, intake: Intake) -> Iterator[TraceItem]:
        """The events in the documents that the format asks for; one that cannot be read is a fault."""
        reader = intake.reader = form.event_reader()
        with self._file:
            for name in form.members(self._file.namelist()):
                try:
                    with self._file.open(name) as member:
                        pieces = iter(partial(member.read, _CHUNK), b"")
                        for path, value in RecordScanner(text_from(pieces), form.paths).records():
                            yield from intake.take_record(path, value, reader, place=f"{name}: {path}")
                except TranscriptError as error:
                    intake.fault(TranscriptError(error.what, path=name, hint=error.hint))
                except _BROKEN as error:
                    intake.fault(TranscriptError(f"cannot be unpacked: {error}", path=name))
        yield from intake.finish(reader)
