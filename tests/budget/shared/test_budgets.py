"""Budgets as a spender sees them."""

import datetime as dt
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.shared.budget import Budget, Period, span_of
from ebbtide.budget.shared.budget_refusal import BudgetRefused, RefusalReason
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.budget.shared.redis_budget_store import RedisBudgetStore
from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore
from ebbtide.budget.tally import UNITS
from ebbtide.clock import time_zone
from ebbtide.errors import ConfigError

NAIVE = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - hypothesis adds no zone to one that has one


def spent(budgets: Budgets) -> dict[str, tuple[float, float]]:
    return {each.key: (each.spent / UNITS, each.reserved / UNITS) for each in budgets.link.store.spent()}


def refusal(budgets: Budgets, usd: float | None = None) -> RefusalReason:
    with pytest.raises(BudgetRefused) as caught:
        budgets.reserve(usd)
    return caught.value.refusal.reason


def test_a_call_counts_in_every_budget_that_applies() -> None:
    rules = [Budget(scope=scope, limit_usd=2.0) for scope in ("run", "agent", "project", "user", "all")]
    budgets = Budgets([*rules, Budget(scope="all", per="month", limit_usd=9)])
    mine = budgets.of(run="r1", agent="coder", project="x", user="ann")
    mine.reserve(0.5).settle(0.25)
    month = f"all:month:{dt.datetime.now(dt.UTC):%Y-%m}"
    assert spent(budgets) == dict.fromkeys(
        [
            "run:r1:total",
            "agent:coder:total",
            "project:x:total",
            "user:ann:total",
            "all:total",
            month,
        ],
        (0.25, 0.0),
    )
    mine.of(run="r2").reserve(1.75)
    assert refusal(mine.of(run="r3"), 0.01) is RefusalReason.LIMIT


def test_the_exact_name_counts_before_a_pattern() -> None:
    budgets = Budgets(
        [
            Budget(scope="project", name="big", limit_usd=10),
            Budget(scope="project", name="team-*", limit_usd=2),
            Budget(scope="project", limit_usd=1),
        ]
    )
    budgets.of(project="big").reserve(9)
    budgets.of(project="team-a").reserve(2)
    budgets.of(project="team-b").reserve(2)
    assert refusal(budgets.of(project="other"), 1.5) is RefusalReason.LIMIT


def test_calls_that_name_no_project_are_one_project() -> None:
    budgets = Budgets([Budget(scope="project", limit_usd=1)])
    budgets.of(user="ann").reserve(1)
    with pytest.raises(BudgetRefused, match="The budget of no project does not allow the next call"):
        budgets.of(user="bob").reserve(0.1)


def test_budgets_that_cannot_be_read_to_the_end_are_refused() -> None:
    def from_a_file() -> Iterator[Budget]:
        yield Budget(scope="run", limit_usd=1)
        raise OSError("the file is gone")

    with pytest.raises(ConfigError, match="budgets: OSError: the file is gone"):
        Budgets(from_a_file())


def test_where_no_budget_applies_nothing_is_counted() -> None:
    budgets = Budgets([Budget(scope="user", name="ann", limit_usd=1)])
    budgets.of(user="bob").reserve(100.0).settle(90.0)
    budgets.of(user="bob").charge(1.0)
    assert spent(budgets) == {}


def test_an_unknown_call_sets_a_share_aside_and_is_charged_it() -> None:
    budgets = Budgets(
        [Budget(scope="all", limit_usd=1.6), Budget(scope="user", limit_usd=1, reserve_usd=0.4)]
    )
    call = budgets.reserve()
    assert call.usd == 0.1
    call.settle(failed=True)
    assert spent(budgets)["all:total"] == (0.1, 0.0)
    assert budgets.reserve().usd == 0.1


def test_an_unknown_cost_refuses_the_next_call_or_is_allowed() -> None:
    rules = [Budget(scope="all", limit_usd=1)]
    strict = Budgets(rules)
    call = strict.reserve()
    call.settle()
    assert refusal(strict) is RefusalReason.UNKNOWN
    call.settle(0.01)
    call.settle(0.9)  # what is known stays
    assert spent(strict)["all:total"] == (0.01, 0.0)
    strict.reserve()
    mild = Budgets(rules, when_unknown="allow")
    mild.reserve().settle()
    mild.reserve()
    assert mild.link.store.spent()[0].unpriced == 1


def test_a_stated_most_is_charged_where_nobody_says_more() -> None:
    budgets = Budgets([Budget(scope="all", limit_usd=1)])
    budgets.reserve(0.3).settle()
    budgets.reserve(0.3)
    assert spent(budgets)["all:total"] == (0.3, 0.3)


def test_a_person_approves_extends_and_resets() -> None:
    budgets = Budgets([Budget(scope="user", limit_usd=1, soft_usd=0.5)]).of(user="ann")
    budgets.charge(0.6)
    with pytest.raises(BudgetRefused, match=r"passed \$0.50.*approve user:ann:total") as caught:
        budgets.reserve(0.1)
    budgets.approve(caught.value.refusal.key)
    budgets.reserve(0.4).settle(0.4)
    assert refusal(budgets, 0.1) is RefusalReason.LIMIT
    budgets.extend("user:ann:total", 0.5)
    budgets.reserve(0.5).release()
    budgets.reset("user:ann:total")
    budgets.reserve(1.0)


def test_a_new_day_begins_by_the_calendar_of_the_zone() -> None:
    now = [dt.datetime(2026, 11, 23, 22, 59, tzinfo=dt.UTC).timestamp()]
    rules = [Budget(scope="all", per="day", limit_usd=1)]
    store = SQLiteBudgetStore(clock=lambda: now[0])
    budgets = Budgets(rules, store, time_zone="Europe/Berlin")
    budgets.reserve(0.8).settle(0.8)
    assert refusal(budgets, 0.8) is RefusalReason.LIMIT
    now[0] += 120
    budgets.reserve(0.8)
    assert list(spent(budgets)) == ["all:day:2026-11-23", "all:day:2026-11-24"]


@given(
    st.datetimes(NAIVE, NAIVE + dt.timedelta(days=36_500)),
    st.sampled_from(["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia"]),
    st.sampled_from([Period.DAY, Period.MONTH]),
)
def test_every_moment_lies_in_one_period(moment: dt.datetime, name: str, period: Period) -> None:
    zone = time_zone(name)
    now = moment.replace(tzinfo=dt.UTC).timestamp()
    span = span_of(period, now, zone)
    assert span.start <= now < span.end
    assert span_of(period, span.start, zone) == span
    before, after = span_of(period, span.start - 1, zone), span_of(period, span.end, zone)
    assert before.end == span.start
    assert after.start == span.end
    assert len({before.name, span.name, after.name}) == 3


def test_a_store_in_another_day_decides(redis_server) -> None:
    """A machine whose clock is wrong counts in the day of the server."""
    store = RedisBudgetStore(redis_server.url, prefix="days")
    budgets = Budgets([Budget(scope="all", per="day", limit_usd=1)], store)
    store.now()
    store._ahead -= 86_400
    budgets.reserve(0.5)
    today = f"{dt.datetime.fromtimestamp(store.now(), dt.UTC):%Y-%m-%d}"
    assert list(spent(budgets)) == [f"all:day:{today}"]


def test_what_a_finalizer_settles_waits_for_the_next_call() -> None:
    budgets = Budgets([Budget(scope="all", limit_usd=1)])
    budgets.reserve(0.3).settle(0.2, later=True)
    assert (budgets.waiting, spent(budgets)["all:total"]) == (1, (0.0, 0.3))
    budgets.reserve(0.1)
    assert (budgets.waiting, spent(budgets)["all:total"]) == (0, (0.2, 0.1))


@pytest.mark.filterwarnings("ignore:the store of budgets is away")
@pytest.mark.parametrize("when_away", ["refuse", "allow"])
def test_a_server_that_is_killed_and_comes_back(mortal_redis, when_away, monkeypatch) -> None:
    monkeypatch.setattr("ebbtide.budget.shared.store_link._REST_S", 0.0)
    store = RedisBudgetStore(mortal_redis.url)
    budgets = Budgets([Budget(scope="all", limit_usd=1)], store, when_away=when_away)
    budgets.reserve(0.3).settle(0.2)
    under_way = budgets.reserve(0.3)
    mortal_redis.kill()
    under_way.settle(0.25)
    assert budgets.waiting == 1
    if when_away == "refuse":
        assert refusal(budgets, 0.1) is RefusalReason.AWAY
    else:
        budgets.reserve(0.1).settle(0.05)
    assert budgets.faults >= 1
    assert "127.0.0.1" in budgets.last_fault
    mortal_redis.start()
    budgets.reserve(0.1).release()
    uncounted = 0.05 if when_away == "allow" else 0.0
    assert spent(budgets)["all:total"] == (0.45 + uncounted, 0.0)
    assert budgets.waiting == 0


@pytest.mark.filterwarnings("ignore:the store of budgets is away")
def test_a_store_that_is_away_is_not_asked_at_every_call(tmp_path: Path) -> None:
    store = RedisBudgetStore("redis://127.0.0.1:1/0")
    budgets = Budgets([Budget(scope="all", limit_usd=1)], store)
    for _ in range(50):
        assert refusal(budgets, 0.1) is RefusalReason.AWAY
    assert budgets.faults == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scope": "team", "limit_usd": 1}, "scope = 'team': expected one of run, agent, project, user, all"),
        ({"scope": "user", "per": "week", "limit_usd": 1}, "per = 'week': expected one of day, month, total"),
        ({"scope": "user"}, "needs limit_usd, soft_usd or both"),
        ({"scope": "user", "limit_usd": -1}, "limit_usd = -1: expected dollars, 0 to 1,000,000"),
        ({"scope": "user", "limit_usd": float("nan")}, "limit_usd = nan: expected dollars"),
        ({"scope": "user", "limit_usd": True}, "limit_usd = True: expected dollars"),
        ({"scope": "user", "limit_usd": 1, "soft_usd": 1}, "soft_usd = 1: expected less than limit_usd = 1"),
        ({"scope": "all", "name": "x", "limit_usd": 1}, "a budget of all has no name"),
        ({"scope": "user", "name": "", "limit_usd": 1}, "name = '': expected a name"),
        ({"scope": "user", "limit": 1}, "limit: no such setting; did you mean limit_usd?"),
        ({"limit_usd": 1}, "scope is missing: expected one of run, agent"),
    ],
)
def test_a_budget_that_cannot_be_says_why(options: dict, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Budget.from_dict(options)
    assert message in str(caught.value)


LIMITS = '[[budgets.limits]]\nscope = "user"\nlimit_usd = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no table [budgets]"),
        ("[budgets]\nstore = 'memory'\n", "budgets.limits: expected at least one [[budgets.limits]]"),
        ("[budgets]\n" + LIMITS, "budgets.store = None: expected a path such as"),
        ("[budgets]\nstore = 'http://x'\n" + LIMITS, "store = 'http://x': expected a path, redis://"),
        ("[budgets]\nstore = 'redis://x:y'\n" + LIMITS, "budgets.url = 'redis://x:y'"),
        ("[budgets]\nstor = 'a'\n" + LIMITS, "budgets.stor: no such setting; did you mean store?"),
        ("[budgets]\nstore = 'memory'\nlease_s = 0\n" + LIMITS, "lease_s = 0: expected seconds"),
        (
            "[budgets]\nstore = 'memory'\nwhen_away = 'open'\n" + LIMITS,
            "when_away = 'open': expected \"refuse\"",
        ),
        (
            "[budgets]\nstore = 'memory'\ntime_zone = 'CET/X'\n" + LIMITS,
            "time_zone = 'CET/X': no such time zone",
        ),
        ("[budgets]\nstore = 'memory'\n" + LIMITS + LIMITS, "two budgets of user '*' per total"),
        (
            "[budgets]\nstore = 'memory'\n" + LIMITS + '[[budgets.limits]]\nscope = "usr"\nlimit_usd = 1\n',
            "budgets.limits, number 2: scope = 'usr'",
        ),
        ("[budgets]\nlimits = 3\nstore = 'memory'\n", "budgets.limits: expected at least one"),
        ("[budgets]\nlimits = [3]\nstore = 'memory'\n", "budgets.limits, number 1: limits: expected Mapping"),
    ],
)
def test_settings_that_cannot_be_say_where(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ebbtide.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Budgets.load(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert not (tmp_path / "budgets.db").exists()


def test_a_file_of_settings_names_its_store_from_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "ebbtide.toml"
    path.write_text("[budgets]\nstore = 'budgets.db'\n" + LIMITS)
    Budgets.load(path).of(user="ann").charge(0.5)
    assert (tmp_path / "budgets.db").exists()
    assert refusal(Budgets.load(path).of(user="ann"), 0.6) is RefusalReason.LIMIT


def test_passwords_of_a_store_are_not_shown() -> None:
    store = RedisBudgetStore("redis://:secret@127.0.0.1:1/0")
    gc.collect()
    with pytest.raises(Exception, match=r"redis://\*\*\*@127.0.0.1:1/0") as caught:
        store.now()
    assert "secret" not in str(caught.value)
