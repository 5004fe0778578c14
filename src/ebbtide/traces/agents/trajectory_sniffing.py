"""Telling trajectories and logs of evaluations by what stands at their top."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.records.fields import items, joined_text, mapping, text


def refuse_swe_agent(document: Document) -> str | None:
    """Why `document` is not of the format swe-agent; None if it is."""
    value = _object(document)
    for run in (value, *map(mapping, items(value.get("attempts"))[:10])):
        steps = map(mapping, items(run.get("trajectory"))[:10])
        if any("action" in step and "observation" in step for step in steps):
            return None
    # A run that failed before its first step.
    if value.get("trajectory") == [] and not value.get("history") and "environment" in value:
        return None
    return "no object with 'trajectory', a list of steps with 'action' and 'observation'"


def refuse_swe_agent_history(document: Document) -> str | None:
    """Why `document` is not of the format swe-agent-history; None if it is."""
    value = _object(document)
    messages = [mapping(message) for message in items(value.get("history"))[:10]]
    if "trajectory" in value and items(value["trajectory"]):
        return "has a 'trajectory'"
    if any("role" in message and ("message_type" in message or "agent" in message) for message in messages):
        return None
    return "no object with 'history', a list of messages with 'message_type' or 'agent'"


def _object(document: Document) -> Mapping[str, Any]:
    return mapping(document.head[0]) if document.content is Content.JSON else {}


_MINI_FORMAT = "mini-swe-agent"


_MINI_FINAL = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MICRO_SWE_AGENT_FINAL_OUTPUT")


def refuse_mini_swe_agent(document: Document) -> str | None:
    """Why `document` is not of the format mini-swe-agent; None if it is."""
    if document.content is not Content.JSON:
        return "not one JSON value"
    value = document.head[0]
    whole = mapping(value)
    if (text(whole.get("trajectory_format")) or "").startswith(_MINI_FORMAT):
        return None
    messages = [
        mapping(message)
        for message in (value if isinstance(value, list) else items(whole.get("messages")))[:10]
    ]
    if any("actions" in mapping(message.get("extra")) for message in messages):
        return None
    tasks = [joined_text(message.get("content")) or "" for message in messages[:2]]
    names_end = any(sign in task for task in tasks for sign in _MINI_FINAL)
    if names_end and any(message.get("role") == "assistant" for message in messages):
        return None
    return f"no 'trajectory_format', and no task that names {_MINI_FINAL[0]}"


INSPECT_HEADER = "header.json"


INSPECT_SAMPLE = re.compile(r"samples/.+\.json")


INSPECT_SAMPLES = "samples.item."  #: paths of what stands in a sample of a whole log
INSPECT_STATS = "stats.model_usage"
_INSPECT_FIELDS = (
    "id",
    "epoch",
    "messages.item",
    "events.item",
    "attachments",
    "transcript.events.item",
    "transcript.content",
)
INSPECT_PATHS = (
    *(f"{INSPECT_SAMPLES}{name}" for name in _INSPECT_FIELDS),
    *_INSPECT_FIELDS,
    INSPECT_STATS,
    "item",
)


def refuse_inspect(document: Document) -> str | None:
    """Why `document` is not of the format inspect; None if it is."""
    if document.content is Content.ARCHIVE:
        has_samples = any(INSPECT_SAMPLE.fullmatch(name) or name == INSPECT_HEADER for name in document.head)
        return None if has_samples else "an archive without samples"
    value = mapping(document.head[0]) if document.content is Content.JSON else {}
    if "eval" in value and ("samples" in value or "status" in value or "plan" in value):
        return None
    if {"id", "epoch"} <= value.keys() and ("events" in value or "messages" in value):
        return None
    return "no object with 'eval' and 'samples', and no sample with 'id' and 'epoch'"


def refuse_atif(document: Document) -> str | None:
    """Why `document` is not of the format atif; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    if any(is_atif_trajectory(value) for head in document.head for value in (items(head)[:1] or [head])):
        return None
    return "no object with 'schema_version' ATIF, and none with 'steps' that have a 'source'"


def is_atif_trajectory(value: object) -> bool:
    """True if this is a trajectory."""
    if not isinstance(value, dict):
        return False
    if (text(value.get("schema_version")) or "").upper().startswith("ATIF"):
        return True
    steps = items(value.get("steps"))
    return bool(steps) and isinstance(steps[0], dict) and {"step_id", "source"} <= steps[0].keys()
