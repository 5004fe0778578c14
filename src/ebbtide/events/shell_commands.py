"""Effect of a shell command: it looks, changes, or waits; or that is not known.

The table of commands is data, ``tools/shell.toml``. A program that is not in it, a script and a program text
are not known. Of a line, one change makes it a change; else one unknown part makes it unknown; else it looks,
waits, or polls, which is both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from ebbtide.events.effect import Effect
from ebbtide.events.shell_table import Program, ShellTable, load_table
from ebbtide.events.shell_words import SimpleCommand, simple_commands
from ebbtide.events.sql_effect import sql_effect

_READ_LENGTH = 4_000  # characters of a command that are read
_DEPTH = 6  # commands inside commands
_SHELLS = frozenset("bash sh zsh dash ksh fish ash".split())
_POWERSHELLS = frozenset("powershell pwsh".split())
_PYTHONS = frozenset("python python2 python3 py pypy pypy3".split())
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_ASKS_FOR_HELP = frozenset({"--version", "--help", "-V", "-version"})
_SAME = {
    "apt-get": "apt",
    "aptitude": "apt",
    "yum": "dnf",
    "pip3": "pip",
    "oc": "kubectl",
    "k": "kubectl",
    "podman": "docker",
    "gradlew": "gradle",
    "mvnw": "mvn",
    "gmake": "make",
    "just": "make",
    "task": "make",
    "bunzip2": "gzip",
    "tofu": "terraform",
    "egrep": "grep",
    "https": "http",
    "ip6tables": "iptables",
    "mamba": "conda",
    "gsed": "sed",
    "nerdctl": "docker",
}


def shell_effect(command: str | Sequence[str]) -> Effect | None:
    """Returns the effect of a command; None if it is not known.

    Args:
        command: A command line, or a program with its arguments. The first 4,000 characters are read: of a
            longer one nothing is known but that it changes something.

    >>> shell_effect("cd src && sed -n 1,20p a.py").value, shell_effect("sed -i s/a/b/ a.py").value
    ('read', 'change')
    >>> shell_effect(["bash", "-lc", "sleep 30 && gh run view 5"]).value, shell_effect("python a.py")
    ('poll', None)
    """
    if not isinstance(command, str):
        return _words_effect(tuple(str(word) for word in command[:_READ_LENGTH]))
    return _line_effect(command[: _READ_LENGTH + 1])


def command_name(command: str | Sequence[str]) -> str:
    """Returns the name that a person would give a command: its first program that acts, with its subcommand.

    >>> command_name("cd /repo && sudo git -C x commit -m 'a'"), command_name(["bash", "-lc", "pytest -q"])
    ('git commit', 'pytest')
    """
    if not isinstance(command, str):
        return _words_name(tuple(str(word) for word in command[:_READ_LENGTH]))
    return _line_name(command[:_READ_LENGTH])


@lru_cache(maxsize=4096)
def _line_effect(text: str) -> Effect | None:
    effect = _joint_effect(_effects(simple_commands(text[:_READ_LENGTH]), 0))
    return effect if effect is Effect.CHANGE or len(text) <= _READ_LENGTH else None


@lru_cache(maxsize=1024)
def _words_effect(words: tuple[str, ...]) -> Effect | None:
    return _joint_effect(_effects([SimpleCommand(list(words))], 0))


@lru_cache(maxsize=4096)
def _line_name(text: str) -> str:
    return _name(simple_commands(text), 0)


@lru_cache(maxsize=1024)
def _words_name(words: tuple[str, ...]) -> str:
    return _name([SimpleCommand(list(words))], 0)


def _joint_effect(effects: Iterable[Effect | None]) -> Effect | None:
    kinds = set(effects)
    if Effect.CHANGE in kinds:
        return Effect.CHANGE
    if None in kinds or not kinds:
        return None
    if Effect.POLL in kinds or (Effect.WAIT in kinds and Effect.READ in kinds):
        return Effect.POLL
    return Effect.WAIT if Effect.WAIT in kinds else Effect.READ


@cache
def _table() -> ShellTable:
    return load_table()


def _effects(commands: Sequence[SimpleCommand], depth: int) -> list[Effect | None]:
    """Returns the effects of a line's parts; ACKNOWLEDGE for one that concerns its own shell alone."""
    effects: list[Effect | None] = []
    for command in commands:
        if command.writes:
            effects.append(Effect.CHANGE)
            continue
        words = _without_prefix(command.words)
        effects += _command_effects(words, depth, fed=command.fed) if words else [Effect.ACKNOWLEDGE]
    return effects


def _without_prefix(words: list[str]) -> list[str]:
    """Returns a command without the keywords and the assignments in front of it."""
    table = _table()
    for place, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if word not in table.opens and not (equals and name.isidentifier()):
            return words[place:]
    return []


def _command_effects(words: list[str], depth: int, *, fed: bool = False) -> list[Effect | None]:
    inner = _inner(words, fed=fed)
    if inner is not None:
        if depth >= _DEPTH:
            return [None]
        effects = _effects(inner, depth + 1)
        return [*effects, Effect.WAIT] if words[0] == "watch" else effects
    return [_program_effect(words, depth)]


def _inner(words: list[str], *, fed: bool) -> Sequence[SimpleCommand] | None:
    """Returns the commands that a wrapper runs; None if it is none."""
    head, table = _base(words[0]), _table()
    if head in _SHELLS or head in _POWERSHELLS or head == "cmd":
        text = _shell_text(words)
        return None if text is None else simple_commands(text)
    if head == "ssh":
        rest = _after_options(words[1:], frozenset("-p -i -o -l -F -J -L -R -D -b -c -E -m -S -W".split()))[
            1:
        ]
        return simple_commands(" ".join(rest)) if rest else None
    if head == "watch":
        rest = _after_options(words[1:], frozenset({"-n", "--interval"}))
        return simple_commands(" ".join(rest)) if rest else None
    if head == "eval" and len(words) > 1 and not any("$" in word for word in words):
        return simple_commands(" ".join(words[1:]))
    for key in _wrapper_names(head, words, table):
        skip, options = table.wraps[key]
        rest = words[len(key.split()) :] if " " in key else words[1:]
        if " " in key:
            rest = _after_subcommands(words, key, table)
        if "--" in rest and "exec" in key:
            rest = rest[rest.index("--") + 1 :]
        else:
            rest = _after_options(rest, options)[skip:]
            rest = _after_options(rest, frozenset()) if skip else rest
        if head == "env" or (rest and "=" in rest[0]):
            rest = _without_prefix(rest)
        if not rest:
            return [SimpleCommand(["printenv"])] if head == "env" else None
        if head == "command" and words[1] in {"-v", "-V"}:
            return [SimpleCommand(["which"])]
        return [SimpleCommand(rest, fed=fed)]
    return None


def _wrapper_names(head: str, words: list[str], table: ShellTable) -> Iterable[str]:
    if head in table.wraps:
        yield head
    elif head in table.wrapping:
        bare = _after_options(words[1:], table.options.get(head, frozenset()))
        for size in (2, 1):
            key = " ".join([head, *bare[:size]])
            if key in table.wraps:
                yield key
                return


def _after_subcommands(words: list[str], key: str, table: ShellTable) -> list[str]:
    rest = words[1:]
    for _ in key.split()[1:]:
        rest = _after_options(rest, table.options.get(_base(words[0]), frozenset()))[1:]
    return rest


def _shell_text(words: list[str]) -> str | None:
    """Returns the text that a shell is to run: ``bash -lc TEXT``."""
    for place, word in enumerate(words[1:], start=1):
        if word[:1] not in {"-", "/"}:
            return word if _base(words[0]) in _POWERSHELLS and place == len(words) - 1 else None
        if word.lower() in {"-command", "/c", "-c"} or (word[:2] != "--" and word.endswith("c")):
            return (
                " ".join(words[place + 1 :])
                if word.lower() in {"-command", "/c"}
                else "".join(words[place + 1 :][:1])
            )
    return None


def _after_options(words: list[str], with_value: frozenset[str]) -> list[str]:
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        if words[place] == "--":
            return words[place + 1 :]
        place += 2 if words[place] in with_value else 1
    return words[place:]


def _base(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2] if "/" in word or "\\" in word else word
    return name[:-4] if name.endswith((".exe", ".cmd")) else name


def _program(words: list[str]) -> tuple[str, list[str]]:
    """Returns the program that counts, and its arguments: a module of Python counts as a program."""
    head, rest = _base(words[0]), words[1:]
    stem = head.rstrip("0123456789.") or head
    if head in _PYTHONS or stem in _PYTHONS:
        rest = _after_options(rest, frozenset({"-W", "-X"})) if "-m" not in rest[:3] else rest
        if "-m" in rest[:3]:
            place = rest.index("-m")
            return (rest[place + 1 : place + 2] or [head])[0], rest[place + 2 :]
        if rest and _base(rest[0]) in {"manage.py", "setup.py", "runtests.py"}:
            return _base(rest[0]), rest[1:]
        return head, words[1:]
    return _SAME.get(head, head), rest


def _program_effect(words: list[str], depth: int) -> Effect | None:
    table = _table()
    head, rest = _program(words)
    if len(rest) <= 2 and rest and rest[-1] in _ASKS_FOR_HELP:
        return Effect.READ
    program = table.programs.get(head)
    if program is not None:
        return _judged(program, rest, depth)
    if head in table.plain:
        return table.plain[head]
    verb, dash, noun = head.partition("-")
    if dash and noun[:1].isupper():
        return table.verbs.get(verb)
    return None


def _judged(program: Program, words: list[str], depth: int) -> Effect | None:
    if program.command:
        effects = [
            _joint_effect(_effects([SimpleCommand(inner)], depth + 1))
            for inner in _commands(program, words, depth)
        ]
        if effects and (effect := _joint_effect(effects)) is not Effect.READ:
            return effect
    if program.sql:
        return _sql(program, words)
    rest = _after_options(words, program.options)
    subcommand, effect, size = program.subcommand(rest)
    flagged = program.flagged(words, subcommand)
    if program.method or program.body:
        method = _method(program, words)
        if method is not None:
            return method if flagged is None else _joint_effect((method, flagged))
    if flagged is not None and not (flagged is Effect.READ and effect is Effect.WAIT):
        return flagged
    listed = program.lists.get(subcommand if size else "")
    if listed is not None:
        further = [word for word in rest[size:] if not word.startswith("-")]
        return Effect.READ if len(further) <= listed and not _renames(rest[size:]) else Effect.CHANGE
    return effect


def _renames(words: list[str]) -> bool:
    return any(
        word in {"-d", "-D", "-m", "-M", "--delete", "--unset", "--edit", "-e", "--set-upstream-to", "-u"}
        for word in words
    )


def _commands(program: Program, words: list[str], depth: int) -> Iterable[list[str]]:
    if depth >= _DEPTH:
        return
    place = 0
    while place < len(words):
        place += 1
        if words[place - 1] in program.command:
            end = next((at for at in range(place, len(words)) if words[at] in {";", "+"}), len(words))
            yield words[place:end]
            place = end


def _sql(program: Program, words: list[str]) -> Effect | None:
    for place, word in enumerate(words):
        if word in program.sql and place + 1 < len(words):
            return sql_effect(words[place + 1])
        if word[:2] in program.sql and len(word) > 2 and word[1] != "-":
            return sql_effect(word[2:])
    if "2" in program.sql:
        plain = [word for word in words if not word.startswith("-")]
        return sql_effect(plain[1]) if len(plain) > 1 else None
    return program.flagged(words, "")


def _method(program: Program, words: list[str]) -> Effect | None:
    """Returns the effect of an HTTP request: by its method, else by whether it has a body."""
    sends = False
    for place, word in enumerate(words):
        option, _, value = word.partition("=")
        short = word[0:1] == "-" and word[1:2] != "-" and word[-1:] == "X" and "-X" in program.method
        if short or option in program.method:
            value = value or (words[place + 1] if place + 1 < len(words) else "")
            return Effect.READ if value.upper() in _SAFE_METHODS else Effect.CHANGE
        if word[:2] in program.method and word[2:].isalpha():
            return Effect.READ if word[2:].upper() in _SAFE_METHODS else Effect.CHANGE
        if word in program.get:
            return Effect.READ
        sends = sends or option in program.body or (word[:2] in program.body and word[:2] != "--")
    if any(word[:1] == "-" and word[1:2] != "-" and "G" in word for word in words) and program.get:
        return Effect.READ
    return Effect.CHANGE if sends else None


def _name(commands: Sequence[SimpleCommand], depth: int) -> str:
    table = _table()
    fallback = ""
    for command in commands:
        words = _without_prefix(command.words)
        if not words:
            continue
        inner = _inner(words, fed=command.fed) if depth < _DEPTH else None
        if inner is not None:
            name = _name(inner, depth + 1)
            if name:
                return name
        head, rest = _program(words)
        fallback = fallback or head
        if head in table.nothing or table.plain.get(head) is Effect.WAIT:
            continue
        program = table.programs.get(head)
        if program is None:
            return head
        subcommand, _, size = program.subcommand(_after_options(rest, program.options))
        return f"{head} {subcommand}" if size and subcommand.isprintable() else head
    return fallback
