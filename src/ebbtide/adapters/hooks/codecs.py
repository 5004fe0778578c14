"""The coding agents whose hooks are read, by the words for them on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ebbtide.adapters.hooks.claude import CLAUDE
from ebbtide.adapters.hooks.codex import CODEX
from ebbtide.adapters.hooks.copilot import COPILOT
from ebbtide.adapters.hooks.cursor import CURSOR
from ebbtide.adapters.hooks.gemini import GEMINI
from ebbtide.adapters.hooks.opencode import OPENCODE
from ebbtide.adapters.hooks.step import HookCodec

CODECS: Final[Mapping[str, HookCodec]] = {
    codec.name: codec for codec in (CLAUDE, CODEX, COPILOT, CURSOR, GEMINI, OPENCODE)
}
