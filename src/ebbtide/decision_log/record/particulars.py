"""Particulars of a record beside the decision itself, in the parts that templates of records have.

Source: templates of MADR 4.0 and of Nygard's records.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Self

from ebbtide.errors import ConfigError


class RecordStatus(StrEnum):
    """The status of a decision in the records of a team."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DEPRECATED = "deprecated"


_Combine = Callable[[Iterable[str], Iterable[str]], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOption:
    """An option that was weighed, with what speaks for it, against it, and for neither.

    Args:
        title: What the option is called.
        pros: What speaks for it.
        cons: What speaks against it.
        neutral: What is worth knowing and speaks for neither.
    """

    title: str
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()
    neutral: tuple[str, ...] = ()

    def combined(self, other: RecordOption, combine: _Combine) -> RecordOption:
        """With each list of arguments combined with that of another one."""
        return replace(
            self,
            pros=combine(self.pros, other.pros),
            cons=combine(self.cons, other.cons),
            neutral=combine(self.neutral, other.neutral),
        )


_NO_OPTION = RecordOption(title="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Particulars:
    """Particulars of a record beside the decision. A field that nobody stated is None or empty.

    Args:
        standing: What the team says of it; None counts as accepted.
        context: The problem that is decided.
        choice: The option that was chosen.
        options: What was weighed, with the arguments.
        consequences: What follows from it.
        deciders: Who decided.

    >>> before = Particulars(context="Reports are slow", deciders=("Ann",))
    >>> after = before.amended_by(Particulars(context="Reports take a minute", deciders=("Bo",)))
    >>> after.context, after.deciders
    ('Reports take a minute', ('Ann', 'Bo'))
    """

    standing: RecordStatus | None = None
    context: str | None = None
    choice: str | None = None
    options: tuple[RecordOption, ...] = ()
    consequences: tuple[str, ...] = ()
    deciders: tuple[str, ...] = ()

    def amended_by(self, change: Particulars) -> Self:
        """With what another one says: its texts in the place of these, its lists added to these."""
        options = {option.title: option for option in self.options}
        for option in change.options:
            before = options.get(option.title)
            options[option.title] = option if before is None else before.combined(option, _joined)
        return replace(
            self,
            standing=change.standing or self.standing,
            context=self.context if change.context is None else change.context,
            choice=self.choice if change.choice is None else change.choice,
            options=tuple(options.values()),
            consequences=_joined(self.consequences, change.consequences),
            deciders=_joined(self.deciders, change.deciders),
        )

    def beyond(self, before: Particulars) -> Self:
        """These texts, and of the lists only what an earlier one does not have."""
        options = {option.title: option for option in before.options}
        return replace(
            self,
            options=tuple(
                option.combined(options.get(option.title, _NO_OPTION), _new)
                for option in self.options
                if option != options.get(option.title)
            ),
            consequences=_new(self.consequences, before.consequences),
            deciders=_new(self.deciders, before.deciders),
        )

    def differences(self, other: Particulars) -> tuple[str, ...]:
        """The names of the fields in which another one says something else."""
        names = (field.name for field in fields(self))
        return tuple(name for name in names if getattr(self, name) != getattr(other, name))


def _new(texts: Iterable[str], before: Iterable[str]) -> tuple[str, ...]:
    earlier = frozenset(before)
    return tuple(text for text in texts if text not in earlier)


def _joined(texts: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*texts, *more)))


WORTH_IT = 2048  #: characters from which a text is packed
_LARGEST = 64 << 20  # bytes


def pack(text: str) -> str:
    """A text, packed."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def unpack(packed: str) -> str:
    """Returns the text that `pack` packed.

    Raises:
        ConfigError: It is nothing that `pack` wrote, or more than 64 MB.

    >>> unpack(pack("a record"))
    'a record'
    """
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(base64.b64decode(packed, validate=True), _LARGEST)
        if not reader.eof:
            raise ConfigError("document.packed: it is cut off, or longer than 64 MB")
        return content.decode("utf-8", "surrogatepass")
    except (ValueError, TypeError, zlib.error) as error:
        raise ConfigError(f"document.packed: it cannot be read: {error}") from error
