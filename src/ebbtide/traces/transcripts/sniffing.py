"""Telling transcripts: the format 0.1 in both its forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.traces.input.document import HEAD, Content, Document


def refuse_transcript_json(document: Document) -> str | None:
    """Why `document` is not of the format transcript; None if it is."""
    if document.content is not Content.JSON:
        return "not one JSON value"
    value = document.head[0]
    return None if isinstance(value, Mapping) and "rounds" in value else "no object with 'rounds'"


HEADER_TYPE, ROUND_TYPE = "transcript_header", "round"


def refuse_transcript_jsonl(document: Document) -> str | None:
    """Why `document` is not of the format transcript-jsonl; None if it is."""
    if document.content is Content.TEXT:
        return "not JSON lines"
    if any(map(is_round_line, document.head)):
        return None
    return f"no '{HEADER_TYPE}' or '{ROUND_TYPE}' among the types of the first {HEAD} lines"


def is_round_line(value: Any) -> bool:
    """True if a line is a header or a round."""
    return isinstance(value, Mapping) and value.get("type") in (HEADER_TYPE, ROUND_TYPE)
