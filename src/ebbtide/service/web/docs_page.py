"""The page that lists what the API has, made from its OpenAPI document: nothing is fetched from elsewhere."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ebbtide.report.markup import Markup, element
from ebbtide.service.web.page_files import PAGE_POLICY

router = APIRouter(include_in_schema=False)


@router.get("/docs", response_class=HTMLResponse)
async def docs(request: Request) -> Response:
    """Serves the list of all requests, their parameters and what they do."""
    document: dict[str, Any] = request.app.openapi()
    requests = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "Ebbtide: the API"),
        *(element("link", rel="stylesheet", href=f"/page/{name}") for name in ("page.css", "service.css")),
    )
    main = element(
        "main",
        element("h1", "The API of Ebbtide"),
        element("p", element("a", "The OpenAPI document", href="/openapi.json"), " has all shapes."),
        *(_request(name, operation) for name, operation in requests),
    )
    html = f"<!DOCTYPE html>\n{element('html', head, element('body', main), lang='en')}\n"
    return HTMLResponse(html, headers={"Content-Security-Policy": PAGE_POLICY})


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
