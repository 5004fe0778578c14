"""The public sets of recorded runs, each read into the same form: events, and what became of the run."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.event_json import read_events
from ebbtide.events.transcript import Round
from ebbtide.traces.reading import open_trace

_CUT = 300  # characters at which the data cuts an action, whose whole text has a hash beside it
_CUT_ANSWER = 70
_ERROR = "Error executing query"  # how the environment reports that an action failed
_TURN = re.compile(r"^_\*\*(User|Agent)\b[^\n]*\*\*_[ \t]*$", re.MULTILINE)
_ACTION = re.compile(r"\s*(\w+)\[(.*)\]\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run, and what became of it.

    Args:
        id: Its name in the set.
        group: Its label or outcome, in the words of the set.
        events: What happened, in order.
        family: Who made it: an environment and a model, or the source of a scenario.
        success_at: Place of the event that brought success, from 0; None where none did, or nobody knows.
    """

    id: str
    group: str
    events: tuple[Event | Round, ...] = field(repr=False)
    family: str = ""
    success_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(RecordedRun):
    """A shell or SQL episode: every step is one event, with an answer and a reward.

    1,225 episodes are given their reward at `submit` alone, for what they had reached before.

    Args:
        rewards: What each step brought, 0 to 1.
        answers: A hash of the answer to each step.
        submitted: Whether the last step is a submission.
    """

    rewards: tuple[float, ...]
    answers: tuple[str, ...]
    submitted: bool

    def improves(self, place: int, *, letter: bool) -> bool:
        """Whether a reward after the first `place` events beats the best so far.

        Args:
            place: Events that count as before, 1 or more.
            letter: Count the reward of a submission even where no answer came in between that was not known.
        """
        if max(self.rewards[place:], default=-1) <= max(self.rewards[:place]):
            return False
        if letter or not self.submitted:
            return True
        return not set(self.answers[place:-1]) <= set(self.answers[:place])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects in a compressed file, one a line."""
    with gzip.open(path, "rt", encoding="utf-8") as text:
        yield from map(json.loads, text)


def episodes(data: Path) -> Iterator[Episode]:
    """Shell and SQL episodes of four model families; success is the full reward."""
    for row in lines(data / "loops" / "intercode.jsonl.gz"):
        steps = row["steps"]
        rewards = tuple(step["reward"] or 0 for step in steps)
        yield Episode(
            id=row["id"],
            group="solved" if max(rewards, default=0) >= 1 else "unsolved",
            family=f"{row['env']} {row['model']}",
            events=tuple(_step_call(row["env"], step) for step in steps),
            success_at=next((place for place, reward in enumerate(rewards) if reward >= 1), None),
            rewards=rewards,
            answers=tuple(step["observation_sha1"] for step in steps),
            submitted=bool(steps) and steps[-1]["action"].strip() == "submit",
        )


def _step_call(tool: str, step: dict[str, Any]) -> ToolCall:
    args = {"action": step["action"]}
    if len(step["action"]) >= _CUT:
        args["sha1"] = step["action_sha1"]
    answer = step["observation"]
    failed = answer.startswith(_ERROR)
    if len(answer) >= _CUT_ANSWER:
        answer = f"{answer} {step['observation_sha1']}"
    return ToolCall(name=tool, args=args, result=answer, error=failed)


def questions(data: Path) -> Iterator[RecordedRun]:
    """Question answering with searches: HALTED ran out of steps, INCORRECT and CORRECT gave an answer."""
    for row in lines(data / "loops" / "hotpotqa_react_base.jsonl.gz"):
        events: list[Event] = []
        for step in row["steps"]:
            if step.get("thought"):
                events.append(ModelCall(text=step["thought"]))
            match = _ACTION.match(step["action"] or "")
            name, query = match.groups() if match else ("action", step["action"])
            events.append(ToolCall(name=name, args={"query": query}, result=step["observation"]))
        yield _ended(row["id"], row["status"], events, success=row["status"] == "CORRECT")


def support(data: Path) -> Iterator[RecordedRun]:
    """Twenty customer service runs of an airline; success is the reward."""
    path = data / "traces" / "openai_messages" / "tau_airline_20.json"
    for number, row in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        solved = row["reward"] == 1
        yield _ended(
            f"{number}: task {row['task_id']}",
            "rewarded" if solved else "not rewarded",
            list(chat_events(row["traj"])),
            success=solved,
        )


def chat_events(messages: list[dict[str, Any]]) -> Iterator[Event]:
    """The events of a chat with calls of tools."""
    requests: dict[str, tuple[str, Any]] = {}
    for message in messages:
        role, text = message["role"], message.get("content")
        if role == "user":
            yield Message(text=text)
        elif role == "assistant":
            if text:
                yield ModelCall(text=text)
            for call in message.get("tool_calls") or []:
                requests[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
        elif role == "tool":
            name, args = requests[message["tool_call_id"]]
            yield ToolCall(name=name, args=args, result=text, error=str(text).startswith("Error"))


def transitions(data: Path) -> Iterator[RecordedRun]:
    """Thoughts and actions of two coding agents on software issues; no answers of tools are in the data."""
    for row in lines(data / "loops" / "swe_transitions.jsonl.gz"):
        events: list[Event] = []
        for thought, action in zip(row["thoughts"], row["actions"], strict=False):
            if thought:
                events.append(ModelCall(text=str(thought)))
            events.append(ToolCall(name="step", args={"action": action}))
        solved = row["resolved"] == "True"
        yield _ended(row["id"], "resolved" if solved else "failed", events, success=solved)


def software(data: Path) -> Iterator[RecordedRun]:
    """Whole runs of mini-swe-agent on software issues."""
    folder = data / "runs" / "mini_swe_agent"
    for row in json.loads((folder / "outcomes.json").read_text(encoding="utf-8")):
        solved = row["resolved"]
        name = row["run"].removesuffix(".traj.json.gz")
        events = list(open_trace(folder / row["run"]))
        yield _ended(name, "resolved" if solved else "failed", events, success=solved)


def sessions(data: Path) -> Iterator[RecordedRun]:
    """Whole sessions of a coding agent and one developer, without labels."""
    for path in sorted((data / "runs" / "claude_code").glob("*.jsonl.gz")):
        yield _trace(path, path.name.removesuffix(".jsonl.gz"))


def session_files(data: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files of `sessions/`, each with its card: its agent, its id, what it states."""
    for card in sorted((data / "sessions").rglob("*.json")):
        yield card.with_suffix(".jsonl.gz"), json.loads(card.read_text(encoding="utf-8"))


def traces(data: Path) -> Iterator[RecordedRun]:
    """Single traces of every format, without labels."""
    folder = data / "traces"
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield _trace(path, str(path.relative_to(folder)))


def _trace(path: Path, name: str) -> RecordedRun:
    try:
        events = tuple(open_trace(path))
    except TranscriptError:
        events = ()
    return RecordedRun(id=name, group="runs" if events else "no events", events=events)


def _ended(name: str, group: str, events: list[Any], *, success: bool) -> RecordedRun:
    """A run whose success, if any, came with its last event."""
    at = len(events) - 1 if success and events else None
    return RecordedRun(id=name, group=group, events=tuple(events), success_at=at)


def scenarios(data: Path) -> Iterator[RecordedRun]:
    """Call sequences from the test suites and issue threads of 46 repositories.

    Those named `thr-` are one source's threshold, which others contradict: they are left out.
    """
    for row in json.loads((data / "loops" / "scenarios.json").read_text(encoding="utf-8")):
        if "thr-" in row["id"]:
            continue
        what = "text" if row["id"].startswith("text-") else "calls"
        yield RecordedRun(
            id=row["id"],
            group=f"{what}, {'stuck' if row['expect'] == 'stuck' else 'healthy'}",
            family=row["source"].split(":")[0].split("#")[0],
            events=tuple(read_events(row["events"])),
        )


def chat_turns(data: Path) -> Iterator[RecordedRun]:
    """What people and coding agents say in sessions written down as markdown, whose calls are no events."""
    for path in sorted((data / "decisions" / "coding_chats").glob("*.md.gz")):
        parts = _TURN.split(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        events = tuple(
            Message(text=text.strip()) if speaker == "User" else ModelCall(text=text.strip())
            for speaker, text in zip(parts[1::2], parts[2::2], strict=True)
        )
        yield RecordedRun(id=path.name.removesuffix(".md.gz"), group="runs", events=events)


SETS: dict[str, Callable[[Path], Iterator[RecordedRun]]] = {
    "scenarios": scenarios,
    "episodes": episodes,
    "questions": questions,
    "support": support,
    "transitions": transitions,
    "software": software,
    "sessions": sessions,
    "traces": traces,
}
