"""Precision over recall as one SVG file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ebbtide.convergence.calibration.pairs import MeasureReport

_SIZE, _LEFT, _TOP = 400, 60, 30  # pixels
_COLOURS = ("#888888", "#0072b2", "#d55e00")  # distinguishable without red and green
_STEPS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def precision_recall_svg(title: str, reports: Sequence[MeasureReport]) -> str:
    """The curves, with the current threshold of each as a circle and the proposed one as a disc.

    Args:
        title: What was measured.
        reports: At most three.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE + 300}" height="{_SIZE + 90}">',
        "<style>text {font: 13px sans-serif}</style>",
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_LEFT, 18, title),
        _text(_LEFT, _TOP + _SIZE + 42, "precision (up) over recall (right); \u25cb now, \u25cf proposed"),
    ]
    for step in _STEPS:
        (start, y), (x, bottom) = _place(0, step), _place(step, 0)
        parts += [
            _line([(start, y), (start + _SIZE, y)], "#dddddd"),
            _line([(x, _TOP), (x, bottom)], "#dddddd"),
        ]
        parts += [
            _text(start - 8, y + 4, f"{step:g}", anchor="end"),
            _text(x, bottom + 18, f"{step:g}", anchor="middle"),
        ]
    for row, (report, colour) in enumerate(zip(reports, _COLOURS, strict=False)):
        positives = max(report.curve[-1].hits, 1)
        parts.append(
            _line([_place(here.hits / positives, here.hits / here.yes) for here in report.curve], colour)
        )
        parts.append(_mark(report, report.threshold, "white", colour))
        words = f"{report.name}, now {report.threshold:g}"
        if report.proposed:
            parts.append(_mark(report, report.proposed, colour, colour))
            words += f", proposed {report.proposed:g}"
        parts.append(_text(_LEFT + _SIZE + 20, _TOP + 20 + 24 * row, words, colour=colour))
    return "\n".join([*filter(None, parts), "</svg>\n"])


def _place(recall: float, precision: float) -> tuple[float, float]:
    return (_LEFT + _SIZE * recall, _TOP + _SIZE * (1 - precision))


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "black") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _line(points: Sequence[tuple[float, float]], colour: str) -> str:
    path = " ".join(dict.fromkeys(f"{x:.0f},{y:.0f}" for x, y in points))  # a pixel once
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _mark(report: MeasureReport, threshold: float, fill: str, colour: str) -> str:
    here = report.at(threshold)
    if here.precision.value is None:
        return ""
    x, y = _place(here.recall.value or 0.0, here.precision.value)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" stroke="{colour}" fill="{fill}"/>'
