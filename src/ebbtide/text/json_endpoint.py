"""URL that takes JSON by POST, with a time-out, and attempts again if that may help."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ebbtide.checks import whole
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.text.optional_library import library

if TYPE_CHECKING:
    import httpx2
    import tenacity

_LONGEST_WAIT_S = 60.0
_SHOWN = 200  # characters of a reply in a message


class JsonEndpoint:
    """Endpoint for ``POST {base_url}/{path}``.

    Time-outs, refused connections and the statuses 408, 429 and 5xx are tried again: after the seconds that
    the reply's ``Retry-After`` asks for, else after a wait that doubles each time. Redirects are not
    followed, so that texts and the key go nowhere else.

    Args:
        base_url: Base, such as ``https://api.openai.com/v1`` or ``http://localhost:11434/v1``.
        path: Path behind the base.
        name: Name of the endpoint in messages.
        api_key_env: Environment variable with the key; no key is sent if it is not set.
        timeout_s: Seconds of silence after which a request has failed.
        attempts: Times that a request is sent, 1 or more.
        first_wait_s: Seconds before the second attempt.

    Raises:
        ConfigError: An argument cannot be used.
        SemanticError: A library is missing.
    """

    def __init__(
        self,
        base_url: str,
        path: str,
        *,
        name: str,
        api_key_env: str,
        timeout_s: float,
        attempts: int,
        first_wait_s: float,
    ) -> None:
        for module in ("httpx2", "tenacity"):
            library(module)
        whole("attempts", attempts, 1)
        self._url = f"{_checked_url(base_url)}/{path}"
        self._name = name
        self._api_key_env = api_key_env
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._first_wait_s = first_wait_s

    @contextmanager
    def connected(self) -> Iterator[Callable[[Mapping[str, Any]], httpx2.Response]]:
        """Yields a function that posts one object over a connection that stays open, and returns a success.

        Raises:
            ConfigError: The key cannot be sent.
            SemanticError: The endpoint did not answer, or refused; raised by the function.
        """
        import httpx2
        import tenacity

        ask = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_PassingError),
            stop=tenacity.stop_after_attempt(self._attempts),
            wait=self._wait_s,
            reraise=True,
        )
        with httpx2.Client(headers=self._headers(), timeout=self._timeout_s) as client:
            yield partial(ask, self._ask, client)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._api_key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(
                f"the environment variable {self._api_key_env} holds no key: expected plain ASCII"
            )
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _wait_s(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _PassingError) and error.wait_s is not None:
            return error.wait_s
        return min(self._first_wait_s * 2.0 ** (state.attempt_number - 1), _LONGEST_WAIT_S)

    def _ask(self, client: httpx2.Client, payload: Mapping[str, Any]) -> httpx2.Response:
        import httpx2

        try:
            reply = client.post(self._url, json=payload)
        except httpx2.TimeoutException as error:
            raise _PassingError(f"{self._name}: no answer within {self._timeout_s:g} s") from error
        except httpx2.HTTPError as error:
            raise _PassingError(f"{self._name}: cannot be reached ({error}): is it running?") from error
        if reply.is_success:
            return reply
        problem = f"{self._name}: status {reply.status_code}: {shown(reply.text)}"
        if reply.status_code in (401, 403):
            problem += f"; the key is taken from the environment variable {self._api_key_env}"
        if reply.status_code not in (408, 429) and not reply.is_server_error:
            raise SemanticError(problem)
        wait_s = _retry_after(reply.headers.get("Retry-After", ""))
        if wait_s is not None and wait_s > _LONGEST_WAIT_S:
            raise SemanticError(f"{problem}; it asks to wait {wait_s:g} s")
        raise _PassingError(problem, wait_s)


def shown(text: str) -> str:
    """Returns the beginning of a reply, on one line and in quotes, for a message."""
    line = " ".join(text[: 2 * _SHOWN].split())
    return f"{line[:_SHOWN]!r}"


class _PassingError(SemanticError):
    """Failure that may be over by the next attempt."""

    def __init__(self, what: str, wait_s: float | None = None) -> None:
        super().__init__(what)
        self.wait_s = wait_s


def _checked_url(text: str) -> str:
    import httpx2

    expected = f"endpoint {text!r}: expected a URL such as http://localhost:11434/v1"
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise ConfigError(f"{expected}: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(expected)
    if url.userinfo or url.query:
        raise ConfigError(f"{expected}, without a name, password or query: those would end up in results")
    return text.rstrip("/")


def _retry_after(header: str) -> float | None:
    """Returns the seconds that the header names; None if it names none, or a date."""
    try:
        seconds = float(header)
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
