"""Draws docs/bill-tree.svg, a session and what came of it: ``python docs/tree_picture.py``."""
# ruff: noqa: INP001 - a script beside the pages, no package

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import dollars
from ebbtide.checking import check_many
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary

DOCS = Path(__file__).parent
PRICES = Prices({"sample": {"input": 1.0, "output": 1.0}}, public=False)


def line(call: int, tokens: int, session: str, **fields: Any) -> str:
    """A line of Claude Code with a call that took so many tokens."""
    usage = {"input_tokens": tokens, "output_tokens": 0}
    message = {"id": f"m{call}", "role": "assistant", "model": "sample", "content": [], "usage": usage}
    record = {"type": "assistant", "sessionId": session, "requestId": f"r{call}", "message": message}
    return json.dumps({**record, "timestamp": f"2026-05-01T10:00:{call:02}Z", **fields})


def sample(folder: Path) -> dict[str, RunSummary]:
    """A session, its sub-agent, and a fork that copied both of its calls."""
    own = [line(1, 2_500_000, "a"), line(2, 1_520_000, "a")]
    files = {
        "session.jsonl": own,
        "sub-agent.jsonl": [line(3, 900_000, "a", isSidechain=True, agentId="x")],
        "the-fork.jsonl": [*own, line(4, 310_000, "b")],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    found = check_many([folder / name for name in files], RunOptions(prices=PRICES), jobs=1)
    return {path.name: result for path, result in found if isinstance(result, RunSummary)}


def main() -> None:
    """Check the sample and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        runs = sample(Path(folder))
    own = {name: run.spent.cost_usd or 0.0 for name, run in runs.items()}
    inherited = runs["the-fork.jsonl"].inherited
    copied = dollars((inherited.cost_usd if inherited else None) or 0.0)
    tree = f"The tree: {dollars(sum(own.values()))}. The {copied} that the fork copied count in the session."
    boxes = [
        (20, 20, "session", f"{dollars(own['session.jsonl'])} of its own"),
        (330, 20, "sub-agent “Explore”", f"{dollars(own['sub-agent.jsonl'])} of its own"),
        (330, 110, "fork", f"{dollars(own['the-fork.jsonl'])} of its own; {copied} inherited"),
    ]
    parts = [
        f'<rect x="{x}" y="{y}" width="270" height="60" rx="6" fill="#ffffff" stroke="#57606a"/>'
        f'<text x="{x + 14}" y="{y + 25}" font-weight="bold">{escape(name)}</text>'
        f'<text x="{x + 14}" y="{y + 46}">{escape(amount)}</text>'
        for x, y, name, amount in boxes
    ]
    parts += [
        '<path d="M290 50 H330 M310 50 V140 H330" fill="none" stroke="#57606a"/>',
        f'<text x="20" y="205" font-weight="bold">{tree}</text>',
    ]
    body = "\n".join(parts)
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 225" width="620" height="225" '
        'font-family="sans-serif" font-size="14" fill="#1f2328" role="img" '
        'aria-label="A session, its sub-agent and a fork of it, each with what it took of its own">\n'
        f'<rect width="620" height="225" fill="#f6f8fa"/>\n{body}\n</svg>\n'
    )
    (DOCS / "bill-tree.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
