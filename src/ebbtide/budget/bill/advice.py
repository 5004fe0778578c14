"""The bill in one sentence, and what would have made it smaller, each with its money."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from ebbtide.budget.bill.bill import (
    Amount,
    Bill,
    CarriedEvent,
    ContextPart,
    Suggestion,
    TokenClass,
    WasteKind,
)
from ebbtide.budget.bill.context import Charge, cost_between
from ebbtide.budget.tally import dollars, usd
from ebbtide.text.excerpt import one_line

_LEAST_SHARE: Final = 0.03  # of the bill; less is no advice
_LEAST_USD: Final = 0.005
_WORTH_A_CLAUSE: Final = 0.08  # of the bill
_SUGGESTIONS: Final = 3
_BOUNDARIES: Final = 12  # requests whose new session is tried
_LEAST_CALLS: Final = 10  # that read earlier work again
_HANDOVER: Final = 2_000  # tokens that a new session reads of the one before
_LARGE_INSTRUCTIONS: Final = (0.25, 8_000)  # of the bill, and tokens
_WRITES: Final = (TokenClass.CACHE_WRITE, TokenClass.CACHE_WRITE_1H)
_FEW: Final = 3  # events that are named together
_QUOTED: Final = 60
_TIE: Final = 0.9  # of the largest share; the next one is named with it
_LEAST_NAME: Final = 8  # characters of a request that a person knows again: "A" is none
_NUMBERS: Final = ("", "one", "two", "three")

#: What the shares of a bill are called in its sentence: at the first reading, and read again.
_FIRST: Final = {
    ContextPart.TOOL_OUTPUT: "reading tool output",
    ContextPart.TOOL_CALL: "tool calls",
    ContextPart.PERSON: "reading messages of people",
    ContextPart.NEW_OUTPUT: "model output",
    ContextPart.INSTRUCTIONS: "instructions and tool definitions",
    ContextPart.NOTES: "harness notes",
    ContextPart.SUMMARY: "summaries of earlier work",
    ContextPart.SIDE: "short side conversations",
    ContextPart.UNRECORDED: "content that the trace does not show",
    ContextPart.OWN_WORDS: "adding model output to the context",
    ContextPart.UNATTRIBUTED: "spending that nothing explains",
}
_AGAIN: Final = {
    ContextPart.TOOL_OUTPUT: "re-reading earlier tool output",
    ContextPart.PERSON: "re-reading messages of people",
    ContextPart.OWN_WORDS: "re-reading earlier model output",
}
_WASTE: Final = {
    WasteKind.SAME_CALL: "{n} whose result was known, such as {example}",
    WasteKind.FAILED_AGAIN: "{n} sent again after the same failure, such as {example}",
    WasteKind.REFUSED_AGAIN: "{n} sent again after a refusal, such as {example}",
    WasteKind.REFUSED_ANSWER: "{n} whose result the harness rejected",
    WasteKind.FAILED_EDIT: "{n} whose change did not apply, such as {example}",
    WasteKind.OWN_EDIT: "{n} that changed lines of the run itself, such as {example}",
    WasteKind.SLICES: "{n} that read lines next to lines already read, such as {example}",
    WasteKind.TODO_LIST: "{n} that only updated the task list",
    WasteKind.LARGE_OUTPUT: "{n} that kept reading long results, such as {example}",
    WasteKind.CACHE_MISS: "{n} that re-read what the cache had held",
}
_ADVICE: Final = {
    WasteKind.SAME_CALL: "Do not repeat calls whose result is known, such as {example} ({n})",
    WasteKind.FAILED_AGAIN: "Do not send failed calls again unchanged, such as {example} ({n})",
    WasteKind.REFUSED_AGAIN: (
        "Allow calls such as {example}, or tell the agent that they are not allowed ({n})"
    ),
    WasteKind.REFUSED_ANSWER: "Let the harness accept such results, or ask for others: it rejected {n} "
    "({example})",
    WasteKind.FAILED_EDIT: "Read a file before changing it: {n} did not apply, such as {example}",
    WasteKind.OWN_EDIT: "Plan before writing: {n} changed lines of the run's own, such as {example}",
    WasteKind.SLICES: "Read more lines at once: {n} continued next to lines already read, such as {example}",
    WasteKind.TODO_LIST: "Update the task list together with other calls: {n} did nothing else",
    WasteKind.LARGE_OUTPUT: "Cut long results before they enter the context, such as {example} ({n})",
}


def with_advice(
    bill: Bill, charges: Sequence[Charge], instructions: int, openings: Collection[int] = ()
) -> Bill:
    """A bill with its sentence and its suggestions.

    Args:
        charges: What the calls of the main chain paid, in order.
        instructions: Tokens that come before everything else.
        openings: Events at which a person may have begun a new task.
    """
    if not bill.total.tokens and bill.total.cost_usd is None:
        return bill
    suggestions = sorted(
        (item for item in _suggestions(bill, charges, instructions, openings) if _is_worth(item.saving)),
        key=lambda item: item.saving.share,
        reverse=True,
    )
    return replace(
        bill, sentence=_sentence(bill, is_least=bill.is_least), suggestions=tuple(suggestions[:_SUGGESTIONS])
    )


def with_missing_calls(bill: Bill, count: int) -> Bill:
    """A bill whose sentence says that it is a lower bound, where calls are missing from its trace."""
    if not bill.sentence:
        return bill
    return replace(bill, sentence=_sentence(bill, is_least=bill.is_least or count > 0))


def shown(amount: Amount) -> str:
    """An amount for people: dollars where they are known, else tokens.

    >>> shown(Amount(cost_usd=1.5, tokens=9)), shown(Amount(tokens=1200))
    ('$1.50', '1,200 tokens')
    """
    return f"{amount.tokens:,} tokens" if amount.cost_usd is None else dollars(amount.cost_usd)


def _sentence(bill: Bill, *, is_least: bool) -> str:
    head = f"{'At least ' * is_least}{shown(bill.total)}"
    clauses = [clause for clause in (_largest(bill), _remark(bill)) if clause]
    return f"{head}: {'; '.join(clauses)}." if clauses else f"{head}."


def _largest(bill: Bill) -> str:
    """Returns the largest part of the bill in words, or the two largest where they are nearly equal."""
    shares = sorted(_shares(bill), reverse=True)
    if not shares:
        return ""
    share, words = shares[0]
    if len(shares) > 1 and shares[1][0] >= _TIE * share:
        about = "about " * bill.is_estimated
        return " and ".join(f"{about}{part:.0%} for {name}" for part, name in shares[:2])
    if words == _FIRST[ContextPart.TOOL_CALL]:
        most = bill.tools[0]
        return f"{share:.0%} for {words}" + (
            f", {most.amount.share:.0%} for {most.name} alone" if len(bill.tools) > 1 else ""
        )
    percent = f"{'about ' * bill.is_estimated}{share:.0%}"
    if words == _FIRST[ContextPart.UNATTRIBUTED]:
        return f"{percent} cannot be attributed ({bill.why_unattributed[0].name})"
    if words == _FIRST[ContextPart.INSTRUCTIONS]:
        calls = sum(line.count for line in bill.models)
        return f"{percent} for {words}" + (f", read by {calls:,} calls" if calls > 1 else "")
    if words == _FIRST[ContextPart.NEW_OUTPUT]:
        thought = sum(line.amount.share for line in bill.classes if line.name == TokenClass.REASONING)
        return f"{percent} for {words}" + (f", {thought:.0%} of the bill its reasoning" if thought else "")
    return f"{percent} for {words}"


def _shares(bill: Bill) -> Iterator[tuple[float, str]]:
    for line in bill.contents:
        part = ContextPart(line.name)
        again = line.amount.share - line.first.share
        if part in _AGAIN:
            yield again, _AGAIN[part]
            yield line.first.share, _FIRST[part]
        else:
            yield line.amount.share, _FIRST[part]


def _remark(bill: Bill) -> str:
    """Returns the remark of the greatest weight; empty where there is none."""
    return max(_remarks(bill), default=(0.0, ""))[1]


def _remarks(bill: Bill) -> Iterator[tuple[float, str]]:
    for line in bill.waste:
        if line.amount.share >= _LEAST_SHARE:
            # What bought nothing says more than what merely costs.
            cause = _WASTE[line.kind].format(n=_calls(line.count), example=_quoted(line.example))
            yield 2 * line.amount.share, f"{shown(line.amount)} for {cause}"
    if len(bill.requests) > 1:
        request = max(bill.requests, key=lambda item: item.amount.share)
        if len(request.name) >= _LEAST_NAME:
            yield request.amount.share / 2, f"{_quoted(request.name)} took {shown(request.amount)} of it"
    if len(bill.agents) > 1:
        agent = max((item for item in bill.agents if item.name), key=lambda item: item.amount.share)
        if _WORTH_A_CLAUSE <= agent.amount.share < 1:
            name = _quoted(agent.title) if agent.title else agent.name
            yield agent.amount.share, f"the agent {name} took {shown(agent.amount)} of it"
    results = [item for item in bill.events if item.content is ContextPart.TOOL_OUTPUT][:_FEW]
    for number in range(1, len(results) + 1):
        share = sum(item.amount.share for item in results[:number])
        if share >= _WORTH_A_CLAUSE:
            yield share, _of_results(results[:number], share, bill)
            break
    after = next((line for line in bill.phases if line.name == "after the last change"), None)
    if after is not None and after.amount.share >= _WORTH_A_CLAUSE:
        yield after.amount.share / 2, f"{shown(after.amount)} after the last change"


def _of_results(results: Sequence[CarriedEvent], share: float, bill: Bill) -> str:
    cost = None if bill.total.cost_usd is None else sum(item.amount.cost_usd or 0.0 for item in results)
    amount = Amount(cost_usd=cost, tokens=sum(item.amount.tokens for item in results), share=share)
    if len(results) == 1:
        return f"{_quoted(results[0].title)} makes {shown(amount)} of it"
    return f"{_NUMBERS[len(results)]} results make {shown(amount)} of it"


def _suggestions(
    bill: Bill, charges: Sequence[Charge], instructions: int, openings: Collection[int]
) -> Iterator[Suggestion]:
    for line in bill.waste:
        if line.kind is WasteKind.CACHE_MISS:
            yield from _cache_advice(bill)
        else:
            advice = _ADVICE[line.kind].format(n=_calls(line.count), example=_quoted(line.example))
            yield Suggestion(
                text=f"{advice}: up to {shown(line.amount)}.",
                saving=line.amount,
                event=line.events[0] if line.events else None,
            )
    yield from _new_session(bill, charges, instructions, openings)
    start = next((line for line in bill.contents if line.name == ContextPart.INSTRUCTIONS), None)
    if start is not None and instructions >= _LARGE_INSTRUCTIONS[1]:
        share, thousand = start.amount.share, _scaled(start.amount, 1_000 / instructions)
        if share >= _LARGE_INSTRUCTIONS[0]:
            price = "" if thousand.cost_usd is None else f"; each 1,000 of them cost {shown(thousand)}"
            yield Suggestion(
                text=f"Give the agent fewer tools and shorter instructions: {instructions:,} tokens stand "
                f"before the first message, and every call reads them{price}.",
                saving=thousand,
            )


def _new_session(
    bill: Bill, charges: Sequence[Charge], instructions: int, openings: Collection[int]
) -> Iterator[Suggestion]:
    """The request before which a new session would have saved most."""
    base = instructions + _HANDOVER
    best: tuple[int, int, int, int] | None = None
    for request in sorted(bill.requests[1:], key=attrgetter("amount.tokens"), reverse=True)[:_BOUNDARIES]:
        first = next((i for i, item in enumerate(charges) if item.event > (request.event or 0)), 0)
        if request.event not in openings or not first or len(charges) - first < _LEAST_CALLS:
            continue
        earlier = charges[first - 1].size
        cost = calls = tokens = 0
        for charge in charges[first:]:
            if charge.size < earlier:
                break
            calls += 1
            cost += cost_between(charge, base, earlier) if charge.is_split else 0
            tokens += max(earlier - base, 0)
        if calls >= _LEAST_CALLS and (best is None or (cost, tokens) > best[:2]):
            best = (cost, tokens, calls, request.event or 0)
    if best is None:
        return
    cost, tokens, calls, event = best
    request = next(item for item in bill.requests if item.event == event)
    amount = _amount(bill, cost, tokens)
    yield Suggestion(
        text=f"From event {event:,} on ({_quoted(request.name)}), {calls:,} calls each read "
        f"{tokens // calls:,} tokens of earlier work. If that task does not need it, start a new session: "
        f"up to {shown(amount)}.",
        saving=amount,
        event=event,
    )


def _keeps_for_an_hour(bill: Bill) -> bool:
    """True if most of what was put into the cache stays there for an hour."""
    writes = {line.name: line.amount.tokens for line in bill.classes if line.name in _WRITES}
    return writes.get(TokenClass.CACHE_WRITE_1H, 0) > writes.get(TokenClass.CACHE_WRITE, 0)


def _cache_advice(bill: Bill) -> Iterator[Suggestion]:
    """Advises on calls that missed the cache, where the cause is known."""
    misses = bill.misses
    if misses.after_pauses and misses.longest_pause_s is not None:
        several = "up to " if misses.after_pauses > 1 else ""
        lifetime = "an hour" if _keeps_for_an_hour(bill) else "five minutes"
        pause = f"after {several}{misses.longest_pause_s / 60:,.0f} minutes"
        yield Suggestion(
            text=(
                f"Continue within {lifetime}, or start a new session: {_calls(misses.after_pauses)} "
                f"came later ({pause}), after the cache had expired: {_above(misses.pauses_above_hit)}."
            ),
            saving=misses.pauses_above_hit,
        )
    calls = misses.calls - misses.after_pauses
    if calls and all(line.name not in _WRITES for line in bill.classes):
        # Nobody asks for such a cache: each server of each provider has one of its own.
        rest = _less(misses.above_hit, misses.pauses_above_hit)
        yield Suggestion(
            text=f"If a router chooses the provider, keep it on one provider: {_calls(calls)} missed a cache "
            f"that an earlier one had filled: {_above(rest)}.",
            saving=rest,
        )


def _above(amount: Amount) -> str:
    words = shown(amount)
    return f"{words} in full" if amount.cost_usd is None else f"{words} above a cache hit"


def _less(whole: Amount, part: Amount) -> Amount:
    cost = None if whole.cost_usd is None else whole.cost_usd - (part.cost_usd or 0.0)
    return Amount(cost_usd=cost, tokens=whole.tokens - part.tokens, share=whole.share - part.share)


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number:,} calls"


def _quoted(text: str) -> str:
    return f"“{one_line(text, _QUOTED)}”"


def _scaled(amount: Amount, factor: float) -> Amount:
    cost = None if amount.cost_usd is None else amount.cost_usd * factor
    return Amount(cost_usd=cost, tokens=round(amount.tokens * factor), share=amount.share * factor)


def _amount(bill: Bill, cost: int, tokens: int) -> Amount:
    if bill.total.cost_usd is None:
        return Amount(tokens=tokens, share=tokens / bill.total.tokens if bill.total.tokens else 0.0)
    dollars_saved = usd(cost)
    share = (dollars_saved or 0.0) / bill.total.cost_usd if bill.total.cost_usd else 0.0
    return Amount(cost_usd=dollars_saved, tokens=tokens, share=share)


def _is_worth(amount: Amount) -> bool:
    return amount.share >= _LEAST_SHARE and (amount.cost_usd is None or amount.cost_usd >= _LEAST_USD)
