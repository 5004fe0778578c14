"""The GitHub Action and the pre-commit hook: what they declare is run, as the services run it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT / "examples" / "runs"
ACTION: dict[str, Any] = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
ANNOTATION = re.compile(r"^::(error|warning|notice) ", re.MULTILINE)


class Job:
    """The folder of a job, with what the runner gives it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary = folder / "summary.md"
        self.output = folder / "output"
        command = folder / "temp" / "ebbtide" / "bin" / "ebbtide"
        command.parent.mkdir(parents=True)
        # What the step before installs.
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ebbtide "$@"\n')
        command.chmod(0o755)

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the step that checks, with its inputs in its environment."""
        values = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()}
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "check")
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        environment = {
            name: INPUT.sub(lambda match: values[match[1]], text) for name, text in step["env"].items()
        }
        runner = {
            "GITHUB_STEP_SUMMARY": self.summary,
            "GITHUB_OUTPUT": self.output,
            "GITHUB_ACTION_PATH": PROJECT,
            "RUNNER_TEMP": self.folder / "temp",
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=EXAMPLES,
            env=os.environ | environment | {name: str(path) for name, path in runner.items()},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_the_action_is_composite_and_documented() -> None:
    """Every step has a shell, every input a description, and no input is pasted into a script."""
    assert ACTION["runs"]["using"] == "composite"
    assert set(ACTION["inputs"]) == {"paths", "fail-on", "profile", "sarif"}
    for part in (*ACTION["inputs"].values(), *ACTION["outputs"].values()):
        assert part["description"]
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
    used = {name for step in ACTION["runs"]["steps"] for name in INPUT.findall(str(step.get("env")))}
    assert used == set(ACTION["inputs"])


def test_the_action_installs_what_it_was_checked_out_with() -> None:
    """From its own folder, once, where the next step looks for it."""
    (install,) = (step["run"] for step in ACTION["runs"]["steps"] if "install" in step["run"])
    *_, line = install.splitlines()
    command, place = shlex.split(line)[0], shlex.split(line)[-1]
    assert command == "$RUNNER_TEMP/ebbtide/bin/pip"
    assert place == "$GITHUB_ACTION_PATH"
    assert (PROJECT / "action.yml").parent == (PROJECT / "pyproject.toml").parent


def test_a_stuck_run_fails_the_job(job: Job) -> None:
    """Annotations on standard output, a summary, SARIF, and the exit code of the check."""
    sarif = job.folder / "ebbtide.sarif"
    process = job.run(paths="stuck.jsonl\nhealthy.jsonl\n", sarif=str(sarif))
    assert process.returncode == 50
    assert ANNOTATION.findall(process.stdout)[0] == "error"
    assert "file=stuck.jsonl" in process.stdout
    assert job.summary.read_text().startswith("## Ebbtide\n\n2 runs: 1 STUCK, 1 HEALTHY")
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert job.output.read_text() == "exit-code=50\n"


def test_a_healthy_run_passes(job: Job) -> None:
    """No annotation, and what was written to the summary before stays."""
    job.summary.write_text("before\n")
    process = job.run(paths="healthy.jsonl", profile="spec")
    assert (process.returncode, ANNOTATION.findall(process.stdout)) == (0, [])
    assert job.summary.read_text().startswith("before\n## Ebbtide")
    assert sorted(path.name for path in job.folder.iterdir()) == ["output", "step.sh", "summary.md", "temp"]


@pytest.mark.parametrize(
    ("inputs", "code", "words"),
    [
        ({"paths": "stuck.jsonl", "fail_on": ""}, 0, "::warning "),
        ({"paths": "absent.jsonl"}, 2, "no such file"),
        ({"paths": "\n"}, 2, "paths is empty"),
        ({"paths": "stuck.jsonl", "profile": "spce"}, 2, "did you mean spec?"),
        ({"paths": "stuck.jsonl", "fail_on": "cost=1,limit"}, 50, "--fail-on cost=1"),
        ({"paths": "--version"}, 2, "--version"),
        ({"paths": "$(touch pwned)\nhealthy.jsonl"}, 2, "pwned"),
    ],
)
def test_what_else_becomes_of_a_job(job: Job, inputs: dict[str, str], code: int, words: str) -> None:
    """Inputs are words and never commands; the code is that of the check."""
    process = job.run(**inputs)
    assert process.returncode == code
    assert words in process.stdout + process.stderr
    assert not (EXAMPLES / "pwned").exists()
    assert job.output.read_text() == f"exit-code={code}\n"


def test_the_hook_of_pre_commit_runs() -> None:
    """Its entry with its arguments and the names of files, of which it takes traces."""
    (hook,) = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language", "files"} <= set(hook)
    assert re.search(hook["files"], "traces/run.jsonl")
    assert not re.search(hook["files"], "package.json")
    program, *rest = [*shlex.split(hook["entry"]), *hook["args"]]
    assert program == "ebbtide"
    for names, code in (
        (["healthy.jsonl"], 0),
        (["healthy.jsonl", "stuck.jsonl"], 50),
        (["absent.jsonl"], 2),
    ):
        command = [sys.executable, "-m", program, *rest, *names]
        process = subprocess.run(command, cwd=EXAMPLES, capture_output=True, timeout=60, check=False)
        assert process.returncode == code, process.stderr


def test_the_docs_show_what_there_is(project: Path) -> None:
    """Each workflow and each configuration on the page is YAML, and names inputs and hooks that exist."""
    page = (project / "docs" / "ci.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    (workflow,) = (block for block in blocks if "jobs" in block)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    (own,) = (step for step in steps if "ebbtide" in step.get("uses", ""))
    assert set(own["with"]) <= set(ACTION["inputs"])
    (settings,) = (block for block in blocks if "repos" in block)
    hooks = [hook["id"] for repo in settings["repos"] for hook in repo["hooks"]]
    assert hooks == ["ebbtide-check"]
    assert all(f"| `{name}` |" in page for name in ACTION["inputs"])
