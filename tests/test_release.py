"""What a release is checked with says the same everywhere: versions of Python, list of parts, who attests."""

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parent.parent
VERSION = re.compile(r"\d\.\d+")
WORKFLOW = PROJECT / ".github" / "workflows" / "release.yml"


def lines(name: str, start: str) -> list[str]:
    text = (PROJECT / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith(start)]


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    """The workflow, `make release` and `make test-pythons` try the same, from the oldest that installs."""
    if not WORKFLOW.exists():
        pytest.skip("the workflow is in the repository alone")
    matrix = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["test"]["strategy"]["matrix"]
    (checked,) = lines("tests/release_check.py", "PYTHONS = ")
    (made,) = lines("Makefile", "PYTHONS ?= ")
    (least,) = lines("pyproject.toml", "requires-python = ")
    assert matrix["python"] == VERSION.findall(checked) == VERSION.findall(made)
    assert matrix["python"][:1] == VERSION.findall(least)


def test_a_release_is_checked_and_attested_before_it_is_published() -> None:
    """The files that are attested are those that `make release` has checked, and the SBOM is among them."""
    if not WORKFLOW.exists():
        pytest.skip("the workflow is in the repository alone")
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert (jobs["build"]["needs"], jobs["publish"]["needs"]) == ("test", "build")
    steps = [step.get("run") or step["uses"].partition("@")[0] for step in jobs["build"]["steps"]]
    checked = steps.index("make release STRICT=--strict")
    for attests in ("actions/attest-build-provenance", "actions/attest-sbom"):
        assert steps.index(attests) > checked
        assert steps.index(attests) < steps.index("actions/upload-artifact")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
