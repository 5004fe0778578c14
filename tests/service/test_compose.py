"""The image and the compose file: what they name is there. Neither a registry nor a daemon is asked."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ebbtide.budget.shared.budgets import Budgets
from ebbtide.cli.app import root
from ebbtide.cli.service.serve import serve
from ebbtide.service.runs.run_place import run_place

SECRETS = {"EBBTIDE_TOKEN": "a-token-for-tests-alone", "POSTGRES_PASSWORD": "p"}


@pytest.fixture
def compose(project: Path) -> dict[str, Any]:
    return yaml.safe_load((project / "examples" / "compose" / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def dockerfile(project: Path) -> str:
    return (project / "Dockerfile").read_text(encoding="utf-8")


def test_the_image_is_made_of_what_there_is(project: Path, dockerfile: str) -> None:
    """Every file that is copied exists and may be copied, and the extras are those of the package."""
    sources = [
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.MULTILINE)
        for word in line.split()[:-1]
    ]
    let_in = (project / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{source}" for source in sources} <= set(let_in)
    assert all((project / source).exists() for source in sources)
    package = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.search(r"/source\[(.*?)\]", dockerfile)
    assert extras
    assert set(extras[1].split(",")) <= set(package["optional-dependencies"])


def test_the_service_takes_what_it_is_started_with(compose, dockerfile: str) -> None:
    """Options, variables, the port and the folder are those of `ebbtide serve`."""
    service = compose["services"]["ebbtide"]
    by_default = json.loads(re.findall(r"^CMD (.*)$", dockerfile, re.MULTILINE)[-1])
    for word, *arguments in (by_default, service["command"]):
        assert word == "serve"
        with serve.make_context("serve", [*arguments], resilient_parsing=False) as context:
            assert context.params["host"] == "0.0.0.0"  # noqa: S104 - inside the container
            port = context.params["port"]
    assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"EXPOSE {port}\n" in dockerfile
    assert f":{port}/healthz" in dockerfile
    assert set(service["environment"]) <= {option.envvar for option in (*root.params, *serve.params)}
    state = re.search(r"EBBTIDE_STATE=(\S+)", dockerfile)
    assert state
    assert f"state:{state[1]}" in service["volumes"]


def test_what_is_kept_is_in_the_database_of_the_file(compose) -> None:
    """Runs and decisions, in the one that the server makes, at the name that it has in the network."""
    services = compose["services"]
    password = services["postgres"]["environment"]["POSTGRES_PASSWORD"]
    database = services["postgres"]["environment"]["POSTGRES_DB"]
    for variable in ("EBBTIDE_DB", "EBBTIDE_LOG"):
        url = services["ebbtide"]["environment"][variable].replace(password, "secret")
        assert run_place(url).name == f"PostgreSQL {database} on postgres"


def test_budgets_of_the_example(project: Path, tmp_path: Path) -> None:
    """The settings can be read; their store is the Redis of the compose file."""
    text = (project / "examples" / "compose" / "ebbtide.toml").read_text(encoding="utf-8")
    assert text.count('"redis://redis:6379/0"') == 1
    file = tmp_path / "ebbtide.toml"
    file.write_text(text.replace("redis://redis:6379/0", "memory"), encoding="utf-8")
    Budgets.load(str(file)).close()


def test_no_secret_has_a_default(project: Path, compose) -> None:
    """What the example file leaves empty has to be given."""
    lines = (project / "examples" / "compose" / "example.env").read_text(encoding="utf-8").splitlines()
    assert {line.rstrip("=") for line in lines if not line.startswith("#")} == set(SECRETS)
    text = json.dumps(compose)
    for name in SECRETS:
        assert f"${{{name}:?" in text
        assert f"${{{name}}}" not in text
        assert f"${{{name}:-" not in text


def test_compose_reads_the_file(project: Path) -> None:
    """Where compose is installed: it needs no daemon for that, and refuses to go on without the secrets."""
    line = next((line for line in (["docker", "compose"], ["docker-compose"]) if _answers(line)), None)
    if line is None:
        pytest.skip("neither `docker compose` nor docker-compose is here")
    file = project / "examples" / "compose" / "compose.yaml"
    for secrets, code in ((SECRETS, 0), ({}, 1)):
        run = subprocess.run(
            [*line, "-f", str(file), "config", "--quiet"],
            env={"PATH": os.environ["PATH"], **secrets},
            capture_output=True,
            check=False,
        )
        assert min(run.returncode, 1) == code, run.stderr


def _answers(line: list[str]) -> bool:
    if shutil.which(line[0]) is None:
        return False
    return subprocess.run([*line, "version"], capture_output=True, check=False).returncode == 0
