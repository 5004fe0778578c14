"""The settings that a service is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final

from ebbtide.errors import ConfigError
from ebbtide.service.alerts.alert_settings import AlertSettings

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SHORTEST_TOKEN: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The address of a service, the callers that it answers, and the requests that it takes.

    Args:
        port: Its port; 0 takes a free one.
        token: What a caller has to know; None asks nobody, and is for this machine alone.
        names: Further names under which it is called, such as that of a container.
        keep_days: Days after which a run that was not heard of is deleted; None keeps all.
        largest_body: Bytes of a request.
        body_s: Seconds that a request may take to come.
        rate: Requests a second of one caller, over some seconds.
        silent_after_s: Seconds without an event after which a run is called silent.
        idle_s: Seconds without a request after which it ends; None goes on.
        grpc_port: The port for exports of OpenTelemetry over gRPC; None takes none.
        span_wait_s: Seconds that an exported span waits for others of its trace.

    Raises:
        ConfigError: Somebody else could reach it without a token, or a number cannot be.
    """

    host: str = "127.0.0.1"
    port: int = 8620
    token: str | None = None
    names: tuple[str, ...] = ()
    redact: bool = True
    keep_days: float | None = 90.0
    largest_body: int = 16 << 20
    body_s: float = 30.0
    rate: float = 2000.0
    readers: int = 1000
    sessions: bool = True
    silent_after_s: float = 600.0
    idle_s: float | None = None
    grpc_port: int | None = None
    span_wait_s: float = 10.0
    alerts: AlertSettings = field(default_factory=AlertSettings)

    def __post_init__(self) -> None:
        if self.token is None and not self.is_loopback:
            raise ConfigError(
                f"--host {self.host}: others could reach the service there, and it has a Stop button. "
                "Give a --token, or leave --host out"
            )
        if self.token is not None and len(self.token) < _SHORTEST_TOKEN:
            raise ConfigError(
                f"--token: expected {_SHORTEST_TOKEN} characters or more, so that nobody guesses it"
            )

    @property
    def is_loopback(self) -> bool:
        """True if only this machine reaches it."""
        return self.host in LOOPBACK

    def answers_to(self, host: str) -> bool:
        """Returns True if a request that was sent to this host is for us.

        A page whose name resolves to this machine (DNS rebinding) comes with its own name. An address is no
        such name.
        """
        if host in LOOPBACK or host == self.host or host in self.names:
            return True
        try:
            ip_address(host)
        except ValueError:
            return False
        return not self.is_loopback
