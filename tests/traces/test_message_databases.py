"""Databases of Goose and Hermes, made here with the columns of schemas 17 and 30, and of older ones.

The rows are written by hand; their numbers are worked out by hand, too.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ebbtide.checking import check
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions
from ebbtide.traces.agents.session_storage import sessions_at, stored_session, stored_sessions
from ebbtide.traces.agents.session_tail import stored_tail
from ebbtide.traces.reading import Trace, open_trace
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionSearch
from ebbtide.traces.sessions.session_origin import origin_of

GOOSE_TABLES = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
    user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user',
    working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}',
    total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
    cache_write_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
    accumulated_output_tokens INTEGER, accumulated_cache_read_tokens INTEGER,
    accumulated_cache_write_tokens INTEGER, accumulated_cost REAL, schedule_id TEXT, recipe_json TEXT,
    user_recipe_values_json TEXT, provider_name TEXT, model_config_json TEXT,
    goose_mode TEXT NOT NULL DEFAULT 'auto', archived_at TIMESTAMP, project_id TEXT,
    parent_session_id TEXT, parent_delegation TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
    timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT
);
CREATE TABLE usage_ledger (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER,
    total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL,
    cost_source TEXT, is_compaction INTEGER DEFAULT 0
);
INSERT INTO schema_version (version) VALUES (17);
"""
OLD_GOOSE_TABLES = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
    accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER,
    schedule_id TEXT, recipe_json TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
    timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER
);
"""
HERMES_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, created_source TEXT, user_id TEXT, session_key TEXT,
    chat_id TEXT, chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT,
    expiry_finalized INTEGER DEFAULT 0, model TEXT, model_config TEXT, system_prompt TEXT,
    system_prompt_hash TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL,
    end_reason TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
    cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT,
    git_repo_root TEXT, git_metadata_generation INTEGER NOT NULL DEFAULT 0, billing_provider TEXT,
    billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL,
    cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT, title_source TEXT,
    last_activity_at REAL, last_activity_description TEXT, last_activity_provenance TEXT,
    api_call_count INTEGER DEFAULT 0, rewind_count INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0,
    hidden INTEGER NOT NULL DEFAULT 0, last_read_at REAL, tool_names TEXT,
    FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
    effect_disposition TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT,
    reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
    codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0,
    _compressed_summary INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT, display_kind TEXT, display_metadata TEXT,
    display_identity BLOB, display_order INTEGER
);
CREATE TABLE session_model_usage (
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL,
    billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL DEFAULT '',
    billing_mode TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '',
    api_call_count INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    estimated_cost_usd REAL NOT NULL DEFAULT 0, actual_cost_usd REAL NOT NULL DEFAULT 0,
    cost_status TEXT, cost_source TEXT, first_seen REAL, last_seen REAL,
    PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task)
);
INSERT INTO schema_version (version) VALUES (30);
"""
OLD_HERMES_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
    timestamp REAL NOT NULL, token_count INTEGER
);
INSERT INTO schema_version (version) VALUES (1);
"""
AT = 1_776_879_600
CALL = {"id": "t1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}


def fill(path: Path, script: str, **tables: list[dict[str, Any]]) -> Path:
    """Makes a database, or adds rows to one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(script)
        for table, rows in tables.items():
            for row in rows:
                values = [
                    json.dumps(value) if isinstance(value, list | dict) else value for value in row.values()
                ]
                marks = ", ".join("?" for _ in values)
                statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608
                database.execute(statement, values)
    return path


def goose_message(
    session: str, number: int, role: str, *content: dict[str, Any], **more: Any
) -> dict[str, Any]:
    row = {
        "session_id": session,
        "role": role,
        "content_json": list(content),
        "created_timestamp": AT + number,
    }
    return {**row, **more}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


ASKED = {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}
ANSWERED = {"status": "success", "value": {"content": [words("a.txt")], "isError": False}}
GOOSE_SESSIONS = [
    {
        "id": "20260422_1", "name": "Listing", "working_dir": "/srv/g", "updated_at": "2026-04-22 17:42:10",
        "accumulated_input_tokens": 300, "accumulated_output_tokens": 30, "accumulated_cost": 0.75,
        "accumulated_cache_read_tokens": 100, "accumulated_cache_write_tokens": 20,
        "model_config_json": {"model_name": "claude-sonnet-4-5"},
    },
    {
        "id": "20260422_2", "name": "Below", "working_dir": "/srv/g", "session_type": "sub_agent",
        "updated_at": "2026-04-22 17:41:00", "parent_session_id": "20260422_1",
    },
]  # fmt: skip
GOOSE_MESSAGES = [
    goose_message("20260422_1", 0, "user", words("List it."), message_id="m1"),
    goose_message(
        "20260422_1", 2, "assistant", words("I list it."),
        {"type": "toolRequest", "id": "t", "toolCall": ASKED}, message_id="m2",
    ),
    goose_message(
        "20260422_1", 2, "user", {"type": "toolResponse", "id": "t", "toolResult": ANSWERED}, message_id="m3"
    ),
    goose_message("20260422_2", 3, "user", words("Count it."), message_id="m4"),
    goose_message("20260422_1", 5, "assistant", words("It has a.txt."), message_id="m5"),
]  # fmt: skip
LEDGER = [
    {
        "session_id": "20260422_1", "created_timestamp": AT + at, "model": "claude-sonnet-4-5",
        "input_tokens": 150, "output_tokens": 15, "total_tokens": 165, "cache_read_tokens": 50,
        "cache_write_tokens": 10, "cost": cost, "cost_source": "provider_reported",
    }
    for at, cost in ((2, 0.25), (5, 0.5))
]  # fmt: skip


@pytest.fixture
def goose(tmp_path: Path) -> Path:
    """A database of Goose with a session and its sub-agent."""
    path = tmp_path / ".local/share/goose/sessions/sessions.db"
    return fill(path, GOOSE_TABLES, sessions=GOOSE_SESSIONS, messages=GOOSE_MESSAGES, usage_ledger=LEDGER)


def hermes_message(session: str, number: float, role: str, content: object, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "role": role, "content": content, "timestamp": AT + number, **more}


HERMES_SESSIONS = [
    {
        "id": "20260422_a", "source": "cli", "model": "m-large", "cwd": "/srv/h", "title": "Listing",
        "started_at": AT, "input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 40,
        "reasoning_tokens": 5, "estimated_cost_usd": 9.0, "end_reason": "compression", "ended_at": AT + 50,
    },
    {
        "id": "20260422_b", "source": "cli", "model": "m-large", "started_at": AT + 50,
        "parent_session_id": "20260422_a", "model_config": {"cwd": "/srv/h"},
    },
    {
        "id": "20260422_c", "source": "tool", "started_at": AT + 60, "parent_session_id": "20260422_b",
        "model_config": {"_delegate_from": "20260422_b"},
    },
    {
        "id": "20260422_d", "source": "cli", "started_at": AT + 70, "parent_session_id": "20260422_b",
        "model_config": {"_branched_from": "20260422_b"},
    },
    {
        "id": "20260422_e", "source": "cli", "started_at": AT + 80, "parent_session_id": "20260422_b",
        "model_config": {"_reset_from": "20260422_b"},
    },
]  # fmt: skip
HERMES_MESSAGES = [
    hermes_message("20260422_a", 0.5, "user", "List it."),
    hermes_message("20260422_a", 1.5, "assistant", "I list it.", tool_calls=[CALL]),
    hermes_message(
        "20260422_a", 2.5, "tool", '{"output": "no such folder", "exit_code": 2}',
        tool_call_id="t1", tool_name="terminal", active=0, compacted=1,
    ),
    hermes_message("20260422_a", 3.5, "user", "[summary]", _compressed_summary=1),
    # What the compaction kept is written again.
    hermes_message(
        "20260422_a", 2.5, "tool", '{"output": "no such folder", "exit_code": 2}',
        tool_call_id="t1", tool_name="terminal",
    ),
    hermes_message("20260422_a", 4.5, "user", "Look again.", display_kind="hidden"),
    hermes_message("20260422_a", 5.5, "user", '\0json:[{"type": "text", "text": "And this?"}]'),
    hermes_message("20260422_a", 6.5, "assistant", "It is not there."),
]  # fmt: skip
MODELS = [
    {
        "session_id": "20260422_a", "model": "m-large", "input_tokens": 100, "output_tokens": 20,
        "cache_read_tokens": 40, "reasoning_tokens": 5, "actual_cost_usd": 0.5,
    },
    {
        "session_id": "20260422_a", "model": "m-small", "task": "title", "input_tokens": 7,
        "output_tokens": 3, "estimated_cost_usd": 0.1,
    },
]  # fmt: skip


@pytest.fixture
def hermes(tmp_path: Path) -> Path:
    """A database of Hermes with a session, what goes on from it, and what those began."""
    path = tmp_path / ".hermes/state.db"
    return fill(
        path, HERMES_TABLES, sessions=HERMES_SESSIONS, messages=HERMES_MESSAGES, session_model_usage=MODELS
    )


def test_a_session_of_goose(goose: Path, calls: Callable[..., list[Event]]) -> None:
    """Messages and calls of models come in the order of time, and the head states the whole."""
    events = calls(goose / "20260422_1", form="goose")
    assert [type(event).__name__ for event in events] == [
        "Message", "ModelCall", "ToolCall", "Notice", "ModelCall", "Notice", "Notice",
    ]  # fmt: skip
    call = next(event for event in events if isinstance(event, ToolCall))
    assert (call.name, call.args, call.error) == ("shell", {"command": "ls"}, False)
    assert "a.txt" in str(call.result)
    usages = [event.usage for event in events if isinstance(event, Notice) and event.kind is NoticeKind.USAGE]
    assert usages == [
        Usage(
            model="claude-sonnet-4-5", input_tokens=90, output_tokens=15, cache_read_tokens=50,
            cache_write_tokens=10, cost_usd=cost,
        )
        for cost in (0.25, 0.5)
    ]  # fmt: skip
    assert isinstance(events[-1], Notice)
    assert events[-1].stated == (
        Usage(
            model="claude-sonnet-4-5", input_tokens=180, output_tokens=30, cache_read_tokens=100,
            cache_write_tokens=20, cost_usd=0.75,
        ),
    )  # fmt: skip
    trace = open_trace(goose / "20260422_1")
    list(trace)
    assert (trace.title, trace.project, trace.late) == ("Listing", "/srv/g", 0)


def test_the_money_of_goose_counts_once(goose: Path) -> None:
    """The ledger is what was spent, and the sum of the session says the same."""
    summary = check(str(goose / "20260422_1"), RunOptions())
    assert summary.spent.cost_usd == pytest.approx(0.75)
    assert summary.spent.tokens.total == 330


def test_a_session_of_an_old_goose(tmp_path: Path, calls: Callable[..., list[Event]]) -> None:
    """Before schemas had numbers: no model, no cache, no ledger, and no parent."""
    session = {"id": "s", "description": "Old", "working_dir": "/srv/g", "accumulated_input_tokens": 9}
    messages = [
        goose_message("s", 0, "user", words("Hello.")),
        goose_message("s", 1, "assistant", words("Yes.")),
    ]
    path = fill(tmp_path / "sessions.db", OLD_GOOSE_TABLES, sessions=[session], messages=messages)
    events = calls(path, form="goose")
    assert [type(event) for event in events] == [Message, ModelCall, Notice]
    assert isinstance(events[-1], Notice)
    assert events[-1].stated == (Usage(input_tokens=9),)


def test_a_session_of_hermes(hermes: Path, calls: Callable[..., list[Event]]) -> None:
    """What a compaction wrote again counts once; its summary and what a person never saw are no words."""
    events = calls(hermes / "20260422_a", form="hermes")
    assert [event.text for event in events if isinstance(event, Message)] == ["List it.", "And this?"]
    (call,) = [event for event in events if isinstance(event, ToolCall)]
    assert (call.name, call.args, call.error) == ("terminal", {"command": "ls"}, True)
    kinds = [event.kind for event in events if isinstance(event, Notice)]
    assert kinds == [NoticeKind.COMPACTION, NoticeKind.NOTE, NoticeKind.TOTAL]
    assert isinstance(events[-1], Notice)
    assert events[-1].stated == (
        Usage(
            model="m-large", input_tokens=100, output_tokens=20, cache_read_tokens=40, cache_write_tokens=0,
            reasoning_tokens=5, cost_usd=0.5,
        ),
        Usage(
            model="m-small", input_tokens=7, output_tokens=3, cache_read_tokens=0, cache_write_tokens=0
        ),
    )  # fmt: skip
    trace = open_trace(hermes / "20260422_a")
    list(trace)
    assert (trace.title, trace.project, trace.duplicates) == ("Listing", "/srv/h", 0)


def test_the_money_of_hermes_is_what_it_states(hermes: Path) -> None:
    """Its tokens are known as a whole; what Hermes guessed of a price is not what was paid."""
    summary = check(str(hermes / "20260422_a"), RunOptions())
    assert summary.spent.tokens.total == 170
    assert summary.spent.cost_usd is None or summary.spent.cost_usd < 9


def test_a_session_of_an_old_hermes(tmp_path: Path, calls: Callable[..., list[Event]]) -> None:
    """Schema 1: two counts of tokens; without them they are not known."""
    rows = [
        {"id": "x", "source": "cli", "model": "m", "started_at": AT, "input_tokens": 7, "output_tokens": 2},
        {"id": "y", "source": "cli", "model": "m", "started_at": AT},
    ]
    messages = [hermes_message(name, 1, "user", "Hello.") for name in "xy"]
    path = fill(tmp_path / "state.db", OLD_HERMES_TABLES, sessions=rows, messages=messages)
    events = calls(path / "x", form="hermes")
    assert isinstance(events[-1], Notice)
    assert events[-1].stated == (
        Usage(model="m", input_tokens=7, output_tokens=2, cache_read_tokens=0, cache_write_tokens=0),
    )
    assert [type(event) for event in calls(path / "y", form="hermes")] == [Message]


@pytest.mark.parametrize(
    ("tables", "newer", "advice"),
    [
        (GOOSE_TABLES, 18, "a database of Goose: its schema is 18.*up to 17.*goose session export"),
        (HERMES_TABLES, 31, "a database of Hermes: its schema is 31.*up to 30.*hermes sessions export"),
        (HERMES_TABLES, "later", "a database of Hermes: its schema is later"),
    ],
)
def test_a_schema_that_is_not_known(tmp_path: Path, tables: str, newer: object, advice: str) -> None:
    """The message says which one it is, and how to get a session out of it."""
    path = fill(tmp_path / "x.db", tables, schema_version=[{"version": newer}])
    for name in (path, path / "s"):
        with pytest.raises(TranscriptError, match=advice):
            list(open_trace(name))
    assert sessions_at(path) == [str(path)]


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    """Schemas below the known ones may lack what every one had."""
    path = fill(
        tmp_path / "x.db",
        GOOSE_TABLES.replace("created_timestamp INTEGER NOT NULL,\n    timestamp", "timestamp"),
    )
    with pytest.raises(TranscriptError, match=r"of Goose: it has no messages\.created_timestamp.*export"):
        open_trace(path)


def test_sessions_of_a_machine(
    tmp_path: Path, goose: Path, hermes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a session of its own, with the one that began it; one that is in a file, too, counts once."""
    monkeypatch.setenv("HOME", str(tmp_path))
    goose.with_name("20260422_1.jsonl").write_text("{}\n")
    (hermes.parent / "sessions").mkdir()
    (hermes.parent / "sessions/session_20260422_a.json").write_text("{}")
    found = {}
    for file in SessionSearch.of({}).files:
        origin = origin_of(file)
        assert not file.obstacle
        found[origin.id, file.agent.value] = (file.path, origin.parent, origin.role, origin.project)
    assert found == {
        ("20260422_1", "goose"): (str(goose / "20260422_1"), None, "session", "/srv/g"),
        ("20260422_2", "goose"): (str(goose / "20260422_2"), "20260422_1", "sub-agent", "/srv/g"),
        ("20260422_a", "hermes"): (str(hermes / "20260422_a"), None, "session", "/srv/h"),
        ("20260422_b", "hermes"): (str(hermes / "20260422_b"), "20260422_a", "child session", "/srv/h"),
        ("20260422_c", "hermes"): (str(hermes / "20260422_c"), "20260422_b", "sub-agent", None),
        ("20260422_d", "hermes"): (str(hermes / "20260422_d"), "20260422_b", "fork", None),
        ("20260422_e", "hermes"): (str(hermes / "20260422_e"), None, "session", None),
    }
    assert {CodingAgent.GOOSE, CodingAgent.HERMES} == {file.agent for file in SessionSearch.of({}).files}


def test_times_of_sessions(goose: Path, hermes: Path) -> None:
    """Of Goose as the session states it, of Hermes that of the last message or of its end."""
    assert stored_session(goose / "20260422_1").modified == 1_776_879_730.0
    assert [session.modified - AT for session in stored_sessions(hermes)] == [50, 50, 60, 70, 80]
    with pytest.raises(TranscriptError, match="no such session"):
        list(open_trace(hermes / "nowhere"))


def test_nothing_is_written(goose: Path, tmp_path: Path) -> None:
    """Reading leaves no file beside the database, and the database as it was."""
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copy(goose, folder)
    before = goose.read_bytes()
    list(open_trace(folder / goose.name / "20260422_1"))
    assert [path.name for path in folder.iterdir()] == [goose.name]
    assert (folder / goose.name).read_bytes() == before


@pytest.mark.parametrize("size", [100, 4096, 12_288, 30_000])
def test_a_truncated_database(hermes: Path, tmp_path: Path, size: int) -> None:
    """It is refused, or read as far as it goes; nothing else is raised."""
    broken = tmp_path / "broken.db"
    broken.write_bytes(hermes.read_bytes()[:size])
    with suppress(TranscriptError):
        assert list(open_trace(broken / "20260422_a"))


def test_a_session_that_goes_on(goose: Path, hermes: Path) -> None:
    """Rows come as lines once, whatever is written again; all of them together are the session."""
    for path, tables in ((goose, GOOSE_TABLES), (hermes, HERMES_TABLES)):
        name = "20260422_1" if path is goose else "20260422_a"
        whole = list(open_trace(path / name))
        with closing(sqlite3.connect(path)) as database, database:
            rows = database.execute(
                "SELECT * FROM messages WHERE session_id = ? ORDER BY id", (name,)
            ).fetchall()
            database.execute("DELETE FROM messages WHERE id > ?", (rows[1][0],))
            database.execute("DELETE FROM usage_ledger" if path is goose else "SELECT 1")
        tail = stored_tail(path / name)
        data = tail.look()
        assert tail.look() == b""
        for row in rows[2:]:
            with closing(sqlite3.connect(path)) as database, database:
                marks = ", ".join("?" for _ in row)
                database.execute(f"INSERT INTO messages VALUES ({marks})", row)  # noqa: S608
            data += tail.look()
        if path is goose:
            fill(path, "", usage_ledger=LEDGER)
            data += tail.look()
        got = list(Trace.of(data))
        assert sorted(map(repr, got)) == sorted(map(repr, whole)), tables
