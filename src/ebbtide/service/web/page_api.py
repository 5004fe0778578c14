"""The page: what is stuck now, what was spent, and all runs. Its scripts ask the API for everything."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ebbtide.service.web.page_files import PAGE_POLICY, file_text, page_file
from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service import RunId

router = APIRouter(include_in_schema=False)

_HEADERS: Final = {"Content-Security-Policy": PAGE_POLICY}


@router.get("/", response_class=HTMLResponse)
async def overview() -> Response:
    """What is stuck, what was spent, all runs."""
    return HTMLResponse(file_text("index.html"), headers=_HEADERS)


@router.get("/runs/{run_id}", response_class=HTMLResponse)
async def one_run(run_id: RunId) -> Response:
    """One run, with its report."""
    del run_id  # the script takes it from the address
    return HTMLResponse(file_text("run.html"), headers=_HEADERS)


@router.get("/page/{name}")
async def asset(name: str) -> Response:
    """A style or a script of the page."""
    file = page_file(name)
    if file is None:
        raise ProblemError(404, f"{name!r:.80}: no such file of the page")
    text, media_type = file
    return Response(text, media_type=media_type, headers={"Cache-Control": "no-cache"})
