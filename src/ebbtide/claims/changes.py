"""Changes that calls make: edits of files, deletions, and what git and gh did."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from ebbtide.claims.check_tools import CODE
from ebbtide.events.shell_words import SimpleCommand

_PATHS: Final = tuple("file_path path filePath notebook_path filename target_file file absolute_path".split())
_TEXTS: Final = tuple("content new_string new_str file_text newString new_source insert_text edits".split())
_OLD: Final = ("old_string", "old_str", "oldString")
_PATCHES: Final = ("patch", "input", "patchText", "diff")
_TELLING: Final = frozenset((*_TEXTS, *_PATCHES))
_PATCHED: Final = re.compile(
    r"^\*\*\* (Add|Update|Delete) File: (.{1,300})$|^\*\*\* Move to: (.{1,300})$", re.MULTILINE
)
_REDIRECTED: Final = re.compile(r"(?<![\d&<>-])>{1,2}\s*([\w./~@+-]{1,200}\.\w{1,10})\b")
#: Scripts on a command line that write a file, by its name or by a variable that has it.
_WRITES: Final = re.compile(r"open\(|write_text\(|writeFileSync\(|Set-Content|Out-File")
_NAMED_PATH: Final = re.compile(r"\b(\w{1,40}) ?= ?(?:Path\()?['\"]([\w./~@\\:+-]{1,200}\.\w{1,10})['\"]")
_WRITTEN: Final = re.compile(
    r"(?:open|writeFileSync|Path)\( ?(?:['\"]([\w./~@\\:+-]{1,200}\.\w{1,10})['\"]|(\w{1,40})) ?"
    r"(?:, ?['\"][wax]|, ?(?!['\"][rb])(?=\w{1,40}\))|\)\.write_text)|\b(\w{1,40})\.write_text\("
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*|--|<!--|\"\"\"|'''|%|;)")
#: Comment at the end of a line that has no quotation in it.
_ENDING: Final = re.compile(r"^([^\"'`\n]*?\S)\s+(?:#|//) .*$")
_COMMITTED: Final = re.compile(
    r"^\[[^\]\n]{1,120}? ([0-9a-f]{7,40}|\S{0,40}REDACTED\S{0,40})\]", re.MULTILINE
)
_MADE: Final = re.compile(
    r"^\[([^\]\n]{1,120}?) (?:\(root-commit\) )?([0-9a-f]{7,40}|\S{0,40}REDACTED\S{0,40})\] ([^\n]{1,400})",
    re.MULTILINE,
)
_NAMED: Final = re.compile(r"^([0-9a-f]{7,40})(?: [^\n]{0,400})?$", re.MULTILINE)
_FILES: Final = re.compile(r"^(?:ok )?\W{0,9}(\d{1,6}) files? changed", re.MULTILINE)
_PUSHED: Final = re.compile(
    r"^[ +*=]*(?:[0-9a-f]{6,40}\.{2,3}[0-9a-f]{6,40}|\[new (?:branch|tag)\]"
    r"|\[up to date\]) [^\n]{0,200}->[^\n]{0,200}"
    r"|^(?:Branch|branch) '[^']{1,200}' set up to track [^\n]{0,200}|^Everything up-to-date",
    re.MULTILINE,
)
_REFUSED: Final = re.compile(
    r"^ ! \[(?:remote )?rejected\][^\n]{0,200}|^(?:error|fatal): [^\n]{0,200}"
    r"|^remote: (?:error|fatal)[^\n]{0,200}",
    re.MULTILINE,
)
_NOTHING: Final = re.compile(
    r"^(?:nothing (?:added )?to commit|no changes added to commit)[^\n]{0,100}", re.MULTILINE
)
_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>)\]]{1,200}/(?:pull|issues|merge_requests|pulls)/(\d{1,8})")
_OPENING: Final = re.compile(r"create_?(?:pull_?request|issue|merge_?request|pr)\b", re.IGNORECASE)
_LINE: Final = 200
_SMALL: Final = 4_000  # characters of an edit that may be one of comments alone


class Act(StrEnum):
    """Kinds of acts."""

    COMMIT = "commit"
    PUSH = "push"
    OPEN = "open"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class PrintedCommit:
    """One commit as git printed it.

    Args:
        hash: Its hash, or the beginning of it; empty where it is masked.
        title: The first line of its message; empty where only the hash was printed.
        branch: The branch that it was made on; empty where that was not printed.
    """

    hash: str
    title: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class ActFact:
    """One act with what was printed.

    Args:
        event: Number of its event.
        ok: True if it was done; None where the record does not show it.
        line: The line that says so.
        subject: The hash of a commit, the number of a pull request, or a path.
        files: Number of files in a commit; None where it is not printed.
        is_amended: True if it took the place of the commit before it.
    """

    event: int
    act: Act
    ok: bool | None
    line: str = ""
    subject: str = ""
    files: int | None = None
    is_amended: bool = False
    commits: tuple[PrintedCommit, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One change of a file.

    Args:
        event: Number of its event.
        is_deletion: True if it is gone after it.
        is_cosmetic: True if nothing but comments or white space changed.
        texts: Sums of the replaced and of the new text; None where they are not told.
    """

    event: int
    path: str
    is_deletion: bool = False
    is_cosmetic: bool = False
    texts: tuple[int, int] | None = None


def is_unstaging(words: Sequence[str]) -> bool:
    """Returns True if words of `git restore` leave the files themselves as they are."""
    return not {"--staged", "-S"}.isdisjoint(words) and {"--worktree", "-W"}.isdisjoint(words)


def suffix_of(path: str) -> str:
    """Returns the suffix of a file in small letters, without its dot; empty if it has none."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


def edits_of(args: Mapping[str, object] | str, event: int) -> Iterator[FileEdit]:
    """Yields the edits that a call of an editing tool makes, by its arguments."""
    if isinstance(args, str):
        yield from _patched(args, event)
        return
    if _TELLING.isdisjoint(args):
        return
    for key in _PATCHES:
        text = args.get(key)
        if isinstance(text, str) and "*** Begin Patch" in text[:200]:
            yield from _patched(text, event)
            return
    path = next((args[key] for key in _PATHS if isinstance(args.get(key), str)), None)
    if isinstance(path, str) and any(key in args for key in _TEXTS):
        old, new = _replaced(args)
        is_cosmetic = suffix_of(path) in CODE and _is_cosmetic(old, new)
        texts = None if old is None or new is None else (zlib.crc32(old.encode()), zlib.crc32(new.encode()))
        yield FileEdit(event, path, is_cosmetic=is_cosmetic, texts=texts)


def shell_edits(text: str, commands: list[SimpleCommand], event: int) -> Iterator[FileEdit]:
    """Yields the edits that a command makes, as far as its words name the files."""
    if "*** Begin Patch" in text:
        yield from _patched(text, event)
        return
    folder = ""
    for command in commands:
        head, *rest = command.words
        plain = [word for word in rest if not word.startswith("-")]
        if head == "cd" and len(plain) == 1:
            folder = _within(folder, plain[0])
            continue
        verb = plain.pop(0) if head == "git" and plain else ""
        named = [_within(folder, word) for word in plain] if folder else plain
        if (
            head in {"sed", "perl", "gsed"} and any(word.startswith(("-i", "-pi")) for word in rest)
        ) or head == "tee":
            yield from (FileEdit(event, word) for word in named if suffix_of(word).isalnum())
        elif (head in {"cp", "mv"} or verb == "mv") and len(named) > 1:
            yield FileEdit(event, named[-1])
            if head != "cp":
                yield from (FileEdit(event, word, is_deletion=True) for word in named[:-1])
        elif head in {"rm", "unlink", "trash"} or (verb == "rm" and "--cached" not in rest):
            yield from (FileEdit(event, word, is_deletion=True) for word in named)
        elif (verb == "restore" and not is_unstaging(rest)) or (verb == "checkout" and "--" in rest):
            yield from (FileEdit(event, word) for word in named if "." in word)
    if _WRITES.search(text) is not None:
        names = {match[1]: match[2] for match in _NAMED_PATH.finditer(text[:6_000])}
        for match in _WRITTEN.finditer(text[:6_000]):
            path = match[1] or names.get(match[2] or match[3] or "")
            if path is not None:
                yield FileEdit(event, path)
    if ">" in text:
        yield from (FileEdit(event, match[1]) for match in _REDIRECTED.finditer(text[:6_000]))


def _within(folder: str, path: str) -> str:
    """Returns a path that a command names after it went to a folder."""
    if not folder or path.startswith(("/", "~", "$")):
        return path
    return f"{folder.rstrip('/')}/{path.removeprefix('./')}"


def acts_of(
    commands: list[SimpleCommand], result: str | None, event: int, *, has_failed: bool
) -> Iterator[ActFact]:
    """Yields the commits, pushes and openings that a command makes, with what was printed of them."""
    for command in commands:
        words = [word for word in command.words if word != "-C"]
        head, *rest = words
        if head == "git":
            names = [word for word in rest if word in {"commit", "push", "merge", "cherry-pick", "revert"}]
            first = next((word for word in rest if not word.startswith("-") and "/" not in word), "")
            if names and first == names[0] and "--dry-run" not in rest:
                if first == "push":
                    yield _push(result, event, has_failed=has_failed)
                elif not (first == "merge" and "--abort" in rest):
                    fact = commit_of(
                        result, event, has_failed=has_failed, quiet=first != "commit" or _is_quiet(rest)
                    )
                    yield replace(fact, is_amended="--amend" in rest, commits=_printed(fact, result))
        elif head in {"gh", "glab", "hub"} and rest[1:2] and rest[1] in {"create", "new"}:
            yield _opening(result, event, has_failed=has_failed)


def opened_by_tool(name: str, result: str, event: int, *, has_failed: bool) -> ActFact | None:
    """Returns the opening of a pull request or an issue by a tool of its own; None if it is none."""
    if "create" not in name.lower() or not _OPENING.search(name):
        return None
    match = _ADDRESS.search(result)
    return ActFact(event, Act.OPEN, not has_failed, result[:_LINE], match[1] if match else "")


def _is_quiet(words: list[str]) -> bool:
    return any(word == "--quiet" or (word[:1] == "-" and word[1:2] != "-" and "q" in word) for word in words)


def _patched(text: str, event: int) -> Iterator[FileEdit]:
    for match in _PATCHED.finditer(text):
        path = (match[2] or match[3]).strip()
        yield FileEdit(event, path, is_deletion=match[1] == "Delete")


def _replaced(args: Mapping[str, object]) -> tuple[str | None, str | None]:
    """Returns the text that an edit replaces, and the new one; None where it is not told."""
    old = next((args[key] for key in _OLD if isinstance(args.get(key), str)), None)
    new = next((args[key] for key in _TEXTS if isinstance(args.get(key), str)), None)
    return old if isinstance(old, str) else None, new if isinstance(new, str) else None


def _is_cosmetic(old: str | None, new: str | None) -> bool:
    if old is None or new is None or len(old) + len(new) > _SMALL:
        return False
    if "".join(old.split()) == "".join(new.split()):
        return True
    before, after = set(old.splitlines()), set(new.splitlines())
    changed = before ^ after
    for line in changed:
        if "//" not in line and " #" not in line and line.strip() and not _COMMENT.match(line):
            return False  # most edits end here
    return _code_lines(changed - after) == _code_lines(changed - before)


def _code_lines(lines: set[str]) -> set[str]:
    """Returns the lines that are no comments, without the comments at their ends."""
    bare = (_ENDING.sub(r"\1", line).rstrip() for line in lines if not _COMMENT.match(line))
    return {line for line in bare if line}


def _push(result: str | None, event: int, *, has_failed: bool) -> ActFact:
    if result is None:
        return ActFact(event, Act.PUSH, None)
    done, refused = _PUSHED.search(result), _REFUSED.search(result)
    if done is not None:
        return ActFact(event, Act.PUSH, ok=True, line=done[0].strip()[:_LINE])
    if refused is not None:
        return ActFact(event, Act.PUSH, ok=False, line=refused[0].strip()[:_LINE])
    return ActFact(event, Act.PUSH, None if has_failed else True, result.strip()[:_LINE])


def commit_of(result: str | None, event: int, *, has_failed: bool, quiet: bool) -> ActFact:
    """Returns a commit, by what was printed of it; its result is None where that was not recorded."""
    if result is None:
        return ActFact(event, Act.COMMIT, None)
    done = list(_COMMITTED.finditer(result))
    counts = _FILES.findall(result)
    files = int(counts[-1]) if counts else None
    if done or (files is not None and not has_failed):
        line = done[-1][0] if done else f"{files} file{'s' * (files != 1)} changed"
        return ActFact(
            event, Act.COMMIT, ok=True, line=line, subject=done[-1][1] if done else "", files=files
        )
    nothing = _NOTHING.search(result)
    if nothing is not None:
        return ActFact(event, Act.COMMIT, None, nothing[0])
    if has_failed:
        refused = _REFUSED.search(result)
        return ActFact(
            event, Act.COMMIT, ok=False, line=refused[0][:_LINE] if refused else result.strip()[-_LINE:]
        )
    return ActFact(event, Act.COMMIT, True if quiet else None, result.strip()[:_LINE])


def _printed(fact: ActFact, result: str | None) -> tuple[PrintedCommit, ...]:
    """The commits that a call printed; of a quiet one the hash that another command of the call printed."""
    if result is None or fact.ok is False:
        return ()
    made = [
        PrintedCommit("" if "REDACTED" in match[2] else match[2], match[3].strip(), match[1].split()[0])
        for match in _MADE.finditer(result)
    ]
    named = _NAMED.search(result) if fact.ok and not made else None
    return tuple(made) if named is None else (PrintedCommit(named[1]),)


def _opening(result: str | None, event: int, *, has_failed: bool) -> ActFact:
    if result is None:
        return ActFact(event, Act.OPEN, None)
    match = _ADDRESS.search(result)
    if match is not None and not has_failed:
        return ActFact(event, Act.OPEN, ok=True, line=match[0], subject=match[1])
    return ActFact(event, Act.OPEN, False if has_failed else None, result.strip()[:_LINE])
