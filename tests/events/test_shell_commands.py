"""What shell commands do."""

import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.events.effect import Effect
from ebbtide.events.shell_commands import command_name, shell_effect
from ebbtide.events.sql_effect import sql_effect

SCENARIOS = tomllib.loads((Path(__file__).parent / "shell_scenarios.toml").read_text(encoding="utf-8"))
LINES = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            "ls;rm;&&;|;>;<<EOF;\n;EOF;$(;);`;';\";find;-exec;sudo;bash;-c;a=b;((;[[;2>&1;\\".split(";")
        ),
        max_size=40,
    ).map(" ".join),
)


@pytest.mark.parametrize(
    ("effect", "command"), [(effect, command) for effect, rows in SCENARIOS.items() for command in rows]
)
def test_scenarios(effect: str, command: str) -> None:
    """Each command does what a person who knows the tools says that it does."""
    assert shell_effect(command) == (None if effect == "unknown" else Effect(effect))


@given(LINES)
def test_any_text_can_be_read(text: str) -> None:
    """Any text has an effect or none, and a name; going to a folder first changes neither."""
    effect = shell_effect(text)
    assert isinstance(command_name(text), str)
    if text.strip() and effect is not None:
        assert shell_effect(f"cd x && {text}") is effect


@pytest.mark.parametrize(
    "part",
    [
        "((",
        "$((",
        "$(",
        '"$(',
        '"',
        "'",
        "`",
        "<<a\n",
        "a=b ",
        "sudo ",
        "\\",
        "find -exec ",
        "xargs ",
        "bash -c ",
        "[[",
    ],
)
def test_hostile_commands_take_little_time(part: str) -> None:
    """No text of a few thousand characters takes long, whatever is repeated in it."""
    start = time.perf_counter()
    shell_effect(part * 3_000)
    assert time.perf_counter() - start < 0.5


def test_a_long_command_is_known_only_where_it_changes_something() -> None:
    """What was not read cannot be said to look."""
    assert shell_effect("cat " + "a " * 4_000) is None
    assert shell_effect("rm " + "a " * 4_000) is Effect.CHANGE


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cd /repo && pytest -q", "pytest"),
        ("git -C x commit -m 'a b'", "git commit"),
        ("kubectl -n prod get pods | grep web", "kubectl get"),
        (["bash", "-lc", "sudo rm -rf x"], "rm"),
        ("FOO=1 python -m pytest tests", "pytest"),
        ("", ""),
    ],
)
def test_names(command: str | list[str], name: str) -> None:
    """A command is called by the program that counts, and its subcommand."""
    assert command_name(command) == name


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("SELECT 'drop table t'", Effect.READ),
        ("-- all\nselect * from t;", Effect.READ),
        ("EXPLAIN SELECT 1", Effect.READ),
        ("WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a", Effect.CHANGE),
        ("PRAGMA user_version = 3", Effect.CHANGE),
        ("PRAGMA table_info(t)", Effect.READ),
        ("BEGIN; UPDATE t SET a = 1; COMMIT", Effect.CHANGE),
        ("CALL f()", None),
        ("", None),
    ],
)
def test_sql(text: str, effect: Effect | None) -> None:
    """A text of SQL does what its statements begin with."""
    assert sql_effect(text) is effect
