"""A regular expression that is compiled when it is first looked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property


class LatePattern:
    r"""A regular expression that few runs need, and that takes a millisecond to compile.

    >>> pattern = LatePattern(r"\bok\b", re.IGNORECASE)
    >>> pattern.search("all OK") is not None, pattern.match("all OK") is None
    (True, True)
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The same, compiled."""
        return re.compile(self.pattern, self.flags)

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """As `re.Pattern.search`."""
        return self.compiled.search

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        """As `re.Pattern.match`."""
        return self.compiled.match
