"""Builds the package and uses it as a user would: installed from the wheel, without development tools."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parent.parent
DATA = (
    "ebbtide/py.typed",
    "ebbtide/batch/tables/maps/langfuse.toml",
    "ebbtide/events/tools/claude_code.toml",
    "ebbtide/events/tools/shell.toml",
    "ebbtide/events/transcript.schema.json",
    "ebbtide/decision_log/store/schema/0001_log.postgresql.sql",
    "ebbtide/decision_log/store/schema/0001_log.sql",
    "ebbtide/decision_log/store/schema/0001_log.sqlite.sql",
    "ebbtide/service/runs/schema/0001_runs.sql",
    "ebbtide/report/assets/page.js",
    "ebbtide/report/assets/uPlot.iife.min.js",
    "ebbtide/report/assets/uPlot.LICENSE",
)
IN_SDIST = {
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "AGENTS.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "action.yml",
    "hatch_build.py",
    "pyproject.toml",
}
ADDRESS = "https://example.org/ebbtide"
EXAMPLE = "exact-repeat.json"
PRICED_BY_US = '{"kind": "llm", "name": "message", "model": "gpt-4.1", "input_tokens": 9}\n'


def build(folder: Path, project: Path = PROJECT) -> tuple[Path, Path]:
    """The sdist, and the wheel built from it."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(project)]
    environment = {**os.environ, "PROJECT_URL": ADDRESS}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_contents(sdist: Path, wheel: Path) -> None:
    """The data files are in the wheel, links of its README lead somewhere, and the sdist has no junk."""
    archive = zipfile.ZipFile(wheel)
    inside = archive.namelist()
    (metadata,) = (name for name in inside if name.endswith("/METADATA"))
    links = re.findall(r"\]\(([^)\s]+)\)", archive.read(metadata).decode())
    assert links, "the README has no links"
    assert all(link.startswith(("https://", "#")) for link in links), links
    assert set(DATA) <= set(inside), f"not in the wheel: {set(DATA) - set(inside)}"
    assert all(name.startswith(("ebbtide/", "ebbtide-")) for name in inside), inside
    with tarfile.open(sdist) as source:
        names = [name.partition("/")[2] for name in source.getnames()]
    folders = ("src/ebbtide/", "conformance/", "tests/", "docs/", "examples/", "plugins/", ".agents/")
    folders += (".claude-plugin/",)
    junk = [name for name in names if name not in IN_SDIST and not name.startswith(folders)]
    junk += [name for name in names if "__pycache__" in name or "_cache/" in name]
    assert not junk, f"in the sdist: {junk}"


def run(folder: Path, *command: str | Path, code: int = 0) -> str:
    """What the command prints, run in `folder`; it has to end with `code`."""
    process = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert process.returncode == code, (
        f"{command} ended with {process.returncode}:\n{process.stdout}{process.stderr}"
    )
    return process.stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist, wheel = build(folder)
        check_contents(sdist, wheel)
        shutil.copy(PROJECT / "examples" / "calibration" / EXAMPLE, folder)

        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / "bin"
        run(
            folder,
            programs / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            wheel,
        )

        version = re.match(r"ebbtide-([^-]+)-", wheel.name)
        assert version
        assert version[1] in run(folder, programs / "ebbtide", "--version")
        run(folder, programs / "python", "-c", "import ebbtide")
        print(run(folder, programs / "ebbtide", "stop", EXAMPLE, code=10), end="")
        # Public prices are in the package itself.
        (folder / "run.jsonl").write_text(PRICED_BY_US, encoding="utf-8")
        screen = run(folder, programs / "ebbtide", "check", "run.jsonl")
        assert "$" in screen, screen
        print(f"{wheel.name}: installed and used without development tools")


if __name__ == "__main__":
    main()
