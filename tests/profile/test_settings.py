"""What a setting may be: every section of a profile is asked, whatever settings it has."""

import dataclasses
import math
from typing import Any

import pytest

from ebbtide.errors import ConfigError
from ebbtide.profile import Profile

SETTINGS = [
    (section.name, setting.name, value)
    for section in dataclasses.fields(Profile)
    if section.name != "name"
    for setting in dataclasses.fields(getattr(Profile.DEFAULT, section.name))
    for value in [getattr(getattr(Profile.DEFAULT, section.name), setting.name)]
]
FLAGS = [(section, name) for section, name, value in SETTINGS if isinstance(value, bool)]
NUMBERS = [(section, name) for section, name, value in SETTINGS if type(value) in {int, float}]


@pytest.mark.parametrize("value", [True, "1", -1, math.nan, math.inf, [1]], ids=str)
@pytest.mark.parametrize(("section", "name"), NUMBERS)
def test_numbers_that_are_none_are_refused(section: str, name: str, value: Any) -> None:
    """A flag, a text, and a number below zero or without end, by the name of the setting and the value."""
    with pytest.raises(ConfigError, match=rf"{section}\.{name} = "):
        Profile.from_dict({section: {name: value}})


@pytest.mark.parametrize("value", [1, 0, "true", None], ids=str)
@pytest.mark.parametrize(("section", "name"), FLAGS)
def test_flags_that_are_none_are_refused(section: str, name: str, value: Any) -> None:
    """True and false are all there is."""
    with pytest.raises(ConfigError, match=rf"{section}\.{name} = .*: expected true or false"):
        Profile.from_dict({section: {name: value}})


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        ("novelty", {"jaccard_at_least": 0}, "jaccard_at_least = 0"),
        ("novelty", {"low_below": 0.6, "high_above": 0.5}, "low_below = 0.6 is above high_above = 0.5"),
        ("novelty", {"tokens": "letters"}, "tokens = 'letters'"),
        ("novelty", {"cosine_at_least": 2}, "cosine_at_least = 2"),
        ("readiness", {"next_actions_weight": 0.6}, "weights add up to 1.1"),
        ("readiness", {"medium_at_least": 0.8, "high_at_least": 0.7}, "medium_at_least = 0.8 is above"),
        ("gaming", {"spike_factor": 1}, "spike_factor = 1"),
        ("decisions", {"refuse_at": 0}, "refuse_at = 0"),
        ("divergence", {"budget_usd": -1}, "budget_usd = -1"),
        ("divergence", {"budget_tokens": 1.5}, "budget_tokens = 1.5"),
        ("divergence", {"copies": 2}, "copies = 2: expected a whole number, 3 or more"),
        ("supervision", {"joint_from": 0.8, "joint_escalates_from": 0.7}, "joint_from = 0.8"),
        ("supervision", {"joint_from": 0}, "joint_from = 0"),
    ],
)
def test_settings_at_the_edge_or_in_contradiction_are_refused(
    section: str, values: dict[str, Any], message: str
) -> None:
    """Each is a number, and some are right by themselves."""
    with pytest.raises(ConfigError, match=message):
        Profile.from_dict({section: values})


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("novelty", {"low_below": 0.5, "high_above": 0.5}),
        ("readiness", {"medium_at_least": 0.7, "high_at_least": 0.7}),
        ("readiness", {"next_actions_weight": 0, "open_questions_weight": 0, "blockers_weight": 1}),
        ("supervision", {"joint_from": 0.7, "joint_escalates_from": 0.7}),
        ("supervision", {"joint_from": None}),
        ("duplicates", {"window_s": None, "compared_at_most": 0}),
        ("decisions", {"frames": ["decision"], "short_words": None}),
        ("divergence", {"copies": 3, "polls": None}),
    ],
)
def test_the_outermost_settings_are_taken(section: str, values: dict[str, Any]) -> None:
    """Equal bounds, nothing and all are settings too."""
    table = Profile.from_dict({section: values}).to_dict()[section]
    assert {name: table[name] for name in values} == {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"base": "strict"}, "base = 'strict': expected spec or default"),
        ({"base": 1}, "base = 1"),
        ({"name": 1}, "name = 1: expected a text"),
        (
            {"noveltie": {}},
            r"\[noveltie\]: no such table; did you mean novelty\? There are novelty, readiness, ",
        ),
        ({"novelty": 1}, r"novelty = 1: expected a table"),
        ({"novelty": {"k": 1}}, r"novelty\.k: no such setting; there are jaccard_at_least, "),
    ],
)
def test_tables_that_describe_no_profile_are_refused(table: dict[str, Any], message: str) -> None:
    """What is wrong, and what there is instead."""
    with pytest.raises(ConfigError, match=message):
        Profile.from_dict(table)


@pytest.mark.parametrize("base", [Profile.SPEC, Profile.DEFAULT])
def test_what_a_table_leaves_out_is_that_of_its_base(base: Profile) -> None:
    """One value differs, and no other."""
    profile = Profile.from_dict({"base": base.name, "name": "mine", "novelty": {"low_rounds": 7}})
    novelty = dataclasses.replace(base.novelty, low_rounds=7)
    assert profile == dataclasses.replace(base, name="mine", novelty=novelty)
    assert Profile.from_dict(base.to_dict() | {"base": base.name}) == base


def test_the_default_profile_is_the_base_where_none_is_named() -> None:
    """An empty table is the default profile."""
    assert Profile.from_dict({}) == Profile.load("default") == Profile.DEFAULT
    assert Profile.load("spec") == Profile.SPEC
