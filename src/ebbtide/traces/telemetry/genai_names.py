"""Names of attributes: OpenTelemetry's GenAI conventions, old and new, and what frameworks write beside them.

Of each list the first name that is there counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

# Lists around spans and log records, in the two spellings of exporters.
GROUPS: Final = ("resourceSpans", "resource_spans", "batches")
SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
LOG_GROUPS: Final = ("resourceLogs", "resource_logs")
LOG_SCOPES: Final = ("scopeLogs", "scope_logs")
LOG_RECORDS: Final = ("logRecords", "log_records")
#: Where the records stand in a single JSON value; a line may be any of these, or one span.
PATHS: Final = (
    *(f"{group}.item" for group in (*GROUPS, *LOG_GROUPS)),
    "trace.resourceSpans.item",
    "data.item",
    "spans.item",
    "item",
    "",
)

#: What says the operation, the plainest first: LangSmith writes "chat" for prompts too, beside their kind.
OPERATION: Final = ("langsmith.span.kind", "gen_ai.operation.name")
#: Kinds of other conventions: Langfuse, OpenLLMetry, AG2, the AI SDK, MLflow.
OTHER_KINDS: Final = (
    "langfuse.observation.type",
    "traceloop.span.kind",
    "ag2.span.type",
    "ai.operationId",
    "mlflow.spanType",
    "llm.request.type",
)

LLM_OPERATIONS: Final = frozenset(
    (
        "chat",
        "generate_content",
        "text_completion",
        "completion",
        "responses",
        "message",
        "inference",
        "llm",
        "chat_model",
        "chat.completions",
        "generation",
        "ai.generatetext.dogenerate",
        "ai.streamtext.dostream",
        "ai.generateobject.dogenerate",
        "ai.streamobject.dostream",
    )
)
EMBEDDING_OPERATIONS: Final = frozenset(
    ("embeddings", "embedding", "embed", "ai.embed.doembed", "ai.embedmany.doembed", "rerank")
)
TOOL_OPERATIONS: Final = frozenset(("execute_tool", "tool", "ai.toolcall", "retrieval", "retriever"))
AGENT_OPERATIONS: Final = frozenset(("invoke_agent", "create_agent", "agent"))
OTHER_OPERATIONS: Final = frozenset(
    (
        "invoke_workflow",
        "workflow",
        "task",
        "execute_task",
        "chain",
        "prompt",
        "parser",
        "conversation",
        "execute_event_loop_cycle",
        "ai.generatetext",
        "ai.streamtext",
        "ai.generateobject",
        "ai.streamobject",
        "ai.embed",
        "ai.embedmany",
        "handoff",
    )
)

CONVERSATION: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gcp.vertex.agent.session_id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
)
AGENT: Final = ("gen_ai.agent.name", "agent.name", "agent_name", "ag2.agent.name", "graph.node.id")
MODEL: Final = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "embedding.model_name",
    "langfuse.observation.model.name",
    "ai.response.model",
    "ai.model.id",
    "model_name",
)

TOOL_NAME: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "tool_call.function.name")
TOOL_CALL_ID: Final = (
    "gen_ai.tool.call.id",
    "tool_call.id",
    "tool.id",
    "ai.toolCall.id",
)
TOOL_ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.arguments",
    "gen_ai.tool.input",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "ai.toolCall.args",
    "tool.parameters",
    "tool_call.function.arguments",
    "input.value",
    "langfuse.observation.input",
    "gen_ai.prompt",
    "traceloop.entity.input",
    "mlflow.spanInputs",
    "input",
)
TOOL_RESULT: Final = (
    "gen_ai.tool.call.result",
    "gen_ai.tool.result",
    "gen_ai.tool.output",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "ai.toolCall.result",
    "output.value",
    "langfuse.observation.output",
    "gen_ai.completion",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
    "output",
)

INPUT_TOKENS: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
    "ai.usage.tokens",
    "gen_ai.response.prompt_tokens",
)
OUTPUT_TOKENS: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
    "gen_ai.response.completion_tokens",
)
CACHE_READ_TOKENS: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.cached_tokens",
    "gen_ai.usage.cache_read_tokens",
    "gen_ai.usage.cached_input_tokens",
    "gen_ai.usage.input_token_details.cache_read",
    "gen_ai.usage.prompt_tokens_details.cached_tokens",
    "gen_ai.usage.details.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "llm.token_count.prompt_details.cache_input",
    "ai.usage.cachedInputTokens",
)
CACHE_WRITE_TOKENS: Final = (
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_input_tokens",
    "gen_ai.usage.cache_write_tokens",
    "gen_ai.usage.input_token_details.cache_creation",
    "gen_ai.usage.details.cache_write_tokens",
    "gen_ai.usage.details.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
)
REASONING_TOKENS: Final = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "gen_ai.usage.output_token_details.reasoning",
    "gen_ai.usage.completion_tokens_details.reasoning_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "gen_ai.usage.details.thoughts_tokens",
    "llm.token_count.completion_details.reasoning",
    "ai.usage.reasoningTokens",
)
TOTAL_TOKENS: Final = (
    "gen_ai.usage.total_tokens",
    "llm.token_count.total",
    "llm.usage.total_tokens",
    "ai.usage.totalTokens",
)
#: What an agent's span calls the sum over its models.
AGGREGATED: Final = "gen_ai.aggregated_usage."
COST: Final = (
    "llm.cost.total",
    "gen_ai.usage.cost",
    "gen_ai.usage.total_cost",
    "gen_ai.cost.total",
    "gen_ai.cost.total_cost",
    "operation.cost",
)
#: Costs of the parts, where no total is stated.
COST_PARTS: Final = (
    ("llm.cost.prompt", "gen_ai.usage.input_cost", "gen_ai.cost.input_cost"),
    ("llm.cost.completion", "gen_ai.usage.output_cost", "gen_ai.cost.output_cost"),
)
#: JSON objects of tokens and of dollars by class, as Langfuse's exporter writes them.
USAGE_DETAILS: Final = "langfuse.observation.usage_details"
COST_DETAILS: Final = "langfuse.observation.cost_details"

SYSTEM: Final = ("gen_ai.system_instructions", "gen_ai.system.instructions")
INPUTS: Final = (
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
    "gcp.vertex.agent.llm_request",
    "langfuse.observation.input",
    "input.value",
    "mlflow.spanInputs",
    "traceloop.entity.input",
    "llm.prompts",
    "input",
)
OUTPUTS: Final = (
    "gen_ai.output.messages",
    "gen_ai.completion",
    "gcp.vertex.agent.llm_response",
    "langfuse.observation.output",
    "output.value",
    "mlflow.spanOutputs",
    "traceloop.entity.output",
    "output",
)
#: Lists in keys: ``gen_ai.prompt.0.role``.
LISTED_INPUTS: Final = ("llm.input_messages", "gen_ai.prompt", "llm.prompts")
LISTED_OUTPUTS: Final = ("llm.output_messages", "gen_ai.completion")
#: The name under which Google's ADK records the results of several calls again, in a span of its own.
MERGED_TOOLS: Final = "(merged tools)"
#: An agent's whole conversation, of which the last message is its answer.
TRANSCRIPTS: Final = ("pydantic_ai.all_messages", "all_messages_events", "final_result")

STATUS: Final = ("http.response.status_code", "http.status_code", "error.code")
ERROR: Final = ("error.type", "exception.type")
ERROR_MESSAGE: Final = ("error.message", "exception.message")

#: What OpenInference writes in place of a value that it has to hide.
HIDDEN: Final = "__REDACTED__"

#: Prefixes of attributes by which spans of a model, an agent or a tool are known.
PREFIXES: Final = (
    "gen_ai.",
    "openinference.",
    "llm.",
    "traceloop.",
    "ai.operationId",
    "mlflow.spanType",
    "langfuse.",
    "ag2.",
)

_DEEPEST = 12  # names in each other
_LISTED = re.compile(
    rf"({'|'.join(map(re.escape, {*LISTED_INPUTS, *LISTED_OUTPUTS}))})\.([0-9]{{1,8}})(?:\.(.+))?"
).fullmatch


def first(attributes: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of the names that is there; None if none is."""
    for name in names:
        value = attributes.get(name)
        if value is not None and value != "":
            return value
    return None


def listed(attributes: Mapping[str, Any]) -> dict[str, list[tuple[tuple[str, Any], ...]]]:
    """The lists that stand in keys, ``gen_ai.prompt.0.role`` and so on: each item by its dotted names."""
    lists: dict[str, dict[str, list[tuple[str, Any]]]] = {}
    for key, value in attributes.items():
        if parts := _LISTED(key):
            prefix, number, name = parts.groups()
            lists.setdefault(prefix, {}).setdefault(number, []).append((name or "", value))
    return {
        prefix: [tuple(items[number]) for number in sorted(items, key=int)] for prefix, items in lists.items()
    }


def tree_of(fields: Sequence[tuple[str, Any]]) -> Any:
    """Returns the value that an item's dotted names stand for: objects, and lists where they are numbers."""
    tree: dict[str, Any] = {}
    for name, value in fields:
        *around, last = name.split(".")
        place = tree
        for key in around[:_DEEPEST]:
            inner = place.setdefault(key, {})
            if not isinstance(inner, dict):
                break
            place = inner
        else:
            place.setdefault(last, value)
    return tree.get("", _lists(tree))


def _lists(value: dict[str, Any]) -> Any:
    items = {key: _lists(item) if isinstance(item, dict) else item for key, item in value.items()}
    if items and all(key.isdecimal() and len(key) < 9 for key in items):
        return [items[key] for key in sorted(items, key=int)]
    return items
