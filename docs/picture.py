"""Draws docs/report.svg, the picture in README: ``python docs/picture.py``."""

import io
import re
from pathlib import Path

from rich.console import Console

from ebbtide.cli.rounds.score import report_lines
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.profile import Profile
from ebbtide.traces.reading import load

ROOT = Path(__file__).parent.parent
EXAMPLE = "examples/conversations/design-review.json"


def main() -> None:
    """Score the example and write the picture."""
    meter = ConvergenceMeter()
    for item in load(ROOT / EXAMPLE).rounds:
        meter.update(item)
    terminal = Console(
        record=True, width=92, file=io.StringIO(), force_terminal=True, highlight=False, markup=False
    )
    for line in report_lines(EXAMPLE, meter.score(), Profile.DEFAULT.novelty, terminal.width):
        terminal.print(line.to_rich(), soft_wrap=True)
    svg = terminal.export_svg(title="ebbtide score", unique_id="report")
    # The picture must not ask the network for a font.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
    (ROOT / "docs" / "report.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
