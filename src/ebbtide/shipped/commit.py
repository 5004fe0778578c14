"""One commit of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
