"""The terminal of the caller, which hands over every key as it comes while an agent has it."""

from __future__ import annotations

import errno
import os
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
