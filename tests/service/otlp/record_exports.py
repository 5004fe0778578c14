"""Has real frameworks export their spans, and checks what becomes of them.

    python tests/service/otlp/record_exports.py

Each gets an environment of its own, as the adapters do. ``--record`` keeps what they have sent for the tests
that run everywhere; ``--keep`` keeps the environments. Exits 0 if every one that ran gives what it should.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PROJECT = Path(__file__).parents[3]
EXPORTS = Path(__file__).parent / "exports"
_SDK = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")
#: What to install beside the framework, by the name of its harness.
REQUIREMENTS = {
    "anthropic_client": (
        "anthropic",
        "openinference-instrumentation-anthropic",
        "opentelemetry-instrumentation-anthropic",
    ),
    "langchain": ("openinference-instrumentation-langchain",),
    "openai_client": (
        "openai",
        "httpx",
        "openinference-instrumentation-openai",
        "opentelemetry-instrumentation-openai-v2",
        "opentelemetry-util-genai==1.0b0",  # openai-v2 2.4b0 cannot be imported with 1.3b0
    ),
    "strands": ("strands-agents>=1.10",),  # else pip prefers the newest SDK, and takes a very old one
    "smolagents": ("openinference-instrumentation-smolagents",),
}
_LONGEST_S = 300.0  # of a run
_WITHOUT_SWITCH = ("strands",)


class Sink(ThreadingHTTPServer):
    """Takes exports, and keeps them together: messages of protobuf behind each other are one."""

    def __init__(self) -> None:
        sink = self
        self.body = b""

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                sink.body += self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def main() -> int:
    """Record and check frameworks until the time is over."""
    # The script beside this one, and the kit of the adapters: a script finds only its own folder.
    sys.path.insert(0, str(PROJECT))
    from agent_run import INSTRUMENTATIONS

    from conformance.harness import ENVIRONMENTS
    from conformance.run_environments import new_environment, remove_environment

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="frameworks; by default all")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin none after so many minutes")
    parser.add_argument("--record", action="store_true", help="keep what they have sent, for the tests")
    parser.add_argument("--keep", action="store_true", help="keep the environments")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    others = []
    with tempfile.TemporaryDirectory() as folder:
        place = EXPORTS if options.record else Path(folder)
        for name in options.names or INSTRUMENTATIONS:
            if time.monotonic() > end:
                others.append(f"{name} (no time)")
                continue
            python = new_environment(
                f"otlp-{name}", (*ENVIRONMENTS.get(name, ()), *REQUIREMENTS.get(name, ()), *_SDK)
            )
            if python is None or not record(python, name, INSTRUMENTATIONS[name], place):
                others.append(f"{name} (cannot be run)")
            if not options.keep:
                remove_environment(f"otlp-{name}")
        print(f"left out: {', '.join(others) or 'none'}")
        test = Path(__file__).with_name("test_recorded_exports.py")
        check = [sys.executable, "-m", "pytest", "-q", "-n", "0", test]
        environment = {**os.environ, "EBBTIDE_EXPORTS": str(place)}
        return subprocess.run(check, env=environment, check=False).returncode


def record(python: str, name: str, instrumentations: Iterable[str], place: Path) -> bool:
    """Write down what a framework sends, with content and without; False where it does not run."""
    for instrumentation in instrumentations:
        for content in ("on",) if name in _WITHOUT_SWITCH else ("on", "off"):
            sink = Sink()
            environment = {
                **os.environ,
                "EBBTIDE_CONTENT": "1" if content == "on" else "0",
                "OTEL_EXPORTER_OTLP_ENDPOINT": sink.url,
                "OTEL_SERVICE_NAME": "demo",
                "PYTHONPATH": str(PROJECT),
            }
            line = [python, "-W", "ignore", Path(__file__).with_name("agent_run.py"), name, instrumentation]
            process = subprocess.run(
                line, env=environment, timeout=_LONGEST_S, capture_output=True, text=True, check=False
            )
            sink.shutdown()
            if process.returncode or not sink.body:
                print(name, instrumentation, process.stderr[-2_000:], file=sys.stderr)
                return False
            (place / f"{name}-{instrumentation}-{content}.pb.gz").write_bytes(
                gzip.compress(sink.body, mtime=0)
            )
        note_versions(python, f"{name}-{instrumentation}", place)
        print(f"{name} {instrumentation}: recorded", flush=True)
    return True


def note_versions(python: str, export: str, place: Path) -> None:
    """Say what an export was made with."""
    from conformance.harness import ENVIRONMENTS

    lines = subprocess.run(
        [python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    versions = dict(line.split("==", 1) for line in lines if "==" in line)
    name = export.partition("-")[0]
    packages = [
        requirement.partition("==")[0]
        for requirement in (*ENVIRONMENTS.get(name, ()), *REQUIREMENTS.get(name, ()), _SDK[0])
    ]
    file = place / "versions.json"
    table = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    table[export] = {package: versions[package] for package in packages if package in versions}
    file.write_text(json.dumps(dict(sorted(table.items())), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
