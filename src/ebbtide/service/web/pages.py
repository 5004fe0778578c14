"""The pages of the service: the live ones, with files that the report has too, and that of the API."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ebbtide.report.markup import Markup, element
from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service import RunId

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {"Content-Security-Policy": PAGE_POLICY}
_SHARED: Final = frozenset({"page.css", "overview.css", "palette.js"})
_OWN: Final = frozenset({
    "service.css", "icon.svg", "api.js", "words.js", "acts.js", "now.js", "money.js", "runs.js", "main.js",
    "run.js",
})  # fmt: skip
_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

router = APIRouter(include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
async def overview() -> Response:
    """Serves the page with the stuck runs, the spending and all runs."""
    return HTMLResponse(_file_text("index.html"), headers=_HEADERS)


@router.get("/runs/{run_id}", response_class=HTMLResponse)
async def one_run(run_id: RunId) -> Response:
    """Serves the page of one run, with its report."""
    del run_id  # the script takes it from the address
    return HTMLResponse(_file_text("run.html"), headers=_HEADERS)


@router.get("/page/{name}")
async def asset(name: str) -> Response:
    """Serves a style or a script of the page."""
    if name not in _SHARED and name not in _OWN:
        raise ProblemError(404, f"{name!r:.80}: no such file of the page")
    media_type = f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
    return Response(_file_text(name), media_type=media_type, headers={"Cache-Control": "no-cache"})


@router.get("/docs", response_class=HTMLResponse)
async def docs(request: Request) -> Response:
    """Serves the list of all requests, their parameters and what they do."""
    document: dict[str, Any] = request.app.openapi()
    requests = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    html = plain_page(
        "Ebbtide: the API",
        element("h1", "The API of Ebbtide"),
        element("p", element("a", "The OpenAPI document", href="/openapi.json"), " has all shapes."),
        *(_request(name, operation) for name, operation in requests),
    )
    return HTMLResponse(html, headers=_HEADERS)


def plain_page(title: str, *content: Markup) -> str:
    """Returns the HTML of a page without scripts."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        *(element("link", rel="stylesheet", href=f"/page/{name}") for name in ("page.css", "service.css")),
    )
    body = element("body", element("main", *content))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _request(name: str, operation: dict[str, Any]) -> Markup:
    parameters = [
        element("li", element("code", row["name"]), f" ({row['in']}) {row.get('description', '')}")
        for row in operation.get("parameters", [])
    ]
    return element(
        "section",
        element("h2", name),
        element("p", operation.get("description") or operation.get("summary", "")),
        element("ul", *parameters) if parameters else None,
    )


@cache
def _file_text(name: str) -> str:
    folder = (
        resources.files("ebbtide.report") / "assets"
        if name in _SHARED
        else resources.files("ebbtide.service.web") / "page"
    )
    return (folder / name).read_text(encoding="utf-8")
