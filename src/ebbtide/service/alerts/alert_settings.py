"""The settings of alerts: the people who get them, and the runs that raise them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from ebbtide.errors import ConfigError
from ebbtide.settings_file import offer, read_settings

_KEYS: Final = ("url", "command", "otlp", "on", "page")


class AlertLevel(StrEnum):
    """Kinds of events that people are alerted to."""

    STOP = "stop"  #: a run is to be ended
    ESCALATE = "escalate"  #: a run waits for a person
    SILENT = "silent"  #: nothing was heard of a run for long
    BUDGET = "budget"  #: a limit or a budget is about to end a run
    END = "end"  #: a run is over


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """The channels of alerts, and the kinds that they carry.

    Args:
        url: A webhook that takes JSON as Slack's does; None for none.
        command: A command line for the shell, with the JSON on its standard input; None for none.
        otlp: A receiver of OpenTelemetry traces over HTTP, such as a collector; None for none.
        page: Where people open the page of the service, for links; None takes its own address.

    Raises:
        ConfigError: The URL is none.
    """

    url: str | None = None
    command: str | None = None
    otlp: str | None = None
    on: frozenset[AlertLevel] = frozenset({AlertLevel.STOP, AlertLevel.ESCALATE})
    page: str | None = None

    def __post_init__(self) -> None:
        for name, url in (("url", self.url), ("otlp", self.otlp), ("page", self.page)):
            if url is not None and (
                urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc
            ):
                # Whoever has the URL of a webhook can write to it: it is not shown.
                raise ConfigError(f"alerts.{name}: expected an address that begins with https:// or http://")

    @classmethod
    def read(cls, file: str | None, *, url: str | None = None, command: str | None = None) -> AlertSettings:
        """The settings in the table ``[alerts]`` of a file; arguments win over it.

        Raises:
            ConfigError: The file cannot be used.
        """
        settings = cls() if file is None else read_settings(file, _of_table)
        return replace(
            settings,
            url=settings.url if url is None else url,
            command=settings.command if command is None else command,
        )


def _of_table(table: Mapping[str, Any]) -> AlertSettings:
    inside = table.get("alerts", table)
    if not isinstance(inside, Mapping):
        raise ConfigError(f"alerts = {inside!r:.60}: expected a table")
    for key, value in inside.items():
        if key not in _KEYS:
            raise ConfigError(f"alerts.{key}: no such setting; {offer(key, _KEYS)}")
        if key != "on" and (not isinstance(value, str) or not value):
            raise ConfigError(f"alerts.{key}: expected a text")
    levels = inside.get("on", [AlertLevel.STOP, AlertLevel.ESCALATE])
    if not isinstance(levels, list) or not all(level in list(AlertLevel) for level in levels):
        raise ConfigError(f"alerts.on = {levels!r:.80}: expected some of {', '.join(AlertLevel)}")
    return AlertSettings(**{**inside, "on": frozenset(map(AlertLevel, levels))})
