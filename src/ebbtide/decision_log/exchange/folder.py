"""Decisions as pages in a folder, numbered once and for all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.decision_log.exchange.madr import folder_naming, title_of, write_madr
from ebbtide.decision_log.exchange.record_edits import edited_record
from ebbtide.decision_log.exchange.record_fields import number_of, record_fields
from ebbtide.decision_log.exchange.record_page import RecordPage
from ebbtide.decision_log.record.identifiers import origin_id
from ebbtide.decision_log.record.record import Decision, SourceDocument, page_name
from ebbtide.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported(Record):
    """The result of an export.

    Args:
        files: Name of the page of each decision, by id.
        new: How many decisions got a number now.
        changed: How many pages are new or say something else than before.
    """

    _SCHEMA: ClassVar = 1

    files: Mapping[str, str]
    new: int
    changed: int


def export_folder(decisions: Iterable[Decision], folder: Path) -> Exported:
    """Write a page for each decision into a folder, which may hold an earlier export.

    Numbers given earlier stay, and so do names of files. Pages that somebody else numbered are left alone.
    A decision that was imported from a record is written as that record, under its name; of a page that is
    there already only the lines change that state what was done since.

    Args:
        decisions: The decisions; new ones are numbered in this order.
        folder: Made where it is not there.

    Raises:
        ConfigError: The folder cannot be written, or what it remembers is broken.
    """
    rows = list(decisions)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        plan = _plan(rows, folder)
        titles = {
            entry.id: record_fields(entry.document.text).title if entry.document else title_of(entry)
            for entry in rows
        }
        pages = {
            entry.id: _record(entry, folder, plan.names, titles)
            if entry.document
            else write_madr(entry, plan.names)
            for entry in rows
        }
        remembered = {
            identifier: plan.names[identifier] for identifier in _not_stated(rows, plan.names, pages)
        }
        files = {**plan.files, **remembered}
        # First the numbers: what is interrupted after that goes on with the same ones. Where the records are
        # as they were imported there is nothing to remember.
        if plan.numbers or files:
            table = {"schema": 1, "numbers": plan.numbers, **({"files": files} if files else {})}
            _write(folder / NUMBERS, json.dumps(table, indent=2) + "\n")
        writes = sum(_write(folder / plan.names[entry.id], pages[entry.id]) for entry in rows)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return Exported(files=plan.names, new=plan.new, changed=writes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The page of each decision."""

    names: Mapping[str, str]
    numbers: Mapping[str, int]
    files: Mapping[str, str]
    new: int


def _plan(rows: Sequence[Decision], folder: Path) -> _Plan:
    numbers_before, files = _remembered(folder)
    names: dict[str, str] = {}
    for entry in rows:
        if entry.document is None:
            continue
        name = files.get(entry.id) or entry.document.name
        if (
            name
            and entry.id not in numbers_before
            and name not in names.values()
            and _is_of(entry.document, folder / name)
        ):
            names[entry.id] = name
    used = {number for name in names.values() if (number := number_of(name)) is not None}
    others = [entry for entry in rows if entry.id not in names]
    there = {number_of(path.name): path.name for path in sorted(folder.glob("*.md"))}
    used |= {int(match[1]) for path in folder.iterdir() if (match := _TAKEN.fullmatch(path.name))}
    numbers = assign_numbers((entry.id for entry in others), numbers_before, used)
    naming = folder_naming([*there.values(), *names.values()])
    for entry in others:
        number = numbers[entry.id]
        earlier = files.get(entry.id) or there.get(number) if entry.id in numbers_before else None
        names[entry.id] = earlier or naming(entry, number)
    return _Plan(
        names={entry.id: names[entry.id] for entry in rows},
        numbers=numbers,
        files=files,
        new=len(numbers) - len(numbers_before),
    )


def _not_stated(
    rows: Iterable[Decision], names: Mapping[str, str], pages: Mapping[str, str]
) -> Iterator[str]:
    """The decisions whose id nobody could tell from their page when it comes again."""
    for entry in rows:
        if entry.document is None:
            if entry.id not in pages[entry.id]:
                yield entry.id
            continue
        scope, origin = entry.scope, entry.origin or ""
        own_ids = {origin_id(scope.tenant, scope.agent, origin, at) for at in (entry.opened_at, None)}
        page = (names[entry.id], pages[entry.id])
        if entry.id not in own_ids or page != (entry.document.name, entry.document.text):
            yield entry.id


def _is_of(document: SourceDocument, path: Path) -> bool:
    """Returns True where no file is there, or this record, perhaps edited since."""
    return not path.exists() or RecordPage(_read(path)).title == RecordPage(document.text).title


def _record(entry: Decision, folder: Path, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """The record of a decision, from the page that is in the folder where there is one."""
    path = folder / names[entry.id]
    text = entry.document.text if entry.document else ""
    return edited_record(entry, _read(path) if path.exists() else text, names, titles)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _write(path: Path, text: str) -> bool:
    """Writes a file; returns True where its content changed."""
    content = text.encode("utf-8", "surrogateescape")
    if path.is_file() and path.read_bytes() == content:
        return False
    draft = path.with_suffix(f"{path.suffix}.part")
    draft.write_bytes(content)
    draft.replace(path)
    return True


NUMBERS = "numbers.json"  #: the file in the folder that remembers
# More digits are the date that a name begins with.
_TAKEN = re.compile(r"(\d{1,6})-.*\.md")


def read_files(folder: Path) -> dict[str, str]:
    """The name of the page of each id, of records that were changed since they were imported.

    Raises:
        ConfigError: The file that remembers is broken.
    """
    return _remembered(folder)[1]


def _remembered(folder: Path) -> tuple[dict[str, int], dict[str, str]]:
    """The number, and the name of the page, of each id; none where nothing was exported to this folder yet.

    Raises:
        ConfigError: The file that remembers is broken.
    """
    path = folder / NUMBERS
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}. Without it numbers would change.") from error
    is_ours = isinstance(table, Mapping) and {"numbers", "files"} & table.keys()
    numbers, files = (table.get("numbers", {}), table.get("files", {})) if is_ours else (None, {})
    if not isinstance(numbers, dict) or not all(type(number) is int for number in numbers.values()):
        raise ConfigError(f"{path}: expected an object 'numbers' with a whole number for each id")
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        raise ConfigError(f"{path}: expected an object 'files' with a name for each id")
    return numbers, {identifier: name for identifier, name in files.items() if page_name(name) == name}


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
