"""`ebbtide demo`: a sample of runs, made, checked and shown."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from ebbtide.checking import check
from ebbtide.cli.declaration import AsJson, Command, Option, Page
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.checking import Output, show
from ebbtide.cli.terminal import Line, print_lines
from ebbtide.errors import ConfigError
from ebbtide.supervision.run_options import RunOptions


@click.command(cls=Command)
def demo(
    out: Annotated[Path | None, Option("--keep", metavar="DIR", help="Keep the runs in DIR.")] = None,
    html: Page = None,
    as_json: AsJson = False,
) -> None:
    """Make four sample runs and check them."""
    options = RunOptions(timeline=html is not None)
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
    form = CheckFormat.JSON if as_json else CheckFormat.TEXT
    show(summaries, (), options, Output(form=form, html=html))
    if not as_json:
        _next_step(out)


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


def _next_step(out: Path | None) -> None:
    hint = (
        "ebbtide demo --keep demo"
        if out is None
        else f"ebbtide check {shlex.quote(str(out / 'stuck.jsonl'))}"
    )
    print_lines([Line(), Line.safe(f"Next: {hint}", "dim")])


_MODEL = "demo-model"
_PRICES = {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}  # USD per million tokens
_START = 1_700_000_000.0
_CHARACTERS = 4  # a token
_LONG_ANSWERS = frozenset({"read_file", "run_tests", "web_search", "web_fetch"})
_LENGTH = 2_400  # characters of a long answer


def demo_runs() -> Mapping[str, str]:
    """File name and content of each run; the noisy one is a session of Claude Code."""
    return {
        "healthy.jsonl": _healthy(),
        "stuck.jsonl": _stuck(),
        "converged.jsonl": _converged(),
        "noisy-claude-code.jsonl": _noisy(),
    }


def _cost(**tokens: int) -> float:
    return round(sum(count * _PRICES[name] for name, count in tokens.items()) / 1_000_000, 6)


def _filled(text: str, *, is_sum: bool) -> str:
    """A text with what else is in such a result, which it sums up or begins."""
    rest = "test_cart ok" if is_sum else text[:60]
    lines: list[str] = []
    size = len(text)
    while size < _LENGTH:
        lines.append(f"{len(lines) + 1:>4}  {rest}")
        size += len(lines[-1]) + 1
    return "\n".join([*lines, text] if is_sum else [text, *lines])


class _Run:
    """Events of a run, with a clock, and a context that grows by what was read and said."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._context = 2_400  # tokens: the system prompt and the tool definitions

    def tool(self, name: str, args: object, result: str, *, error: bool = False) -> None:
        answer = _filled(result, is_sum=name == "run_tests") if name in _LONG_ANSWERS else result
        self._context += (len(json.dumps(args)) + len(answer)) // _CHARACTERS
        self._add({"kind": "tool", "name": name, "args": args, "result": answer, "error": error}, None)

    def user(self, text: str) -> None:
        self._context += len(text) // _CHARACTERS
        self._add({"kind": "user", "name": "message", "text": text}, None)

    def says(self, text: str, agent: str | None = None) -> None:
        event = {"kind": "llm", "name": "message", "text": text, "agent": agent, "model": _MODEL}
        output = 40 + len(text) // _CHARACTERS
        self._add(event, (self._context, output))
        self._context += output

    def _add(self, event: dict[str, Any], tokens: tuple[int, int] | None) -> None:
        event["ts"] = _START + 7.0 * (len(self.events) + 1)
        if tokens is not None:
            event["input_tokens"], event["output_tokens"] = tokens
            event["cost_usd"] = _cost(input=tokens[0], output=tokens[1])
        self.events.append({key: value for key, value in event.items() if value is not None})

    def lines(self) -> str:
        return "".join(f"{json.dumps(event)}\n" for event in self.events)


def _healthy() -> str:
    run = _Run()
    run.says("I will read the cart module first, then run the tests to see what fails.")
    run.tool("list_files", {"path": "src"}, "cart.py price.py tax.py")
    steps = (
        ("cart.py", "Totals are rounded before the discount, so two cents get lost.", "6 failed"),
        ("price.py", "The price table is read in pence and the cart adds pounds.", "3 failed"),
        ("tax.py", "Reduced tax is looked up by a name that ends in a space.", "1 failed"),
        ("cart.py", "An empty cart divides by its number of lines.", "40 passed"),
    )
    for number, (file, finding, tests) in enumerate(steps, start=1):
        run.tool("read_file", {"path": f"src/{file}", "from": 40 * number}, f"lines of {file}, part {number}")
        run.says(f"{finding} Next: fix it in {file} and run the tests again.")
        run.tool("edit_file", {"path": f"src/{file}", "old": f"bug {number}", "new": f"fix {number}"}, "ok")
        run.tool("run_tests", {}, tests, error="failed" in tests)
    run.says("We decided to round once, after the discount, because rounding twice loses cents.")
    run.tool("git_commit", {"message": "Round once, after the discount"}, "1 file changed")
    run.says("The totals are right now: all 40 tests pass, and the fix is committed.")
    return run.lines()


def _stuck() -> str:
    run = _Run()
    run.user("Add the revenue of 2019 to the table of the ferry company.")
    run.says(
        "The table has 2018 and 2020, and 2019 is missing. Annual reports and press articles could have it. "
        "We decided to use annual reports instead of press articles, because they are audited."
    )
    run.user("Good. Which report?")
    run.says("The report of 2019 has its own figure. The report of 2020 has it for comparison.")
    run.user("Take whichever you find.")
    run.tool("read_file", {"path": "table.csv"}, "year,revenue\n2018,41.2\n2020,17.9")
    run.tool("web_search", {"q": "ferry company reports"}, "3 results: about us, timetable, report 2021")
    run.says("The report of 2021 is on the site, the two others are not listed there.")
    run.user("Keep looking.")
    page = "Report 2021. For earlier years write to us."
    for number in range(1, 17):
        if number % 4 == 0:
            run.says("The report of 2019 has its own figure. I will look for the report again.")
            run.user("Yes, go on.")
        run.tool("web_search", {"q": "ferry annual report 2019"}, "2 results: report 2021, timetable")
        run.tool("web_fetch", {"url": "https://ferry.example/2021"}, page)
        run.says("The figure for 2019 is still missing. I will search for the report again.")
    return run.lines()


def _converged() -> str:
    run = _Run()
    action = "\n\nNext actions:\n- Ben: write the job in jobs/summary.py by Friday"
    turns = (
        ("Every chart queries the primary database.", "The slow queries are the monthly sums."),
        ("Monthly sums change once a day.", "A nightly table can hold them.", "A read replica costs more."),
        (
            "We decided to use a nightly summary table instead of a replica, because the data is daily.",
            "The job has to fail loudly.",
            action,
        ),
        ("A nightly table can hold them.", "Monthly sums change once a day.", action),
        ("The slow queries are the monthly sums.", "A nightly table can hold them.", action),
    )
    for number, sentences in enumerate(turns):
        run.says(" ".join(sentences), ("ana", "ben")[number % 2])
    return run.lines()


def _noisy() -> str:
    """A coding session that says much, asks for one thing three times, and gets there."""
    session = _Session()
    session.user("The export fails on names with umlauts. Please fix it.")
    session.says("Sure! Let me take a look at this right away.")
    for _ in range(3):
        session.says("Okay, let me check the encoding of the file.")
        session.tool("Bash", {"command": "file -i export.csv"}, "export.csv: text/csv; charset=iso-8859-1")
    session.says("Great, I see. Let me look at the writer.\n\nDecision: skip")
    session.tool("Read", {"file_path": "src/export.py"}, "open(path, 'w', encoding='latin-1')")
    choice = "We decided to write the export as UTF-8 with a byte order mark, because Excel needs it."
    session.says(choice)
    edit = {"file_path": "src/export.py", "old_string": "latin-1", "new_string": "utf-8-sig"}
    session.tool("Edit", edit, "ok")
    session.says("Perfect! Let me run the tests now.")
    session.tool("Bash", {"command": "pytest -q"}, "14 passed")
    session.says(f"All done! {choice}")
    return session.lines()


class _Session:
    """A session as Claude Code writes it."""

    def __init__(self) -> None:
        self._lines: list[dict[str, Any]] = []
        self._calls = 0

    def user(self, content: object) -> None:
        self._add("user", {"role": "user", "content": content})

    def says(self, text: str) -> None:
        self._assistant([{"type": "text", "text": text}])

    def tool(self, name: str, arguments: Mapping[str, str], result: str) -> None:
        self._calls += 1
        call = f"toolu_demo_{self._calls:02}"
        self._assistant([{"type": "tool_use", "id": call, "name": name, "input": dict(arguments)}])
        self.user([{"type": "tool_result", "tool_use_id": call, "content": result, "is_error": False}])

    def _assistant(self, content: Sequence[Mapping[str, Any]]) -> None:
        number = len(self._lines) + 1
        usage = {
            "input_tokens": 12,
            "cache_read_input_tokens": 9_000 + 400 * number,
            "cache_creation_input_tokens": 350,
            "output_tokens": 60,
        }
        message = {"id": f"msg_demo_{number:02}", "type": "message", "role": "assistant", "model": _MODEL}
        cost = _cost(
            input=usage["input_tokens"],
            output=usage["output_tokens"],
            cache_read=usage["cache_read_input_tokens"],
            cache_write=usage["cache_creation_input_tokens"],
        )
        self._add("assistant", {**message, "content": list(content), "usage": usage}, costUSD=cost)

    def _add(self, kind: str, message: Mapping[str, Any], **more: float) -> None:
        number = len(self._lines) + 1
        line = {
            "type": kind,
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number > 1 else None,
            "sessionId": "00000000-0000-4000-8000-00000000demo",
            "timestamp": f"2025-06-01T10:{number * 9 // 60:02}:{number * 9 % 60:02}.000Z",
            "cwd": "/srv/export",
            "version": "1.0.0",
            "isSidechain": False,
            "userType": "external",
            "message": dict(message),
            **more,
        }
        self._lines.append(line)

    def lines(self) -> str:
        return "".join(f"{json.dumps(line)}\n" for line in self._lines)
