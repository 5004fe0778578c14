"""What a round says, and who says it. It needs no gate: a run without words never loads one."""

from __future__ import annotations

from ebbtide.events.transcript import Round

_PERSONS = frozenset({"user", "human", "customer", "system", "developer"})


def said_in(item: Round) -> str:
    """The words of a round; of one that only lists decisions these, as a speaker would say them."""
    if item.text is not None:
        return item.text
    return "".join(f"Decision: {decision}\n\n" for decision in item.decisions)


def by_a_person(item: Round) -> bool:
    """Whether a round is a person's, or a developer's instructions: what they decide the agent did not."""
    return item.agent is not None and item.agent.lower() in _PERSONS
