"""One name, one meaning: options and arguments over all commands, and what their help says."""

import re
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from ebbtide.cli.app import root
from ebbtide.cli.result import Exit

# What stands for a value in the help; a list of words in brackets is the other way.
METAVARS = {
    "NAME=TEXT",
    "COLUMN",
    "CMD",
    "CURSOR",
    "DIR",
    "FILE",
    "FILE|URL",
    "FORMAT",
    "ID",
    "KIND=ID",
    "N",
    "NAME",
    "NAME=KEY,...",
    "NAME=V,...",
    "NAME|FILE",
    "P",
    "S",
    "STATUS",
    "TEXT",
    "URL",
    "URL#MODEL",
    "USD",
    "WHAT",
    "WHEN",
    "WHEN CMD",
}
ARGUMENTS = {"AGENT", "FILE", "FILE|DIR", "FILE|DIR|URL", "CMD", "FOLDER", "ID", "OUTCOME", "TEXT", "WORDS"}
LISTED = re.compile(r"\[[\w-]+(\|[\w-]+)+\]")


def commands(group: click.Group = root, *path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands())
OPTIONS = [
    (name, command, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]


def metavar(command: click.Command, option: click.Option) -> str:
    return "" if option.is_flag else option.make_metavar(click.Context(command))


def test_one_name_means_one_thing() -> None:
    """Wherever an option is, it has the same flags, the same metavar and the same help."""
    meanings: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for name, command, option in OPTIONS:
        if name.startswith("hooks ") and "--project" in option.opts:
            continue  # the settings are those of the folder that one is in: there is no name to give
        if name == "check" and "--by" in option.opts:
            continue  # as in other tools for bills; of a decision it says by whom it was taken
        if name == "decisions amend" and "--status" in option.opts:
            continue  # the status that is set, where lists have those that are shown
        if name == "trust" and "--undo" in option.opts:
            continue  # the folder is an argument there; of an advice --undo has the name
        flags = (*sorted(option.opts), *sorted(option.secondary_opts))
        for flag in flags:
            meanings[flag].add((*flags, metavar(command, option), option.help or ""))
    assert {flag: meaning for flag, meaning in meanings.items() if len(meaning) > 1} == {}


WRITERS = ["archive check", "archive calibrate", "calibrate", "decisions audit", "decisions train"]


@pytest.mark.parametrize("name", WRITERS)
def test_output_says_where_it_is_written(name: str) -> None:
    """`-o` is `--output` and `--out` everywhere: a file that the command writes."""
    (option,) = (item for owner, _, item in OPTIONS if owner == name and "-o" in item.opts)
    assert set(option.opts) == {"-o", "--out", "--output"}
    assert option.metavar == "FILE"
    assert [owner for owner, _, item in OPTIONS if "-o" in item.opts] == WRITERS


def test_metavars_are_of_a_short_list() -> None:
    """A file is FILE in every command, and so on; the words of a choice stand in brackets."""
    for name, command, option in OPTIONS:
        word = metavar(command, option)
        assert not word or word in METAVARS or LISTED.fullmatch(word), (name, option.opts, word)
    for name, command in COMMANDS.items():
        for item in command.params:
            if isinstance(item, click.Argument):
                word = item.make_metavar(click.Context(command)).strip("[]").removesuffix("...")
                assert word in ARGUMENTS, (name, word)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_names_its_exit_codes(name: str) -> None:
    """In words, below the options, and wherever an option hides its words they follow."""
    command = COMMANDS[name]
    text = command.get_help(click.Context(command, info_name=name, max_content_width=100, terminal_width=100))
    _, _, exits = text.partition("Exit codes:\n")
    codes = {int(code) for code in re.findall(r"^  (\d+) +\w", exits, re.MULTILINE)}
    assert {Exit.DONE, Exit.BAD_INPUT, Exit.INTERRUPTED} <= codes <= set(Exit)
    words = " ".join(text.split()).replace("- ", "-").replace(" | ", "|").replace(" |", "|")
    for option in command.params:
        if isinstance(option, click.Option) and isinstance(option.type, click.Choice):
            assert f"[{'|'.join(map(str, option.type.choices))}]" in words, option.name
