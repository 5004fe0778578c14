"""The line that tells a person that an agent is paused, and the keys that answer it."""

from __future__ import annotations

import time
from typing import Final

from ebbtide.cli.terminal import cell_width, terminal_width

_TYPING_S: Final = 1.0  # between two keys: the second is still meant for the agent
_GO_ON: Final = frozenset((b"\r", b"\n", b"c", b"C", b"\x1b[13u"))
_END: Final = frozenset((b"q", b"Q", b"\x03", b"\x1b[99;5u"))


class PauseNotice:
    """Stands in the last row of the terminal while an agent is paused.

    Args:
        has_rows: True if the terminal can write into a row; else the notice is a line like others.
    """

    def __init__(self, *, has_rows: bool) -> None:
        self._has_rows = has_rows
        self._text: str | None = None
        self._is_drawn = False
        self._key_at = 0.0

    @property
    def is_open(self) -> bool:
        """True if the agent is paused."""
        return self._text is not None

    @property
    def is_due(self) -> bool:
        """True if it is to be drawn."""
        return self._text is not None and not self._is_drawn

    def open(self, text: str) -> None:
        """Says something, or something else."""
        if self._text is None:
            self._key_at = time.monotonic()
        self._text, self._is_drawn = text, False

    def redraw(self) -> None:
        """Has it drawn again, as after a change of the window's size."""
        self._is_drawn = False

    def draw(self) -> bytes:
        """Returns what draws it."""
        self._is_drawn = True
        text = self._text or ""
        columns = terminal_width() - 1
        while cell_width(text) > columns:
            text = text[:-1]
        line = f"\x1b7\x1b[999H\x1b[7m{text}\x1b[0m\x1b[K\x1b8" if self._has_rows else f"\r\n{text}\r\n"
        return line.encode()

    def close(self) -> bytes:
        """Returns what takes it away."""
        was_drawn = self._text is not None and self._is_drawn
        self._text = None
        return b"\x1b7\x1b[999H\x1b[2K\x1b8" if was_drawn and self._has_rows else b""

    def answer(self, keys: bytes) -> bool | None:
        """Returns True if the agent is to go on, False if it is to end, None if the keys say neither."""
        gap_s = time.monotonic() - self._key_at
        self._key_at = time.monotonic()
        if gap_s < _TYPING_S:
            return None
        return True if keys in _GO_ON else False if keys in _END else None
