"""What decisions are about, as the index of subjects has it: hashes, of which nothing can be read."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from ebbtide.decisions.repeats.subject import LONGEST_SUBJECT
from ebbtide.decisions.repeats.subject_keys import subject_keys

_REMEMBERED = 1 << 11  # texts: each is asked for when it is compared, and when it is written


def subject_hashes(tenant: str, agent: str, text: str) -> tuple[int, ...]:
    """The keys of a decision of an agent as signed numbers of 64 bits, the same in every process."""
    # A normal form can be shorter than its text, so that a long text may have a subject all the same.
    return (_remembered if len(text) <= LONGEST_SUBJECT else _hashes)(tenant, agent, text)


def _hashes(tenant: str, agent: str, text: str) -> tuple[int, ...]:
    return tuple(
        int.from_bytes(
            hashlib.blake2b(
                "\0".join((tenant, agent, *key)).encode("utf-8", "surrogatepass"), digest_size=8
            ).digest(),
            signed=True,
        )
        for key in subject_keys(text)
    )


_remembered = lru_cache(maxsize=_REMEMBERED)(_hashes)
