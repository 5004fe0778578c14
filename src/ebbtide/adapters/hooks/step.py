"""Content of one hook event, and of the answer to it, in words that all coding agents share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final

from ebbtide.events.event import ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.fields import identifier, text
from ebbtide.traces.records.readers import EventReader

MAIN: Final = "main"  #: the chain of the agent that a person talks to
#: A line of its own; some agents put quotation marks around what they were called with.
_SWITCH: Final = re.compile(r"^[ \t\"'`]*ebbtide[ \t]+(off|on)[ \t.!\"'`]*$", re.IGNORECASE | re.MULTILINE)
_HASH: Final = 12  # bytes


class Switch(StrEnum):
    """Order of a person about the watching of one run."""

    OFF = "off"
    ON = "on"


class StepKind(StrEnum):
    """Kinds of hook events."""

    START = "start"  #: a session begins, or goes on
    PROMPT = "prompt"  #: a person says something
    TOOLS = "tools"  #: calls of tools have ended, and the model is called next
    SPAWN = "spawn"  #: agents are about to be started
    FAILURE = "failure"  #: a call failed that is reported again with its batch
    MODEL = "model"  #: a call of the model has ended
    REPORT = "report"  #: the agent has said its last words, and would end its turn
    COMPACT = "compact"  #: the context of the model is about to be compacted
    SIDE_END = "side end"  #: a sub-agent has ended
    END = "end"  #: the session is over


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifiedCall:
    """Call of a tool, and what distinguishes it from every other one.

    Args:
        key: Its id; the same call has the same one, however often it is reported.
    """

    key: str
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStep:
    """One event of an agent's hook.

    Args:
        event: The agent's own name of it.
        key: Identity among the events of the session.
        agent: The chain: `MAIN`, or the id of a sub-agent.
        calls: Calls that have ended, at once; those that begin where agents are about to be started.
        is_batch: True if the calls are all that one answer of the model asked for.
        usage: Usage of a call of the model, if the event states it.
        transcript: Path of the session file that the agent writes; None where it names none.
        folder: Path of the folder that the agent works in; None where it names none.
        is_new: True if the session begins, so that its file holds nothing of an earlier one.
        goes_on: True if a session goes on with a context that was compacted, or made anew from its file.
        report: Last words of the agent; None where the event does not state them.
        is_again: True if a hook has kept the agent from ending its turn already.
    """

    kind: StepKind
    event: str
    session: str
    key: str
    agent: str = MAIN
    calls: tuple[IdentifiedCall, ...] = ()
    is_batch: bool = False
    prompt: str | None = None
    usage: Usage | None = None
    transcript: str | None = None
    folder: str | None = None
    is_new: bool = False
    goes_on: bool = False
    report: str | None = None
    is_again: bool = False

    @property
    def switch(self) -> Switch | None:
        r"""Switch that the person sets by a line ``ebbtide off`` or ``ebbtide on``; the last counts.

        >>> step = HookStep(kind=StepKind.PROMPT, event="", session="", key="", prompt="Go on.\nEbbtide off")
        >>> step.switch.value, step.is_switch_alone
        ('off', False)
        """
        words = _SWITCH.findall(self.prompt or "")
        return Switch(words[-1].lower()) if words else None

    @property
    def is_switch_alone(self) -> bool:
        """True if the person says nothing else."""
        return self.switch is not None and not _SWITCH.sub("", self.prompt or "").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookReply:
    """Answer to a hook event; an empty one changes nothing.

    Args:
        note: Note for the model, before its next call.
        end: Reason why the run ends now.
        correction: Reason why the agent is not to end its turn yet, for the model.
        drops_prompt: True if the person's words were for us alone, and the model is not called.
        delivery: Number of the note among those of its kind, by which its arrival is confirmed.
        brings_decisions: True if the note is about what was decided, and not about what the agent does.
    """

    note: str | None = None
    end: str | None = None
    message: str | None = None
    correction: str | None = None
    drops_prompt: bool = False
    delivery: int | None = None
    brings_decisions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCodec:
    """Reader and writer of one coding agent's JSON.

    Args:
        name: The word for it on the command line.
        title: Its name among people.
        kinds: Steps by the agent's names of its events; others say nothing to us.
        read: Makes a step of the agent's JSON; None where it says nothing to us.
        answer: Makes the agent's JSON of a reply.
        can_end: True if a hook can end its run.
        reader: Makes a reader of the lines of a session file, given the calls in other files of the session;
            None where events state the usage.
        known_call: Makes an event with a call, given its number; all calls are alike, which is a loop.
    """

    name: str
    title: str
    kinds: Mapping[str, StepKind]
    read: Callable[[Mapping[str, Any]], HookStep | None]
    answer: Callable[[HookStep, HookReply], dict[str, Any]]
    can_end: bool
    reader: Callable[[CallsOnce], EventReader] | None
    known_call: Callable[[int], dict[str, Any]]


PROBE: Final = "ebbtide_probe"  #: the session of a known loop, and what it calls


def fingerprint(event: Mapping[str, Any]) -> str:
    """Returns the identity of an event without an id: all that it holds, its time included."""
    content = json.dumps(event, sort_keys=True, default=str)
    return blake2b(content.encode(errors="replace"), digest_size=_HASH).hexdigest()


def read_step(
    event: Mapping[str, Any],
    *,
    kinds: Mapping[str, StepKind],
    outcome: Callable[[Mapping[str, Any]], tuple[str | None, bool]] | None = None,
    names: Sequence[str] = ("hook_event_name",),
    sessions: Sequence[str] = ("session_id",),
    ids: Mapping[StepKind, str] | None = None,
) -> HookStep | None:
    """Returns the step that an event is, in the names that most agents have; None if it says nothing to us.

    Args:
        outcome: Returns the answer of a tool in an event, and whether the tool failed; None where events hold
            their calls in another way.
        names: Fields of which the first that is there names the event.
        sessions: Likewise those that name the session.
        ids: Fields with the identity of an event, where that is not ``tool_use_id``.
    """
    session = next((found for field in sessions if (found := identifier(event.get(field)))), None)
    name = next((found for field in names if (found := text(event.get(field)))), "")
    kind = kinds.get(name)
    if session is None or kind is None:
        return None
    own = identifier(event.get((ids or {}).get(kind, "tool_use_id")))
    key = f"{name} {own or fingerprint(event)}"
    return HookStep(
        kind=kind,
        event=name,
        session=session,
        key=key,
        calls=_ended_call(event, key, outcome) if kind is StepKind.TOOLS and outcome is not None else (),
        prompt=text(event.get("prompt")) if kind is StepKind.PROMPT else None,
        transcript=text(event.get("transcript_path")),
        folder=text(event.get("cwd")),
        is_new=kind is StepKind.START and event.get("source") in ("startup", "new"),
        report=text(event.get("last_assistant_message")) if kind is StepKind.REPORT else None,
        is_again=event.get("stop_hook_active") is True,
    )


def answer_step(step: HookStep, reply: HookReply, *, refusal: str = "block") -> dict[str, Any]:
    """Returns the answer to an event, in the names that most agents have.

    Args:
        refusal: The agent's word for what is not to be done.
    """
    if reply.drops_prompt:
        return {"decision": refusal, "reason": reply.message}
    if reply.correction:
        return {"decision": refusal, "reason": reply.correction}
    answer: dict[str, Any] = {}
    if reply.message:
        answer["systemMessage"] = reply.message
    if reply.note:
        answer["hookSpecificOutput"] = {"hookEventName": step.event, "additionalContext": reply.note}
    return answer


def _ended_call(
    event: Mapping[str, Any], key: str, outcome: Callable[[Mapping[str, Any]], tuple[str | None, bool]]
) -> tuple[IdentifiedCall, ...]:
    name = text(event.get("tool_name"))
    if name is None:
        return ()
    result, failed = outcome(event)
    call = ToolCall(name=name, args=event.get("tool_input"), result=result, error=failed)
    return (IdentifiedCall(key=key, call=call),)
