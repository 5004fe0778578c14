"""Usage of one event: model, tokens by class, and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
)

from ebbtide.errors import ConfigError, shown

MOST_USD = 1e12  #: dollars of one event; more is a mistake
MOST_TOKENS = 10**12  #: tokens of one class of one event, likewise
CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
#: Counts that are a part of a class, by that class; they add nothing to the tokens.
PARTS = {"reasoning_tokens": "output_tokens", "cache_write_1h_tokens": "cache_write_tokens"}
COUNTS = (*CLASSES, *PARTS)
CHARACTERS_OF_TOKEN = 4  #: where nothing but the length of a text is known
_NUMBER = (int, float)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_NO_ANSWERS = (CoroutineType, GeneratorType, AsyncGeneratorType, *_FUNCTIONS, type)


def tokens_of_length(characters: int) -> int:
    """Returns an estimate of the tokens of a text.

    Args:
        characters: Its length.

    >>> tokens_of_length(9)
    3
    """
    return -(-characters // CHARACTERS_OF_TOKEN)


@dataclass(slots=True, kw_only=True)
class Usage:
    """Tokens by class, and the cost if the provider reports it. None stands for what is not known.

    The classes do not overlap: where a provider counts cached tokens as input tokens too, take them out. A
    number that cannot be counts as not known where usage is counted, and is an error where it is `checked`;
    a part that is larger than its class is such a number.

    Args:
        model: Name of the model, as in the price table.
        input_tokens: Tokens read anew, 0 to 1e12; so are the others.
        output_tokens: Tokens written, those of its reasoning included.
        cache_read_tokens: Tokens read from a cache.
        cache_write_tokens: Tokens written to a cache, for however long.
        reasoning_tokens: Those of the output that were written while thinking.
        cache_write_1h_tokens: Those of the cache writes that stay for an hour, which some providers charge
            at another price.
        tier: The tier of the service, as its provider names it, where it is not the standard one:
            ``priority``, ``fast``, ``flex``, ``batch``. It changes the price.
        cost_usd: The cost, 0 to 1e12. A 0 beside tokens counts as not known: that is what tools write
            that know no price. State what is free as a price of 0.
    """

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    tier: str | None = None
    cost_usd: float | None = None

    @classmethod
    def of(cls, answer: object, *, model: str | None = None) -> Usage | None:
        """Returns the usage that the answer of a provider states, as an object of its SDK or as a dict.

        Reads OpenAI (chat, responses, embeddings), Anthropic, Gemini, Bedrock (Converse), Mistral, LiteLLM,
        OpenRouter, LangChain and pydantic-ai: the whole answer, an item of its stream, or its usage alone.
        The classes come out disjoint, whatever the provider counts as input.

        >>> details = {"cached_tokens": 5}
        >>> Usage.of({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": details})
        Usage(model=None, input_tokens=4, output_tokens=2, cache_read_tokens=5, ...)
        >>> Usage.of("no usage") is None
        True

        Args:
            answer: The returned object. It is only looked at: what answers to every name states nothing.
            model: The model, in place of the one that the answer names.

        Returns:
            The usage, with the cost where one is stated. None where it is not known: where none is stated,
            all numbers are 0, or more tokens come from the cache than were read at all.

        Raises:
            TypeError: A coroutine that nobody awaited, a generator, a function or a class: no answer.
        """
        if type(answer) is Usage:  # `isinstance` would ask an object of another class
            return answer if model is None else replace(answer, model=model)
        if issubclass(type(answer), _NO_ANSWERS):
            raise TypeError(
                f"{type(answer).__name__}: expected the answer of a provider, or an item of its stream"
            )
        from ebbtide.events.provider_usage import usage_fields

        fields = usage_fields(answer)
        if fields is None:
            return None
        usage = cls(**fields)
        if model is not None:
            usage.model = model
        usage.drop_impossible_parts()
        if usage.cost_usd is not None and not is_cost(usage.cost_usd):
            usage.cost_usd = None
            if not usage.has_tokens:
                return None
        try:
            return usage.checked()
        except ConfigError:
            return None

    def updated(self, later: Usage) -> Usage:
        """Returns the usage after a later item of the same stream, whose numbers are sums so far.

        A number that the later one does not state stays: Anthropic states the input at the start and the
        output at the end.
        """
        amounts = {name: getattr(later, name) for name in ("model", "tier", *COUNTS)}
        # A cost belongs to the tokens that it was stated with.
        stays = later.cost_usd is None and later.tokens is None
        usage = Usage(
            cost_usd=self.cost_usd if stays else later.cost_usd,
            **{name: getattr(self, name) if value is None else value for name, value in amounts.items()},
        )
        usage.drop_impossible_parts()
        return usage

    @property
    def tokens(self) -> int | None:
        """Tokens of all classes, or None where no class is known."""
        classes = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        counts = [count for count in classes if count is not None]
        return sum(counts) if counts else None

    def drop_impossible_parts(self) -> None:
        """Sets to None every part that is larger than its class."""
        self.reasoning_tokens = possible_part(self.reasoning_tokens, self.output_tokens)
        self.cache_write_1h_tokens = possible_part(self.cache_write_1h_tokens, self.cache_write_tokens)

    @property
    def stated_cost(self) -> float | None:
        """The cost that is stated; None if there is none, and for a 0 beside tokens.

        >>> Usage(cost_usd=0.0, input_tokens=9).stated_cost, Usage(cost_usd=0.0).stated_cost
        (None, 0.0)
        """
        return None if self.cost_usd == 0 and self.has_tokens else self.cost_usd

    @property
    def has_tokens(self) -> bool:
        """True if there are tokens: more than none, in any class."""
        return bool(
            self.input_tokens or self.output_tokens or self.cache_read_tokens or self.cache_write_tokens
        )

    def checked(self) -> Usage:
        """Returns the usage itself, if every number can be.

        Raises:
            ConfigError: A count or a cost is negative, infinite, too large or no number; or a part is larger
                than its class.
        """
        for name in COUNTS:
            count = getattr(self, name)
            if count is not None and not is_count(count):
                raise ConfigError(f"{name} = {shown(count)}: expected a whole number, 0 or more, or None")
        for part, whole in PARTS.items():
            count, most = getattr(self, part), getattr(self, whole)
            if count is not None and possible_part(count, most) is None:
                raise ConfigError(f"{part} = {shown(count)}: expected a part of {whole} = {shown(most)}")
        if self.cost_usd is not None and not is_cost(self.cost_usd):
            raise ConfigError(f"cost_usd = {shown(self.cost_usd)}: expected dollars, 0 or more, or None")
        return self


def is_count(value: object) -> bool:
    """Returns True if a value can be a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def possible_part(part: object, whole: object) -> int | None:
    """Returns the number of a part; None if it is not known, no count, or larger than its class.

    >>> possible_part(3, 3), possible_part(4, 3), possible_part(3, None), possible_part(None, 3)
    (3, None, None, None)
    """
    if type(part) is not int or part < 0:
        return None
    most = 0 if whole is None else whole
    return part if type(most) is int and part <= most else None


def is_cost(value: object) -> bool:
    """Returns True if a value can be dollars; NaN fails every comparison."""
    return (
        type(value) is float or (isinstance(value, _NUMBER) and not isinstance(value, bool))
    ) and 0 <= value <= MOST_USD


def total(usages: Iterable[Usage]) -> Usage:
    """The sum over model calls; what none of them reports is not known."""
    usages, whole = tuple(usages), Usage()
    for name in (*COUNTS, "cost_usd"):
        amounts = [amount for usage in usages if (amount := getattr(usage, name)) is not None]
        if amounts:
            setattr(whole, name, sum(amounts))
    return whole


def rows_by_model(rows: Iterable[Usage]) -> tuple[Usage, ...]:
    """Sums the usages that sessions state, by model."""
    sums: dict[str | None, list[Usage]] = {}
    for row in rows:
        sums.setdefault(row.model, []).append(row)
    return tuple(replace(total(parts), model=model, tier=parts[0].tier) for model, parts in sums.items())
