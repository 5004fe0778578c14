"""How decisions can be written down."""

from __future__ import annotations

from enum import StrEnum


class FileFormat(StrEnum):
    """What is read."""

    JSON = "json"  #: complete, one document; or a list of rows with keys of its own
    JSONL = "jsonl"  #: likewise, one decision a line
    CSV = "csv"
    RELAY = "relay"  #: events of coding agents
    JSON_ADR = "json-adr"
    MADR = "madr"  #: markdown, one record a page; Nygard's records as well


class WriteFormat(StrEnum):
    """What is written."""

    MADR = "madr"  #: a folder of numbered pages
    NYGARD = "nygard"  #: likewise, shorter
    JSON = "json"
    JSONL = "jsonl"
    JSON_ADR = "json-adr"
