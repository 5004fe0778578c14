"""Calls that a file inherits: they stand in it, and another file owns them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebbtide.budget.ledger.call_ledger import CallPlace, CountedCall
from ebbtide.budget.ledger.call_price import StatedTotals
from ebbtide.events.model_call_id import CallId, Prompt, prompt_of

# For types alone: the sum of money does not need the class of events.
if TYPE_CHECKING:
    from ebbtide.events.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedCalls:
    """Calls in a file that another file owns.

    Args:
        calls: Their identities, each with the sizes of its prompt: a masked id is that of many calls.
        owner: The file that owns most of them, as the one that a copy or a fork comes from; None where they
            are the last calls of sub-agents alone, which those have in files of their own.
        is_absent: Whether the owner is a thread that a fork of it names, and none of the files.
        is_stated_elsewhere: Whether what it states of its sessions stands in another file too, which counts.
    """

    calls: frozenset[tuple[CallId, Prompt]]
    owner: str | None
    is_absent: bool = False
    is_stated_elsewhere: bool = False

    def has(self, event: Event) -> bool:
        """Returns True if an event carries the usage of one of these calls."""
        return (
            event.call is not None
            and event.usage is not None
            and (event.call, prompt_of(event.usage)) in self.calls
        )


def inherited_in(
    calls: Iterable[CountedCall],
    absent: Iterable[CountedCall],
    name: Callable[[CallPlace], str],
    stated: StatedTotals,
) -> dict[str, InheritedCalls]:
    """Returns the inherited calls by the name of the file; one that inherits nothing is left out.

    Args:
        calls: All calls of the files, each once. Those that stand in one place alone may be left out.
        absent: Those that forks replay, and whose own thread is none of the files.
        stated: What the files state of their sessions.
    """
    found: dict[str, set[tuple[CallId, Prompt]]] = {}
    owners: dict[str, Counter[str]] = {}
    for call in calls:
        prompt = prompt_of(call.usage)
        for place in call.copies:
            found.setdefault(name(place), set()).add((call.id, prompt))
            owners.setdefault(name(place), Counter())[name(call.owner)] += 1
        for place in call.stated_in:
            # The last call of a sub-agent, which its own file has too.
            if place.path != call.owner.path:
                result = CallId.at(f"agent {call.agent}", prompt)
                found.setdefault(name(place), set()).add((result, prompt))
    forks: set[str] = set()
    for call in absent:
        for place in (call.owner, *call.copies):
            found.setdefault(name(place), set()).add((call.id, prompt_of(call.usage)))
            forks.add(name(place))
    elsewhere = set(map(name, stated.elsewhere())) - set(map(name, stated.by_place()))
    found.update((run, set()) for run in elsewhere - found.keys())
    return {
        run: InheritedCalls(
            calls=frozenset(names),
            owner=owners[run].most_common(1)[0][0] if run in owners else None,
            is_absent=run in forks and run not in owners,
            is_stated_elsewhere=run in elsewhere,
        )
        for run, names in found.items()
    }
