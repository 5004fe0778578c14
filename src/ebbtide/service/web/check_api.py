"""A recorded run in, what it came to out."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request

from ebbtide.checking import check
from ebbtide.service.web.problems import PlainJson, ProblemError
from ebbtide.service.web.service import Heavy, Here
from ebbtide.supervision.run_options import RunOptions

router = APIRouter(tags=["recorded runs"])

_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "A trace in any format that `ebbtide formats` lists, compressed or not.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/v1/check", openapi_extra=_BODY)
async def check_trace(request: Request, here: Here, heavy: Heavy) -> PlainJson:
    """Check a recorded run, as `ebbtide check --json` does; nothing of it is kept."""
    body = await request.body()
    if not body:
        raise ProblemError(400, "The body is empty.", hint="Send the trace as the body.")
    options = RunOptions(redact=here.settings.redact)
    return PlainJson(await heavy(partial(_summary, body, options)))


def _summary(body: bytes, options: RunOptions) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="ebbtide-") as folder:
        path = Path(folder, "trace")
        path.write_bytes(body)
        summary = check(path, options).to_dict()
    return {**summary, "source": "request"}
