"""Decisions as pages in a folder, numbered once and for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ebbtide.decision_log.exchange.madr import file_name, write_madr
from ebbtide.decision_log.exchange.numbering import (
    NUMBERS,
    assign_numbers,
    numbers_in,
    numbers_text,
    read_numbers,
)
from ebbtide.decision_log.exchange.nygard import write_nygard
from ebbtide.decision_log.record import Decision
from ebbtide.errors import ConfigError

PageWriter = Callable[[Decision, int, Mapping[str, str]], str]


def madr_page(decision: Decision, _number: int, names: Mapping[str, str]) -> str:
    """A page in the style of MADR; its number stands in the name of its file."""
    return write_madr(decision, names)


nygard_page: PageWriter = write_nygard


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written.

    Args:
        files: Name of the page of each decision, by id.
        new: How many decisions got a number now.
        changed: How many pages are new or say something else than before.
    """

    files: Mapping[str, str]
    new: int
    changed: int

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {"schema": 1, "files": dict(self.files), "new": self.new, "changed": self.changed}


def export_folder(decisions: Iterable[Decision], folder: Path, page: PageWriter = madr_page) -> Exported:
    """Write a page for each decision into a folder, which may hold an earlier export.

    Numbers given earlier stay, and so do names of files. Pages that somebody else numbered are left alone.

    Args:
        decisions: The decisions; new ones are numbered in this order.
        folder: Made where it is not there.
        page: What a page looks like.

    Raises:
        ConfigError: The folder cannot be written, or what it remembers is broken.
    """
    rows = list(decisions)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numbers_before = read_numbers(folder)
        numbers = assign_numbers((decision.id for decision in rows), numbers_before, numbers_in(folder))
        there = {path.name[:4]: path.name for path in sorted(folder.glob("[0-9]*-*.md"))}
        names = {
            decision.id: (there.get(f"{numbers[decision.id]:04}") if decision.id in numbers_before else None)
            or file_name(decision, numbers[decision.id])
            for decision in rows
        }
        # First the numbers: what is interrupted after that goes on with the same ones.
        _write(folder / NUMBERS, numbers_text(numbers))
        pages = ((folder / names[entry.id], page(entry, numbers[entry.id], names)) for entry in rows)
        writes = sum(_write(path, text) for path, text in pages)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return Exported(files=names, new=len(numbers) - len(numbers_before), changed=writes)


def _write(path: Path, text: str) -> bool:
    """Whether the file said something else before."""
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
        return False
    draft = path.with_suffix(f"{path.suffix}.part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    return True
