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
    folder: Annotated[str, Argument(metavar="FOLDER", help="A folder; the one that you are in.")] = ".",
    undo: Annotated[bool, Option("--undo", help="Trust it no longer.")] = False,
    shows: Annotated[bool, Option("--list", help="List what is trusted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Trust the settings of a folder.

    A file of settings that is only found may name no store, no command, no address and no file outside its
    folder. After this it may, until it or a file that it names changes.
    """
    if undo and shows:
        raise ConfigError("--undo and --list: say one of them")
    book = TrustBook.load()
    if shows:
        _print("trusted", book.folders, [], as_json=as_json)
        return
    if undo:
        _print("no longer trusted", book.remove(os.path.realpath(folder)), [], as_json=as_json)
        return
    file = nearest_file(folder)
    if file is None:
        raise ConfigError(f"{folder}: there are no settings, neither ebbtide.toml nor [tool.ebbtide]")
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
        print("nothing is trusted" if state == "trusted" else "it was not trusted")
    for row in folders:
        print(plain(f"{state}: {row.path}{', with its ' * bool(keys)}{', '.join(keys)}"))
