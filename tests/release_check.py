"""Checks a release before it goes out: ``make release``.

Builds the package from this folder and from a copy of it whose files are new, with the time of the newest
commit as SOURCE_DATE_EPOCH, and compares the bytes; lets twine look at the metadata and the README; uses the
wheel in an empty environment of each Python that uv has or brings; and writes the list of its parts (an SBOM
in CycloneDX) beside it. A Python that cannot be had is named, and fails the check with ``--strict``.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", check=False)


def digests(*files: Path) -> list[str]:
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def copy(folder: Path) -> Path:
    """A copy of what git knows or would take, with times of now and the modes of the files."""
    listed = run("git", "-C", PROJECT, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    assert listed.returncode == 0, listed.stderr
    for name in filter(None, listed.stdout.split("\0")):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, folder / name)
    return folder


def main() -> int:
    from wheel_smoke import build, check_contents  # beside this program; nobody imports it as a module

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strict", action="store_true", help="fail where a Python cannot be had")
    parser.add_argument("--out", type=Path, default=PROJECT / "dist", help="where the files go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    newest = run("git", "-C", PROJECT, "log", "-1", "--format=%ct")
    os.environ.setdefault("SOURCE_DATE_EPOCH", newest.stdout.strip() or "1577836800")
    files = build(options.out)
    check_contents(*files)
    with tempfile.TemporaryDirectory() as again, tempfile.TemporaryDirectory() as other:
        second = build(Path(again), copy(Path(other)))
        assert digests(*second) == digests(*files), "a second build gives other bytes"
    print("reproducible: two builds, the same bytes")
    checked = run(sys.executable, "-m", "twine", "check", "--strict", *files)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    print("twine check: passed")
    absent = []
    with tempfile.TemporaryDirectory() as name:
        for version in PYTHONS:
            place = Path(name, version)
            made = run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", version, place)
            if made.returncode:
                absent.append(version)
                continue
            python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            done = run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, files[1])
            assert done.returncode == 0, done.stderr
            shown = run(python, "-m", "ebbtide", "demo")
            assert shown.returncode == 0, shown.stdout + shown.stderr
            assert "STUCK" in shown.stdout, shown.stdout
            print(f"Python {version}: the wheel works in an empty environment")
            if version == PYTHONS[0]:
                parts = options.out / "sbom.cdx.json"
                listed = run(
                    sys.executable, "-m", "cyclonedx_py", "environment", "--of", "JSON", "-o", parts, python
                )
                assert listed.returncode == 0, listed.stderr
                print(f"SBOM: {parts.name}")
    for version in absent:
        print(f"Python {version}: not to be had here, so not tried")
    return 1 if absent and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
