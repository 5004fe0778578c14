"""A settings file of somebody else: read, changed in one place, and written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ebbtide.errors import ConfigError
from ebbtide.regular_file import refuse_special
from ebbtide.service.hooks.install.commented_json import changed, parsed

_BOM: Final = "\ufeff"  # of an editor on Windows
_EMPTY: Final = "{}\n"
_BACKUP: Final = ".before-ebbtide"


class SettingsJson:
    """A JSON file of settings, which may have comments, trailing commas and a byte order mark.

    Args:
        path: The file; it need not be there.

    Raises:
        ConfigError: It cannot be read, or holds something else than a JSON object. Nothing is changed then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = _text_of(path)
        try:
            value = _value(self._text or "")
        except ValueError as error:
            raise ConfigError(f"{path} is no JSON: {error}. Mend it first; nothing was changed") from error
        if not isinstance(value, dict):
            raise ConfigError(f"{path} holds no JSON object. Mend it first; nothing was changed")
        self.value: dict[str, Any] = value

    @property
    def backup(self) -> Path:
        """Path of the file as it was before Ebbtide changed it first."""
        return self.path.with_name(self.path.name + _BACKUP)

    def original(self) -> dict[str, Any] | None:
        """Returns what the file held before Ebbtide changed it first; None where there was none."""
        text = _text_of(self.backup)
        try:
            value = None if text is None else _value(text)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def text(self) -> str:
        """Returns the text of the file with the changes of its value."""
        before = self._text or ""
        bare = before.removeprefix(_BOM)
        mark = _BOM if before.startswith(_BOM) else ""
        return mark + changed(bare if bare.strip() else _EMPTY, self.value)

    def write(self) -> None:
        """Write the file; where there is no backup, what it was is kept beside it.

        Raises:
            ConfigError: It cannot be written.
        """
        text = self.text()
        if text == self._text:
            return
        is_first = self._text is not None and not self.backup.exists()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._text is not None and is_first:
                write_whole(self.backup, self._text.encode(), like=self.path)
            write_whole(self.path, text.encode(), like=self.path)
        except OSError as error:
            if is_first:
                with suppress(OSError):
                    self.backup.unlink()
            raise _unwritable(self.path, error) from error

    def restore(self) -> None:
        """Write the file without what Ebbtide put there: as it was, byte for byte, where nobody changed more.

        Raises:
            ConfigError: It cannot be written.
        """
        before = _text_of(self.backup)
        try:
            if before is not None and _same(before, self.value):
                write_whole(self.path, before.encode(), like=self.path)
            elif before is None and not self.value and self._text is not None:
                self.path.unlink()
            else:
                self.write()
            with suppress(FileNotFoundError):
                self.backup.unlink()
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _text_of(path: Path) -> str | None:
    """Returns the text of a file; None where there is none."""
    try:
        refuse_special(path)
        return path.read_bytes().decode()  # the ends of lines stay as they are
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}. Mend it first; nothing was changed") from error


def _value(text: str) -> Any:
    bare = text.removeprefix(_BOM)
    return parsed(bare).value if bare.strip() else {}


def _same(text: str, value: dict[str, Any]) -> bool:
    try:
        return bool(_value(text) == value)
    except ValueError:
        return False


def write_whole(path: Path, content: bytes, *, like: Path) -> None:
    """Write a file whole or not at all; of a link, the file that it leads to.

    Args:
        like: The file whose mode it gets; a new file is for its owner alone.

    Raises:
        OSError: It cannot be written.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        mode = like.stat().st_mode & 0o777 if like.exists() else 0o600
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(target)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{path} cannot be written: {error.strerror or error}. Nothing was changed")
