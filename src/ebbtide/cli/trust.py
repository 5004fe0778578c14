"""`ebbtide trust`: let the settings of a folder name a store, a command, an address, or files elsewhere."""

from __future__ import annotations

import os
from typing import Annotated

import click

from ebbtide.cli.declaration import Argument, AsJson, Command, Option
from ebbtide.cli.settings.options import nearest_file
from ebbtide.cli.settings.project_settings import ProjectSettings
from ebbtide.cli.settings.trusted_folders import TrustBook, TrustedFolder, reaching_keys
from ebbtide.cli.terminal import plain, print_json
from ebbtide.errors import ConfigError


@click.command(cls=Command)
def trust(
    folder: Annotated[
        str, Argument(metavar="FOLDER", help="The folder; the default is the current folder.")
    ] = ".",
    undo: Annotated[bool, Option("--undo", help="Stop trusting the folder.")] = False,
    shows: Annotated[bool, Option("--list", help="List the trusted folders.")] = False,
    as_json: AsJson = False,
) -> None:
    """Trust the settings of a folder.

    Settings that the program finds by itself may not name a store, a command, an address, or a file outside
    their folder. In a trusted folder they may, until the settings or a file that they name changes.
    """
    if undo and shows:
        raise ConfigError("--undo and --list cannot be combined")
    book = TrustBook.load()
    if shows:
        _print("trusted", book.folders, [], as_json=as_json)
        return
    if undo:
        _print("no longer trusted", book.remove(os.path.realpath(folder)), [], as_json=as_json)
        return
    file = nearest_file(folder)
    if file is None:
        raise ConfigError(f"{folder}: no settings found, neither ebbtide.toml nor [tool.ebbtide]")
    settings = ProjectSettings.load(file)
    trusted = TrustedFolder.of(settings)
    book.add(trusted)
    _print("trusted", [trusted], reaching_keys(settings), as_json=as_json)


def _print(state: str, folders: list[TrustedFolder], keys: list[str], *, as_json: bool) -> None:
    """Print folders, and what it is that their settings may now say."""
    if as_json:
        print_json({"schema": 1, "state": state, "folders": [row.to_dict() for row in folders]})
        return
    if not folders:
        print("no folder is trusted" if state == "trusted" else "the folder was not trusted")
    for row in folders:
        print(plain(f"{state}: {row.path}{', which sets ' * bool(keys)}{', '.join(keys)}"))
