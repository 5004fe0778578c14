"""What one call took."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.errors import ConfigError

MOST = 1e12  #: dollars or tokens of one call; more is a mistake
_MOST_OF_A_CLASS = 1e11


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens by class, and the cost where the provider tells it. What is not known is None.

    The classes do not overlap: where a provider counts cached tokens as input tokens too, take them out.

    Args:
        model: Name of the model, as in the price table.
        input_tokens: Tokens read anew, 0 to 1e11; so are the others.
        output_tokens: Tokens written, those of its reasoning included.
        cache_read_tokens: Tokens read from a cache.
        cache_write_tokens: Tokens written to a cache.
        cost_usd: What it cost, 0 to 1e12.

    Raises:
        ConfigError: A count or a cost is negative, infinite or no number.
    """

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
            count = getattr(self, name)
            if count is not None and (
                isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST_OF_A_CLASS
            ):
                raise ConfigError(f"{name} = {count!r:.60}: expected a whole number, 0 or more, or None")
        cost = self.cost_usd
        if cost is not None and (
            isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= MOST
        ):
            raise ConfigError(f"cost_usd = {cost!r:.60}: expected dollars, 0 or more, or None")

    @property
    def tokens(self) -> int | None:
        """Tokens of all classes, or None where no class is known."""
        counts = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        known = [count for count in counts if count is not None]
        return sum(known) if known else None
