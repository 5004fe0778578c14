"""Text that hands the decisions of a session back to a model whose context was compacted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ebbtide.clock import calendar_seconds
from ebbtide.events.identity import MARK
from ebbtide.events.usage import tokens_of_length
from ebbtide.report.plurals import count
from ebbtide.service.hooks.session_decisions import SessionDecision
from ebbtide.text.redaction import redact

MOST_TOKENS: Final = 400  #: of the text, by the estimate of `tokens_of_length`
_LONGEST: Final = 240  # characters of a decision
_HEAD: Final = (
    f"{MARK}Decisions of this session so far, by event; times are UTC. On one matter the latest word of the "
    "person counts. What is open was put forward and not answered."
)
_CUT: Final = "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedBack:
    """Decisions for a model, in one text.

    Args:
        text: A line for each decision; empty where there is none.
        given: Those that are in the text, the most important first.
    """

    text: str
    given: tuple[SessionDecision, ...]
    left_out: int

    @property
    def tokens(self) -> int:
        """Estimated tokens of the text."""
        return tokens_of_length(len(self.text))

    @property
    def message(self) -> str:
        """For the person: how much it is, and what it costs."""
        rest = f", {self.left_out} left out" if self.left_out else ""
        given = count(len(self.given), "decision")
        return f"{MARK}The model got {given} of this session back{rest}: about {count(self.tokens, 'token')}."


def hand_back(
    decisions: Sequence[SessionDecision], files: Collection[str] = (), *, most_tokens: int = MOST_TOKENS
) -> HandedBack:
    """Returns the decisions that matter most, as many as the tokens allow.

    Those of people come first, then those that were carried out, then open ones, then what an agent only
    said. Within each, those that name a file in sight come first, and then the newest.

    Args:
        files: Names of the files in sight, in lower case and without folders.
    """
    ranked = sorted(decisions, key=lambda each: (_rank(each), not _is_in_sight(each, files), -each.event))
    room = most_tokens - tokens_of_length(len(_text([], len(ranked))))
    given: list[SessionDecision] = []
    lines: list[str] = []
    for each in ranked:
        line = _line(each)
        tokens = tokens_of_length(len(line) + 1)
        if tokens <= room:
            room -= tokens
            given.append(each)
            lines.append(line)
    left_out = len(ranked) - len(given)
    return HandedBack(text=_text(lines, left_out) if given else "", given=tuple(given), left_out=left_out)


def _rank(each: SessionDecision) -> int:
    if each.by_person:
        return 0
    if each.carried_out or each.accepted:
        return 1
    return 2 if each.is_proposal else 3


def _is_in_sight(each: SessionDecision, files: Collection[str]) -> bool:
    return any(name.rpartition("/")[2] in files for name in each.names)


def _line(each: SessionDecision) -> str:
    words = redact(" ".join(each.text.split()))
    if len(words) > _LONGEST:
        words = words[: _LONGEST - len(_CUT)].rstrip() + _CUT
    ts = calendar_seconds(each.ts)
    when = "" if ts is None else f" {datetime.fromtimestamp(ts, UTC):%m-%d %H:%M}"
    who = "person" if each.by_person else "open" if each.is_proposal else "you"
    deed = f", carried out at event {each.carried_out}" if each.carried_out else ""
    return f"- event {each.event}{when}, {who}{deed}: {words}"


def _text(lines: Sequence[str], left_out: int) -> str:
    rest = [f"{left_out} more left out."] if left_out else []
    return "\n".join([_HEAD, *lines, *rest])
