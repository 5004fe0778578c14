"""The reliability diagram as SVG or PNG, as a page and as lines of text: what was said, what turned out so.

A point on the diagonal is calibrated, below it overconfident. Each has the interval of its rate, so that two
decisions do not look like two hundred.
"""

from __future__ import annotations

from html import escape

from ebbtide.decision_log.calibration.calibrate import Calibration, Scores
from ebbtide.decision_log.calibration.reliability import ReliabilityBin
from ebbtide.errors import ConfigError

_SIZE, _LEFT, _TOP, _SIDE = 360, 56, 44, 250  # pixels
_COUNTS = 56  # height of the bars that show how many
_STEPS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_WIDTH, _HEIGHT = _LEFT + _SIZE + _SIDE, _TOP + _SIZE + _COUNTS + 66
_COLUMNS = 41  # of the scale from 0 to 1 in a line of text

_STYLE = """
.ink { fill: #1b1b1b } .faint { fill: #5c5c5c } .mark { fill: #0072b2 } .bar { fill: #9ab8cc }
.axis { stroke: #5c5c5c } .grid { stroke: #dcdcdc } .line { stroke: #0072b2; stroke-width: 2 }
.even { stroke: #5c5c5c; stroke-dasharray: 5 4 } .page { fill: #ffffff }
@media (prefers-color-scheme: dark) {
.ink { fill: #ececec } .faint { fill: #b0b0b0 } .mark { fill: #56b4e9 } .bar { fill: #41617a }
.axis { stroke: #b0b0b0 } .grid { stroke: #3a3a3a } .line { stroke: #56b4e9 }
.even { stroke: #b0b0b0 } .page { fill: #161616 }
}
""".strip()


def reliability_svg(
    calibration: Calibration, title: str = "Stated confidence and what turned out right"
) -> str:
    """The diagram as one SVG file that needs nothing else, readable on light and on dark.

    Args:
        calibration: What is drawn; without forecasts the diagram says so.
        title: What was measured.
    """
    scores = calibration.scores
    words = _words(calibration)
    title = _printable(title)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="13">'
        ),
        f"<title>{escape(title)}</title>",
        f"<desc>{escape('. '.join(words))}.</desc>",
        f"<style>\n{_STYLE}\n</style>",
        '<rect class="page" width="100%" height="100%"/>',
        _text(_LEFT, 24, title, size=15),
        *_frame(),
    ]
    if scores is not None:
        parts += _bars(scores)
        parts += [mark for row in scores.bins for mark in _point(row)]
    for place, line in enumerate(words):
        parts.append(_text(_LEFT + _SIZE + 20, _TOP + 14 + 21 * place, line))
    return "\n".join([*parts, "</svg>"]) + "\n"


def reliability_png(
    calibration: Calibration, title: str = "Stated confidence and what turned out right"
) -> bytes:
    """The diagram as a PNG, light and at twice the size, with a font of this machine.

    Raises:
        ConfigError: The extra ``png`` is not installed.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise ConfigError("a .png needs resvg-py: pip install 'ebbtide[png]', or draw an .svg") from error
    return bytes(svg_to_bytes(svg_string=reliability_svg(calibration, title), zoom=2))


def reliability_html(
    calibration: Calibration, title: str = "Stated confidence and what turned out right"
) -> str:
    """A page that holds the diagram and the numbers of each bin, and needs nothing else.

    Args:
        calibration: What is drawn.
        title: What was measured.
    """
    title = _printable(title)
    rows = "\n".join(
        f"<tr><td>{_range(row)}</td><td>{row.n}</td><td>{row.mean_confidence:.3f}</td><td>{row.rate:.3f}</td>"
        f"<td>{row.interval[0]:.3f} to {row.interval[1]:.3f}</td></tr>"
        for row in (calibration.scores.bins if calibration.scores else ())
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px sans-serif; margin: 2rem; background: #ffffff; color: #1b1b1b }}
@media (prefers-color-scheme: dark) {{ body {{ background: #161616; color: #ececec }} }}
svg {{ max-width: 100%; height: auto }}
td, th {{ padding: 0.2rem 0.8rem; text-align: right }}
</style>
{reliability_svg(calibration, title)}
<table>
<tr><th>confidence</th><th>n</th><th>mean</th><th>right</th><th>95 % interval</th></tr>
{rows}
</table>
</html>
"""


def reliability_lines(calibration: Calibration) -> list[str]:
    """The diagram as plain lines, a bin each, 78 columns wide: ``o`` turned out right, ``x`` was said.

    Args:
        calibration: What is drawn; without forecasts the lines say so.
    """
    words = _words(calibration)
    if calibration.scores is None:
        return words
    scale = "0" + "0.5".center(_COLUMNS - 2) + "1"
    lines = [f"{'confidence':>12} {'n':>6} {'said':>6} {'right':>6}  {scale}"]
    lines += [
        f"{_range(row):>12} {row.n:>6} {row.mean_confidence:>6.2f} {row.rate:>6.2f}  {_drawn(row)}"
        for row in calibration.scores.bins
    ]
    return [*lines, "", "o what turned out right, x what was said, * both, - the 95 % interval", *words]


def _printable(text: str) -> str:
    """The text without what a file of UTF-8 or XML cannot hold."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _drawn(row: ReliabilityBin) -> str:
    signs = [" "] * _COLUMNS
    low, high, rate, confidence = (
        round(value * (_COLUMNS - 1)) for value in (*row.interval, row.rate, row.mean_confidence)
    )
    signs[low : high + 1] = "-" * (high + 1 - low)
    signs[confidence] = "x"
    signs[rate] = "*" if rate == confidence else "o"
    return "".join(signs).rstrip()


def _words(calibration: Calibration) -> list[str]:
    """The numbers, a line each."""
    scores = calibration.scores
    if scores is None:
        return [f"no forecasts among {calibration.decisions} decisions"]
    brier, error = scores.brier, scores.error
    skill = "unknown" if brier.skill is None else f"{brier.skill:.3f}"
    words = [
        f"{calibration.n} of {calibration.decisions} decisions",
        f"Brier score {brier.score:.4f}, skill {skill}",
        f"base rate {brier.base_rate:.3f}, scores {brier.uncertainty:.4f}",
        f"reliability {brier.reliability:.4f}, resolution {brier.resolution:.4f}",
        f"calibration error {error.value:.3f}",
        f"a perfect forecaster: {error.expected:.3f} on average",
        f"and usually below {error.usual_below:.3f}",
    ]
    drift = calibration.drift
    if drift is not None and drift.changed:
        words.append(f"errors changed: {drift.before:.3f} to {drift.after:.3f} (p = {drift.p_value:.2g})")
    return words


def _range(row: ReliabilityBin) -> str:
    return f"{row.low:.2f}" if row.low == row.high else f"{row.low:.2f} to {row.high:.2f}"


def _place(confidence: float, rate: float) -> tuple[float, float]:
    return (_LEFT + _SIZE * confidence, _TOP + _SIZE * (1 - rate))


def _frame() -> list[str]:
    parts: list[str] = []
    foot = _TOP + _SIZE
    for step in _STEPS:
        (start, y), (x, _) = _place(0, step), _place(step, 0)
        parts += [
            _line("grid", start, y, start + _SIZE, y),
            _line("grid", x, _TOP, x, foot),
            _text(start - 8, y + 4, f"{step:g}", anchor="end", ink="faint"),
            _text(x, foot + _COUNTS + 24, f"{step:g}", anchor="middle", ink="faint"),
        ]
    parts += [
        _line("even", *_place(0, 0), *_place(1, 1)),
        _line("axis", _LEFT, foot, _LEFT + _SIZE, foot),
        _line("axis", _LEFT, _TOP, _LEFT, foot),
        _text(_LEFT + _SIZE / 2, _HEIGHT - 14, "said (bars: how often)", anchor="middle", ink="faint"),
        (
            f'<text class="faint" x="{-(_TOP + _SIZE / 2):.1f}" y="16" transform="rotate(-90)" '
            'text-anchor="middle">turned out right</text>'
        ),
    ]
    return parts


def _bars(scores: Scores) -> list[str]:
    """How many forecasts each bin has, hanging below the diagram."""
    most = max(row.n for row in scores.bins)
    foot = _TOP + _SIZE
    parts: list[str] = []
    for row in scores.bins:
        left, right = _LEFT + _SIZE * row.low, _LEFT + _SIZE * row.high
        if right - left < 6:  # one confidence has no width
            left, right = left - 3, left + 3
        high = (_COUNTS - 16) * row.n / most
        parts += [
            (
                f'<rect class="bar" x="{left + 1:.1f}" y="{foot + 1}" width="{right - left - 2:.1f}" '
                f'height="{high:.1f}"/>'
            ),
            _text((left + right) / 2, foot + high + 13, str(row.n), anchor="middle", ink="faint", size=10),
        ]
    return parts


def _point(row: ReliabilityBin) -> list[str]:
    x, y = _place(row.mean_confidence, row.rate)
    (_, low), (_, high) = _place(0, row.interval[0]), _place(0, row.interval[1])
    label = f"said {row.mean_confidence:.2f}, right {row.rate:.2f} of {row.n}"
    return [
        _line("line", x, low, x, high),
        f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{label}</title></circle>',
    ]


def _text(x: float, y: float, text: str, *, anchor: str = "start", ink: str = "ink", size: int = 13) -> str:
    return (
        f'<text class="{ink}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(text)}</text>"
    )


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
