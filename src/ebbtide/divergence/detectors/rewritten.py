"""One file that is written anew again and again, with nothing else done: a plan that is never begun.

Each version is new, so that no call repeats. What sets it apart from work on a file is that the whole file is
replaced each time, and that nothing happens between two versions that could show whether the last one was
good: no other change, no check, no word of a person. Of 940 recorded runs one reaches three versions.
"""

from __future__ import annotations

from typing import Final

from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.profile.loop_kinds import LoopKind

_PATHS: Final = ("file_path", "filePath", "path", "filename")
_WHOLE: Final = frozenset({"content", "contents", "file_text", "text"})


class Rewritten(Detector):
    """Counts the versions of one file with nothing but looks between them."""

    _path: str = ""
    _count: int = 0
    _first: int = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take a call."""
        is_change = moment.effect is Effect.CHANGE
        if not is_change and not self._count:
            return None
        path = _written(moment.args) if is_change and not moment.has_failed else None
        if path is None:
            if self._count and not self._is_look(moment):
                self.reset()
            return None
        if path != self._path:
            self._path, self._count, self._first = path, 0, moment.number
        self._count += 1
        return self._registry.streak(
            moment, LoopKind.REWRITTEN, path, count=self._count, at=self._rules.rewrites, first=self._first
        )

    def _is_look(self, moment: Moment) -> bool:
        """Returns True if a call only looks; a command that looks at something else may be a check."""
        if not moment.is_command:
            return moment.effect is Effect.READ
        name = self._path.replace("\\", "/").rpartition("/")[2]
        return name in moment.arguments and moment.read_effect() is Effect.READ


def _written(args: object) -> str | None:
    """Returns the path of a file whose whole content the arguments hold; None where they hold none."""
    if not isinstance(args, dict) or _WHOLE.isdisjoint(args):
        return None
    return next((args[name] for name in _PATHS if isinstance(args.get(name), str)), None)


def known_rewritten(number: int) -> ToolCall:
    """An event of a run that puts its plan in other words."""
    args = {
        "file_path": "PLAN.md",
        "content": f"# Plan {chr(97 + number % 26) * 3}\nSteps of version {number}.",
    }
    return ToolCall(name="Write", args=args, result="The file was written.")
