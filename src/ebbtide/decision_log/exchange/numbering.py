"""The numbers of decisions in a folder of records: given at export, kept ever after.

Ids do not collide when two branches record decisions, numbers do. So the log knows ids only, and the folder
remembers which number each of them was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ebbtide.errors import ConfigError

NUMBERS = "numbers.json"  #: the file in the folder that remembers
_TAKEN = re.compile(r"(\d{1,9})-.*\.md")


def read_numbers(folder: Path) -> dict[str, int]:
    """The number of each id; empty where nothing was exported to this folder yet.

    Raises:
        ConfigError: The file that remembers is broken.
    """
    path = folder / NUMBERS
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}. Without it numbers would change.") from error
    numbers = table.get("numbers") if isinstance(table, Mapping) else None
    if not isinstance(numbers, dict) or not all(type(number) is int for number in numbers.values()):
        raise ConfigError(f"{path}: expected an object 'numbers' with a whole number for each id")
    return numbers


def assign_numbers(
    ids: Iterable[str], before: Mapping[str, int], reserved: Iterable[int] = ()
) -> dict[str, int]:
    """A number for each id: the one that it has, or the next that is free, in the order of the ids.

    >>> assign_numbers(["b", "c", "d"], {"a": 1, "c": 2}, reserved=[5])
    {'a': 1, 'c': 2, 'b': 6, 'd': 7}
    """
    numbers = dict(before)
    last = max([0, *numbers.values(), *reserved])
    for name in ids:
        if name not in numbers:
            last += 1
            numbers[name] = last
    return numbers


def numbers_in(folder: Path) -> set[int]:
    """The numbers of the records that are in a folder, whoever wrote them."""
    matches = (_TAKEN.fullmatch(path.name) for path in folder.iterdir()) if folder.is_dir() else ()
    return {int(match[1]) for match in matches if match}


def numbers_text(numbers: Mapping[str, int]) -> str:
    """What the file that remembers holds."""
    return json.dumps({"schema": 1, "numbers": dict(numbers)}, indent=2) + "\n"
