"""What holds for the project as a whole."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import ebbtide

FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
FILES = ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|farm|tmp|Users)/\w")


def test_public_names() -> None:
    """`__all__` names everything that the package offers, and nothing that it does not."""
    public = [name for name in dir(ebbtide) if not name.startswith("_")]
    offered = [name for name in public if not isinstance(getattr(ebbtide, name), ModuleType)]
    assert sorted(ebbtide.__all__) == sorted([*offered, "__version__"])


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


def modules_after(statement: str) -> set[str]:
    """What a fresh interpreter has imported after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    return set(process.stdout.split())
