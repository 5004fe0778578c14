"""Kinds of advice: what each changes, and what the change would have saved in a session that is recorded.

Each kind has a setting whose effect is proven with the real agent: what it sends to its model afterwards is
what was promised. Two others were measured and left out. A server whose tools nobody calls costs 0.2 % of
what sessions read, since Claude Code names deferred tools and sends no definitions. Files read in slices cost
0.5 %, and nobody knows what a line of instructions does against it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ebbtide.advice.session_record import LongAnswer, SessionRecord
from ebbtide.advice.setting_file import value_in
from ebbtide.service.hooks.install.hook_places import PLACES
from ebbtide.traces.sessions.agent_homes import CodingAgent

#: Characters of the answer of a shell beyond which it is cut. Claude Code takes 4,000 to 128,000, and 30,000
#: where nothing is set; of a longer answer its model gets some 2,000 and the name of a file with all of it.
#: The saving is counted beyond the limit alone: what is cut may be asked for. Codex counts four characters a
#: token.
OUTPUT_LIMIT: Final = 8_000
_SHELLS: Final = {
    CodingAgent.CLAUDE: frozenset({"Bash"}),
    CodingAgent.CODEX: frozenset({"exec_command", "write_stdin", "shell", "shell_command"}),
}


class ReplayedSaving(NamedTuple):
    """An amount that a change would have saved in a session; below 0 where it costs more.

    Args:
        cost: Units; None where they are not known.
        tokens: Tokens that would not have been read, or read at another price.
    """

    cost: int | None
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """One setting of a coding agent.

    Args:
        in_project: Whether it holds for the project alone, so that other projects keep theirs.
        keys: The place of the setting in its file, from outside to inside.
        is_most: Whether a smaller number does the same.
    """

    agent: CodingAgent
    in_project: bool
    keys: tuple[str, ...]
    value: str | int
    is_most: bool = False

    @property
    def key(self) -> str:
        """The place of the setting in words, such as ``env.NAME``."""
        return ".".join(self.keys)

    def path(self, project: str | None) -> Path:
        """Returns the file that is changed.

        Args:
            project: The folder of the project; None for a setting that holds for all of them.
        """
        return self._paths(project)[0]

    def current(self, project: str | None) -> Any:
        """Returns the value that holds now, of whichever file says it; None where none does.

        Raises:
            ConfigError: A file cannot be read.
        """
        values = (value_in(path, self.keys) for path in self._paths(project))
        return next((value for value in values if value is not None), None)

    def is_met(self, current: Any) -> bool:
        """Returns True if a value does what the change would do."""
        if self.is_most and str(current).isdecimal():
            return int(str(current)) <= int(self.value)
        return bool(current == self.value)

    def _paths(self, project: str | None) -> list[Path]:
        """Returns the files of the setting, the one that is heard first in front."""
        place = PLACES[self.agent.value]
        if project is None:
            return [place.path(os.environ, None).with_name("config.toml")]
        folder = Path(project, place.folder)
        # The first is of one person in one project: what it holds is not for the others who work there.
        return [folder / "settings.local.json", folder / place.file, place.path(os.environ, None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceKind:
    """One kind of advice.

    Args:
        what: What the sessions show, in words.
        effect: What the change does and may cost, in words.
        replay: The saving of a session that ran without the change.
        realised: The saving of a session that ran with it; None where its record does not show that, so that
            the sessions before and after are compared.
        answers: The answers of tools that it is about; None where it is about none.
    """

    name: str
    change: SettingChange
    what: str
    effect: str
    replay: Callable[[SessionRecord], ReplayedSaving]
    realised: Callable[[SessionRecord], ReplayedSaving] | None = None
    answers: Callable[[SessionRecord], Iterator[LongAnswer]] | None = None


def _long_answers(record: SessionRecord, agent: CodingAgent) -> Iterator[LongAnswer]:
    tools = _SHELLS[agent]
    for answer in record.answers:
        if answer.tool in tools and answer.length > OUTPUT_LIMIT and not answer.has_failed:
            yield answer


def _beyond_limit(record: SessionRecord, agent: CodingAgent) -> ReplayedSaving:
    cost = tokens = 0
    for answer in _long_answers(record, agent):
        beyond = answer.length - OUTPUT_LIMIT
        cost += answer.cost * beyond // answer.length
        tokens += answer.tokens * beyond // answer.length
    return ReplayedSaving(None if record.cost is None else cost, tokens)


def _to_hour(record: SessionRecord) -> ReplayedSaving:
    # A session that writes for an hour already has nothing to change.
    return ReplayedSaving(record.hour if record.writes else 0, record.writes)


def _to_minutes(record: SessionRecord) -> ReplayedSaving:
    return ReplayedSaving(record.minutes if record.long_writes else 0, record.long_writes)


def _less(saving: ReplayedSaving) -> ReplayedSaving:
    return ReplayedSaving(None if saving.cost is None else -saving.cost, saving.tokens)


_LONG: Final = f"command results beyond {OUTPUT_LIMIT:,} characters are re-read by every later call"
_LIFETIME: Final = "promptCacheTtl"

KINDS: Final = {
    (kind.change.agent, kind.name): kind
    for kind in (
        AdviceKind(
            name="shell-output",
            change=SettingChange(
                agent=CodingAgent.CLAUDE,
                in_project=True,
                keys=("env", "BASH_MAX_OUTPUT_LENGTH"),
                value=str(OUTPUT_LIMIT),
                is_most=True,
            ),
            what=_LONG,
            effect=(
                "The agent gets the beginning of a longer result, and the name of a file with the "
                "whole result."
            ),
            replay=partial(_beyond_limit, agent=CodingAgent.CLAUDE),
            answers=partial(_long_answers, agent=CodingAgent.CLAUDE),
        ),
        AdviceKind(
            name="shell-output",
            change=SettingChange(
                agent=CodingAgent.CODEX,
                in_project=False,
                keys=("tool_output_token_limit",),
                value=OUTPUT_LIMIT // 4,
                is_most=True,
            ),
            what=_LONG,
            effect=(
                "The agent gets the beginning and the end of a longer result, and has to ask for the rest."
            ),
            replay=partial(_beyond_limit, agent=CodingAgent.CODEX),
            answers=partial(_long_answers, agent=CodingAgent.CODEX),
        ),
        AdviceKind(
            name="cache-hour",
            change=SettingChange(agent=CodingAgent.CLAUDE, in_project=True, keys=(_LIFETIME,), value="1h"),
            what="the cache lasts five minutes, and calls after longer pauses pay for their whole context",
            effect="The cache lasts an hour; cache writes cost more.",
            replay=_to_hour,
            realised=lambda record: _less(_to_minutes(record)),
        ),
        AdviceKind(
            name="cache-minutes",
            change=SettingChange(agent=CodingAgent.CLAUDE, in_project=True, keys=(_LIFETIME,), value="5m"),
            what="the cache lasts an hour, and there are too few pauses to justify its price",
            effect="The cache lasts five minutes; a call after a longer pause pays for its whole context.",
            replay=_to_minutes,
            realised=lambda record: _less(_to_hour(record)),
        ),
    )
}
