"""Where coding agents keep their sessions: fake homes with real files, and nothing of this machine."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from ebbtide.traces.input.lines import without_cut_line
from ebbtide.traces.sessions.agent_homes import AGENT_HOMES, CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile, SessionSearch
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of

PLACES: dict[
    str, tuple[dict[str, str], str, str]
] = {  # by agent: variables, where a session lies, and the sample
    "claude": ({}, ".claude/projects/-srv-shop/s1.jsonl", "claude_code.jsonl"),
    "claude, of settings": ({}, ".config/claude/projects/-srv-shop/s1.jsonl", "claude_code.jsonl"),
    "claude, XDG": (
        {"XDG_CONFIG_HOME": "{home}/xdg"},
        "xdg/claude/projects/-srv-shop/s1.jsonl",
        "claude_code.jsonl",
    ),
    "claude, elsewhere": (
        {"CLAUDE_CONFIG_DIR": "{home}/one, ,{home}/two"},
        "two/projects/-srv-shop/s1.jsonl",
        "claude_code.jsonl",
    ),
    "claude, tilde": ({"CLAUDE_CONFIG_DIR": "~/one"}, "one/projects/a/s1.jsonl", "claude_code.jsonl"),
    "codex": ({}, ".codex/sessions/2026/02/01/rollout-1.jsonl", "codex.jsonl"),
    "codex, archived": ({}, ".codex/archived_sessions/rollout-1.jsonl", "codex.jsonl"),
    "codex, elsewhere": ({"CODEX_HOME": "{home}/c"}, "c/sessions/2026/02/01/rollout-1.jsonl", "codex.jsonl"),
    "gemini": ({}, ".gemini/tmp/shop/chats/session-1.jsonl", "gemini_cli.jsonl"),
    "gemini, whole": ({}, ".gemini/tmp/shop/chats/session-1.json", "gemini_cli.jsonl"),
    "gemini, elsewhere": (
        {"GEMINI_CLI_HOME": "{home}/g"},
        "g/.gemini/tmp/shop/chats/session-1.jsonl",
        "gemini_cli.jsonl",
    ),
    "opencode": ({}, ".local/share/opencode/opencode.db", "codex.jsonl"),
    "opencode, in files": ({}, ".local/share/opencode/storage/session/global/ses_1.json", "codex.jsonl"),
    "opencode, XDG": ({"XDG_DATA_HOME": "{home}/x"}, "x/opencode/opencode-dev.db", "codex.jsonl"),
    "mini": ({}, ".config/mini-swe-agent/last_mini_run.traj.json", "codex.jsonl"),
    "mini, elsewhere": ({"MSWEA_GLOBAL_CONFIG_DIR": "{home}/m"}, "m/last_mini_run.traj.json", "codex.jsonl"),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def put(path: Path, content: str | bytes = '{"type": "summary"}\n', modified: float = 1000.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (modified, modified))
    return path


def lines(*records: Mapping[str, object]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def search(environment: Mapping[str, str] | None = None, **options: object) -> SessionSearch:
    return SessionSearch.of(environment or {}, **options)  # type: ignore[arg-type]


def names(there: SessionSearch) -> list[str]:
    return [Path(file.path).name for file in there.files]


def origin(path: Path) -> SessionOrigin:
    (file,) = (item for item in search().files if item.path == str(path))
    return origin_of(file)


@pytest.mark.parametrize("name", PLACES)
def test_each_agent(home: Path, samples: Path, name: str) -> None:
    """Each place of each agent is looked into, with its variable and without."""
    variables, place, sample = PLACES[name]
    path = put(home / place, (samples / sample).read_bytes())
    environment = {key: value.format(home=home) for key, value in variables.items()}
    (file,) = search(environment).files
    agent = name.partition(",")[0]
    assert (file.path, file.agent.value, file.is_main) == (str(path), agent, True)
    assert bool(file.obstacle) == place.endswith(".db")


def test_a_variable_stands_for_the_places_without_it(home: Path) -> None:
    """As for the agents themselves: what lies in the usual place is not theirs then."""
    put(home / ".codex/sessions/rollout-1.jsonl")
    assert search({"CODEX_HOME": str(home / "other")}).files == ()
    assert search({"CODEX_HOME": ""}).files
    put(home / "data/opencode/opencode.db")
    assert [file.agent for file in search({"XDG_DATA_HOME": "data"}).files] == [CodingAgent.CODEX]


def test_where_was_looked(home: Path) -> None:
    """Every folder is named, with whether it is there; of one agent, its own."""
    put(home / ".codex/sessions/rollout-1.jsonl")
    folders = search(agents=[CodingAgent.CODEX]).folders
    assert [(folder.agent, folder.is_there) for folder in folders] == [("Codex", True), ("Codex", False)]
    named = {folder.agent for folder in search().folders}
    assert named == {row.name for row in AGENT_HOMES}


@pytest.mark.parametrize(
    ("since", "count", "older"), [(None, 3, 0), (1000.0, 3, 0), (1000.5, 2, 1), (3000.0, 1, 2), (9e9, 0, 3)]
)
def test_age(home: Path, since: float | None, count: int, older: int) -> None:
    """By the time of the file alone: what is exactly as old as asked for is in; what is older is counted."""
    for number in (1, 2, 3):
        put(home / f".claude/projects/p/{number}.jsonl", modified=number * 1000.0)
    there = search(since=since)
    assert names(there) == ["3.jsonl", "2.jsonl", "1.jsonl"][:count]
    assert there.older == older


def test_old_files_are_not_opened(home: Path) -> None:
    """Thousands of old sessions cost their names: an old file that nobody may read is no trouble."""
    path = put(home / ".claude/projects/p/1.jsonl")
    path.chmod(0)
    assert search(since=2000.0).files == ()


def test_what_is_no_session(home: Path) -> None:
    """Empty files, other names, folders with the name of a file, and pipes."""
    place = home / ".claude/projects/p"
    put(place / "empty.jsonl", "")
    put(place / "notes.md")
    put(place / "s1/subagents/journal.jsonl")
    put(place / "s1/tool-results/1.jsonl")
    put(home / ".claude/history.jsonl")
    (place / "folder.jsonl").mkdir()
    os.mkfifo(place / "pipe.jsonl")
    assert search().files == ()


def test_links(home: Path) -> None:
    """A linked home is followed, a link to a folder inside is not; a file behind two names counts once."""
    put(home / "dotfiles/claude/projects/p/1.jsonl")
    (home / ".claude").symlink_to(home / "dotfiles/claude")
    (home / ".config").mkdir()
    (home / ".config/claude").symlink_to(home / ".claude")
    place = home / "dotfiles/claude/projects"
    (place / "round").symlink_to(place)
    (place / "p/s").mkdir()
    (place / "p/s/subagents").symlink_to(place)
    (place / "p/2.jsonl").symlink_to(place / "p/1.jsonl")
    (place / "p/3.jsonl").symlink_to(place / "p/3.jsonl")
    (place / "p/4.jsonl").symlink_to(home / "nowhere")
    (home / ".codex").mkdir()
    (home / ".codex/sessions").symlink_to(home / ".codex/sessions")
    assert names(search()) == ["1.jsonl"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_nobody_may_look_into(home: Path) -> None:
    """The others are found, and it is named."""
    put(home / ".claude/projects/a/1.jsonl")
    locked = put(home / ".claude/projects/b/2.jsonl").parent
    locked.chmod(0)
    there = search()
    locked.chmod(0o700)
    assert names(there) == ["1.jsonl"]
    assert [path for path, _ in there.unreadable] == [str(locked)]


def test_one_session_in_two_forms(home: Path) -> None:
    """Gemini CLI goes on with an old chat in a new file, Codex packs what is old: one of both counts."""
    put(home / ".gemini/tmp/p/chats/session-1.json", modified=2000.0)
    put(home / ".gemini/tmp/p/chats/session-1.jsonl")
    put(home / ".codex/sessions/2026/rollout-1.jsonl.zst", modified=2000.0)
    put(home / ".codex/sessions/2026/rollout-1.jsonl")
    assert sorted(names(search())) == ["rollout-1.jsonl", "session-1.jsonl"]


def test_sessions_in_a_database(home: Path, database: Path) -> None:
    """Each counts by its own time and folder; the file may have been written long before."""
    place = put(home / ".local/share/opencode/opencode.db", database.read_bytes())
    there = search()
    assert [Path(file.path).parent for file in there.files] == [place] * 5
    assert there.files[0].modified == 1795453071.140
    assert origin(place / "ses_df6ac2601ffeCZAh6DEAPufnRP") == SessionOrigin(
        id="ses_df6ac2601ffeCZAh6DEAPufnRP", project="/srv/weather"
    )
    late = search(since=1795453000.0)
    assert (len(late.files), late.older) == (3, 2)


def test_sessions_in_a_database_and_in_files(home: Path, database: Path, files: Path) -> None:
    """Those that were taken over into the database count once; of the others a sub-session has a parent."""
    place = home / ".local/share/opencode"
    shutil.copytree(files.parents[1], place / "storage")
    folder = place / "storage" / "session" / files.name
    head = {"id": "ses_df6ac2601ffeCZAh6DEAPufnRP", "directory": "/srv/weather"}
    put(folder / "ses_df6ac2601ffeCZAh6DEAPufnRP.json", json.dumps(head))
    assert len(search().files) == 4
    put(place / "opencode.db", database.read_bytes())
    assert len(search().files) == 3 + 5
    assert origin(folder / "ses_df6a7af24ffe24AluEPRGKIIDS.json") == SessionOrigin(
        id="ses_df6a7af24ffe24AluEPRGKIIDS",
        parent="ses_df6a7b445ffeNus0DMGD1zcb7f",
        project="/srv/weather",
        role="child session",
    )
    bare = put(folder / "ses_2.json", "{")
    assert origin(bare) == SessionOrigin(id="ses_2")


def test_a_database_of_something_else(home: Path) -> None:
    """It is there, with why it cannot be read."""
    path = put(home / ".local/share/opencode/opencode.db", b"SQLite format 3\0")
    (file,) = search().files
    assert file.path == str(path)
    assert "database" in file.obstacle


def test_origin_of_claude_code(home: Path) -> None:
    """The folder is the first that a line states; sub-agents name their session by their place or a line."""
    place = home / ".claude/projects/-srv-shop"
    said = {"sessionId": "other", "cwd": "/srv/shop"}
    main = put(place / "s1.jsonl", lines({"type": "summary"}, said, {"cwd": "/srv/shop/sub"}))
    below = put(place / "s1/subagents/agent-a.jsonl", lines({**said, "cwd": "/srv/tree"}))
    deeper = put(place / "s1/subagents/workflows/w1/agent-b.jsonl", lines(said))
    beside = put(place / "agent-c.jsonl", lines({"sessionId": "s1", "isSidechain": True}))
    bare = put(place / "s2.jsonl", "not JSON\n")
    in_a_call = put(place / "s3.jsonl", lines({"message": {"cwd": "/no"}, "text": '"cwd": "/no"'}))
    assert origin(main) == SessionOrigin(id="s1", project="/srv/shop")
    assert origin(below) == SessionOrigin(id="agent-a", parent="s1", project="/srv/tree", role="sub-agent")
    assert origin(deeper).parent == "s1"
    assert origin(beside) == SessionOrigin(id="agent-c", parent="s1", project="-srv-shop", role="sub-agent")
    assert origin(bare).project == origin(in_a_call).project == "-srv-shop"


@pytest.mark.parametrize("suffix", ["", ".zst"])
@pytest.mark.parametrize(
    "started",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "t1", "depth": 1}}}},
        {"source": "cli", "parent_thread_id": "t1"},
        {"session_id": "t1"},
    ],
)
def test_origin_of_codex(home: Path, started: dict[str, object], suffix: str) -> None:
    """The head of the file states id, folder and who started it; packed files are read too."""
    zstd = pytest.importorskip("backports.zstd")
    place = home / ".codex/sessions/2026/02/01"

    def written(name: str, head: dict[str, object]) -> Path:
        data = lines({"type": "session_meta", "payload": head}).encode()
        return put(place / f"rollout-{name}.jsonl{suffix}", zstd.compress(data) if suffix else data)

    main = written("1", {"id": "t1", "session_id": "t1", "cwd": "/srv/shop", "source": "cli"})
    below = written("2", {"id": "t2", "cwd": "/srv/shop", **started})
    assert origin(main) == SessionOrigin(id="t1", project="/srv/shop")
    assert origin(below) == SessionOrigin(id="t2", parent="t1", project="/srv/shop", role="thread")
    assert origin(put(place / "rollout-3.jsonl", "{}\n")) == SessionOrigin(id="rollout-3")


def test_origin_of_gemini_cli(home: Path) -> None:
    """The folder is known by a file beside the chats, by a register of short names, or by its digest."""
    digest = hashlib.sha256(b"/srv/old").hexdigest()
    root = home / ".gemini"
    put(root / "tmp/marked/.project_root", "/srv/marked")
    put(root / "projects.json", json.dumps({"projects": {"/srv/listed": "listed", "/srv/old": "old"}}))

    def chat(folder: str, project_hash: str = "", name: str = "session-1.jsonl") -> Path:
        return put(
            root / f"tmp/{folder}/chats/{name}", lines({"sessionId": "g1", "projectHash": project_hash})
        )

    assert origin(chat("marked")) == SessionOrigin(id="g1", project="/srv/marked")
    assert origin(chat("listed")).project == "/srv/listed"
    assert (
        origin(chat(digest, digest)).project == origin(chat(digest[:16], digest[:16])).project == "/srv/old"
    )
    assert origin(chat("nobody")).project == "nobody"
    below = origin(chat("marked", name="g1/sub.jsonl"))
    assert (below.parent, below.project) == ("g1", "/srv/marked")
    put(root / "projects.json", "broken")
    assert origin(chat("listed")).project == "listed"


def test_a_file_that_went_away(home: Path) -> None:
    """What cannot be read tells nothing, and stops nobody."""
    path = put(home / ".codex/sessions/rollout-1.jsonl")
    (file,) = search().files
    path.unlink()
    assert origin_of(file) == SessionOrigin(id="rollout-1")


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b'{"a": 1}\n{"b": ', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"b": "\xc3', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"b": 2}', b'{"a": 1}\n{"b": 2}'),
        (b'{"a": 1}\nbroken\n', b'{"a": 1}\nbroken\n'),
        (b'{"a": ', b'{"a": '),
        (b"\n\n", b"\n\n"),
        (b"", b""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_line_that_is_not_whole_yet(data: bytes, kept: bytes, size: int) -> None:
    """The last line waits, wherever the pieces are cut; a broken line before it stays."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join(without_cut_line(iter(pieces))) == kept


def test_a_home_of_thousands_is_quick(home: Path, samples: Path) -> None:
    """Names and times of 2,000 sessions are looked at, and the two latest are opened."""
    sample = samples / "claude_code.jsonl"
    for number in range(2000):
        path = home / f".claude/projects/p{number % 20}/{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(sample, path)
        os.utime(path, (number, number))
    there = search(since=1998.0)
    assert (names(there), there.older) == (["1999.jsonl", "1998.jsonl"], 1998)
    assert all(isinstance(file, SessionFile) for file in there.files)
