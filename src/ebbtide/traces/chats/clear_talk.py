"""Refusal of plain text that nobody named and that is not a conversation beyond doubt.

A name and a colon start lines of many files: the fields of a package, licences, change logs, fragments of
code. Where somebody names a file, they know what it is. What a search of a folder comes upon has to look like
a conversation all over: few speakers that take turns, each with something to say.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from statistics import median

from ebbtide.errors import TranscriptError
from ebbtide.traces.chats.plain_text import turns_of
from ebbtide.traces.input.document import Document

_SUFFIXES = frozenset((".txt", ".md", ".markdown", ".text", ".log", ".chat", ".transcript"))
_ROLES = frozenset("user assistant human ai agent system bot me you claude gpt chatgpt gemini model".split())
_TURNS_OF_A_SPEAKER = 1.5  # on average, at least
# What starts lines of mails, packages, licences and change logs, and speaks nowhere.
_FIELDS = frozenset(
    """
    content-type content-transfer-encoding content-id content-disposition mime-version message-id return-path
    received delivered-to metadata-version wheel-version requires-dist requires-python classifier home-page
    author-email project-url license license-file license-expression copyright files package version
    upstream-name changes added removed fixed fixes fix improvements features bugs deprecated
    pass passed fail failed skip skipped name format signed-off-by
    """.split()
)
_FEWEST_TURNS = 4
_MOST_IN_A_ROW = 0.7  # share of turns whose speaker had the one before
_LEAST_PRESENT = 0.65  # share of turns by speakers that come again
_FEWEST_WORDS = 4  # of the turn in the middle
_MOST_BEFORE = 0.02  # share of the lines that may stand before the first turn, or ten of them
_SENTENCE_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", "`", '"', ")", ":")
_LEAST_SENTENCES = 0.2  # share of turns that end like a sentence


def refuse_unclear(document: Document, source: str, *, is_export: bool = False) -> None:
    """Refuse a text that may be something else than a conversation.

    Args:
        document: Plain text that holds turns.
        source: Its file.
        is_export: Whether a tool exported it: then its layout leaves no doubt, in a file of text.

    Raises:
        TranscriptError: It may be, and why.
    """
    if (reason := _why_unclear(document, source, is_export=is_export)) is not None:
        raise TranscriptError(
            f"text that is not clearly a conversation: {reason}",
            hint="Name the file to read it.",
            no_trace=True,
        )


def _why_unclear(document: Document, source: str, *, is_export: bool) -> str | None:
    suffix = PurePath(source.lower().removesuffix(".gz")).suffix
    if suffix not in _SUFFIXES:
        return f"a file of the type {suffix or 'without a suffix'}"
    if is_export:
        return None
    first, turns = turns_of(document)
    speakers = [speaker for speaker, _ in turns]
    counts = Counter(speakers)
    roles = {speaker.lower() for speaker in counts} <= _ROLES
    if len(counts) < 2:
        return "only one name starts lines"
    if len(turns) < (2 if roles else _FEWEST_TURNS):
        return f"only {len(turns)} turns"
    if roles:
        return None
    if field := next((speaker for speaker in counts if speaker.lower() in _FIELDS), None):
        return f"{field!r} is no name of a speaker"
    return (
        _why_irregular(speakers, counts)
        or _why_wordless([text for _, text in turns])
        or _why_late(first, document)
    )


def _why_irregular(speakers: Sequence[str], counts: Counter[str]) -> str | None:
    in_a_row = sum(one == other for one, other in itertools.pairwise(speakers))
    present = sum(number for number in counts.values() if number > 1)
    if in_a_row > _MOST_IN_A_ROW * len(speakers):
        return "the names do not take turns"
    if present < _LEAST_PRESENT * len(speakers) or len(counts) * _TURNS_OF_A_SPEAKER > len(speakers):
        return "too few of the names come again"
    return None


def _why_wordless(texts: Sequence[str]) -> str | None:
    if median(len(text.split()) for text in texts) < _FEWEST_WORDS:
        return "too few words stand behind the names"
    if sum(text.endswith(_SENTENCE_ENDS) for text in texts) < _LEAST_SENTENCES * len(texts):
        return "what stands behind the names are no sentences"
    return None


def _why_late(first: int, document: Document) -> str | None:
    lines = document.data.count(b"\n") + 1
    return "most of it stands before the first name" if first > max(10, _MOST_BEFORE * lines) else None
