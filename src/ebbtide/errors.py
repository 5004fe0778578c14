"""What can go wrong, as a tree.

EbbtideError
├── ConfigError        a profile, threshold or argument that cannot be used (also a ValueError)
├── SemanticError      the semantic level cannot run: a library, weights or an endpoint fails it
└── TranscriptError    input that cannot be read as a conversation (also a ValueError)

A message says what is wrong, where (file, line, path inside the document) and what to do.
Verdicts are values; nothing here is raised for CONTINUE, SHIP or ESCALATE.
"""

from __future__ import annotations


class EbbtideError(Exception):
    """The root of every exception that Ebbtide raises on purpose."""


class ConfigError(EbbtideError, ValueError):
    """A profile, threshold or argument that cannot be used."""


class SemanticError(EbbtideError):
    """The semantic level cannot run: a library or weights are missing or wrong, or an endpoint fails."""


class TranscriptError(EbbtideError, ValueError):
    """Input that cannot be read as a conversation.

    Args:
        what: What is wrong, with the offending value.
        source: File name, or ``<stdin>``.
        line: Line number in the file, from 1.
        path: Place inside the document, such as ``rounds[3].outputs.claims``.
        hint: What to do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        source: str | None = None,
        line: int | None = None,
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.source = source
        self.line = line
        self.path = path
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line) if part is not None)
        text = ": ".join(part for part in (place, self.path, self.what) if part)
        return f"{text}. {self.hint}" if self.hint else text

    def located(self, *, source: str | None = None, line: int | None = None) -> TranscriptError:
        """The same error, with the file and line filled in where they were not known."""
        return TranscriptError(
            self.what,
            source=self.source or source,
            line=self.line if self.line is not None else line,
            path=self.path,
            hint=self.hint,
        )
