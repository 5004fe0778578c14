"""What people and models are told: every finding has its words, and they fit one line."""

from dataclasses import replace

import pytest

from ebbtide.budget.limit_alerts import LimitState, Near
from ebbtide.budget.limits import LimitKind
from ebbtide.divergence.signals import LoopKind, LoopSignal
from ebbtide.supervision.joint import Burn
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.summary.run_summary import RunFinding, Spending
from ebbtide.supervision.verdict import Action, Cause, Verdict

SIGNAL = Signal(
    id="ab",
    kind=LoopKind.REPEAT,
    level=Level.HINT,
    chain_id="",
    tools=("ls",),
    copies=3,
    threshold=3,
    calls=3,
    first_event=1,
    last_event=3,
)
FINDING = RunFinding(
    id="ab",
    kind="repeat",
    action=Action.STOP,
    cause=Cause.DIVERGENCE,
    sentence="ls 3 times in a row",
    first_event=1,
    last_event=3,
    cost_usd=0.5,
)


@pytest.mark.parametrize("kind", LoopKind)
def test_every_loop_has_a_sentence_with_its_size_and_a_text_for_the_model(kind):
    """Nothing that a monitor can find is without words."""
    said = sentences.loop(kind, ("search", "open"), 7, "evidence")
    assert said
    assert "7" in said or kind in sentences.SPENDING
    assert "{" not in said
    signal = replace(SIGNAL, kind=kind, level=Level.STOP)
    assert sentences.loop_nudge(signal) == replace(signal, level=Level.HINT).message
    assert sentences.loop_verdict(signal, goes_on=True).endswith("it went on after it had been told.")


@pytest.mark.parametrize("near", Near)
@pytest.mark.parametrize("kind", LimitKind)
def test_every_limit_has_a_sentence_with_both_numbers(kind, near):
    """What was taken, and what there was."""
    state = LimitState(kind, near, 7.0, 8.0)
    said = sentences.limit(state)
    assert "7" in said
    assert "8" in said
    assert sentences.limit_nudge(state).endswith(".")


def test_a_loop_without_a_tool_is_a_call():
    """Some readers do not know names."""
    assert sentences.loop(LoopKind.REPEAT, (), 3).startswith("a call 3 times")


def test_a_line_says_where_what_and_how_much():
    """Money first, tokens where there is no money, nothing where nothing is known."""
    assert sentences.finding(FINDING) == "events 1-3: ls 3 times in a row, $0.50"
    assert sentences.finding(replace(FINDING, cost_usd=None, tokens=9)).endswith("row, 9 tokens")
    alone = replace(FINDING, cost_usd=None, last_event=1)
    assert sentences.finding(alone, "calls") == "call 1: ls 3 times in a row"


def test_the_verdict_of_a_run_is_told_from_its_end():
    """The finding as it came out, not as it stood when it was said."""
    said = Verdict(action=Action.STOP, cause=Cause.DIVERGENCE, reason="early", signal_id="ab", chain_id="")
    spent = Spending(events=3, tool_calls=3)
    told = sentences.verdict_of_run(said, [FINDING], spent)
    assert told.reason == "ls 3 times in a row (calls 1-3, $0.50)."
    assert sentences.verdict_of_run(said, [], spent) == said
    assert sentences.verdict_of_run(Verdict(), [], spent).reason.startswith("3 calls: no loop")


def test_a_finding_says_an_amount_once_and_numbers_with_commas():
    """What it cost stands beside it."""
    burn = Burn(0.7, 0.6, 1_200, 0, 1.4, 0, "$1.40 since anything new")
    said = Verdict(cause=Cause.JOINT, reason=f"{sentences.joint(burn)}.")
    assert said.reason == "1,200 calls without anything new while spending went on: $1.40 since anything new."
    assert sentences.without_measure(said)[0] == "1,200 calls without anything new while spending went on"
    spent = replace(FINDING, sentence="x", first_event=2_000, last_event=2_000, cost_usd=1_234.5)
    assert sentences.finding(spent) == "event 2,000: x, $1,234.50"
    assert sentences.price(None, 200_312) == "200,312 tokens"


SAMES = [kind for kind in LoopKind if "same answer" in sentences.loop(kind, ("ls",), 3)]


@pytest.mark.parametrize("kind", SAMES)
def test_what_is_not_known_is_not_called_the_same(kind):
    """Neither to a person nor to the model."""
    assert sentences.loop(kind, ("ls",), 3, answers=False).endswith(sentences.NO_ANSWERS)
    nudge = sentences.loop_nudge(replace(SIGNAL, kind=kind), answers=False)
    assert nudge == (
        "The same calls were made again and again. Try something else, or say what is missing and finish."
    )
