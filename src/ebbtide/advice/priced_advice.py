"""Advices for projects: which changes would have saved money in their sessions, and how much a month."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ebbtide.advice.estimate import Estimate, PaidSession, estimate, paid_sessions
from ebbtide.advice.kinds import KINDS, AdviceKind
from ebbtide.advice.session_record import SessionRecord

LEAST_SESSIONS: Final = 5  #: of a project; fewer say nothing of the next ones
_LEAST_USD: Final = 1.0  # a month
_LEAST_SHARE: Final = 0.005  # of what the sessions cost
_LEAST_TOKENS: Final = 1_000_000  # a month, where no price is known


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedAdvice:
    """A change that the sessions of a project speak for.

    Args:
        name: What `--apply` takes: the same for the same kind and project.
        project: The folder; None where the setting holds for all projects.
        before: The sessions, for those that come later to be held against.
        example: The dearest answer that it is about, in words; empty where it is about none.
    """

    name: str
    project: str | None
    kind: AdviceKind
    expected: Estimate
    before: tuple[PaidSession, ...]
    example: str = ""


def advices(records: Iterable[SessionRecord]) -> list[PricedAdvice]:
    """Returns the advices that sessions speak for, the dearest first, those without a price last.

    One is given where five sessions of a project have a time, and where the interval of the saving is above
    zero: one dear session alone is no reason.
    """
    groups: dict[tuple[str, str | None], list[SessionRecord]] = defaultdict(list)
    for record in records:
        if record.calls:
            groups[record.agent, None].append(record)
            if record.project is not None:
                groups[record.agent, record.project].append(record)
    found = [
        advice
        for (agent, project), sessions in groups.items()
        for kind in KINDS.values()
        if kind.change.agent.value == agent
        and kind.change.in_project == (project is not None)
        and (advice := _advice(kind, project, sessions)) is not None
    ]
    return sorted(found, key=lambda advice: (-(advice.expected.usd or 0.0), advice.name))


def _advice(kind: AdviceKind, project: str | None, records: Sequence[SessionRecord]) -> PricedAdvice | None:
    expected = estimate([kind.replay(record) for record in records], records)
    if len(records) < LEAST_SESSIONS or expected is None or not _is_worth(expected):
        return None
    digest = hashlib.sha256(f"{kind.change.agent.value}\0{project}".encode(errors="replace")).hexdigest()
    answers = [answer for record in records for answer in (kind.answers(record) if kind.answers else ())]
    dearest = max(answers, key=lambda answer: (answer.cost, answer.tokens), default=None)
    return PricedAdvice(
        name=f"{kind.name}-{digest[:6]}",
        project=project,
        kind=kind,
        expected=expected,
        before=paid_sessions(kind, records),
        example="" if dearest is None else dearest.title,
    )


def _is_worth(expected: Estimate) -> bool:
    if expected.usd is None or expected.interval is None or expected.share is None:
        return expected.usd is None and expected.tokens >= _LEAST_TOKENS
    enough = expected.sessions >= LEAST_SESSIONS and expected.share >= _LEAST_SHARE
    return enough and expected.usd >= _LEAST_USD and expected.interval.low > 0
