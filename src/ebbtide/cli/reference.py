"""`ebbtide formats` and `ebbtide schema`: what can be read."""

from __future__ import annotations

import sys
from importlib import resources

import click

from ebbtide.cli.declaration import Command
from ebbtide.cli.result import Result
from ebbtide.cli.table import Table
from ebbtide.traces.formats import FORMATS


@click.command(cls=Command)
def formats() -> Result:
    """List the recognised trace and conversation formats."""
    table = Table("format", "what it holds")
    for item in FORMATS:
        table.add(item.name, item.description)
    wire = [{"name": item.name, "description": item.description} for item in FORMATS]
    return Result(lambda: wire, table.lines)


@click.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of the transcript format."""
    file = resources.files("ebbtide.events") / "transcript.schema.json"
    sys.stdout.write(file.read_text(encoding="utf-8"))
