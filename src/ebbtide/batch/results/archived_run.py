"""The runs of an archive: each says what it is called, and can be checked by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ebbtide.checking import check, check_events, check_trace, refuse_nothing
from ebbtide.errors import ConfigError, TranscriptError, error_text
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.reading import Trace, open_trace

if TYPE_CHECKING:
    from ebbtide.budget.ledger.inherited_calls import InheritedCalls

_PIECE = 1 << 20


class ArchivedRun(Protocol):
    """One run."""

    @property
    def run_id(self) -> str | None:
        """The run; None where even that is not known."""

    @property
    def source(self) -> str:
        """The file or the table that it is read from."""

    def summary(self, options: RunOptions) -> RunSummary:
        """Checks the run and summarizes it.

        Raises:
            EbbtideError: It cannot be read.
        """

    def read(self) -> Iterator[Event | Round]:
        """Its events, in order.

        Raises:
            EbbtideError: It cannot be read, or no event of it can be.
        """


@dataclass(frozen=True, slots=True)
class FileRun:
    """A run in a file of any known format.

    Args:
        source: Its path, or a URL that fsspec opens, such as ``s3://bucket/run.jsonl``.
        is_named: Whether somebody named the file itself; plain text that a search came upon has to be a
            conversation beyond doubt.
        inherited: Calls in it that another file of the archive owns.
        is_alone: Whether nobody has looked for those.
    """

    source: str
    is_named: bool = False
    inherited: InheritedCalls | None = None
    is_alone: bool = True

    @property
    def run_id(self) -> str:
        """The path or the URL."""
        return self.source

    def summary(self, options: RunOptions) -> RunSummary:
        """As `ArchivedRun.summary`."""
        if self.is_local:
            return check(
                self.source,
                options,
                is_named=self.is_named,
                inherited=self.inherited,
                is_alone=self.is_alone,
            )
        return check_trace(self._trace(), options)

    @property
    def is_local(self) -> bool:
        """True if it is a path, and no URL."""
        return "://" not in self.source

    def read(self) -> Iterator[Event | Round]:
        """As `ArchivedRun.read`."""
        return events_of(self._trace())

    def _trace(self) -> Trace:
        if self.is_local:
            return open_trace(self.source, is_named=self.is_named)
        return Trace.of(pieces_at(self.source), source=self.source, is_named=self.is_named)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRun:
    """A run whose events are at hand.

    Args:
        source: The table that they come from.
        events: In order; they are gone through once.
    """

    run_id: str | None
    source: str
    events: Iterable[Event | Round]
    form: str = "events"

    def summary(self, options: RunOptions) -> RunSummary:
        """As `ArchivedRun.summary`."""
        return check_events(self.read(), options, source=self.source, form=self.form)

    def read(self) -> Iterator[Event | Round]:
        """As `ArchivedRun.read`."""
        if self.run_id is None:
            raise TranscriptError("the run has no id", source=self.source)
        return iter(self.events)


@dataclass(frozen=True, slots=True)
class RefusedRun:
    """Something that cannot be opened, such as a named pipe: it is listed, and nothing is tried.

    Args:
        source: Its path, or the table.
        no_trace: Whether it is something else than a trace.
        name: The run, where that is not its path.
        has_id: Whether it is known at all which run it is.
        line: The line of the source, from 1.
    """

    source: str
    what: str
    no_trace: bool = False
    name: str | None = None
    has_id: bool = True
    line: int | None = None

    @property
    def run_id(self) -> str | None:
        """The run; None where that is not known."""
        if not self.has_id:
            return None
        return self.source if self.name is None else self.name

    def summary(self, _options: RunOptions) -> RunSummary:
        """As `ArchivedRun.summary`."""
        raise self._error()

    def read(self) -> Iterator[Event | Round]:
        """As `ArchivedRun.read`."""
        raise self._error()

    def _error(self) -> TranscriptError:
        return TranscriptError(self.what, source=self.source, line=self.line, no_trace=self.no_trace)


def events_of(trace: Trace) -> Iterator[Event | Round]:
    """The events of an open trace.

    Raises:
        TranscriptError: Nothing in it can be read.
    """
    yield from trace
    refuse_nothing(trace.source, trace.events, trace.faults)


def file_system(url: str) -> tuple[Any, str]:
    """The file system of fsspec that a URL names, and the path in it.

    Raises:
        ConfigError: The package fsspec, or the one for the protocol, is not installed.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ConfigError(
            f"{url}: URLs need the package fsspec. Install it: pip install 'ebbtide[archive]'"
        ) from error
    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{url}: {error}") from error
    return system, path


def pieces_at(url: str) -> Iterator[bytes]:
    """The content of a file at a URL, in pieces of one MB.

    Raises:
        ConfigError: The package fsspec, or the one for the protocol, is not installed.
        TranscriptError: It cannot be read.
    """
    system, path = file_system(url)
    try:
        with system.open(path, "rb") as file:
            while piece := file.read(_PIECE):
                yield piece
    except Exception as error:
        raise TranscriptError(f"cannot be read: {error_text(error)}", source=url) from error
