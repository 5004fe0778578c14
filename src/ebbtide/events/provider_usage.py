"""Usage of a call, in the answers of providers and of the libraries around them.

Each names the counts in its own way, and they differ in what the input counts: with OpenAI and most others
cached tokens are a part of it, with Anthropic and Bedrock they stand beside it. `SHAPES` has a row for each
way, with the keys that distinguish it from the others; the names are those of the SDKs' own types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from ebbtide.events.object_fields import fields_of

Count = Callable[[object], int | None]
_Place = tuple[str, str]  # what holds the number, "" for the report itself, and its name there
_Sum = tuple[tuple[_Place, ...], ...]  # the terms of a sum, each the first of several places that has a count

_STANDARD_TIERS = frozenset({"standard", "standard_only", "default", "auto", ""})  # at the price of the list
_LONGEST_TIER = 40  # characters
_DEEPEST = 3  # wrappings around an answer
_LONGEST_MODEL = 256
_MOST_LIFETIMES = 8  # there are two: five minutes and an hour


def _places(**sums: str) -> Mapping[str, _Sum]:
    """Returns places by counts of `Usage`: ``a_place | holder.another_place``, with `` + `` between terms."""
    return {
        name: tuple(tuple(_place(place) for place in term.split(" | ")) for term in text.split(" + "))
        for name, text in sums.items()
    }


def _place(text: str) -> _Place:
    holder, _, name = text.rpartition(".")
    return holder, name


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageShape:
    """One way of writing down the usage of a call.

    Args:
        keys: A report that has one of them is written in this way.
        places: Places of the counts of `Usage`, by their names.
        cached_inside: True if the input counts the cached tokens too.
        reasoning_beside: True if the output leaves the reasoning out, unless the total says otherwise.
        total: The name of the total, which shows what the output of a server counts: the parts add up to it.
        unmeasured: Counts what the report leaves out.
    """

    keys: tuple[str, ...]
    places: Mapping[str, _Sum]
    cached_inside: bool = True
    reasoning_beside: bool = False
    total: str = ""
    unmeasured: str | None = None
    details: tuple[str, ...] = field(init=False)  #: what holds some of the places

    def __post_init__(self) -> None:
        terms = (term for places in self.places.values() for term in places)
        holders = {holder for term in terms for holder, _ in term if holder}
        object.__setattr__(self, "details", tuple(sorted(holders)))

    def counts(self, report: Mapping[str, Any], count: Count) -> dict[str, Any]:
        """Returns the counts of `Usage` as they are reported: the input may count the cached tokens, too.

        Args:
            count: Returns the number that a value stands for, and None for what is no count.
        """
        holders = {"": report}
        for name in self.details:
            around, _, last = name.rpartition(".")
            fields = holders.get(around)
            holder = None if fields is None else fields.get(last)
            if holder is not None:
                holders[name] = _by_lifetime(holder) if type(holder) is list else fields_of(holder)
        counts = {name: _add(terms, holders, count) for name, terms in self.places.items()}
        tokens, output, reasoning = (
            counts.get(name) or 0 for name in ("input_tokens", "output_tokens", "reasoning_tokens")
        )
        if reasoning and self._is_beside(tokens, output, reasoning, count(report.get(self.total))):
            counts["output_tokens"] = output + reasoning
        return counts

    def _is_beside(self, tokens: int, output: int, reasoning: int, total: int | None) -> bool:
        if total == tokens + output:
            return False
        return self.reasoning_beside or total == tokens + output + reasoning


#: google-genai: `GenerateContentResponseUsageMetadata`, and `UsageMetadata` of live sessions.
GEMINI = UsageShape(
    keys=("prompt_token_count", "candidates_token_count", "response_token_count", "total_token_count"),
    places=_places(
        input_tokens="prompt_token_count + tool_use_prompt_token_count",
        output_tokens="candidates_token_count | response_token_count",
        cache_read_tokens="cached_content_token_count",
        reasoning_tokens="thoughts_token_count",
    ),
    reasoning_beside=True,
    total="total_token_count",
)
#: google-genai: `Usage` of the interactions.
GEMINI_INTERACTION = UsageShape(
    keys=("total_input_tokens", "total_output_tokens"),
    places=_places(
        input_tokens="total_input_tokens + total_tool_use_tokens",
        output_tokens="total_output_tokens",
        cache_read_tokens="total_cached_tokens",
        reasoning_tokens="total_thought_tokens",
    ),
    reasoning_beside=True,
    total="total_tokens",
)
#: Bedrock: `TokenUsage` of Converse. "The number of tokens sent in the request" are those beside the cache.
BEDROCK = UsageShape(
    keys=("inputTokens", "outputTokens"),
    places=_places(
        input_tokens="inputTokens",
        output_tokens="outputTokens",
        cache_read_tokens="cacheReadInputTokens",
        cache_write_tokens="cacheWriteInputTokens",
        cache_write_1h_tokens="cacheDetails.1h",
    ),
    cached_inside=False,
)
#: LangChain: `UsageMetadata`. A tier of service is in front of the name; the lifetime of a cache is another.
LANGCHAIN = UsageShape(
    keys=("input_token_details", "output_token_details"),
    places=_places(
        input_tokens="input_tokens",
        output_tokens="output_tokens",
        cache_read_tokens=(
            "input_token_details.cache_read"
            " | input_token_details.flex_cache_read"
            " | input_token_details.priority_cache_read"
        ),
        cache_write_tokens=(
            "input_token_details.cache_creation"
            " | input_token_details.flex_cache_creation"
            " | input_token_details.priority_cache_creation"
            " + input_token_details.ephemeral_5m_input_tokens"
            " + input_token_details.ephemeral_1h_input_tokens"
        ),
        cache_write_1h_tokens="input_token_details.ephemeral_1h_input_tokens",
        reasoning_tokens=(
            "output_token_details.reasoning"
            " | output_token_details.flex_reasoning"
            " | output_token_details.priority_reasoning"
        ),
    ),
)
#: Ebbtide: a `Usage` as a dict.
EBBTIDE = UsageShape(
    keys=("cost_usd",),
    places=_places(
        input_tokens="input_tokens",
        output_tokens="output_tokens",
        cache_read_tokens="cache_read_tokens",
        cache_write_tokens="cache_write_tokens",
        cache_write_1h_tokens="cache_write_1h_tokens",
        reasoning_tokens="reasoning_tokens",
    ),
    cached_inside=False,
)
#: OpenAI: `CompletionUsage` and `ResponseUsage`; Mistral's `UsageInfo`, LiteLLM's `Usage`, and every server
#: that speaks OpenAI's language.
OPENAI = UsageShape(
    keys=("prompt_tokens", "completion_tokens", "input_tokens_details", "cached_input_tokens"),
    places=_places(
        input_tokens="prompt_tokens | input_tokens",
        output_tokens="completion_tokens | output_tokens",
        cache_read_tokens=(
            "prompt_tokens_details.cached_tokens | input_tokens_details.cached_tokens"
            " | cached_input_tokens | cached_tokens | num_cached_tokens | prompt_cache_hit_tokens"
            " | cache_read_input_tokens | cache_read_tokens"
        ),
        cache_write_tokens=(
            "prompt_tokens_details.cache_write_tokens | input_tokens_details.cache_write_tokens"
            " | prompt_tokens_details.cache_creation_tokens"
            " | cache_write_input_tokens | cache_creation_input_tokens | cache_write_tokens"
        ),
        cache_write_1h_tokens=(
            "prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens"
            " | cache_creation.ephemeral_1h_input_tokens"
        ),
        reasoning_tokens=(
            "completion_tokens_details.reasoning_tokens"
            " | output_tokens_details.reasoning_tokens"
            " | reasoning_output_tokens"
        ),
    ),
    total="total_tokens",
)
#: pydantic-ai: `RequestUsage` and `RunUsage`.
PYDANTIC_AI = replace(
    OPENAI,
    keys=("cache_read_tokens", "cache_write_tokens"),
    places={
        **OPENAI.places,
        **_places(reasoning_tokens="details.reasoning_tokens | details.thoughts_tokens"),
    },
    unmeasured="unmeasured_requests",
)
#: Anthropic: `Usage`, and `MessageDeltaUsage` of a stream.
ANTHROPIC = UsageShape(
    keys=("input_tokens", "output_tokens"),
    places=_places(
        input_tokens="input_tokens",
        output_tokens="output_tokens",
        cache_read_tokens="cache_read_input_tokens",
        cache_write_tokens="cache_creation_input_tokens",
        cache_write_1h_tokens="cache_creation.ephemeral_1h_input_tokens",
        reasoning_tokens="output_tokens_details.thinking_tokens",
    ),
    cached_inside=False,
)


def _in_camel_case(shape: UsageShape) -> UsageShape:
    """Returns the shape as the REST interface writes it."""

    def camel(name: str) -> str:
        first, *others = name.split("_")
        return first + "".join(part.capitalize() for part in others)

    def camels(terms: _Sum) -> _Sum:
        return tuple(tuple((camel(holder), camel(name)) for holder, name in term) for term in terms)

    return replace(
        shape,
        keys=tuple(camel(key) for key in shape.keys),
        places={name: camels(terms) for name, terms in shape.places.items()},
        total=camel(shape.total),
    )


# From the keys that only one has to those that several have.
SHAPES = (
    OPENAI,
    GEMINI,
    _in_camel_case(GEMINI),
    BEDROCK,
    LANGCHAIN,
    GEMINI_INTERACTION,
    EBBTIDE,
    PYDANTIC_AI,
    ANTHROPIC,
)
_REPORTS = ("usage", "usage_metadata", "usageMetadata", "token_usage")
# What an answer, or an item of a stream, is wrapped in: `response.completed` of OpenAI, `message_start` of
# Anthropic, `metadata` of Bedrock, `data` of Mistral, `raw` of LangChain's structured output, and LangChain's
# notes on the answer.
_WRAPPERS = ("response", "message", "metadata", "data", "raw", "response_metadata")
_MODELS = ("model", "model_name", "model_version", "modelVersion")


def tier_of(*names: object) -> str | None:
    """The tier that a record names, by the first name that is not the standard one; None for that one.

    >>> tier_of("standard", "fast"), tier_of("default", None), tier_of("Priority")
    ('fast', None, 'priority')
    """
    tiers = (name.lower() for name in names if type(name) is str and len(name) <= _LONGEST_TIER)
    return next((tier for tier in tiers if tier not in _STANDARD_TIERS), None)


def shape_of(report: Mapping[str, Any]) -> UsageShape | None:
    """Returns the shape of a report by its keys; None if it has none of them."""
    for shape in SHAPES:
        for key in shape.keys:
            if key in report:
                return shape
    return None


def usage_fields(answer: object) -> dict[str, Any] | None:
    """Returns the fields of a `Usage` that an answer, or its report of usage, states; None if it states none.

    None too where the numbers contradict each other, are all zero, or leave out a part of the calls.
    """
    try:
        return _in_answer(answer, 0)
    except Exception:  # noqa: BLE001 - whatever code the object runs, it states no usage
        return None


def whole_count(value: object) -> int | None:
    """Returns the number of a count; None for anything else. JSON may write it as a float."""
    if type(value) is int:
        return value if value >= 0 else None
    return int(value) if isinstance(value, float) and value >= 0 and value.is_integer() else None


def _in_answer(answer: object, depth: int) -> dict[str, Any] | None:
    fields = fields_of(answer)
    for report in _reports(answer, fields):
        shape = shape_of(report)
        usage = None if shape is None else _usage_in_shape(shape, report)
        if usage is not None:
            usage["model"] = _model(fields)
            usage["tier"] = tier_of(
                report.get("speed"), report.get("service_tier"), fields.get("service_tier")
            )
            usage["cost_usd"] = _stated_cost(fields, report)
            return usage
    if depth < _DEEPEST:
        for name in _WRAPPERS:
            inner = fields.get(name)
            usage = None if inner is None or inner is answer else _in_answer(inner, depth + 1)
            if usage is not None:
                usage["model"] = usage["model"] or _model(fields)
                return usage
    return None


def _reports(answer: object, fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in _REPORTS:
        report = fields.get(name)
        if report is not None:
            yield fields_of(report)
    yield fields
    if "usage" not in fields and not isinstance(answer, dict):
        member = getattr(answer.__class__, "usage", None)
        if isinstance(member, property):
            yield fields_of(getattr(answer, "usage", None))
        elif callable(member) and answer.__class__.__module__.startswith("pydantic_ai."):
            yield fields_of(member(answer))  # a method, until version 1


def _usage_in_shape(shape: UsageShape, report: Mapping[str, Any]) -> dict[str, Any] | None:
    counts = shape.counts(report, whole_count)
    fresh, output, cached, stored = (
        counts.get(name)
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    )
    if shape.cached_inside and fresh is not None:
        fresh -= (cached or 0) + (stored or 0)
    if (fresh is not None and fresh < 0) or (shape.unmeasured and report.get(shape.unmeasured)):
        return None
    if not (fresh or output or cached or stored or _reported_cost(report)):
        return None
    return {**counts, "input_tokens": fresh}


def _add(terms: _Sum, holders: Mapping[str, Mapping[str, Any]], count: Count) -> int | None:
    total = None
    for places in terms:
        for holder, name in places:
            fields = holders.get(holder)
            value = None if fields is None else fields.get(name)
            if value is not None and (number := count(value)) is not None:
                total = number if total is None else total + number
                break
    return total


def _by_lifetime(details: list[Any]) -> dict[str, Any]:
    """Returns tokens by how long they stay, of Bedrock's list of `CacheDetail`."""
    entries = [fields_of(entry) for entry in details[:_MOST_LIFETIMES]]
    return {str(entry.get("ttl")): entry.get("inputTokens") for entry in entries}


def _model(fields: Mapping[str, Any]) -> str | None:
    notes = fields.get("response_metadata")  # LangChain's
    for holder in (fields,) if notes is None else (fields, fields_of(notes)):
        for name in _MODELS:
            model = holder.get(name)
            if type(model) is str and 0 < len(model) <= _LONGEST_MODEL:
                return model
    return None


def _stated_cost(answer: Mapping[str, Any], report: Mapping[str, Any]) -> float | None:
    """Returns the cost beside an answer, where LiteLLM puts it, or in its report."""
    beside = answer.get("_hidden_params")
    cost = None if beside is None else _dollars(fields_of(beside).get("response_cost"))
    return _reported_cost(report) if cost is None else cost


def _reported_cost(report: Mapping[str, Any]) -> float | None:
    """Returns the cost that OpenRouter and others state, with the provider's bill for a key of your own."""
    cost = _dollars(report.get("cost_usd", report.get("cost")))
    if cost is not None and report.get("is_byok") is True:
        cost += _dollars(fields_of(report.get("cost_details")).get("upstream_inference_cost")) or 0.0
    return cost


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return float(value) if value >= 0 else None
