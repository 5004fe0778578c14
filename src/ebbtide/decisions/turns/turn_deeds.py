"""Recognizes calls that carry out a decision: its names stand in the arguments of a call that changes things.

A name is what no sentence has by chance: a path, an identifier, a package, an option, a word that is written
as code or with a capital inside a sentence. A decision without any has no witness.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_CODE = re.compile(r"`([^`\n]{2,80})`")
_TOKEN = re.compile(r"[A-Za-z0-9_@][\w./@:+-]*\w")
_NAME = re.compile(r"[^\s]*[\w][._/@:][\w]|.*[a-z][A-Z]|[A-Z][A-Z0-9]+\Z|.*[A-Za-z]\d")
_PROPER = re.compile(r"[A-Z][a-z]+\Z")
_LONGEST = 2_000  # characters of an argument of a call
_FEWEST = 3  # characters of a name
_SHARE = 0.66  # of the names of a decision that a call has to have


def names_in(sentence: str, choice: str | None = None) -> frozenset[str]:
    """The names of what was chosen, in lower case.

    Args:
        sentence: The sentence with its markup.
        choice: What was chosen, in its words; None takes the names of the whole sentence.

    >>> sorted(names_in("We put it in `job_queue.py` and use Redis.", "it in job_queue.py and use Redis"))
    ['job_queue.py', 'redis']
    """
    words = sentence if choice is None else choice
    names = {name for name in _CODE.findall(sentence) if name in words}
    for token in _TOKEN.finditer(words):
        if _NAME.match(token[0]) or (token.start() and choice is not None and _PROPER.match(token[0])):
            names.add(token[0])
    return frozenset(name.strip().lower() for name in names if len(name) >= _FEWEST)


def carries_out(names: frozenset[str], arguments: str) -> bool:
    """Returns True if the words of a call (`words_of_call`) have two thirds of the names, at least one."""
    hits = sum(name in arguments for name in names)
    return hits > 0 and hits >= _SHARE * len(names)


def words_of_call(args: object) -> str:
    """The arguments of a call in lower case, without long ones, which have any name by chance."""
    values = args.values() if isinstance(args, Mapping) else (args,)
    texts = (value if isinstance(value, str) else json.dumps(value, default=str) for value in values)
    return "\n".join(text for text in texts if len(text) <= _LONGEST).lower()
