"""Savings that were realised, of made sessions whose truth is known."""

import random
from dataclasses import replace

import pytest

from ebbtide.advice.estimate import MONTH_S, PaidSession, bootstrap, estimate, paid_sessions
from ebbtide.advice.kinds import KINDS, OUTPUT_LIMIT
from ebbtide.advice.measuring import NEEDED, measure
from ebbtide.advice.priced_advice import advices
from ebbtide.advice.session_record import LongAnswer, SessionRecord, Work
from ebbtide.budget.tally import UNITS
from ebbtide.traces.sessions.agent_homes import CodingAgent

SHELL = KINDS[CodingAgent.CLAUDE, "shell-output"]
HOUR = KINDS[CodingAgent.CLAUDE, "cache-hour"]
MONTH = MONTH_S
DOLLAR = UNITS


def made(
    number: int, *, usd: float, beyond: float, work: Work = Work.CHANGES, project: str = "/srv/shop"
) -> SessionRecord:
    """A session of one long answer, of which so many dollars were paid beyond the limit."""
    answer = LongAnswer(
        tool="Bash",
        title="make test",
        file=None,
        length=2 * OUTPUT_LIMIT,
        tokens=1_000,
        reads=9,
        cost=round(2 * beyond * DOLLAR),
        has_failed=False,
    )
    began = number * MONTH / 30
    return SessionRecord(
        session=f"s{number}",
        project=project,
        agent="claude",
        began=began,
        ended=began + 60,
        calls=10,
        cost=round(usd * DOLLAR),
        work=work,
        answers=[answer] if beyond else [],
    )


def drawn(chance: random.Random, count: int, share: float, work: Work = Work.CHANGES) -> list[SessionRecord]:
    """Sessions of very different prices, a part of which went beyond the limit."""
    costs = [chance.lognormvariate(0, 1) for _ in range(count)]
    return [
        made(number, usd=usd, beyond=usd * chance.uniform(0, 2 * share), work=work)
        for number, usd in enumerate(costs)
    ]


def test_the_effect_is_what_was_taken_away() -> None:
    """A share of ten percent before and none after: a ninth of what is paid now."""
    before = [made(number, usd=10, beyond=1) for number in range(20)]
    after = [made(number, usd=9, beyond=0) for number in range(30)]
    realised = measure(SHELL, paid_sessions(SHELL, before), after)
    assert realised.sessions == 30
    assert realised.usd == pytest.approx(0.1 * 9 * 30 * MONTH / (29 * MONTH / 30 + 60), rel=0.001)
    assert realised.interval is not None
    assert realised.interval.low == pytest.approx(realised.usd)
    assert realised.cost_ratio == pytest.approx(0.9)


@pytest.mark.parametrize("left", [0.0, 0.1, 0.2])
def test_the_interval_holds_the_truth(left: float) -> None:
    """Of twenty drawn machines in nine of ten; without an effect it holds zero as often."""
    chance, share = random.Random(3), 0.2  # noqa: S311 - drawn anew in each run, the same each time
    inside = 0
    for _ in range(20):
        before, after = drawn(chance, 40, share), drawn(chance, 40, left)
        realised = measure(SHELL, paid_sessions(SHELL, before), after)
        assert realised.interval is not None
        paid = sum(record.cost or 0 for record in after) / DOLLAR
        truth = (share - left) * paid * MONTH / (39 * MONTH / 30 + 60)
        inside += realised.interval.low <= truth <= realised.interval.high
    assert inside >= 17


def test_kinds_of_work_are_matched() -> None:
    """More sessions of the kind that has no long answers are no saving."""
    costs = (
        {"usd": 10.0, "work": Work.CHANGES, "beyond": 3.0},
        {"usd": 2.0, "work": Work.LOOKS, "beyond": 0.0},
    )
    counts = (30, 10), (10, 60)
    before, after = (
        [made(number, **how) for how, count in zip(costs, side, strict=True) for number in range(count)]
        for side in counts
    )
    matched = measure(SHELL, paid_sessions(SHELL, before), after)
    assert (matched.sessions, matched.usd, matched.cost_ratio) == (70, 0, 1)
    one_kind = [[replace(item, work=Work.LOOKS) for item in side] for side in (before, after)]
    mixed = measure(SHELL, paid_sessions(SHELL, one_kind[0]), one_kind[1])
    assert mixed.usd is not None
    assert mixed.usd > 10


@pytest.mark.parametrize(("before", "after"), [(4, 40), (40, NEEDED - 1), (0, 40), (40, 0)])
def test_too_few_sessions_say_nothing(before: int, after: int) -> None:
    """On either side: unknown, not zero."""
    sides = [[made(number, usd=1, beyond=0.1) for number in range(count)] for count in (before, after)]
    realised = measure(SHELL, paid_sessions(SHELL, sides[0]), sides[1])
    assert (realised.usd, realised.interval, realised.cost_ratio) == (None, None, None)
    assert realised.to_dict()["sessions_needed"] == NEEDED


def test_sessions_without_a_cost_are_not_counted() -> None:
    before = [made(number, usd=1, beyond=0.1) for number in range(20)]
    after = [replace(made(number, usd=1, beyond=0), cost=None) for number in range(20)]
    realised = measure(SHELL, paid_sessions(SHELL, before), after)
    assert (realised.sessions, realised.usd) == (0, None)


def test_a_cache_is_replayed_the_other_way_round() -> None:
    """What five minutes would have cost more is saved, whatever the sessions before cost."""
    before = [replace(made(number, usd=1, beyond=0), writes=1, hour=DOLLAR // 2) for number in range(20)]
    after = [replace(made(number, usd=1, beyond=0), long_writes=1, minutes=-DOLLAR) for number in range(30)]
    realised = measure(HOUR, paid_sessions(HOUR, before), after)
    assert realised.usd == pytest.approx(30 * MONTH / (29 * MONTH / 30 + 60))
    refused = [replace(item, writes=1, hour=9, long_writes=0) for item in after]  # the setting was not heeded
    assert measure(HOUR, paid_sessions(HOUR, before), refused).usd == 0


def test_an_estimate_of_a_short_time_takes_a_week() -> None:
    """Six sessions of one minute are no month of them."""
    records = [replace(made(0, usd=1, beyond=1), session=str(number)) for number in range(6)]
    found = estimate([SHELL.replay(item) for item in records], records)
    assert found is not None
    assert found.usd == pytest.approx(6 * 30 / 7)


def test_without_a_price_there_are_tokens() -> None:
    """The advice comes last, and has no dollars."""
    records = [
        replace(
            made(number, usd=1, beyond=1),
            cost=None,
            project="/srv/free",
            answers=[replace(made(0, usd=1, beyond=1).answers[0], tokens=2_000_000)],
        )
        for number in range(8)
    ]
    records += [made(number, usd=10, beyond=1) for number in range(8)]
    dear, free = advices(records)
    assert (dear.project, free.project) == ("/srv/shop", "/srv/free")
    assert (free.expected.usd, free.expected.share, free.expected.interval) == (None, None, None)
    assert free.expected.tokens >= 1_000_000
    assert free.before == ()


def test_names_are_those_of_kind_and_project() -> None:
    """More sessions make no other name; another project does."""
    records = [made(number, usd=10, beyond=1) for number in range(8)]
    other = [replace(item, project="/srv/blog") for item in records]
    names = {item.name for item in advices([*records, *other])}
    assert len(names) == 2
    assert names > {item.name for item in advices(records[:6])}


def test_an_interval_is_the_same_each_time() -> None:
    assert bootstrap([1.0, 2.0, 9.0], of=sum) == bootstrap([1.0, 2.0, 9.0], of=sum)
    assert bootstrap([(PaidSession(Work.LOOKS, 1, 2))], of=len) == (1, 1)
