"""The files of the page: its own, and those that it shares with the report."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service import RunId

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

_SHARED: Final = frozenset({"page.css", "overview.css", "palette.js"})
_OWN: Final = frozenset({
    "service.css", "icon.svg", "api.js", "words.js", "acts.js", "now.js", "money.js", "runs.js", "main.js",
    "run.js",
})  # fmt: skip
_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "html": "text/html"}


def page_file(name: str) -> tuple[str, str] | None:
    """The text of a file, and its media type; None where there is none of this name."""
    if name not in _SHARED and name not in _OWN:
        return None
    return file_text(name), f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"


@cache
def file_text(name: str) -> str:
    """The text of a file that is there."""
    folder = (
        resources.files("ebbtide.report") / "assets"
        if name in _SHARED
        else resources.files("ebbtide.service.web") / "page"
    )
    return (folder / name).read_text(encoding="utf-8")


router = APIRouter(include_in_schema=False)

_HEADERS: Final = {"Content-Security-Policy": PAGE_POLICY}


@router.get("/", response_class=HTMLResponse)
async def overview() -> Response:
    """Serves the page with the stuck runs, the spending and all runs."""
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
