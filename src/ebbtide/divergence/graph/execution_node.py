"""One node of an execution graph: a call, or a stretch of housekeeping, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ebbtide.errors import ConfigError

NodeSignature = tuple[str, str]  #: (kind, name)


class NodeStatus(StrEnum):
    """Status of a node. The last three are final."""

    CREATED = "created"
    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "fail"
    HALTED = "halt"


_CREATED = NodeStatus.CREATED  # reading a member off its enum takes as long as a lock


class ExecutionNode:
    """State of one node of the graph. Times are seconds since the graph was made.

    Args:
        node_id: Its id.
        parent_id: The node that began it; None for the root.
        signature: Its kind, and its name or the group that the name belongs to.
        name: Its own name.
        depth: Steps from the root; None where the parent was dropped before.
    """

    __slots__ = (
        "cost_usd",
        "depth",
        "ended_s",
        "error_class",
        "metadata",
        "model",
        "name",
        "node_id",
        "parent_id",
        "signature",
        "started_s",
        "status",
        "stop_reason",
        "tokens_in",
        "tokens_out",
    )

    def __init__(
        self,
        node_id: str,
        parent_id: str | None,
        signature: NodeSignature,
        name: str,
        depth: int | None,
    ) -> None:
        self.node_id = node_id
        self.parent_id = parent_id
        self.signature = signature
        self.name = name
        self.depth = depth
        self.status = _CREATED
        self.model: str | None = None
        self.metadata: dict[str, Any] | None = None
        self.started_s: float | None = None
        self.ended_s: float | None = None
        self.cost_usd: float | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.error_class: str | None = None
        self.stop_reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The node as plain data."""
        return {
            "node_id": self.node_id,
            "parent_id": self.parent_id,
            "kind": self.signature[0],
            "name": self.name,
            "depth": self.depth,
            "status": self.status.value,
            "model": self.model,
            "started_s": self.started_s,
            "ended_s": self.ended_s,
            "cost_usd": self.cost_usd,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "error_class": self.error_class,
            "stop_reason": self.stop_reason,
            "metadata": plain(self.metadata) if self.metadata else {},
        }


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
