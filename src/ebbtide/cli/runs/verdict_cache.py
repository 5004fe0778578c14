"""Verdicts of sessions, kept in the user's cache folder until a file or a setting changes."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import time
from contextlib import suppress
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ebbtide.budget.ledger.inherited_calls import InheritedCalls
from ebbtide.budget.prices import Prices
from ebbtide.cli.runs.session_row import SessionRow
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.input.source import is_session_file
from ebbtide.traces.money.file_cache import FileCache, stamp_of

_PACKAGE = __name__.partition(".")[0]


class KeptVerdict(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Verdict of a file, and by what it is known to be the same.

    Args:
        stamp: Its size, time and number when it was read.
        mark: Of the settings, and of the calls in it that other files own.
        row: What the screen shows of it.
        packed: All of it.
    """

    stamp: tuple[int, int, int]
    mark: bytes
    row: SessionRow
    packed: bytes

    def summary(self) -> RunSummary | None:
        """Returns all of what the file came to; None where that cannot be unpacked."""
        # Whatever is in it, the file is judged then.
        with suppress(Exception):
            summary = _Unpickler(io.BytesIO(self.packed)).load()
            if isinstance(summary, RunSummary):
                return summary
        return None


class VerdictCache:
    """Verdicts by file.

    Args:
        folder: The folder; None keeps nothing.
        program: The mark of the program: what another one wrote is not taken.
        options: By what runs are judged: what other options gave is not taken.
    """

    def __init__(self, folder: Path | None, program: str, options: RunOptions) -> None:
        settings = _settings_mark(options)
        self._cache = FileCache(None if settings is None else folder, KeptVerdict, "verdicts", program)
        self._settings = settings or b""
        self._stamps: dict[str, tuple[int, int, int]] = {}

    def get(self, path: str, inherited: InheritedCalls | None) -> KeptVerdict | None:
        """Returns the verdict of a file that has not changed, nor the calls in it that other files own.

        None where it has to be judged.
        """
        if is_session_file(path):
            return None  # its messages have files of their own
        try:
            stamp = stamp_of(os.stat(path))  # noqa: PTH116 - a Path of each of many files takes long
        except OSError:
            return None  # a session in a database
        self._stamps[path] = stamp
        kept = self._cache.get(path)
        if kept is None or kept.stamp != stamp or kept.mark != self._mark(inherited):
            return None
        return kept

    def put(self, path: str, inherited: InheritedCalls | None, row: SessionRow, summary: RunSummary) -> None:
        """Keep what a file came to, from `save` on, if it was looked for before it was read."""
        stamp = self._stamps.get(path)
        if stamp is not None:
            kept = KeptVerdict(
                stamp, self._mark(inherited), row, pickle.dumps(summary, pickle.HIGHEST_PROTOCOL)
            )
            self._cache.put(path, kept)

    def save(self) -> None:
        """Write what has changed."""
        self._cache.save()

    def _mark(self, inherited: InheritedCalls | None) -> bytes:
        if inherited is None:
            return self._settings
        calls = repr((inherited.owner, sorted(map(repr, inherited.calls))))
        return sha256(self._settings + calls.encode(errors="surrogateescape")).digest()


class _Unpickler(pickle.Unpickler):
    """A reader of values alone: of dataclasses and enumerations of this package."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of a name.

        Raises:
            UnpicklingError: It is none of these.
        """
        if module.partition(".")[0] == _PACKAGE:
            found = super().find_class(module, name)
            if isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, Enum)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a class of a summary")


def _settings_mark(options: RunOptions) -> bytes | None:
    """Differs where a verdict may; None where that cannot be known, as with functions among the settings."""
    try:
        settings = msgspec.json.encode(options, enc_hook=_plain, order="deterministic")
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return None
    place = (
        os.environ.get("TZ"),
        time.tzname,
        time.timezone,
        time.altzone,
        os.path.realpath("/etc/localtime"),
    )
    return sha256(settings + repr(place).encode()).digest()


def _plain(value: object) -> object:
    if isinstance(value, Prices):
        return value.mark
    if isinstance(value, ToolPolicies):
        return (value.table, value.fallback)
    raise TypeError(f"{type(value).__name__} has no plain form")
