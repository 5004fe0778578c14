"""The table of tools, and the server that offers them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from ebbtide import __version__
from ebbtide.errors import EbbtideError
from ebbtide.service.mcp import decision_tools, run_tools
from ebbtide.service.mcp.desk import Desk
from ebbtide.text.redaction import redact, redacted

_INSTRUCTIONS: Final = (
    "Ebbtide watches agent runs: which are stuck, why, and what they cost, and keeps the team's decisions. "
    "Call am_i_stuck before you try the same thing a third time, is_my_report_true before you report what "
    "you did, and find_decisions before you decide anew."
)
_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_LETS_GO_ON: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
_ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class Transport(StrEnum):
    """Ways in which a client reaches the server."""

    STDIO = "stdio"
    HTTP = "http"


class _Row(NamedTuple):
    """One tool."""

    name: str
    function: Callable[..., Any]
    annotations: ToolAnnotations
    transports: tuple[Transport, ...] = tuple(Transport)


#: A new tool is a function, which takes the desk first, and a row.
_TOOLS: Final = (
    _Row("stuck_now", run_tools.stuck_now, _READS),
    _Row("list_runs", run_tools.list_runs, _READS),
    _Row("explain_run", run_tools.explain_run, _READS),
    _Row("am_i_stuck", run_tools.am_i_stuck, _READS),
    _Row("is_my_report_true", run_tools.is_my_report_true, _READS),
    _Row("spending", run_tools.spending, _READS),
    # Whoever reaches the service over the network reads no files of its machine.
    _Row("check_trace", run_tools.check_trace_file, _READS, (Transport.STDIO,)),
    _Row("check_trace", run_tools.check_trace_text, _READS, (Transport.HTTP,)),
    _Row("acknowledge", run_tools.acknowledge, _LETS_GO_ON),
    _Row("extend", run_tools.extend, _LETS_GO_ON),
    _Row("record_decision", decision_tools.record_decision, _ADDS),
    _Row("find_decisions", decision_tools.find_decisions, _READS),
)


def new_server(desk: Desk, transport: Transport) -> MCPServer[Any]:
    """The server of a desk, with the tools for those who reach it that way."""
    server: MCPServer[Any] = MCPServer(
        "ebbtide", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    for row in _TOOLS:
        if transport in row.transports:
            server.add_tool(_at(desk, row.function), name=row.name, annotations=row.annotations)
    return server


def _at(desk: Desk, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the table at its desk; what it raises is said to the model, and says what to do."""
    signature = inspect.signature(function, eval_str=True)

    def tool(**arguments: Any) -> Any:
        try:
            answer = function(desk, **arguments)
        except EbbtideError as error:
            raise ToolError(redact(str(error))) from error
        return redacted(answer) if desk.redact else answer

    tool.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    tool.__doc__ = inspect.getdoc(function)
    return tool
