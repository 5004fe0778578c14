"""Kinds that sentences get from their place: the headings above them, and the line above their list."""

from __future__ import annotations

from ebbtide.text.extraction.blocks import Form
from ebbtide.text.extraction.sentences import Sentence


class Sections:
    """Kinds from the headings above a sentence, and from the line above a list."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str | None]] = []
        self._lead_in: tuple[int, str] | None = None  # the indent that a list must exceed, and its kind
        self._in_list = False

    def heading(self, level: int, kind: str | None) -> None:
        """Takes a heading of a level from 1; one that says no kind keeps that of the headings above it."""
        self._lead_in = None
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, kind or self._kind_of_heading()))

    def lead_in(self, sentence: Sentence, kind: str) -> None:
        """Takes a line that announces the list below it."""
        self._lead_in = (sentence.depth if sentence.form is Form.ITEM else -1, kind)
        self._in_list = False

    def kind(self, sentence: Sentence) -> str | None:
        """Returns the kind that its place gives to a sentence; only the first of a block gets one."""
        if not sentence.opens:
            return None
        if self._lead_in is not None:
            depth, kind = self._lead_in
            was_in_list = self._in_list
            self._in_list = sentence.form is Form.ITEM and sentence.depth > depth
            if not self._in_list:
                self._lead_in = None
            if self._in_list or not was_in_list:
                return kind
        return self._kind_of_heading()

    def _kind_of_heading(self) -> str | None:
        return self._headings[-1][1] if self._headings else None
