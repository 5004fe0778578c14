"""Objects of the SDKs of model providers, for answers that no model gave."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any

# The clients put them on what they return, and helpers of theirs read them.
_OF_THE_ANSWER = ("_request_id", "_workspace_id")


class PlainObject(SimpleNamespace):
    """Object with the same attributes, if the SDK is not installed: the client only offers its methods."""

    def model_dump(self) -> dict[str, Any]:
        """Returns the object as plain data."""
        plain: dict[str, Any] = json.loads(json.dumps(self, default=vars))
        return plain


def sdk_object(module: str, name: str, data: Mapping[str, Any]) -> Any:
    """Returns an object of an SDK, or one with its attributes.

    Args:
        module: The module of its class.
        data: Its fields, as plain data.

    >>> sdk_object("no_such_sdk", "Answer", {"content": [{"text": "It ends here."}]}).content[0].text
    'It ends here.'
    """
    try:
        kind = getattr(import_module(module), name)
    except ImportError:
        return json.loads(json.dumps(data), object_hook=lambda fields: PlainObject(**fields))
    answer = kind.model_validate(data)
    for private in _OF_THE_ANSWER:
        with suppress(AttributeError, ValueError):
            setattr(answer, private, None)
    return answer
