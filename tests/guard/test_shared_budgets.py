"""Budgets that others draw on too, held by execution contexts."""

import asyncio
import gc
import threading

import pytest

from ebbtide import (
    Budget,
    BudgetRefused,
    Budgets,
    ConfigError,
    ExecutionContext,
    LimitExceeded,
    Limits,
    Usage,
)

LIMITED = [Budget(scope="project", limit_usd=1.0, soft_usd=0.8)]


class Log:
    def __init__(self) -> None:
        self.events: list[dict] = []

    def emit_safety_event(self, event: dict) -> None:
        self.events.append(event)


def spent(budgets: Budgets) -> list[tuple[float, float]]:
    return [(row.spent_usd, row.reserved_usd) for row in budgets.standings()]


def asking(context: ExecutionContext, cost: float, **options):
    options.setdefault("at_most", Usage(cost_usd=cost))
    return context.wrap_llm_call(lambda: cost, usage=lambda answer: Usage(cost_usd=answer), **options)


def test_two_contexts_draw_on_one_budget() -> None:
    budgets = Budgets(LIMITED)
    first, second = (ExecutionContext(budgets=budgets.of(project="x")) for _ in range(2))
    asking(first, 0.5)()
    log = Log()
    third = ExecutionContext(budgets=budgets.of(project="x"), pipeline=log)
    with pytest.raises(
        BudgetRefused, match=r"'x' does not allow the next call: \$0.50 of \$1.00 spent"
    ) as halt:
        asking(third, 0.6)()
    assert halt.value.report.halted.refusal.key == "project:x:total"
    assert log.events[-1]["event_type"] == "BUDGET_REFUSED"
    asking(second, 0.4)()
    assert spent(budgets) == [(0.9, 0.0)]


def test_a_run_goes_on_once_a_person_has_approved() -> None:
    budgets = Budgets(LIMITED).of(project="x")
    context = ExecutionContext(budgets=budgets)
    asking(context, 0.8)()
    ask = asking(context, 0.1)
    with pytest.raises(BudgetRefused) as halt:
        ask()
    assert halt.value.refusal.reason == "ask"
    budgets.approve(halt.value.refusal.key)
    assert ask() == 0.1


def test_the_budget_of_a_run_is_that_of_its_chain() -> None:
    budgets = Budgets([Budget(scope="run", limit_usd=1)])
    asking(ExecutionContext(budgets=budgets, chain_id="r1"), 0.5)()
    asking(ExecutionContext(budgets=budgets.of(run="mine"), chain_id="r2"), 0.5)()
    assert [row.name for row in budgets.standings()] == ["mine", "r1"]


def test_a_call_that_a_limit_refuses_takes_nothing_of_the_budget() -> None:
    budgets = Budgets(LIMITED)
    context = ExecutionContext(Limits(cost_usd=0.1), budgets=budgets)
    with pytest.raises(LimitExceeded):
        asking(context, 0.5)()
    assert spent(budgets) == [(0.0, 0.0)]


def test_tools_that_cost_nothing_are_not_asked_about() -> None:
    budgets = Budgets([Budget(scope="project", limit_usd=0.0)])
    look = ExecutionContext(budgets=budgets).wrap_tool_call(lambda: "nothing")
    assert look() == "nothing"


def test_a_call_that_cannot_be_counted_is_refused_before_and_after() -> None:
    budgets = Budgets(LIMITED)
    context = ExecutionContext(budgets=budgets)
    with pytest.raises(ConfigError, match="The limit of 1 USD cannot be enforced: the usage of a call of"):
        context.wrap_llm_call(lambda: "42")
    ask = context.wrap_llm_call(lambda: "42", usage=lambda _: None)
    assert ask() == "42"
    with pytest.raises(BudgetRefused, match="cannot be counted: the cost of a finished call"):
        ask()
    (running,) = context.unsettled
    running.settle(Usage(cost_usd=0.25))
    assert ask() == "42"
    assert spent(budgets)[0][0] == pytest.approx(0.5)  # an unknown call costs what the most expensive did


def test_failed_calls_are_charged_what_was_set_aside_unless_they_were_free() -> None:
    budgets = Budgets(LIMITED)
    context = ExecutionContext(budgets=budgets)

    def fail(error: Exception) -> None:
        raise error

    ask = context.wrap_llm_call(fail, at_most=Usage(cost_usd=0.3))
    with pytest.raises(ConnectionRefusedError):
        ask(ConnectionRefusedError())
    assert spent(budgets) == [(0.0, 0.0)]
    with pytest.raises(TimeoutError):
        ask(TimeoutError())
    assert spent(budgets) == [(0.3, 0.0)]


def test_a_stream_that_is_let_go_is_settled_with_the_next_call() -> None:
    budgets = Budgets(LIMITED)
    context = ExecutionContext(budgets=budgets)

    @context.wrap_llm_call(usage=lambda _: Usage(cost_usd=0.05), at_most=Usage(cost_usd=0.4))
    def stream():
        yield from range(5)

    items = stream()
    next(items)
    assert spent(budgets) == [(0.0, 0.4)]
    del items
    gc.collect()
    asking(context, 0.1)()
    assert spent(budgets)[0][0] == pytest.approx(0.15)


@pytest.mark.parametrize("is_async", [False, True])
def test_threads_and_tasks_never_pass_the_limit(is_async: bool) -> None:
    budgets = Budgets([Budget(scope="all", limit_usd=1.0)])
    bills: list[float] = []

    def spend() -> None:
        ask = asking(ExecutionContext(budgets=budgets), 0.03)
        try:
            while True:
                bills.append(ask())
        except BudgetRefused:
            pass

    async def spend_later() -> None:
        context = ExecutionContext(budgets=budgets)

        @context.wrap_llm_call(usage=lambda cost: Usage(cost_usd=cost), at_most=Usage(cost_usd=0.03))
        async def ask() -> float:
            await asyncio.sleep(0)
            return 0.03

        try:
            while True:
                bills.append(await ask())
        except BudgetRefused:
            pass

    if is_async:

        async def run() -> None:
            await asyncio.gather(*(spend_later() for _ in range(16)))

        asyncio.run(run())
    else:
        threads = [threading.Thread(target=spend) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(bills) == 33
    assert spent(budgets) == [(0.99, 0.0)]


@pytest.mark.filterwarnings("ignore:the store of budgets is away")
@pytest.mark.parametrize("when_away", ["refuse", "allow"])
def test_a_store_that_is_away_is_told_of(when_away: str) -> None:
    log = Log()
    budgets = Budgets(LIMITED, "redis://127.0.0.1:1/0", when_away=when_away)
    context = ExecutionContext(budgets=budgets, pipeline=log)
    ask = asking(context, 0.1)
    if when_away == "allow":
        assert ask() == 0.1
        assert budgets.waiting == 1
    else:
        with pytest.raises(BudgetRefused, match=r"The budgets cannot be checked: .*127\.0\.0\.1"):
            ask()
    assert context.report().faults == {"budgets": 1}
    assert log.events[0]["event_type"] == "BUDGETS_AWAY"
    budgets.link._waiting.clear()


@pytest.mark.parametrize("inner_budgets", ["none", "the same", "of another spender", "of another store"])
def test_a_context_inside_another_draws_on_the_budgets_of_both(inner_budgets: str) -> None:
    """The outer budget stops the inner context, and what both name is charged once."""
    outer = Budgets([Budget(scope="project", limit_usd=0.1), Budget(scope="user", limit_usd=9.0)])
    spender = outer.of(project="x", user="ann")
    elsewhere = Budgets([Budget(scope="agent", limit_usd=5.0)])
    given = {
        "none": None,
        "the same": spender,
        "of another spender": outer.of(user="bob"),
        "of another store": elsewhere.of(agent="inner"),
    }[inner_budgets]
    with ExecutionContext(budgets=spender):
        calls = [asking(ExecutionContext(Limits(cost_usd=5.0), budgets=given), 0.03) for _ in range(4)]
        for call in calls[:3]:
            call()
        with pytest.raises(BudgetRefused) as halt:
            calls[3]()
    assert halt.value.refusal.key == "project:x:total"
    found = {row.key: (row.spent_usd, row.reserved_usd) for row in outer.standings()}
    assert found["project:x:total"] == (0.09, 0.0)
    assert found["user:ann:total"] == (0.09, 0.0)
    assert found.get("user:bob:total") == ((0.09, 0.0) if inner_budgets == "of another spender" else None)
    other = [(row.spent_usd, row.reserved_usd) for row in elsewhere.standings()]
    assert other == ([(0.09, 0.0)] if inner_budgets == "of another store" else [])


def test_a_context_that_was_made_outside_draws_on_the_budgets_around_its_call() -> None:
    """As limits do; in a task, too."""
    budgets = Budgets([Budget(scope="project", limit_usd=0.1)]).of(project="x")
    ask = asking(ExecutionContext(Limits(cost_usd=5.0)), 0.04)
    ask()

    async def later() -> float:
        return await asyncio.to_thread(ask)

    with ExecutionContext(budgets=budgets):
        ask()
        asyncio.run(later())
        with pytest.raises(BudgetRefused):
            ask()
    assert spent(budgets) == [(0.08, 0.0)]
    ask()
