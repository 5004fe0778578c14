"""Declarations about tools."""

from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import ConfigError
from ebbtide.events.effect import Effect
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy


def test_one_table_declares_tools_by_name_or_pattern(tmp_path: Path) -> None:
    """A TOML table names tools, also by pattern; the exact name comes first."""
    path = tmp_path / "tools.toml"
    path.write_text(
        '[tools."search_*"]\ngroup = "search"\n[tools.search_code]\neffect = "read"\nkey_fields = ["q"]\n',
        encoding="utf-8",
    )
    policies = ToolPolicies.load(path)
    assert policies.get("search_web") == ToolPolicy(group="search")
    assert policies.get("search_code") == ToolPolicy(effect=Effect.READ, key_fields=("q",))
    assert policies.get("fetch") is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"t": {"effect": "writes"}}, "tools.t.effect = 'writes'"),
        ({"t": {"key_fields": "q"}}, "tools.t.key_fields = 'q'"),
        ({"t": {"volatile_fields": [1]}}, "tools.t.volatile_fields"),
        ({"t": {"exempt": "yes"}}, "tools.t.exempt = 'yes'"),
        ({"t": {"group": 5}}, "tools.t.group = 5"),
        ({"t": {"repeats_at_least": 1}}, "tools.t.repeats_at_least = 1"),
        ({"t": {"failures_at_least": True}}, "tools.t.failures_at_least"),
        ({"t": {"colour": 1}}, "tools.t.colour: no such setting"),
        ({"t": 5}, "expected a table"),
    ],
)
def test_a_bad_declaration_is_named(table: dict[str, Any], message: str) -> None:
    """The error says which tool, which setting and what it was."""
    with pytest.raises(ConfigError) as error:
        ToolPolicies.from_dict(table)
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["tools = 5", "[tools", '[tools.t]\neffect = "x"'])
def test_a_bad_file_is_named(tmp_path: Path, text: str) -> None:
    """A file that is no TOML, or holds something else, is an error with its name."""
    path = tmp_path / "tools.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tools\.toml"):
        ToolPolicies.load(path)
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        ToolPolicies.load(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("result", "rest"),
    [
        ('{"out": "x", "ms": 5}', {"out": "x"}),
        ('[{"out": "x", "ms": 5}]', [{"out": "x"}]),
        ({"out": "x", "meta": {"id": 1, "v": 2}}, {"out": "x", "meta": {"v": 2}}),
        ("plain text", "plain text"),
        ("{broken", "{broken"),
        (None, None),
    ],
)
def test_volatile_fields_are_left_out(result: object, rest: object) -> None:
    """Fields of a JSON answer can be declared to say nothing, also inside; anything else is left as it is."""
    assert ToolPolicy(volatile_fields=("ms", "meta.id")).answer(result) == rest
