"""What every store of budgets does, in memory, in a file and in Redis."""

import time
from dataclasses import replace
from math import inf

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbtide.budget.shared.budget_refusal import RefusalReason
from ebbtide.budget.shared.budget_store import (
    NOTHING,
    BudgetSlot,
    BudgetStore,
    CallCharge,
    Lease,
    OtherPeriod,
    Refusal,
    SlotStanding,
)
from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore
from ebbtide.errors import StoreError

EVERY = pytest.mark.parametrize("place", ["memory", "file", "redis"], indirect=True)
RUN = BudgetSlot(key="run:a:total", limit=40)
DAY = BudgetSlot(key="project:x:day:2026-11-23", limit=100, soft=80)


def lease(name: str, amount: int, *slots: BudgetSlot, seconds: float = 60.0) -> Lease:
    return Lease(lease_id=name, slots=slots or (RUN, DAY), amount=amount, seconds=seconds)


def reserve(
    store: BudgetStore, wanted: Lease, *, flexible: bool = False, refuses_unknown: bool = True
) -> Lease | Refusal | OtherPeriod:
    return store.reserve(wanted, flexible=flexible, refuses_unknown=refuses_unknown)


def amounts(store: BudgetStore, *keys: str) -> list[tuple[int, int]]:
    return [(each.spent, each.reserved) for each in store.spent(keys or (RUN.key, DAY.key))]


@EVERY
def test_a_lease_stands_in_every_slot_and_is_charged_in_every_one(store: BudgetStore) -> None:
    assert reserve(store, lease("1", 30)) == lease("1", 30)
    assert amounts(store) == [(0, 30), (0, 30)]
    store.settle(lease("1", 30), CallCharge(12))
    assert amounts(store) == [(12, 0), (12, 0)]


@EVERY
def test_what_one_slot_refuses_is_set_aside_in_none(store: BudgetStore) -> None:
    reserve(store, lease("1", 30))
    answer = reserve(store, lease("2", 11))
    assert isinstance(answer, Refusal)
    assert (answer.reason, answer.slot) == (RefusalReason.LIMIT, RUN)
    assert answer.standing == SlotStanding(key=RUN.key, reserved=30)
    assert amounts(store) == [(0, 30), (0, 30)]


@EVERY
def test_a_call_of_unknown_cost_takes_what_is_there(store: BudgetStore) -> None:
    assert reserve(store, lease("1", 30), flexible=True) == lease("1", 30)
    assert reserve(store, lease("2", 30), flexible=True) == lease("2", 10)
    answer = reserve(store, lease("3", 30), flexible=True)
    assert isinstance(answer, Refusal)
    assert answer.reason is RefusalReason.LIMIT


@EVERY
def test_the_soft_limit_asks_until_a_person_approves(store: BudgetStore) -> None:
    store.settle(lease("1", 0, DAY), CallCharge(80))
    answer = reserve(store, lease("2", 5, DAY))
    assert isinstance(answer, Refusal)
    assert answer.reason is RefusalReason.ASK
    store.change(DAY.key, approve=True)
    assert isinstance(reserve(store, lease("2", 5, DAY)), Lease)
    assert store.spent([DAY.key])[0].is_approved


@EVERY
def test_an_extension_moves_both_limits_and_a_reset_forgets(store: BudgetStore) -> None:
    store.settle(lease("1", 0, DAY), CallCharge(100))
    store.change(DAY.key, extra=50)
    assert isinstance(reserve(store, lease("2", 40, DAY)), Lease)
    refusal = reserve(store, lease("3", 11, DAY))
    assert isinstance(refusal, Refusal)
    store.change(DAY.key, reset=True)
    assert store.spent([DAY.key]) == [SlotStanding(key=DAY.key, reserved=40)]


@EVERY
def test_a_call_without_a_price_refuses_the_next_until_it_is_known(store: BudgetStore) -> None:
    reserve(store, lease("1", 10))
    store.settle(lease("1", 10), CallCharge(10, is_unpriced=True))
    answer = reserve(store, lease("2", 1))
    assert isinstance(answer, Refusal)
    assert answer.reason is RefusalReason.UNKNOWN
    assert isinstance(reserve(store, lease("2", 1), refuses_unknown=False), Lease)
    store.settle(lease("1", 10), CallCharge(3))
    assert isinstance(reserve(store, lease("3", 1)), Lease)
    assert amounts(store) == [(3, 2), (3, 2)]


@EVERY
def test_what_is_said_twice_counts_once(store: BudgetStore) -> None:
    for _ in range(2):
        assert reserve(store, lease("1", 30)) == lease("1", 30)
    assert amounts(store)[0] == (0, 30)
    for _ in range(2):
        store.settle(lease("1", 30), CallCharge(12))
    assert amounts(store)[0] == (12, 0)


@EVERY
def test_a_lease_ends_and_its_late_charge_counts(store: BudgetStore) -> None:
    short = lease("1", 30, seconds=0.05)
    reserve(store, short)
    time.sleep(0.1)
    assert amounts(store)[0] == (0, 0)
    assert not store.renew(short)
    store.settle(short, CallCharge(25))
    assert amounts(store)[0] == (25, 0)


@EVERY
def test_a_lease_that_is_renewed_lasts_longer(store: BudgetStore) -> None:
    short = lease("1", 30, seconds=0.5)
    reserve(store, short)
    time.sleep(0.3)
    assert store.renew(short)
    time.sleep(0.3)
    assert amounts(store)[0] == (0, 30)
    store.settle(short, NOTHING)
    assert not store.renew(short)
    assert amounts(store)[0] == (0, 0)


@EVERY
def test_a_slot_of_another_day_is_not_taken(store: BudgetStore) -> None:
    now = store.now()
    assert abs(now - time.time()) < 5
    yesterday = replace(DAY, start=now - 90_000, end=now - 3600)
    answer = reserve(store, lease("1", 1, yesterday))
    assert isinstance(answer, OtherPeriod)
    assert abs(answer.now - now) < 5
    assert isinstance(reserve(store, lease("1", 1, replace(DAY, start=now - 5, end=now + 90))), Lease)


@EVERY
def test_all_slots_are_shown_and_old_ones_forgotten(store: BudgetStore) -> None:
    now = store.now()
    store.settle(lease("1", 0, replace(RUN, forget_at=now + 0.3)), CallCharge(1))
    store.settle(lease("2", 0, DAY), CallCharge(2))
    assert [each.key for each in store.spent()] == [DAY.key, RUN.key]
    time.sleep(1.1)
    if isinstance(store, SQLiteBudgetStore):
        store._swept_at = 0.0
    assert [each.key for each in store.spent()] == [DAY.key]


@EVERY
def test_sums_are_exact_in_millionths_of_millionths(store: BudgetStore) -> None:
    """Lua counts in doubles: what is added must not go through one."""
    large, odd = 10**18 - 1, 1_000_000_000_001
    slot = BudgetSlot(key="all:total")
    store.settle(lease("1", 0, slot), CallCharge(large))
    reserve(store, lease("2", odd, slot))
    store.settle(lease("2", odd, slot), CallCharge(odd))
    assert amounts(store, slot.key) == [(large + odd, 0)]


SLOTS = (
    BudgetSlot(key="run:a:total", limit=30),
    BudgetSlot(key="run:b:total", limit=60, soft=50),
    BudgetSlot(key="project:x:total", limit=70),
    BudgetSlot(key="user:u:total", soft=40),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("reserve"),
            st.sets(st.integers(0, 3), min_size=1),
            st.integers(0, 40),
            st.booleans(),
            st.booleans(),
        ),
        st.tuples(st.just("settle"), st.integers(0, 9), st.integers(0, 45), st.booleans()),
        st.tuples(st.just("change"), st.integers(0, 3), st.integers(-5, 20), st.booleans(), st.booleans()),
        st.tuples(st.just("wait"), st.sampled_from([1.0, 9.0, 30.0])),
    ),
    max_size=30,
)


class Model:
    """The same in the plainest words: every sum is made anew of a list of calls."""

    def __init__(self) -> None:
        self.now = 1e9
        self.calls: dict[str, tuple[Lease, CallCharge | None, float]] = {}
        self.before: dict[str, dict[str, int]] = {}
        self.changes = {slot.key: (0, False) for slot in SLOTS}

    def standing(self, key: str) -> SlotStanding:
        past = self.before.get(key, {"spent": 0, "unpriced": 0})
        mine = [call for call in self.calls.values() if key in {slot.key for slot in call[0].slots}]
        charges = [charge for _, charge, _ in mine if charge]
        extra, is_approved = self.changes[key]
        return SlotStanding(
            key=key,
            spent=sum(charge.cost for charge in charges) - past["spent"],
            reserved=sum(call.amount for call, charge, end in mine if charge is None and end > self.now),
            unpriced=sum(charge.is_unpriced for charge in charges) - past["unpriced"],
            extra=extra,
            is_approved=is_approved,
        )

    def reserve(self, wanted: Lease, *, flexible: bool, refuses_unknown: bool) -> Lease | str:
        amount, reasons = wanted.amount, set()
        for slot in wanted.slots:
            standing = self.standing(slot.key)
            used = standing.spent + standing.reserved
            rest = inf if slot.limit is None else slot.limit + standing.extra - used
            if rest <= 0 if flexible else rest < wanted.amount:
                reasons.add("limit")
            elif refuses_unknown and standing.unpriced > 0:
                reasons.add("unknown")
            elif slot.soft is not None and used >= slot.soft + standing.extra and not standing.is_approved:
                reasons.add("ask")
            amount = int(min(amount, rest))
        for reason in ("limit", "unknown", "ask"):
            if reason in reasons:
                return reason
        self.calls[wanted.lease_id] = (replace(wanted, amount=amount), None, self.now + wanted.seconds)
        return replace(wanted, amount=amount)


@pytest.mark.parametrize("place", ["memory", "redis"], indirect=True)
@given(steps=STEPS)
@example(
    steps=[
        ("reserve", {1}, 0, False, False),
        ("settle", 0, 0, True),
        ("change", 1, 0, False, True),
        ("settle", 0, 0, False),  # known only after the budget was reset
        ("reserve", {1}, 0, False, True),
    ]
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nested_budgets_are_what_a_list_of_calls_says(place: str, store: BudgetStore, steps: list) -> None:
    model = Model()
    is_redis = place.startswith("redis")
    if is_redis:
        store._client.flushall()  # type: ignore[attr-defined]
    else:
        store = SQLiteBudgetStore(clock=lambda: model.now)
    leases: list[Lease] = []
    for number, (verb, *values) in enumerate(steps):
        if verb == "reserve":
            places, amount, flexible, refuses = values
            slots = tuple(SLOTS[place] for place in sorted(places))
            wanted = Lease(lease_id=str(number), slots=slots, amount=amount, seconds=10.0)
            answer = store.reserve(wanted, flexible=flexible, refuses_unknown=refuses)
            expected = model.reserve(wanted, flexible=flexible, refuses_unknown=refuses)
            assert (answer.reason.value if isinstance(answer, Refusal) else answer) == expected
            leases += [answer] if isinstance(answer, Lease) else []
        elif verb == "settle" and leases:
            settled = leases[values[0] % len(leases)]
            charge = CallCharge(values[1], values[2])
            before = model.calls[settled.lease_id][1] or CallCharge(0)
            store.settle(settled, charge, before=before)
            model.calls[settled.lease_id] = (settled, charge, model.now + 10.0)
        elif verb == "change":
            key, reset = SLOTS[values[0]].key, values[3]
            if reset:
                now = model.standing(key)
                past = model.before.setdefault(key, {"spent": 0, "unpriced": 0})
                past["spent"] += now.spent
                past["unpriced"] += now.unpriced
                model.changes[key] = (0, False)
            extra, is_approved = model.changes[key]
            model.changes[key] = (extra + values[1], is_approved or values[2])
            store.change(key, extra=values[1], approve=values[2], reset=reset)
        elif verb == "wait" and not is_redis:
            model.now += values[0]
        keys = [slot.key for slot in SLOTS]
        assert store.spent(keys) == [model.standing(key) for key in keys]


def test_leases_end_by_an_injected_clock() -> None:
    now = [1e9]
    store = SQLiteBudgetStore(clock=lambda: now[0])
    reserve(store, lease("1", 30, seconds=60))
    now[0] += 59.9
    assert amounts(store)[0] == (0, 30)
    now[0] += 0.2
    assert amounts(store)[0] == (0, 0)


def test_a_clock_that_is_set_back_keeps_no_lease_longer_than_its_seconds() -> None:
    now = [1e9]
    store = SQLiteBudgetStore(clock=lambda: now[0])
    reserve(store, lease("1", 30, seconds=60))
    now[0] -= 86_400
    assert amounts(store)[0] == (0, 30)
    now[0] += 61
    assert amounts(store)[0] == (0, 0)


def test_a_clock_that_leaps_gives_back_and_charges_what_comes_later() -> None:
    now = [1e9]
    store = SQLiteBudgetStore(clock=lambda: now[0])
    reserve(store, lease("1", 30, seconds=60))
    now[0] += 86_400 * 365
    assert amounts(store)[0] == (0, 0)
    store.settle(lease("1", 30, seconds=60), CallCharge(7))
    assert amounts(store)[0] == (7, 0)


def test_another_file_is_not_taken_for_budgets(tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be read as one" * 20)
    with pytest.raises(StoreError, match=r"notes\.txt: file is not a database"):
        SQLiteBudgetStore(tmp_path / "notes.txt")
    from ebbtide.supervision.runs.run_store import SQLiteRunStore

    SQLiteRunStore(tmp_path / "runs.db")
    with pytest.raises(StoreError, match=r"runs\.db: not a file of budgets"):
        SQLiteBudgetStore(tmp_path / "runs.db")
    with pytest.raises(StoreError, match="unable to open"):
        SQLiteBudgetStore(tmp_path / "missing" / "budgets.db")


@pytest.mark.parametrize("place", ["redis"], indirect=True)
def test_a_reservation_in_redis_is_one_command_with_all_that_has_ended(
    place: str, store: BudgetStore
) -> None:
    import redis

    store.now()
    reserve(store, lease("1", 30, seconds=0.01))
    time.sleep(0.05)
    marker = redis.Redis.from_url(place)
    marker.ping()
    commands = []
    with redis.Redis.from_url(place).monitor() as monitor:
        assert reserve(store, lease("2", 40)) == lease("2", 40)
        marker.echo("end")
        for command in monitor.listen():
            if command["command"].startswith("ECHO"):
                break
            commands += [command["command"].split()[0]] * (command["client_type"] != "lua")
    marker.close()
    assert commands == ["EVALSHA"]
