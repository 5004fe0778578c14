"""Sessions that Entire keeps in a repository of git, beside the code: one folder a checkpoint.

A checkpoint has a folder for each of its sessions, numbered from 0, with the transcript up to that commit and
the id of the session; transcripts of sub-agents stand beside them. Checkpoints lie together on one branch, or
each under a ref of its own. Source: ``docs/architecture/sessions-and-checkpoints.md`` of entireio/cli.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ebbtide.shipped.git import GitError, Repository

_REFS: Final = (
    "refs/heads/entire/checkpoints/v1",
    "refs/remotes/*/entire/checkpoints/v1",
    "refs/entire/checkpoints",
)
_TRANSCRIPT: Final = re.compile(r"(?P<folder>.*/|)(?P<session>\d+)/full\.jsonl(?:\.(?P<part>\d+))?")
_AGENT: Final = re.compile(r"(?P<folder>.*/|)(?:\d+/)?tasks/[^/]+/(?P<name>agent-[\w.-]+\.jsonl)")
_UNSAFE: Final = re.compile(r"[^\w.-]")


class _Metadata(msgspec.Struct):
    session_id: str
    created_at: str = ""


class _Checkpoint(NamedTuple):
    """One session as a checkpoint has it: the objects of its transcript, and those of its sub-agents."""

    created: str
    parts: tuple[str, ...]
    agents: Mapping[str, str]


def write_sessions(repository: Repository, folder: Path) -> list[Path]:
    """Writes each session of a repository's checkpoints into a folder, as its newest checkpoint has it.

    A file that has the same transcript already is left as it is, so that what was read from it stays known.

    Args:
        folder: Made if it is not there; files of sessions that are not in the repository are deleted. A file
            of its name beside it says what each was written from.

    Returns:
        The files of the sessions; those of sub-agents are beside them, as the agents write them.

    Raises:
        GitError: The repository has no checkpoints, or none of their transcripts is in this clone.
        OSError: The folder cannot be written.
    """
    newest = _newest(repository)
    if not newest:
        raise GitError(
            f"{repository.path}: no sessions in it: neither a branch entire/checkpoints/v1 nor "
            "refs/entire/checkpoints. Fetch the branch: "
            "git fetch origin entire/checkpoints/v1:entire/checkpoints/v1"
        )
    index = folder.with_name(f"{folder.name}.json")
    known = _known(index)
    kept: dict[Path, str] = {}
    sessions, missing = [], 0

    def write(file: Path, parts: tuple[str, ...]) -> Path:
        wanted = " ".join(parts)
        if known.get(str(file)) != wanted or not file.exists():
            _write(repository, file, parts)
        kept[file] = wanted
        return file

    for session, checkpoint in newest.items():
        try:
            sessions.append(write(folder / f"{session}.jsonl", checkpoint.parts))
        except GitError:
            missing += 1
            continue
        for name, blob in checkpoint.agents.items():
            with suppress(GitError):  # a clone may lack an agent's transcript and have its session's
                write(folder / session / "subagents" / name, (blob,))
    if not sessions:
        raise GitError(
            f"{repository.path}: none of {missing} transcripts is in this clone. Fetch them: "
            "git fetch --refetch --no-filter origin entire/checkpoints/v1"
        )
    for file in {*folder.rglob("*.jsonl")} - kept.keys():
        file.unlink()
    index.write_bytes(msgspec.json.encode({str(file): parts for file, parts in kept.items()}))
    return sessions


def _newest(repository: Repository) -> dict[str, _Checkpoint]:
    """Returns the newest checkpoint of each session, by the session's id."""
    newest: dict[str, _Checkpoint] = {}
    for ref in repository.refs(*_REFS):
        blobs = repository.blobs(ref)
        agents: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for path, blob in blobs.items():
            if match := _AGENT.fullmatch(path):
                agents[match["folder"]][match["name"]] = blob
        for folder, session, parts in _transcripts(blobs):
            metadata = _metadata(repository, blobs.get(f"{folder}{session}/metadata.json"))
            if metadata is None:
                continue
            name = _UNSAFE.sub("_", metadata.session_id).lstrip(".") or "session"
            known = newest.get(name)
            if known is None or known.created < metadata.created_at:
                below = {**agents[folder], **agents[f"{folder}{session}/"]}
                newest[name] = _Checkpoint(metadata.created_at, parts, below)
    return newest


def _transcripts(blobs: Mapping[str, str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yields the folder of each checkpoint, the number of a session, and the parts of its transcript."""
    parts: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for path, blob in blobs.items():
        if match := _TRANSCRIPT.fullmatch(path):
            parts[match["folder"], match["session"]][int(match["part"] or 0)] = blob
    for (folder, session), numbered in parts.items():
        yield folder, session, tuple(blob for _, blob in sorted(numbered.items()))


def _metadata(repository: Repository, blob: str | None) -> _Metadata | None:
    if blob is None:
        return None
    try:
        return msgspec.json.decode(repository.blob(blob), type=_Metadata)
    except (GitError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _known(index: Path) -> dict[str, str]:
    """Returns the parts that each file was written from; nothing if no index can be read."""
    try:
        return msgspec.json.decode(index.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _write(repository: Repository, file: Path, parts: tuple[str, ...]) -> None:
    texts = [repository.blob(part) for part in parts]
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        for text in texts:
            out.write(text if text.endswith(b"\n") else text + b"\n")
