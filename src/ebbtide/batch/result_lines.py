"""The lines of a bill as results keep them: tokens of a run that told none are not known, and not 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ebbtide.budget.bill.bill import Amount, BillLine, WasteLine


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAmount:
    """Money and tokens.

    Args:
        cost_usd: Dollars; None where they are not known.
        tokens: Tokens that were paid for, each time that they were; None where they are not known.
        share: Of the whole bill, 0 to 1.
    """

    cost_usd: float | None
    tokens: int | None
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLine:
    """One line of the bill; as `BillLine`.

    Args:
        name: Of what.
        amount: What it took.
        first: Of it, what was paid when it was read for the first time.
        count: Events behind it.
        failures: Failed calls among them, of a tool.
        event: Where it began, of a request.
    """

    name: str
    amount: ResultAmount
    first: ResultAmount
    count: int
    failures: int
    event: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultWaste:
    """One kind of waste; as `WasteLine`.

    Args:
        kind: Which.
        amount: What would not have been spent without it.
        count: Calls.
        events: The first of them, by number in the run.
        example: One of them in words.
        tools: Of it, what belongs to calls of a tool.
    """

    kind: str
    amount: ResultAmount
    count: int
    events: tuple[int, ...]
    example: str
    tools: tuple[ResultLine, ...]


def result_lines(lines: Iterable[BillLine], *, are_tokens_known: bool) -> tuple[ResultLine, ...]:
    """The lines of a breakdown.

    Args:
        lines: As the bill has them.
        are_tokens_known: Whether the run told any tokens.
    """
    return tuple(
        ResultLine(
            name=line.name,
            amount=_amount(line.amount, are_tokens_known=are_tokens_known),
            first=_amount(line.first, are_tokens_known=are_tokens_known),
            count=line.count,
            failures=line.failures,
            event=line.event,
        )
        for line in lines
    )


def result_waste(lines: Iterable[WasteLine], *, are_tokens_known: bool) -> tuple[ResultWaste, ...]:
    """As `result_lines`, of what bought nothing or could have been had for less."""
    return tuple(
        ResultWaste(
            kind=line.kind.value,
            amount=_amount(line.amount, are_tokens_known=are_tokens_known),
            count=line.count,
            events=line.events,
            example=line.example,
            tools=result_lines(line.tools, are_tokens_known=are_tokens_known),
        )
        for line in lines
    )


def _amount(amount: Amount, *, are_tokens_known: bool) -> ResultAmount:
    tokens = amount.tokens if are_tokens_known else None
    return ResultAmount(cost_usd=amount.cost_usd, tokens=tokens, share=amount.share)
