"""`ebbtide formats` and `ebbtide schema`: what can be read."""

from __future__ import annotations

import sys
from importlib import resources

from rich.table import Table

from ebbtide.cli.terminal import console, print_json
from ebbtide.traces.formats import FORMATS


def print_formats(*, as_json: bool) -> None:
    """Print a line for each format."""
    if as_json:
        print_json([{"name": item.name, "description": item.description} for item in FORMATS])
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("format", no_wrap=True)
    table.add_column("what it holds")
    for item in FORMATS:
        table.add_row(item.name, item.description)
    console().print(table)


def print_schema() -> None:
    """Print the JSON Schema as it is shipped."""
    schema = resources.files("ebbtide.events") / "transcript.schema.json"
    sys.stdout.write(schema.read_text(encoding="utf-8"))
