"""What an installation takes on disk: the base package, no extras, compiled.

    python -m benchmarks.speed.install_size

Builds the wheel, installs it into a fresh virtual environment in a temporary folder, compiles everything, and
counts the bytes beside the same environment before. The environment has no pip of its own, so that all of it
is what the package brings. Needs the package index for the dependencies.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks.measure import ROOT, setup, write_result

QUIET = ("--quiet", "--disable-pip-version-check")


def size(folder: Path) -> int:
    """Bytes of all files in a folder and below; links count as what they are."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def main() -> None:
    """Build, install, count and write the result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", name, str(ROOT)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = folder.glob("*.whl")
        home = folder / "environment"
        venv.create(home, with_pip=False)
        before = size(home)
        python = str(home / "bin" / "python")
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", python, "install", *QUIET, wheel], check=True
        )
        # Some packages bring files for other versions of Python, which do not compile.
        subprocess.run([python, "-m", "compileall", "-qq", str(home)], check=False)
        (packages,) = home.glob("lib/python*/site-packages")
        parts = {
            path.name: size(path) if path.is_dir() else path.stat().st_size for path in packages.iterdir()
        }
        total = size(home) - before
    largest = dict(sorted(parts.items(), key=lambda part: -part[1])[:12])
    for part, taken in largest.items():
        print(f"{part:<28} {taken / 1e6:6.2f} MB")
    print(f"{'all that was installed':<28} {total / 1e6:6.2f} MB")
    write_result("install-size", {"setup": setup(), "bytes": total, "largest": largest})


if __name__ == "__main__":
    main()
