"""Errors as problem details (RFC 9457): what is wrong, where, and what to do."""

from __future__ import annotations

import json
import logging
from dataclasses import KW_ONLY, dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from ebbtide.database.group_writer import QueueFullError
from ebbtide.errors import EbbtideError, StoreError, TranscriptError, shown

_log = logging.getLogger(__name__)
_HINTS: Final = {
    404: "See /docs for what there is. The id of a run has no slash.",
    405: "See /docs for which methods there are.",
}


class Problem(BaseModel):
    """The reason why a request was refused, or failed."""

    type: str = Field("about:blank", description="Always `about:blank`: the status says it all.")
    title: str = Field(description="What is wrong, in general.", examples=["Bad Request"])
    status: int = Field(description="The status code again.", examples=[400])
    detail: str = Field(description="What is wrong here.", examples=["3: expected a text"])
    where: str | None = Field(None, description="The place in the request.", examples=["line 2, event.name"])
    hint: str | None = Field(None, description="What to do.", examples=["Send it again in a moment."])


class PlainJson(JSONResponse):
    """JSON in ASCII: texts of agents may hold what has no UTF-8 form."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, separators=(",", ":")).encode()


@dataclass(eq=False)
class ProblemError(Exception):
    """A request is answered with a problem.

    Args:
        retry_s: Seconds after which to try again; None where that is no use.
        closes: True if the connection is closed, since the rest of the request is not read.
        allow: The methods that there are, where that of the request is none of them.
    """

    status: int
    detail: str
    _: KW_ONLY
    where: str | None = None
    hint: str | None = None
    retry_s: int | None = None
    closes: bool = False
    allow: str | None = None

    def response(self) -> Response:
        """The answer."""
        headers = {} if self.allow is None else {"Allow": self.allow}
        if self.retry_s is not None:
            headers["Retry-After"] = str(self.retry_s)
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="ebbtide"'
        if self.closes:
            headers["Connection"] = "close"
        problem = Problem(
            type="about:blank",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.detail,
            where=self.where,
            hint=self.hint,
        )
        return PlainJson(
            problem.model_dump(exclude_none=True),
            status_code=self.status,
            headers=headers,
            media_type="application/problem+json",
        )


def problem_of(error: Exception) -> ProblemError:
    """The problem that an error stands for."""
    match error:
        case ProblemError():
            return error
        case QueueFullError():
            return ProblemError(429, str(error), hint="Send it again in a moment.", retry_s=1)
        case StoreError():
            _log.error("the database: %s", error)
            hint = "Nothing was taken. Send it again."
            if error.recorded is None:
                hint = "It may have been taken. Send it again: an event with a seq counts once."
            return ProblemError(503, str(error), hint=hint, retry_s=2)
        case TranscriptError():
            line = None if error.line is None else f"line {error.line}"
            where = ", ".join(part for part in (line, error.path) if part)
            return ProblemError(400, error.what, where=where or None, hint=error.hint)
        case EbbtideError():
            return ProblemError(400, str(error))
        case ClientDisconnect():
            return ProblemError(400, "The request was not sent to its end.", closes=True)
        case HTTPException():
            return ProblemError(error.status_code, str(error.detail), hint=_HINTS.get(error.status_code))
        case RequestValidationError():
            first = error.errors()[0]
            value = shown(first.get("input"), 60)
            return ProblemError(422, f"{value}: {first['msg']}", where=".".join(map(str, first["loc"])))
    _log.error("a fault of the service", exc_info=error)
    return ProblemError(500, "A fault of the service; its log says more.", hint="Please report it.")


async def _answer(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status == HTTPStatus.METHOD_NOT_ALLOWED:
        problem.allow = ", ".join(sorted(_methods(request)))
    return problem.response()


def _methods(request: Request) -> set[str]:
    """The methods of all routes with the path of a request."""
    return {
        method
        for route in request.app.state.routes
        if route.matches(request.scope)[0] is not Match.NONE
        for method in getattr(route, "methods", None) or ()
    }


def answer_with_problems(app: FastAPI) -> None:
    """Have every error of an app answered with a problem."""
    for kind in (
        ClientDisconnect,
        EbbtideError,
        ProblemError,
        HTTPException,
        RequestValidationError,
        Exception,
    ):
        app.add_exception_handler(kind, _answer)
