"""What the model says in one call of Codex."""

from __future__ import annotations

from collections import deque

_TWINS = 50  # texts of messages that may come a second time


class OpenAnswer:
    """Its messages, as far as they were written down.

    Attributes:
        texts: Its messages.
        begun: Whether there is anything of it.
        acted: Whether results of its calls came already.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.begun = False
        self.acted = False
        self._once: deque[tuple[str, str]] = deque(maxlen=_TWINS)

    def is_twin(self, words: str, source: str) -> bool:
        """Whether the same message came from another source, as an event or as an item."""
        for message in self._once:
            if message[0] == words and message[1] != source:
                self._once.remove(message)
                return True
        self._once.append((words, source))
        return False

    def take(self) -> str:
        """Its text; another answer begins."""
        words = "\n\n".join(self.texts)
        self.texts, self.begun, self.acted = [], False, False
        return words
