"""`ebbtide demo`: a sample of runs, made, checked and shown."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ebbtide.checking import check
from ebbtide.cli.lines import Line, print_lines
from ebbtide.cli.runs.checking import Output, show
from ebbtide.cli.runs.demo_runs import demo_runs
from ebbtide.errors import ConfigError
from ebbtide.supervision.run_options import RunOptions


def demo(*, out: Path | None, html: Path | None, redact: bool, as_json: bool) -> None:
    """Make the runs, check them and print the table.

    Args:
        out: Folder that keeps the runs; None deletes them afterwards.
        html: Write the page into this file; None writes none.
        redact: Mask keys and passwords.
        as_json: Print JSON instead of the table.

    Raises:
        ConfigError: The folder or the page cannot be written.
    """
    options = RunOptions(timeline=html is not None, redact=redact)
    with _folder(out) as folder:
        files = []
        for name, content in demo_runs().items():
            files.append(str(folder / name))
            try:
                (folder / name).write_text(content, encoding="utf-8")
            except OSError as error:
                raise ConfigError(f"{folder / name}: {error.strerror or error}") from error
        summaries = [check(file, options) for file in files]
    if out is None:
        # A folder that is gone is no name for a run.
        summaries = [dataclasses.replace(item, source=Path(item.source).name) for item in summaries]
    show(summaries, (), options, Output(as_json=as_json, html=html))
    if not as_json:
        _next_step(out, html)


@contextlib.contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is None:
        with tempfile.TemporaryDirectory(prefix="ebbtide-demo-") as name:
            yield Path(name)
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{out}: cannot be a folder: {error.strerror or error}") from error
    yield out


def _next_step(out: Path | None, html: Path | None) -> None:
    lines = [Line()]
    if html is not None:
        lines.append(Line.safe(f"The report is in {html}.", "dim"))
    hint = (
        "ebbtide demo --keep demo"
        if out is None
        else f"ebbtide check {shlex.quote(str(out / 'stuck.jsonl'))}"
    )
    print_lines([*lines, Line.safe(f"Next: {hint}", "dim")])
