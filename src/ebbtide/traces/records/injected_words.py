"""What a harness says in the name of the person."""

from __future__ import annotations

import re

_INJECTED = re.compile(
    r"\s*<(?:local-command-(?:stdout|stderr|caveat)|bash-std(?:out|err)|task-notification|system-reminder)>"
)


def is_injected(text: str) -> bool:
    """Whether a message of the person was put in by the harness."""
    return _INJECTED.match(text) is not None
