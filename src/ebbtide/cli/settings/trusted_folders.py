"""The folders whose settings may reach outside them, because a person said so."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from ebbtide.cli.settings.project_settings import KEYS, ProjectSettings
from ebbtide.cli.terminal import warn
from ebbtide.codec import Record
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.regular_file import open_regular
from ebbtide.settings_file import read_text

_SCHEMA = 1
_LARGEST = 1 << 20  # bytes
_NAMES_OTHERS = ("budgets", "alerts")  # a store; a command and an address
_HOLDS_A_FILE = ("profile", "tools", "prices", "limits", "baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedFolder(Record):
    """A folder that a person trusts, with its settings as they were then.

    Args:
        folder: Its path, without links.
        file: Name of its file of settings.
        digest: SHA-256 of that file and of every file that it names, in hex.
    """

    _WIRE: ClassVar = "folder file sha256=digest"

    folder: str
    file: str
    digest: str

    @classmethod
    def of(cls, settings: ProjectSettings) -> Self:
        """The folder of a file of settings, as it is now."""
        folder, file = os.path.split(_place(settings.file or ""))
        return cls(folder=folder, file=file, digest=_digest(settings))

    @property
    def path(self) -> str:
        """The file of settings."""
        return os.path.join(self.folder, self.file)  # noqa: PTH118


class TrustBook:
    """The list of trusted folders, in the user's own folder of settings.

    Raises:
        ConfigError: The file cannot be read, or is no such list.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_path: dict[str, TrustedFolder] = {}
        try:
            table = json.loads(read_text(path, _LARGEST))
            rows = [
                TrustedFolder(folder=row["folder"], file=row["file"], digest=row["sha256"])
                for row in table["folders"]
            ]
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"{path}: not a list of trusted folders: delete it, and trust the folders again"
            ) from error
        self._by_path = {row.path: row for row in rows}

    @classmethod
    def load(cls) -> Self:
        """The list of this user."""
        return cls(_user_folder() / "ebbtide" / "trusted.json")

    @property
    def folders(self) -> list[TrustedFolder]:
        """All that are trusted, by path."""
        return sorted(self._by_path.values(), key=lambda row: row.path)

    def at(self, path: str) -> TrustedFolder | None:
        """The one whose file of settings has this path."""
        return self._by_path.get(path)

    def add(self, folder: TrustedFolder) -> None:
        """Trust a folder.

        Raises:
            ConfigError: The list cannot be written.
        """
        self._by_path[folder.path] = folder
        self._write()

    def remove(self, folder: str) -> list[TrustedFolder]:
        """Trust a folder no longer; what was trusted in it.

        Raises:
            ConfigError: The list cannot be written.
        """
        gone = [row for row in self.folders if row.folder == folder]
        for row in gone:
            del self._by_path[row.path]
        if gone:
            self._write()
        return gone

    def _write(self) -> None:
        wire = {"schema": _SCHEMA, "folders": [row.to_dict() for row in self.folders]}
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(wire, file, indent=2)
            draft.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise ConfigError(f"{self.path}: cannot be written: {error.strerror or error}") from error


def settings_at(path: str, *, found: bool, wanted: Iterable[str]) -> ProjectSettings:
    """The settings in a file, without what it may not say.

    Args:
        path: The file.
        found: Whether a search came upon it: nobody has named it, and a stranger may have written it.
        wanted: Options of the command; what others are not taken is not said.

    Raises:
        ConfigError: The file, or the list of trusted folders, cannot be used.
    """
    settings = ProjectSettings.load(path)
    reaching = reaching_keys(settings) if found and not _is_the_users(path) else []
    if not reaching:
        return settings
    known = TrustBook.load().at(_place(path))
    if known is not None and known == TrustedFolder.of(settings):
        return settings
    named = [key for key in reaching if KEYS[key] in wanted]
    if named:
        state = "has changed since it was trusted" if known is not None else "is not trusted yet"
        command = shlex.join(["ebbtide", "trust", *([settings.folder] if settings.folder else [])])
        warn(
            f"{settings.file}: {', '.join(named)} ignored: a store, a command, an address or a file "
            f"elsewhere needs trust, and the file {state}. If it is yours: {command}"
        )
    refused = {KEYS[key] for key in reaching}
    return replace(
        settings, options={name: value for name, value in settings.options.items() if name not in refused}
    )


def reaching_keys(settings: ProjectSettings) -> list[str]:
    """The keys by which settings name a store, a command, an address, or a file outside their folder."""
    options = settings.options
    reaching = [key for key in _NAMES_OTHERS if key in options]
    files = [key for key in _HOLDS_A_FILE if key in options and _is_file(key, options[key])]
    reaching += [key for key in files if not _is_inside(settings, options[key])]
    profile = options.get("profile")
    if "profile" not in reaching and profile is not None and _is_file("profile", profile):
        model = _model_of(profile)
        if model is not None and not _is_inside(settings, model):
            reaching.append("profile")
    return reaching


def _model_of(profile: str) -> str | None:
    try:
        return Profile.load(profile).decisions.model
    except ConfigError:  # whoever needs the profile says so
        return None


def _is_file(key: str, value: str) -> bool:
    return key != "profile" or value.lower().endswith(".toml")


def _is_inside(settings: ProjectSettings, path: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(settings.folder))


def _is_the_users(path: str) -> bool:
    """Returns True for the file in the home folder itself: what unpacks or clones makes a folder in it."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    return os.path.dirname(_place(path)) == home  # noqa: PTH120


def _place(path: str) -> str:
    """The path of a file without links on the way; the file itself may be one, whose paths begin here."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def _user_folder() -> Path:
    """The folder of a user's own settings.

    Source: XDG Base Directory Specification, XDG_CONFIG_HOME; on Windows the application data.
    """
    folder = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if os.name == "nt" else None)
    if folder and os.path.isabs(folder):  # noqa: PTH117
        return Path(folder)
    return Path(os.path.expanduser("~")) / ".config"  # noqa: PTH111 - Path refuses where there is none


def _digest(settings: ProjectSettings) -> str:
    """SHA-256 of a file of settings and of the files that it names, which speak for it."""
    options = settings.options
    named = {options[KEYS[key]] for key in (*_NAMES_OTHERS, *_HOLDS_A_FILE) if KEYS[key] in options}
    whole = hashlib.sha256()
    for path in (settings.file or "", *sorted(named - {settings.file})):
        try:
            with open_regular(path) as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
        except OSError:
            whole.update(b"absent")
    return whole.hexdigest()
