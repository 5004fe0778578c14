"""What holds for the project as a whole."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType

import ebbtide

FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
FILES = ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|farm|tmp|Users)/\w")

# A participle names what happened, not what the variable holds: "found" may be signals or a folder.
PARTICIPLES = frozenset(
    "asked begun brought chosen done drawn dropped found given gone heard held kept known left lost made "
    "meant moved named needed paid read refused reworded said seen sent shown spoken taken talked told "
    "waited wanted written".split()
)
# Rooms that still have some: the numbers may only fall. Every other room has none.
PARTICIPLES_LEFT = {"convergence": 4, "decisions": 1, "text": 14, "traces": 42}
# What other rooms look into: of a chain, for which others have `MonitorSnapshot`, and of a retried call.
INSIDE = {"Attempts", "LoopState"}


def test_public_names() -> None:
    """`__all__` names everything that the package offers, and nothing that it does not."""
    public = [name for name in dir(ebbtide) if not name.startswith("_")]
    offered = [name for name in public if not isinstance(getattr(ebbtide, name), ModuleType)]
    assert sorted(ebbtide.__all__) == sorted([*offered, "__version__"])


def test_the_reference_names_all_that_is_public(project: Path) -> None:
    """Every public name is in the table of the reference."""
    page = (project / "docs" / "reference.md").read_text(encoding="utf-8")
    assert [name for name in ebbtide.__all__ if name != "__version__" and f"`{name}`" not in page] == []


def test_variables_are_nouns(project: Path) -> None:
    """No variable is a bare participle; a flag and a function may be."""
    rooms = Counter(
        path.relative_to(project / "src/ebbtide").parts[0]
        for path in (project / "src/ebbtide").rglob("*.py")
        for name in bound_names(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_") in PARTICIPLES
    )
    assert not {room: count for room, count in rooms.items() if count > PARTICIPLES_LEFT.get(room, 0)}


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Names of variables, attributes and parameters that a module binds, but for flags and functions.

    A `left` whose scope has a `right` is a side, no participle.
    """
    adjectives = {
        node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None
        if re.search(r"\bbool\b|Callable", ast.unparse(node.annotation))
    }
    names = [
        node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else node.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name | ast.Attribute) and is_bound(node))
    ]
    sides = {"left"} if "right" in names else set()
    yield from (name for name in names if name not in adjectives | sides)


def is_bound(node: ast.Name | ast.Attribute) -> bool:
    """Whether something is assigned to a name."""
    return isinstance(node.ctx, ast.Store)


def test_class_names_stand_for_one_thing(project: Path) -> None:
    """No public class name is there twice."""
    names = Counter(
        node.name
        for path in (project / "src/ebbtide").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, count in names.items() if count > 1]


def test_what_public_names_return_is_public(project: Path) -> None:
    """Who calls a public function, or a method of a public class, can name what it gets."""
    classes = {
        name
        for path in (project / "src/ebbtide").rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    hidden = classes - set(ebbtide.__all__) - INSIDE
    assert not {
        f"{name}.{function.__name__}: {returns}"
        for name in ebbtide.__all__
        for function in functions_of(getattr(ebbtide, name))
        if hidden & set(re.findall(r"\w+", returns := str(function.__annotations__.get("return"))))
    }


def functions_of(thing: object) -> Iterator[FunctionType]:
    """A function itself; of a class its public methods and properties."""
    members = vars(thing).items() if inspect.isclass(thing) else [("", thing)]
    for name, member in members:
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if isinstance(function, FunctionType) and not name.startswith("_"):
            yield function


def test_one_version(project: Path) -> None:
    """The version is written once, in the package, and the build reads it there."""
    tables = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in tables["project"]["dynamic"]
    source = (project / tables["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE) == [ebbtide.__version__]


def test_changelog_is_open(project: Path) -> None:
    """The changelog has a section for what comes next, above every release."""
    headings = re.findall(r"^## (.+)$", (project / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings
    assert headings[0].strip("[]") == "Unreleased"


def test_modules_are_short(project: Path) -> None:
    """No module is longer than 400 lines: a longer one holds a second idea."""
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in (project / "src").rglob("*.py")}
    assert not {path.name: count for path, count in lines.items() if count > 400}


def test_no_path_of_a_machine(project: Path) -> None:
    """No file names a place that only one machine has."""
    inside = (path for folder in FOLDERS for path in (project / folder).rglob("*"))
    files = [project / name for name in FILES] + [path for path in inside if path.is_file()]
    places = [
        f"{path.relative_to(project)}:{number}"
        for path in files
        if path.suffix != ".pyc"
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="ignore").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert not places


def test_the_page_about_the_house_names_what_is_there(project: Path) -> None:
    """Every path in ARCHITECTURE.md exists, in the package or in the project."""
    page = (project / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`(\w+(?:/\w+)*(?:/|\.py)|\w+(?:/\w+)+)`|\]\(([^)]+)\)", page)
    names = [code or link for code, link in paths]
    assert len(names) > 30
    assert not [
        name for name in names if not any((top / name).exists() for top in (project, project / "src/ebbtide"))
    ]


def test_import_is_light() -> None:
    """`import ebbtide` leaves alone what costs start-up time and what only the command line needs."""
    heavy = {"asyncio", "click", "dataclasses", "decimal", "importlib.metadata", "rich", "typing"}
    assert not heavy & modules_after("import ebbtide")


def test_the_supervisor_stands_on_the_standard_library() -> None:
    """Who only supervises imports no package of anybody else."""
    packages = {name.partition(".")[0] for name in modules_after("from ebbtide import Supervisor")}
    # What finders of an editable installation and of the environment leave behind comes without us, too.
    others = {name.partition(".")[0] for name in modules_after("pass")}
    assert packages - others - sys.stdlib_module_names == {"ebbtide"}


def test_the_engines_of_text_wait_for_the_first_round() -> None:
    """Watching calls loads nothing that reads sentences."""
    program = "import ebbtide; run = ebbtide.Supervisor(); run.record(ebbtide.ToolCall(name='ls'))"
    modules = modules_after(program)
    assert "ebbtide.supervision.supervisor" in modules
    assert not {"ebbtide.convergence.meter", "ebbtide.text.extraction.turn"} & modules


def test_no_file_imports_itself_through_others(project: Path) -> None:
    """There is no circle of files, wherever an import stands: in a function or for the type checker, too."""
    assert not in_circles(import_graph(project / "src", anywhere=True))


def test_hidden_circles_are_seen(tmp_path: Path) -> None:
    """Two files that need each other make a circle, though no run of theirs would show it."""
    (tmp_path / "a.py").write_text("def f():\n    from b import g\n")
    (tmp_path / "b.py").write_text("if TYPE_CHECKING:\n    from a import f\n")
    (tmp_path / "c.py").write_text("import a\n")
    assert in_circles(import_graph(tmp_path, anywhere=True)) == ["a", "b"]
    assert not in_circles(import_graph(tmp_path, anywhere=False))


def test_one_verdict_has_few_files(project: Path) -> None:
    """Who follows a verdict through the sources has 75 files to read at most."""
    modules = reachable(import_graph(project / "src", anywhere=False), "ebbtide.supervision.supervisor")
    assert len(modules | {"ebbtide"}) <= 75, sorted(modules)


def modules_after(statement: str) -> set[str]:
    """What a fresh interpreter has imported after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    return set(done.stdout.split())


def import_graph(source: Path, *, anywhere: bool) -> dict[str, set[str]]:
    """The modules below a folder, each with those that it imports.

    Args:
        source: The folder that holds the package.
        anywhere: Whether to count imports inside functions and under ``TYPE_CHECKING``, too.
    """
    trees = {_module(path, source): ast.parse(path.read_text("utf-8")) for path in source.rglob("*.py")}
    return {
        name: {target for target in _targets(tree, trees, anywhere=anywhere) if target != name}
        for name, tree in trees.items()
    }


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """What a module needs to be imported, itself included, directly or through others."""
    modules: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += graph[name]
    return modules


def in_circles(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules that import themselves through others."""
    return sorted(name for name in graph if any(name in reachable(graph, target) for target in graph[name]))


def _module(path: Path, source: Path) -> str:
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def _targets(node: ast.AST, modules: Mapping[str, ast.Module], *, anywhere: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name in modules)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                submodule = f"{child.module}.{alias.name}"
                if submodule in modules:
                    yield submodule
                elif child.module in modules:
                    yield child.module
        elif anywhere or not _is_left_out(child):
            yield from _targets(child, modules, anywhere=anywhere)


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
