"""The result of a command, which knows its text and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ebbtide.cli.exits import Exit
from ebbtide.cli.terminal import Line, print_json, print_lines, terminal_width


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
