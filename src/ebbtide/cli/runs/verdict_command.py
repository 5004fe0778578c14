"""`ebbtide watch --on stop CMD`: a command of the user's when the verdict changes."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

from ebbtide.errors import ConfigError
from ebbtide.settings_file import meant
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.verdict import Verdict

_ANY = "change"
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCommand:
    """A command, and the verdicts on which it runs.

    Args:
        actions: The actions that it waits for; empty for every change.
        command: For the shell.
        timeout_s: Seconds after which it is ended.
    """

    actions: frozenset[Action]
    command: str
    timeout_s: float = _TIMEOUT_S

    @classmethod
    def read(cls, when: str, command: str) -> VerdictCommand:
        """The option as it was given; several actions have commas between them.

        Raises:
            ConfigError: There is no such action.
        """
        names = [name.strip() for name in when.split(",")]
        actions = [action.value for action in Action]
        for name in names:
            if name not in (*actions, _ANY):
                like = meant(name, (*actions, _ANY))
                raise ConfigError(f"--on {when!r}: expected {', '.join(actions)} or {_ANY}{like}")
        selection = frozenset() if _ANY in names else frozenset(Action(name) for name in names)
        return cls(actions=selection, command=command)

    def wants(self, verdict: Verdict) -> bool:
        """Returns True if the command is to be run on this verdict."""
        return not self.actions or verdict.action in self.actions

    def run(self, verdict: Verdict, source: str, spent: dict[str, Any]) -> str | None:
        """Runs it: the verdict as JSON on its standard input, and in its environment.

        Its output goes where the watch's errors go, so that standard output stays the watch's own.

        Returns:
            What went wrong, in words; None where it ended with 0.
        """
        wire = {**verdict.to_dict(), "source": source, "spent": spent}
        variables = {
            "EBBTIDE_ACTION": verdict.action.value,
            "EBBTIDE_CAUSE": verdict.cause.value,
            "EBBTIDE_REASON": _variable(verdict.reason),
            "EBBTIDE_EVENT": "" if verdict.event is None else str(verdict.event),
            "EBBTIDE_SOURCE": _variable(source),
        }
        try:
            process = subprocess.run(  # noqa: S602 - it is the user's own command line
                self.command,
                shell=True,
                input=json.dumps(wire),
                stdout=2,
                env=os.environ | variables,
                encoding="utf-8",
                timeout=self.timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"--on: {self.command}: timed out after {self.timeout_s:g} s"
        except OSError as error:
            return f"--on: {self.command}: {error.strerror or error}"
        return f"--on: {self.command}: exit code {process.returncode}" if process.returncode else None


def _variable(text: str) -> str:
    """Text that an environment can hold."""
    return text.replace("\0", " ").encode(errors="replace").decode()
