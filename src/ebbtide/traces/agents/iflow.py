"""Sessions of iFlow: the lines of Claude Code, with answers of tools as Gemini CLI writes them.

An answer of the model takes several lines with ids of their own, which repeat calls. Tokens are written as 0
where they were not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event
from ebbtide.traces.agents.claude_code import ClaudeCodeReader
from ebbtide.traces.records.fields import count, identifier, items, mapping


class IflowReader(ClaudeCodeReader):
    """Reads a session line by line; lines of answers with nothing between them are one answer."""

    def __init__(self) -> None:
        super().__init__()
        self._answer: str | None = None

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """Returns the events that this line completes."""
        line = mapping(value)
        message = dict(mapping(line.get("message")))
        if line.get("type") != "assistant":
            self._answer = None
            if isinstance(message.get("content"), list):
                failed = mapping(line.get("toolUseResult")).get("status") == "error"
                message["content"] = [_block(mapping(block), failed=failed) for block in message["content"]]
        else:
            self._answer = self._answer or identifier(message.get("id"))
            message["id"] = self._answer
            if not any(map(count, mapping(message.get("usage")).values())):
                message.pop("usage", None)
        return super().read({**line, "message": message} if message else value, path)


def _block(block: Mapping[str, Any], *, failed: bool) -> Mapping[str, Any]:
    """A block whose answer stands where Claude Code has it."""
    if block.get("type") != "tool_result":
        return block
    held = mapping(block.get("content"))
    parts = held.get("responseParts", held)
    part = next(iter(items(parts)), parts)
    response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
    if not response:
        return {**block, "is_error": block.get("is_error") is True or failed}
    is_error = failed or ("error" in response and "output" not in response)
    return {**block, "content": response.get("output", response.get("error", response)), "is_error": is_error}
