"""Applies an advice to the settings of its agent, and takes it back: on request, one file, one setting."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ebbtide.advice.applied_advice import AppliedAdvice, AppliedAdvices
from ebbtide.advice.priced_advice import PricedAdvice
from ebbtide.advice.setting_file import content_with, value_in
from ebbtide.errors import ConfigError
from ebbtide.regular_file import refuse_special
from ebbtide.service.hooks.install.settings_json import write_whole


def apply(advice: PricedAdvice, applied: AppliedAdvices, now: float) -> AppliedAdvice:
    """Writes the change of an advice, and what stood there before into the state.

    Args:
        advice: The advice.
        applied: Those that were applied.
        now: Seconds since 1970.

    Returns:
        What was kept of it.

    Raises:
        ConfigError: The file cannot be read or written, or belongs to another user. Nothing is changed then.
        StoreError: The state cannot be written. Nothing is changed then.
    """
    change = advice.kind.change
    path = change.path(advice.project)
    with applied.locked():
        before = _content(path)
        content = content_with(path, change.keys, change.value)
        entry = AppliedAdvice(
            name=advice.name,
            kind=advice.kind.name,
            agent=change.agent,
            project=advice.project,
            path=str(path),
            value_before=value_in(path, change.keys),
            content_before=before,
            content_after=_digest(content),
            has_made_folder=not path.parent.exists(),
            applied_at=now,
            expected=advice.expected,
            before=advice.before,
        )
        # Kept first: a process that ends between the two leaves an entry whose undo finds nothing to do.
        applied.put(entry)
        try:
            _write(path, content)
        except ConfigError:
            applied.drop(entry.name)
            raise
    return entry


def undo(entry: AppliedAdvice, applied: AppliedAdvices) -> None:
    """Restores a file: byte for byte where nobody changed it since, else the one setting in place.

    Args:
        entry: What was kept when the advice was applied.
        applied: Those that were applied.

    Raises:
        ConfigError: Somebody has given the setting another value since, or the file cannot be read or
            written. Nothing is changed then.
        StoreError: The state cannot be written.
    """
    change, path = entry.advice_kind.change, Path(entry.path)
    with applied.locked():
        content, value = _content(path), value_in(path, change.keys)
        if content is not None and _digest(content) == entry.content_after:
            if entry.content_before is not None:
                _write(path, entry.content_before)
            else:
                _remove(path, with_folder=entry.has_made_folder)
        elif _is(value, change.value):
            _write(path, content_with(path, change.keys, entry.value_before))
        elif not _is(value, entry.value_before):
            now = "not set" if value is None else f"{value!r:.60}"
            raise ConfigError(
                f"{path}: {change.key} is now {now}, not the applied {change.value!r}: "
                "somebody has changed it since; nothing was changed"
            )
        applied.drop(entry.name)


def is_in_force(entry: AppliedAdvice) -> bool:
    """Returns True if the setting still has the value that was put there.

    Raises:
        ConfigError: The file cannot be read.
    """
    change = entry.advice_kind.change
    return _is(value_in(Path(entry.path), change.keys), change.value)


def _is(value: Any, other: Any) -> bool:
    return bool(value == other) and type(value) is type(other)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _content(path: Path) -> bytes | None:
    """Returns all of a file; None where there is none.

    Raises:
        ConfigError: It cannot be read, or belongs to another user.
    """
    try:
        refuse_special(path)
        owner = path.stat().st_uid
        if hasattr(os, "geteuid") and owner != os.geteuid():
            raise ConfigError(f"{path} belongs to another user, who can change it; nothing was changed")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}; nothing was changed") from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content, like=path)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}; nothing was changed"
        ) from error


def _remove(path: Path, *, with_folder: bool) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be removed: {error.strerror or error}; nothing was changed"
        ) from error
    if with_folder:
        with suppress(OSError):  # something else is in it
            path.parent.rmdir()
