"""Names of the keys of somebody's rows, as written on a command line."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.errors import ConfigError


def field_names(text: str, names: Sequence[str], *, example: str) -> dict[str, str]:
    """Returns the keys by the names that they stand for; what is not named is left out.

    Args:
        text: ``NAME=KEY``, several with commas between them.
        example: The way to write it, for the error message.

    Raises:
        ConfigError: It is written in another way.

    >>> field_names("a=argument, b=key_point", ("a", "b", "same"), example="a=argument")
    {'a': 'argument', 'b': 'key_point'}
    """
    keys: dict[str, str] = {}
    for entry in text.split(","):
        name, _, key = (part.strip() for part in entry.partition("="))
        if name not in names or not key or name in keys:
            raise ConfigError(
                f"fields {text!r}: cannot read {entry.strip()!r}; expected NAME=KEY for each of "
                f"{', '.join(names)} that differs, such as {example}"
            )
        keys[name] = key
    return keys
