"""What one event took: model, tokens by class, and cost."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.errors import ConfigError, shown

MOST_USD = 1e12  #: dollars of one event; more is a mistake
MOST_TOKENS = 10**12  #: tokens of one class of one event, likewise
CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_NUMBER = (int, float)


@dataclass(slots=True, kw_only=True)
class Usage:
    """Tokens by class, and the cost where the provider reports it. What is not known is None.

    The classes do not overlap: where a provider counts cached tokens as input tokens too, take them out. A
    number that cannot be counts as not known where usage is counted, and is an error where it is `checked`.

    Args:
        model: Name of the model, as in the price table.
        input_tokens: Tokens read anew, 0 to 1e12; so are the others.
        output_tokens: Tokens written, those of its reasoning included.
        cache_read_tokens: Tokens read from a cache.
        cache_write_tokens: Tokens written to a cache.
        cost_usd: What it cost, 0 to 1e12. A 0 beside tokens counts as not known: that is what tools write
            that know no price. State what is free as a price of 0.
    """

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        """Tokens of all classes, or None where no class is known."""
        classes = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        counts = [count for count in classes if count is not None]
        return sum(counts) if counts else None

    @property
    def stated_cost(self) -> float | None:
        """The cost that is stated; None where there is none, and for a 0 beside tokens.

        >>> Usage(cost_usd=0.0, input_tokens=9).stated_cost, Usage(cost_usd=0.0).stated_cost
        (None, 0.0)
        """
        return None if self.cost_usd == 0 and self.has_tokens else self.cost_usd

    @property
    def has_tokens(self) -> bool:
        """Whether there are tokens: more than none, in any class."""
        return bool(
            self.input_tokens or self.output_tokens or self.cache_read_tokens or self.cache_write_tokens
        )

    def checked(self) -> Usage:
        """The usage itself, where every number can be.

        Raises:
            ConfigError: A count or a cost is negative, infinite, too large or no number.
        """
        for name in CLASSES:
            count = getattr(self, name)
            if count is not None and not is_count(count):
                raise ConfigError(f"{name} = {shown(count)}: expected a whole number, 0 or more, or None")
        if self.cost_usd is not None and not is_cost(self.cost_usd):
            raise ConfigError(f"cost_usd = {shown(self.cost_usd)}: expected dollars, 0 or more, or None")
        return self


def is_count(value: object) -> bool:
    """Whether a value can be a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def is_cost(value: object) -> bool:
    """Whether a value can be dollars; NaN fails every comparison."""
    return (
        type(value) is float or (isinstance(value, _NUMBER) and not isinstance(value, bool))
    ) and 0 <= value <= MOST_USD
