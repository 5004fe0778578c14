"""Writes what lists and installs the tools for models, into ``dist``: ``make mcp``.

``ebbtide-VERSION.mcpb`` is a bundle that an app such as Claude Desktop installs. It has the wheel, and uv
brings what that needs. ``server.json`` is the entry for the MCP registry, which proves the owner by the name
in the README on PyPI; it is written where ``PROJECT_URL`` says where the project is.

Sources: MANIFEST.md of https://github.com/modelcontextprotocol/mcpb, and the schema of 2025-12-11 of
https://github.com/modelcontextprotocol/registry
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
SERVER = Path(__file__).with_name("server.py")
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
TITLE = "Ebbtide"
SUMMARY = "Says which agent runs are stuck, why, what they cost, and whether a report is true."
PYTHON = ">=3.11"


def build_wheel(folder: Path) -> Path:
    """Returns the wheel of this copy, built into a folder."""
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--wheel",
        "--outdir",
        str(folder),
        str(PROJECT),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def metadata_of(wheel: Path) -> str:
    """Returns the metadata of a wheel, its README included."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return archive.read(name).decode()


def tools() -> list[dict[str, str]]:
    """Returns the names of the tools, and what they do, as the server lists them."""
    command = [sys.executable, "-m", "ebbtide", "mcp", "--json"]
    listed = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return [{"name": tool["name"], "description": tool["description"]} for tool in listed]


def manifest(version: str) -> dict[str, Any]:
    """Returns the manifest of the bundle."""
    place = "${__dirname}"
    return {
        "manifest_version": "0.4",
        "name": "ebbtide",
        "display_name": TITLE,
        "version": version,
        "description": SUMMARY,
        "author": {"name": TITLE},
        "license": "Apache-2.0",
        "keywords": ["agents", "loop detection", "cost", "decisions"],
        "server": {
            "type": "uv",
            "entry_point": SERVER.name,
            # For an app that runs the command, rather than uv by itself.
            "mcp_config": {"command": "uv", "args": ["run", "--directory", place, f"{place}/{SERVER.name}"]},
        },
        "tools": tools(),
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": PYTHON}},
    }


def needs(wheel: Path, version: str) -> str:
    """Returns the ``pyproject.toml`` of the bundle."""
    return f"""[project]
name = "ebbtide-bundle"
version = "{version}"
requires-python = "{PYTHON}"
dependencies = ["ebbtide[service]"]

[tool.uv]
package = false

[tool.uv.sources]
ebbtide = {{ path = "{wheel.name}" }}
"""


def write_bundle(path: Path, wheel: Path, version: str) -> None:
    """Write the bundle; of the same wheel always the same bytes."""
    content = {
        "manifest.json": (json.dumps(manifest(version), indent=2) + "\n").encode(),
        "pyproject.toml": needs(wheel, version).encode(),
        SERVER.name: SERVER.read_bytes(),
        "LICENSE": (PROJECT / "LICENSE").read_bytes(),
        wheel.name: wheel.read_bytes(),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name)  # with the first day that a zip knows
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)


def server_json(name: str, address: str, version: str, bundle: Path) -> dict[str, Any]:
    """Returns the entry for the registry: the package on PyPI, and the bundle of the release."""
    stdio = {"type": "stdio"}
    package = {
        "registryType": "pypi",
        "identifier": "ebbtide",
        "version": version,
        "runtimeHint": "uvx",
        # The package by itself has no server.
        "runtimeArguments": [{"type": "named", "name": "--with", "value": f"ebbtide[service]=={version}"}],
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": stdio,
    }
    download = {
        "registryType": "mcpb",
        "identifier": f"{address}/releases/download/v{version}/{bundle.name}",
        "version": version,
        "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
        "transport": stdio,
    }
    entry = {"$schema": SCHEMA, "name": name, "title": TITLE, "description": SUMMARY, "version": version}
    if name.startswith("io.github."):
        entry["repository"] = {"url": address, "source": "github"}
        return {**entry, "packages": [package, download]}
    return {**entry, "websiteUrl": address, "packages": [package]}


def main() -> None:
    """Write both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=PROJECT / "dist", help="where the files go")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        metadata = metadata_of(wheel)
        version = re.findall(r"^Version: (.+)$", metadata, re.MULTILINE)[0]
        bundle = out / f"ebbtide-{version}.mcpb"
        write_bundle(bundle, wheel, version)
    print(bundle)
    names = re.findall(r"mcp-name: (\S+)", metadata)
    if not names:
        print("no server.json: PROJECT_URL names the project that the registry is to list")
        return
    entry = server_json(names[0], os.environ["PROJECT_URL"].rstrip("/"), version, bundle)
    (out / "server.json").write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")
    print(out / "server.json")


if __name__ == "__main__":
    main()
