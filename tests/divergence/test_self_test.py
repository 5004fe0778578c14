"""The wiring self-test: a detector that does not fire is said to be silent."""

from dataclasses import replace

from ebbtide.divergence.self_test import Wiring, self_test
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind


def test_every_detector_of_the_default_profile_fires() -> None:
    """Each kind of loop is tried, and each fires; the end of a budget is off as long as there is none."""
    checks = {check.kind: check for check in self_test()}
    assert set(checks) == set(LoopKind)
    assert {kind for kind, check in checks.items() if check.wiring is not Wiring.FIRES} == {
        LoopKind.BUDGET_END
    }
    assert checks[LoopKind.BUDGET_END].wiring is Wiring.OFF
    assert checks[LoopKind.REPEAT].event == Profile.DEFAULT.divergence.copies + 1


def test_a_budget_turns_its_detector_on() -> None:
    """With a budget, the end of it is seen coming."""
    rules = LoopRules(budget_usd=5.0)
    checks = {check.kind: check for check in self_test(Profile(name="own", divergence=rules))}
    assert checks[LoopKind.BUDGET_END].wiring is Wiring.FIRES


def test_a_rule_that_is_switched_off_is_silent() -> None:
    """A threshold of None, or one that is never reached, shows."""
    rules = replace(Profile.DEFAULT.divergence, condensations=None, growing=100_000)
    checks = {check.kind: check.wiring for check in self_test(Profile(name="own", divergence=rules))}
    assert checks[LoopKind.CONDENSATION] is Wiring.SILENT
    assert checks[LoopKind.GROWING_CALL] is Wiring.SILENT
    assert checks[LoopKind.REPEAT] is Wiring.FIRES


def test_a_pattern_that_exempts_everything_shows() -> None:
    """A declaration that takes every tool in silences what looks at tools, and nothing else."""
    tools = ToolPolicies.from_dict({"*": {"exempt": True}})
    checks = {check.kind: check.wiring for check in self_test(tools=tools)}
    assert checks[LoopKind.REPEAT] is Wiring.SILENT
    assert checks[LoopKind.MONOLOGUE] is Wiring.FIRES
