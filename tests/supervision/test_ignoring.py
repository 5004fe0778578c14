"""What is ignored: the rule says nothing, has no part in the verdict, and no other speaks in its place."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ebbtide.checking import check_events
from ebbtide.divergence.detector_table import LOOPS
from ebbtide.errors import ConfigError
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import RULES, LoopKind
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.headline import Headline
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.supervisor import Supervisor

LS = ToolCall(name="ls", args={"path": "."}, result="a b")
SEARCH = ToolCall(name="web_search", args={"q": "x"}, result="none")
IDLE = [
    ToolCall(name=f"t{number % 5}", args={"n": number % 5}, result="same", usage=Usage(cost_usd=0.15))
    for number in range(20)
]
LOST = [ModelCall(text="We still wait for the file."), ModelCall(text="Is the file there?")] * 8


def checked(events: Iterable[Event], *, budget: float | None = None, **ignore: list[str]) -> RunSummary:
    """What comes of the events where this is ignored."""
    rules = {"stale": 8} if budget is None else {"budget_usd": budget}
    return check_events(
        events, RunOptions(profile=Profile.from_dict({"divergence": rules, "ignore": ignore}))
    )


def kinds(summary: RunSummary) -> set[str]:
    return {finding.kind for finding in summary.findings}


def test_every_rule_has_its_switch() -> None:
    """Those of the loop monitor by their kind, then rounds, sessions in a row and the joint rule."""
    assert (*LoopKind, "stuck_rounds", "idle_sessions", "burn_without_progress") == tuple(RULES)


def test_the_docs_name_every_kind() -> None:
    """The table of what is found has them all."""
    page = Path(__file__).parents[2] / "docs" / "divergence.md"
    rows = page.read_text(encoding="utf-8").partition("## What is found")[2].splitlines()
    named = {
        name
        for row in rows
        if row.startswith("| `")
        for name in row.split("|")[1].replace("`", "").split(",")
    }
    assert {name.strip() for name in named} == set(LoopKind)


@pytest.mark.parametrize("kind", LoopKind)
def test_what_is_ignored_is_left_out_and_nothing_takes_its_place(kind: LoopKind) -> None:
    """Of a known loop of each kind: without the rule there is what was found beside it, and no more."""
    events = [LOOPS[kind].known_loop(number) for number in range(200)]
    budget = 5.0 if kind is LoopKind.BUDGET_END else 1_000.0
    before = checked(events, budget=budget)
    after = checked(events, budget=budget, rules=[kind.value])
    assert kind.value in kinds(before)
    assert kinds(after) == kinds(before) - {kind.value}
    assert before.ignored == 0
    assert after.ignored == sum(finding.kind == kind.value for finding in before.findings)
    assert after.verdict.kind != kind.value
    if not after.findings:
        assert (after.verdict.action, after.saving) == (Action.ALLOW, None)


@pytest.mark.parametrize(
    ("events", "rule"), [(IDLE, "burn_without_progress"), (LOST, "stuck_rounds")], ids=["joint", "rounds"]
)
def test_rounds_and_the_joint_rule_can_be_ignored(events: list[Event], rule: str) -> None:
    """Likewise."""
    before, after = checked(events), checked(events, rules=[rule])
    assert rule in kinds(before)
    assert kinds(after) == kinds(before) - {rule}
    assert after.ignored >= 1


@pytest.mark.parametrize(
    ("events", "tools", "stays"),
    [
        ([LS] * 8, ["ls"], False),
        ([LS] * 8, ["l?", "cat"], False),
        ([LS] * 8, ["LS"], True),
        ([LS, SEARCH] * 8, ["ls"], True),
        ([LS, SEARCH] * 8, ["ls", "web_*"], False),
    ],
)
def test_tools_are_ignored_by_name_or_pattern(events: list[Event], tools: list[str], stays: bool) -> None:
    """A finding is left out where all of its tools are."""
    summary = checked(events, tools=tools)
    assert bool(summary.findings) == stays
    assert summary.ignored == (0 if stays else 1)
    assert (summary.headline is Headline.STUCK) == stays


@pytest.mark.parametrize("action", [lambda s: s.verdict(), lambda s: s.check_before_tool(LS)])
def test_the_model_is_not_told_of_it(action: Callable[[Supervisor], object]) -> None:
    """A live run is neither stopped nor nudged, at the next call either."""
    loud, quiet = Supervisor(), Supervisor(Profile.from_dict({"ignore": {"rules": ["repeat"]}}))
    for _ in range(8):
        loud.record(LS)
        quiet.record(LS)
    assert action(loud).action is not Action.ALLOW  # type: ignore[attr-defined]
    assert action(quiet).action is Action.ALLOW  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"rules": ["repaet"]},
            r"^ignore\.rules: no rule 'repaet'; did you mean repeat\? There are repeat, cycle, ",
        ),
        ({"rules": ["xyz"]}, r"^ignore\.rules: no rule 'xyz'; there are repeat, cycle, "),
        ({"rules": "repeat"}, r"^ignore\.rules = 'repeat': expected a list of names$"),
        ({"tools": [3]}, r"^ignore\.tools: 3: expected a name$"),
        ({"tools": [""]}, r"^ignore\.tools: '': expected a name$"),
        (
            {"rule": ["repeat"]},
            r"^ignore\.rule: no such setting; did you mean rules\? There are rules, tools$",
        ),
    ],
)
def test_what_cannot_be_ignored(table: dict[str, object], message: str) -> None:
    """The error names the setting, and what was probably meant."""
    with pytest.raises(ConfigError, match=message):
        Profile.from_dict({"ignore": table})
