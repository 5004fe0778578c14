"""Ids of decisions: they sort by time, and a replay gives the same ones.

The first ten characters are the time. Ten zeros are no time: nobody knows when it was.
"""

from __future__ import annotations

import hashlib
import json

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O and U, which are misread
_PAIRS = [one + two for one in _DIGITS for two in _DIGITS]
_TIME, _NUMBER, _REST = 10, 4, 8  # digits of 5 bits each
_LATEST_MS = (1 << 50) - 1
_NO_TIME = "0" * _TIME

#: Characters of an id.
LENGTH = _TIME + _NUMBER + _REST


def decision_id(tenant: str, agent: str, seq: int, at: float) -> str:
    """The id of a decision whose first event is number `seq` of its stream.

    Args:
        tenant: Whose stream.
        agent: Whose stream.
        seq: Number of the event.
        at: When, in seconds since the epoch; it gives the first ten characters.

    >>> decision_id("default", "agent", 1, 1_700_000_000.0)
    '01HF7YAT000001XD62S4GG'
    """
    digest = hashlib.sha256(json.dumps([tenant, agent, seq]).encode()).digest()
    return time_prefix(at) + _encode(seq & 0xFFFFF, _NUMBER) + _encode(int.from_bytes(digest[:5]), _REST)


def origin_id(tenant: str, agent: str, origin: str, at: float | None) -> str:
    """The id of an imported decision: the same origin and time, or none, give the same one."""
    digest = hashlib.sha256(json.dumps([tenant, agent, "origin", origin]).encode()).digest()
    rest = int.from_bytes(digest[:8]) & ((1 << 60) - 1)
    return (_NO_TIME if at is None else time_prefix(at)) + _encode(rest, _NUMBER + _REST)


def time_prefix(at: float) -> str:
    """Returns the first characters of the ids of a time."""
    return _encode(min(max(int(at * 1000), 1), _LATEST_MS), _TIME)


def is_id(text: str) -> bool:
    """Returns True for a text in the form of an id."""
    return len(text) == LENGTH and all(sign in _DIGITS for sign in text)


def sample_key(identifier: str) -> int:
    """A number from 0 to 2^63 - 1 that says nothing about the decision: by it samples are drawn."""
    return int.from_bytes(hashlib.sha256(identifier.encode("ascii", "replace")).digest()[:8]) >> 1


def _encode(number: int, digits: int) -> str:
    """A number in an even number of digits."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(5 * digits - 10, -1, -10)])
