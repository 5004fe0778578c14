"""The result of a command: its text, its JSON, and its exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from ebbtide.cli.terminal import Line, print_json, print_lines, terminal_width


class Exit(IntEnum):
    """Exit codes of the command, on which scripts can rely."""

    DONE = 0  #: for ``stop``: CONTINUE
    BAD_INPUT = 2  #: input, usage or a log that cannot be used
    SHIP = 10  #: ``stop``
    ESCALATE = 20  #: ``stop``
    LOOP = 30  #: ``loops`` found one, or a detector or hook of ``doctor`` is silent
    REFUSED = 40  #: ``decisions``: the gate refused it, it is a duplicate, or its frame is not captured
    NOT_VERIFIED = 41  #: ``decisions verify``: something was changed or is missing
    CHECK_FAILED = 50  #: ``check --fail-on``: a run meets a condition
    PARTLY = 51  #: ``archive check``: some runs could not be checked
    ENDED = 60  #: ``run --stop``: the run was ended
    INTERRUPTED = 130  #: by Ctrl-C, as shells count it: 128 and the number of the signal
    PIPE_CLOSED = 141  #: whatever read the output went away, likewise


#: When every command ends so, unless it says more.
EVERY_EXIT: Final[Mapping[Exit, str]] = {
    Exit.DONE: "done",
    Exit.BAD_INPUT: "wrong usage, or a file that cannot be used",
    Exit.INTERRUPTED: "interrupted by Ctrl-C",
}


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a command. A command that returns one has the option ``--json``.

    Args:
        json: Makes its wire form.
        text: Makes its lines for a person, for a terminal of so many columns.
        exit: The exit code of the command.
    """

    json: Callable[[], Any]
    text: Callable[[int], Iterable[Line]]
    exit: Exit = Exit.DONE

    def print(self, *, as_json: bool) -> None:
        """Prints one of the two.

        Raises:
            SystemExit: The exit code is another one than `Exit.DONE`.
        """
        if as_json:
            print_json(self.json())
        else:
            print_lines(self.text(terminal_width()))
        if self.exit is not Exit.DONE:
            raise SystemExit(self.exit)
