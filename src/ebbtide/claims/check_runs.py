"""Runs of checks in a command and its output: which tool, over what, and how it came out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

from ebbtide.claims.check_tools import (
    CHOOSING,
    CODE,
    FORMER,
    KEEPING_END,
    KEEPING_START,
    MODES,
    NO_OUTPUT,
    PACKAGE,
    RUNNERS,
    SETTINGS,
    SHOWING,
    SIGNS,
    SKIPPING,
    STARTERS,
    STARTING_PAIRS,
    TARGETS,
    TOOLS,
    VALUED,
    WHOLE,
    CheckTool,
    Family,
)
from ebbtide.events.shell_words import SimpleCommand, simple_commands

_READ: Final = 6_000  # characters of a command that are read
_END: Final = 4_000
_HEAD, _TAIL = 6_000, 18_000  # characters of an output that are read at its ends
_LINE: Final = 200
_HEAD_LINES: Final = 10  # of ``head``, where its command states no number
_DIGITS: Final = 6  # of such a number that are read
#: After these a command runs whatever came before.
_CHAIN_ENDS: Final = re.compile(r";|\|\||\n|(?<![&>])&(?![&>\d])")
_SETTINGS: Final = re.compile(SETTINGS)
_BUILDERS: Final = frozenset("mvn mvnw gradle gradlew make gmake".split())
#: Programs whose goals may stand behind options and other goals, with the goal that runs no tests.
_GOALS: Final = {"mvn": "compile", "mvnw": "compile", "gradle": "assemble", "gradlew": "assemble"}
_GOAL: Final = frozenset("test verify install package compile build check assemble".split())
_NO_RUN: Final = frozenset({"--version", "--help", "--listTests", "--collect-only"})
_SHELLS: Final = frozenset("bash sh zsh dash powershell powershell.exe pwsh pwsh.exe cmd cmd.exe".split())
_ESCAPE: Final = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_COUNTS: Final = re.compile(
    r"(?P<count>\d{1,7}) (?:subtests? )?(?:tests? )?(?P<what>passed|passing"
    r"|passes|pass|failed|failing|failures?|"
    r"fail|errors?|tests?|examples?|runs|skipped|xfailed|xpassed|ignored|pending|todo)\b"
    r"|(?P<name>Failed|Failures|Errors|Passed|Tests run|pass|fail|out of):? +(?P<number>\d{1,7})"
)
_AFTER: Final = re.compile(r";|\|\||\n|(?<!&)&(?![&>\d])")
_LOST: Final = re.compile(r"/dev/null|> ?\S")  # what was printed went elsewhere
_BACKGROUND: Final = re.compile(
    r"(?:running in (?:the )?background with (?:ID|id)|[Ss]ession ID|session_id"
    r"|shell_id)[:= \"]{1,4}(\w[\w-]{0,60})"
)
_LOG: Final = re.compile(r"\.(?:log|output|out|txt)\b")  # where a command in the background writes
_ECHO: Final = re.compile(r"^(?:\[[\w@:./-]{1,60}\] )?[$>] ([\w@./: =\u2026-]{2,200})$", re.MULTILINE)
#: Lines by which git itself tells that it did the work, or why it refused.
_GIT_SAID: Final = re.compile(
    r"^(?:\[[^\]\n]{1,120} [0-9a-f]{7,40}\]| ! \[|fatal: |remote: |error: "
    r"|nothing to commit|no changes added)",
    re.MULTILINE,
)
_BROKEN: Final = re.compile(
    r"(?i)permission (?:to use|denied)|user (?:rejected|denied|doesn't want)|was rejected"
)
#: The exit code that a line prints at its end: `pytest -q; echo "exit $?"`.
_ASKED_EXIT: Final = re.compile(
    r"[;\n&][ \t]{0,4}echo [^\n;|$]{0,40}\$(\?|\{PIPESTATUS\[0\]\})[^\n;|$]{0,20}$"
)
_TOLD_EXIT: Final = re.compile(r"^[^\n\d]{0,40}\b(\d{1,3})\D{0,10}\s*\Z", re.MULTILINE)
#: What a shell or a runner prints where it did not find the tool, or the tool its options.
_NO_TOOL: Final = re.compile(
    r"command not found|not recognized as (?:an internal|the name)|\b(?:ba|z|da)?sh: [^\n]{1,120}: not found"
    r"|(?:sh: |cd: |env: |line \d+: )[^\n]{0,120}No such file or directory|python[\d.]*: No module named"
    r"|[Mm]issing script|[Ss]cript not found|No rule to make target"
    r"|unrecognized (?:arguments|subcommand|option)"
    r"|[Uu]nknown (?:option|command|argument|flag)|unexpected argument '|flag provided but not defined"
    r"|no tasks? .{0,60}found|does not contain a task|connect to the Docker daemon"
)
_SHORT: Final = 1_200  # characters of an output that may say so and nothing more
#: A run that had no end.
_CUT_SHORT: Final = re.compile(
    r"(?i)\btimed out (?:after|in)\b|\bcommand timed out|^Terminated$|\binterrupted\b"
    r"|\baborted by user|^Killed$",
    re.MULTILINE,
)
_ALIKE: Final = 6
#: Tools that sum up what they did.
_TELLING: Final = tuple(tool for tool in TOOLS if tool.sums)
_HARMLESS: Final = frozenset("echo printf true cd pwd date".split())
_LONGEST, _FIRST, _LAST = 1_000, 100, 500


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of a check.

    Args:
        event: Number of its event.
        tool: Name of the tool, or the words that ran it.
        ok: True if it passed; None where the record does not show it.
        line: The line that says so, or the command.
        passed: Number of tests that passed; None where it is not printed.
        failed: Number of those that did not.
        left_out: Number of those that were skipped, or were to fail.
        scope: The chosen part: paths, packages, patterns; empty for everything.
        code: Suffixes of the files that it depends on.
        implies: Families that it shows besides, where it passed.
        command: The command, cut.
        is_firsthand: False where the output was only shown by another program.
        is_filtered: True if a filter or a pipe stood behind it.
        is_stated: True if a line of the tool itself says how it came out.
        warnings: The line that tells of warnings; empty where none does.
        is_undone: True if it was run on a state that was undone since.
    """

    event: int
    tool: str
    family: Family
    ok: bool | None
    line: str = ""
    passed: int | None = None
    failed: int | None = None
    scope: str = ""
    code: frozenset[str] = CODE
    implies: frozenset[Family] = frozenset()
    command: str = ""
    is_firsthand: bool = True
    is_filtered: bool = False
    is_stated: bool = False
    warnings: str = ""
    left_out: int = 0
    is_undone: bool = False


class _Outcome(NamedTuple):
    """Outcome of a run as its tool prints it."""

    ok: bool
    line: str
    passed: int | None
    failed: int | None
    warnings: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Ask:
    """A check that a command asks for."""

    tool: CheckTool | None
    name: str
    family: Family
    scope: str
    filters: tuple[str, ...]
    is_exit_known: bool
    is_last: bool = False  # no command that may fail stands behind it
    lines: int | None = None  # that the filters let through at most, where they keep the start

    def keeps_end(self, output: str) -> bool:
        """Returns True if the filters let the end of an output through."""
        if any(name not in KEEPING_END and name != KEEPING_START for name in self.filters):
            return False
        return self.lines is None or output.count("\n") + 1 < self.lines


def unwrapped(words: list[str]) -> list[str]:
    """Returns a command without what only starts it: assignments, sudo, npx, uv run, timeout 60."""
    place = 0
    while place < len(words):
        word = words[place].rpartition("/")[2]
        if ("=" in word and word.partition("=")[0].isidentifier()) or (word.startswith("-") and place):
            place += 1
        elif f"{word} {words[place + 1] if place + 1 < len(words) else ''}" in STARTING_PAIRS:
            place += 2
        elif word in STARTERS:
            place += 1 + STARTERS[word]
            if STARTERS[word]:
                while place < len(words) and words[place][:1].isdigit():
                    place += 1
        else:
            break
    rest = words[place:]
    if rest[1:] and rest[0].startswith("python") and rest[1].endswith(("manage.py", "runtests.py")):
        rest = rest[1:]
    return [rest[0].rpartition("/")[2], *rest[1:]] if rest else []


def commands_of(text: str) -> list[SimpleCommand]:
    """Returns the simple commands of a line, those inside `bash -lc` too, without what only starts them."""
    found = []
    for command in simple_commands(text[:_READ]):
        words = unwrapped(command.words)
        inner = next((word for word in words[1:] if not word.startswith(("-", "/c", "/C"))), "")
        if words and words[0] in _SHELLS and len(words) > 2 and " " in inner:
            parts = simple_commands(inner)
            found += [SimpleCommand(unwrapped(part.words), part.writes, part.fed) for part in parts]
        else:
            found.append(SimpleCommand(words, command.writes, command.fed))
    return [command for command in found if command.words]


def background_id(result: str) -> str | None:
    """Returns the id under which the output of a command comes later; None if it is here."""
    head = result[:600]
    if "ackground" not in head and "ession" not in head and "shell_id" not in head:
        return None
    match = _BACKGROUND.search(head)
    return None if match is None else match[1]


def check_runs(
    text: str, commands: list[SimpleCommand], result: str | None, event: int, *, has_failed: bool
) -> list[CheckRun]:
    """Returns the runs of checks that a call of a shell made.

    Args:
        result: Its output; None where it was not recorded.
        has_failed: True if the call is recorded as failed.
    """
    asks = _asks(text, commands)
    told = _told_exit(text, result) if len(asks) == 1 else None
    if told is not None and result is not None:
        asks = [replace(asks[0], is_exit_known=True, is_last=True)]
        result, has_failed = result[: told.start()], int(told[1]) != 0
    result = "" if result == NO_OUTPUT else result
    if result is None:
        return [_unknown(ask, text, event) for ask in asks]
    if has_failed and (_BROKEN.search(result[:300]) or _is_no_run(result)):
        return []
    shows = not asks and all(command.words[0] in SHOWING or command.words[0] == "cd" for command in commands)
    if shows and not _LOG.search(text):
        return []
    # A script that was not asked for checks sums them up in its last lines; a hook of git may print more.
    hooked = any(command.words[0] == "git" for command in commands)
    output = readable(result if asks or hooked else result[-_END:])
    lines = stated_lines(output)
    runs = [
        _run(ask, text, output, lines, event, has_failed=has_failed, alone=len(asks) == 1) for ask in asks
    ]
    if _CHAIN_ENDS.search(text) is None:
        runs = _chained(asks, runs)
    asked = {ask.tool.name for ask in asks if ask.tool is not None}
    refused = hooked and has_failed  # then a hook may have failed
    scripts = {ask.family for ask in asks if ask.tool is None}
    for run in shown_runs(lines, event, is_firsthand=not shows, asked=asked):
        if run.family is not Family.TESTS and not run.ok and run.family not in scripts and not refused:
            continue
        ask = next((ask for ask in asks if ask.family is run.family), None)
        if run.ok and has_failed and len(asks) == 1 and ask is not None and ask.is_exit_known:
            continue  # one of its tools passed, and the whole did not
        if ask is not None and ask.tool is None:  # a script that was asked for, by what it printed
            runs = [item for item in runs if item.family is not run.family or item.tool in asked]
        runs.append(replace(run, scope=_echoed_scope(output, run.tool, ask), command=text[:_LINE]))
    if has_failed and not _CHAIN_ENDS.search(text):
        runs = _refused(asks, runs, output)
    if not shows and (not has_failed or (refused and _is_stopped(commands, output))):
        runs += _echoed(output, event, {run.family for run in runs}, text, has_failed=has_failed)
    return runs


def _told_exit(text: str, result: str | None) -> re.Match[str] | None:
    """Returns the place in an output where a line itself printed the exit code of its command."""
    if result is None or "$" not in text:
        return None
    asked = _ASKED_EXIT.search(text.rstrip())
    if asked is None or ("|" in text[: asked.start()] and asked[1] == "?" and "pipefail" not in text):
        return None
    return _TOLD_EXIT.search(result[-_LINE:]) and _TOLD_EXIT.search(result)


def _is_no_run(result: str) -> bool:
    """Returns True if an output says that no check was found to run, and sums none up."""
    return len(result) < _SHORT and _NO_TOOL.search(result) is not None and not stated_lines(readable(result))


def _refused(asks: Sequence[_Ask], runs: Sequence[CheckRun], output: str) -> list[CheckRun]:
    """Returns the runs of a chain that failed: its last command did so, if it had begun."""
    last = asks[-1] if asks else None
    if last is None or not last.is_last or not last.is_exit_known:
        return list(runs)
    if any(ask.family is last.family for ask in asks[:-1]):
        return list(runs)
    line = _last_line(output)
    return [
        replace(run, ok=False, line=line) if run.family is last.family and run.ok else run for run in runs
    ]


def _is_stopped(commands: Sequence[SimpleCommand], output: str) -> bool:
    """Returns True if a hook may have stopped the last command of a line, and git itself told no reason."""
    return {"commit", "push"}.intersection(commands[-1].words) != set() and not _GIT_SAID.search(output)


def _chained(asks: Sequence[_Ask], runs: Sequence[CheckRun]) -> list[CheckRun]:
    """Returns the runs of commands that each began only when the one before had succeeded."""
    known = list(runs)
    has_run = False
    for place in reversed(range(len(known))):
        if has_run and known[place].ok is None and not asks[place].filters:
            known[place] = replace(known[place], ok=True)
        has_run = has_run or known[place].ok is not None
    return known


def _echoed_scope(output: str, tool: str, ask: _Ask | None) -> str:
    """Returns the chosen part by the command that a script prints, else by the words that ran it."""
    if ask is None or ask.tool is None:
        for match in _ECHO.finditer(output):
            found = _tool_of(unwrapped(match[1].split()) or ["-"])
            if found is not None and found[0] is not None and found[0].name == tool:
                return _scope(found[1], found[3], takes_names=found[2] is Family.TESTS)
    return "" if ask is None else ask.scope


def _echoed(output: str, event: int, known: set[Family], text: str, *, has_failed: bool) -> list[CheckRun]:
    """Returns the checks whose commands an output repeats: a script prints each before it runs it.

    Where the whole came to its end without a failure, so did they; else it stopped at the last one.
    """
    runs: list[CheckRun] = []
    if "$ " not in output and "> " not in output:
        return runs
    matches = list(_ECHO.finditer(output))
    for match in matches[-1:] if has_failed else matches:
        found = _tool_of(unwrapped(match[1].split()) or ["-"])
        if found is not None and found[0] is not None and found[2] not in known:
            tool = found[0]
            runs.append(
                CheckRun(
                    event, tool.name, tool.family, not has_failed, match[0].strip()[:_LINE], code=tool.code,
                    implies=tool.implies, command=text[:_LINE],
                )
            )  # fmt: skip
    return runs


def shown_runs(
    lines: Sequence[str], event: int, *, is_firsthand: bool, asked: Collection[str] = ()
) -> list[CheckRun]:
    """Returns the runs that an output sums up, by the lines of its tools.

    Args:
        lines: Those of its lines that sum a check up.
        is_firsthand: True if the program that printed it ran them itself.
        asked: Names of tools whose runs are known, and whose lines are theirs alone.
    """
    found: list[CheckRun] = []
    if not lines:
        return found
    # Of lines that begin and end alike one says whose they are.
    kinds = list({(line[:_ALIKE], line[-_ALIKE:]): line for line in lines}.values())
    for tool in TOOLS:
        if tool.name in asked:
            kinds = [line for line in kinds if not tool.any_line.match(line)]
    for tool in _TELLING:
        if tool.name in asked or not any(map(tool.any_line.match, kinds)):
            continue
        outcome = _outcome(tool, lines)
        if outcome is not None and not (outcome.ok and tool.is_named):
            ok, line, passed, failed, warnings, left_out = outcome
            found.append(
                CheckRun(
                    event, tool.name, tool.family, ok, line, passed, failed, code=tool.code,
                    implies=tool.implies, is_firsthand=is_firsthand, is_stated=True, warnings=warnings,
                    left_out=left_out,
                )
            )  # fmt: skip
    return found


def readable(result: str) -> str:
    """Returns both ends of an output, without colours."""
    if len(result) > _HEAD + _TAIL:
        result = f"{result[:_HEAD]}\n{result[-_TAIL:]}"
    return _ESCAPE.sub("", result) if "\x1b" in result else result


@cache
def _either() -> re.Pattern[str]:
    """Returns the pattern of any line that sums a check up."""
    return re.compile(f"{PACKAGE}(?:{'|'.join(line for tool in _TELLING for line in tool.lines)})")


def _asks(text: str, commands: list[SimpleCommand]) -> list[_Ask]:
    asks = []
    for place, command in enumerate(commands):
        words = command.words
        found = _tool_of(words)
        if found is None:
            continue
        tool, name, family, rest = found
        filters, limits = [], []
        for following in commands[place + 1 :]:
            if not following.fed:
                break
            filters.append(following.words[0])
            if following.words[0] == KEEPING_START:
                limits.append(_most_lines(following.words))
        behind = text[text.rfind(words[0]) :]
        known = not filters and not _AFTER.search(behind) and "|" not in behind
        known = known or ("pipefail" in text and not _AFTER.search(behind))
        lines = min(limits, default=None)
        scope = _scope(name, rest, takes_names=family is Family.TESTS)
        is_last = all(behind.words[0] in _HARMLESS for behind in commands[place + 1 :])
        asks.append(_Ask(tool, name, family, scope, tuple(filters), known, is_last, lines))
    return asks


def _most_lines(words: Sequence[str]) -> int:
    """Returns how many lines ``head`` lets through."""
    number = next((word.lstrip("-n") for word in words[1:] if word.lstrip("-n").isdigit()), "")
    return int(number[:_DIGITS]) if number else _HEAD_LINES


def _tool_of(words: list[str]) -> tuple[CheckTool | None, str, Family, list[str]] | None:
    head = words[0].removesuffix(".cmd").removesuffix(".js")
    tools, runners = _commands().get(head, ()), _runners().get(head, ())
    if (not tools and not runners) or not _NO_RUN.isdisjoint(words):
        return None
    if head in _GOALS:
        words = _by_goal(head, words)
    line = " ".join(words[:6])
    for name, tool in tools:
        if line == name or line.startswith(f"{name} ") or _has_flag(name, words):
            return tool, name, tool.family, words[len(name.split()) :]
    for runner in runners:
        if line.startswith(f"{runner} "):
            options = rest = words[len(runner.split()) :]
            while rest and (rest[0].startswith("-") or "=" in rest[0] or rest[0] == "clean"):
                rest = rest[2:] if _has_value(head, rest[0]) else rest[1:]
            target = rest[0].lower() if rest else ""
            if not target.replace("-", "").replace(":", "").replace("_", "").isalnum():
                return None
            for part, family in TARGETS:
                if part in target and "fix" not in target and "watch" not in target:
                    chosen = [*options[: len(options) - len(rest)], *rest[1:]]
                    if head.startswith("gradle") and (project := rest[0].rpartition(":")[0].strip(":")):
                        chosen = ["--project", project, *chosen]
                    return None, f"{runner} {rest[0]}", family, chosen
            return None
    return None


def _by_goal(head: str, words: list[str]) -> list[str]:
    """Returns a command with its goals first; with the one that runs no tests where tests are left out."""
    line = " ".join(words)
    if any(option in line for option in SKIPPING) and not _GOAL.isdisjoint(words):
        return [head, _GOALS[head], *(word for word in words[1:] if word not in _GOAL)]
    return [head, *sorted(words[1:], key=lambda word: word not in _GOAL)]


def _has_value(head: str, option: str) -> bool:
    """Returns True if the word after an option is its value, before the target of a runner."""
    if f"{head} {option}" == "pnpm -w":
        return False
    return option in CHOOSING or (option in VALUED and head in _BUILDERS)


@cache
def _runners() -> dict[str, list[str]]:
    by_head: dict[str, list[str]] = {}
    for runner in RUNNERS:
        by_head.setdefault(runner.partition(" ")[0], []).append(runner)
    return by_head


def _has_flag(name: str, words: list[str]) -> bool:
    """Returns True if the command is that of a name with options, in any order: ``prettier --check``."""
    parts = name.split()
    return len(parts) > 1 and parts[-1].startswith("-") and set(parts[1:]) <= set(words)


@cache
def _commands() -> dict[str, list[tuple[str, CheckTool]]]:
    by_head: dict[str, list[tuple[str, CheckTool]]] = {}
    same = {"mvn": ("mvnw",), "gradle": ("gradlew",), "manage.py": ()}
    for tool in TOOLS:
        for name in tool.commands:
            head, space, rest = name.partition(" ")
            by_head.setdefault(head, []).append((name, tool))
            for other in same.get(head, ()):
                by_head.setdefault(other, []).append((f"{other}{space}{rest}", tool))
    for names in by_head.values():
        names.sort(key=lambda item: -len(item[0]))
    return by_head


def _scope(name: str, words: list[str], *, takes_names: bool = False) -> str:
    """Returns the chosen part of what a tool would check; empty if it checks everything.

    Args:
        name: Words of the tool.
        words: Words after them.
        takes_names: True if a plain word that is no value of an option chooses tests by their names.
    """
    chosen: list[str] = []
    values_follow = is_setting = False
    plugins = name.startswith(("pytest", "py.test", "go "))  # -p chooses none of their tests
    is_whole = not WHOLE.isdisjoint(words)  # beside everything a path chooses nothing
    before = "--"
    for word in words:
        last, before = before, word
        if is_setting and not word.startswith("-"):
            is_setting = False
        elif word.startswith("-"):
            values_follow = is_setting = False
            option, equals, value = word.partition("=")
            if option in FORMER:
                chosen.append(option)
            elif option in VALUED or (option == "-p" and plugins):
                is_setting = not equals
            elif option in CHOOSING or option == "-Dtest":
                values_follow = not equals
                chosen += [value] if equals and _chooses(value) else []
        elif values_follow:
            chosen += [word] if _chooses(word) else []
            values_follow = False
        elif _SETTINGS.search(word) is not None:
            continue
        elif (not is_whole and ("/" in word or "." in word or "::" in word) and word not in name) or (
            takes_names and not is_whole and _is_filter(word, last)
        ):
            chosen.append(word)
    return " ".join(chosen)[:_LINE]


def _chooses(value: str) -> bool:
    """Returns True if the value of an option stands for a part: a number, a pattern and "." do not."""
    return not value.isdigit() and "*" not in value and value not in WHOLE and not _SETTINGS.search(value)


def _is_filter(word: str, before: str) -> bool:
    """Returns True if a plain word chooses tests by their names; one behind an option may be its value."""
    is_value = before.startswith("-") and before != "--"
    return word.isidentifier() and word not in MODES and not is_value


def _run(
    ask: _Ask, text: str, output: str, lines: Sequence[str], event: int, *, has_failed: bool, alone: bool
) -> CheckRun:
    tool = ask.tool
    outcome = None if tool is None else _outcome(tool, lines if tool.sums else output.splitlines())
    is_kept = ask.keeps_end(output)
    ok: bool | None
    line, passed, failed, warnings, left_out = "", None, None, "", 0
    is_stated = outcome is not None and (is_kept or not outcome.ok or outcome.passed is not None)
    if outcome is not None and is_stated:
        ok, line, passed, failed, warnings, left_out = outcome
    elif has_failed and alone:
        is_ended = ask.is_exit_known and ask.is_last and not _CUT_SHORT.search(output)
        ok = False if is_ended else None
        line = _last_line(output)
    elif (ask.is_exit_known and not has_failed and (tool is None or tool.is_silent or not tool.sums)) or (
        tool is not None and tool.is_silent and is_kept and not output.strip() and not has_failed
    ):
        ok = True
    else:
        ok = None
    if ok and has_failed and alone and ask.is_exit_known and ask.is_last:
        ok, line = False, line or _last_line(output)
    if background_id(output) is not None:
        ok = None
    return CheckRun(
        event,
        ask.name if tool is None else tool.name,
        ask.family,
        ok,
        line or text[:_LINE],
        passed,
        failed,
        ask.scope,
        CODE if tool is None else tool.code,
        frozenset() if tool is None else tool.implies,
        text[:_LINE],
        is_filtered=not is_kept,
        is_stated=is_stated,
        warnings=warnings,
        left_out=left_out,
    )


def _unknown(ask: _Ask, text: str, event: int) -> CheckRun:
    code = CODE if ask.tool is None else ask.tool.code
    return CheckRun(
        event, ask.name, ask.family, None, text[:_LINE], scope=ask.scope, code=code, command=text[:_LINE]
    )


def stated_lines(output: str) -> list[str]:
    """Returns the lines of an output that sum a check up, of very many the first and the last."""
    either = _either()
    lines = [line for line in _signed_lines(output) if either.match(line)]
    return lines if len(lines) <= _FIRST + _LAST else lines[:_FIRST] + lines[-_LAST:]


def _signed_lines(output: str) -> Iterator[str]:
    """Yields the lines with a word that no sum lacks: to find these is cheaper than to match each."""
    if "\r" in output:
        output = output.replace("\r\n", "\n").replace("\r", "\n")
    places = set()
    for sign in SIGNS:
        at = output.find(sign)
        while at >= 0:
            end = output.find("\n", at)
            end = len(output) if end < 0 else end
            places.add((output.rfind("\n", 0, at) + 1, end))
            at = output.find(sign, end)
    return (output[begin : min(end, begin + _LONGEST)].rstrip() for begin, end in sorted(places))


def _outcome(tool: CheckTool, lines: Sequence[str]) -> _Outcome | None:
    """Returns how a run of a tool came out; None if no line says so."""
    sums, failed, warned = tool.patterns
    bad = None if failed is None else next((line for line in lines if failed.match(line)), None)
    good = [] if sums is None else [line for line in lines if sums.match(line)]
    warnings = "" if warned is None else next((line for line in lines if warned.match(line)), "")
    if bad is None and not good:
        if not warnings or not tool.is_silent:
            return None
        good = [warnings]
    counts = [numbers for line in _wholes(tool, good) if (numbers := test_counts(line)) is not None]
    if not tool.counts_tests:
        counts = []
    passed, fails, left_out = (sum(numbers[place] for numbers in counts) for place in range(3))
    if bad is not None or fails:
        worst = next(
            (line for line in reversed(good) if (test_counts(line) or (0, 0, 0))[1]), bad or good[-1]
        )
        if not fails and bad is not None:
            fails = (test_counts(bad) or (0, 0, 0))[1]
        return _Outcome(
            ok=False, line=worst.strip()[:_LINE], passed=passed if counts else None, failed=fails or None,
            left_out=left_out,
        )  # fmt: skip
    return _Outcome(
        ok=True,
        line=good[-1].strip()[:_LINE],
        passed=passed if counts else None,
        failed=0 if counts else None,
        warnings=warnings.strip()[:_LINE],
        left_out=left_out,
    )


def _wholes(tool: CheckTool, lines: Sequence[str]) -> Sequence[str]:
    """Returns the lines that sum everything up, where a tool sums up its parts, too; else all."""
    if not tool.parts:
        return lines
    return [line for line in lines if re.search(tool.parts, line) is None] or lines


def test_counts(line: str) -> tuple[int, int, int] | None:
    """Returns how many tests passed, failed and were left out by a line that sums them up, or None."""
    passed = failed = total = left_out = 0
    found = False
    for match in _COUNTS.finditer(line):
        what = (match["what"] or match["name"]).lower()
        number = int(match["count"] or match["number"])
        if what.startswith(("skip", "xfail", "xpass", "ignored", "pending", "todo")):
            left_out += number
            continue
        found = True
        if what.startswith("pass"):
            passed = number
        elif what.startswith(("fail", "error")):
            failed += number
        else:
            total = number
    if not found:
        return None
    return (passed or max(0, total - failed)), failed, left_out


def _last_line(output: str) -> str:
    line = next((line.strip() for line in reversed(output[-2_000:].splitlines()) if line.strip()), "")
    return line[:_LINE]
