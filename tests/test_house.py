"""What holds for the project as a whole."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import ebbtide
from benchmarks.reading.sources import (
    SUPERVISOR,
    commands,
    docstrings,
    import_graph,
    in_circles,
    is_question,
    late_imports,
    reachable,
    read_sources,
    unreferenced,
)

FOLDERS = ("src", "conformance", "tests", "docs", "examples", "benchmarks", ".ci")
FILES = ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|farm|tmp|Users)/\w")

# What other rooms look into: of a chain, for which others have `MonitorSnapshot`, and of a retried call.
INSIDE = {"Attempts", "LoopState"}
# These may only fall; `python -m benchmarks.reading` prints them.
AT_MOST = {
    "files that a supervisor reaches, without detectors": 130,
    "docstrings that begin with What, Whether, How, Which or Where": 0,
    # One is of `check --repo`: nobody else waits for what asks git to be loaded. One is of `run`: its help is
    # shown where there are no terminals of its kind, too. One is of hooks that keep decisions: the gate and
    # the log would make every service start 0.17 s later, and few ask for it.
    "imports inside functions": 141,
    # Three are of `ebbtide trust`: for whoever works in folders that others wrote. Three show the raw text of
    # decisions that are listed, shown or exported: for whoever needs it whole, as a copy. `--repo` of `check`
    # and `archive check` are for whoever asks what the money of sessions brought. `run` has those by which
    # `watch` judges, and one to end the agent. `hooks install --decisions` is for whoever
    # works on after a compaction.
    # `run --pause` is for whoever sits at the terminal, and would rather look than lose the run.
    # `check --git`: sessions that lie beside the code. `serve --otlp-grpc`: exporters that have gRPC alone.
    # `advice` is for whoever wants settings that cost less: one makes a change, one takes it back, and its
    # prices and JSON are as elsewhere. `acp` has the options of `run` but for `--pause`, for whoever works in
    # an editor.
    "options of the command line": 343,
}
# Public names that tests and benchmarks alone use: none may be added.
UNUSED = {
    "ebbtide.budget.scope.current_scope",
    "ebbtide.decisions.gate.quality.validate_decision_quality",
    "ebbtide.decisions.turns.turn_filter.filter_turns",
    "ebbtide.events.event_json.read_events",
    "ebbtide.traces.reading.load_events",
}


@pytest.fixture(scope="module")
def sources(project: Path) -> dict[str, ast.Module]:
    return read_sources(project / "src")


def test_public_names() -> None:
    """`__all__` names everything that the package offers, and nothing that it does not."""
    public = [name for name in dir(ebbtide) if not name.startswith("_")]
    offered = [name for name in public if not isinstance(getattr(ebbtide, name), ModuleType)]
    assert sorted(ebbtide.__all__) == sorted([*offered, "__version__"])


def test_the_reference_names_all_that_is_public(project: Path) -> None:
    """Every public name is in the table of the reference."""
    page = (project / "docs" / "reference.md").read_text(encoding="utf-8")
    assert [name for name in ebbtide.__all__ if name != "__version__" and f"`{name}`" not in page] == []


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


def test_no_file_imports_itself_through_others(sources: dict[str, ast.Module]) -> None:
    """There is no circle of files, wherever an import stands: in a function or for the type checker, too."""
    assert not in_circles(import_graph(sources))


def test_hidden_circles_are_seen(tmp_path: Path) -> None:
    """Two files that need each other make a circle, though no run of theirs would show it."""
    (tmp_path / "a.py").write_text("def f():\n    from b import g\n")
    (tmp_path / "b.py").write_text("if TYPE_CHECKING:\n    from a import f\n")
    (tmp_path / "c.py").write_text("import a\n")
    assert in_circles(import_graph(read_sources(tmp_path))) == ["a", "b"]


def test_every_public_name_is_used(project: Path, sources: dict[str, ast.Module]) -> None:
    """A function, class or constant is used by the package, a page or the kit of the adapters."""
    pages = [project / "README.md", *(project / "docs").rglob("*.md")]
    pages += (project / "conformance").glob("*.py")
    words = {word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))}
    assert set(unreferenced(sources, words | set(ebbtide.__all__))) <= UNUSED


def test_an_unused_name_is_seen() -> None:
    """A name that nothing refers to is found; one in a string, or that a decorator registers, is used."""
    module = (
        "LIMIT = 3\n\nclass Unused:\n    'Like Unused.'\n\ndef used():\n    return LIMIT\n\n"
        "PLACES = {'check': 'module:used'}\nprint(PLACES)\n\n@group.command()\ndef command(): ...\n"
    )
    assert unreferenced({"module": ast.parse(module)}, set()) == ["module.Unused"]


def test_no_more_has_to_be_read(sources: dict[str, ast.Module]) -> None:
    """What has to be read does not grow; whoever makes it less lowers the number here.

    A new option is the exception: it raises its number by one, and says for whom it is.
    """
    numbers = {
        "files that a supervisor reaches, without detectors": sum(
            ".detectors." not in name for name in reachable(import_graph(sources), SUPERVISOR)
        ),
        "docstrings that begin with What, Whether, How, Which or Where": sum(
            map(is_question, docstrings(sources))
        ),
        "imports inside functions": late_imports(sources),
        "options of the command line": sum(map(len, commands().values())),
    }
    assert {name: number for name, number in numbers.items() if number > AT_MOST[name]} == {}


def modules_after(statement: str) -> set[str]:
    """What a fresh interpreter has imported after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    return set(done.stdout.split())
