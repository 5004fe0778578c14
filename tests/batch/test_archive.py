"""An archive of files: all cores, the same file of results, and where it was after a kill."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ebbtide.batch.archive.archive_files import files_at
from ebbtide.batch.archive.archive_pool import RunChunk, check_chunks
from ebbtide.batch.check_archive import ArchiveTask, check_files, file_chunks
from ebbtide.batch.results.archived_run import FileRun
from ebbtide.batch.results.result_parts import ResultParts, result_batches
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.supervision.run_options import RunOptions

STUCK = [{"kind": "tool", "name": "search", "args": {"q": "invoice"}, "result": "nothing"}] * 9
HEALTHY = [{"kind": "tool", "name": "read", "args": {"page": n}, "result": f"page {n}"} for n in range(9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of thirty runs in three folders, a picture and a broken file."""
    top = tmp_path / "runs"
    for number in range(30):
        path = top / f"week {number % 3}" / f"run-{number:02}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(map(json.dumps, STUCK if number % 2 else HEALTHY)))
    (top / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (top / "broken.jsonl").write_text("{")
    return top


def rows(path: Path) -> list[dict[str, object]]:
    """The rows of a file of results, without where they came from."""
    return [row for batch in result_batches(path) for row in batch.to_pylist()]


def test_the_results_depend_on_no_number_of_processes(folder: Path, tmp_path: Path) -> None:
    """One process and three write the same bytes, a row a run and ordered by it."""
    files = files_at([str(folder)])
    outputs = [tmp_path / f"{jobs}.parquet" for jobs in (1, 3)]
    for jobs, output in zip((1, 3), outputs, strict=True):
        counts, _ = check_files(files, ArchiveTask(output=output, options=RunOptions(), jobs=jobs))
        assert counts.runs == {"checked": 30, "no_trace": 1, "unreadable": 1}
        assert counts.actions == {"allow": 15, "nudge": 15}
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    ids = [row["run_id"] for row in rows(outputs[0])]
    assert len(ids) == 32
    assert ids == sorted(ids)
    assert not list(tmp_path.glob("*.parts"))


def test_what_was_begun_is_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """Runs that have their row are not checked again."""
    files, output = files_at([str(folder)]), tmp_path / "results.parquet"
    whole = tmp_path / "whole.parquet"
    check_files(files, ArchiveTask(output=whole, options=RunOptions()))
    parts = ResultParts(output, "")
    chunk = RunChunk(tuple(file.run for file in files[::3]))
    list(
        check_chunks(
            [chunk],
            ArchiveTask(output=tmp_path / "results.parquet", options=RunOptions(), settings=""),
            parts.next_path,
            jobs=1,
        )
    )
    (Path(f"{output}.parts") / "00000009.parquet.new").write_bytes(b"half a part")
    seen: list[int] = []
    counts, resumed = check_files(files, ArchiveTask(output=output, options=RunOptions()), seen.append)
    assert (counts.total, resumed, sum(seen)) == (32, 11, 32)
    assert rows(output) == rows(whole)


def test_other_settings_are_not_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """Half of the rows would be judged otherwise than the rest."""
    parts = ResultParts(tmp_path / "results.parquet", "strict")
    chunk = RunChunk((FileRun(str(folder / "broken.jsonl")),))
    writer = ArchiveTask(output=tmp_path / "results.parquet", options=RunOptions(), settings="strict")
    list(check_chunks([chunk], writer, parts.next_path, jobs=1))
    with pytest.raises(ConfigError, match="begun with other settings"):
        ResultParts(tmp_path / "results.parquet", "mild")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_command_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    """Killed in the middle and begun again, it writes what it would have written."""
    for number in range(400):
        shutil.copy(folder / "week 1" / "run-01.jsonl", folder / f"copy-{number:03}.jsonl")
    output, whole = tmp_path / "results.parquet", tmp_path / "whole.parquet"
    line = [sys.executable, "-m", "ebbtide", "archive", "check", "runs", "--jobs", "1", "--json", "-o"]
    process = subprocess.Popen([*line, output], cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("*.parts/*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not output.exists()
    again = subprocess.run([*line, output], cwd=tmp_path, capture_output=True, check=False)
    summary = json.loads(again.stdout)
    assert again.returncode == 51
    assert summary["runs"] == 432
    assert 128 <= summary["resumed"] < 432
    subprocess.run([*line, whole], cwd=tmp_path, capture_output=True, check=False)
    assert rows(output) == rows(whole)


class Deadly:
    """A run that takes its process with it."""

    source = run_id = "deadly"

    def summary(self, _options: RunOptions):
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_process_that_ends_takes_one_run_with_it(folder: Path, tmp_path: Path) -> None:
    """All others are checked, and it is listed."""
    files = [file.run for file in files_at([str(folder / "week 0")])]
    chunks = [
        RunChunk(tuple(files[:5])),
        RunChunk((files[5], Deadly(), files[6])),
        RunChunk(tuple(files[7:])),
    ]
    parts = ResultParts(tmp_path / "results.parquet", "")
    writer = ArchiveTask(output=tmp_path / "results.parquet", options=RunOptions(), settings="")
    list(check_chunks(chunks, writer, parts.next_path, jobs=2))
    parts.join()
    results = {row["run_id"]: row for row in rows(tmp_path / "results.parquet")}
    assert [row["status"] for row in results.values()].count("checked") == 10
    assert results["deadly"]["error"].endswith("perhaps for want of memory")


def test_files_of_patterns_and_urls(folder: Path) -> None:
    """A folder, a pattern and a URL of the same files find the same; each file once."""
    by_folder = [file.run.source for file in files_at([str(folder / "week 1")])]
    assert len(by_folder) == 10
    assert [file.run.source for file in files_at([str(folder / "*1" / "*.jsonl"), by_folder[0]])] == by_folder
    url = (folder / "week 1").as_uri().replace("%20", " ")
    urls = [file.run.source for file in files_at([url])]
    assert [name.removeprefix("file://") for name in urls] == by_folder
    assert all(file.size > 100 for file in files_at([url, str(folder)]) if "week" in file.run.source)
    assert [file.run.source for file in files_at([f"{url}/run-0*.jsonl"])] == urls[:3]


def test_runs_behind_urls_are_the_same_runs(folder: Path, tmp_path: Path) -> None:
    """But for their names."""
    import fsspec

    memory = fsspec.filesystem("memory")
    for path in (folder / "week 2").iterdir():
        memory.pipe(f"/bucket/{path.name}", path.read_bytes())
    output = tmp_path / "results.parquet"
    check_files(files_at(["memory://bucket"]), ArchiveTask(output=output, options=RunOptions()))
    here = tmp_path / "here.parquet"
    check_files(files_at([str(folder / "week 2")]), ArchiveTask(output=here, options=RunOptions()))
    assert [row | {"run_id": "", "source": ""} for row in rows(output)] == [
        row | {"run_id": "", "source": ""} for row in rows(here)
    ]
    assert rows(output)[0]["run_id"] == "memory:///bucket/run-02.jsonl"


@pytest.mark.parametrize("name", ["gone", "gone/*.jsonl", "file:///gone/at/all"])
def test_a_name_with_nothing_behind_it(name: str) -> None:
    """It is an error, not an empty archive."""
    with pytest.raises(TranscriptError, match="there is no file"):
        files_at([name])


def test_a_protocol_that_is_not_installed() -> None:
    """The message names it."""
    with pytest.raises(ConfigError, match="nosuch"):
        files_at(["nosuch://bucket/x"])


def test_chunks_are_small_in_files_and_bytes(folder: Path) -> None:
    """A large file does not wait behind others."""
    files = files_at([str(folder)])
    assert [len(chunk.members) for chunk in file_chunks(files * 5)] == [64, 64, 32]


def test_results_in_a_folder_as_other_engines_write_them(tmp_path: Path, folder: Path) -> None:
    """Many files and none of our marks: the version is a column as well."""
    files = files_at([str(folder)])
    check_files(files, ArchiveTask(output=tmp_path / "one.parquet", options=RunOptions()))
    table = pq.read_table(tmp_path / "one.parquet").replace_schema_metadata(None)
    (tmp_path / "many").mkdir()
    for number, part in enumerate((table.slice(0, 2), table.slice(2), table.slice(0, 0))):
        pq.write_table(part, tmp_path / "many" / f"{number}.parquet")
    (tmp_path / "many" / "_SUCCESS").touch()
    assert rows(tmp_path / "many") == rows(tmp_path / "one.parquet")


def test_what_is_no_file_of_results_is_refused(tmp_path: Path, folder: Path) -> None:
    """Another Parquet file, another file, and none."""
    import pyarrow as pa

    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    for name, words in {
        "other.parquet": "no results of `ebbtide archive`",
        "gone": "no file of results",
        "runs/broken.jsonl": "no file of results",
    }.items():
        with pytest.raises(ConfigError, match=words):
            list(result_batches(tmp_path / name))
