"""The pages of the adapters: what they install is what is checked, and what they show can be pasted."""

from __future__ import annotations

import ast
import builtins
import re
import shlex
from pathlib import Path

import pytest

from conformance.harness import ENVIRONMENTS
from conformance.page_imports import BLOCK, PAGES, import_faults, page_of

#: What a reader has, under names that say what it is.
GIVEN = frozenset(
    "agent answer backstory checkpointer client config dataset event generator goal hooks llm messages model "
    "model_client react result samples scorer task tools turns watched".split()
)


def free_names(code: str) -> set[str]:
    """Returns the names that a piece of code reads and nobody in it binds."""
    tree = ast.parse(code)
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(name.asname or name.name).partition(".")[0] for name in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    return read - bound - set(dir(builtins))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_page_installs_what_is_checked(name: str) -> None:
    """This project comes from its folder, since no registry has it, and beside it what the kit installs."""
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    lines = re.findall(r"^pip install (.*)$", page, re.MULTILINE)
    assert [tuple(shlex.split(line)) for line in lines] == [(".", *ENVIRONMENTS[name])]


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_every_name_of_a_page_is_imported_or_given(path: Path) -> None:
    """A class or function is imported in the blocks from the top on; what a reader has is named plainly."""
    code = ""
    for block in BLOCK.findall(path.read_text(encoding="utf-8")):
        code += block
        unknown = free_names(code) - GIVEN
        assert unknown == set()


@pytest.mark.parametrize("name", ["anthropic_client", "openai_client"])
def test_the_imports_of_the_page_of_clients_work(name: str) -> None:
    """The kit asks the same of the page of each framework, in an environment with what that page installs."""
    assert list(import_faults(page_of(name))) == []


def test_an_import_that_fails_is_told() -> None:
    page = "```py\nfrom ebbtide import Limits, Nothing\n\nif Limits:\n    import not_installed\n```\n"
    first, second = import_faults(page)
    assert first.startswith("from ebbtide import Limits, Nothing: ImportError")
    assert second.startswith("import not_installed: ModuleNotFoundError")
