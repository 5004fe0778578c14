"""What a span is to a run, and what tracing tools call it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class SpanKind(StrEnum):
    """What a span is to a run."""

    LLM = "llm"  #: a call of a model
    EMBEDDING = "embedding"  #: a call of a model that gives no text
    TOOL = "tool"
    AGENT = "agent"  #: an agent at work: what it reports is a sum over what is inside
    OTHER = "other"  #: chains, workflows, tasks, plumbing


LANGFUSE_KINDS: Final = {
    "GENERATION": SpanKind.LLM,
    "EMBEDDING": SpanKind.EMBEDDING,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.TOOL,
    "AGENT": SpanKind.AGENT,
}
LANGSMITH_KINDS: Final = {
    "llm": SpanKind.LLM,
    "chat_model": SpanKind.LLM,
    "tool": SpanKind.TOOL,
    "retriever": SpanKind.TOOL,
    "embedding": SpanKind.EMBEDDING,
    "agent": SpanKind.AGENT,
    "chain": SpanKind.OTHER,
    "prompt": SpanKind.OTHER,
    "parser": SpanKind.OTHER,
}
