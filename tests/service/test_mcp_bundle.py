"""The bundle of the tools for models, and the entry for the MCP registry: written, opened and started."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import ebbtide

PROGRAM = Path(__file__).parents[2] / "plugins" / "mcp" / "write_bundle.py"
ADDRESS = "https://github.com/OWNER/ebbtide"


def write(out: Path, address: str = "") -> str:
    """What the program prints."""
    environment = {**os.environ, "PROJECT_URL": address}
    command = [sys.executable, str(PROGRAM), "--out", str(out)]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, encoding="utf-8", env=environment
    ).stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both files, and the content of the bundle in ``open``."""
    folder = tmp_path_factory.mktemp("dist")
    write(folder, ADDRESS)
    with zipfile.ZipFile(folder / f"ebbtide-{ebbtide.__version__}.mcpb") as archive:
        archive.extractall(folder / "open")
    return folder


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_server_that_the_manifest_names_lists_its_tools(written: Path, tmp_path: Path) -> None:
    """By the command of the manifest where uv is there, else its entry point by this Python."""
    place = written / "open"
    manifest = read(place / "manifest.json")
    server = manifest["server"]
    line = [server["mcp_config"]["command"], *server["mcp_config"]["args"]]
    assert line[-1] == "${__dirname}/" + server["entry_point"]
    if shutil.which("uv") is None:
        line = [sys.executable, line[-1]]
    line = [word.replace("${__dirname}", str(place)) for word in line]
    environment = {**os.environ, "EBBTIDE_STATE": str(tmp_path / "state")}

    async def names() -> list[str]:
        parameters = StdioServerParameters(command=line[0], args=line[1:], env=environment)
        async with Client(stdio_client(parameters)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    listed = anyio.run(names)
    assert "am_i_stuck" in listed
    assert [tool["name"] for tool in manifest["tools"]] == listed


def test_the_bundle_has_the_package_that_it_asks_for(written: Path) -> None:
    """The wheel of this version; each name in it is what the format of 0.4 knows."""
    place = written / "open"
    manifest = read(place / "manifest.json")
    assert manifest["manifest_version"] == "0.4"
    assert manifest["version"] == ebbtide.__version__
    assert (place / manifest["server"]["entry_point"]).is_file()
    (wheel,) = place.glob("*.whl")
    project = (place / "pyproject.toml").read_text(encoding="utf-8")
    assert f'ebbtide = {{ path = "{wheel.name}" }}' in project
    assert "ebbtide[service]" in project


def test_the_entry_of_the_registry(written: Path) -> None:
    """As its schema of 2025-12-11 asks; the owner is proven by a line in the README of the package."""
    entry = read(written / "server.json")
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert entry["name"] == "io.github.OWNER/ebbtide"
    assert 0 < len(entry["description"]) <= 100
    assert entry["repository"] == {"url": ADDRESS, "source": "github"}
    package, bundle = entry["packages"]
    assert {entry["version"], package["version"], bundle["version"]} == {ebbtide.__version__}
    assert [argument["value"] for argument in package["packageArguments"]] == ["mcp"]
    assert all(item["transport"] == {"type": "stdio"} for item in entry["packages"])
    assert re.fullmatch(r"[a-f0-9]{64}", bundle["fileSha256"])
    (wheel,) = (written / "open").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        assert f"mcp-name: {entry['name']}" in archive.read(name).decode()


def test_a_copy_without_an_address_has_a_bundle_alone(tmp_path: Path) -> None:
    """And of the same sources the bundle has the same bytes."""
    assert "PROJECT_URL" in write(tmp_path / "once")
    write(tmp_path / "again")
    (once,), (again,) = (tmp_path / "once").iterdir(), (tmp_path / "again").iterdir()
    assert once.read_bytes() == again.read_bytes()
