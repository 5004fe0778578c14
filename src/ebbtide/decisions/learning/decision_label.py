"""Labels that people gave to candidates: decision, or none. A file of JSON lines keeps them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ebbtide.codec import WireError, from_wire, to_wire
from ebbtide.errors import ConfigError, shown
from ebbtide.settings_file import read_text

_LARGEST = 64 << 20  # bytes of a file


class LabelKind(StrEnum):
    """The label of a candidate."""

    DECISION = "decision"
    NONE = "none"  #: no decision
    SKIPPED = "skipped"  #: seen, and left open


class Draw(StrEnum):
    """The way in which a candidate was drawn for labelling."""

    RANDOM = "random"  #: by lot, so that rates over these hold for all
    UNCERTAIN = "uncertain"  #: because the gate was least sure of it
    ELSEWHERE = "elsewhere"  #: it came with its label


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLabel:
    """One label.

    Args:
        text: The candidate, in its own words.
        label: What somebody said of it.
        document: Where it stands: a file, or a session. Labels of one document go to one fold.
        place: Where in the document, such as ``turn-12-1``; empty where nobody said.
        rules: Ids of the gate's rules that fired when it was labelled.
        draw: How it came to be labelled.

    Raises:
        ConfigError: There is no text.
    """

    text: str
    label: LabelKind
    document: str = ""
    place: str = ""
    rules: tuple[str, ...] = ()
    draw: Draw = Draw.ELSEWHERE

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ConfigError(f"text = {shown(self.text, 40)}: expected the words of a candidate")


def read_labels(path: Path) -> list[DecisionLabel]:
    """The labels in a file, one JSON object a line: at least ``text`` and ``label``.

    Raises:
        ConfigError: The file cannot be read, or a line is no label; the message names the line.
    """
    try:
        text = read_text(path, _LARGEST)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8: {error}") from error
    labels = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            labels.append(from_wire(DecisionLabel, json.loads(line)))
        except (WireError, ConfigError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{path}:{number}: {error}. Expected such as "
                '{"text": "We use SQLite", "label": "decision"}, or "none"'
            ) from error
    return labels


def write_labels(path: Path, labels: Iterable[DecisionLabel]) -> None:
    """Write labels into a file, all of them or, where that fails, none.

    Raises:
        ConfigError: The file cannot be written.
    """
    lines = [f"{json.dumps(to_wire(label), ensure_ascii=False)}\n" for label in labels]
    write_whole(path, "".join(lines))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it sees the old one or the new one, and nothing between.

    Raises:
        ConfigError: It cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
