"""What the commands of the decision log read from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ebbtide.clock import system_clock
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus
from ebbtide.decision_log.record.record import Relation
from ebbtide.decisions.candidate import Reason, ReasonKind
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.traces.input.source import STDIN, read_bytes

_LINKS = (Relation.DEPENDS_ON, Relation.RELATED_TO, Relation.CONTRADICTS, Relation.SUPERSEDES)
_LONGEST = 4 << 20  # bytes of a text
_SPAN = re.compile(r"\+?(\d{1,5})([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def typed_text(argument: str | None, file: Path | None, what: str = "description") -> str:
    """A text as an argument, ``-`` for standard input, or from a file.

    Raises:
        ConfigError: There is none, or there are two.
        TranscriptError: It cannot be read, or it is not UTF-8.
    """
    if (argument is None) == (file is None):
        raise ConfigError(f"one {what} is needed: as an argument, - for standard input, or --file FILE")
    if argument is not None and argument != STDIN:
        return _utf8(argument.encode(errors="surrogateescape"), f"the {what}")
    source = STDIN if file is None else file
    return _utf8(read_bytes(source, _LONGEST), str(file or "<stdin>")).rstrip("\r\n")


def moment_of(text: str | None, name: str) -> float | None:
    """A time as written on the command line: a date, a date with a time, or ``30d`` from now (h, d, w, m, y).

    Raises:
        ConfigError: It is written in another way.
    """
    if text is None:
        return None
    span = _SPAN.fullmatch(text.strip().lower())
    if span:
        return system_clock() + timedelta(hours=int(span[1]) * _HOURS[span[2]]).total_seconds()
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ConfigError(
            f"{name} {text!r:.60}: expected such as 2026-03-01, 2026-03-01T10:00Z or 30d"
        ) from None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()


def past_moment_of(text: str | None, name: str) -> float | None:
    """Likewise, but ``30d`` is so long ago."""
    span = None if text is None else _SPAN.fullmatch(text.strip().lower())
    if span:
        return system_clock() - timedelta(hours=int(span[1]) * _HOURS[span[2]]).total_seconds()
    return moment_of(text, name)


def reasons_of(texts: Sequence[str]) -> tuple[Reason, ...]:
    """Reasons as written on the command line: ``analysis: it is faster``, or without a kind."""
    reasons = []
    for text in texts:
        kind, colon, rest = text.partition(":")
        if colon and kind.strip().lower() in tuple(ReasonKind) and rest.strip():
            reasons.append(Reason(text=rest.strip(), kind=ReasonKind(kind.strip().lower())))
        else:
            reasons.append(Reason(text=text))
    return tuple(reasons)


def links_of(texts: Sequence[str]) -> tuple[tuple[Relation, str], ...]:
    """Links as written on the command line: ``depends_on=ID``.

    Raises:
        ConfigError: One is written in another way.
    """
    links = []
    for text in texts:
        kind, _, beginning = text.partition("=")
        name = kind.strip().lower().replace("-", "_")
        if name not in _LINKS or not beginning.strip():
            raise ConfigError(f"--link {text!r:.60}: expected KIND=ID, where KIND is {', '.join(_LINKS)}")
        links.append((Relation(name), beginning.strip()))
    return tuple(links)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTexts:
    """What a record says, as it is written on the command line."""

    context: str | None = None
    choice: str | None = None
    options: Sequence[str] | None = None
    pros: Sequence[str] | None = None
    cons: Sequence[str] | None = None
    consequences: Sequence[str] | None = None
    deciders: Sequence[str] | None = None

    def particulars(
        self, standing: RecordStatus | None = None, *, titles: Sequence[str] = (), every: bool = False
    ) -> Particulars | None:
        """What was typed; None where nothing was.

        Args:
            standing: What the team says of the decision.
            titles: The options that it has already.
            every: Whether options without arguments are among it.

        Raises:
            ConfigError: A text is empty, or an argument is of no option.
        """
        options, consequences, deciders = self.options or (), self.consequences or (), self.deciders or ()
        texts = (self.context, self.choice, *options, *consequences, *deciders)
        if any(text is not None and not text.strip() for text in texts):
            raise ConfigError("--context, --choice, --option, --consequence and --decider need a text")
        names = list(dict.fromkeys((*titles, *options)))
        pros, cons = _arguments(self.pros or (), names, "--pro"), _arguments(self.cons or (), names, "--con")
        weighed = tuple(
            RecordOption(title=name, pros=tuple(pros[name]), cons=tuple(cons[name]))
            for name in names
            if pros[name] or cons[name] or (every and name in options)
        )
        particulars = Particulars(
            standing=standing,
            context=self.context,
            choice=self.choice,
            options=weighed,
            consequences=tuple(consequences),
            deciders=tuple(deciders),
        )
        return None if particulars == Particulars() else particulars


def _arguments(texts: Sequence[str], names: Sequence[str], flag: str) -> dict[str, list[str]]:
    """The arguments of each option; of two names with which one begins, the longer counts."""
    arguments: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        fitting = [name for name in names if text.startswith(f"{name}:") and text[len(name) + 1 :].strip()]
        if not fitting:
            there = ", ".join(names) or "none; --option names one"
            raise ConfigError(f"{flag} {text!r:.60}: expected OPTION: TEXT, where the options are {there}")
        name = max(fitting, key=len)
        arguments[name].append(text[len(name) + 1 :].strip())
    return arguments


def _utf8(data: bytes, source: str) -> str:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise TranscriptError(
            f"not UTF-8: 0x{byte:02x} at byte {error.start}", source=source, hint="Save it as UTF-8."
        ) from error
