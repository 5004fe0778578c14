"""Limits, and the scopes that hold them (divergence spec, section 1)."""

import asyncio
import json
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.budget.scope import Scope, carried, current_scope
from ebbtide.errors import ConfigError, LimitExceeded, LimitUnknown


class Clock:
    """A clock that stands where it is put."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.mark.clause("X01")
@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("steps", {"kind": "other"}),
        ("llm_calls", {"kind": "llm"}),
        ("tool_calls", {"kind": "tool"}),
        ("retries", {"kind": "tool", "retry": True}),
        ("tokens", {"kind": "llm", "tokens": 1}),
        ("cost_usd", {"kind": "llm", "cost_usd": 1.0}),
    ],
)
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_limit_is_what_may_be_taken(kind: str, call: dict[str, Any], limit: int) -> None:
    """As much as the limit passes, the next call does not; 0 lets none through, None any number."""
    scope = Scope(Limits(**{kind: limit}), name="mine")
    for _ in range(limit):
        scope.reserve(**call).settle()
    before = scope.spent()
    with pytest.raises(LimitExceeded) as refusal:
        scope.reserve(**call)
    error = refusal.value
    assert (error.kind, error.value, error.limit, error.scope) == (kind, limit + 1, limit, "mine")
    assert str(error) == (
        f"scope 'mine' would be at {limit + 1} {kind}, and its limit is {limit}. End the run, or allow more."
    )
    assert scope.exceeded is not None
    assert scope.exceeded.args == error.args
    assert getattr(scope.spent(), kind) == getattr(before, kind) == limit
    unlimited = Scope(Limits())
    for _ in range(50):
        unlimited.reserve(**call)
    assert unlimited.exceeded is None


@pytest.mark.clause("X01")
def test_other_kinds_of_calls_go_on() -> None:
    """Where the tools are used up, the model can still be asked for an answer."""
    scope = Scope(Limits(tool_calls=1, retries=0))
    scope.reserve("tool")
    with pytest.raises(LimitExceeded):
        scope.reserve("tool")
    scope.reserve("llm")


@pytest.mark.clause("X01")
def test_time() -> None:
    """After its time a scope lets nothing through, and says so also for what goes on already."""
    clock = Clock(100.0)
    scope = Scope(Limits(wall_s=5), clock=clock)
    clock.now = 104.75
    scope.check()
    scope.reserve("tool")
    assert scope.left("wall_s") == 0.25
    clock.now = 105.0
    for passed in (scope.check, lambda: scope.reserve("tool")):
        with pytest.raises(LimitExceeded, match="would be at 5 wall_s, and its limit is 5"):
            passed()
    assert scope.left(LimitKind.WALL_S) == 0
    with pytest.raises(LimitExceeded):
        Scope(Limits(wall_s=0)).reserve("tool")


@pytest.mark.parametrize("fault", [-50.0, math.nan, math.inf])
def test_a_clock_that_goes_back_stands_still(fault: float) -> None:
    """Time is neither given back nor used up by a clock that fails for a while."""
    clock = Clock(0.0)
    scope = Scope(Limits(wall_s=10), clock=clock)
    clock.now = 9.0
    scope.check()
    clock.now = fault
    assert scope.left("wall_s") == 1.0
    clock.now = 9.5
    assert scope.left("wall_s") == 0.5
    with pytest.raises(ConfigError, match="clock"):
        Scope(Limits(), clock=Clock(math.inf))


@pytest.mark.clause("X01")
def test_a_hundred_cents_are_a_dollar() -> None:
    """Dollars add up exactly, however they are cut."""
    scope = Scope(Limits(cost_usd=1.00))
    for _ in range(100):
        scope.reserve("llm", cost_usd=0.01).settle(0.01)
    assert scope.spent().cost_usd == 1.0
    assert scope.left("cost_usd") == 0
    with pytest.raises(LimitExceeded):
        scope.reserve("llm", cost_usd=1e-9)
    scope.reserve("tool", cost_usd=0.0)
    uneven = Scope(Limits(cost_usd=1.001))  # times 10**12 it is a little less than a whole number
    uneven.reserve("llm", cost_usd=1.001)
    assert uneven.left("cost_usd") == 0


@pytest.mark.clause("X01")
def test_what_is_reserved_is_not_there_for_others() -> None:
    """A reservation counts until it is settled; then what was really taken does."""
    scope = Scope(Limits(cost_usd=1.0, tokens=100))
    first = scope.reserve("llm", cost_usd=0.6, tokens=60)
    with pytest.raises(LimitExceeded, match="cost_usd"):
        scope.reserve("llm", cost_usd=0.5)
    with pytest.raises(LimitExceeded, match="tokens"):
        scope.reserve("llm", tokens=41)
    spent = scope.spent()
    assert (spent.cost_usd, spent.reserved_usd, spent.tokens, spent.reserved_tokens) == (0, 0.6, 0, 60)
    first.settle(0.2, 10)
    spent = scope.spent()
    assert (spent.cost_usd, spent.reserved_usd, spent.tokens, spent.reserved_tokens) == (0.2, 0, 10, 0)
    assert (scope.left("cost_usd"), scope.left("tokens"), scope.left("steps")) == (0.8, 90, None)
    scope.reserve("llm", cost_usd=0.8, tokens=90)


def test_settling_twice_changes_nothing() -> None:
    """Only the first word on a reservation counts."""
    scope = Scope(Limits(cost_usd=1.0))
    call = scope.reserve("llm", cost_usd=0.5)
    call.settle(0.25)
    assert call.settle(0.75) == []
    assert scope.spent().cost_usd == 0.25


def test_a_cost_that_nobody_knows() -> None:
    """What was set aside counts as spent, and shows; where nothing was, it may go while anything is left."""
    scope = Scope(Limits(cost_usd=0.5, when_unknown="allow"))
    scope.reserve("llm", cost_usd=0.25).settle()
    scope.reserve("llm").settle()
    assert (scope.spent().cost_usd, scope.spent().unpriced_calls) == (0.25, 2)
    scope.reserve("llm").settle(0.5)
    assert scope.spent().cost_usd == 0.75
    with pytest.raises(LimitExceeded, match=r"would be at 0\.75 cost_usd, and its limit is 0\.5"):
        scope.reserve("llm")
    with pytest.raises(LimitExceeded):
        Scope(Limits(cost_usd=0.0)).reserve("llm")


@pytest.mark.clause("X01")
def test_scopes_lie_in_each_other() -> None:
    """A call counts in every scope around it, and the error says which one refused."""
    with Scope(Limits(steps=3), name="run") as run:
        with Scope(Limits(steps=2), name="part") as part:
            assert current_scope() is part
            part.reserve("tool")
            part.reserve("tool")
            with pytest.raises(LimitExceeded) as refusal:
                part.reserve("tool")
            assert refusal.value.scope == "part"
        with Scope(Limits(steps=9), name="other") as other:
            other.reserve("tool")
            assert other.left("steps") == 0
            with pytest.raises(LimitExceeded) as refusal:
                other.reserve("tool")
            assert refusal.value.scope == "run"
        assert current_scope() is run
    assert current_scope() is None
    assert [scope.spent().steps for scope in (run, part, other)] == [3, 2, 1]


@pytest.mark.clause("X01")
@given(
    limits=st.lists(st.none() | st.integers(0, 5), min_size=1, max_size=4),
    calls=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20),
)
def test_all_scopes_or_none(limits: list[int | None], calls: list[tuple[int, int]]) -> None:
    """A call that one scope refuses leaves no trace in the others; estimates that hold never pass a limit."""
    scopes: list[Scope] = []
    for limit in limits:
        scope = Scope(Limits(tokens=limit))
        scope.__enter__()
        scopes.append(scope)
    try:
        waiting = []
        for request, amount in calls:
            before = [scope.spent() for scope in scopes]
            try:
                waiting.append((scopes[-1].reserve("llm", tokens=request), min(request, amount)))
            except LimitExceeded:
                after = [scope.spent() for scope in scopes]
                assert [entry.steps for entry in after] == [entry.steps for entry in before]
                assert [entry.reserved_tokens for entry in after] == [
                    entry.reserved_tokens for entry in before
                ]
            if len(waiting) > 2:
                call, took = waiting.pop(0)
                call.settle(0.0, took)
            for scope, limit in zip(scopes, limits, strict=True):
                spent = scope.spent()
                assert limit is None or spent.tokens + spent.reserved_tokens <= limit
                assert spent.tokens + spent.reserved_tokens >= 0
    finally:
        for scope in reversed(scopes):
            scope.__exit__()


def test_a_scope_counts_in_that_of_another_tree_where_it_is_called() -> None:
    """A scope made outside counts its calls in the scope that is entered where they are made, too."""
    outside = Scope(Limits(), name="outside")
    with Scope(Limits(steps=1), name="here"):
        outside.reserve("tool")
        with pytest.raises(LimitExceeded) as refusal:
            outside.reserve("tool")
        assert refusal.value.scope == "here"
    outside.reserve("tool")
    assert outside.spent().steps == 2


def test_scopes_that_are_left_in_another_order() -> None:
    """Whichever of two scopes is left first, only the other is there then, and none in the end."""
    outer, inner = Scope(Limits()), Scope(Limits())
    for first, second in ((outer, inner), (inner, outer)):
        outer.__enter__()
        inner.__enter__()
        first.__exit__()
        assert current_scope() is second
        second.__exit__()
        assert current_scope() is None


def test_tasks_count_where_they_were_started() -> None:
    """An asyncio task counts in the scope that was entered when it was made, and keeps its own to itself."""

    async def agent(own: int) -> str:
        scope = current_scope()
        assert scope is not None
        with Scope(Limits(steps=own), name=f"agent {own}") as inner:
            for _ in range(own):
                await asyncio.sleep(0)
                assert current_scope() is inner
                inner.reserve("tool")
        return scope.name

    async def main() -> Scope:
        with Scope(Limits(steps=10), name="run") as run:
            names = await asyncio.gather(*(agent(own) for own in (1, 2, 3)))
            assert names == ["run"] * 3
        return run

    assert asyncio.run(main()).spent().steps == 6


def test_threads_count_where_their_function_was_carried() -> None:
    """A carried function counts in the scopes of its origin, in any thread, several at once."""

    together = threading.Barrier(8)

    def work() -> None:
        together.wait()
        scope = current_scope()
        assert scope is not None
        scope.reserve("tool")

    with Scope(Limits(), name="run") as run, ThreadPoolExecutor(8) as pool:
        with Scope(Limits(), name="part") as part:
            job = carried(work)
        list(pool.map(lambda _: job(), range(40)))
        assert pool.submit(current_scope).result() is None
    assert run.spent().steps == part.spent().steps == 40


@pytest.mark.parametrize("limits", [{"warn_at": 0.7}, {"warn_at": 0.5}, {"warn_at": 1.0}, {"warn_at": None}])
def test_warnings_are_given_once(limits: dict[str, Any]) -> None:
    """At the share of a limit its warning is due, once, by the call that settled there."""
    share = limits["warn_at"]
    scope = Scope(Limits(steps=10, cost_usd=10.0, **limits), name="run")
    due = [scope.reserve("llm", cost_usd=1.0).settle(1.0) for _ in range(10)]
    found = [
        (at, warning.kind.value, warning.value) for at, several in enumerate(due, 1) for warning in several
    ]
    at = None if share is None else math.ceil(10 * share)
    assert found == ([] if at is None else [(at, "cost_usd", at), (at, "steps", at)])


def test_a_warning_as_an_event() -> None:
    """A warning says what is limited, where it stands and where it ends."""
    clock = Clock()
    scope = Scope(Limits(wall_s=10), name="run", clock=clock)
    assert scope.reserve("tool").settle(0.0) == []
    clock.now = 7.5
    (warning,) = scope.reserve("tool").settle(0.0)
    assert warning.to_dict() == {
        "event_type": "LIMIT_WARNING",
        "severity": "warn",
        "kind": "wall_s",
        "value": 7.5,
        "limit": 10,
        "scope": "run",
    }
    assert scope.reserve("tool").settle(0.0) == []


def test_a_warning_of_what_was_reserved_waits() -> None:
    """Money that is only set aside is no reason to warn."""
    scope = Scope(Limits(cost_usd=1.0))
    large = scope.reserve("llm", cost_usd=0.9)
    assert scope.reserve("llm", cost_usd=0.1).settle(0.1) == []
    assert [warning.value for warning in large.settle(0.7)] == [0.8]


@pytest.mark.clause("X01")
def test_sixty_four_threads_never_overspend() -> None:
    """64 threads that take up to three cents a call end at a dollar at most, and nothing stays set aside."""
    scope = Scope(Limits(cost_usd=1.00, steps=1000))
    most = Fraction(0)
    ready = threading.Barrier(64)
    lock = threading.Lock()
    let_through = []

    def work(number: int) -> None:
        nonlocal most
        ready.wait()
        try:
            for turn in range(100):
                call = scope.reserve("llm", cost_usd=0.03)
                took = 0.01 + 0.02 * ((number + turn) % 2)
                spent = scope.spent()
                with lock:
                    most = max(most, Fraction(spent.cost_usd) + Fraction(spent.reserved_usd))
                    let_through.append(took)
                call.settle(took)
        except LimitExceeded:
            pass

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = scope.spent()
    assert spent.cost_usd == pytest.approx(sum(let_through))
    assert 0.97 < spent.cost_usd <= 1.0
    assert most <= 1 + Fraction(1, 10**12)
    assert spent.reserved_usd == 0
    assert spent.steps == len(let_through)


@pytest.mark.parametrize("kind", list(LimitKind))
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, True, "1", 10**13])
def test_limits_that_are_none(kind: str, value: Any) -> None:
    """A limit that is negative, endless or no number is refused by name and value."""
    with pytest.raises(ConfigError, match=f"{kind} = {value!r}"):
        Limits(**{kind: value})


@pytest.mark.parametrize("kind", ["tokens", "steps", "llm_calls", "tool_calls", "retries"])
def test_counts_are_whole(kind: str) -> None:
    """Half a call is no limit."""
    with pytest.raises(ConfigError, match="whole number"):
        Limits(**{kind: 1.5})


@pytest.mark.parametrize("value", [0, -0.1, 1.1, math.nan, True, "0.7"])
def test_shares_that_are_none(value: Any) -> None:
    """A warning is due at a share over 0 to 1."""
    with pytest.raises(ConfigError, match="warn_at"):
        Limits(warn_at=value)


def test_limits_from_a_table() -> None:
    """A parsed table gives limits; a key that does not exist is refused, and the right ones are told."""
    assert Limits.from_dict({"cost_usd": 1, "steps": 5}) == Limits(cost_usd=1, steps=5)
    with pytest.raises(
        ConfigError,
        match=r"limits\.max_steps: no such limit; did you mean steps\? There are cost_usd, tokens",
    ):
        Limits.from_dict({"max_steps": 5})


@pytest.mark.parametrize("amounts", [{"cost_usd": value} for value in (-0.1, math.nan, math.inf, True, "1")])
@pytest.mark.parametrize("when", ["reserve", "settle"])
def test_amounts_that_are_none(amounts: dict[str, Any], when: str) -> None:
    """A wrong amount is refused, nothing is counted, and a reservation stands."""
    scope = Scope(Limits(cost_usd=1.0))
    call = scope.reserve("llm", cost_usd=0.5, tokens=5)
    with pytest.raises(ConfigError, match="cost_usd"):
        scope.reserve("llm", **amounts) if when == "reserve" else call.settle(**amounts)
    with pytest.raises(ConfigError, match="tokens"):
        scope.reserve("llm", tokens=-1) if when == "reserve" else call.settle(0.1, 1.5)
    assert (scope.spent().steps, scope.spent().reserved_usd) == (1, 0.5)
    call.settle(0.5, 5)


def test_an_error_goes_to_another_process() -> None:
    """The error survives pickling, as it has to in a pool of processes."""
    copy = pickle.loads(pickle.dumps(LimitExceeded("steps", 3, 2, "run")))  # noqa: S301
    assert (copy.kind, copy.value, copy.limit, copy.scope) == ("steps", 3, 2, "run")


@pytest.mark.parametrize("share", [0.0, -1, math.inf, True, "60"])
def test_leases_that_are_none(share: Any) -> None:
    """A lease is a time over 0."""
    with pytest.raises(ConfigError, match="lease_s"):
        Limits(lease_s=share)


@pytest.mark.parametrize("word", ["", "Refuse", None, True])
def test_what_may_be_made_of_the_unknown(word: Any) -> None:
    """There are two ways, and no third."""
    with pytest.raises(ConfigError, match="when_unknown"):
        Limits(when_unknown=word)


def test_sixteen_calls_of_which_nothing_is_known_fit_a_limit() -> None:
    """Each sets aside a sixteenth; the seventeenth is refused, and told why, until one has settled."""
    scope = Scope(Limits(cost_usd=1.6))
    calls = [scope.reserve("llm") for _ in range(16)]
    assert scope.is_full()
    with pytest.raises(LimitExceeded, match=r"1\.6 of it set aside for calls under way") as refusal:
        scope.reserve("llm")
    assert refusal.value.reserved == 1.6
    calls[0].settle(0.01, 10)
    assert not scope.is_full()
    scope.reserve("llm")
    assert scope.spent().reserved_usd == 1.59


def test_what_is_left_may_be_less_than_a_share() -> None:
    """The last call of which nothing is known sets aside what is left."""
    scope = Scope(Limits(tokens=16))
    scope.reserve("llm", tokens=15).settle(0.0, 15)
    call = scope.reserve("llm")
    assert scope.spent().reserved_tokens == 1
    call.settle(0.0, 4)
    assert scope.spent().tokens == 19


@pytest.mark.parametrize(
    ("limits", "settled", "why"),
    [
        (
            {"cost_usd": 1.0},
            (None, None),
            "The limit of 1 USD cannot be enforced: the usage of a call of 'm' is unknown",
        ),
        (
            {"cost_usd": 1.0},
            (None, 5),
            "The limit of 1 USD cannot be enforced: the cost of a call of 'm' is unknown",
        ),
        (
            {"tokens": 5000},
            (0.5, None),
            "The limit of 5,000 tokens cannot be enforced: the tokens of a call of 'm' are unknown",
        ),
    ],
)
def test_a_limit_that_cannot_be_counted_refuses_the_next_call(
    limits: dict[str, Any], settled: tuple[float | None, int | None], why: str
) -> None:
    """A call that does not say what it took ends the scope, unless that is allowed or it says so later."""
    scope = Scope(Limits(**limits), name="mine")
    call = scope.reserve("llm")
    call.settle(*settled, subject="m")
    with pytest.raises(LimitUnknown) as refusal:
        scope.reserve("tool", cost_usd=0.0, tokens=0)
    assert str(refusal.value).startswith(why)
    assert refusal.value.to_dict()["scope"] == "mine"
    call.settle(0.5, 5)
    scope.reserve("tool", cost_usd=0.0, tokens=0)
    assert (scope.spent().cost_usd, scope.spent().tokens, scope.spent().unpriced_calls) == (0.5, 5, 0)
    allowed = Scope(Limits(**limits, when_unknown="allow"))
    allowed.reserve("llm").settle(*settled)
    allowed.reserve("llm")


def test_the_outer_scope_cannot_be_counted_either() -> None:
    """A call inside a scope without a limit leaves that of the scope around uncounted."""
    with Scope(Limits(tokens=10), name="outer"), Scope(Limits(), name="inner") as inner:
        inner.reserve("llm").settle()
        with pytest.raises(LimitUnknown) as refusal:
            inner.reserve("llm")
        assert refusal.value.scope == "outer"


def test_what_was_stated_as_the_most_is_enough() -> None:
    """A call that says no more is charged its most, and the limit holds; a guess is not enough."""
    scope = Scope(Limits(cost_usd=1.0))
    scope.reserve("llm", cost_usd=0.4).settle()
    scope.reserve("llm", cost_usd=0.4, bound=(False, False)).settle(failed=True)
    assert scope.spent().cost_usd == 0.8
    scope.reserve("llm", cost_usd=0.1, bound=(False, False)).settle()
    with pytest.raises(LimitUnknown):
        scope.reserve("llm", cost_usd=0.1)


def test_a_failed_call_counts_until_it_is_settled() -> None:
    """What was set aside stays counted, and is put right by the first word on what it took."""
    scope = Scope(Limits(cost_usd=1.0, tokens=100, warn_at=None))
    call = scope.reserve("llm", cost_usd=0.75, tokens=60)
    call.settle(failed=True)
    assert (scope.spent().cost_usd, scope.spent().tokens, scope.left("cost_usd")) == (0.75, 60, 0.25)
    call.settle(0.125)
    assert (scope.spent().cost_usd, scope.spent().tokens, scope.spent().unpriced_calls) == (0.125, 60, 0)
    call.settle(0.5, 10)
    assert (scope.spent().cost_usd, scope.spent().tokens) == (0.125, 10)


def test_a_lease_ends() -> None:
    """After it, what nobody has settled is given back; what a call is known to have taken stays."""
    clock = Clock()
    scope = Scope(Limits(cost_usd=1.0, tokens=100, lease_s=60), clock=clock)
    failed = scope.reserve("llm", cost_usd=0.25, tokens=10)
    failed.settle(failed=True)
    scope.reserve("llm", cost_usd=0.5, tokens=20)  # never settled
    scope.reserve("llm", cost_usd=0.25, tokens=30).settle(0.125)
    clock.now = 59.0
    with pytest.raises(LimitExceeded):
        scope.reserve("llm", cost_usd=0.25)
    clock.now = 60.0
    scope.reserve("llm", cost_usd=0.25, tokens=0)
    spent = scope.spent()
    assert (spent.cost_usd, spent.tokens, spent.reserved_usd, spent.reserved_tokens) == (0.125, 0, 0.25, 0)
    failed.settle(0.0625, 5)
    assert (scope.spent().cost_usd, scope.spent().tokens) == (0.1875, 5)


def test_a_scope_made_in_a_thread_lies_in_that_of_the_main_thread() -> None:
    """A thread to which nothing was carried counts where the main thread is, outside of any event loop."""

    def work(run: Scope) -> tuple[Any, ...]:
        inner = Scope(Limits(), name="inner")
        inner.reserve("tool")
        return tuple(account.name for account in inner.accounts)

    outside = Scope(Limits())
    with ThreadPoolExecutor(1) as pool:
        with Scope(Limits(), name="run") as run:
            with Scope(Limits(), name="part"):
                assert pool.submit(work, run).result() == ("inner", "part", "run")
            pool.submit(outside.reserve, "tool").result()
            assert pool.submit(work, run).result() == ("inner", "run")
        assert pool.submit(work, run).result() == ("inner",)
    assert run.spent().steps == 3


def test_scopes_of_requests_are_apart() -> None:
    """A scope that a thread, or a task, has entered is around nothing in other threads."""
    entered, done = threading.Event(), threading.Event()

    def request() -> None:
        with Scope(Limits(), name="other request"):
            entered.set()
            done.wait(5)

    thread = threading.Thread(target=request)
    thread.start()
    entered.wait(5)
    assert len(Scope(Limits()).accounts) == 1
    done.set()
    thread.join()

    async def main() -> int:
        with Scope(Limits(), name="other request"):
            return await asyncio.get_running_loop().run_in_executor(
                None, lambda: len(Scope(Limits()).accounts)
            )

    assert asyncio.run(main()) == 1


def test_a_scope_survives_a_restart() -> None:
    """What was taken counts on, what was set aside counts as taken, and what was not counted stays so."""
    clock = Clock()
    limits = Limits(cost_usd=1.0, steps=3, retries=1, wall_s=100)
    scope = Scope(limits, clock=clock)
    scope.reserve("llm", cost_usd=0.25, tokens=5, retry=True).settle(0.125, 4)
    scope.reserve("tool", cost_usd=0.5, tokens=1)
    clock.now = 60.0
    state = json.loads(json.dumps(scope.to_state()))
    again = Scope(replace(limits, steps=5), clock=Clock(1000.0))
    again.restore(state)
    spent = again.spent()
    assert (spent.cost_usd, spent.tokens, spent.steps, spent.llm_calls, spent.tool_calls) == (
        0.625,
        5,
        2,
        1,
        1,
    )
    assert (spent.retries, again.left("wall_s"), again.left("cost_usd")) == (1, 40, 0.375)
    scope.reserve("llm").settle()
    again = Scope(limits)
    again.restore(json.loads(json.dumps(scope.to_state())))
    with pytest.raises(LimitUnknown, match="The limit of 1 USD cannot be enforced"):
        again.reserve("tool")


@pytest.mark.parametrize("kind", ["cost_usd", "steps", "wall_s"])
def test_a_scope_is_not_restored_without_its_limits(kind: str) -> None:
    """A limit that is left out would be open."""
    limits = {"cost_usd": 1.0, "steps": 3, "wall_s": 100}
    state = Scope(Limits(**limits)).to_state()
    del limits[kind]
    with pytest.raises(ConfigError, match=rf"limit of {kind}.*limits=Limits\({kind}="):
        Scope(Limits(**limits)).restore(state)


@pytest.mark.parametrize(
    "change",
    [
        {"cost": -1},
        {"cost": None},
        {"tokens": 1.5},
        {"calls": [1, 2]},
        {"calls": [1, 2, 3, 4, "5"]},
        {"wall_s": "x"},
        {"wall_s": math.nan},
        {"limits": ["money"]},
        {"unknown": [["cost_usd", 1.0, 5, "why"]]},
        {"unknown": 5},
    ],
)
def test_what_is_no_state_of_a_scope(change: dict[str, Any]) -> None:
    """Whatever it is, it is a ConfigError."""
    state = Scope(Limits(steps=1)).to_state()
    with pytest.raises(ConfigError):
        Scope(Limits(steps=1)).restore({**state, **change})
    with pytest.raises(ConfigError):
        Scope(Limits(steps=1)).restore({})


def test_scopes_inside_are_limited_by_number_and_level() -> None:
    """A scope that is made inside another counts in all around it, and one too many is not made."""
    with Scope(Limits(max_agents=3, max_depth=2), name="mine") as scope:
        with Scope(Limits(max_depth=5)):
            with Scope(Limits()), pytest.raises(LimitExceeded, match="at 3 levels of agents"):
                Scope(Limits())
            Scope(Limits())
        with pytest.raises(LimitExceeded, match="at 4 agents, and its limit is 3"):
            Scope(Limits())
        spent = scope.spent()
    assert (spent.agents, spent.depth, scope.left("max_agents"), scope.left("max_depth")) == (3, 2, 0, 0)
    again = Scope(Limits(max_agents=3, max_depth=2))
    again.restore(json.loads(json.dumps(scope.to_state())))
    with again, pytest.raises(LimitExceeded):
        Scope(Limits())
