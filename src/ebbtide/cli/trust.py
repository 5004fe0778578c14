"""`ebbtide trust`: let the settings of a folder name a store, a command, an address, or files elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import click

from ebbtide.cli.declaration import Argument, Command, Option
from ebbtide.cli.result import Result
from ebbtide.cli.settings.options import nearest_file
from ebbtide.cli.settings.project_settings import ProjectSettings
from ebbtide.cli.settings.trusted_folders import TrustBook, TrustedFolder, reaching_keys
from ebbtide.cli.terminal import Line
from ebbtide.errors import ConfigError


@click.command(cls=Command)
def trust(
    folder: Annotated[
        str, Argument(metavar="FOLDER", help="The folder; the default is the current folder.")
    ] = ".",
    undo: Annotated[bool, Option("--undo", help="Stop trusting the folder.")] = False,
    shows: Annotated[bool, Option("--list", help="List the trusted folders.")] = False,
) -> Result:
    """Trust the settings of a folder.

    Settings that the program finds by itself may not name a store, a command, an address, or a file outside
    their folder. In a trusted folder they may, until the settings or a file that they name changes.
    """
    if undo and shows:
        raise ConfigError("--undo and --list cannot be combined")
    book = TrustBook.load()
    if shows:
        return _result("trusted", book.folders)
    if undo:
        return _result("no longer trusted", book.remove(os.path.realpath(folder)))
    file = nearest_file(folder)
    if file is None:
        raise ConfigError(f"{folder}: no settings found, neither ebbtide.toml nor [tool.ebbtide]")
    settings = ProjectSettings.load(file)
    trusted = TrustedFolder.of(settings)
    book.add(trusted)
    return _result("trusted", [trusted], reaching_keys(settings))


def _result(state: str, folders: Sequence[TrustedFolder], keys: Sequence[str] = ()) -> Result:
    """Returns folders, and what it is that their settings may now say."""
    wire = {"schema": 1, "state": state, "folders": [row.to_dict() for row in folders]}
    may = f", which sets {', '.join(keys)}" if keys else ""
    lines = [Line.safe(f"{state}: {row.path}{may}") for row in folders]
    if not folders:
        lines = [Line("no folder is trusted" if state == "trusted" else "the folder was not trusted")]
    return Result(lambda: wire, lambda _: lines)
