"""`ebbtide budgets`: what is left, and what a person decides."""

import json
from pathlib import Path

import pytest

from ebbtide import Budgets

SETTINGS = """
[budgets]
store = "budgets.db"

[[budgets.limits]]
scope = "project"
name = "invoices"
per = "day"
limit_usd = 5.0

[[budgets.limits]]
scope = "user"
limit_usd = 2.0
soft_usd = 1.0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(SETTINGS)
    return path


def test_a_budget_with_a_name_is_shown_before_anything_is_spent(here, file: Path) -> None:
    (row,) = json.loads(here("budgets", "list", "--budgets", file, "--json").output)["budgets"]
    assert {key: row[key] for key in ("scope", "name", "per", "limit_usd", "spent_usd", "left_usd")} == {
        "scope": "project",
        "name": "invoices",
        "per": "day",
        "limit_usd": 5.0,
        "spent_usd": 0.0,
        "left_usd": 5.0,
    }
    assert row["resets_at"] % 86_400 == 0


def test_the_table_says_what_stands_in_the_way(here, file: Path) -> None:
    ann = Budgets.load(file).of(user="ann")
    ann.charge(1.5)
    ann.charge(None)
    output = here("budgets", "list", "--budgets", file).output
    row = next(line for line in output.splitlines() if line.startswith("user:ann:total"))
    assert row.split("  ")[0] == "user:ann:total"
    assert "never; a person is asked from $1.00; 1 call without a price" in " ".join(output.split())


def test_a_decision_of_a_person_reaches_those_who_spend(here, file: Path) -> None:
    ann = Budgets.load(file).of(user="ann")
    ann.charge(1.9)
    for line, wanted in (("approve", 0.1), ("extend --add 1", 1.0), ("reset", 0.9)):
        verb, *options = line.split()
        ended = here("budgets", verb, "user:ann:total", *options, "--budgets", file, "--json")
        assert [row["key"] for row in json.loads(ended.output)["budgets"]] == ["user:ann:total"]
        ann.reserve(wanted).settle(wanted)


def test_a_slip_in_an_id_is_answered_with_the_one_that_was_meant(here, file: Path) -> None:
    Budgets.load(file).of(user="ann").charge(1)
    ended = here("budgets", "approve", "user:an:total", "--budgets", file)
    assert ended.code == 2
    assert "no budget has the id 'user:an:total'" in ended.message
    assert "did you mean user:ann:total?" in ended.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SETTINGS.replace("budgets.db", "redis://127.0.0.1:1/0"), "redis://127.0.0.1:1/0: Error"),
        (SETTINGS.replace("budgets.db", "gone/budgets.db"), "unable to open database file"),
        (
            SETTINGS.replace("limit_usd = 5.0", "limit = 5.0"),
            "limit: no such setting; did you mean limit_usd?",
        ),
        ("budgets = 3\n", "budgets = 3: expected a table"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(here, file: Path, text: str, message: str) -> None:
    file.write_text(text)
    ended = here("budgets", "list", "--budgets", file)
    assert ended.code == 2
    assert message in ended.message
    assert "Traceback" not in ended.message


def test_the_settings_of_the_project_name_them(here, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "ebbtide.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EBBTIDE_CONFIG", str(tmp_path / "ebbtide.toml"))
    assert "project:invoices:day:" in here("budgets", "list").output
    assert (tmp_path / "budgets.db").exists()


def test_of_many_budgets_the_fullest_are_shown(here, file: Path) -> None:
    budgets = Budgets.load(file)
    for number in range(5):
        budgets.of(user=f"u{number}").charge(number / 10)
    output = here("budgets", "list", "--limit", 3, "--budgets", file).output
    assert [line.split()[0] for line in output.splitlines()[2:4]] == ["user:u4:total", "user:u3:total"]
    assert output.splitlines()[-1] == "3 more: --limit 6"
