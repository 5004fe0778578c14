"""Table of shell commands, for look-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ebbtide.events.effect import Effect
from ebbtide.settings_file import read_package_data

_EFFECTS = (Effect.READ, Effect.WAIT, Effect.POLL, Effect.CHANGE)  # a later one wins
_NO_FILE = ("/dev/null", "-", "/dev/stdout")
_READ_VERBS = """Get Select Where Test Format Measure Sort ConvertFrom ConvertTo Compare Find Search Show
Resolve Group Write"""
_CHANGE_VERBS = """Set New Remove Add Start Stop Restart Clear Copy Move Rename Install Uninstall Update
Enable Disable Import Export Invoke Register Unregister Mount Dismount Suspend Resume Expand Compress Save
Send Reset Grant Revoke Push Pop Publish Initialize"""


@dataclass(frozen=True, slots=True)
class Program:
    """Declaration of a program whose name alone does not say what it does."""

    effect: Effect | None = None
    subcommands: Mapping[str, Effect] = field(default_factory=dict)
    patterns: tuple[tuple[str, Effect], ...] = ()
    flags: Mapping[str, Effect] = field(default_factory=dict)
    flag_patterns: tuple[tuple[str, Effect], ...] = ()
    lists: Mapping[str, int] = field(default_factory=dict)
    options: frozenset[str] = frozenset()
    method: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()
    get: frozenset[str] = frozenset()
    sql: frozenset[str] = frozenset()
    command: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    first: Mapping[str, Effect] = field(default_factory=dict)
    long: bool = False
    targets: bool = False
    pairs: bool = False
    anywhere: bool = False

    def subcommand(self, words: list[str]) -> tuple[str, Effect | None, int]:
        """Returns the subcommand among the words, its effect, and its length in words."""
        if self.changing and not self.changing.isdisjoint(words):
            return "", Effect.CHANGE, 0
        if self.first and words and not words[0].startswith("-"):
            for letter, effect in self.first.items():
                if letter in words[0] and words[0].isalpha():
                    return "", effect, 0
        names = (
            [word for word in words if not word.startswith("-")] if self.targets or self.anywhere else words
        )
        if self.targets:
            names = [name for name in names if "=" not in name and not name.isdecimal()]
            effects = {
                self.subcommands.get(name.rpartition(":")[2] if ":app:" in name else name) for name in names
            }
            if Effect.CHANGE in effects or len(effects) == 1:
                return (names or [""])[0], max(effects, key=_rank), 1
            return (names or [""])[0], None, len(names[:1])
        if self.anywhere:
            for place, name in enumerate(names):
                if name in self.subcommands:
                    return " ".join(names[: place + 1]), self.subcommands[name], place + 1
            return "", self.effect, 0
        for size in (2, 1):
            name = " ".join(words[:size])
            if len(words) >= size and name in self.subcommands:
                return name, self.subcommands[name], size
        return self._matched(words)

    def flagged(self, words: list[str], subcommand: str) -> Effect | None:
        """Returns the effect that the flags declare, the strongest of them."""
        if not self.flags and not self.flag_patterns:
            return None
        effects = set()
        for place, word in enumerate(words):
            if word[:1] != "-" or len(word) < 2:
                continue
            if word == "--" and subcommand:
                continue
            effect = self._flag(word, words[place + 1] if place + 1 < len(words) else "", subcommand)
            if effect is not None:
                effects.add(effect)
        if not effects:
            return None
        if Effect.READ in effects and Effect.CHANGE in effects and self.effect is not Effect.READ:
            return Effect.READ
        return max(effects, key=_rank)

    def _matched(self, words: list[str]) -> tuple[str, Effect | None, int]:
        for size in (1, 2):
            if len(words) < size or (size == 2 and not self.pairs):
                break
            for pattern, effect in self.patterns:
                if fnmatchcase(words[size - 1], pattern):
                    return " ".join(words[:size]), effect, size
            if size == 2 and words[1] in self.subcommands:
                return " ".join(words[:2]), self.subcommands[words[1]], 2
        if (
            len(words) > 1
            and words[0] == "run"
            and not any(sign in words[1] for sign in ("fix", "write", "update"))
        ):
            name = f"run {words[1].partition(':')[0]}"
            if name in self.subcommands:
                return f"run {words[1]}", self.subcommands[name], 2
        if (
            len(words) > 1
            and words[0] == "run"
            and any(sign in words[1] for sign in ("fix", "format", "fmt"))
        ):
            return f"run {words[1]}", Effect.CHANGE if self.subcommands else None, 2
        if (
            self.lists
            and not [word for word in words if not word.startswith("-")]
            and self.lists.get("") == 0
        ):
            return "", Effect.READ, 0
        return "", self.effect, 0

    def _flag(self, word: str, value: str, subcommand: str) -> Effect | None:
        name, _, own = word.partition("=")
        effect = self.flags.get(word) or self.flags.get(name) or self.flags.get(f"{word}:{subcommand}")
        if effect is None and (value or own):
            effect = self.flags.get(f"{word}:{value}")
        if effect is None and not self.long and word[1] != "-":
            letters = [letter for letter in word[1:] if f"-{letter}" in self.flags and letter.isalpha()]
            if (letters and word[1:].isalnum() and len(word) < 8) or word[:2] in self.flags:
                effect = self.flags.get(f"-{letters[0]}") if letters else self.flags[word[:2]]
        for pattern, kind in self.flag_patterns:
            if effect is None and fnmatchcase(word, pattern):
                effect = kind
        if effect is Effect.CHANGE and (value in _NO_FILE or own in _NO_FILE) and self.effect is Effect.READ:
            return None
        return effect


@dataclass(frozen=True, slots=True)
class ShellTable:
    """Declarations of all shell commands.

    Args:
        plain: Programs whose name says what they do.
        nothing: Those of them that concern their own shell alone.
        opens: Keywords in front of a command.
        verbs: First parts of the names of PowerShell's commands.
        programs: The others.
        wraps: Programs that run a command: words to pass over, and options with a value.
        wrapping: First words of those of two words.
        options: Options with a value in front of a subcommand.
    """

    plain: Mapping[str, Effect]
    nothing: frozenset[str]
    opens: frozenset[str]
    verbs: Mapping[str, Effect]
    programs: Mapping[str, Program]
    wraps: Mapping[str, tuple[int, frozenset[str]]]
    wrapping: frozenset[str]
    options: Mapping[str, frozenset[str]]


def load_table() -> ShellTable:
    """Returns the table that is shipped."""
    table = read_package_data("events/tools/shell.toml")
    nothing = frozenset(table["nothing"].split())
    plain = dict.fromkeys(nothing, Effect.ACKNOWLEDGE)
    for effect in _EFFECTS:
        plain.update(dict.fromkeys(table.get(effect.value, "").split(), effect))
    verbs = dict.fromkeys(_READ_VERBS.split(), Effect.READ) | dict.fromkeys(
        _CHANGE_VERBS.split(), Effect.CHANGE
    )
    wraps = {}
    for name, text in table["wraps"].items():
        skip, *options = text.split()
        wraps[name] = (int(skip), frozenset(options))
    return ShellTable(
        plain=plain,
        nothing=nothing,
        opens=frozenset(table["opens"].split()),
        verbs=verbs,
        programs={name: _program(values) for name, values in table["programs"].items()},
        wraps=wraps,
        wrapping=frozenset(name.partition(" ")[0] for name in wraps if " " in name),
        options={name: frozenset(text.split()) for name, text in table["options"].items()},
    )


def _program(values: Mapping[str, Any]) -> Program:
    subcommands: dict[str, Effect] = {}
    flags: dict[str, Effect] = {}
    for effect in _EFFECTS:
        for name in values.get(effect.value, "").split():
            subcommands[name.replace("+", " ")] = effect
        flags |= dict.fromkeys(values.get("flags", {}).get(effect.value, "").split(), effect)
    names = {name: effect for name, effect in subcommands.items() if "*" not in name}
    return Program(
        effect=Effect(values["is"]) if "is" in values else None,
        subcommands=names,
        patterns=tuple((name, effect) for name, effect in subcommands.items() if "*" in name),
        flags={name: effect for name, effect in flags.items() if "*" not in name},
        flag_patterns=tuple((name, effect) for name, effect in flags.items() if "*" in name),
        lists=values.get("lists", {}),
        first={text: Effect(name) for name, text in values.get("first", {}).items()},
        long=values.get("long", False),
        targets=values.get("targets", False),
        pairs=values.get("pairs", False),
        anywhere=values.get("anywhere", False),
        **{
            name: frozenset(values.get(name, "").split())
            for name in ("options", "method", "body", "get", "sql", "command", "changing")
        },
    )


def _rank(effect: Effect | None) -> int:
    return -1 if effect is None else _EFFECTS.index(effect)
