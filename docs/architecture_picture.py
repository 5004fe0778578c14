"""Draws docs/architecture.svg, the picture in ARCHITECTURE: ``python docs/architecture_picture.py``."""
# ruff: noqa: INP001 - a script beside the pages, no package

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "architecture.svg"
_LEFT, _RIGHT, _TOP = 115, 885, 50
_STEP, _HEIGHT = 60, 46  # from floor to floor, and of a room


class Room(NamedTuple):
    """A box: the packages and modules of `ebbtide` in it, its edges, and what it does."""

    names: str
    left: int
    right: int
    what: str


#: Floors from the top, as import-linter holds them; a room may import from the floors below its own.
FLOORS: dict[str, tuple[Room, ...]] = {
    "commands": (Room("cli", _LEFT, _RIGHT, "one file a command; draws the screen"),),
    "advice": (Room("advice", _LEFT, 460, "settings that would have cost less"),),
    "service": (Room("service", _LEFT, 460, "hooks of agents, HTTP API, tools for models"),),
    "adapters": (
        Room("adapters", _LEFT, 460, "one file a framework"),
        Room("batch", 490, _RIGHT, "archives and streams"),
    ),
    "answers": (
        Room("report", _LEFT, 280, "one HTML page"),
        Room("checking", 295, 595, "files in, a summary out"),
        Room("shipped", 610, _RIGHT, "commits of sessions"),
    ),
    "guards": (Room("guard", _LEFT, 460, "wraps live calls, holds limits"),),
    "runs": (
        Room("supervision", _LEFT, 645, "one verdict"),
        Room("decision_log", 655, _RIGHT, "keeps decisions"),
    ),
    "engines": (
        Room("traces", _LEFT, 275, "files → events"),
        Room("divergence", 285, 455, "events → loops"),
        Room("convergence", 465, 645, "rounds → signal"),
        Room("decisions", 655, 770, "what to keep"),
        Room("claims", 780, _RIGHT, "said, done"),
    ),
    "money": (Room("budget", 285, _RIGHT, "limits, prices"),),
    "words": (
        Room(
            "events", _LEFT, _RIGHT, "ToolCall, ModelCall, Message, Notice; rounds, usage, tool declarations"
        ),
    ),
    "ground": (
        Room("text", _LEFT, 330, "similarity, phrases, sentences"),
        Room("profile", 340, 455, "thresholds"),
        Room("settings_file", 465, 645, "where settings stand"),
        Room("database", 655, _RIGHT, "opens, migrates, writes"),
    ),
    "basics": (
        Room(
            "checks, engine_state, processes, clock, bounded, codec, errors, rate, regular_file",
            _LEFT,
            _RIGHT,
            "what any room may use",
        ),
    ),
}
_STEPS = "1 read · 2 take · 3 look for loops · 4 weigh the round · 5 judge · 6 sum up · 7 print"
_TITLE = "The rooms of Ebbtide, and the way of an event to the screen"
_DESCRIPTION = (
    "Twelve floors of rooms. An event goes from a file through traces, supervision, divergence, budget, "
    "convergence, supervision and its summary to the command line."
)
_STYLE = """\
    text { font-family: "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #1b2733 }
    .floor { font-size: 15px; fill: #52606d }
    .room { font-size: 16px; font-weight: bold }
    .what { font-size: 13px; fill: #3e4c59 }
    .step { font-size: 15px; font-weight: bold; fill: #ffffff; text-anchor: middle }
    .box { fill: #eef3f8; stroke: #8fa3b5 }
    .file { fill: #ffffff; stroke: #8fa3b5; stroke-dasharray: 5 4 }
    .way { fill: none; stroke: #c2410c; stroke-width: 3; stroke-linejoin: round }
    .dot { fill: #c2410c; stroke: #ffffff; stroke-width: 2 }"""


def rooms() -> set[str]:
    """Returns every package and module that the picture names."""
    return {name for floor in FLOORS.values() for room in floor for name in room.names.split(", ")}


def drawing() -> str:
    """Returns the picture."""
    height = _TOP + _STEP * len(FLOORS) + 20
    size = f'viewBox="0 0 900 {height}" width="900" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'  <title id="title">{_TITLE}</title>',
        f'  <desc id="desc">{_DESCRIPTION}</desc>',
        f"  <style>\n{_STYLE}\n  </style>",
        f'  <rect width="900" height="{height}" fill="#ffffff"/>',
        _text(
            "what",
            20,
            30,
            "Imports point down. The line is the way of one event: the numbers are those of the text.",
        ),
    ]
    for place, (floor, boxes) in enumerate(FLOORS.items()):
        top = _TOP + _STEP * place
        lines.append(_text("floor", 20, top + 28, floor))
        for room in boxes:
            lines += _box("box", room, top)
    lines += _box("file", Room("session.jsonl", _LEFT, 275, "a file, line by line"), _top("money"))
    lines.append(_text("what", 660, _top("money") + 28, "Tally counts what was spent"))
    lines += _way()
    lines.append(_text("what", 20, height - 12, _STEPS))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _top(floor: str) -> int:
    return _TOP + _STEP * list(FLOORS).index(floor)


def _text(kind: str, x: int, y: int, words: str) -> str:
    return f'  <text class="{kind}" x="{x}" y="{y}">{words}</text>'


def _box(kind: str, room: Room, top: int) -> list[str]:
    edges = f'x="{room.left}" y="{top}" width="{room.right - room.left}" height="{_HEIGHT}"'
    return [
        f'  <rect class="{kind}" {edges} rx="6"/>',
        _text("room", room.left + 12, top + 20, room.names),
        _text("what", room.left + 12, top + 38, room.what),
    ]


def _way() -> list[str]:
    """The way of an event, in the seven steps of ARCHITECTURE."""
    middle = _HEIGHT // 2
    engines, money, runs, screen = (
        _top(floor) + middle for floor in ("engines", "money", "runs", "commands")
    )
    steps = [(257, engines), (257, runs), (437, engines), (625, engines), (625, runs), (475, runs)]
    steps.append((475, screen))
    corners = [(257, _top("money")), (257, runs), (437, runs), (437, money), (625, money), (625, runs)]
    corners += steps[-2:]
    path = " L".join(f"{x},{y}" for x, y in corners)
    lines = [f'  <path class="way" d="M{path}"/>']
    for number, (x, y) in enumerate(steps, start=1):
        lines.append(f'  <circle class="dot" cx="{x}" cy="{y}" r="13"/>')
        lines.append(f'  <text class="step" x="{x}" y="{y + 5}">{number}</text>')
    return lines


if __name__ == "__main__":
    FILE.write_text(drawing(), encoding="utf-8")
