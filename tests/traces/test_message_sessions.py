"""Sessions of agents that keep the messages of a model in envelopes or in words: facts, and places."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ebbtide.checking import check_events
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.traces.reading import load_events, open_trace
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile, SessionSearch
from ebbtide.traces.sessions.session_origin import origin_of

AT = 1_770_000_000
Record = dict[str, Any]


def lines(values: Iterable[Record]) -> bytes:
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


def words(text: str) -> Record:
    return {"type": "text", "text": text}


def use(number: str | None = "t1", **args: Any) -> Record:
    block = {"type": "tool_use", "name": "Read", "input": args or {"path": "a.py"}}
    return block if number is None else {**block, "id": number}


def result(text: str, **fields: Any) -> Record:
    return {"type": "tool_result", "tool_use_id": "t1", "content": text, **fields}


def droid(role: str, *content: Record, at: int = AT) -> Record:
    return {"type": "message", "id": "m", "timestamp": at, "message": {"role": role, "content": content}}


REMINDER = words("<system-reminder>Today is Monday.</system-reminder>")
DROID = [
    {"type": "session_start", "id": "s", "title": "t", "sessionTitle": "Reading", "cwd": "/srv/d"},
    droid("user", REMINDER, words("Read it.")),
    droid("user", REMINDER),
    droid("assistant", words("I read it."), use(), at=AT + 1),
    droid("user", result("no such file", is_error=True), at=AT + 2),
    {"type": "compaction_state", "timestamp": AT + 3},
    droid("assistant", words("It is not there."), at=AT + 4),
]
PRINTED = [
    {"type": "system", "session_id": "s", "timestamp": AT, "model": "m", "cwd": "/srv/d"},
    {"type": "message", "session_id": "s", "timestamp": AT, "role": "user", "text": "Read it."},
    {"type": "message", "session_id": "s", "timestamp": AT, "role": "assistant", "text": "I read it."},
    {
        "type": "tool_call",
        "session_id": "s",
        "timestamp": AT,
        "toolCallId": "c",
        "toolName": "Read",
        "parameters": {"path": "a.py"},
    },
    {
        "type": "tool_result",
        "session_id": "s",
        "timestamp": AT + 2,
        "toolCallId": "c",
        "value": {"stdout": "no such file", "exitCode": 1},
    },
    {"type": "completion", "session_id": "s", "timestamp": AT + 3, "finalText": "It is not there."},
]
CURSOR: list[Record] = [
    {"role": "user", "message": {"content": [words("<user_query>\nRead it.\n</user_query>")]}},
    {"role": "assistant", "message": {"content": [words("I read it."), use(None)]}},
    {"role": "user", "message": {"content": [result("no such file", is_error=True)]}},
    {"role": "assistant", "message": {"content": [words("It is not there."), use(None)]}},
    {"type": "turn_ended", "status": "success"},
]
GROK = [
    {"type": "system", "content": "You are Grok."},
    {"type": "user", "content": [words("Where: /srv")], "synthetic_reason": "environment_context"},
    {"type": "user", "content": [words("Read it.")], "prompt_index": 0},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {
        "type": "assistant",
        "content": "I read it.",
        "model_id": "grok-9",
        "tool_calls": [{"id": "t1", "name": "Read", "arguments": '{"path": "a.py"}'}],
    },
    {"type": "tool_result", "tool_call_id": "t1", "content": "no such file"},
    {
        "type": "backend_tool_call",
        "kind": {"tool_type": "web_search", "action": {"query": "a.py"}, "id": "w", "status": "completed"},
    },
    {"type": "assistant", "content": "It is not there.", "model_id": "grok-9"},
]


def goose(role: str, *content: Record, **fields: Any) -> Record:
    return {"id": "m", "role": role, "created": AT, "content": content, **fields}


ASKED = {"status": "success", "value": {"name": "Read", "arguments": {"path": "a.py"}}}
FAILED = {"status": "error", "error": "no such file"}
GOOSE_HEAD = {
    "working_dir": "/srv/g",
    "description": "Reading",
    "message_count": 5,
    "accumulated_input_tokens": 100,
    "accumulated_output_tokens": 20,
}
GOOSE = [
    goose("user", words("Read it.")),
    goose("user", words("Be brief."), metadata={"userVisible": False}),
    goose("assistant", words("I read it."), {"type": "toolRequest", "id": "t1", "toolCall": ASKED}),
    goose("user", {"type": "toolResponse", "id": "t1", "toolResult": FAILED}),
    goose("assistant", words("It is not there.")),
]
CALL = {"id": "t1", "type": "function", "function": {"name": "Read", "arguments": '{"path": "a.py"}'}}
HERMES = [
    {"role": "session_meta", "model": "m", "platform": "cli", "timestamp": "2026-02-02T02:40:00"},
    {"role": "user", "content": "Read it.", "timestamp": AT},
    {"role": "assistant", "content": "I read it.", "tool_calls": [CALL], "timestamp": AT},
    {"role": "tool", "tool_call_id": "t1", "content": "no such file", "timestamp": AT + 2},
    {"role": "assistant", "content": "It is not there.", "timestamp": AT + 3},
]
KIRO = [
    {
        "kind": "Prompt",
        "data": {"content": [{"kind": "text", "data": "Read it."}], "meta": {"timestamp": AT}},
    },
    {
        "kind": "AssistantMessage",
        "data": {
            "content": [
                {"kind": "text", "data": "I read it."},
                {"kind": "toolUse", "data": {"toolUseId": "t1", "name": "Read", "input": {"path": "a.py"}}},
            ]
        },
    },
    {
        "kind": "ToolResults",
        "data": {
            "content": [
                {
                    "kind": "toolResult",
                    "data": {
                        "toolUseId": "t1",
                        "status": "error",
                        "content": [{"kind": "text", "data": "no such file"}],
                    },
                }
            ]
        },
    },
    {"kind": "AssistantMessage", "data": {"content": [{"kind": "text", "data": "It is not there."}]}},
]
WHERE = {"env_context": {"env_state": {"current_working_directory": "/srv/k"}}, "timestamp": AT}
KIRO_HISTORY = [
    {
        "user": {**WHERE, "content": {"Prompt": {"prompt": "Read it."}}},
        "assistant": {
            "ToolUse": {
                "content": "I read it.",
                "tool_uses": [{"id": "t1", "name": "Read", "args": {"path": "a.py"}}],
            }
        },
        "request_metadata": {"stream_end_timestamp_ms": (AT + 1) * 1000, "model_id": "m"},
    },
    {
        "user": {
            **WHERE,
            "content": {
                "ToolUseResults": {
                    "tool_use_results": [
                        {"tool_use_id": "t1", "status": "Error", "content": [{"Text": "no such file"}]}
                    ]
                }
            },
        },
        "assistant": {"Response": {"content": "It is not there."}},
    },
]
COUNTS = {"input_tokens": 3, "output_tokens": 2, "cache_read_tokens": 1}
NOTES = {"model": "m", "usage": COUNTS, "cost": 0.5}


def gptme(role: str, content: str, **fields: Any) -> Record:
    return {"role": role, "content": content, "timestamp": AT, **fields}


GPTME = [
    gptme("system", "You are gptme.", pinned=True),
    gptme("user", "Read it."),
    gptme("assistant", "I read it.\n\n```shell\ncat a.py\n```\n\n```python\nno_tool()\n```", metadata=NOTES),
    gptme("system", "Ran command: no such file"),
    gptme("assistant", '@read(c1): {"path": "a.py"}'),
    gptme("system", "no such file", call_id="c1"),
    gptme("assistant", "It is not there."),
]
AROUND = words("<environment_details>\n# Current Working Directory (/srv/c) Files\n</environment_details>")
CLINE: list[Record] = [
    {"role": "user", "content": [words("<task>\nRead it.\n</task>"), AROUND], "ts": AT * 1000},
    {
        "role": "assistant",
        "content": [
            words("<thinking>Hm.</thinking>\nI read it.\n\n<read_file>\n<path>a.py</path>\n</read_file>")
        ],
        "modelInfo": {"modelId": "m"},
    },
    {
        "role": "user",
        "content": [
            words("[read_file for 'a.py'] Result:"),
            words("The tool execution failed with the following error:\n<error>no such file</error>"),
            AROUND,
        ],
    },
    {
        "role": "assistant",
        "content": [
            words("<attempt_completion>\n<result>\nIt is not there.\n</result>\n</attempt_completion>")
        ],
    },
]
METRICS = {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 5, "cost": 0.5}
CLINE_MESSAGES = [
    {"role": "user", "content": [words('<user_input mode="act">Read it.</user_input>')], "ts": AT * 1000},
    {
        "role": "assistant",
        "content": [words("I read it."), use()],
        "metrics": METRICS,
        "modelInfo": {"id": "m"},
        "ts": AT * 1000,
    },
    {"role": "user", "content": [result("no such file", is_error=True)], "ts": AT * 1000},
    {"role": "assistant", "content": [words("It is not there.")], "ts": AT * 1000},
]


def iflow(kind: str, *content: Record, **fields: Any) -> Record:
    head = {"uuid": f"{kind}{len(str(content))}", "sessionId": "session-1", "userType": "external"}
    usage = {"input_tokens": 0, "output_tokens": 0}
    message = {"id": f"r{len(str(content))}", "role": kind, "content": content, "model": "m", "usage": usage}
    return {**head, "cwd": "/srv/i", "timestamp": AT, "type": kind, "message": message, **fields}


def from_gemini(response: Record) -> Record:
    return {"callId": "t1", "responseParts": {"functionResponse": {"id": "t1", "response": response}}}


IFLOW = [
    iflow("user", words("Read it.")),
    iflow("assistant", words("I read it.")),
    iflow("assistant", use()),
    iflow("assistant", use(), words("\n")),
    iflow("user", {**result(""), "content": from_gemini({"error": "no such file"})}),
    iflow("assistant", words("It is not there.")),
]


@pytest.mark.parametrize(
    ("form", "data", "failed", "model"),
    [
        ("droid", lines(DROID), True, None),
        ("droid", lines(PRINTED), True, "m"),
        ("cursor", lines(CURSOR), True, None),
        ("grok", lines(GROK), False, "grok-9"),
        ("goose", lines([GOOSE_HEAD, *GOOSE]), True, None),
        ("goose", json.dumps({**GOOSE_HEAD, "conversation": GOOSE}).encode(), True, None),
        ("hermes", lines(HERMES), False, "m"),
        (
            "hermes",
            json.dumps(
                {"session_start": AT, "platform": "cli", "model": "m", "messages": HERMES[1:]}
            ).encode(),
            False,
            "m",
        ),
        ("kiro", lines(KIRO), True, None),
        ("kiro", json.dumps({"conversation_id": "c", "history": KIRO_HISTORY}).encode(), True, "m"),
        (
            "cline",
            json.dumps({"version": 1, "sessionId": "s", "messages": CLINE_MESSAGES}).encode(),
            True,
            "m",
        ),
        ("iflow", lines(IFLOW), True, "m"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_facts_of_a_session(
    read_data: Callable[..., Any], form: str, data: bytes, failed: bool, model: str | None
) -> None:
    """Request, answer, call with arguments and answer, failure and model are those of the file."""
    trace, events = read_data(data)
    assert (trace.format.name, trace.fault_count) == (form, 0)
    asked = [event.text for event in events if isinstance(event, Message) and event.role == "user"]
    assert asked == ["Read it."]
    said = [event for event in events if isinstance(event, ModelCall)]
    assert [event.text.strip() for event in said] == ["I read it.", "It is not there."]
    call = next(event for event in events if isinstance(event, ToolCall))
    assert (call.name, call.args, call.error) == ("Read", {"path": "a.py"}, failed)
    assert "no such file" in str(call.result)
    assert {event.usage.model if event.usage else None for event in said if event.text} >= {model}
    assert check_events(events).ending.ending is EndKind.FINISHED


def test_a_session_of_droid_beside_its_settings(tmp_path: Path) -> None:
    """Reminders are not the person's; times, title and folder are known; the total stands beside the file."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(lines(DROID))
    tokens = {"inputTokens": 10, "outputTokens": 5, "cacheCreationTokens": 1, "cacheReadTokens": 7}
    (tmp_path / "s.settings.json").write_text(json.dumps({"model": "m", "tokenUsage": tokens}))
    trace = open_trace(file)
    events = [event for event in trace if isinstance(event, Event)]
    assert (trace.title, trace.project) == ("Reading", "/srv/d")
    assert [event.ts for event in events] == [AT, AT, AT + 1, AT + 2, AT + 3, AT + 4, None]
    assert [event.kind for event in events if isinstance(event, Notice)] == [
        NoticeKind.NOTE,
        NoticeKind.COMPACTION,
        NoticeKind.TOTAL,
    ]
    whole = Usage(model="m", input_tokens=10, output_tokens=5, cache_read_tokens=7, cache_write_tokens=1)
    assert events[-1].stated == (whole,)  # type: ignore[attr-defined]
    assert check_events(events).spent.tokens.total == 23


@pytest.mark.parametrize("content", [None, "{", "[]", '{"tokenUsage": 7}'])
def test_no_total_beside_a_session(tmp_path: Path, content: str | None) -> None:
    """Without a file beside it, or with a broken one, the tokens are unknown."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(lines(DROID))
    if content is not None:
        (tmp_path / "s.settings.json").write_text(content)
    assert check_events(load_events(file)).spent.tokens.total is None


def test_totals_of_grok_and_cline(tmp_path: Path) -> None:
    """A turn that Grok writes twice counts once; the calls of Cline add up."""
    turn = {"inputTokens": 10, "cachedReadTokens": 4, "outputTokens": 5, "costUsdTicks": 2_500_000_000}
    update = {"prompt_id": "p", "usage": {"modelUsage": {"grok-9": turn}}}
    (tmp_path / "updates.jsonl").write_bytes(lines([{"params": {"update": update}}] * 2))
    (tmp_path / "chat_history.jsonl").write_bytes(lines(GROK))
    (total,) = load_events(tmp_path / "chat_history.jsonl")[-1].stated  # type: ignore[attr-defined]
    assert (total.input_tokens, total.cache_read_tokens, total.output_tokens) == (6, 4, 5)
    assert (total.model, total.cost_usd) == ("grok-9", 0.25)
    begun = json.dumps({"tokensIn": 10, "tokensOut": 5, "cacheReads": 2, "cost": 0.5})
    requests = [{"say": "api_req_started", "text": text} for text in (begun, begun, "{}")]
    (tmp_path / "ui_messages.json").write_text(json.dumps([*requests, {"say": "text", "text": "Hm."}]))
    (tmp_path / "api_conversation_history.json").write_text(json.dumps(CLINE))
    (total,) = load_events(tmp_path / "api_conversation_history.json")[-1].stated  # type: ignore[attr-defined]
    assert (total.input_tokens, total.output_tokens, total.cost_usd) == (20, 10, 1.0)


def test_a_turn_of_cursor_that_ended(read_data: Callable[..., Any]) -> None:
    """An answer that is not written down is no cut where the file says that the turn is over."""
    _, events = read_data(lines(CURSOR))
    assert [event.stop for event in events if isinstance(event, ModelCall)] == [None, Stop.END]
    _, events = read_data(lines([*CURSOR[:-1], {"type": "turn_ended", "status": "error", "error": "quota"}]))
    assert check_events(events).ending.ending in (EndKind.FAILED, EndKind.LIMIT)
    _, events = read_data(lines(CURSOR[:-1]))
    assert check_events(events).ending.ending is EndKind.CUT_OFF


def test_words_of_the_harness(read_data: Callable[..., Any]) -> None:
    """What an agent puts in for its person is a note: of Grok by its reason, of Goose by its visibility."""
    for values in (GROK, [GOOSE_HEAD, *GOOSE]):
        _, events = read_data(lines(values))
        assert next(event.kind for event in events if isinstance(event, Notice)) is NoticeKind.NOTE


def test_the_total_of_goose(read_data: Callable[..., Any]) -> None:
    """Its head states the tokens of the whole session; a head without them leaves them unknown."""
    trace, events = read_data(lines([GOOSE_HEAD, *GOOSE]))
    assert (trace.project, trace.title) == ("/srv/g", "Reading")
    assert events[-1].stated == (Usage(input_tokens=100, output_tokens=20),)
    _, events = read_data(lines([{"working_dir": "/srv/g", "message_count": 5}, *GOOSE]))
    assert check_events(events).spent.tokens.total is None


def test_a_task_of_cline_in_tags(read_data: Callable[..., Any]) -> None:
    """Calls in tags have names and arguments, answers stand in the blocks behind their heads."""
    trace, events = read_data(json.dumps(CLINE).encode())
    assert trace.format.name == "cline"
    assert [title(event) for event in events] == [
        "message",
        "message",
        "read_file",
        "note",
        "message",
        "attempt_completion",
    ]
    asked, said, call = events[:3]
    assert (asked.text, said.text, said.usage) == ("Read it.", "I read it.", Usage(model="m"))
    assert (call.args, call.error) == ({"path": "a.py"}, True)
    assert call.result.endswith("<error>no such file</error>")
    assert check_events(events).ending.ending is EndKind.FINISHED


def test_metrics_of_cline(read_data: Callable[..., Any]) -> None:
    """A message states its tokens and its cost."""
    whole = {"version": 1, "sessionId": "s", "messages": CLINE_MESSAGES}
    _, events = read_data(json.dumps(whole).encode())
    usage = Usage(model="m", input_tokens=10, output_tokens=2, cache_read_tokens=5, cost_usd=0.5)
    assert [event.usage for event in events if isinstance(event, ModelCall)] == [usage, Usage(model="m")]


def test_a_conversation_of_gptme(read_data: Callable[..., Any]) -> None:
    """Code blocks of tools are calls, other code is none; the system answers them in turn, or by ids."""
    trace, events = read_data(lines(GPTME))
    assert trace.format.name == "gptme"
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, call.args, call.result) for call in calls] == [
        ("shell", {"command": "cat a.py"}, "Ran command: no such file"),
        ("read", {"path": "a.py"}, "no such file"),
    ]
    usage = Usage(model="m", input_tokens=3, output_tokens=2, cache_read_tokens=1, cost_usd=0.5)
    assert next(event.usage for event in events if isinstance(event, ModelCall)) == usage


def test_a_session_of_iflow(read_data: Callable[..., Any]) -> None:
    """Lines of one answer are one call of the model; tokens that were not counted are unknown, and not 0."""
    _, events = read_data(lines(IFLOW))
    assert [title(event) for event in events] == ["message", "message", "Read", "message"]
    assert check_events(events).spent.tokens.total is None


def test_a_session_of_openclaw(read_data: Callable[..., Any]) -> None:
    """It is one of pi: the model of an answer may stand before it, and what was sent is no second answer."""

    def said(text: str, **fields: Any) -> Record:
        message = {"role": "assistant", "content": [words(text)], **fields}
        return {"type": "message", "id": text, "timestamp": AT, "message": message}

    head = {"type": "session", "id": "s", "timestamp": AT, "cwd": "/srv/o"}
    change = {"type": "model_change", "id": "c", "modelId": "m", "timestamp": AT}
    zero = {"input": 0, "output": 0, "cost": {"total": 0}}
    mirror = said("Done, sent.", model="delivery-mirror", provider="openclaw", usage=zero)
    trace, events = read_data(lines([head, change, said("Done."), mirror]))
    assert (trace.format.name, trace.project) == ("pi", "/srv/o")
    assert [type(event) for event in events] == [ModelCall, Notice]
    assert events[0].usage == Usage(model="m")


CODE = ".config/Code/User/globalStorage"
PLACES = [
    (CodingAgent.CURSOR, ".cursor/projects/srv-c/agent-transcripts/i/i.jsonl", CURSOR, ("i", None, "srv-c")),
    (
        CodingAgent.CURSOR,
        ".cursor/projects/srv-c/agent-transcripts/i/subagents/j.jsonl",
        CURSOR,
        ("j", "i", "srv-c"),
    ),
    (CodingAgent.DROID, ".factory/sessions/-srv-d/s.jsonl", DROID, ("s", None, "/srv/d")),
    (
        CodingAgent.OPENCLAW,
        ".openclaw/agents/main/sessions/0a.jsonl",
        [{"type": "session", "id": "s", "cwd": "/srv/o"}],
        ("s", None, "/srv/o"),
    ),
    (
        CodingAgent.CLINE,
        f"{CODE}/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
        [CLINE],
        ("1", None, "/srv/c"),
    ),
    (CodingAgent.CLINE, ".cline/data/sessions/s/s.messages.json", [CLINE], ("s", None, "/srv/c")),
    (
        CodingAgent.ROO,
        f"{CODE}/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json",
        [CLINE],
        ("1", None, "/srv/c"),
    ),
    (CodingAgent.GOOSE, ".local/share/goose/sessions/g.jsonl", [GOOSE_HEAD], ("g", None, "/srv/g")),
    (CodingAgent.GROK, ".grok/sessions/%2Fsrv%2Fx/i/chat_history.jsonl", GROK, ("i", None, "/srv/x")),
    (CodingAgent.HERMES, ".hermes/sessions/session_1.json", HERMES, ("session_1", None, None)),
    (CodingAgent.IFLOW, ".iflow/projects/-srv-i/session-1.jsonl", IFLOW, ("session-1", None, "/srv/i")),
    (CodingAgent.KIRO, ".kiro/sessions/cli/k.jsonl", KIRO, ("k", None, None)),
    (CodingAgent.GPTME, ".local/share/gptme/logs/today/conversation.jsonl", GPTME, ("today", None, None)),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("agent", "place", "values", "expected"), PLACES, ids=[place[1] for place in PLACES])
def test_where_a_session_lies(
    home: Path,
    agent: CodingAgent,
    place: str,
    values: list[Any],
    expected: tuple[str, str | None, str | None],
) -> None:
    """It is found in the home of its agent; its file or its folder says what it is, and where it worked."""
    file = home / place
    file.parent.mkdir(parents=True)
    file.write_bytes(lines(values))
    (found,) = SessionSearch.of({}).files
    assert (found.agent, found.path, found.is_main) == (agent, str(file), expected[1] is None)
    origin = origin_of(found)
    assert (origin.id, origin.parent, origin.project) == expected


def test_what_lies_beside_sessions(home: Path) -> None:
    """Settings, trajectories and dumps are no sessions; one that Hermes wrote twice counts once."""
    for place in (
        ".factory/sessions/p/s.settings.json",
        ".openclaw/agents/main/sessions/0a.trajectory.jsonl",
        ".openclaw/agents/main/sessions/sessions.json",
        ".hermes/sessions/session_1.json",
        ".hermes/sessions/1.jsonl",
    ):
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text("{}")
    assert [Path(file.path).name for file in SessionSearch.of({}).files] == ["session_1.json"]


@pytest.mark.parametrize(
    ("place", "column", "advice"),
    [
        (".local/share/goose/sessions/sessions.db", "content_json", "goose session export"),
        (".hermes/state.db", "tool_calls", "hermes sessions export"),
    ],
)
def test_a_database_in_a_home(home: Path, place: str, column: str, advice: str) -> None:
    """One that is not known is there, with why it is not read, and what to do."""
    (home / place).parent.mkdir(parents=True)
    with closing(sqlite3.connect(home / place)) as database:
        database.executescript(f"CREATE TABLE sessions (id); CREATE TABLE messages ({column})")
    (file,) = SessionSearch.of({}).files
    assert "it has no " in file.obstacle
    assert advice in file.obstacle


def test_a_session_of_kiro_states_its_folder_beside_it(home: Path) -> None:
    """The file beside it has the folder, and the session that began it."""
    file = home / "k.jsonl"
    file.write_bytes(lines(KIRO))
    (home / "k.json").write_text(json.dumps({"cwd": "/srv/k", "parent_session_id": "j"}))
    kiro = SessionFile(agent=CodingAgent.KIRO, path=str(file), modified=0.0, folder="", is_main=True)
    origin = origin_of(kiro)
    assert (origin.parent, origin.project) == ("j", "/srv/k")


SAMPLES = {  # by folder: the format of what holds a session
    "cline": "cline",
    "cursor_agent": "cursor",
    "factory_droid": "droid",
    "goose": "goose",
    "gptme": "gptme",
    "grok_build": "grok",
    "hermes": "hermes",
    "iflow": "iflow",
    "kiro": "kiro",
    "mistral_vibe": "chat",
    "openclaw": "pi",
    "roo_code": "cline",
    "visual_studio_copilot": "otlp",
}
NO_SESSIONS = {
    "meta.json": "no trace",
    "sessions.sql": "Goose",
    "store.db": "Cursor",
    "summary.json": "no trace",
}


@pytest.mark.parametrize("folder", SAMPLES)
def test_samples_of_agents(data: Path, folder: str) -> None:
    """Each is read whole by the reader of its agent, with calls that have names, or it is refused."""
    for path in sorted((data / "traces" / folder).iterdir()):
        if path.name in NO_SESSIONS:
            with pytest.raises(TranscriptError, match=NO_SESSIONS[path.name]):
                open_trace(path)
            continue
        trace = open_trace(path)
        events = [event for event in trace if isinstance(event, Event)]
        assert (trace.format.name, trace.fault_count) == (SAMPLES[folder], 0)
        assert events
        calls = [event for event in events if isinstance(event, ToolCall)]
        assert all(call.args is not None for call in calls) or folder in ("gptme", "visual_studio_copilot")
