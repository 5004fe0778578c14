"""Checks every request: who may ask, from where, how much and how often."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ebbtide.bounded import Bounded
from ebbtide.service.web.problems import ProblemError
from ebbtide.service.web.service_settings import ServiceSettings
from ebbtide.service.web.sign_in import LARGEST_FORM, SIGN_IN, has_token, is_page, token_in_address, way_in

_OPEN: Final = ("/healthz", SIGN_IN, "/page/")  # that say nothing of any run
_BURST_S: Final = 5.0  # of the rate that a caller may save up
_MOST_CALLERS: Final = 10_000
_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


class RequestGate:
    """Refuses what is not for the app behind it."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app = app
        self._settings = settings
        self._buckets: Bounded[str, tuple[float, float]] = Bounded(_MOST_CALLERS)  # what is left, and when

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As every ASGI app."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._check(scope)
        except ProblemError as problem:
            answer, token = problem.response(), self._settings.token
            if problem.status == HTTPStatus.UNAUTHORIZED and token is not None and is_page(scope):
                answer = way_in(scope, token)
            await answer(scope, receive, send_with_headers)
            return
        await self._app(scope, self._bounded(receive, self._largest(scope)), send_with_headers)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._settings.answers_to(_name(host)):
            raise ProblemError(
                421, f"{host!r:.80}: the service has another name", where="Host",
                hint="Call it by its address, or start it with --allow-host.",
            )  # fmt: skip
        origin = headers.get("origin")
        is_foreign = headers.get("sec-fetch-site") == "cross-site" and scope["method"] not in ("GET", "HEAD")
        if is_foreign or (origin is not None and urlsplit(origin).netloc != host):
            raise ProblemError(403, f"{origin!r:.80}: a page of another site asks", where="Origin")
        if self._settings.token is not None and not scope["path"].startswith(_OPEN):
            if not has_token(scope, self._settings.token):
                raise ProblemError(
                    401, "The token is missing or wrong.", where="Authorization",
                    hint="Send `Authorization: Bearer TOKEN`.",
                )  # fmt: skip
            if is_page(scope) and token_in_address(scope) is not None:
                raise ProblemError(401, "The token is no part of the address.")
        self._check_rate((scope.get("client") or ("",))[0])
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:18]) > self._largest(scope):
            raise self._too_large(self._largest(scope))

    def _largest(self, scope: Scope) -> int:
        """Bytes of a body: of somebody who has not signed in yet, as many as a form needs."""
        is_open = scope["path"].startswith(_OPEN)
        return LARGEST_FORM if is_open else self._settings.largest_body

    def _check_rate(self, caller: str) -> None:
        now, rate = time.monotonic(), self._settings.rate
        rest, since = self._buckets.pop(caller, (rate * _BURST_S, now))
        rest = min(rate * _BURST_S, rest + (now - since) * rate) - 1
        self._buckets[caller] = (max(rest, 0.0), now)
        if rest < 0:
            raise ProblemError(
                429,
                f"More than {rate:,.0f} requests a second.",
                hint="Send several events in one.",
                retry_s=1,
            )

    def _bounded(self, receive: Receive, largest: int) -> Receive:
        """`receive`, for a body of bounded size that comes in bounded time."""
        size, is_whole = 0, False
        deadline = time.monotonic() + self._settings.body_s

        async def receive_bounded() -> Message:
            nonlocal size, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    message = await receive()
            except TimeoutError:
                raise ProblemError(
                    408, f"The body took more than {self._settings.body_s:g} s.", closes=True
                ) from None
            size += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if size > largest:
                raise self._too_large(largest)
            return message

        return receive_bounded

    @staticmethod
    def _too_large(largest: int) -> ProblemError:
        most = f"{largest >> 20} MB" if largest >> 20 else f"{largest >> 10} KB"
        return ProblemError(413, f"The body has more than {most}.", hint="Send it in parts.", closes=True)


def _name(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
