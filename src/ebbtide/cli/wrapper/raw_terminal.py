"""The terminal of the caller while an agent has it, and what puts it back as it was afterwards."""

from __future__ import annotations

import errno
import os
import re
import signal
import termios
import tty
from collections.abc import Callable
from typing import Final

_STDIN: Final = 0


class RawTerminal:
    """Takes the terminal of standard input until it is given back."""

    def __init__(self) -> None:
        self._before = termios.tcgetattr(_STDIN)

    def take(self) -> None:
        """Has every key come as it is."""
        self._before = termios.tcgetattr(_STDIN)
        _again(lambda: tty.setraw(_STDIN))

    def give_back(self) -> None:
        """Puts the terminal back as it was."""
        _again(lambda: termios.tcsetattr(_STDIN, termios.TCSAFLUSH, self._before))

    def sleep(self) -> None:
        """Stops this process, and those that its shell started with it, until somebody continues them."""
        self.give_back()
        stop_until_continued(0)
        self.take()


def stop_until_continued(process: int) -> None:
    """Stops this process as Ctrl-Z does; returns when somebody has continued it.

    Args:
        process: Its number; 0 stops its whole group.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(process, signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


def _again(change: Callable[[], object]) -> None:
    """Changes the terminal, also where a signal comes meanwhile; gives up where there is none any more."""
    while True:
        try:
            change()
        except termios.error as error:
            if error.args[0] == errno.EINTR:
                continue
        return


_SEQUENCE: Final = re.compile(
    rb"\x1b(?:\[\?(?P<modes>[\d;]+)(?P<set>[hl])"
    rb"|\[(?P<stack>[<>])(?P<count>\d*)u"  # how keys are reported: https://sw.kovidgoyal.net/kitty/keyboard-protocol
    rb"|\[>4(?P<keys>;\d+)?m"  # likewise, of xterm
    rb"|(?P<pad>[=>])"
    rb"|\[(?P<region>[\d;]*)r"
    rb"|\[(?P<cursor>\d*) q)"
)
_LONGEST: Final = 32  # bytes of a sequence
_ALTERNATE: Final = frozenset({b"47", b"1047", b"1049"})
_ON: Final = frozenset({b"7", b"25"})  # from the start: lines wrap, the cursor is shown


class TerminalModes:
    r"""Reads output, and keeps the modes in it that differ from those at the start.

    >>> modes = TerminalModes()
    >>> modes.see(b"\x1b[?1049h\x1b[?25lHello")
    >>> modes.undoing()
    b'\x1b[?25h\x1b[?1049l\x1b[0m'
    """

    def __init__(self) -> None:
        self._private: dict[bytes, bool] = {}
        self._stacked = 0
        self._others: dict[str, bytes] = {}
        self._rest = b""

    def see(self, data: bytes) -> None:
        """Take a piece of the output, which may end in a sequence."""
        if b"\x1b" not in data and not self._rest:
            return
        data = self._rest + data
        end = 0
        for match in _SEQUENCE.finditer(data):
            end = match.end()
            self._take(match)
        start = data.rfind(b"\x1b", max(end, len(data) - _LONGEST))
        self._rest = data[start:] if start >= 0 else b""

    def undoing(self) -> bytes:
        """Returns the sequences that put everything back."""
        changed = [mode for mode, is_set in self._private.items() if is_set != (mode in _ON)]
        changed.sort(key=_ALTERNATE.__contains__)  # a screen has some of the others
        return b"".join(
            (
                *(f"\x1b[<{self._stacked}u".encode() for _ in range(self._stacked > 0)),
                *self._others.values(),
                *(b"\x1b[?" + mode + (b"h" if mode in _ON else b"l") for mode in changed),
                b"\x1b[0m",
            )
        )

    def _take(self, match: re.Match[bytes]) -> None:
        found = match.groupdict()
        if found["modes"] is not None:
            self._private.update(dict.fromkeys(found["modes"].split(b";"), found["set"] == b"h"))
        elif found["stack"] is not None:
            count = int(found["count"] or 1) if found["stack"] == b"<" else -1
            self._stacked = max(0, self._stacked - count)
        elif found["pad"] is not None:
            self._note("pad", b"\x1b>", found["pad"] == b"=")
        elif found["region"] is not None:
            self._note("region", b"\x1b7\x1b[r\x1b8", bool(found["region"]))
        elif found["cursor"] is not None:
            self._note("cursor", b"\x1b[0 q", found["cursor"] not in (b"", b"0"))
        else:
            self._note("keys", b"\x1b[>4m", found["keys"] not in (None, b";0"))

    def _note(self, name: str, undoing: bytes, is_set: bool) -> None:
        self._others.pop(name, None)
        if is_set:
            self._others[name] = undoing
