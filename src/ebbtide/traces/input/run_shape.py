"""Tells records of a run, in whatever format, from logs of results and from data sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from ebbtide.traces.input.document import Document

_RECORDS: Final = 10
_ITEMS: Final = 20  # of a list or an object
_DEPTH: Final = 4
_LONGEST: Final = 40  # characters of a value that names a speaker or an act
#: Keys whose values name who speaks, or what is done.
_KINDS: Final = frozenset("role type kind event event_type sender author speaker from source actor".split())
_SPEAKERS: Final = frozenset("user assistant human ai agent bot gpt tool developer".split())
_ACT: Final = re.compile(
    r"(?:tool|function)_?(?:calls?|use|result|response|output|execution)|(?:user|assistant|agent|ai|human)_"
)
#: Keys that only a record of a call of a tool has.
_CALL_KEYS: Final = frozenset(
    """
    tool_calls toolcalls tool_call_id toolcallid tool_use_id tooluseid tool_name toolname function_call
    """.split()
)


def has_run_shape(document: Document) -> bool:
    r"""Returns True if the first records of JSON name who speaks, or which tool is called.

    >>> has_run_shape(Document.of(b'{"who": 1, "type": "toolCall"}\n{"who": 2, "type": "text"}'))
    True
    >>> has_run_shape(Document.of(b'{"task": "a", "resolved": true}\n{"task": "b", "resolved": false}'))
    False
    """
    return any(_is_of_run(record) for value in document.head[:_RECORDS] for record in _records(value, _DEPTH))


def _records(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if not depth:
        return
    if isinstance(value, Mapping):
        yield value
        for item in islice(value.values(), _ITEMS):
            yield from _records(item, depth - 1)
    elif isinstance(value, list):
        for item in value[:_ITEMS]:
            yield from _records(item, depth - 1)


def _is_of_run(record: Mapping[str, Any]) -> bool:
    for key, value in islice(record.items(), _ITEMS):
        name = key.lower()
        if name in _CALL_KEYS:
            return True
        if name in _KINDS and isinstance(value, str) and len(value) <= _LONGEST:
            word = re.sub(r"(?<=[a-z])(?=[A-Z])|[-. ]", "_", value).lower()
            if word in _SPEAKERS or _ACT.match(word) is not None:
                return True
    return False
