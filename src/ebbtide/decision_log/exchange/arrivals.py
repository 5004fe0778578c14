"""What a file of another log gives: an entry, or a line that could not be read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ebbtide.decision_log.entry import Entry
from ebbtide.errors import ConfigError, TranscriptError


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A part of a file that could not be read; the rest of it was.

    Args:
        what: What is wrong, and what to do about it.
        source: Name of the file.
        line: Its number in the file, from 1; None where the whole file is meant.
    """

    what: str
    source: str
    line: int | None = None

    @classmethod
    def of(cls, error: TranscriptError | ConfigError, source: str, line: int | None = None) -> Broken:
        """What an error says, and where."""
        if isinstance(error, TranscriptError):
            line = line if error.line is None else error.line
            what = str(TranscriptError(error.what, path=error.path, hint=error.hint))
        else:
            what = str(error)
        return cls(what=what, source=source, line=line)

    def __str__(self) -> str:
        return f"{self.source}{'' if self.line is None else f':{self.line}'}: {self.what}"

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {"what": self.what, "source": self.source, "line": self.line}


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A line of another kind, such as a note in a log of events.

    Args:
        kind: What it is.
    """

    kind: str


Arrival = Entry | Broken | PassedOver


class Origins:
    """Names for what has no id of its own, the same each time a file is read.

    Equal rows of one file are told from each other by their order.

    Args:
        kind: Name of the format.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._rows: Counter[str] = Counter()

    def of(self, row: Mapping[str, Any]) -> str:
        """The name of a row, made of what it says."""
        digest = _digest(json.dumps(row, sort_keys=True, default=str))
        self._rows[digest] += 1
        return f"{self._kind}:{digest}#{self._rows[digest]}"

    def known_as(self, name: str, description: str) -> str:
        """The name of a row that has an id. Two logs may both have a 7, so what it says counts too."""
        return f"{self._kind}:{_digest(name + chr(0) + description)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]
