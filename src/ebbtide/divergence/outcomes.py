"""What the calls of one chain lead to: the rules that look at outcomes and not at equality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.divergence.detectors.near_duplicates import argument_text
from ebbtide.divergence.detectors.readback import ReadBack
from ebbtide.divergence.detectors.recurrence import AttemptRow, Recurrences
from ebbtide.divergence.detectors.stagnation import Stagnation
from ebbtide.divergence.detectors.undone import Undone
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.events.effect import Effect
from ebbtide.events.identity import Key
from ebbtide.events.outcome import CallOutcome, Ending
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules


class Outcomes:
    """Attempts that end alike, answers without a new word, and changes that do not show or are undone.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("read_back", "recurrences", "stagnation", "undone")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self.recurrences = Recurrences(rules, registry)
        self.stagnation = Stagnation(rules, registry)
        self.read_back = ReadBack(rules, registry)
        self.undone = Undone(rules, registry)

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.recurrences.reset()
        self.stagnation.reset()
        self.read_back.reset()
        self.undone.reset()

    def see(  # noqa: PLR0917
        self,
        tool: str,
        key: Key,
        answer: Key,
        args: object,
        text: str,
        outcome: CallOutcome | None,
        policy: ToolPolicy | None,
        effect: Effect | None,
        now: int,
        event: int,
        *,
        failed: bool,
        times: int,
    ) -> Finding | None:
        """Take a call whose answer is known, and say what it shows.

        Args:
            tool: Its name.
            key: Key of the call.
            answer: Key of the answer.
            args: Its arguments.
            text: Its answer.
            outcome: What the answer says of how it ended.
            policy: What is declared about the tool.
            effect: What the call does.
            now: Place among the counted calls.
            event: Number of the event.
            failed: Whether it failed.
            times: Times that it gave this answer; 0 where it came for the first time.
        """
        arguments = argument_text(args)
        if effect is Effect.ACKNOWLEDGE:
            finding = self.stagnation.think(tool, arguments, now, event)
        else:
            finding = self.stagnation.see(
                tool,
                key,
                arguments,
                text,
                effect,
                is_empty=outcome is not None and outcome.ending is Ending.EMPTY,
                is_failed=failed,
                is_repeat=times > 1,
                now=now,
                event=event,
            )
            if self.stagnation.has_found:
                self.recurrences.found()
        head = tool if policy is None else policy.head(tool, args)
        if outcome is None:
            self.recurrences.succeeded(head)
        else:
            recurrence = self.recurrences.see(tool, head, args, outcome, now, event)
            finding = finding or recurrence
        if failed:
            return finding
        if effect is Effect.CHANGE:
            undone = self.undone.change(tool, key, args, now, event)
            finding = finding or undone
            self.read_back.change(args)
        elif effect is not Effect.ACKNOWLEDGE and (policy is None or not policy.is_command(args)):
            if effect is not Effect.READ:
                self.read_back.change(args)
            if times:
                unseen = self.read_back.look(tool, key, args, answer, now, event)
                finding = finding or unseen
        return finding

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on."""
        return {
            "attempts": [[head, attempts.to_state()] for head, attempts in self.recurrences.heads.items()],
            "stagnation": self.stagnation.to_state(),
            "read_back": self.read_back.to_state(),
            "undone": self.undone.to_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.recurrences.heads = {head: AttemptRow.restored(attempts) for head, attempts in state["attempts"]}
        self.stagnation.restore(state["stagnation"])
        self.read_back.restore(state["read_back"])
        self.undone.restore(state["undone"])
