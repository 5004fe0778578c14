"""Amounts and verdicts in words."""

from dataclasses import replace

import pytest

from ebbtide.report.wording import (
    at_end,
    badness,
    convergence,
    cost,
    duration,
    folder_of,
    in_order,
    last_round,
    missing_cost,
    money,
    reasons,
    saved,
    where,
)
from ebbtide.supervision.facts import DryRoundFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.run_summary import RoundPoint, RunDecision, Saving, Spending, Tokens
from ebbtide.supervision.verdict import Verdict


def test_the_worst_comes_first_and_the_most_expensive_of_equals(make_stuck, make_healthy) -> None:
    """Runs are sorted by their word, then by their cost, then by their length."""
    runs = [make_healthy(), make_stuck(60), make_stuck(400)]
    assert [run.spent.events for run in sorted(runs, key=badness)] == [400, 60, 24]


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (1234.5, "$1,234.50"),
        (0.01, "$0.01"),
        (0.0099, "$0.0099"),
        (0.00000001, "under $0.0001"),
        (0.0, "$0.00"),
    ],
)
def test_no_cost_reads_as_zero(dollars, text) -> None:
    """Small amounts keep the digits that say something."""
    assert money(dollars) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.96, "10.0 s"), (59.4, "59 s"), (59.6, "1 min"), (3599.6, "1 h"), (86400.0, "24 h")],
)
def test_durations_at_the_edges_of_their_units(seconds, text) -> None:
    """Rounding never gives 60 of a smaller unit."""
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("spent", "text"),
    [
        (Spending(cost_usd=1.0), None),
        (Spending(), None),
        (Spending(tokens=Tokens(input=5)), None),
        (
            Spending(unpriced=2, unpriced_models=("a", "b")),
            "No price is known for 2 model calls (a and b). Add prices with --prices FILE.",
        ),
        (
            Spending(cost_usd=1.0, unpriced=1),
            "No price is known for 1 model call, so it cost more. Add prices with --prices FILE.",
        ),
        (
            Spending(cost_usd=1.0, unrecorded=62),
            "The cost of 62 tool calls by sub-agents is not in the record, so it cost more.",
        ),
    ],
)
def test_what_is_not_known_of_a_cost_is_said(spent, text) -> None:
    """An unknown price is named, and never taken for zero."""
    assert missing_cost(spent) == text


def test_what_was_saved(make_stuck, make_healthy) -> None:
    """Where the run would have been ended, and what came after; nothing where nothing would have ended it."""
    assert saved(make_healthy()) is None
    assert saved(make_stuck(60)) == (
        "A stop after event 20 would have saved 40 events, $2.00, 80,000 tokens."
    )
    ready = Saving(verdict=Verdict(action=Action.FINALIZE, event=1), after=Spending(events=1))
    assert saved(make_healthy(saving=ready)) == ("Finishing after event 1 would have saved 1 event.")


def test_a_run_that_came_back(make_stuck) -> None:
    """A run that ends better than it was says so: it recovered, or it went on."""
    assert at_end(make_stuck()) is None
    run = make_stuck(60, latest=Verdict(), recovered=True)
    assert at_end(run) == "It recovered."
    assert saved(run) == (
        "It would have been stopped after event 20. It took another 40 events, $2.00, 80,000 tokens to "
        "recover."
    )
    assert at_end(make_stuck(60, latest=Verdict(), recovered=False)) == "It continued."
    noisy = Verdict(action=Action.NUDGE, cause=Cause.CONVERGENCE, facts=DryRoundFacts(rounds=3, ready=True))
    assert at_end(make_stuck(latest=noisy)) == (
        "At its end: 3 rounds in a row brought nothing new: the result is ready."
    )


def test_where_a_finding_is(make_stuck) -> None:
    """Events are called calls where there is nothing else."""
    finding = make_stuck(60).findings[0]
    assert where(finding, Spending(events=60, tool_calls=58)) == "events 8-60"
    assert where(finding, Spending(events=60, tool_calls=60)) == "calls 8-60"


def test_findings_that_share_an_event(make_stuck) -> None:
    """One event in common is enough to say that costs do not add up; neighbours have none."""
    late, early = make_stuck(60).findings
    warning = "most expensive first; they overlap, so their costs do not add up"
    assert in_order((late, early)) == "most expensive first"
    assert in_order((late, replace(early, last_event=late.first_event))) == warning
    assert in_order((late, replace(early, last_event=late.first_event - 1))) == "most expensive first"


def test_a_cost_that_is_known_in_part() -> None:
    """A plus says that it cost more; where nothing is known there is nothing to add to."""
    assert cost(Spending(cost_usd=1.2)) == "$1.20"
    assert cost(Spending(cost_usd=1.2, unpriced=1)) == "$1.20+"
    assert cost(Spending(cost_usd=1.2, unrecorded=5)) == "$1.20+"
    assert cost(Spending(cost_usd=1.2, understated=True)) == "$1.20+"
    assert cost(Spending(understated=True)) == "unknown"
    assert cost(Spending(unpriced=1)) == "unknown"


def rounds(signal: str, *novelties: float, chain: str = "") -> tuple[RoundPoint, ...]:
    return tuple(
        RoundPoint(
            number=number,
            event=number,
            agent=None,
            novelty_rate=novelty,
            new_claims=1,
            claims=1,
            readiness=0.5,
            signal=signal,
            chain_id=chain,
        )
        for number, novelty in enumerate(novelties, start=1)
    )


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ((), "not judged: there are no rounds of conversation"),
        (rounds("SHIP", 0.0), "not judged: one round is too few"),
        (
            rounds("SHIP", 1.0, 0.0),
            "yes, after 2 rounds: the last round brought nothing new, and the result was ready",
        ),
        (
            rounds("ESCALATE", 1.0, 0.0),
            "no, stuck after 2 rounds: nothing new, and nothing says that it is finished",
        ),
        (rounds("CONTINUE", 1.0, 0.15), "no, after 2 rounds: the last round still brought something new"),
        (
            rounds("CONTINUE", 1.0, 0.14),
            "not yet, after 2 rounds: the last round brought nothing new, which is too little to judge",
        ),
        (
            rounds("ESCALATE", 1.0, 0.0, chain="a") + rounds("CONTINUE", 1.0, 1.0, 1.0, chain="b"),
            (
                "no, after 3 rounds: the last round still brought something new, in the longest of 2 "
                "conversations"
            ),
        ),
    ],
)
def test_whether_it_converged(points, text, make_healthy) -> None:
    """The last signal of the longest conversation in words; what cannot be judged is said."""
    assert convergence(make_healthy(rounds=points)) == text


def test_the_numbers_of_the_last_round() -> None:
    """Both of them, as the charts have them."""
    assert last_round(rounds("SHIP", 1.0, 0.125)) == "at the end novelty 0.12, readiness 0.50"


def test_reasons_are_counted() -> None:
    """The most frequent reason comes first; what repeats an earlier decision is one reason."""
    texts = ("It is short.", "It is long", "It is short.", None, "API key in it", "six")
    decisions = [RunDecision(event=1, agent=None, text="", kept=False, reason=text) for text in texts]
    decisions += [RunDecision(event=2, agent=None, text="", kept=False, duplicate_of=1)] * 3
    assert reasons(decisions) == (
        "it repeats an earlier one (3), it is short (2), it is long, no reason given and 2 more"
    )
    assert reasons(decisions[-3:]) == "it repeats an earlier one"


@pytest.mark.parametrize(
    ("sources", "folder"),
    [(("a/b/c", "a/b/d/e"), "a/b/"), (("a", "b"), ""), (("/a", "b"), ""), (("/a", "/b"), ""), ((), "")],
)
def test_the_folder_that_all_are_in(sources, folder) -> None:
    """A table names the folder once; where there is none in common it names nothing."""
    assert folder_of(sources) == folder
