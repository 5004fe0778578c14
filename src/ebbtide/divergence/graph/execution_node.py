"""One node of an execution graph: a call, or a stretch of housekeeping, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.codec import Record
from ebbtide.errors import ConfigError

NodeSignature = tuple[str, str]  #: (kind, name)


class NodeStatus(StrEnum):
    """Status of a node. The last three are final."""

    CREATED = "created"
    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "fail"
    HALTED = "halt"


@dataclass(slots=True, eq=False)
class ExecutionNode(Record):
    """State of one node of the graph. Times are seconds since the graph was made.

    Args:
        node_id: Its id.
        parent_id: The node that began it; None for the root.
        signature: Its kind, and its name or the group that the name belongs to.
        name: Its own name.
        depth: Steps from the root; None where the parent was dropped before.
    """

    node_id: str
    parent_id: str | None
    signature: NodeSignature
    name: str
    depth: int | None
    status: NodeStatus = NodeStatus.CREATED
    model: str | None = None
    started_s: float | None = None
    ended_s: float | None = None
    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    error_class: str | None = None
    stop_reason: str | None = None
    metadata: dict[str, Any] | None = None

    _WIRE = (
        "node_id parent_id kind name depth status model started_s ended_s cost_usd tokens_in tokens_out "
        "error_class stop_reason metadata=shown_metadata"
    )

    @property
    def kind(self) -> str:
        """Kind of the node, such as "tool"."""
        return self.signature[0]

    @property
    def shown_metadata(self) -> dict[str, Any]:
        """A copy of the metadata, empty where there are none."""
        return plain(self.metadata) if self.metadata else {}


def plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `metadata` as JSON carries it, which nobody else holds.

    Raises:
        ConfigError: JSON cannot carry it.
    """
    try:
        copy = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"metadata cannot be written as JSON: {error}") from error
    if not isinstance(copy, dict):
        raise ConfigError(f"metadata = {copy!r:.60}: expected an object")
    return copy
