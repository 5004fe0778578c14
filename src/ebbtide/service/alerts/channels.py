"""The ways out: an address that takes JSON, such as a receiver of telemetry, and a command of the user's."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ebbtide.errors import EbbtideError
from ebbtide.service.alerts.alert import Alert
from ebbtide.service.alerts.alert_settings import AlertSettings

_WEBHOOK_S: Final = 10.0
_COMMAND_S: Final = 30.0
_AGAIN: Final = frozenset({408, 425, 429})


class AlertError(EbbtideError):
    """An alert was not delivered.

    Args:
        is_final: Whether trying again is of no use.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        self.is_final = is_final
        super().__init__(message)


class Channel(NamedTuple):
    """One way out."""

    name: str
    form: Callable[[Alert], dict[str, Any]]
    send: Callable[[dict[str, Any]], None]


def channels_of(settings: AlertSettings) -> tuple[Channel, ...]:
    """Returns the ways out that are set."""
    channels = []
    if settings.url is not None:
        channels.append(Channel("url", Alert.message, partial(post, settings.url)))
    if settings.command is not None:
        channels.append(Channel("command", Alert.to_dict, partial(run_command, settings.command)))
    if settings.otlp is not None:
        export = partial(post, traces_url(settings.otlp), headers=otlp_headers(os.environ))
        channels.append(Channel("otlp", Alert.evaluation, export))
    return tuple(channels)


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """A webhook that moved is named, not followed to somebody else."""


def post(url: str, message: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> None:
    """Send a message to a webhook, or to a receiver of telemetry.

    Raises:
        AlertError: It did not take it.
    """
    request = Request(  # noqa: S310 - the settings allow http and https alone
        url, json.dumps(message).encode(), {**(headers or {}), "Content-Type": "application/json"}
    )
    try:
        with build_opener(_NoRedirect).open(request, timeout=_WEBHOOK_S) as answer:
            answer.read(1000)
    except HTTPError as error:
        error.close()
        is_final = error.code < 500 and error.code not in _AGAIN
        raise AlertError(f"the webhook answers {error.code}", is_final=is_final) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise AlertError(f"the webhook cannot be reached: {type(error).__name__}") from error


def traces_url(base: str) -> str:
    """Returns the address for traces of a receiver.

    >>> traces_url("http://localhost:4318"), traces_url("https://langfuse.example/api/public/otel/v1/traces")
    ('http://localhost:4318/v1/traces', 'https://langfuse.example/api/public/otel/v1/traces')
    """
    base = base.rstrip("/")
    return base if urlsplit(base).path.endswith("/v1/traces") else f"{base}/v1/traces"


def otlp_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers that a receiver wants, from the variable that exporters read them from.

    >>> otlp_headers({"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20YTpi,x-team=agents"})
    {'Authorization': 'Basic YTpi', 'x-team': 'agents'}
    """
    pairs = environment.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",")
    named = (pair.partition("=") for pair in pairs)
    return {name.strip(): unquote(value.strip()) for name, sign, value in named if sign and name.strip()}


def run_command(command: str, alert: Mapping[str, Any], *, timeout_s: float = _COMMAND_S) -> None:
    """Run a command line, with the alert as JSON on its standard input.

    What it prints goes where the errors of the service go.

    Raises:
        AlertError: It failed, or took too long and was ended with all that it had started.
    """
    try:
        process = subprocess.Popen(  # noqa: S602 - it is the user's own command line
            command, shell=True, stdin=subprocess.PIPE, stdout=2, start_new_session=True
        )
    except OSError as error:
        raise AlertError(f"the command does not start: {error.strerror or error}") from error
    with process:
        try:
            process.communicate(json.dumps(alert).encode(), timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise AlertError(f"the command took more than {timeout_s:g} s") from None
    if process.returncode:
        raise AlertError(f"the command ends with exit code {process.returncode}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
