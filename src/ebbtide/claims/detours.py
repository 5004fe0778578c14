"""Changes of a run that were undone again, so that what ran between them was run on another state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ebbtide.claims.changes import FileEdit, is_unstaging, suffix_of
from ebbtide.events.shell_words import SimpleCommand

#: Path of a detour that undid the edits of every file.
EVERY_FILE: Final = "*"
_FILES, _DEEP = 400, 8  # of which edits are remembered, and how many of each
_CHANGING: Final = frozenset({"sed", "gsed", "perl", "cp", "mv", "git", "python", "python3", "patch"})


class Detour(NamedTuple):
    """One change that was undone.

    Args:
        first: Number of the event that changed something.
        last: Number of the event that undid it.
        path: The file; `EVERY_FILE` for all of them, and empty where no edit was undone for good.
    """

    first: int
    last: int
    path: str = ""

    def holds(self, event: int) -> bool:
        """Returns True if an event lies between the change and its end."""
        return self.first < event < self.last


class UndoneEdits:
    """Finds edits that take back the edit before them of the same file."""

    def __init__(self) -> None:
        self._open: dict[str, list[tuple[int, tuple[int, int]]]] = {}

    def see(self, edit: FileEdit) -> Detour | None:
        """Take one more edit; returns the detour that it ends."""
        if edit.texts is None:
            self._open.pop(edit.path, None)
            return None
        if edit.path not in self._open and len(self._open) >= _FILES:
            self._open.pop(next(iter(self._open)))
        before = self._open.setdefault(edit.path, [])
        if before and before[-1][1] == edit.texts[::-1]:
            return Detour(before.pop()[0], edit.event, edit.path)
        before.append((edit.event, edit.texts))
        del before[:-_DEEP]
        return None


def restored_paths(commands: Sequence[SimpleCommand]) -> Iterator[str]:
    """Yields the files that git puts back as they were committed last.

    >>> from ebbtide.claims.check_runs import commands_of
    >>> list(restored_paths(commands_of("git checkout -- a.py; git checkout next; git reset --hard")))
    ['a.py', '*']
    """
    for command in commands:
        head, *rest = command.words
        if head != "git":
            continue
        plain = [word for word in rest if not word.startswith("-")]
        if plain[:1] == ["reset"] and "--hard" in rest and plain[1:] in ([], ["HEAD"]):
            yield EVERY_FILE
        elif plain[:1] == ["checkout"]:
            named = rest[rest.index("--") + 1 :] if "--" in rest else plain[1:]
            if "--" in rest and plain[1 : len(plain) - len(named)] not in ([], ["HEAD"]):
                continue  # of another commit
            yield from _files_of(named)
        elif plain[:1] == ["restore"] and not is_unstaging(rest) and not _has_source(rest):
            yield from _files_of(plain[1:])


def _has_source(words: Sequence[str]) -> bool:
    return any(word.startswith(("--source", "-s")) for word in words)


def _files_of(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word in {".", "./", ":/"}:
            yield EVERY_FILE
        elif suffix_of(word):
            yield word


def stashing(commands: Sequence[SimpleCommand]) -> bool | None:
    """Returns True if a line leaves changes put away, False if it takes them back, and None if neither.

    >>> from ebbtide.claims.check_runs import commands_of
    >>> stashing(commands_of("git stash")), stashing(commands_of("git stash && git stash pop"))
    (True, False)
    """
    found = None
    for command in commands:
        words = command.words
        if words[0] == "git" and words[1:2] == ["stash"]:
            verb = words[2] if len(words) > 2 else "push"
            if verb in {"pop", "apply"}:
                found = False
            elif verb in {"push", "save"} or verb.startswith("-"):
                found = True
    return found


def is_round_trip(commands: Sequence[SimpleCommand]) -> bool:
    """Returns True if a line changes something, does more, and undoes the change at its end.

    >>> from ebbtide.claims.check_runs import commands_of
    >>> is_round_trip(commands_of("git stash && pytest; git stash pop")), is_round_trip(commands_of("pytest"))
    (True, False)
    """
    if len(commands) < 3 or commands[0].words[0] not in _CHANGING | {"cd"}:
        return False
    begun = next((place for place, command in enumerate(commands) if _changes(command)), None)
    if begun is None:
        return False
    behind = commands[begun + 2 :]
    if commands[begun].words[:2] == ["git", "stash"]:
        return stashing(behind) is False
    if commands[begun].words[0] == "git":
        return any(_switches(command) for command in behind)
    return any(_switches(command) or command.words[0] in {"cp", "mv"} for command in behind)


def _changes(command: SimpleCommand) -> bool:
    head, *rest = command.words
    if head == "git":
        return _switches(command) or rest[:1] == ["stash"]
    if head in {"sed", "gsed", "perl"}:
        return any(word.startswith(("-i", "-pi")) for word in rest)
    return head in _CHANGING


def _switches(command: SimpleCommand) -> bool:
    """Returns True if git puts another state of files in place, and makes no branch."""
    head, *rest = command.words
    is_new = not {"-b", "-B", "-c", "-C", "--orphan"}.isdisjoint(rest)
    return head == "git" and rest[:1] in (["checkout"], ["switch"], ["restore"], ["reset"]) and not is_new
