"""The bill of a session as a tree: its own, and a line for each run that it started or that went on from it.

Each run has a share of its own, which no other has, so that a tree is the sum of its runs, and a machine the
sum of its trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ebbtide.budget.bill.bill import Amount, BillTree, ChildBill
from ebbtide.budget.tally import usd

_MATTERS: Final = 0.01  # of the tree
_DEAREST: Final = 5


class RunRole(StrEnum):
    """The place of a run beside the one that it comes from."""

    SESSION = "session"  #: of its own
    SUB_AGENT = "sub-agent"
    THREAD = "thread"
    CHILD = "child session"
    FORK = "fork"
    COPY = "copy"


@dataclass(slots=True, kw_only=True)
class RunNode:
    """A run, as far as its tree needs it.

    Args:
        key: What it is known by here: its file.
        id: Its id; None where it has none. Copies have one id.
        parent: The id of the run that started it; None for one of its own.
        began_from: The key of the run whose calls it goes on from.
        role: Its place beside the one that it comes from.
        cost: Units of its own share; None where they are not known.
        tokens: Of its own share.
        is_least: True where its own share is a lower bound.
        chains: Of that, what sub-agents took that are recorded in its file: units and tokens by their ids.
        tasks: The tasks of its sub-agents, by their ids.
        unrecorded: Calls of its sub-agents that its own file does not show, by their ids.
    """

    key: str
    id: str | None = None
    parent: str | None = None
    began_from: str | None = None
    role: RunRole = RunRole.SESSION
    name: str = ""
    cost: int | None = None
    tokens: int = 0
    is_least: bool = False
    chains: Mapping[str, tuple[int | None, int]] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    unrecorded: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Sum:
    cost: int | None = None
    tokens: int = 0
    runs: int = 0
    is_least: bool = False

    def add(self, cost: int | None, tokens: int, runs: int = 1, *, is_least: bool = False) -> None:
        if cost is not None:
            self.cost = cost + (self.cost or 0)
        self.tokens += tokens
        self.runs += runs
        self.is_least |= is_least


@dataclass(slots=True)
class _Child:
    run: str
    name: str
    role: RunRole
    sum: _Sum
    unrecorded: int = 0


def parents_of(nodes: Iterable[RunNode]) -> dict[str, str]:
    """Returns the run that each one comes from, by their keys, if it is among them; without circles."""
    nodes = list(nodes)
    by_id: dict[str, RunNode] = {}
    for node in sorted(nodes, key=lambda node: (node.began_from is not None, node.key)):
        if node.id is not None:
            by_id.setdefault(node.id, node)
    keys = {node.key for node in nodes}
    parents: dict[str, str] = {}
    for node in nodes:
        started_by = by_id.get(node.parent) if node.parent is not None else None
        parent = node.began_from if started_by is None else started_by.key
        above = parent
        while above is not None and above != node.key:
            above = parents.get(above)
        if parent is not None and parent in keys and above is None:
            parents[node.key] = parent
    return parents


def trees_of(nodes: Iterable[RunNode]) -> dict[str, BillTree]:
    """Returns the tree below each run that has one."""
    nodes = list(nodes)
    by_key = {node.key: node for node in nodes}
    parents = parents_of(nodes)
    below: dict[str, list[RunNode]] = {}
    for key, parent in parents.items():
        below.setdefault(parent, []).append(by_key[key])
    sums: dict[str, _Sum] = {}
    trees: dict[str, BillTree] = {}
    for node in _leaves_first(nodes, below):
        whole = sums[node.key] = _Sum()
        whole.add(node.cost, node.tokens, is_least=node.is_least)
        own = _Sum(node.cost, node.tokens, 1)
        children: dict[str, _Child] = {}
        agent = agent_of(node.id)
        for chain, (cost, tokens) in node.chains.items():
            if chain == agent:
                continue
            child = children[chain] = _Child(chain, node.tasks.get(chain, chain), RunRole.SUB_AGENT, _Sum())
            child.sum.add(cost, tokens)
            child.unrecorded = node.unrecorded.get(chain, 0)
            own.add(None if cost is None else -cost, -tokens, 0)
        for other in below.get(node.key, ()):
            part = sums[other.key]
            whole.add(part.cost, part.tokens, part.runs, is_least=part.is_least)
            name = agent_of(other.id) if other.role is RunRole.SUB_AGENT else other.key
            known = children.get(name)
            if known is None:
                role = _role(other, node)
                task = node.tasks.get(name, "")
                known = children[name] = _Child(other.id or other.key, task, role, _Sum())
            known.run, known.name = other.id or other.key, other.name or known.name
            known.unrecorded = 0
            known.sum.add(part.cost, part.tokens, part.runs)
        whole.is_least |= any(child.unrecorded for child in children.values())
        if children:
            trees[node.key] = _tree(whole, own, list(children.values()))
    return trees


def agent_of(run: str | None) -> str:
    """The id of the sub-agent whose run has this id, as the run that started it names it.

    >>> agent_of("agent-a1b2"), agent_of(None)
    ('a1b2', '')
    """
    return (run or "").rpartition("agent-")[2]


def _role(node: RunNode, parent: RunNode) -> RunRole:
    if node.role is not RunRole.SESSION:
        return node.role
    return RunRole.COPY if node.id is not None and node.id == parent.id else RunRole.FORK


def _leaves_first(nodes: Iterable[RunNode], below: Mapping[str, list[RunNode]]) -> list[RunNode]:
    ordered: list[RunNode] = []
    heads = {child.key for children in below.values() for child in children}
    waiting = [node for node in nodes if node.key not in heads]
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting += below.get(node.key, ())
    return ordered[::-1]


def _tree(whole: _Sum, own: _Sum, children: list[_Child]) -> BillTree:
    def amount(part: _Sum) -> Amount:
        share = part.cost or 0 if whole.cost else part.tokens
        total = whole.cost or whole.tokens
        return Amount(
            cost_usd=usd(part.cost),
            tokens=part.tokens,
            share=share / total if total else 0.0,
        )

    children.sort(key=lambda child: (-(child.sum.cost or 0), -child.sum.tokens, child.run))
    shown = [
        child
        for place, child in enumerate(children)
        if place < _DEAREST or amount(child.sum).share > _MATTERS
    ]
    rest = _Sum()
    for child in children[len(shown) :]:
        rest.add(child.sum.cost, child.sum.tokens)
    return BillTree(
        total=amount(whole),
        own=amount(own),
        runs=whole.runs,
        children=tuple(
            ChildBill(
                run=child.run,
                name=child.name,
                kind=child.role.value,
                amount=amount(child.sum),
                unrecorded=child.unrecorded,
            )
            for child in shown
        ),
        children_left_out=len(children) - len(shown),
        rest=amount(rest),
        is_least=whole.is_least,
    )
