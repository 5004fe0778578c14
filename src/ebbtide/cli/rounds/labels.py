"""Files of labels: a pair or a conversation a line, or one conversation."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbtide.convergence.calibration.labelled import EXPECTED, LabelledPair, LabelledTranscript, PairFields
from ebbtide.errors import TranscriptError
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.source import read_bytes, source_name
from ebbtide.traces.reading import loads
from ebbtide.traces.transcripts.sniffing import is_round_line

_LARGEST = 256 << 20  # bytes of a file of labels

Labelled = tuple[LabelledPair, ...] | tuple[LabelledTranscript, ...]


def load_labels(paths: Iterable[str | os.PathLike[str]], keys: PairFields | None = None) -> Labelled:
    """The labels in all the files, which are of one kind.

    Args:
        paths: Each is JSON lines of pairs, JSON lines of conversations, or one conversation in JSON or JSONL.
            A conversation has the key ``_expected``: in its object, or in its header line. Compressed with
            gzip or not; ``-`` is standard input.
        keys: How the keys of a pair are called; None: as in `PairFields`.

    Raises:
        TranscriptError: A file cannot be read, a line has no label, or the files are of different kinds.
    """
    pairs: list[LabelledPair] = []
    transcripts: list[LabelledTranscript] = []
    for path in paths:
        source = source_name(path)
        try:
            for item in _labels_in(read_bytes(path, _LARGEST), source, keys or PairFields()):
                if isinstance(item, LabelledPair):
                    pairs.append(item)
                else:
                    transcripts.append(item)
        except TranscriptError as error:
            raise error.located(source=source) from error
        if pairs and transcripts:
            raise TranscriptError(
                "labelled pairs and labelled conversations together",
                source=source,
                hint="Calibrate them one by one.",
            )
    return tuple(pairs) or tuple(transcripts)


def _labels_in(data: bytes, source: str, keys: PairFields) -> Iterator[LabelledPair | LabelledTranscript]:
    document = Document.of(data)
    if document.not_json:
        raise document.not_json
    if document.content is Content.JSON_LINES and any(map(is_round_line, document.head)):
        transcript = loads(data, source=source)
        yield LabelledTranscript.of(transcript, transcript.extra.get(EXPECTED))
        return
    for line, value in document.lines():
        try:
            yield _item(value, source, keys)
        except TranscriptError as error:
            raise error.located(line=line) if document.content is Content.JSON_LINES else error from None


def _item(value: Any, source: str, keys: PairFields) -> LabelledPair | LabelledTranscript:
    if isinstance(value, Mapping) and (EXPECTED in value or "rounds" in value):
        return LabelledTranscript.of(loads(json.dumps(value), source=source), value.get(EXPECTED))
    return LabelledPair.from_dict(value, keys)
