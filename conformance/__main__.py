"""``python -m conformance langchain``: exits 0 if every check passes, 1 otherwise."""

from __future__ import annotations

import sys

from conformance.checks import run_checks
from conformance.harness import harness
from conformance.page_imports import import_faults, page_of
from ebbtide.errors import ConfigError


def main(names: list[str]) -> int:
    """Run the checks of some adapters, and print a line for each."""
    failures = 0
    for name in names:
        try:
            framework = harness(name)
        except ConfigError as error:
            print(error, file=sys.stderr)
            return 2
        faults = tuple(import_faults(page_of(name)))
        print(f"{name} page imports: {'fails' if faults else 'passes'}", *faults, sep="\n    ")
        failures += bool(faults)
        for result in run_checks(framework):
            word = "fails" if result.faults else "passes"
            print(f"{name} {result.mode} {result.check}: {word}", *result.faults, sep="\n    ")
            failures += bool(result.faults)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
