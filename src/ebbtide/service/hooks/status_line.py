"""One line about a run, for the status line of Claude Code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.budget.tally import dollars
from ebbtide.service.hooks.hook_session import HookSession
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.supervision.summary.headline import course, headline
from ebbtide.supervision.verdict import Verdict
from ebbtide.traces.records import fields


def status_line(event: Mapping[str, Any], session: HookSession, verdict: Verdict | None, now: float) -> str:
    """Money so far, dollars an hour, and the verdict.

    Args:
        event: What Claude Code hands over: its own cost of the session is taken.
        session: What is remembered of the session.
        verdict: What holds; None where no event of it came.
        now: Seconds since 1970.
    """
    cost = fields.dollars(fields.mapping(event.get("cost")).get("total_cost_usd"))
    rate = session.burn_rate(now, cost)
    parts = ["ebbtide"]
    if cost is not None:
        parts.append(dollars(cost))
    if rate is not None:
        parts.append(f"{dollars(rate)}/h")
    return " ".join([*parts, _word(session, verdict)])


def _word(session: HookSession, verdict: Verdict | None) -> str:
    if session.is_off:
        return "off"
    if verdict is None:
        return "no event yet"
    how = course([(verdict.action, verdict.cause)])
    return headline(EndKind.UNKNOWN, verdict, verdict, course=how).value
