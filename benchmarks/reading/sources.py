"""Counts what the sources hold, without running them: imports, docstrings, lines, names that nobody uses."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

SUPERVISOR: Final = "ebbtide.supervision.supervisor"
_QUESTION: Final = re.compile(r"(?:What|Whether|How|Which|Where)\b")
_FUNCTIONS: Final = ast.FunctionDef | ast.AsyncFunctionDef
_DOCUMENTED: Final = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def read_sources(source: Path) -> dict[str, ast.Module]:
    """Returns the syntax trees of the modules below a folder, by the name of the module."""
    return {
        _module(path, source): ast.parse(path.read_text("utf-8")) for path in sorted(source.rglob("*.py"))
    }


def import_graph(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Returns the modules that each imports, wherever: in a function and under ``TYPE_CHECKING``, too."""
    return {
        name: {target for target in _targets(tree, trees) if target != name} for name, tree in trees.items()
    }


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """Returns the modules that a module needs, itself included, directly or through others."""
    modules: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += graph[name]
    return modules


def in_circles(graph: Mapping[str, set[str]]) -> list[str]:
    """Returns the modules that import themselves through others."""
    return sorted(name for name in graph if any(name in reachable(graph, target) for target in graph[name]))


def with_one_user(graph: Mapping[str, set[str]]) -> set[str]:
    """Returns the modules that exactly one other imports; a package without content is none."""
    users = Counter(target for targets in graph.values() for target in targets)
    return {name for name, count in users.items() if count == 1}


def late_imports(trees: Mapping[str, ast.Module]) -> int:
    """Counts the import statements inside functions, of whatever they import."""
    functions = (node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, _FUNCTIONS))
    return len(
        {
            statement
            for function in functions
            for statement in ast.walk(function)
            if isinstance(statement, ast.Import | ast.ImportFrom)
        }
    )


def docstrings(trees: Mapping[str, ast.Module]) -> list[str]:
    """Returns the docstrings of modules, classes and functions."""
    nodes = (node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, _DOCUMENTED))
    return [text for node in nodes if (text := ast.get_docstring(node)) is not None]


def is_question(docstring: str) -> bool:
    """Returns True for a docstring that begins with What, Whether, How, Which or Where."""
    return _QUESTION.match(docstring) is not None


def commands() -> dict[str, list[str]]:
    """Returns the flags of each command of the command line: one an option, without ``--help``."""
    import click

    from ebbtide.cli.app import root

    found: dict[str, list[str]] = {}

    def visit(command: click.Command, path: str) -> None:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                if below is not None:
                    visit(below, f"{path} {name}".strip())
        else:
            options = [item for item in command.params if isinstance(item, click.Option)]
            found[path] = [max(item.opts, key=len) for item in options]

    visit(root, "")
    return found


def unreferenced(trees: Mapping[str, ast.Module], others: set[str]) -> list[str]:
    """Returns the public functions, classes and constants that no source refers to, each with its module.

    Args:
        trees: The sources.
        others: Names that count as used, wherever.
    """
    used = others.union(*map(used_names, trees.values()))
    return sorted(
        f"{module}.{name}"
        for module, tree in trees.items()
        for name in public_names(tree)
        if not name.startswith("_") and name not in used
    )


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yields the functions, classes and constants of a module, but for what a decorator registers."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not any(_registers(decorator) for decorator in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def used_names(tree: ast.Module) -> set[str]:
    """Returns the names that a module refers to, also in strings such as annotations and tables of places."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias) and node.asname not in {None, node.name}:
            names.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            names.update(re.findall(r"\w+", node.value))
    return names


def counts(source: Path) -> dict[str, Any]:
    """Returns what the sources below a folder hold, as the result has it."""
    trees = read_sources(source)
    graph = import_graph(trees)
    texts = docstrings(trees)
    questions = sum(map(is_question, texts))
    flags = commands()
    return {
        **_sizes(source),
        "reached_from_supervisor": len(reachable(graph, SUPERVISOR)),
        "files_with_one_user": len(with_one_user(graph)),
        "imports_in_functions": late_imports(trees),
        "commands": len(flags),
        "options": sum(map(len, flags.values())),
        "flags": len({flag for options in flags.values() for flag in options}),
        "docstrings": len(texts),
        "questions": questions,
        "questions_share": round(questions / len(texts), 3),
    }


def _sizes(source: Path) -> dict[str, Any]:
    """The files and lines of the package and of each room: a folder, or a file beside the folders."""
    rooms: dict[str, dict[str, int]] = {}
    top = source / "ebbtide"
    for path in sorted(top.rglob("*.py")):
        parts = path.relative_to(top).parts
        room = rooms.setdefault(parts[0] if len(parts) > 1 else "top", {"files": 0, "lines": 0})
        room["files"] += 1
        room["lines"] += path.read_text("utf-8").count("\n")
    total = {key: sum(room[key] for room in rooms.values()) for key in ("files", "lines")}
    by_size = dict(sorted(rooms.items(), key=lambda item: -item[1]["lines"]))
    return {**total, "rooms": by_size}


def _module(path: Path, source: Path) -> str:
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def _targets(tree: ast.AST, modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """The modules that are imported, of those that there are; `from x import y` may mean the module x.y."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                if submodule in modules:
                    yield submodule
                elif node.module in modules:
                    yield node.module


def _registers(decorator: ast.expr) -> bool:
    """A decorator such as ``@group.command()`` hands the function to something that calls it."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute)
