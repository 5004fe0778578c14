"""What all adapters share: options are checked when it is wired, and nothing of ours reaches a run."""

from __future__ import annotations

import warnings

import pytest

from ebbtide import ConfigError, Limits, ModelCall, Runs, watch
from ebbtide.adapters.run_watch import RunWatch


def broken(_: str) -> object:
    """A registry without supervisors."""
    raise RuntimeError("no supervisor today")


def use(run_watch: RunWatch) -> None:
    """Every verb once."""
    assert run_watch.advise("a").verdict.reason == "No reason to stop."
    run_watch.record("a", ModelCall())
    run_watch.record_answer("a", object())
    run_watch.record_failure("a")
    run_watch.record_message("a", "hello")
    run_watch.record_tool_call("a", "ls", "{}", object())
    run_watch.acknowledge("a")
    assert run_watch.end("a") is None
    with run_watch.guarded():
        raise ValueError("of the adapter")


def test_options_are_checked_at_once() -> None:
    """A name that is none, and one beside a registry that has its own."""
    with pytest.raises(ConfigError, match=r"limit: no such option\. did you mean limits\? There are"):
        RunWatch(limit=Limits(cost_usd=1.0))  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="limits belongs into the registry"):
        RunWatch(runs=Runs(), limits=Limits(cost_usd=1.0))


def test_faults_are_counted_and_warned_of_once() -> None:
    """Every verb of a registry that always fails gives nothing, and raises nothing."""
    run_watch = RunWatch(runs=Runs(broken))  # type: ignore[arg-type]
    with pytest.warns(RuntimeWarning, match=r"Ebbtide cannot watch: RuntimeError: no supervisor") as caught:
        use(run_watch)
    assert len(caught) == 1
    assert run_watch.faults == 9
    assert run_watch.last_fault == "ValueError: of the adapter"


def test_what_is_no_client_is_refused() -> None:
    """A client without a method that is watched is an error when it is wired."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConfigError, match=r"object has neither chat\.completions\.create"):
            watch(object())


def test_where_a_person_can_be_asked_a_loop_is_a_question() -> None:
    """What would end the run asks first; once they have answered, it goes on."""
    run_watch = RunWatch()
    for _ in range(4):
        run_watch.advise("a", asks=True)
        run_watch.record_tool_call("a", "ls", {"path": "."}, "a.txt")
    asked = run_watch.advise("a", asks=True)
    assert asked.end is None
    assert asked.ask is not None
    run_watch.acknowledge("a")
    assert run_watch.advise("a", asks=True).refusal is None


def test_a_limit_is_no_question() -> None:
    run_watch = RunWatch(limits=Limits(llm_calls=1))
    run_watch.record("a", ModelCall())
    assert run_watch.advise("a", asks=True).end is not None


@pytest.mark.parametrize(
    ("limits", "shadow", "model", "is_warned"),
    [
        (Limits(cost_usd=1.0), False, "nobody/knows-1", True),
        (Limits(cost_usd=1.0), False, "openai/gpt-4o-mini", False),
        (Limits(cost_usd=1.0), False, None, False),
        (Limits(cost_usd=1.0), True, "nobody/knows-1", False),
        (Limits(cost_usd=1.0, when_unknown="allow"), False, "nobody/knows-1", False),
        (Limits(tokens=1), False, "nobody/knows-1", False),
    ],
)
def test_a_limit_in_dollars_without_a_price_is_warned_of_before_the_first_call(
    limits: Limits, shadow: bool, model: str | None, is_warned: bool
) -> None:
    """Once for each model; the call is made, since its answer may state the cost."""
    run_watch = RunWatch(limits=limits, shadow=shadow)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert run_watch.advise("a", model=model).refusal is None
    assert len(caught) == is_warned
    if is_warned:
        assert (
            "The limit of 1 USD cannot be enforced: the cost of a call of 'nobody/knows-1' is unknown"
            in str(caught[0].message)
        )
