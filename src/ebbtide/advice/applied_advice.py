"""Advices that were applied: each with its date, its file as it was, and the sessions before it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ebbtide.advice.estimate import Estimate, PaidSession
from ebbtide.advice.kinds import KINDS, AdviceKind
from ebbtide.codec import Codec, WireError
from ebbtide.errors import StoreError
from ebbtide.service.file_lock import lock_file
from ebbtide.service.hooks.hook_client import state_folder
from ebbtide.service.hooks.install.settings_json import write_whole
from ebbtide.service.hooks.state_folder import StateFolder
from ebbtide.traces.sessions.agent_homes import CodingAgent

_FILE: Final = "advice.json"
_SCHEMA: Final = 1
_CODEC: Final = Codec(is_whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedAdvice:
    """A change of settings that was asked for.

    Args:
        project: The folder; None where the setting holds for all projects.
        value_before: The value in that file before; None where there was none.
        content_before: All of the file before; None where there was no file.
        content_after: A hash of all of it afterwards.
        has_made_folder: Whether the folder was made for it.
        applied_at: Seconds since 1970.
        expected: The saving that was promised.
        before: The sessions of the project before it.
    """

    name: str
    kind: str
    agent: CodingAgent
    project: str | None
    path: str
    value_before: Any
    content_before: bytes | None
    content_after: str
    has_made_folder: bool
    applied_at: float
    expected: Estimate
    before: tuple[PaidSession, ...]

    @property
    def advice_kind(self) -> AdviceKind:
        """Its kind."""
        return KINDS[self.agent, self.kind]


class AppliedAdvices:
    """The advices that were applied on this machine, in the folder of the service; only a change makes it."""

    def __init__(self) -> None:
        self._folder = Path(state_folder())
        self._path = self._folder / _FILE

    def __iter__(self) -> Iterator[AppliedAdvice]:
        """Yields them in the order in which they were applied.

        Raises:
            StoreError: The file cannot be read.
        """
        return iter(self._read())

    def get(self, name: str) -> AppliedAdvice | None:
        """Returns the advice of a name; None where it is not applied."""
        return next((item for item in self if item.name == name), None)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from applying and undoing meanwhile.

        Raises:
            StoreError: Another one is at it, or the folder cannot be written.
        """
        handle = lock_file(StateFolder(self._folder).path / "advice.lock")
        if handle is None:
            raise StoreError(f"{self._folder}: another process is applying advice. Try again")
        try:
            yield
        finally:
            os.close(handle)

    def put(self, advice: AppliedAdvice) -> None:
        """Keeps an advice, in the place of one of its name.

        Raises:
            StoreError: The file cannot be written.
        """
        self._write([*(item for item in self if item.name != advice.name), advice])

    def drop(self, name: str) -> None:
        """Forgets an advice.

        Raises:
            StoreError: The file cannot be written.
        """
        self._write(item for item in self if item.name != name)

    def _read(self) -> list[AppliedAdvice]:
        try:
            table = json.loads(self._path.read_text(encoding="utf-8"))
            if table["schema"] != _SCHEMA:
                raise StoreError(f"{self._path}: schema {table['schema']!r:.20} is of another version")
            rows = [_CODEC.from_wire(AppliedAdvice, row) for row in table["advices"]]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError, KeyError, TypeError, WireError) as error:
            raise StoreError(f"{self._path} cannot be read: {error}. Repair it, or move it away") from error
        return [row for row in rows if (row.agent, row.kind) in KINDS]

    def _write(self, advices: Iterable[AppliedAdvice]) -> None:
        table = {"schema": _SCHEMA, "advices": [_CODEC.to_wire(item) for item in advices]}
        try:
            write_whole(self._path, json.dumps(table).encode(), like=self._path)
        except OSError as error:
            raise StoreError(f"{self._path}: {error.strerror or error}") from error
