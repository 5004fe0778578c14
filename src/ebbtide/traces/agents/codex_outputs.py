"""Outputs of the calls that Codex makes."""

from __future__ import annotations

import re
from contextlib import suppress

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.records.fields import mapping, shown

_HEADED = ("Command: ", "Chunk ID: ", "Exit code: ", "Wall time: ", "Script ")
_HEADER_ENDS = re.compile(
    r"^Wall time:? [\d.]+ seconds\n(?:(?:Process|Original|Total|Warning)[^\n]*\n)*Output:\n*",
    re.MULTILINE,
)
_MOST_HEADERS = 2  # a tool inside a tool writes one too
_EXIT_CODE = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)$", re.MULTILINE)
# What stands for the output of a call that was not carried out.
_REFUSED = re.compile(
    r"\s*(?:Wall time: [\d.]+ seconds\n)?(?:Script error:|unsupported (?:custom tool )?call"
    r"|apply_patch verification failed|failed to parse|exec_command failed|execution error|error:"
    r"|exec command rejected|patch rejected|aborted by user)"
)


def outcome(output: object) -> tuple[object, bool | None]:
    r"""What an output says: a text where it is one, and whether the call failed; None where it does not tell.

    The header with the id and the time of the output is left out: equal outputs are equal.

    >>> outcome("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno such file")
    ('no such file', True)
    """
    failed: bool | None = None
    if isinstance(output, str) and output.startswith('{"output"'):
        with suppress(TranscriptError):
            output = json_value(output)
    if isinstance(output, dict):
        code = mapping(output.get("metadata")).get("exit_code")
        failed = code != 0 if isinstance(code, int) else None
        if output.get("success") is False:
            failed = True
        output = next((output[key] for key in ("output", "content", "body") if key in output), output)
    output = shown(output)
    if not isinstance(output, str):
        return output, failed
    for _ in range(_MOST_HEADERS):
        if not output.startswith(_HEADED) or (header := _HEADER_ENDS.search(output)) is None:
            break
        if match := _EXIT_CODE.search(output[: header.end()]):
            failed = match[1] != "0"
        output = output[header.end() :]
    if failed is None and _REFUSED.match(output):
        failed = True
    return output, failed
