"""The two halves of a record that holds a request of a model and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.traces.records.fields import from_json, mapping

_REQUESTS = ("request", "request_body", "kwargs", "params", "body")


RESPONSES = ("response", "response_body", "completion", "response_obj")


_CONTEXTS = ("messages", "input", "contents", "prompt")


def parts_of_exchange(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The request and the answer in a record of both; either may be empty."""
    request: Mapping[str, Any] = {}
    response: Mapping[str, Any] = {}
    for key in _REQUESTS:
        request = request or _body(value.get(key))
    for key in RESPONSES:
        answer = value.get(key)
        words = isinstance(answer, str) and from_json(answer) is answer
        response = response or ({"role": "assistant", "content": answer} if words else _body(answer))
    # A batch of Anthropic's states how each request went, around the answer.
    response = response or _body(mapping(value.get("result")).get("message"))
    if any(key in value for key in _CONTEXTS):
        request = request or value
    if any(key in value for key in ("choices", "candidates")) or isinstance(value.get("output"), list):
        response = response or value
    return request, response


def is_exchange(value: Any) -> bool:
    """True if this holds a request of a model and its answer."""
    if not isinstance(value, dict) or isinstance(value.get("role"), str):
        return False
    request, response = parts_of_exchange(value)
    if not any(key in request for key in _CONTEXTS):
        return False
    from ebbtide.traces.chats.message_shapes import messages_in

    failed = request is not value and bool(value.get("error") or response.get("error"))
    return failed or bool(response and messages_in(response, "assistant"))


def _body(value: Any) -> Mapping[str, Any]:
    record = mapping(from_json(value))
    return mapping(from_json(record.get("body"))) or record
