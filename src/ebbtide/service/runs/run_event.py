"""One event as it came: read, as the line that is kept, and what it took."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import is_model_call
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.events.event_json import event_wire, read_event
from ebbtide.events.usage import MOST_TOKENS
from ebbtide.service.runs.moments import calendar_time, quarter_number
from ebbtide.text.redaction import redact
from ebbtide.traces.agents.ebbtide_events import line_event
from ebbtide.traces.input.json_value import json_value

_log = logging.getLogger(__name__)
_HIGHEST_SEQ: Final = 1 << 62
_LONGEST_NAME: Final = 200  # characters of a model, a chain


class EventCharge(NamedTuple):
    """Tokens and money that an event took."""

    quarter: int  # of an hour, since 1970
    model: str  # "" where none is named
    cost_usd: float | None
    tokens: int
    calls: int  # of models: 0 or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One event of a run, ready to be kept.

    Args:
        line: Its JSON, in one line.
        at: When it was, in seconds since 1970: when it came, where it does not say.
        charge: What it took; None where it took nothing.
    """

    event: Event
    line: bytes
    at: float
    charge: EventCharge | None

    @property
    def key(self) -> tuple[str, int | None]:
        """Identity within its run: chain and number; an event without a number is always new."""
        return plain_name(self.event.chain_id), self.event.seq


def read_lines(body: bytes, prices: Prices, now: float) -> Iterator[RunEvent]:
    """The events in lines of JSON, as they are read.

    Raises:
        TranscriptError: A line is not an event.
    """
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line.strip():
            event = line_event(line)
            if event is None:
                try:
                    event = read_event(json_value(line.decode()))
                except UnicodeDecodeError as error:
                    raise TranscriptError(f"not UTF-8: {error.reason}", line=number) from error
                except TranscriptError as error:
                    raise error.located(line=number) from error
            if event.seq is not None and not -_HIGHEST_SEQ < event.seq < _HIGHEST_SEQ:
                raise TranscriptError("seq: expected a number of at most 18 digits", line=number)
            yield run_event(event, prices, now, line=line)


def run_event(event: Event, prices: Prices, now: float, *, line: bytes | None = None) -> RunEvent:
    """An event, ready to be kept.

    Args:
        now: Seconds since 1970.
        line: Its JSON, where it came as one.
    """
    at = calendar_time(event.ts, now)
    text = json.dumps(event_wire(event), default=str).encode() if line is None else line
    return RunEvent(event=event, line=text, at=at, charge=_charge(event, prices, at))


def keepable_events(run_id: str, events: Iterable[Event], prices: Prices, now: float) -> list[RunEvent]:
    """Returns events of a run, ready to be kept; what cannot be kept is logged and left out."""
    items = []
    for event in events:
        try:
            items.append(run_event(event, prices, now))
        except (RecursionError, ValueError) as error:
            _log.warning("an event of %s cannot be kept: %s", run_id, error)
    return items


def stored_event(line: bytes) -> Event:
    """The event in a line that was kept."""
    event = line_event(line)
    return read_event(json.loads(line)) if event is None else event


def plain_name(text: Any) -> str:
    """A name that every database takes."""
    return plain_text(str(text)[:_LONGEST_NAME])


def plain_text(text: str) -> str:
    """A text that every database takes: PostgreSQL has no NUL, and nobody half a character."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


@lru_cache(maxsize=1024)
def masked_name(name: str) -> str:
    """A name without a key that somebody has put into it."""
    return redact(name)


def _charge(event: Event, prices: Prices, at: float) -> EventCharge | None:
    usage = event.usage
    if usage is None:
        return None
    cost, tokens = prices.cost(usage, at), usage.tokens or 0
    return EventCharge(
        quarter=quarter_number(at),
        model=masked_name(plain_name(usage.model or "")),
        cost_usd=cost,
        tokens=tokens if 0 <= tokens <= MOST_TOKENS else 0,
        calls=int(is_model_call(event)),
    )
