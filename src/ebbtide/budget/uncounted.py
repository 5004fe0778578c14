"""Limits that cannot be counted, with what has to be known to count them."""

from __future__ import annotations

from ebbtide.budget.limits import LimitKind, Limits, Missing
from ebbtide.budget.tally import Tally, is_model_call
from ebbtide.codec import State
from ebbtide.events.event import Event, NoticeKind, is_spending

_CHAINS, _SUBJECT = 4096, 200  # chains whose latest model call came without usage; characters of a name


class UncountedLimits(State):
    """Looks for what has to be known to count the limits.

    Tokens without a known cost are missing their price at once. The usage of a model call may come later: it
    is missing when the next call of that chain is asked for, or made. A failed call is missing nothing.

    Args:
        tally: What it took; it has counted an event before this one sees it.

    Attributes:
        marks: The limits that cannot be counted: what is missing, and of which model or agent.
    """

    __slots__ = ("_bare", "_limits", "_owed", "_tally", "marks")

    marks: dict[LimitKind, tuple[Missing, str]]
    _bare: dict[str, dict[LimitKind, str]]  # by chain: limits, and the call without usage
    _owed: dict[LimitKind, int]  # calls without usage for which none came later

    def __init__(self, limits: Limits, tally: Tally) -> None:
        self._limits = limits
        self._tally = tally
        self._bare = {}
        self._owed = {}
        self.marks = {}

    def see(self, event: Event, *, clocked: bool) -> bool:
        """Take an event.

        Args:
            clocked: Whether a time came in another way.

        Returns:
            Whether a limit has just come to be uncounted.
        """
        before = len(self.marks)
        tally, usage = self._tally, event.usage
        is_call = is_model_call(event)
        if is_call and self._bare:
            self._give_up(event.chain_id)
        spends = is_spending(event)
        if is_call or spends:
            cost = tokens = None
            if spends:
                cost, tokens = tally.last_cost, tally.last_tokens
            if self._limits.cost_usd is not None:
                if tokens and cost is None:
                    self._mark(LimitKind.COST_USD, Missing.PRICE, (usage and usage.model) or "")
                else:
                    self._state(event, LimitKind.COST_USD, cost, is_call=is_call)
            if self._limits.tokens is not None:
                self._state(event, LimitKind.TOKENS, tokens, is_call=is_call)
        if self._lacks_time and not clocked and tally.model_calls + tally.tool_calls > 1:
            self._mark(LimitKind.WALL_S, Missing.TIME, "")
        return len(self.marks) > before

    def ask(self, chain_id: str | None, *, clocked: bool) -> bool:
        """Take that the next model call of a chain is asked for; gives what `see` gives."""
        before = len(self.marks)
        if chain_id is not None and self._bare:
            self._give_up(chain_id)
        if self._lacks_time and not clocked and self._tally.model_calls + self._tally.tool_calls:
            self._mark(LimitKind.WALL_S, Missing.TIME, "")
        return len(self.marks) > before

    def at_end(self, *, clocked: bool) -> dict[LimitKind, tuple[Missing, str]]:
        """The limits that could not be counted, if nothing more comes; usage may have come late."""
        marks = {kind: mark for kind, mark in self.marks.items() if mark[0] is Missing.PRICE}
        for kind, calls in self._owed.items():
            if calls:
                marks.setdefault(kind, self.marks.get(kind, (Missing.USAGE, "")))
        if self._lacks_time and not clocked and self._tally.model_calls + self._tally.tool_calls:
            marks[LimitKind.WALL_S] = (Missing.TIME, "")
        return marks

    def _state(self, event: Event, kind: LimitKind, amount: int | None, *, is_call: bool) -> None:
        bare = self._bare.get(event.chain_id)
        calls = self._owed.get(kind, 0)
        if amount is not None:
            if bare is not None:
                bare.pop(kind, None)
            if getattr(event, "kind", None) is NoticeKind.TOTAL:
                self._owed[kind] = 0
                self.marks.pop(kind, None)
            elif calls and not is_call:
                self._owed[kind] = calls - 1
        elif is_call and not getattr(event, "error", False):
            self._owed[kind] = calls + 1
            subject = str(event.agent or "")[:_SUBJECT]
            if bare is None and len(self._bare) >= _CHAINS:
                self._mark(kind, Missing.USAGE, subject)
            else:
                self._bare.setdefault(event.chain_id, {})[kind] = subject

    @property
    def _lacks_time(self) -> bool:
        return self._limits.wall_s is not None and self._tally.first_ts is None

    def _give_up(self, chain_id: str) -> None:
        for kind, subject in self._bare.pop(chain_id, {}).items():
            self._mark(kind, Missing.USAGE, subject)

    def _mark(self, kind: LimitKind, missing: Missing, subject: str) -> None:
        if missing is Missing.PRICE or kind not in self.marks:  # a usage may come late, and no price
            self.marks[kind] = (missing, subject)
