"""Telling the format of a document; of one in no known format the nearest, and whether it holds a run."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from ebbtide.errors import TranscriptError
from ebbtide.traces.formats import FORMATS, Format
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.other_databases import kind_of

_SQL = re.compile(rb"\s*(?:CREATE TABLE|PRAGMA foreign_keys|BEGIN TRANSACTION)\b", re.IGNORECASE)
_QUOTED = re.compile(r"'([^'\s]{2,40})'")
_RECORDS = 5  # that are looked at
_ITEMS = 20  # of a list or an object
_DEPTH = 3
_LONGEST = 40  # characters of a value that names a kind
_KINDS: Final = ("type", "kind", "role", "event")  # keys whose values name what a record is
_LIKE = 0.85  # of `difflib`, from which a name is a slip of another
_TEXT: Final = "text"


def format_of(document: Document) -> Format:
    """The format of a document.

    Raises:
        TranscriptError: It is in none that is known; why each refused is in the message.
    """
    refusals = []
    for candidate in FORMATS:
        refusal = candidate.refuse(document)
        if refusal is None:
            return candidate
        refusals.append(FormatRefusal(candidate.name, candidate.description, refusal))
    if document.not_json and document.like_json:
        raise document.not_json
    if document.content is Content.TEXT and _SQL.match(document.data):
        kind = kind_of(document.data.decode(errors="replace"))
        raise TranscriptError(f"SQL that makes {kind.what}", hint=kind.advice, no_trace=True)
    nearest = nearest_format(document, refusals)
    raise TranscriptError(
        f"no trace or conversation in a known format ({document.describe()})",
        hint=(f"{nearest} " if nearest else "")
        + 'Simplest to write: {"role": "...", "content": "..."}, one a line. Tried:'
        + "".join(f"\n  {item.name}: {item.reason}" for item in refusals),
        no_trace=True,
    )


class FormatRefusal(NamedTuple):
    """A format that was tried.

    Args:
        name: Of the format.
        description: What it holds.
        reason: Why the input is not of it.
    """

    name: str
    description: str
    reason: str


class NearestFormat(NamedTuple):
    """The nearest format.

    Args:
        refusal: What is missing for it.
        slips: Names in the input, each with the name of the format that it is like.
    """

    refusal: FormatRefusal
    slips: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        probable = "".join(f" ('{slip}' is probably '{name}')" for slip, name in self.slips)
        return f"Nearest is {self.refusal.name}: {self.refusal.reason}{probable}."


def nearest_format(document: Document, refusals: Sequence[FormatRefusal]) -> NearestFormat | None:
    """The format whose names the input has the most of; a name that few formats have counts for more.

    Returns:
        None where the input has no name of any.
    """
    if document.content is Content.TEXT:
        return next((NearestFormat(refusal) for refusal in refusals if refusal.name == _TEXT), None)
    names = [_names(refusal) for refusal in refusals]
    formats_with = Counter(name for own in names for name in own)
    words = {word for value in document.head[:_RECORDS] for word in _words(value, _DEPTH)}
    best, most = None, 0.0
    for refusal, own in zip(refusals, names, strict=True):
        slips = _slips(words, own)
        hits = (words & own) | {name for _, name in slips}
        weight = sum(1 / formats_with[name] for name in hits)
        if weight > most:
            best, most = NearestFormat(refusal, slips), weight
    return best


def _names(refusal: FormatRefusal) -> set[str]:
    """The keys and kinds that a format is known by: they are quoted where it is described."""
    return set(_QUOTED.findall(f"{refusal.description} {refusal.reason}"))


def _slips(words: set[str], names: set[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for word in sorted(words - names):
        like = difflib.get_close_matches(word, sorted(names - words), n=1, cutoff=_LIKE)
        if like:
            pairs.append((word, like[0]))
    return tuple(pairs)


def _words(value: Any, depth: int) -> Iterator[str]:
    """The keys of a record, and the values of those that say what it is."""
    if not depth:
        return
    if isinstance(value, Mapping):
        for key, item in list(value.items())[:_ITEMS]:
            yield str(key)
            if key in _KINDS and isinstance(item, str) and len(item) <= _LONGEST:
                yield item
            yield from _words(item, depth - 1)
    elif isinstance(value, list):
        for item in value[:_ITEMS]:
            yield from _words(item, depth)


_RUN_DEPTH: Final = 4
#: Keys whose values name who speaks, or what is done.
_ACT_KEYS: Final = frozenset(
    "role type kind event event_type sender author speaker from source actor".split()
)
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
    return any(_is_of_run(record) for value in document.head for record in _records(value, _RUN_DEPTH))


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
        if name in _ACT_KEYS and isinstance(value, str) and len(value) <= _LONGEST:
            word = re.sub(r"(?<=[a-z])(?=[A-Z])|[-. ]", "_", value).lower()
            if word in _SPEAKERS or _ACT.match(word) is not None:
                return True
    return False
