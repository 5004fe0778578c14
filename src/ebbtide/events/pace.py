"""Pace of a call: how long it rests before it looks, how long it may take, and what it says about itself.

None of it is what the call asks: a look after two minutes is the look after three. A sleep at the begin or at
the end of a command is a pause of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Arguments that say how long a look may take, and words about it for people.
_FIELDS: Final = frozenset(
    "timeout timeout_ms timeoutMs timeout_s timeout_seconds block wait_up_to delay yield_time_ms max_wait "
    "max_output_tokens description justification explanation".split()
)
#: Those that no command depends on.
COMMENTS: Final = frozenset("description justification explanation".split())
_NAP: Final = r"(?:sleep[ \t]{1,4}[\d.]{1,8}[smhd]?|Start-Sleep(?:[ \t]{1,4}-\w{1,12})?[ \t]{1,4}\d{1,6})"
_END: Final = r"[ \t]{0,4}(?:;|&&|\n)\s{0,9}"
_PAUSE: Final = re.compile(rf"\b{_NAP}{_END}|{_END}{_NAP}\s{{0,9}}\Z")
_TIME: Final = re.compile(r"\b(?:sleep|Start-Sleep)\b[^\d\n;]{1,20}(\d{1,6}(?:\.\d{1,3})?)([smhd]?)\b")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


def without_pace(args: object, command: str | None) -> object:
    """Returns the arguments of a look without its pace: those that make it what it is.

    Args:
        args: The arguments.
        command: The one that holds a shell command.

    >>> without_pace({"cmd": "sleep 120; gh run view 7", "timeout_ms": 9}, "cmd")
    {'cmd': 'gh run view 7'}
    """
    if not isinstance(args, Mapping):
        return _PAUSE.sub("", args) if isinstance(args, str) else args
    kept = {name: value for name, value in args.items() if name not in _FIELDS}
    if command is not None and isinstance(text := kept.get(command), str):
        kept[command] = _PAUSE.sub("", text)
    return kept or args


def pause_s(text: str) -> float:
    """Returns how long a command rests by itself, in seconds.

    >>> pause_s("sleep 5m; dig example.org"), pause_s("dig example.org")
    (300.0, 0.0)
    """
    if "leep" not in text:
        return 0.0
    return sum((float(time) * _UNITS[unit] for time, unit in _TIME.findall(text)), 0.0)
