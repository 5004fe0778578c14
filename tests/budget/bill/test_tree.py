"""Trees of runs: each has its parent and what comes from it, and a machine is the sum of its trees."""

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.bill.bill import BillTree
from ebbtide.budget.bill.tree import RunNode, RunRole, parents_of, trees_of
from ebbtide.report.bill_words import tree_line, tree_sentence

UNITS = 10**12


def node(key: str, parent: str | None = None, dollars: float = 1.0, **fields: object) -> RunNode:
    return RunNode(
        key=key,
        id=key,
        parent=parent,
        cost=round(dollars * UNITS),
        tokens=100,
        **fields,  # type: ignore[arg-type]
    )


def test_a_tree_is_its_own_and_what_comes_from_it() -> None:
    """A child has a line with all that comes from it in turn."""
    thread = node("b", "a", 2.0, role=RunRole.THREAD, name="Euler")
    trees = trees_of([node("a"), thread, node("c", "b", 4.0), node("d")])
    assert trees.keys() == {"a", "b"}
    tree = trees["a"]
    assert (tree.total.cost_usd, tree.own.cost_usd, tree.runs) == (7.0, 1.0, 3)
    assert [(child.name, child.kind, child.amount.cost_usd) for child in tree.children] == [
        ("Euler", "thread", 6.0)
    ]


def test_a_sub_agent_with_a_chain_and_a_file_is_one_line() -> None:
    """What its parent's file has of it is a part of the parent's share, and stands with the rest of it."""
    parent = node("a", dollars=5.0, chains={"x7": (2 * UNITS, 40), "x8": (UNITS, 10)})
    agent = RunNode(key="f", id="claude:agent-x7", parent="a", role=RunRole.SUB_AGENT, cost=UNITS, tokens=5)
    tree = trees_of([parent, agent])["a"]
    assert (tree.total.cost_usd, tree.own.cost_usd, tree.own.tokens) == (6.0, 2.0, 50)
    lines = {child.run: (child.amount.cost_usd, child.amount.tokens) for child in tree.children}
    assert lines == {"claude:agent-x7": (3.0, 45), "x8": (1.0, 10)}


def test_a_sub_agent_is_named_by_its_task() -> None:
    """As the call says that started it, with a file of its own or without; a name of its own comes first."""
    tasks = {"x7": "Find b", "x8": "Find c", "x9": "Find d"}
    parent = node("a", dollars=5.0, chains={"x7": (2 * UNITS, 40)}, tasks=tasks)
    unnamed = RunNode(key="f", id="claude:agent-x8", parent="a", role=RunRole.SUB_AGENT, cost=UNITS)
    named = RunNode(key="g", id="claude:agent-x9", parent="a", role=RunRole.SUB_AGENT, name="Ada", cost=1)
    tree = trees_of([parent, unnamed, named])["a"]
    assert [child.name for child in tree.children] == ["Find b", "Find c", "Ada"]


def test_a_tree_is_a_lower_bound_where_a_run_in_it_is_one() -> None:
    """Its sum is a lower bound then, and says so."""
    child = RunNode(key="b", id="b", parent="a", tokens=50, is_least=True)
    tree = trees_of([node("a"), child])["a"]
    assert (tree.is_least, tree.children[0].amount.cost_usd) == (True, None)
    assert tree_sentence(tree) == "$1.00+ with what comes from it, in 2 files"


def test_a_sub_agent_whose_calls_are_not_recorded_cost_more() -> None:
    """Its line says so, and the sum is a lower bound; one with a file of its own has its calls there."""
    parent = node(
        "a",
        dollars=5.0,
        chains={"x7": (2 * UNITS, 40), "x8": (UNITS, 10)},
        unrecorded={"x7": 62, "x8": 9},
        tasks={"x7": "Find b"},
    )
    agent = RunNode(key="f", id="claude:agent-x8", parent="a", role=RunRole.SUB_AGENT, cost=UNITS, tokens=5)
    tree = trees_of([parent, agent])["a"]
    assert [child.unrecorded for child in tree.children] == [62, 0]
    assert tree_sentence(tree) == "$6.00+ with what comes from it, in 2 files"
    assert "Find b (sub-agent, its 62 calls not recorded)" in tree_line(tree)


def test_the_cheap_ones_are_one_line() -> None:
    """The five dearest have lines, and all above a hundredth of the tree; the others are summed."""
    children = [node(f"c{number}", "a", 0.001 * number) for number in range(1, 31)]
    tree = trees_of([node("a"), *children])["a"]
    assert [child.run for child in tree.children] == [
        "c30",
        "c29",
        "c28",
        "c27",
        "c26",
        *[f"c{number}" for number in range(25, 14, -1)],
    ]
    assert tree.children_left_out == 14
    assert tree.rest.tokens == 1_400


def test_nothing_goes_round_in_a_circle() -> None:
    """Two runs that name each other: one of them comes first."""
    parents = parents_of([node("a", "b"), node("b", "a"), node("c", "c")])
    assert parents == {"a": "b"}


def test_a_copy_has_the_id_of_its_original() -> None:
    """It goes on from it, and is known by its file."""
    first = RunNode(key="one", id="s", cost=UNITS)
    copy = RunNode(key="two", id="s", cost=0, began_from="one")
    assert [child.kind for child in trees_of([copy, first])["one"].children] == ["copy"]


names = st.integers(0, 7).map(str)


@given(
    st.lists(
        st.tuples(st.one_of(st.none(), names), st.one_of(st.none(), names), st.integers(0, 10**15)),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_a_machine_is_the_sum_of_its_trees(runs: list[tuple[str | None, str | None, int]], order) -> None:
    """Whoever comes from whom, and in whatever order they are given."""
    nodes = [
        RunNode(key=str(number), id=str(number), parent=parent, began_from=began, cost=cost, tokens=cost % 97)
        for number, (parent, began, cost) in enumerate(runs)
    ]
    order.shuffle(nodes)
    parents, trees = parents_of(nodes), trees_of(nodes)
    roots = [item for item in nodes if item.key not in parents]
    whole = sum(trees[item.key].total.tokens if item.key in trees else item.tokens for item in roots)
    assert whole == sum(item.tokens for item in nodes)
    assert all(parts(tree) == tree.total.tokens for tree in trees.values())


def parts(tree: BillTree) -> int:
    return tree.own.tokens + sum(child.amount.tokens for child in tree.children) + tree.rest.tokens
