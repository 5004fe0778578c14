"""Excerpts of texts that are too long, cut in this one place: their beginning and their end are read.

What comes to a million characters is a file or a log, not a turn. Its end is kept, since a result often
stands in the last lines. Whoever cuts says so: `left_out` is counted in what is reported.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LONGEST_TEXT: Final = 1_000_000  #: characters up to which a text is read whole
_TAIL: Final = 5  # one part in five is the end
_PATH: Final = 2  # slashes from which a word is a path
_SEAM: Final = 1_000  # characters at a cut in which a line or a word may end


class Excerpt(NamedTuple):
    """A text, or its two ends.

    Args:
        head: The beginning; all of a text that is short enough.
        tail: The end; empty if nothing was cut.
        left_out: Characters between them.
    """

    head: str
    tail: str
    left_out: int

    @property
    def text(self) -> str:
        """Both ends, with a blank line between."""
        return f"{self.head}\n\n{self.tail}" if self.left_out else self.head


def one_line(text: str, most: int) -> str:
    """Returns the beginning of a text on one line of at most so many characters; of a path, its end.

    >>> one_line("a  long   story of it", 12)
    'a long st...'
    >>> one_line("Edit /srv/work/shop/app/views.py", 24)
    'Edit .../app/views.py'
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    start = line.rfind(" ", 0, most - 3) + 1
    word = line[start:].partition(" ")[0]
    sign = "/" if "/" in word else "\\"
    if start <= most // 2 and word.count(sign) >= _PATH and len(word) > most - start:
        # The name that a path ends in tells it from others.
        room = most - start - len("...")
        _, _, tail = word[-room:].partition(sign)
        if tail:
            return f"{line[:start]}...{sign}{tail}"
    return f"{line[: most - 3].rstrip()}..."


def excerpt(text: str, most: int = LONGEST_TEXT) -> Excerpt:
    """Returns both ends of a text that is longer than `most` characters, cut between lines or words.

    >>> excerpt("one two three four five", 20)
    Excerpt(head='one two three', tail='five', left_out=6)
    """
    if len(text) <= most:
        return Excerpt(text, "", 0)
    end, start = most - most // _TAIL, len(text) - most // _TAIL
    for sign in "\n ":
        place = text.rfind(sign, max(end - _SEAM, 0), end)
        if place > 0:
            end = place
            break
    for sign in "\n ":
        place = text.find(sign, start, start + _SEAM)
        if 0 <= place < len(text) - 1:
            start = place + 1
            break
    return Excerpt(text[:end], text[start:], start - end)
