"""Plain text in which every turn starts with its speaker: ``Name: text``.

Turns that start with ``Name:``, ``**Name:**`` or ``[12:03] Name:``, and run to the next such line.

Prose has colons too. So two of three must hold: a name comes again, there is more than one, and the text
starts with one. Beside names that come again, one that does not is a speaker if it has a time, or if a
speaker would answer itself without it. All are laid out as the first one is. Code blocks are passed over,
and so are the headings of parts of a text ("Note:", "Next steps:").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.events.transcript import Round, Transcript
from ebbtide.traces.input.document import Document
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds

_LONGEST_LABEL = 120  # characters
# Such as "[12:03] ", "(2026-01-05 12:03:11) " or "05/01/26, 12:03 - ".
_TIME = (
    r"(?P<time>[\[(]?(?:\d[\d/.,T-]{0,20}[ T])?\d{1,2}:\d\d[\d:.,Z+-]{0,20}(?: ?[AaPp]\.?[Mm]\.?)?[\])]?"
    r"(?:\s*[-\u2013\u2014|])?\s+)?"
)
# "Alice", "Dr. A. Smith", "Excel_Expert", "Speaker 2"; what follows in brackets is no part of the name.
_NAME = r"(?P<name>[^\W\d_][\w.'\u2019@#&/-]*(?: [\w.'\u2019@#&/-]+){0,3})(?: [\[(][^\[\]()]{1,30}[\])])?"
_COLON = "[:\uff1a]"
_LABEL = (
    rf"{_TIME}(?P<mark>\*\*|__|){_NAME}[ \u00a0\u202f]?"
    rf"(?:(?P=mark){_COLON}|(?P<inside>{_COLON})(?P=mark))(?:\s+|$|(?<=\uff1a))"
)
# What a line must have to be looked at more closely.
_SIGNS = (b":", "\uff1a".encode(), b"```", b"~~~")
_FENCE = r"\s*(?P<fence>`{3,}|~{3,})\s*(?P<info>.*)"

# The last word of what heads a part of a text or a line of a log, and is nobody's name.
_HEADINGS = frozenset(
    """
    note notes nb remark warning caution important tip hint ps todo fixme update edit reminder disclaimer
    example examples context background title subject date time duration location from to cc bcc
    attendees participants agenda topic authors source sources link links url reference references
    summary overview introduction conclusion conclusions result results finding findings outcome output input
    step steps plan task tasks goal goals objective objectives requirement requirements option options
    pro pros cons con advantages disadvantages benefits drawbacks risk risks issue issues problem solution
    reason reasons rationale explanation justification evidence analysis approach assumption assumptions
    claim claims decision decisions questions action actions thought thoughts observation observations
    feedback details description usage code file files version status info debug error errors
    """.split()
)
# The first word of a line of code that ends in a colon.
_KEYWORDS = frozenset("if elif else for while with try except finally class def case default".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    """A name and a colon at the start of a line: the start of a turn, perhaps."""

    line: int
    name: str
    length: int
    alone: bool  #: nothing stands behind it
    timed: bool
    mark: str  #: around the name
    colon_inside: bool

    @property
    def layout(self) -> tuple[bool, str, bool]:
        return self.timed, self.mark, self.colon_inside


def refuse(document: Document) -> str | None:
    """Returns why plain text holds no conversation; None if it does."""
    lines = document.text_lines()
    labels = _labels(lines)
    if _openings(labels, lines):
        return None
    if not labels:
        return "no line starts with the 'Name:' of a speaker"
    one = f"{labels[0].name[:40]!r} in line {labels[0].line + 1}"
    return f"too few lines start with 'Name:' to tell speakers from prose; there is {one}"


def read_plain_text(document: Document, *, title: str, unit: RoundUnit) -> Transcript:
    """The conversation; what stands before the first turn is kept as ``preamble``."""
    first, turns = turns_of(document)
    rounds = TurnRounds(unit)
    items: list[Round] = []
    for speaker, text in turns:
        items += rounds.add(Turn(speaker=speaker, text=text))
    items += rounds.finish()
    preamble = _decoded(document.text_lines()[:first]).strip()
    return Transcript(
        conversation_id=title, rounds=tuple(items), extra={"preamble": preamble} if preamble else {}
    )


def turns_of(document: Document) -> tuple[int, list[tuple[str, str]]]:
    """The line of the first turn, from 0, and of each turn who speaks and what is said."""
    lines = document.text_lines()
    openings = _openings(_labels(lines), lines)
    ends = [opening.line for opening in openings[1:]] + [len(lines)]
    texts = (
        _decoded(lines[opening.line : end])[opening.length :].strip()
        for opening, end in zip(openings, ends, strict=True)
    )
    return openings[0].line, [(opening.name, text) for opening, text in zip(openings, texts, strict=True)]


def _openings(labels: Sequence[_Label], lines: Sequence[bytes]) -> list[_Label]:
    """The labels that start a turn; none if this is no conversation."""
    counts = Counter((label.layout, label.name) for label in labels)
    recurring = [label for label in labels if counts[label.layout, label.name] > 1]
    first = next(iter(recurring or labels), None)
    if first is None:
        return []
    top = next(at for at, line in enumerate(lines) if line.strip())
    alike = [label for label in labels if label.layout == first.layout]
    if all(label.alone for label in alike if label.name == first.name):
        alike = [label for label in alike if label.alone]
    if recurring and not first.timed:
        sure = {label.name for label in alike if counts[label.layout, label.name] > 1 or label.line == top}
        alike = _answering(alike, sure)
    several = len({label.name for label in alike}) > 1
    return alike if several + bool(recurring) + (alike[0].line == top) >= 2 else []


def _answering(labels: Sequence[_Label], sure: set[str]) -> list[_Label]:
    """The labels of sure speakers, and those without which one of them would answer itself."""
    openings: list[_Label] = []
    between: list[_Label] = []
    speaker = None
    for label in labels:
        if label.name not in sure:
            between.append(label)
            continue
        openings += [*between, label] if label.name == speaker else [label]
        between.clear()
        speaker = label.name
    return openings


def _labels(lines: Sequence[bytes]) -> list[_Label]:
    labels: list[_Label] = []
    block: tuple[int, str] | None = None
    for at, line in enumerate(lines):
        if not any(sign in line for sign in _SIGNS):
            continue
        text = line.decode()
        label = _label(text, at)
        fence = re.match(_FENCE, text[label.length :] if label else text)
        if fence and block and not label and not fence["info"] and fence["fence"].startswith(block[1]):
            # Only now is it known to be a block: one that nobody closes must not swallow the rest.
            while labels and labels[-1].line > block[0]:
                labels.pop()
            block = None
        elif fence:
            block = (at, fence["fence"])
        if label:
            labels.append(label)
    return labels


def _label(line: str, at: int) -> _Label | None:
    match = re.match(_LABEL, line[:_LONGEST_LABEL])
    if match is None:
        return None
    words = [word for word in match["name"].lower().split() if not word.isdecimal()]
    if words[0] in _KEYWORDS or words[-1] in _HEADINGS:
        return None
    return _Label(
        line=at,
        name=match["name"],
        length=match.end(),
        alone=not line[match.end() :].strip(),
        timed=bool(match["time"]),
        mark=match["mark"],
        colon_inside=bool(match["mark"] and match["inside"]),
    )


def _decoded(lines: Sequence[bytes]) -> str:
    return b"\n".join(lines).decode()
