"""Asks git about a repository that nobody has to trust: git runs nothing that the repository names.

A repository can name programs: hooks, a monitor of files, a pager, a program for differences or for the text
of binary files, one that checks signatures, one that fetches what is missing. Each is switched off on every
call, files of the working tree are never read (they pass filters), and variables ``GIT_*`` of the environment
are left out. Each call has a limit of time and of output.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ebbtide.errors import ConfigError

_SECONDS: Final = 120.0
_BLAME_SECONDS: Final = 20.0  # for a file
_BLAMES_SECONDS: Final = 300.0  # for all of them
_GREP_SECONDS: Final = 5.0  # somebody waits behind it
_LARGEST: Final = 512 << 20  # bytes of one answer
_TIMEOUT: Final = "git took more than {:.0f} seconds"
_SETTINGS: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.pager=cat",
    "core.sshCommand=false",
    "diff.external=",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
_PLAIN: Final = ("--no-ext-diff", "--no-textconv")
_BLAMED: Final = re.compile(rb"^\^?([0-9a-f]{40,64}) \d+ \d+ (\d+)$", re.MULTILINE)
_DEFAULTS: Final = ("main", "master", "trunk", "develop")


class GitError(ConfigError):
    """Git cannot be asked, or does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit that is not a merge.

    Args:
        hash: Its whole name.
        authored: Seconds since 1970 at which it was written first; a rebase and an amendment keep it.
        committed: Seconds since 1970 at which it was made.
        added: Lines that it adds, by file; a binary file has 0.
    """

    hash: str
    authored: float
    committed: float
    title: str
    body: str = ""
    added: Mapping[str, int] = field(default_factory=dict)


class Repository:
    """A repository of git, which is only read.

    Args:
        path: A folder in it, or the repository itself.

    Raises:
        GitError: There is none, git is not installed, or git refuses to read it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed, or not on the path: --repo and --git ask it")
        self._program = os.path.abspath(program)  # noqa: PTH100 - a link keeps its name
        self.path = os.fspath(path)
        if not Path(self.path).is_dir():
            raise GitError(f"{self.path}: no such folder")
        self._blame_left = _BLAMES_SECONDS
        self._ask("rev-parse", "--git-dir")

    def roots(self) -> tuple[str, ...]:
        """Returns the folders of its working trees."""
        lines = self._ask("worktree", "list", "--porcelain", "-z").split("\0")
        return tuple(line[9:].rstrip("/") for line in lines if line.startswith("worktree "))

    def default_tips(self) -> tuple[str, ...]:
        """Returns the names of the default branch: of the remote, and the local one of the same name.

        Where neither the remote nor a usual name tells, the branch that is checked out is the default one.
        """
        refs = set(self._ask("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").split("\n"))
        stated = self._ask("rev-parse", "--symbolic-full-name", "refs/remotes/origin/HEAD", missing=True)
        name = stated.strip().removeprefix("refs/remotes/origin/")
        for branch in (name, *_DEFAULTS) if name and name != "HEAD" else _DEFAULTS:
            tips = [ref for ref in (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}") if ref in refs]
            if tips:
                return tuple(tips)
        head = self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", missing=True).strip()
        return (head,) if head else ()

    def newest(self, tips: Sequence[str]) -> str:
        """Returns the tip that holds all others, else the first."""
        for tip in tips:
            others = [f"^{tip}", *(other for other in tips if other != tip)]
            if not self._ask("rev-list", "--max-count=1", *others, "--").strip():
                return tip
        return tips[0]

    def reachable(self, tips: Sequence[str], since: float | None) -> set[str]:
        """Returns the commits of some branches, without merges.

        Args:
            since: Seconds since 1970; commits that were made before are left out.
        """
        return set(self._ask("rev-list", "--no-merges", *_since(since), *tips, "--").split())

    def between(self, old: str, new: str) -> set[str]:
        """Returns the commits that `new` has and `old` has not, without merges; none where one is absent."""
        return set(self._ask("rev-list", "--no-merges", new, f"^{old}", "--", missing=True).split())

    def everywhere(self, since: float | None) -> set[str]:
        """Returns the commits of all branches and tags, without merges; as for `reachable`."""
        return self.reachable(["--branches", "--remotes", "--tags"], since)

    def whole_hashes(self, prefixes: Iterable[str]) -> dict[str, str]:
        """Returns the commits that are here by the beginnings of their hashes, reachable or not.

        Args:
            prefixes: Hexadecimal numbers.
        """
        names = list(prefixes)
        asked = "".join(f"{name}^{{commit}}\n" for name in names).encode()
        answer = self._ask("cat-file", "--batch-check=%(objectname) %(objecttype)", given=asked)
        lines = (line.split(" ") for line in answer.splitlines())
        return {
            name: line[0]
            for name, line in zip(names, lines, strict=False)
            if len(line) == 2 and line[1] == "commit"
        }

    def commits(self, hashes: Iterable[str]) -> Iterator[Commit]:
        """Yields commits with their files; merges are left out."""
        mark = secrets.token_hex(16)
        form = f"--format={mark}%H%x00%P%x00%at%x00%ct%x00%s%x00%b%x00"
        given = "".join(f"{name}\n" for name in hashes).encode()
        options = ("--stdin", "--root", "-r", "-z", "-M", "--numstat", *_PLAIN)
        answer = self._ask("diff-tree", "--encoding=UTF-8", form, *options, given=given) if given else ""
        for part in answer.split(mark)[1:]:
            name, parents, authored, committed, title, body, *rest = part.split("\0")
            if " " not in parents:
                yield Commit(
                    hash=name,
                    authored=float(authored or 0),
                    committed=float(committed or 0),
                    title=title,
                    body=body,
                    added=dict(_added(rest)),
                )

    def added_lines(self, name: str) -> set[str]:
        """Returns the different lines that a commit adds, without white space around them."""
        options = ("--root", "-r", "-p", "-U0", "--no-commit-id", "--no-color", *_PLAIN)
        added, is_inside = set(), False
        for line in self._ask("diff-tree", *options, name).split("\n"):
            if line.startswith("@@"):
                is_inside = True
            elif line.startswith("diff "):
                is_inside = False
            elif is_inside and line.startswith("+"):
                added.add(line[1:].strip())
        return added - {""}

    def renamed(self, name: str, tip: str) -> dict[str, str]:
        """Returns the names that files of a commit have at a later one, where they have others."""
        options = ("-r", "-z", "-M", "--diff-filter=R", "--name-status", *_PLAIN)
        parts = self._ask("diff-tree", *options, name, tip).split("\0")
        return dict(zip(parts[1::3], parts[2::3], strict=False))

    def files(self, tip: str) -> set[str]:
        """Returns the files of a commit."""
        return set(self._ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", tip).split("\0"))

    def refs(self, *patterns: str) -> list[str]:
        """Returns the names of the refs that match some patterns or lie below them."""
        return self._ask("for-each-ref", "--format=%(refname)", *patterns).split()

    def state(self) -> str:
        """Returns a text that changes when a branch or a tag does, or another commit is checked out."""
        head = self._ask("rev-parse", "--verify", "--quiet", "HEAD", missing=True)
        return head + self._ask("for-each-ref", "--format=%(objectname) %(refname)")

    def words_here(self, words: Sequence[str]) -> set[str]:
        """Returns those of some words that files of the commit that is checked out have, in lower case.

        Pages of words do not count: they may tell why something is not there.

        Args:
            words: Each is looked for as a whole word, whatever its case.

        Raises:
            GitError: Git cannot say, as where there is no commit.
        """
        patterns = [part for word in words for part in ("-e", word)]
        options = ("-I", "-h", "-o", "-w", "-i", "-F", "--no-color", "--no-textconv", "--full-name")
        out = (":(top)", ":(top,exclude,icase)*.md", ":(top,exclude,icase)*.rst")
        self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not words:
            return set()
        line = ["grep", *options, *patterns, "HEAD", "--", *out]
        answer = self._run(line, seconds=_GREP_SECONDS, none=1).decode("utf-8", "surrogateescape")
        return {line.lower() for line in answer.splitlines()}

    def blobs(self, tip: str) -> dict[str, str]:
        """Returns the objects of the files of a commit by their paths."""
        rows = self._ask("ls-tree", "-r", "-z", "--full-tree", tip).split("\0")
        parts = (row.partition("\t") for row in rows)
        return {path: head.split()[2] for head, _, path in parts if path}

    def blob(self, name: str) -> bytes:
        """Returns the content of an object.

        Raises:
            GitError: The object is not in this clone.
        """
        return self._run(["cat-file", "blob", name])

    def lines_by_commit(self, tip: str, path: str, since: float | None) -> Mapping[str, int] | None:
        """Returns how many lines of a file each commit wrote last; None where git cannot say.

        Args:
            tip: At which commit.
            since: Seconds since 1970; who wrote older lines is not asked.
        """
        options = ("blame", "--incremental", "--no-progress", "--no-textconv", *_since(since))
        if self._blame_left <= 0:
            return None
        start = time.monotonic()
        try:
            answer = self._run([*options, tip, "--", path], seconds=min(_BLAME_SECONDS, self._blame_left))
        except GitError:
            return None
        finally:
            self._blame_left -= time.monotonic() - start
        counts: dict[str, int] = {}
        for match in _BLAMED.finditer(answer):
            name = match[1].decode()
            counts[name] = counts.get(name, 0) + int(match[2])
        return counts

    def _ask(self, *arguments: str, given: bytes = b"", missing: bool = False) -> str:
        answer = self._run(list(arguments), given=given, missing=missing)
        return answer.decode("utf-8", "surrogateescape")

    def _run(
        self,
        arguments: list[str],
        *,
        given: bytes = b"",
        seconds: float = _SECONDS,
        missing: bool = False,
        none: int | None = None,
    ) -> bytes:
        """Runs git.

        Args:
            seconds: For how long.
            missing: Whether a failure means that there is nothing.
            none: The exit code that says so; None where none does.

        Raises:
            GitError: Git fails, or takes too long.
        """
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = [self._program, "--no-pager", "--no-optional-locks", *settings, *arguments]
        with tempfile.TemporaryFile() as questions, tempfile.TemporaryFile() as answers:
            questions.write(given)
            questions.seek(0)
            try:
                process = subprocess.run(  # noqa: S603 - git, with words that are no options
                    command,
                    cwd=self.path,
                    env=_environment(),
                    stdin=questions,
                    stdout=answers,
                    stderr=subprocess.PIPE,
                    timeout=seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise GitError(f"{self.path}: {_TIMEOUT.format(seconds)}: {arguments[0]}") from error
            except OSError as error:
                raise GitError(f"{self.path}: git cannot be run: {error.strerror or error}") from error
            if process.returncode:
                if missing or process.returncode == none:
                    return b""
                reason = process.stderr.decode("utf-8", "replace").strip() or f"exit {process.returncode}"
                raise GitError(f"{self.path}: {reason}")
            if answers.tell() > _LARGEST:
                raise GitError(f"{self.path}: git {arguments[0]} answers with more than {_LARGEST:,} bytes")
            answers.seek(0)
            return answers.read()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    return {**kept, **_ENVIRONMENT}


def _since(since: float | None) -> list[str]:
    return [] if since is None else [f"--since=@{max(0, int(since))}"]


def _added(parts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yields the files of a commit with the lines that it adds: a renamed file has its two names after it."""
    rest = iter(parts)
    for part in rest:
        numbers = part.lstrip("\n").split("\t", 2)
        if len(numbers) != 3:
            continue
        path = numbers[2]
        if not path:
            next(rest, "")
            path = next(rest, "")
        yield path, int(numbers[0]) if numbers[0].isdigit() else 0
