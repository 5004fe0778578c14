"""`ebbtide formats` and `ebbtide schema`: what can be read."""

from __future__ import annotations

import sys
from importlib import resources

import click

from ebbtide.cli.declaration import AsJson, Command
from ebbtide.cli.terminal import console, print_json
from ebbtide.traces.formats import FORMATS


@click.command(cls=Command)
def formats(as_json: AsJson = False) -> None:
    """List the trace and conversation formats that are recognised."""
    if as_json:
        print_json([{"name": item.name, "description": item.description} for item in FORMATS])
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("format", no_wrap=True)
    table.add_column("what it holds")
    for item in FORMATS:
        table.add_row(item.name, item.description)
    console().print(table)


@click.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of the transcript format."""
    file = resources.files("ebbtide.events") / "transcript.schema.json"
    sys.stdout.write(file.read_text(encoding="utf-8"))
