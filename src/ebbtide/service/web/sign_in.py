"""Takes the token of a person who opens the page: in the address, or in a form. A cookie keeps it."""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from ebbtide.report.markup import element
from ebbtide.service.web.pages import PAGE_POLICY, plain_page

router = APIRouter(include_in_schema=False)

SIGN_IN: Final = "/sign-in"
LARGEST_FORM: Final = 4096  # bytes, of a token and the place to go on

_FIELD: Final = "token"
_KEPT_S: Final = 30 * 86_400
# A form of a page without a referrer comes without an origin too.
_HEADERS: Final = {"Content-Security-Policy": PAGE_POLICY, "Referrer-Policy": "same-origin"}


def fits(words: str, token: str) -> bool:
    """Returns True if somebody gave the token; it takes as long for one that is nearly right."""
    return hmac.compare_digest(words.strip().encode("utf-8", "replace"), token.encode())


def is_page(scope: Scope) -> bool:
    """Returns True if a person opens a page."""
    path: str = scope["path"]
    return scope["method"] == "GET" and (path in ("/", "/docs") or path.startswith("/runs/"))


def token_in_address(scope: Scope) -> str | None:
    """The token that an address has; None where it has none."""
    values = parse_qs(scope["query_string"].decode("latin-1")).get(_FIELD)
    return values[0] if values else None


def has_token(scope: Scope, token: str) -> bool:
    """Returns True if a request has the token, or the cookie of somebody who had it."""
    headers = Headers(scope=scope)
    scheme, _, words = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return fits(words, token)
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(scope))
    except CookieError:
        return False
    return cookie is not None and fits(cookie.value, session_of(token))


def way_in(scope: Scope, token: str) -> Response:
    """The answer to a person without a cookie: with the token in the address the page, else a form."""
    words = token_in_address(scope)
    pairs = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != _FIELD]
    place = f"{scope['path']}?{urlencode(pairs)}" if pairs else scope["path"]
    if words is not None and fits(words, token):
        return _signed_in(place, token, scope)
    return _sign_in_page(place, is_wrong=words is not None)


def _cookie_name(scope: Scope) -> str:
    """The name of the cookie: browsers send one to every port of a host, so it names its port."""
    port = urlsplit(f"//{Headers(scope=scope).get('host', '')}").netloc.rpartition(":")[2]
    return f"ebbtide_session_{port if port.isdecimal() else '443' if _is_safe(scope) else '80'}"


def _is_safe(scope: Scope) -> bool:
    return Headers(scope=scope).get("x-forwarded-proto", scope.get("scheme", "http")) == "https"


def session_of(token: str) -> str:
    """Returns the value of the cookie: it shows that its sender knew the token, and is no token."""
    return hmac.new(token.encode(), b"ebbtide session", "sha256").hexdigest()


def _signed_in(place: str, token: str, scope: Scope) -> Response:
    """The way to a page, with the cookie."""
    answer = RedirectResponse(place, status_code=303)
    answer.set_cookie(
        _cookie_name(scope),
        session_of(token),
        max_age=_KEPT_S,
        httponly=True,
        samesite="strict",
        secure=_is_safe(scope),
    )
    return answer


def _sign_in_page(place: str, *, is_wrong: bool) -> Response:
    """The page that asks for the token.

    Args:
        is_wrong: Whether one was given that is not right.
    """
    why = "That is not the token. Try again." if is_wrong else "This service asks for its token."
    form = element(
        "form",
        element("p", why, id="why", role="alert" if is_wrong else None),
        element("label", "Token", for_="token"),
        element(
            "input", id="token", name=_FIELD, type="password", required=True, autofocus=True,
            autocomplete="current-password", aria_describedby="why",
        ),
        element("input", type="hidden", name="next", value=place),
        element("button", "Sign in", type="submit"),
        element("p", "`ebbtide serve` was started with it: --token, or EBBTIDE_TOKEN.", class_="quiet"),
        method="post",
        action=SIGN_IN,
        class_="sign-in",
    )  # fmt: skip
    html = plain_page("Ebbtide: sign in", element("h1", "Ebbtide"), form)
    return HTMLResponse(html, status_code=401, headers=_HEADERS)


@router.post(SIGN_IN)
async def sign_in(request: Request) -> Response:
    """Take the token of the form."""
    token = request.app.state.service.settings.token
    fields = parse_qs((await request.body()).decode("utf-8", "replace"))
    words, place = fields.get(_FIELD, [""])[0], fields.get("next", ["/"])[0]
    if not place.startswith("/") or place[1:2] in ("/", "\\"):
        place = "/"
    if token is None or fits(words, token):
        return RedirectResponse(place, 303) if token is None else _signed_in(place, token, request.scope)
    return _sign_in_page(place, is_wrong=True)
