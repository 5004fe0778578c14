"""Runs of checks in a command and its output: which tool, over what, and how it came out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

from ebbtide.claims.check_tools import (
    CHOOSING,
    CODE,
    KEEPING_END,
    KEEPING_START,
    NO_OUTPUT,
    RUNNERS,
    SHOWING,
    STARTERS,
    STARTING_PAIRS,
    TARGETS,
    TOOLS,
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
_NO_RUN: Final = frozenset({"--version", "--help", "--listTests", "--collect-only"})
_SHELLS: Final = frozenset("bash sh zsh dash".split())
_ESCAPE: Final = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_COUNTS: Final = re.compile(
    r"(?P<count>\d{1,7}) (?:subtests? )?(?:tests? )?(?P<what>passed|passing"
    r"|passes|pass|failed|failing|failures?|"
    r"fail|errors?|tests?|examples?)\b"
    r"|(?P<name>Failed|Failures|Errors|Passed|Tests run|pass|fail):? +(?P<number>\d{1,7})"
)
_AFTER: Final = re.compile(r";|\|\||\n|(?<!&)&(?![&>\d])")
_LOST: Final = re.compile(r"/dev/null|> ?\S")  # what was printed went elsewhere
_BACKGROUND: Final = re.compile(
    r"(?:running in (?:the )?background with (?:ID|id)|[Ss]ession ID|session_id"
    r"|shell_id)[:= \"]{1,4}(\w[\w-]{0,60})"
)
_LOG: Final = re.compile(r"\.(?:log|output|out|txt)\b")  # where a command in the background writes
_ECHO: Final = re.compile(r"^(?:\[[\w@:./-]{1,60}\] )?[$>] ([\w@./: =\u2026-]{2,200})$", re.MULTILINE)
_BROKEN: Final = re.compile(
    r"(?i)permission (?:to use|denied)|user (?:rejected|denied|doesn't want)|was rejected"
)
#: Name of a package, or of a task in brackets, before each line of an output.
_PACKAGE: Final = r"(?:\[[\w@:./-]{1,60}\] |[\w@./ -]{1,60}: )?"
_LONGEST, _FIRST, _LAST = 1_000, 100, 500


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of a check.

    Args:
        event: Number of its event.
        tool: Name of the tool, or the words that ran it.
        family: Family of the check.
        ok: True if it passed; None where the record does not show it.
        line: The line that says so, or the command.
        passed: Number of tests that passed; None where it is not printed.
        failed: Number of those that did not.
        scope: The chosen part: paths, packages, patterns; empty for everything.
        code: Suffixes of the files that it depends on.
        implies: Families that it shows besides, where it passed.
        command: The command, cut.
        is_firsthand: False where the output was only shown by another program.
        is_filtered: True if a filter or a pipe stood behind it.
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


class _Outcome(NamedTuple):
    """Outcome of a run as its tool prints it."""

    ok: bool
    line: str
    passed: int | None
    failed: int | None


@dataclass(frozen=True, slots=True)
class _Ask:
    """A check that a command asks for."""

    tool: CheckTool | None
    name: str
    family: Family
    scope: str
    filters: tuple[str, ...]
    is_exit_known: bool
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
    return [rest[0].rpartition("/")[2], *rest[1:]] if rest else []


def commands_of(text: str) -> list[SimpleCommand]:
    """Returns the simple commands of a line, those inside `bash -lc` too, without what only starts them."""
    found = []
    for command in simple_commands(text[:_READ]):
        words = unwrapped(command.words)
        inner = next((word for word in words[1:] if not word.startswith("-")), "")
        if words and words[0] in _SHELLS and len(words) > 2 and " " in inner:
            parts = simple_commands(inner)
            found += [SimpleCommand(unwrapped(part.words), part.writes, part.fed) for part in parts]
        else:
            found.append(SimpleCommand(words, command.writes, command.fed))
    return [command for command in found if command.words]


def background_id(result: str) -> str | None:
    """Returns the id under which the output of a command comes later; None if it is here."""
    match = _BACKGROUND.search(result[:600])
    return None if match is None else match[1]


def check_runs(
    text: str, commands: list[SimpleCommand], result: str | None, event: int, *, has_failed: bool
) -> list[CheckRun]:
    """Returns the runs of checks that a call of a shell made.

    Args:
        text: The command line.
        commands: Its parts.
        result: Its output; None where it was not recorded.
        event: Number of the event.
        has_failed: True if the call is recorded as failed.
    """
    asks = _asks(text, commands)
    result = "" if result == NO_OUTPUT else result
    if result is None:
        return [_unknown(ask, text, event) for ask in asks]
    if _BROKEN.search(result[:300]) and has_failed:
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
    scripts = {ask.family for ask in asks if ask.tool is None}
    for run in shown_runs(lines, event, is_firsthand=not shows):
        if run.tool in asked or (run.family is not Family.TESTS and not run.ok and run.family not in scripts):
            continue
        ask = next((ask for ask in asks if ask.family is run.family), None)
        if run.ok and has_failed and len(asks) == 1 and ask is not None and ask.is_exit_known:
            continue  # one of its tools passed, and the whole did not
        if ask is not None and ask.tool is None:  # a script that was asked for, by what it printed
            runs = [item for item in runs if item.family is not run.family or item.tool in asked]
        scope = "" if ask is None else _echoed_scope(output, run.tool, ask)
        runs.append(replace(run, scope=scope, command=text[:_LINE]))
    if not has_failed and not shows:
        runs += _echoed(output, event, {run.family for run in runs}, text)
    return runs


def _chained(asks: Sequence[_Ask], runs: Sequence[CheckRun]) -> list[CheckRun]:
    """Returns the runs of commands that each began only when the one before had succeeded."""
    known = list(runs)
    has_run = False
    for place in reversed(range(len(known))):
        if has_run and known[place].ok is None and not asks[place].filters:
            known[place] = replace(known[place], ok=True)
        has_run = has_run or known[place].ok is not None
    return known


def _echoed_scope(output: str, tool: str, ask: _Ask) -> str:
    """Returns the chosen part by the command that a script prints, else by the words that ran it."""
    if ask.tool is None and ask.scope:
        for match in _ECHO.finditer(output):
            found = _tool_of(unwrapped(match[1].split()) or ["-"])
            if found is not None and found[0] is not None and found[0].name == tool:
                return _scope(found[1], found[3])
    return ask.scope


def _echoed(output: str, event: int, known: set[Family], text: str) -> list[CheckRun]:
    """Returns the checks whose commands an output repeats: a script prints each before it runs it.

    The whole came to its end without a failure, and so did they.
    """
    runs = []
    for match in _ECHO.finditer(output):
        found = _tool_of(unwrapped(match[1].split()) or ["-"])
        if found is not None and found[0] is not None and found[2] not in known:
            tool = found[0]
            runs.append(
                CheckRun(
                    event, tool.name, tool.family, ok=True, line=match[0].strip()[:_LINE], code=tool.code,
                    implies=tool.implies, command=text[:_LINE],
                )
            )  # fmt: skip
    return runs


def shown_runs(lines: Sequence[str], event: int, *, is_firsthand: bool) -> list[CheckRun]:
    """Returns the runs that an output sums up, by the lines of its tools.

    Args:
        lines: Those of its lines that sum a check up.
        event: Number of the event.
        is_firsthand: True if the program that printed it ran them itself.
    """
    found: list[CheckRun] = []
    if not lines:
        return found
    for tool in _telling():
        outcome = _outcome(tool, lines)
        if outcome is not None:
            ok, line, passed, failed = outcome
            found.append(
                CheckRun(
                    event, tool.name, tool.family, ok, line, passed, failed, code=tool.code,
                    implies=tool.implies, is_firsthand=is_firsthand,
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
    patterns = [pattern for tool in _telling() for pattern in (tool.sums, tool.failed) if pattern]
    return re.compile(f"{_PACKAGE}(?:{'|'.join(patterns)})")


@cache
def _telling() -> tuple[CheckTool, ...]:
    """Returns the tools that sum up what they did."""
    return tuple(tool for tool in TOOLS if tool.sums)


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
        asks.append(_Ask(tool, name, family, _scope(name, rest), tuple(filters), known, lines))
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
    line = " ".join(words[:6])
    for name, tool in tools:
        if line == name or line.startswith(f"{name} ") or _has_flag(name, words):
            return tool, name, tool.family, words[len(name.split()) :]
    for runner in runners:
        if line.startswith(f"{runner} "):
            options = rest = words[len(runner.split()) :]
            while rest and (rest[0].startswith("-") or "=" in rest[0]):
                rest = rest[2:] if rest[0] in CHOOSING else rest[1:]
            target = rest[0].lower() if rest else ""
            if not target.replace("-", "").replace(":", "").replace("_", "").isalnum():
                return None
            for part, family in TARGETS:
                if part in target and "fix" not in target and "watch" not in target:
                    chosen = [*options[: len(options) - len(rest)], *rest[1:]]
                    return None, f"{runner} {rest[0]}", family, chosen
            return None
    return None


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


def _scope(name: str, words: list[str]) -> str:
    """Returns the chosen part of what a tool would check; empty if it checks everything."""
    chosen = []
    values_follow = False
    is_whole = not WHOLE.isdisjoint(words)  # beside everything a path chooses nothing
    for word in words:
        if values_follow:
            chosen.append(word)
            values_follow = False
        elif word.startswith("-"):
            option, equals, value = word.partition("=")
            if option in CHOOSING or option == "-Dtest":
                if equals:
                    chosen.append(value)
                else:
                    values_follow = True
        elif not is_whole and ("/" in word or "." in word or "::" in word) and word not in name:
            chosen.append(word)
    return " ".join(chosen)[:_LINE]


def _run(
    ask: _Ask, text: str, output: str, lines: Sequence[str], event: int, *, has_failed: bool, alone: bool
) -> CheckRun:
    tool = ask.tool
    outcome = None if tool is None else _outcome(tool, lines if tool.sums else output.splitlines())
    is_kept = ask.keeps_end(output)
    ok: bool | None
    line, passed, failed = "", None, None
    if outcome is not None and (is_kept or outcome[0] is False or outcome[2] is not None):
        ok, line, passed, failed = outcome
    elif has_failed and alone:
        ok = False if ask.is_exit_known else None
        line = _last_line(output)
    elif (ask.is_exit_known and not has_failed and (tool is None or tool.is_silent or not tool.sums)) or (
        tool is not None and tool.is_silent and is_kept and not output.strip() and not has_failed
    ):
        ok = True
    else:
        ok = None
    if ok and has_failed and alone and ask.is_exit_known:
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
    )


def _unknown(ask: _Ask, text: str, event: int) -> CheckRun:
    code = CODE if ask.tool is None else ask.tool.code
    return CheckRun(
        event, ask.name, ask.family, None, text[:_LINE], scope=ask.scope, code=code, command=text[:_LINE]
    )


@cache
def _patterns(name: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    tool = next(tool for tool in TOOLS if tool.name == name)
    sums, failed = (
        re.compile(f"{_PACKAGE}(?:{pattern})") if pattern else None for pattern in (tool.sums, tool.failed)
    )
    return sums, failed


def stated_lines(output: str) -> list[str]:
    """Returns the lines of an output that sum a check up, of very many the first and the last."""
    either = _either()
    lines = [line[:_LONGEST].rstrip() for line in output.splitlines() if either.match(line, 0, _LONGEST)]
    return lines if len(lines) <= _FIRST + _LAST else lines[:_FIRST] + lines[-_LAST:]


def _outcome(tool: CheckTool, lines: Sequence[str]) -> _Outcome | None:
    """Returns how a run of a tool came out; None if no line says so."""
    sums, failed = _patterns(tool.name)
    bad = None if failed is None else next((line for line in lines if failed.match(line)), None)
    good = [] if sums is None else [line for line in lines if sums.match(line)]
    if bad is None and not good:
        return None
    counts = (
        [numbers for line in good if (numbers := _numbers(line)) is not None] if tool.counts_tests else []
    )
    passed, fails = sum(numbers[0] for numbers in counts), sum(numbers[1] for numbers in counts)
    if bad is not None or fails:
        worst = next((line for line in reversed(good) if (_numbers(line) or (0, 0))[1]), bad or good[-1])
        if not fails and bad is not None:
            fails = (_numbers(bad) or (0, 0))[1]
        return _Outcome(
            ok=False, line=worst.strip()[:_LINE], passed=passed if counts else None, failed=fails or None
        )
    return _Outcome(
        ok=True,
        line=good[-1].strip()[:_LINE],
        passed=passed if counts else None,
        failed=0 if counts else None,
    )


def _numbers(line: str) -> tuple[int, int] | None:
    """Returns how many tests passed and failed by a line that sums them up; None if it has no numbers."""
    passed = failed = total = 0
    found = False
    for match in _COUNTS.finditer(line):
        what = (match["what"] or match["name"]).lower()
        number = int(match["count"] or match["number"])
        found = True
        if what.startswith("pass"):
            passed = number
        elif what.startswith(("fail", "error")):
            failed += number
        else:
            total = number
    if not found:
        return None
    return (passed or max(0, total - failed)), failed


def _last_line(output: str) -> str:
    line = next((line.strip() for line in reversed(output[-2_000:].splitlines()) if line.strip()), "")
    return line[:_LINE]
