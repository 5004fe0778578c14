"""Files that were made to hang, to fill the memory or to mislead: every command refuses them at once."""

import gzip
import io
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 14):
    import zipfile as packer
else:
    from backports.zstd import zipfile as packer

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
HEALTHY, STUCK = EXAMPLES / "healthy.jsonl", EXAMPLES / "stuck.jsonl"
EVENT = b'{"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt"}\n'
CHAT = b'{"role": "user", "content": "hello"}\n'
MEGABYTE = 1 << 20
_LIMITED = """
import pathlib, re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
from ebbtide.cli.app import main
sys.argv[0] = "ebbtide"
try:
    main()
finally:
    # Not what `getrusage` counts: that begins with the memory of the process that started this one.
    status = pathlib.Path("/proc/self/status")
    text = status.read_text() if status.exists() else "VmHWM: 0"
    print("PEAK", int(re.search(r"VmHWM:\\s*(\\d+)", text)[1]) // 1024, file=sys.stderr)
"""

TRACE_COMMANDS = [
    ("check",),
    ("check", "--json"),
    ("watch", "--until-end", "--no-bell"),
    ("loops",),
    ("score",),
    ("stop",),
    ("extract",),
    ("calibrate",),
    ("decisions", "from"),
    ("decisions", "import"),
]


class Ended:
    """A command that ended."""

    def __init__(self, code: int, output: str, message: str, seconds: float) -> None:
        self.code = code
        self.output = output
        *lines, peak = message.splitlines()
        self.message = "\n".join(lines)
        self.megabytes = int(peak.removeprefix("PEAK "))
        self.seconds = seconds


def run(*arguments: str | Path, stdin: int = subprocess.DEVNULL, within: float = 20) -> Ended:
    """Run the command and measure it: seconds by processor, so that a busy machine changes nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.run(
        [sys.executable, "-c", _LIMITED, *map(str, arguments)],
        capture_output=True,
        stdin=stdin,
        timeout=within,
        check=False,
        env={**os.environ, "EBBTIDE_LOG": ":memory:"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ended = Ended(process.returncode, process.stdout.decode(), process.stderr.decode(), seconds)
    assert "Traceback" not in ended.message, ended.message
    return ended


@pytest.fixture(scope="module")
def start() -> float:
    """Seconds of processor that a command takes which refuses at once."""
    return run("check", "no-such-file.jsonl").seconds


def _zip(kind: int, module: Any) -> bytes:
    target = io.BytesIO()
    with module.ZipFile(target, "w", kind) as file:
        file.writestr("header.json", "{}")
        with file.open("samples/1_epoch_1.json", "w") as sample:
            sample.write(b'{"id": 1, "epoch": 1, "messages": [')
            for _ in range(100):
                sample.write(b" " * MEGABYTE)
    return target.getvalue()


def _gzip(head: bytes, piece: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(head), *(packer.compress(piece) for _ in range(times)), packer.flush()]
    return b"".join(parts)


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bombs")
    contents = {
        "zeros.gz": _gzip(b"", bytes(MEGABYTE), 100),
        "line.jsonl.gz": _gzip(EVENT + EVENT[:40], b"a" * MEGABYTE, 100),
        "events.jsonl.gz": _gzip(b"", EVENT * 10_000, 100),
        "chat.jsonl.gz": _gzip(b"", CHAT * 20_000, 100),
        "list.json.gz": _gzip(b"[", CHAT.rstrip() + b", " * 20_000, 300),
        "text.txt.gz": _gzip(b"", b"Ann: The cache is cold.\nBob: It is.\n" * 20_000, 100),
        "deflated.eval": _zip(zipfile.ZIP_DEFLATED, zipfile),
        "zstandard.eval": _zip(packer.ZIP_ZSTANDARD, packer),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


@pytest.mark.parametrize("command", TRACE_COMMANDS, ids=" ".join)
def test_no_command_unpacks_a_bomb(
    command: tuple[str, ...], bombs: dict[str, Path], start: float, tmp_path: Path
) -> None:
    """Each ends within a second beyond its start and within 100 MB, with exit code 2 and the reason."""
    names = ["events.jsonl.gz", "line.jsonl.gz"]
    names += [] if {"import", "calibrate", "watch"} & set(command) else ["zstandard.eval"]
    for name in names:
        ended = run(*command, bombs[name])
        assert ended.code == 2, (name, ended.output)
        assert "times its size" in ended.message + ended.output, (name, ended.message)
        assert ended.seconds < start + 1, name
        assert ended.megabytes < 100, name


def test_no_kind_of_bomb_is_unpacked(bombs: dict[str, Path], start: float) -> None:
    """In a folder each of them is UNREADABLE, and the run beside them is checked."""
    folder = next(iter(bombs.values())).parent
    (folder / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    ended = run("check", folder, "--jobs", "1", "--fail-on", "stuck")
    assert ended.code == 2
    assert ended.output.startswith("1 run: 1 HEALTHY")
    assert f"{len(bombs)} files UNREADABLE" in ended.output
    assert ended.message.count("times its size") == len(bombs)
    assert ended.seconds < start + 1.5
    assert ended.megabytes < 100


def test_a_large_trace_is_read_from_a_small_file(tmp_path: Path) -> None:
    """Twenty to one is what traces compress to: read whole, as a stream."""
    path = tmp_path / "large.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=6) as file:
        for number in range(20_000):
            args = {"path": f"src/module_{number * 7919 % 10_007}.py"}
            text = f"line {number}: " + "the same words again and again, " * 20
            event = {"kind": "tool", "name": "read", "args": args, "result": text, "ts": number}
            file.write(json.dumps(event).encode() + b"\n")
    assert path.stat().st_size * 15 < 20_000 * 700
    ended = run("check", "--json", path, within=60)
    assert ended.code == 0
    assert json.loads(ended.output)["spent"]["events"] == 20_000
    assert ended.megabytes < 100


DEEP = {
    "list.json": b"[" * 40_000 + b"]" * 40_000,
    "object.json": b'{"a":' * 40_000 + b"1" + b"}" * 40_000,
    "cut.json": b'[{"a":' * 40_000,
    "line.jsonl": b'{"kind": "tool", "name": "a", "args": ' + b"[" * 40_000 + b"]" * 40_000 + b"}\n",
}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("command", ["check", "score"])
def test_deep_json_is_refused_at_once(tmp_path: Path, command: str, name: str, start: float) -> None:
    """A tenth of a second and a little for the start, which differs by command."""
    path = tmp_path / name
    path.write_bytes(DEEP[name])
    ended = run(command, path)
    assert ended.code == 2
    assert "nested too deeply" in ended.message
    assert ended.seconds < start + 0.4


DEEP_TOML = {
    "lists": "a = " + "[" * 50_000 + "]" * 50_000,
    "tables": "a = " + "{a = " * 50_000 + "1" + "}" * 50_000,
    "key": ".".join("a" * 50_000) + " = 1\n",
    "header": "[" + ".".join("a" * 50_000) + "]\nb = 1\n",
}


@pytest.mark.parametrize("shape", DEEP_TOML)
@pytest.mark.parametrize("option", ["--profile", "--limits", "--tools", "--prices"])
def test_deep_toml_is_refused_at_once(tmp_path: Path, option: str, shape: str, start: float) -> None:
    """Whatever the file is for."""
    path = tmp_path / "settings.toml"
    path.write_text(DEEP_TOML[shape])
    ended = run("check", option, path, HEALTHY)
    assert ended.code == 2
    assert "nested too deeply" in ended.message
    assert ended.seconds < start + 0.4


@pytest.fixture
def odd_folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    for name in ("pipe.jsonl", "0.json"):
        os.mkfifo(folder / name)
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "random.json").symlink_to("/dev/urandom")
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    (folder / "nowhere.jsonl").symlink_to("nothing-here")
    (folder / "above").symlink_to("..")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        yield folder


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_listed_and_not_opened(odd_folder: Path) -> None:
    """Pipes, devices and sockets are skipped, links to nothing are UNREADABLE; nothing waits."""
    ended = run("check", "--json", odd_folder)
    assert ended.code == 0
    lines = [json.loads(line) for line in ended.output.splitlines()]
    reasons = {Path(line["source"]).name: line["skipped"] for line in lines if "skipped" in line}
    assert reasons == {
        "pipe.jsonl": "a named pipe, not a file",
        "0.json": "a named pipe, not a file",
        "zero.jsonl": "a device, not a file",
        "random.json": "a device, not a file",
        "socket": "a socket, not a file",
        "loop.jsonl": "cannot be read: Too many levels of symbolic links",
        "nowhere.jsonl": "a link to a file that is not there",
    }
    unreadable = {Path(line["source"]).name for line in lines if line.get("headline") == "UNREADABLE"}
    assert unreadable == {"loop.jsonl", "nowhere.jsonl"}
    assert run("check", odd_folder, "--fail-on", "stuck").code == 2
    for name in unreadable:
        (odd_folder / name).unlink()
    assert run("check", odd_folder, "--fail-on", "stuck").code == 0
    assert run("score", odd_folder).message.count("skipped: ") == 4


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    """A file and a folder without permission."""
    (tmp_path / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    for name in ("secret.jsonl", "closed"):
        (tmp_path / name).mkdir() if name == "closed" else (tmp_path / name).write_bytes(b"")
        (tmp_path / name).chmod(0)
    ended = run("check", tmp_path, "--fail-on", "stuck")
    (tmp_path / "closed").chmod(0o700)
    assert ended.code == 2
    assert ended.message.count("Permission denied") == 2


@pytest.mark.parametrize("command", ["check", "score", "stop", "watch", "loops", "extract"])
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_is_named_ends(command: str, device: str) -> None:
    """With exit code 2, and not when the memory is full."""
    if not Path(device).exists():
        pytest.skip(f"this system has no {device}")
    ended = run(command, device)
    assert ended.code == 2
    assert device in ended.message
    assert ended.megabytes < 100


@pytest.mark.parametrize("option", ["--limits", "--tools", "--prices"])
def test_a_device_is_no_file_of_settings(option: str) -> None:
    """It is not opened."""
    ended = run("check", option, "/dev/zero", HEALTHY)
    assert ended.code == 2
    assert f"{option} /dev/zero: a device, not a file" in ended.message


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="this system has no /dev/stdin")
@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "-"])
def test_a_pipe_that_is_named_is_read(name: str) -> None:
    """As `check <(command)` does it."""
    with subprocess.Popen(["cat", str(STUCK)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        ended = run("check", name, stdin=writer.stdout.fileno())
    assert ended.code == 0
    assert ended.output.startswith("STUCK")


PIPE_USES = [
    "check PIPE",
    "check --json PIPE",
    "score PIPE",
    "stop PIPE",
    "loops PIPE",
    "extract PIPE",
    "calibrate PIPE",
    "watch --until-end PIPE",
    "archive check PIPE --output NEW",
    "archive report PIPE",
    "decisions from PIPE",
    "decisions import PIPE",
    "check --prices PIPE RUN",
    "check --limits PIPE RUN",
    "check --tools PIPE RUN",
    "check --profile PIPE RUN",
    "check --baseline PIPE RUN",
    "check --write-baseline PIPE RUN",
    "check --html PIPE RUN",
    "--config PIPE check RUN",
    "archive check RUN --output PIPE",
    "archive check --rows --map PIPE RUN --output NEW",
    "budgets list --budgets PIPE",
    "decisions list --log PIPE",
    "decisions verify --heads PIPE",
    "serve --db PIPE --idle 0 --port 0 --no-sessions",
    "serve --alerts PIPE --idle 0 --port 0 --no-sessions",
]


@pytest.fixture
def patience() -> Iterator[None]:
    """Ends a wait that would have no end."""

    def give_up(*_: object) -> None:
        raise TimeoutError("somebody waits for a pipe")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(90)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("line", PIPE_USES)
def test_a_named_pipe_is_not_opened(here, patience: None, tmp_path: Path, line: str) -> None:
    """Whatever it is named as: nobody writes into it, and a command that opened it would wait for ever."""
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    words = {"PIPE": pipe, "RUN": HEALTHY, "NEW": tmp_path / "new.parquet"}
    ended = here(*(words.get(word, word) for word in line.split()))
    if line.startswith("archive check PIPE"):  # one run of an archive, listed as unreadable
        assert (ended.code, ended.output.count("a named pipe, not a file")) == (51, 1)
    else:
        assert (ended.code, "a named pipe, not a file" in ended.message) == (2, True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_nothing_special_is_opened_by_the_library(patience: None, tmp_path: Path) -> None:
    """Settings, stores, traces and the session that an agent names in a hook."""
    from ebbtide import Budgets, ConfigError, Prices, Profile, StoreError, TranscriptError
    from ebbtide.checking import check
    from ebbtide.service.hooks.growing_session import GrowingSession, last_report
    from ebbtide.traces.agents.claude_code import ClaudeCodeReader

    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for load in (Prices.load, Profile.load, Budgets.load):
        with pytest.raises(ConfigError, match="a named pipe, not a file"):
            load(pipe)
    with pytest.raises(TranscriptError, match="a named pipe, not a file"):
        check(pipe)
    table = {"store": str(pipe), "limits": [{"scope": "all", "limit_usd": 1.0}]}
    with pytest.raises(StoreError, match="a named pipe, not a file"):
        Budgets.from_dict(table)
    assert GrowingSession(str(pipe), ClaudeCodeReader, chain="main", place=0).look() == []
    assert last_report(str(pipe), ClaudeCodeReader) is None


GOOD = HEALTHY.read_bytes().splitlines(keepends=True)
BROKEN_LINES = {
    "zeros": bytes(4_096) + b"\n",
    "not UTF-8": b'{"kind": "tool", "name": "\xff\xfe"}\n',
    "binary": bytes(range(256)).replace(b"\n", b"") + b"\n",
    "deep": DEEP["line.jsonl"],
}


@pytest.mark.parametrize("at", [0, 5, len(GOOD)])
@pytest.mark.parametrize("kind", BROKEN_LINES)
def test_a_broken_line_costs_itself(tmp_path: Path, kind: str, at: int) -> None:
    """Wherever it stands, every other event is read."""
    from ebbtide.checking import check

    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join([*GOOD[:at], BROKEN_LINES[kind], *GOOD[at:]]))
    summary = check(path)
    assert (summary.spent.events, summary.degraded) == (len(GOOD), 1)
    assert f":{at + 1}: " in summary.faults[0]


def test_a_lone_surrogate_and_a_cut_last_line(tmp_path: Path) -> None:
    """The first is read with a replacement, the second is one fault."""
    from ebbtide.checking import check

    path = tmp_path / "run.jsonl"
    lone = b'{"kind": "tool", "name": "ls", "args": {"path": "\\ud800"}, "result": "x"}\n'
    path.write_bytes(b"".join([*GOOD, lone, GOOD[0][:40]]))
    summary = check(path)
    assert (summary.spent.events, summary.degraded) == (len(GOOD) + 1, 1)


@pytest.mark.parametrize("first", [True, False])
def test_a_line_of_200_megabytes_costs_itself(tmp_path: Path, first: bool) -> None:
    """It is read past, and what stands around it is checked."""
    path = tmp_path / "run.jsonl"
    with path.open("wb") as file:
        file.writelines([] if first else GOOD)
        file.write(b'{"kind": "tool", "name": "ls", "args": {"path": "')
        for _ in range(200):
            file.write(b"a" * MEGABYTE)
        file.write(b'"}}\n')
        file.writelines(GOOD if first else [])
    ended = run("check", "--json", path, within=60)
    assert ended.code == 0
    assert json.loads(ended.output)["spent"]["events"] >= len(GOOD)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (EVENT[:40], "not JSON"),
        (b'{"kind": "tool"}\n{"kind": "tool"}\n', "name"),
        (bytes(4_096), "binary"),
        (b"", "empty"),
    ],
)
def test_a_trace_without_a_readable_event_is_unreadable(tmp_path: Path, content: bytes, why: str) -> None:
    """It is never HEALTHY: exit code 2 alone and beside another, with JSON and without."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    for command in ("check", "loops", "watch"):
        ended = run(command, *(["--until-end"] if command == "watch" else []), path)
        assert (ended.code, "HEALTHY" in ended.output) == (2, False)
        assert why in ended.message
    ended = run("check", "--json", path)
    assert (ended.code, json.loads(ended.output)["headline"]) == (2, "UNREADABLE")
    ended = run("check", path, HEALTHY)
    assert ended.code == 2
    assert "1 file UNREADABLE:" in ended.output
    assert "1 HEALTHY" in ended.output


@pytest.mark.parametrize(
    ("names", "conditions", "code"),
    [
        (["healthy.jsonl", "typo.jsonl"], [], 2),
        (["healthy.jsonl", "typo.jsonl"], ["stuck"], 2),
        (["stuck.jsonl", "typo.jsonl"], ["stuck"], 2),
        (["healthy.jsonl", "README.md"], ["stuck"], 2),
        (["."], [], 0),
        (["."], ["limit"], 2),
        (["others"], ["limit"], 0),
        (["others"], ["stuck"], 50),
    ],
)
def test_exit_codes(tmp_path: Path, names: list[str], conditions: list[str], code: int) -> None:
    """2 comes before 50, since what cannot be read may hide more; what is no trace counts only if named."""
    others = tmp_path / "others"
    others.mkdir()
    for name in ("healthy.jsonl", "stuck.jsonl"):
        (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    (others / "stuck.jsonl").write_bytes(STUCK.read_bytes())
    (others / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (others / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    (others / "empty.py").write_bytes(b"")
    (tmp_path / "README.md").write_text("# Runs\n\nNote: nothing here.\n")
    (tmp_path / "cut.jsonl").write_bytes(EVENT[:30])
    options = [part for condition in conditions for part in ("--fail-on", condition)]
    ended = run("check", *(tmp_path / name for name in names), *options)
    assert ended.code == code
    assert "verdict" in ended.output


def test_time_is_measured() -> None:
    """The measure itself: a command takes some time and some memory."""
    before = time.monotonic()
    ended = run("--version")
    assert 0 < ended.seconds < time.monotonic() - before + 1
    assert ended.megabytes > 5 or not Path("/proc").exists()


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system has no such names")
@pytest.mark.parametrize("command", ["check --format sarif", "archive check --out out.parquet"])
def test_a_name_that_is_no_utf8(tmp_path: Path, command: str) -> None:
    """The run in such a file is checked as every other, and the result is written."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / os.fsdecode(b"a\xff.jsonl")).write_bytes(EVENT * 30)
    line = [sys.executable, "-m", "ebbtide", *command.split(), str(folder)]
    process = subprocess.run(line, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert b"Traceback" not in process.stderr
    assert b"%FF" in process.stdout or (tmp_path / "out.parquet").stat().st_size


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_no_file_of_settings(tmp_path: Path) -> None:
    """What a search comes upon is not opened: nobody may ever write to it."""
    os.mkfifo(tmp_path / "ebbtide.toml")
    line = [sys.executable, "-m", "ebbtide", "budgets", "list"]
    process = subprocess.run(line, cwd=tmp_path, capture_output=True, check=False, timeout=20, text=True)
    assert "ebbtide.toml: no file" in process.stderr
