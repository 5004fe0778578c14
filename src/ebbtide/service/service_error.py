"""Error of a service that cannot be reached, or refuses."""

from __future__ import annotations

from typing import Final

from ebbtide.errors import EbbtideError

_AGAIN: Final = frozenset({429, 502, 503, 504})  # nothing was taken


class ServiceError(EbbtideError):
    """The service cannot be reached, or refuses.

    Args:
        status: Its status code; None where no answer came.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)

    @property
    def may_repeat(self) -> bool:
        """True if the service said that it took nothing."""
        return self.status in _AGAIN

    @property
    def is_away(self) -> bool:
        """True if the same request may be taken later: no answer came, or one that says so."""
        return self.status is None or self.may_repeat
