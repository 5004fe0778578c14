"""Summaries of runs with the bills of their trees, and with the runs that they come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence

from ebbtide.budget.bill.advice import with_missing_calls
from ebbtide.budget.bill.tree import RunNode, RunRole, agent_of, parents_of, trees_of
from ebbtide.budget.tally import units
from ebbtide.supervision.summary.run_summary import RunSummary


def with_trees(summaries: Sequence[RunSummary], others: Iterable[RunNode] = ()) -> list[RunSummary]:
    """Returns the summaries, each with its tree and with its parent, as far as those are among them.

    Args:
        summaries: Runs whose shares do not overlap.
        others: Runs beside them of which no more is known than what they took.
    """
    nodes = [*map(node_of, summaries), *others]
    trees, parents = trees_of(nodes), parents_of(nodes)
    ids = {node.key: node.id for node in nodes}
    results = []
    for summary in summaries:
        parent, role = summary.parent, summary.role
        if parent is None and summary.source in parents:
            above = ids[parents[summary.source]]
            is_copy = above == summary.id
            parent, role = (None, RunRole.COPY) if is_copy else (above, RunRole.FORK)
        bill = summary.bill
        tree = trees.get(summary.source)
        if tree is not None:
            bill = dataclasses.replace(bill, tree=tree)
        results.append(dataclasses.replace(summary, parent=parent, role=role, bill=bill))
    recorded = {agent_of(node.id) for node in nodes if node.role is RunRole.SUB_AGENT}
    return [_without_recorded(summary, recorded) for summary in results]


def _without_recorded(summary: RunSummary, recorded: Collection[str]) -> RunSummary:
    """Returns a summary that misses calls of those sub-agents alone that have no file of their own."""
    facts = summary.facts
    coverage = facts.coverage
    lacking = tuple(agent for agent in coverage.unrecorded if agent.name not in recorded)
    if lacking == coverage.unrecorded:
        return summary
    spent = dataclasses.replace(summary.spent, unrecorded=sum(agent.count for agent in lacking))
    coverage = dataclasses.replace(coverage, unrecorded=lacking)
    return dataclasses.replace(
        summary,
        spent=spent,
        facts=dataclasses.replace(facts, coverage=coverage),
        bill=with_missing_calls(summary.bill, spent.unrecorded),
    )


def node_of(summary: RunSummary) -> RunNode:
    """Returns a run as its tree needs it."""
    spent, chains, agents = summary.spent, set(summary.chains), summary.bill.agents
    return RunNode(
        key=summary.source,
        id=summary.id,
        parent=summary.parent,
        began_from=summary.began_from,
        role=RunRole(summary.role),
        name=summary.name or summary.title,
        cost=None if spent.cost_usd is None else units(spent.cost_usd),
        tokens=spent.tokens.total or 0,
        is_least=spent.is_least,
        chains={
            line.name: (
                None if line.amount.cost_usd is None else units(line.amount.cost_usd),
                line.amount.tokens,
            )
            for line in (agents if summary.id is not None else ())
            if line.name in chains and line.name
        },
        unrecorded={agent.name: agent.count for agent in summary.facts.coverage.unrecorded},
        tasks={line.name: line.title for line in agents if line.title},
    )
