"""Tools about recorded runs: a file on this machine, or a text that is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from ebbtide.checking import check
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.mcp.explaining import explanation
from ebbtide.service.mcp.tool_answers import Explanation
from ebbtide.supervision.run_options import RunOptions


def check_trace_file(
    desk: Desk, path: Annotated[str, Field(description="A trace or a session file on this machine.")]
) -> Explanation:
    """Check a recorded agent run for loops, waste and how it ended. Nothing of it is kept."""
    return explanation(check(Path(path), RunOptions(redact=desk.redact)).to_dict())


def check_trace_text(
    desk: Desk, content: Annotated[str, Field(min_length=1, description="The text of a trace file.")]
) -> Explanation:
    """Check a recorded agent run for loops, waste and how it ended. Nothing of it is kept."""
    with desk.connect() as service:
        return explanation(service.check_trace(content.encode("utf-8", "replace")))
