"""Messages from the process that watches to the one that holds the agent: a JSON object a line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ebbtide.supervision.ladder import Action


class MessageKind(StrEnum):
    """The content of a message."""

    STANDING = "standing"  #: the present state of the run, in a few words
    VERDICT = "verdict"  #: the run is to end, or a person is wanted, and why
    REPORT = "report"  #: the outcome of the run
    FAULT = "fault"  #: the reason why a session is not watched
    NOTE = "note"  #: text to put before the model, and empty where there is none
    PERMISSION = "permission"  #: the id of a request for permission in a turn that was ended, as JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class WatcherMessage:
    """A message.

    Args:
        kind: Its content.
        text: A sentence or some words, safe for a terminal unless it is a note.
        action: The action of a verdict; None in other messages.
        session: The session that it is about; empty where the agent has only one.
        prompt: Number of the prompt of the session after which it came; 0 where prompts are not seen.
    """

    kind: MessageKind
    text: str
    action: Action | None = None
    session: str = ""
    prompt: int = 0

    def to_line(self) -> bytes:
        """Returns the message as a line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> WatcherMessage:
        """Reads a line.

        Raises:
            KeyError, TypeError, ValueError: It is no message.
        """
        wire: dict[str, Any] = json.loads(line)
        action = wire["action"]
        return cls(
            kind=MessageKind(wire["kind"]),
            text=wire["text"],
            action=None if action is None else Action(action),
            session=wire["session"],
            prompt=wire["prompt"],
        )
