"""Why a call bought nothing, or could have been had for less, where the calls of the run show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from ebbtide.budget.bill.bill import WasteKind
from ebbtide.budget.bill.bill_recorder import CallReview
from ebbtide.budget.bill.titles import file_of
from ebbtide.divergence.loop_state import LoopState
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy, bare_name
from ebbtide.supervision.summary.call_failure import CallFailure, call_failure

_TODO_LISTS: Final = frozenset(
    "TodoWrite TaskUpdate update_plan write_todos todo_write todowrite manage_todo_list task_tracker".split()
)
_STARTS: Final = ("offset", "start_line", "line_start", "start")
_ENDS: Final = ("end_line", "line_end", "end")
_RANGES: Final = frozenset((*_ENDS, "limit", "view_range"))
_SHELL_RANGE: Final = re.compile(r"sed -n ['\"]?(\d+),(\d+)p['\"]?;? ([^\s|;&]+)")
_GAP: Final = 20  # lines between two pieces that belong together
_FEWEST: Final = 3  # lines of a piece; fewer are a look at one place
_PIECES: Final = 64  # of a file that are remembered
_OLD_AND_NEW: Final = (("old_string", "new_string"), ("old_str", "new_str"), ("search", "replace"))
_REFUSAL: Final = re.compile(
    r"permission|not allowed|denied|approval|haven't granted|refused|rejected|doesn't want to proceed"
    r"|blocked by",
    re.IGNORECASE,
)
_LOOKED_AT: Final = 300  # characters of an answer that may refuse
_SLICES: Final = 3  # the first piece that is one too many
_LEAST_LINE: Final = 8  # characters of a line that is known again
_FILES: Final = 1_000
_LINES: Final = 20_000  # that the run has written itself
_PASSIVE: Final = (Effect.WAIT, Effect.POLL, Effect.CLOCK)


class CallReviewer:
    """Reviews the calls of a run in order, in bounded memory.

    Args:
        tools: What is declared about tools, shipped declarations included.
    """

    def __init__(self, tools: ToolPolicies) -> None:
        self._tools = tools
        self._slices: dict[str, list[tuple[int, int]]] = {}
        self._refusals: set[tuple[str, str]] = set()
        self._own_lines: dict[str, None] = {}
        self._has_list = False

    def review(self, call: ToolCall, loops: LoopState) -> CallReview:
        """Returns what is known of a call.

        Args:
            call: The latest call.
            loops: Its chain, which has taken it.
        """
        policy = self._tools.get(call.name)
        name = call.name if policy is None or policy.command is None else policy.head(call.name, call.args)
        failure = call_failure(call, policy, loops)
        if failure is CallFailure.CANCELLED:
            return CallReview(name, was_cancelled=True)
        has_failed = failure is not None
        effect = loops.effect
        is_same = loops.same_since > loops.repetition.answers.latest_change
        if effect is None and not has_failed and not is_same and not _is_todo_list(call.name):
            return CallReview(name)
        changes = effect is Effect.CHANGE and not has_failed
        waste = self._waste(call, policy, effect, has_failed=has_failed, is_same=is_same)
        if changes:
            self._slices.clear()
        return CallReview(name, waste, has_failed, changes, failure is CallFailure.REFUSED)

    def _waste(
        self,
        call: ToolCall,
        policy: ToolPolicy | None,
        effect: Effect | None,
        *,
        has_failed: bool,
        is_same: bool,
    ) -> WasteKind | None:
        if effect in _PASSIVE:
            return None
        if has_failed:
            return self._failure(call, policy, effect, is_same=is_same)
        if is_same and effect in (Effect.READ, None):
            return WasteKind.SAME_CALL
        if _is_todo_list(call.name):
            is_first, self._has_list = not self._has_list, True
            return None if is_first else WasteKind.TODO_LIST
        if effect is Effect.READ and (piece := _slice_of(call.args)) is not None:
            return WasteKind.SLICES if self._reads_on(*piece) else None
        if effect is Effect.CHANGE and isinstance(call.args, Mapping):
            return self._edit(call.args)
        return None

    def _reads_on(self, file: str, first: int, last: int) -> bool:
        """Returns True if new lines lie beside lines of their file that were read, for the second time."""
        if file not in self._slices and len(self._slices) >= _FILES:
            return False
        pieces = self._slices.setdefault(file, [])
        if any(start <= first and last <= end for start, end in pieces):
            return False  # they are read again, which is another matter
        is_beside = any(first <= end + _GAP and start <= last + _GAP for start, end in pieces)
        if len(pieces) < _PIECES:
            pieces.append((first, last))
        return is_beside and len(pieces) >= _SLICES

    def _failure(
        self, call: ToolCall, policy: ToolPolicy | None, effect: Effect | None, *, is_same: bool
    ) -> WasteKind | None:
        answer = call.result if isinstance(call.result, str) else ""
        if _REFUSAL.search(answer[:_LOOKED_AT]):
            refusal = (call.name, answer[:_LOOKED_AT])
            if refusal in self._refusals:
                return WasteKind.REFUSED_AGAIN
            if len(self._refusals) < _FILES:
                self._refusals.add(refusal)
        if is_same:
            return WasteKind.FAILED_AGAIN
        is_shell = policy is not None and policy.command is not None
        return WasteKind.FAILED_EDIT if effect is Effect.CHANGE and not is_shell else None

    def _edit(self, args: Mapping[str, object]) -> WasteKind | None:
        """Returns `WasteKind.OWN_EDIT` for an edit that takes back lines of the run itself, else None.

        Its own lines are remembered.
        """
        lines = own = 0
        for old, new in _changes_of(args):
            after = set(_lines_of(new))
            for line in _lines_of(old):
                if line not in after:
                    lines += 1
                    own += line in self._own_lines
            for line in after.difference(_lines_of(old)):
                if len(self._own_lines) < _LINES:
                    self._own_lines[line] = None
        content = args.get("content") or args.get("file_text")
        if isinstance(content, str):
            for line in _lines_of(content):
                if len(self._own_lines) < _LINES:
                    self._own_lines[line] = None
        return WasteKind.OWN_EDIT if lines and 2 * own >= lines else None


@lru_cache(maxsize=1024)
def _is_todo_list(tool: str) -> bool:
    return bare_name(tool) in _TODO_LISTS


def _slice_of(args: object) -> tuple[str, int, int] | None:
    """The file of which a call reads a piece, and its first and last line; None where it reads no piece."""
    if not isinstance(args, Mapping):
        return None
    command = args.get("command") or args.get("cmd")
    if isinstance(command, str):
        match = _SHELL_RANGE.search(command[:_LOOKED_AT]) if "sed -n" in command else None
        return None if match is None else _piece(match[3], int(match[1]), int(match[2]))
    if _RANGES.isdisjoint(args):
        return None
    file, view = file_of(args), args.get("view_range")
    if file is None:
        return None
    if isinstance(view, list) and len(view) == 2 and all(type(line) is int for line in view):
        return _piece(file, view[0], view[1])
    start = next((args[name] for name in _STARTS if type(args.get(name)) is int), None)
    end = next((args[name] for name in _ENDS if type(args.get(name)) is int), None)
    limit = args.get("limit")
    if end is None and type(limit) is int:
        end = (start or 0) + limit
    return None if end is None else _piece(file, start or 0, end)


def _piece(file: str, first: int, last: int) -> tuple[str, int, int] | None:
    return (file, first, last) if last - first + 1 >= _FEWEST else None


def _changes_of(args: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Old and new texts of an edit, one pair or several."""
    edits = args.get("edits")
    for edit in (args, *(edits if isinstance(edits, list) else ())):
        if isinstance(edit, Mapping):
            for old_name, new_name in _OLD_AND_NEW:
                old, new = edit.get(old_name), edit.get(new_name)
                if isinstance(old, str) and isinstance(new, str):
                    yield old, new


def _lines_of(text: str) -> list[str]:
    """The lines of a text that are long enough to be known again."""
    return [line for line in map(str.strip, text.splitlines()) if len(line) >= _LEAST_LINE]
