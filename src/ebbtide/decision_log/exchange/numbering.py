"""The numbers of decisions in a folder of records: given at export, kept ever after.

Ids do not collide when two branches record decisions, numbers do. So the log knows ids only, and the folder
remembers which number each of them was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ebbtide.decision_log.record import page_name
from ebbtide.errors import ConfigError

NUMBERS = "numbers.json"  #: the file in the folder that remembers
# More digits are the date that a name begins with.
_TAKEN = re.compile(r"(\d{1,6})-.*\.md")


def read_numbers(folder: Path) -> dict[str, int]:
    """The number of each id; empty where nothing was exported to this folder yet.

    Raises:
        ConfigError: The file that remembers is broken.
    """
    numbers = _table(folder).get("numbers", {})
    if not isinstance(numbers, dict) or not all(type(number) is int for number in numbers.values()):
        raise ConfigError(f"{folder / NUMBERS}: expected an object 'numbers' with a whole number for each id")
    return numbers


def read_files(folder: Path) -> dict[str, str]:
    """The name of the page of each id, of records that were changed since they were imported.

    Raises:
        ConfigError: The file that remembers is broken.
    """
    files = _table(folder).get("files", {})
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        raise ConfigError(f"{folder / NUMBERS}: expected an object 'files' with a name for each id")
    return {identifier: name for identifier, name in files.items() if page_name(name) == name}


def _table(folder: Path) -> Mapping[str, object]:
    path = folder / NUMBERS
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}. Without it numbers would change.") from error
    if not isinstance(table, Mapping) or not {"numbers", "files"} & table.keys():
        raise ConfigError(f"{path}: expected an object 'numbers' with a whole number for each id")
    return table


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


def numbers_text(numbers: Mapping[str, int], files: Mapping[str, str] | None = None) -> str:
    """What the file that remembers holds."""
    pages = {"files": dict(files)} if files else {}
    return json.dumps({"schema": 1, "numbers": dict(numbers), **pages}, indent=2) + "\n"
