"""Facts of a run that its report can be held against, kept as its events come."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace
from math import inf
from typing import Final

from ebbtide.claims.changes import (
    Act,
    ActFact,
    FileEdit,
    acts_of,
    edits_of,
    opened_by_tool,
    shell_edits,
)
from ebbtide.claims.check_runs import (
    CheckRun,
    background_id,
    check_runs,
    commands_of,
    readable,
    shown_runs,
    stated_lines,
)
from ebbtide.claims.detours import (
    EVERY_FILE,
    Detour,
    UndoneEdits,
    is_round_trip,
    restored_paths,
    stashing,
)
from ebbtide.claims.named_tools import commit_by_tool, tests_by_tool
from ebbtide.claims.probes import probes_of
from ebbtide.events.event import Event, Message, Notice, NoticeKind, Phase, Role, ToolCall
from ebbtide.events.shell_words import SimpleCommand

_RUNS, _EDITS, _ACTS, _COMMANDS, _READS, _JOBS, _TURNS = 500, 4_000, 400, 1_500, 500, 200, 200
_COMMAND: Final = 200
_LONGEST: Final = 6_000
_AGENTS: Final = frozenset({"Task", "Agent", "task", "spawn_agent", "wait_agent", "delegate"})
#: Types of agents that change nothing and run no checks.
_LOOKING: Final = frozenset({"explore", "plan"})
#: Beginnings of a task that reads the work of others, and of one that works on what was read.
_REVIEWS: Final = re.compile(
    r"review|research|explor|analy[sz]|investigat|audit|critiqu|verify a ", re.IGNORECASE
)
_MENDS: Final = re.compile(r"\W*(?:fix|implement|apply|address|resolve|execut)", re.IGNORECASE)
_TASK: Final = 80
#: Agents that go on after the call that starts them has its answer.
_STARTING: Final = frozenset({"spawn_agent"})
_LAUNCHED: Final = "Async agent launched"
_READERS: Final = ("read", "view", "open_file", "cat")
#: Commands that look at something, which is most of them, and signs that something else stands beside.
_LOOKS: Final = re.compile(
    r"\s*(?:cd \S{1,200}\s*$|git (?:-C \S{1,200} )?(?:--no-pager )?(?:status"
    r"|diff|log|show|branch|fetch|rev-parse|"
    r"ls-files|ls-remote|check-ignore|add|blame|remote|worktree|config|rev-list|merge-base)|grep|rg|sed -n"
    r"|ls|cat|find|head|tail|wc|nl|which|pwd|"
    r"gh (?:api|auth status|repo view|run list|pr view|issue view"
    r"|run view|pr list|issue list|pr checks|pr diff))\b"
)
_JOINED: Final = re.compile(
    r"(?<!2)>|;|\n|\|\|(?! true)|\| ?(?:xargs|sh|bash|tee|while|parallel)\b|\.(?:log|output|out)\b"
)
_CONTINUED: Final = ("continued from a previous conversation", "conversation that ran out of context")
_JOB_KEYS: Final = ("task_id", "bash_id", "session_id", "shell_id", "shellId", "id")
_OUTPUTS: Final = ("output", "stdout", "stderr", "content", "text", "result")
#: File to which a command writes all that it prints.
_LOG_FILE: Final = re.compile(r"(?<![\d&])> ?([\w./~-]{1,120}\.(?:log|out|txt))\b")
_PASTED: Final = re.compile(r"passed|failed|passing|\bok\b|FAIL")


class RecordFacts:
    """Facts of a run up to now, in bounded memory: checks, edits, commits, pushes, openings and reads."""

    def __init__(self) -> None:
        self.runs: deque[CheckRun] = deque(maxlen=_RUNS)
        self.probes: deque[CheckRun] = deque(maxlen=_RUNS)  # answers of services that were asked
        self.edits: deque[FileEdit] = deque(maxlen=_EDITS)
        self.acts: deque[ActFact] = deque(maxlen=_ACTS)
        self.commands: deque[tuple[int, str]] = deque(maxlen=_COMMANDS)
        self.reads: dict[
            str, list[tuple[int, int, int | None]]
        ] = {}  # by path: event, first line, number of lines
        self.events = 0
        self.calls = 0  # calls of tools whose arguments are recorded
        self.turns: deque[int] = deque(maxlen=_TURNS)  # events at which a person spoke
        self.agents: deque[float] = deque(maxlen=_ACTS)  # events at which other agents had ended their work
        self.detours: deque[Detour] = deque(maxlen=_ACTS)  # changes that were undone
        self._undone = UndoneEdits()
        self._stashed: int | None = None  # event that put changes away which are not taken back yet
        self.changers: deque[float] = deque(maxlen=_ACTS)  # those of them that may have changed files
        self.is_partial = False  # part of the work is recorded elsewhere, or was forgotten here
        self._jobs: dict[str, tuple[str, int]] = {}  # commands in the background by their ids

    def see(self, event: Event, number: int | None = None) -> None:
        """Take one more event.

        Args:
            event: The event.
            number: Its number in the run; None counts on, as a `Supervisor` counts.
        """
        is_begun = type(event) is ToolCall and event.phase is Phase.STARTED  # its end is the event
        self.events = self.events + (not is_begun) if number is None else number
        if type(event) is ToolCall:
            if event.phase is Phase.FINISHED:
                self._call(event)
        elif isinstance(event, Message):
            if event.role is Role.USER:
                self.turns.append(self.events)
            self._message(event.text or "")
        elif isinstance(event, Notice) and event.kind is NoticeKind.HANDOFF:
            self.agents.append(inf)
            self.changers.append(inf)

    def until(self, last: int) -> RecordFacts:
        """Returns the facts of the events up to that number."""
        facts = RecordFacts()
        for name in ("runs", "probes", "edits", "acts"):
            getattr(facts, name).extend(fact for fact in getattr(self, name) if fact.event <= last)
        facts.commands.extend(item for item in self.commands if item[0] <= last)
        facts.turns.extend(turn for turn in self.turns if turn <= last)
        facts.reads = {
            path: [item for item in ranges if item[0] <= last] for path, ranges in self.reads.items()
        }
        facts.events, facts.calls = last, self.calls
        facts.agents.extend(self.agents)
        facts.changers.extend(self.changers)
        facts.detours.extend(detour for detour in self.detours if detour.last <= last)
        facts.is_partial = self.is_partial
        return facts

    def _message(self, text: str) -> None:
        if any(words in text[:400] for words in _CONTINUED):
            self.is_partial = True
        if _PASTED.search(text[:_LONGEST]):
            self.runs.extend(shown_runs(stated_lines(readable(text)), self.events, is_firsthand=False))

    def _call(self, call: ToolCall) -> None:
        args = call.args
        if args is None:
            return
        self.calls += 1
        result = _output(call.result)
        if call.name in _AGENTS:
            if isinstance(args, dict) and str(args.get("subagent_type")).lower() in _LOOKING:
                return
            goes_on = call.name in _STARTING or result is None or result.startswith(_LAUNCHED)
            end = inf if goes_on else self.events
            self.agents.append(end)
            if not _is_review(args):
                self.changers.append(end)
            if result:
                self.runs.extend(shown_runs(stated_lines(readable(result)), self.events, is_firsthand=False))
            return
        command = _command(args)
        if command is not None:
            self._shell(command, result, has_failed=call.error)
            return
        job = self._job(args)
        if job is not None:
            self._finish(job, result, has_failed=call.error)
            return
        runs = tests_by_tool(call.name, args, result, self.events, has_failed=call.error)
        if runs:
            self.runs.extend(runs)
            return
        commit = commit_by_tool(call.name, result, self.events, has_failed=call.error)
        if commit is not None:
            self.acts.append(commit)
            return
        if isinstance(args, dict | str):
            edits = list(edits_of(args, self.events))
            if edits:
                if not call.error:
                    self._add_edits(edits)
            elif isinstance(args, dict):
                self._read(call.name, args, has_failed=call.error)
        if result:
            act = opened_by_tool(call.name, result, self.events, has_failed=call.error)
            if act is not None:
                self.acts.append(act)

    def _shell(self, command: str, result: str | None, *, has_failed: bool) -> None:
        if len(self.commands) == _COMMANDS:
            self.is_partial = True
        self.commands.append((self.events, command[:_COMMAND]))
        if not self._jobs and _only_looks(command):
            return
        commands = commands_of(command)
        if result:
            job = background_id(result)
            if job is not None and len(self._jobs) < _JOBS:
                self._jobs[job] = (command[:_LONGEST], self.events)
        waiting = next((job for job in self._jobs if job in command), None) if self._jobs else None
        if waiting is not None and (result is None or background_id(result) is None):
            self._finish(waiting, result, has_failed=has_failed)
        log = _LOG_FILE.search(command) if ">" in command else None
        if log is not None and not result and len(self._jobs) < _JOBS:
            self._jobs[log[1]] = (command[:_LONGEST], self.events)
        self.runs.extend(check_runs(command, commands, result, self.events, has_failed=has_failed))
        self.acts.extend(acts_of(commands, result, self.events, has_failed=has_failed))
        if result and "curl" in command:
            self.probes.extend(probes_of(commands, result, self.events))
        if not has_failed:
            self._add_edits(list(shell_edits(command, commands, self.events)))
        self._see_detours(commands)

    def _see_detours(self, commands: list[SimpleCommand]) -> None:
        """Take what a line puts away, takes back or restores."""
        if is_round_trip(commands):
            self.detours.append(Detour(self.events - 1, self.events + 1, EVERY_FILE))
        if "git" not in {command.words[0] for command in commands}:
            return
        for path in restored_paths(commands):
            self.detours.append(Detour(self._changed_since_commit(path), self.events, path))
        is_stashing = stashing(commands)
        if is_stashing:
            self._stashed = self.events
        elif is_stashing is False and self._stashed is not None:
            self.detours.append(Detour(self._stashed, self.events))
            self._stashed = None

    def _changed_since_commit(self, path: str) -> int:
        """Returns the event that changed a file first since it was committed; this one if none is known."""
        commits = (fact.event for fact in self.acts if fact.act is Act.COMMIT and fact.ok is not False)
        last = max(commits, default=0)
        changed = (edit.event for edit in self.edits if edit.event > last and _is_of(edit.path, path))
        return min(changed, default=self.events)

    def is_undone(self, edit: FileEdit, since: int) -> bool:
        """Returns True if an edit was taken back, so that its file is as it was at an event before it."""
        return any(
            since <= detour.first <= edit.event <= detour.last and _is_of(edit.path, detour.path)
            for detour in self.detours
        )

    def settled_runs(self) -> list[CheckRun]:
        """Returns the runs of checks without those of a state that was undone since.

        Where there is no other run of the kind before, such a one stays, and a failure of it is unknown.
        """
        runs = list(self.runs)
        for detour in self.detours:
            inside = [run for run in runs if detour.holds(run.event)]
            for run in inside:
                place = runs.index(run)
                if any(other.family is run.family and other.event <= detour.first for other in runs):
                    del runs[place]
                elif run.ok is False:
                    runs[place] = replace(run, ok=None, is_undone=True)
        return runs

    def _add_edits(self, edits: list[FileEdit]) -> None:
        if len(self.edits) + len(edits) > _EDITS:
            self.is_partial = True
        self.edits.extend(edits)
        self.detours.extend(detour for edit in edits if (detour := self._undone.see(edit)) is not None)
        self.acts.extend(
            ActFact(edit.event, Act.DELETE, ok=True, subject=edit.path) for edit in edits if edit.is_deletion
        )

    def _job(self, args: object) -> str | None:
        """Returns the id of the command whose output a call asks for; None if it asks for none."""
        if not isinstance(args, dict) or not self._jobs:
            return None
        for key in _JOB_KEYS:
            if key in args and str(args[key]) in self._jobs:
                return str(args[key])
        path = args.get("file_path") or args.get("path")
        return next((job for job in self._jobs if isinstance(path, str) and job in path), None)

    def _finish(self, job: str, result: str | None, *, has_failed: bool) -> None:
        if not result:
            return
        command, _ = self._jobs[job]
        # Its exit code is that of the call that asks, and says nothing; its lines do.
        commands = commands_of(command)
        runs = check_runs(command, commands, result, self.events, has_failed=False)
        self.runs.extend(
            run for run in runs if run.passed is not None or run.ok is False or run.line != run.command
        )
        self.acts.extend(
            act for act in acts_of(commands, result, self.events, has_failed=has_failed) if act.ok
        )

    def _read(self, name: str, args: dict[str, object], *, has_failed: bool) -> None:
        path = args.get("file_path") or args.get("path") or args.get("filePath")
        if has_failed or not isinstance(path, str) or not name.lower().startswith(_READERS):
            return
        if path not in self.reads and len(self.reads) >= _READS:
            return
        first, size = args.get("offset"), args.get("limit")
        ranges = self.reads.setdefault(path, [])
        if len(ranges) < _JOBS:
            start = first if isinstance(first, int) else 1
            ranges.append((self.events, start, size if isinstance(size, int) else None))


def _only_looks(command: str) -> bool:
    """Returns True if each command of a line looks at something, or puts it up for a commit."""
    for part in command.split("&&"):
        looks = _LOOKS.match(part)
        if looks is None or _JOINED.search(part, looks.end()) is not None:
            return False
    return True


def _is_review(args: object) -> bool:
    """Returns True if another agent is asked to read, and to change nothing."""
    if not isinstance(args, dict):
        return False
    words = [str(args.get(key) or "")[:_TASK] for key in ("subagent_type", "description", "prompt")]
    return any(map(_REVIEWS.search, words)) and not any(map(_MENDS.match, words))


def _is_of(edited: str, path: str) -> bool:
    """Returns True if a path that was edited is the one that a detour names."""
    if path in {EVERY_FILE, edited}:
        return True
    return bool(path) and edited.endswith("/" + path.removeprefix("./"))


def _output(result: object) -> str | None:
    """Returns what a call printed; None where that is not recorded."""
    if result is None or isinstance(result, str):
        return result
    if isinstance(result, dict):
        parts = [result[key] for key in _OUTPUTS if isinstance(result.get(key), str)]
    elif isinstance(result, list):
        parts = [
            part["text"] for part in result if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
    else:
        parts = []
    return "\n".join(parts) if parts else None


def _command(args: object) -> str | None:
    """Returns the command line of a call of a shell; None if it is none."""
    value = args
    if isinstance(args, dict):
        value = args.get("command", args.get("cmd"))
    elif isinstance(args, str):
        return None
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return value[-1] if len(value) > 2 and value[1] in {"-c", "-lc", "-ic"} else " ".join(value)
    return value if isinstance(value, str) else None
