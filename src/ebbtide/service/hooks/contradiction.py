"""Edits of a session held against what decisions of its project ruled out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from ebbtide.clock import calendar_seconds
from ebbtide.decisions.contradictions.added_text import EditText, count_of, edits_in
from ebbtide.decisions.contradictions.rejected_names import RejectedName
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import MARK
from ebbtide.text.redaction import redact

EDITORS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_LONGEST: Final = 200  # characters of a decision
_LARGEST: Final = 1 << 20  # bytes of a file that is looked at


class RulingDecision(NamedTuple):
    """A decision that holds, and that ruled out a name.

    Args:
        at: When, in seconds since 1970; None where that is not known.
    """

    id: str
    text: str
    by: str
    by_person: bool
    at: float | None
    names: tuple[RejectedName, ...]


class Contradiction(NamedTuple):
    """One name that an edit adds, and the decision that ruled it out."""

    decision: RulingDecision
    name: RejectedName
    path: str

    @property
    def note(self) -> str:
        """For the model, in one sentence."""
        at = calendar_seconds(self.decision.at)
        when = "" if at is None else f" of {datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
        words = redact(" ".join(self.decision.text.split()))
        words = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3].rstrip()}..."
        return (
            f"{MARK}The edit of {PurePath(self.path).name} adds {self.name.text}, which a decision{when} by "
            f"{self.decision.by} ruled out ({self.decision.id}): “{words}”; keep to it, or ask the person "
            "whether it still holds."
        )

    @property
    def message(self) -> str:
        """For the person."""
        what = f"adds {self.name.text}, which decision {self.decision.id} ruled out"
        return f"{MARK}The model was told that its edit {what}."


def contradictions(calls: Iterable[ToolCall], decisions: Sequence[RulingDecision]) -> Iterable[Contradiction]:
    """Yields the names that edits add and decisions ruled out, in the order of the decisions of each edit."""
    if not decisions:
        return
    for call in calls:
        if call.error or call.name not in EDITORS or not isinstance(call.args, Mapping):
            continue
        for edit in edits_in(call.args):
            lowered = edit.added.lower()
            for decision in decisions:
                for name in decision.names:
                    if name.text.lower() in lowered and edit.adds(name) and not _had_before(edit, name):
                        yield Contradiction(decision, name, edit.path)


def _had_before(edit: EditText, name: RejectedName) -> bool:
    """Returns True if the file had a name beside the edit; what a whole file had before is not known."""
    if edit.is_whole:
        return False
    path = Path(edit.path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size <= _LARGEST else ""
    except OSError:
        return False
    return count_of(name, text) > count_of(name, edit.added)
