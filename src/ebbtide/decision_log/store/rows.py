"""A decision as a row of the table of decisions, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ebbtide.decision_log.record.events import canonical_json
from ebbtide.decision_log.record.identifiers import sample_key
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decision_log.record.review import outcome_of
from ebbtide.decision_log.record.wire import from_wire, to_wire
from ebbtide.decision_log.store.search_words import search_words
from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.decisions.repeats.subject import LONGEST_SUBJECT, subject_keys
from ebbtide.errors import StoreError

_UNSEARCHED = frozenset({Status.OPENED, Status.ABANDONED, Status.PURGED})
_LONGEST_NAME = 200
#: What stands in a column of times that cannot be empty: it is after every time, and after every window.
UNKNOWN_TIME = 2e300


def row_of(decision: Decision, *, words_too: bool = True) -> tuple[Any, ...]:
    """The values of a row, in the order of `COLUMNS`: what is asked for in SQL, and the rest as JSON.

    Args:
        words_too: Whether its first words are wanted, which do not change before they are taken out.
    """
    state = to_wire(decision)
    candidate = decision.candidate
    scope = decision.scope
    state["candidate"].pop("description")
    question = state.pop("asked", None)
    final = decision.settled_at is not None and bool(candidate.description)
    outcome = outcome_of(decision)
    primary = None if decision.assessment is None else decision.assessment.primary
    return (
        scope.tenant,
        scope.agent,
        decision.id,
        scope.session or "",
        decision.status.value,
        candidate.source.value,
        column_text(candidate.frame),
        None if candidate.category is None else column_text(candidate.category),
        UNKNOWN_TIME if decision.opened_at is None else decision.opened_at,
        decision.settled_at,
        decision.review_by,
        fingerprint(decision.question) if words_too and decision.question is not None else "",
        fingerprint(candidate.description) if final else "",
        int(decision.refused),
        "" if primary is None else column_text(primary.id),
        None if outcome is None else outcome.value,
        sample_key(decision.id),
        decision.version,
        None if question is None or not words_too else canonical_json(question),
        canonical_json(candidate.description),
        "" if decision.status in _UNSEARCHED else " ".join(search_words(_texts(decision))),
        canonical_json(state),
    )


def decision_of(row: Sequence[Any]) -> Decision:
    """The decision of a row of description, asked and state.

    Raises:
        StoreError: The row is damaged.
    """
    description, question, state_json = row[0], row[1], row[2]
    with DamagedRow():
        state = json.loads(state_json)
        state["candidate"]["description"] = json.loads(description)
        if question is not None:
            state["asked"] = json.loads(question)
        return from_wire(Decision, state)


class DamagedRow:
    """Turns what reading a row raises into a `StoreError`: nothing but damage makes it unreadable."""

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, ValueError | LookupError | TypeError | AttributeError):
            raise StoreError(
                f"a row of the log cannot be read ({error}): the log is damaged; `ebbtide decisions verify` "
                "says where. Restore a copy"
            ) from error


def column_text(text: str) -> str:
    """A name as it can stand in a column of any database; the whole of it is in the JSON beside it."""
    if text.isascii() and "\x00" not in text:
        return text[:_LONGEST_NAME]
    readable = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return readable[:_LONGEST_NAME]


def _texts(decision: Decision) -> Iterator[str]:
    candidate = decision.candidate
    yield candidate.description
    yield from candidate.options
    for reason in candidate.reasons:
        yield reason.text
    yield from candidate.assumptions
    if decision.question is not None:
        yield decision.question
    if decision.prediction is not None:
        yield decision.prediction
    if candidate.category is not None:
        yield candidate.category
    if decision.particulars is not None:
        yield from _texts_beside(decision.particulars)
    yield from decision.thoughts


def _texts_beside(particulars: Particulars) -> Iterator[str]:
    yield from (text for text in (particulars.context, particulars.choice) if text)
    for option in particulars.options:
        yield from (option.title, *option.pros, *option.cons, *option.neutral)
    yield from (*particulars.consequences, *particulars.deciders)


_REMEMBERED = 1 << 11  # texts: each is asked for when it is compared, and when it is written


def subject_hashes(tenant: str, agent: str, text: str) -> tuple[int, ...]:
    """The keys of a decision of an agent as signed numbers of 64 bits, the same in every process."""
    # A normal form can be shorter than its text, so that a long text may have a subject all the same.
    return (_remembered if len(text) <= LONGEST_SUBJECT else _hashes)(tenant, agent, text)


def _hashes(tenant: str, agent: str, text: str) -> tuple[int, ...]:
    return tuple(
        int.from_bytes(
            hashlib.blake2b(
                "\0".join((tenant, agent, *key)).encode("utf-8", "surrogatepass"), digest_size=8
            ).digest(),
            signed=True,
        )
        for key in subject_keys(text)
    )


_remembered = lru_cache(maxsize=_REMEMBERED)(_hashes)
