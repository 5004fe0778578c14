"""One span, whatever convention it was written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ebbtide.events.usage import Usage
from ebbtide.traces.chats.message_shapes import ChatMessage
from ebbtide.traces.records.fields import compact, count
from ebbtide.traces.records.provider_usage import disjoint_usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span.

    Args:
        id: In its trace; None where it has none.
        kind: What it is.
        name: Of the tool, agent or operation.
        trace: Its trace.
        parent: The span around it.
        conversation: What the trace is a part of, if that is stated.
        start: Seconds since 1970.
        end: The same.
        model: The model that was called.
        usage: Tokens by class, of this span and all inside it.
        cost_usd: The same for dollars.
        inputs: Messages that went in.
        outputs: Messages that came out.
        args: Arguments of a tool.
        result: What it gave, or why it failed.
        call_id: The id by which the model asked for it.
        error: Whether it failed.
        status: HTTP status, where there is one.
        agent: Who acts.
        response: The id that the provider gave the answer.
    """

    id: str | None
    kind: SpanKind
    name: str
    trace: str = ""
    parent: str | None = None
    conversation: str | None = None
    start: float | None = None
    end: float | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    inputs: Sequence[ChatMessage] = ()
    outputs: Sequence[ChatMessage] = ()
    args: object = None
    result: object = None
    call_id: str | None = None
    error: bool = False
    status: int | None = None
    agent: str | None = None
    response: str | None = None

    @property
    def has_tokens(self) -> bool:
        """True if it reports tokens."""
        return self.usage.tokens is not None

    @property
    def has_spent(self) -> bool:
        """True if it reports tokens or cost."""
        return bool(self.cost_usd) or self.has_tokens

    @property
    def text(self) -> str | None:
        """Words that came out; None where there are none."""
        return (
            "\n\n".join(
                message.text for message in self.outputs if message.text and message.role == "assistant"
            )
            or None
        )


def usage_of(
    *,
    total_input: object,
    output: object,
    read: object = None,
    written: object = None,
    reasoning: object = None,
    written_1h: object = None,
    total: int | None = None,
) -> Usage:
    """Tokens of a span by class; none at all where every number is zero, which stands for not known.

    Args:
        total_input: Input tokens; the cached ones are among them unless `total` shows otherwise.
        output: Output tokens, reasoning included.
        read: Tokens read from a cache.
        written: Tokens written to a cache.
        reasoning: Those of the output that are reasoning.
        written_1h: Those of the cache writes that stay for an hour.
        total: All tokens.
    """
    usage = disjoint_usage(
        total_input=total_input,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=reasoning,
        cache_write_1h=written_1h,
    )
    if not usage.tokens:
        return Usage()
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    if usage.input_tokens is not None and cached and total is not None:
        whole = count(total_input) or 0
        if whole + cached + (usage.output_tokens or 0) == total:
            usage.input_tokens = whole
    return usage


def failure(message: object, kind: object) -> str | None:
    """Why something failed, in words."""
    words = [compact(part) for part in (kind, message) if part not in (None, "", {})]
    if len(words) == 2 and words[0] in words[1]:
        del words[0]
    return ": ".join(words) or None


class SpanKind(StrEnum):
    """Kind of a span: what it is to a run."""

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
