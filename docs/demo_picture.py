"""Draws docs/demo.svg, what ``ebbtide demo`` prints and a first screen: ``python docs/demo_picture.py``."""
# ruff: noqa: INP001 - a script beside the pages, no package

import dataclasses
import io
import re
import tempfile
from pathlib import Path

from rich.console import Console

from ebbtide.checking import check
from ebbtide.cli.runs.demo import demo_runs
from ebbtide.cli.runs.run_screen import run_screen
from ebbtide.cli.runs.run_table import run_table
from ebbtide.cli.terminal import Line

DOCS = Path(__file__).parent


def main() -> None:
    """Check the sample and write the picture."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for name, content in demo_runs().items():
            file = Path(folder, name)
            file.write_text(content, encoding="utf-8")
            runs.append(dataclasses.replace(check(file), source=name))
    terminal = Console(
        record=True, width=116, file=io.StringIO(), force_terminal=True, highlight=False, markup=False
    )

    def draw(lines: list[Line]) -> None:
        for line in lines:
            terminal.print(line.to_rich())

    terminal.print("$ ebbtide demo", style="dim")
    draw(run_table(runs, (), terminal.width))
    terminal.print("\n$ ebbtide check stuck.jsonl", style="dim")
    draw(run_screen(next(run for run in runs if run.source == "stuck.jsonl"), terminal.width))
    svg = terminal.export_svg(title="ebbtide", unique_id="demo")
    # The picture must not ask the network for a font.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
    (DOCS / "demo.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
