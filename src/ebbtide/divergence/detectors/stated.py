"""Actions that agents tell of and nobody recorded: steps that lead nowhere new, orders that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbtide.divergence.chain_memory import ChainMemory, Detector
from ebbtide.divergence.detectors.speech import may_tell
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.event import Event, ModelCall

if TYPE_CHECKING:
    from ebbtide.divergence.detectors.stated_calls import StatedCalls


class Stated(Detector):
    """Reads what agents say of their actions, from the first on that states one or is given an order."""

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self.calls: StatedCalls | None = None

    def reset(self) -> None:
        """Another task, or another run."""
        if self.calls is not None:
            self.calls.reset()

    def see(self, moment: Moment) -> Finding | None:
        """Take what an agent says."""
        event = moment.event
        if not isinstance(event, ModelCall):
            return None
        if self.calls is None and not (self._rules.stated_actions and may_tell(event.text, event.agent)):
            return None
        return self._hear().see(event, moment)

    def _hear(self) -> StatedCalls:
        if self.calls is None:
            from ebbtide.divergence.detectors.stated_calls import StatedCalls  # hardly any run needs it

            self.calls = StatedCalls(self._memory)
        return self.calls

    def to_state(self) -> dict[str, Any] | None:
        """All that later findings depend on; None where no agent stated anything."""
        return None if self.calls is None else self.calls.to_state()

    def restore(self, state: dict[str, Any] | None) -> None:
        """Take up what `to_state` gave."""
        if state is not None:
            self._hear().restore(state)


def known_ground(number: int) -> Event:
    """An event of a run that opens one item of a shop after the other."""
    page = f"[Shop](https://shop.example/{number})"
    return ModelCall(text=f"I clicked 'Item {number}'.\n\nHere is a screenshot of {page}.")


def known_order(number: int) -> Event:
    """An event of a run in which one agent gives another nearly the same order."""
    if number % 2:
        page = "[Shop](https://shop.example/1)"
        return ModelCall(text=f"I clicked 'Item 1'.\n\nHere is a screenshot of {page}.", agent="surfer")
    return ModelCall(text=f"Please open the item with the number {number}.", agent="lead (-> surfer)")
