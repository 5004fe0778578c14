"""The Python of every page imports what its install lines bring, and nothing else.

The scripts of a page run where every package that it does not name is hidden. Blocks that need what is not
here are read: what they import of us is there, and the rest is of a package that the page installs. For the
pages of adapters the kit imports them where the framework is installed (`conformance/page_imports.py`).
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conformance.harness import ENVIRONMENTS

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src"
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?:python|py)\b[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"^```python\n((?!>>>).*?)^```$", re.MULTILINE | re.DOTALL)
DISTRIBUTIONS = metadata.packages_distributions()
HIDES = """
import sys
class Hidden:
    names = frozenset({names})
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"{{name}}: the page installs no package that has it", name=name)
sys.meta_path.insert(0, Hidden())
"""


def of_page(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def is_tried(path: Path) -> bool:
    """True if the kit imports what the page does, in an environment with what it installs."""
    return path.parent.name == "adapters" and path.stem in ENVIRONMENTS


@cache
def requirements() -> dict[str, list[str]]:
    """What we need by ourselves, under "", and with each extra."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def packages(lines: list[str]) -> set[str]:
    """The distributions that requirements bring, with all that those need."""
    due = [Requirement(line) for line in lines]
    seen: set[tuple[str, str]] = set()
    while due:
        one = due.pop()
        name = canonicalize_name(one.name)
        for extra in ("", *sorted(one.extras)):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            if name == "ebbtide":
                due += [Requirement(line) for line in requirements()[extra]]
                continue
            try:
                needs = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                continue
            due += [
                need
                for need in map(Requirement, needs)
                if need.marker is None or need.marker.evaluate({"extra": extra})
            ]
    return {name for name, _ in seen}


def installed(text: str) -> set[str]:
    """The distributions that a page says to install."""
    lines = ["ebbtide"]
    for words in re.findall(r"pip install ([^`\n#]*)", text):
        found = re.findall(r"(?<![\w-])[A-Za-z][\w.-]*(?:\[[\w,-]+\])?", words)
        lines += [word for word in found if word not in {"and", "or"}]
    lines += re.findall(r"ebbtide\[[a-z,]+\]", text)
    return packages(lines)


def code(block: str) -> str:
    """A block without the prompts of an interpreter and what that printed."""
    if not re.search(r"^>>> ", block, re.MULTILINE):
        return block
    return "".join(line[4:] for line in block.splitlines(keepends=True) if re.match(r">>> |\.\.\. ?", line))


def imports(text: str) -> Iterator[tuple[str, str | None]]:
    """The modules that the blocks of a page import, and the names of them."""
    for block in BLOCK.findall(text):
        for node in ast.walk(ast.parse(code(block))):
            if isinstance(node, ast.Import):
                yield from ((name.name, None) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.module or "", name.name) for name in node.names)


def names_of(module: str) -> set[str] | None:
    """What a module of ours has at its top, or the modules in a package; None where there is none."""
    place = SOURCE.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if not file.is_file():
        return None
    names = {path.stem for path in place.iterdir()} if place.is_dir() else set()
    # A package that loads its names late lists them in a stub.
    files = [path for path in (file, file.with_suffix(".pyi")) if path.is_file()]
    for node in (node for path in files for node in ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(name.asname or name.name) for name in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@pytest.mark.parametrize("page", [page for page in PAGES if not is_tried(page)], ids=of_page)
def test_a_page_imports_what_it_installs(page: Path) -> None:
    """A package that nobody was told to install is missing where the page is followed."""
    text = page.read_text(encoding="utf-8")
    here = installed(text)
    known = {
        name for name, owners in DISTRIBUTIONS.items() if here & {canonicalize_name(each) for each in owners}
    }
    tops = {module.partition(".")[0] for module, _ in imports(text)}
    foreign = tops - sys.stdlib_module_names - {"ebbtide"}
    assert foreign - known == set()


@pytest.mark.parametrize("page", PAGES, ids=of_page)
def test_what_a_page_imports_of_us_is_there(page: Path) -> None:
    for module, name in imports(page.read_text(encoding="utf-8")):
        if module.partition(".")[0] == "ebbtide":
            names = names_of(module)
            assert names is not None, module
            assert name is None or name in names, f"{module}: no {name}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if SCRIPT.search(page.read_text("utf-8"))], ids=of_page
)
def test_a_script_of_a_page_needs_nothing_else(page: Path, tmp_path: Path, project: Path) -> None:
    """It runs where every other package that is installed here is hidden."""
    text = page.read_text(encoding="utf-8")
    here = installed(text)
    hidden = {
        name
        for name, owners in DISTRIBUTIONS.items()
        if not here & {canonicalize_name(each) for each in owners} and name not in {"ebbtide", "tests"}
    }
    assert {"pytest", "playwright"} <= hidden
    (tmp_path / "examples").symlink_to(project / "examples")
    script = "\n".join([HIDES.format(names=sorted(hidden)), *SCRIPT.findall(text)])
    process = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
