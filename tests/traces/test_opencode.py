"""Sessions of OpenCode, recorded with 1.18.33 (its database, exported, printed) and 1.0.185 (files).

The expected numbers are worked out from the rows and files by hand; those of the main session agree with the
sums that its own row in the database states.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.session_database import is_database
from ebbtide.traces.agents.session_storage import sessions_at, stored_lines, stored_session, stored_sessions
from ebbtide.traces.agents.session_tail import stored_tail
from ebbtide.traces.reading import Trace, open_trace

MAIN, SUB = "ses_df6ac2601ffeCZAh6DEAPufnRP", "ses_df6ac1521ffe3KonsXd3CuMb79"
REFUSED = "ses_df6abc259ffeCRb13VOpZPF4s7"
ABORTED, KILLED = "ses_df6a865c8ffeSKe1a8qVV4n599", "ses_df6a92a75ffecsq6K3yE7OMi99"
COMPACTED = "ses_df6a96bd4ffetkz5x1U0qpOqx8"
OLD_MAIN, OLD_SUB = "ses_df6a7b445ffeNus0DMGD1zcb7f", "ses_df6a7af24ffe24AluEPRGKIIDS"
OLD_THINKING = "ses_df6a775dcffeNQknCsgW2TKsrO"


def change(database: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, values)


def tools_of(events: list[Event]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def test_a_session_and_its_sub_session(
    database: Path, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Nine steps with eight calls, and two steps with one call in the chain of the sub-session."""
    events = calls(database / MAIN, form="opencode")
    assert totals(events) == {
        "tool": 9,
        "llm": 11,
        "user": 3,
        "input_tokens": 949 + 217,
        "output_tokens": 139 + 37,
        "cache_read_tokens": 11 * 40,
        "cache_write_tokens": 11 * 20,
        "cost_usd": 0.005715 + 0.00138,
    }
    assert {(event.chain_id, event.agent) for event in events if not isinstance(event, Message)} == {
        ("", None),
        (SUB, "general"),
    }
    models = {event.usage.model for event in events if event.usage is not None}
    assert models == {"claude-sonnet-4-5"}
    assert [event.text for event in events if isinstance(event, Message)] == [
        '"Change rain to sun in the forecast."',
        "SUBTASK: count the words of forecast.txt",
        '"SECOND: what does it say now?"',
    ]


def test_calls_have_their_answers(database: Path, calls: Callable[..., list[Event]]) -> None:
    """Errors, exit codes and tools that are not there are failures; the sub-session ends first."""
    tools = tools_of(calls(database / MAIN, form="opencode"))
    assert [(call.name, call.error) for call in tools] == [
        ("bash", False),
        ("read", False),
        ("edit", False),
        ("edit", True),
        ("read", True),
        ("bash", True),
        ("invalid", True),
        ("bash", False),
        ("task", False),
    ]
    assert [call.batch for call in tools[:3]] == ["step 1", "step 1", "step 2"]
    assert tools[2].args == {
        "filePath": "/srv/weather/forecast.txt",
        "oldString": "rain",
        "newString": "sun",
    }
    assert tools[0].result == "forecast.txt\nTomorrow: rain at noon.\n"
    assert tools[0].ts == 1795452822.421
    assert tools[4].result == "File not found: /srv/weather/missing.txt"
    assert (tools[7].chain_id, tools[7].result) == (SUB, "4 forecast.txt\n")


def test_the_order_is_that_of_time(database: Path) -> None:
    """No event of a chain is late, and the model has answered before its tools have."""
    trace = open_trace(database / MAIN)
    assert (list(trace)[1].ts, trace.late, trace.timed) == (1795452822.255, 0, True)


def test_a_refusal_of_the_provider(database: Path, calls: Callable[..., list[Event]]) -> None:
    """It is an error, and no call of a model with 0 tokens."""
    events = calls(database / REFUSED, form="opencode")
    assert [type(event) for event in events] == [Message, Notice]
    assert events[1] == Notice(
        kind=NoticeKind.ERROR, text="no such model here", error=True, ts=1795452848.797
    )


@pytest.mark.parametrize(
    ("session", "result", "noted"),
    [
        (
            ABORTED,
            "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>",
            ["Aborted"],
        ),
        (KILLED, None, []),
    ],
)
def test_an_answer_that_did_not_end(
    database: Path,
    calls: Callable[..., list[Event]],
    session: str,
    result: str | None,
    noted: list[str],
) -> None:
    """Its tokens are written as 0, and are not known; a call without an end has no answer and no time."""
    events = calls(database / session, form="opencode")
    (tool,) = tools_of(events)
    assert (tool.result, tool.error, tool.ts is None) == (result, False, result is None)
    assert [event.usage for event in events if isinstance(event, ModelCall)] == [Usage(model="tiny")]
    assert [event.text for event in events if isinstance(event, Notice)] == noted


def test_an_export(
    calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]], database: Path
) -> None:
    """Output and reasoning are stated apart, and make one class; a compaction comes before its summary."""
    events = calls("opencode_export.json", form="opencode")
    assert totals(events) == {
        "tool": 0,
        "llm": 2,
        "user": 1,
        "input_tokens": 2 * 70,
        "output_tokens": 2 * (30 + 20),
        "cache_read_tokens": 2 * 30,
        "cache_write_tokens": 0,
        "cost_usd": 2 * 0.000173,
    }
    assert sum(event.usage.reasoning_tokens or 0 for event in events if event.usage) == 2 * 20
    assert [type(event) for event in events] == [Message, ModelCall, Notice, ModelCall]
    assert isinstance(events[2], Notice)
    assert events[2].kind is NoticeKind.COMPACTION
    assert calls(database / COMPACTED, form="opencode") == events


def test_printed_lines(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """A step is what stands before its end; of the model nothing is printed, and the last step is cut off."""
    events = calls("opencode_printed.jsonl", form="opencode")
    assert totals(events) == {
        "tool": 4,
        "llm": 4,
        "user": 0,
        "input_tokens": 101 + 102 + 103,
        "output_tokens": 11 + 12 + 13,
        "cache_read_tokens": 3 * 40,
        "cache_write_tokens": 3 * 20,
        "cost_usd": 0.000555 + 0.000573 + 0.000591,
    }
    assert [(call.name, call.error) for call in tools_of(events)] == [
        ("read", False),
        ("bash", False),
        ("edit", False),
        ("edit", True),
    ]


def test_a_printed_error(read_data: Callable[..., Any]) -> None:
    """A run that the provider refuses prints this line alone; Codex prints lines of this type, too."""
    line = {"type": "error", "timestamp": 1795452958343, "sessionID": "ses_1", "error": {"name": "APIError"}}
    trace, events = read_data(json.dumps(line).encode() + b"\n")
    assert trace.format.name == "opencode"
    assert [(event.kind, event.text) for event in events] == [(NoticeKind.ERROR, "APIError")]


def test_files_of_an_old_version(
    files: Path, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Each session has a file; its messages and their parts stand in folders beside it."""
    events = calls(files / f"{OLD_SUB}.json", form="opencode")
    assert totals(events) == {
        "tool": 1,
        "llm": 2,
        "user": 1,
        "input_tokens": 108 + 109,
        "output_tokens": 18 + 19,
        "cache_read_tokens": 2 * 40,
        "cache_write_tokens": 2 * 20,
        "cost_usd": pytest.approx(0.00138),
    }
    assert stored_session(files / f"{OLD_SUB}.json").parent == OLD_MAIN


def test_reasoning_is_a_part_of_the_output_in_old_versions(
    files: Path, calls: Callable[..., list[Event]]
) -> None:
    """They state no total: 50 tokens of output were 20 of reasoning and 30 of words."""
    (answer,) = [
        event
        for event in calls(files / f"{OLD_THINKING}.json", form="opencode")
        if isinstance(event, ModelCall)
    ]
    assert answer.usage == Usage(
        model="tiny",
        input_tokens=70,
        output_tokens=50,
        cache_read_tokens=30,
        cache_write_tokens=0,
        reasoning_tokens=20,
        cost_usd=0.000213,
    )


def test_a_broken_file_costs_itself(files: Path) -> None:
    """The call in it is not known; all around it is read."""
    part = next((files.parents[1] / "part").glob("*/prt_20958511e001*.json"))
    part.write_text(part.read_text(encoding="utf-8")[:100], encoding="utf-8")
    trace = open_trace(files / f"{OLD_SUB}.json")
    assert [type(event) for event in trace] == [Message, ModelCall, ModelCall]
    assert trace.fault_count == 1


def test_broken_rows_cost_themselves(database: Path) -> None:
    """A part and a message that are no JSON are faults; the call of the other part goes with its message."""
    change(database, "UPDATE part SET data = substr(data, 1, 50) WHERE data LIKE '%toolu_main_1_1%'")
    change(database, "UPDATE message SET data = '{' WHERE id = ?", "msg_20953e45e0015F1s3H9Lp4Gq7F")
    change(database, "UPDATE part SET data = '[1]' WHERE data LIKE '%toolu_main_3_0%'")
    bad_name = '{"type": "tool", "tool": 3}'
    change(database, "UPDATE part SET data = ? WHERE data LIKE '%toolu_main_4_0%'", bad_name)
    trace = open_trace(database / MAIN)
    tools = tools_of([event for event in trace if isinstance(event, ToolCall)])
    assert [call.name for call in tools] == ["read", "bash", "invalid", "bash", "task"]
    assert trace.fault_count == 2


def test_a_message_without_fields(read_data: Callable[..., Any]) -> None:
    """What has the wrong type is as good as absent."""
    info = {"id": "m1", "sessionID": "s", "role": "assistant", "tokens": 3, "time": [], "error": "x"}
    parts = [3, {"type": []}, {"type": "tool", "tool": "ls", "state": None}, {"type": "text", "text": 1}]
    trace, events = read_data(json.dumps({"info": info, "parts": parts}).encode())
    assert [type(event) for event in events] == [ModelCall, ToolCall]
    assert (events[1].args, events[1].result, trace.fault_count) == (None, None, 0)


def test_a_message_is_read_once(read_data: Callable[..., Any]) -> None:
    """The same one again is a duplicate."""
    info = {"id": "m1", "sessionID": "s", "role": "user"}
    line = json.dumps({"info": info, "parts": [{"type": "text", "text": "Hello"}]}).encode() + b"\n"
    trace, events = read_data(line * 3)
    assert (len(events), trace.duplicates) == (1, 2)


def test_words_of_the_tool_are_notes(read_data: Callable[..., Any]) -> None:
    """What stands beside the words of a person, in the same message."""
    parts = [{"type": "text", "text": "Look."}, {"type": "text", "text": "A file.", "synthetic": True}]
    value = {"info": {"id": "m", "sessionID": "s", "role": "user"}, "parts": parts}
    assert [(type(event), event.text) for event in read_data(json.dumps(value).encode())[1]] == [
        (Message, "Look."),
        (Notice, "A file."),
    ]


def test_what_is_in_a_database(database: Path) -> None:
    """Sessions that no other one began, each with its folder and time."""
    assert is_database(database)
    sessions = {session.id: session for session in stored_sessions(database)}
    assert sessions.keys() == {MAIN, REFUSED, ABORTED, KILLED, COMPACTED}
    assert sessions[MAIN].path == str(database / MAIN)
    assert (sessions[MAIN].directory, sessions[MAIN].modified) == ("/srv/weather", 1795452830.363)
    assert sessions_at(database) == sorted(session.path for session in sessions.values())
    assert stored_session(database / SUB).parent == MAIN


def test_a_database_with_one_session_is_a_run(database: Path) -> None:
    """With several it is refused with the name of the latest, with none too."""
    with pytest.raises(TranscriptError, match=f"5 sessions.*{COMPACTED}"):
        open_trace(database)
    change(database, "DELETE FROM session WHERE id NOT IN (?, ?)", MAIN, SUB)
    assert list(open_trace(database)) == list(open_trace(database / MAIN))
    change(database, "DELETE FROM session")
    with pytest.raises(TranscriptError, match="no session"):
        open_trace(database)


def test_a_sub_session_whose_parent_is_gone(database: Path) -> None:
    """It is one of its own then."""
    change(database, "DELETE FROM session WHERE id = ?", MAIN)
    assert SUB in {session.id for session in stored_sessions(database)}


@pytest.mark.parametrize("size", [16, 100, 4096, 20_000, 60_000])
def test_a_truncated_database(database: Path, tmp_path: Path, size: int) -> None:
    """It is refused, or read as far as it goes, whatever was cut off; nothing else is raised."""
    broken = tmp_path / "broken.db"
    broken.write_bytes(database.read_bytes()[:size])
    for path in (broken, broken / MAIN):
        with suppress(TranscriptError):
            trace = open_trace(path)
            assert list(trace) or trace.fault_count


def test_another_database(tmp_path: Path) -> None:
    """It is no trace, as any other file that is none."""
    path = tmp_path / "other.db"
    change(path, "CREATE TABLE book (title TEXT)")
    assert sessions_at(path) == [str(path)]
    with pytest.raises(TranscriptError, match="not one of OpenCode") as caught:
        open_trace(path)
    assert caught.value.no_trace


def test_what_is_not_there(database: Path, tmp_path: Path) -> None:
    """No such session, and no such file."""
    with pytest.raises(TranscriptError, match="no such session"):
        list(open_trace(database / "ses_nowhere"))
    assert stored_lines(tmp_path / "nowhere.db") is None
    with pytest.raises(TranscriptError, match="no such file"):
        list(open_trace(tmp_path / "nowhere.db"))


def test_nothing_is_written(database: Path) -> None:
    """Reading leaves no file beside the database, and the database as it was."""
    before = database.read_bytes()
    folder = shutil.copytree(database.parent, database.parent / "copy")
    list(open_trace(folder / "opencode.db" / MAIN))
    assert [path.name for path in folder.iterdir()] == ["opencode.db"]
    assert (folder / "opencode.db").read_bytes() == before


def test_what_stands_in_the_log_alone_is_read(database: Path) -> None:
    """While OpenCode works, what it wrote last is in the write-ahead log beside the database."""
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        with writer:
            writer.execute("DELETE FROM session WHERE id = ?", (KILLED,))
        assert KILLED not in {session.id for session in stored_sessions(database)}


def test_a_part_that_is_large_is_not_cut(read_data: Callable[..., Any]) -> None:
    """An export of more than what is parsed whole is read piece by piece."""
    part = {
        "type": "tool",
        "tool": "read",
        "state": {"status": "completed", "input": {}, "output": "x" * 999},
    }
    messages = [
        {"info": {"id": f"m{number}", "sessionID": "s", "role": "assistant"}, "parts": [part]}
        for number in range(2_000)
    ]
    data = json.dumps({"info": {"id": "s"}, "messages": messages}).encode()
    trace = Trace.of(data, source="x", whole_bytes=1 << 16)
    assert trace.format.name == "opencode"
    assert len(tools_of([event for event in trace if isinstance(event, ToolCall)])) == 2_000


def test_a_session_that_goes_on(database: Path) -> None:
    """A message is given out once, when it is complete; all of them together are the session."""
    first_of_the_last, answer = "msg_20953fb78001s5yPYFq7sAJcvU", "msg_20953ff2b001lkaJJ3SSgrOSPu"
    whole = list(open_trace(database / MAIN))
    change(database, "UPDATE part SET message_id = 'later' WHERE message_id = ?", first_of_the_last)
    change(database, "UPDATE message SET data = json_remove(data, '$.time.completed') WHERE id = ?", answer)
    tail = stored_tail(database / MAIN)
    data = tail.look()
    assert list(Trace.of(data)) == whole[:-2]
    assert tail.look() == b""
    change(database, "UPDATE part SET message_id = ? WHERE message_id = 'later'", first_of_the_last)
    data += tail.look()
    assert list(Trace.of(data)) == whole[:-1]
    ended = "UPDATE message SET data = json_set(data, '$.time.completed', 1795452830353) WHERE id = ?"
    change(database, ended, answer)
    assert list(Trace.of(data + tail.look())) == whole


def aged(file: Path, content: str) -> None:
    """Writes a file that seems to be a minute old."""
    file.write_text(content, encoding="utf-8")
    past = file.stat().st_mtime - 60
    os.utime(file, (past, past))


def test_a_session_of_many_files_that_goes_on(files: Path) -> None:
    """A message is given out once, when it is complete, whatever is half written meanwhile."""
    session = files / f"{OLD_SUB}.json"
    whole = list(open_trace(session))
    messages = sorted((files.parents[1] / "message" / OLD_SUB).glob("*.json"))
    kept = {message: message.read_text(encoding="utf-8") for message in messages}
    for message in messages:
        message.unlink()
    tail = stored_tail(session)
    assert tail.look() == b""
    data = b""
    question, *answers = messages
    question.write_text(kept[question], encoding="utf-8")
    assert tail.look() == b""  # more parts of it may come
    aged(question, kept[question])
    data += tail.look()
    assert list(Trace.of(data)) == whole[:1]
    for answer in answers:
        head = json.loads(kept[answer])
        ended = head["time"].pop("completed")
        answer.write_text(json.dumps(head), encoding="utf-8")
        assert tail.look() == b""
        head["time"]["completed"] = ended
        answer.write_text(json.dumps(head)[:-9], encoding="utf-8")
        assert tail.look() == b""
        answer.write_text(json.dumps(head), encoding="utf-8")
        data += tail.look()
        assert tail.look() == b""
    assert list(Trace.of(data)) == whole
    assert stored_tail(session).look() == data


def test_a_question_waits_for_nothing_once_it_is_answered(files: Path) -> None:
    """What comes behind it says that it is whole; nothing behind it overtakes it before."""
    session = files / f"{OLD_SUB}.json"
    messages = sorted((files.parents[1] / "message" / OLD_SUB).glob("*.json"))
    for message in messages:
        message.touch()
    assert list(Trace.of(stored_tail(session).look())) == list(open_trace(session))
    later = json.loads(messages[0].read_text(encoding="utf-8"))
    later["time"]["created"] = 1
    last = messages[-1].with_name("msg_z.json")
    last.write_text(json.dumps({**later, "id": "msg_z"}), encoding="utf-8")
    tail = stored_tail(session)
    assert tail.look() == b""
    aged(last, last.read_text(encoding="utf-8"))
    assert tail.look().count(b"\n") == 1 + len(messages) + 1
