"""Chats that were exported as markdown: each dialect, their tools, and what only looks like one."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.checking import check_events
from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, Role, ToolCall
from ebbtide.traces.reading import Trace, loads

Read = Callable[..., list[Event]]


def read(text: str, name: str = "chat.md") -> list[Any]:
    trace = Trace.of(dedent(text).lstrip("\n").encode(), source=name)
    assert trace.format.name == "markdown-chat"
    return list(trace)


def said(text: str) -> list[tuple[str, str | None]]:
    """Who says what, people and models alone."""
    return [
        ("person" if isinstance(event, Message) else "model", event.text)
        for event in read(text)
        if isinstance(event, Message) or (isinstance(event, ModelCall) and event.part is ModelPart.WHOLE)
    ]


def form_of(text: str) -> str:
    try:
        return Trace.of(text.encode(), source="x.md").format.name
    except TranscriptError:
        return ""


TALK = [
    ("person", "The cache is cold."),
    ("model", "Warm it at boot.\n\nThen measure:\n\n```sh\n## User\n**User:** x\n```"),
    ("person", "Done: p99 is 20 ms."),
    ("model", "Then it is finished."),
]


@pytest.mark.parametrize(
    ("person", "model"),
    [
        ("_**User**_\n\n", "_**Assistant**_\n\n"),
        ("_**User (2026-01-05 12:03Z)**_\n\n", "_**Agent (model gpt-5, mode Agent)**_\n\n"),
        ("## User\n\n", "## Assistant\n\n"),
        ("### Human\n", "### Claude\n"),
        ("## \U0001f464 User\n\n", "## \U0001f916 Assistant\n\n"),
        ("## User (12:03)\n\n", "## Assistant (gpt-5)\n\n"),
        ("## Prompt:\n", "## Response:\n"),
        ("##### You said:\n\n", "###### ChatGPT said:\n\n"),
        ("### **User:**\n\n", "### **Gemini:**\n\n"),
        ("## Turn 1 \u2014 User\n\n", "## Turn 1 \u2014 Assistant\n\n"),
        ("## User \u00b7 2026-01-05 12:03:11\n\n", "## Copilot \u00b7 gpt-5\n\n"),
        ("**Human:** ", "**Assistant:** "),
        ("**User**: ", "**AI**: "),
        ("**User**\n\n", "**Cursor**\n\n"),
        ("__You:__\n", "__ChatGPT:__\n"),
        ("**User** (12:03):\n\n", "**Claude** (claude-opus-4-5):\n\n"),
    ],
)
@pytest.mark.parametrize("between", ["\n\n", "\n\n---\n\n"])
@pytest.mark.parametrize("before", ["", "# Warm the cache\n\n*Exported on 5 January*\n\n---\n\n"])
def test_dialects(person: str, model: str, between: str, before: str) -> None:
    """However speakers are set off, the turns are the same; code that looks like a turn is part of one."""
    heads = {"person": person, "model": model}
    text = before + between.join(heads[speaker] + words for speaker, words in TALK)
    assert said(text) == TALK
    assert said(text.replace("\n", "\r\n")) == TALK


def test_a_chat_of_copilot_is_read_as_text() -> None:
    """`name: text` has names of people, which plain text has too."""
    text = "ann: Is it cached?\n\nGitHub Copilot: It is not.\n\nann: Cache it.\n\nGitHub Copilot: Done.\n"
    assert form_of(text) == "text"
    assert [item.agent for item in loads(text).rounds] == ["ann", "GitHub Copilot"] * 2


def test_a_session_of_specstory(calls: Read) -> None:
    """Times, models, tools, thoughts, a sub-agent, and what the harness put in."""
    events = calls("specstory.md", form="markdown-chat")
    kinds = [type(event).__name__ for event in events]
    model, tool = "ModelCall", "ToolCall"
    assert kinds == ["Message", model, model, tool, tool, "Message", model, model, "Notice"]
    person, thought, first, bash, edit, task, aside, last, injected = events
    assert isinstance(thought, ModelCall)
    assert (thought.part, thought.text) == (ModelPart.THOUGHT, "Where does it boot?")
    assert isinstance(first, ModelCall)
    assert first.usage is not None
    assert (first.usage.model, first.text) == ("claude-opus-4-5", "I'll look at where it starts.")
    assert first.ts is not None
    assert person.ts is not None
    assert first.ts - person.ts == 5
    assert isinstance(bash, ToolCall)
    assert (bash.name, bash.error) == ("Bash", False)
    assert bash.args == {"command": 'grep -rn "def main" src', "description": "Find the start"}
    assert bash.result == "src/app.py:3:def main():"
    assert isinstance(edit, ToolCall)
    assert (edit.args, edit.error) == (None, True)
    assert [event.chain_id for event in (task, aside, last)] == ["sidechain 1", "sidechain 1", ""]
    assert isinstance(injected, Notice)


def test_a_chat_of_cursor(calls: Read) -> None:
    """A heading in bold type inside an answer opens no turn: there is no rule above it."""
    events = calls("cursor_export.md", form="markdown-chat")
    assert [type(event) for event in events] == [Message, ModelCall] * 2
    assert "The table of users" in (events[1].text or "")  # type: ignore[attr-defined]


TAG = '<tool-use data-tool-type="{}" data-tool-name="x"><details>\n<summary>Tool use: **x**</summary>\n'
END = "\n</details></tool-use>"
CHUNKS = (
    '<tool-use data-tool-type="shell" data-tool-name="command">\n'
    "<details><summary>Tool use: **command** \u2022 Run: cd x &amp;&amp; ls</summary>\n\n"
    "```bash\ncd x && ls\n```\n\n```\na\n\n```sh\nb\n```\nc\n```\n\n</details>\n</tool-use>"
)
USES: list[tuple[str, object, str | None]] = [
    (
        "Tool use: **Bash** List\n\n`ls`\n\nResult:\n\n```\na\n```",
        {"command": "ls", "description": "List"},
        "a",
    ),
    ("Tool use: **read**\n\nRead file: a.py\n\n---\n\nShort.", {"input": "Read file: a.py"}, None),
    ('### Tool: Task\n\n```json\n{"a": 1}\n```\n\nIt is short.', {"a": 1}, None),
    (
        '### Tool Call: ls (failed)\n\n```json\n{"p": "."}\n```\n\n**Result:**\n\n```\nno\n```',
        {"p": "."},
        "no",
    ),
    (
        TAG.format("generic") + '```json\n{"id": "7"}\n```\n\nOutput:\n```text\n{"status": "ok"}\n```' + END,
        {"id": "7"},
        '{"status": "ok"}',
    ),
    (
        TAG.format("search") + " path `./` pattern `a|b`\n```\nNo files found\n```" + END,
        {"path": "./", "pattern": "a|b"},
        "No files found",
    ),
    (
        TAG.format("unknown") + "**Input:**\n\n- query: `q`\n\n**Result:**\n\n```\n\n```" + END,
        {"query": "q"},
        "",
    ),
    (TAG.format("unknown") + "Input (truncated): ```\nconst r =\n...\n```" + END, None, None),
    (
        TAG.format("write") + "\n```md\n# A\n\n```text\nx\n```\n\n```\n\n```text\nwritten\n```" + END,
        {"content": "# A\n\n```text\nx\n```\n"},
        "written",
    ),
    (CHUNKS, {"command": "cd x && ls", "description": "Run: cd x && ls"}, "a\n\n```sh\nb\n```\nc"),
]


@pytest.mark.parametrize(("body", "args", "result"), USES)
def test_uses_of_tools(body: str, args: object, result: object) -> None:
    """What went in and what came out, as far as it is shown."""
    layout = "## User\n\nGo.\n\n## Assistant\n\n{}\n\n## User\n\nGood.\n"
    call = next(event for event in read(layout.format(body)) if isinstance(event, ToolCall))
    assert (call.args, call.result, call.error) == (args, result, "failed" in body)


def test_words_after_a_use_of_a_tool_are_said() -> None:
    """A use of a tool that nothing closes ends where words follow its blocks."""
    use = "### Tool: ls\n\n```json\n{}\n```\n\nIt is empty."
    text = f"## User\n\nGo.\n\n## Assistant\n\n{use}\n\n## User\n\nOk.\n"
    assert said(text)[1] == ("model", "It is empty.")


def test_what_a_tool_shows_is_no_turn() -> None:
    """An export that an agent reads stays the answer of its tool."""
    text = """
        _**User (2026-01-05 12:03Z)**_

        Read it.

        _**Agent (m-1 2026-01-05 12:04Z)**_

        <tool-use data-tool-type="shell" data-tool-name="Bash"><details>
        `cat old.md`

        ```text
        _**User (2025-01-01 00:00Z)**_

        old words </details></tool-use>
        ```
        </details></tool-use>
    """
    message, call = read(text)
    assert (message.text, call.args) == ("Read it.", {"command": "cat old.md"})
    assert "old words" in call.result


def test_system_prompts_and_answers_of_tools_have_turns_of_their_own() -> None:
    """Neither is said by a person or a model."""
    turns = {"System": "Be brief.", "User": "Hi.", "Tool (ls)": "a.txt", "Assistant": "One file."}
    text = "".join(f"## {name}\n\n{words}\n\n" for name, words in turns.items())
    events = read(f"{text}## User\n\nOk.\n")
    assert events[0].role is Role.SYSTEM
    assert (events[2].name, events[2].args, events[2].result) == ("ls", None, "a.txt")
    assert len(events) == 5


@pytest.mark.parametrize(
    "text",
    [
        "# Roles\n\nWho does.\n\n## User\n\nWrites tickets.\n\n## Assistant\n\nAnswers.\n\n## Admin\n\nx\n",
        "# Session\n\n**Human:** Ann\n**Agent:** Codex\n**Date:** today\n\n## Done\n\nAll.\n",
        "- **Human:** decides\n- **AI:** proposes\n- **Human:** signs\n",
        "# API\n\n"
        + "How to prompt a model, in words. " * 20
        + "\n\n**User:** Hi\n\n**Assistant:** Hello\n\n**User:** Bye\n",
        "# Prompts\n\n```\n## User\n\nHi\n\n## Assistant\n\nHello\n\n## User\n\nBye\n```\n",
        "## User stories\n\n- As a user\n\n## Assistant manager\n\n- x\n\n## User stories\n",
    ],
)
def test_documents_are_no_chats(text: str) -> None:
    """Headings and words in bold type are not enough."""
    assert form_of(text) != "markdown-chat"


def test_no_document_of_this_project_is_a_chat() -> None:
    """Documentation speaks of users and assistants on every page."""
    root = Path(__file__).parents[2]
    documents = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("benchmarks/**/*.md")]
    assert len(documents) > 10
    assert [path for path in documents if form_of(path.read_text()) in ("markdown-chat", "aider")] == []


def test_check_and_decisions_work(samples: Path) -> None:
    """Thoughts are no rounds, and calls are counted."""
    trace = Trace.of((samples / "specstory.md").read_bytes(), source="specstory.md")
    summary = check_events(list(trace))
    assert summary.spent.tool_calls == 2
    transcript = loads((samples / "specstory.md").read_bytes())
    assert all("Where does it boot" not in (item.text or "") for item in transcript.rounds)


def test_an_export_without_a_turn_is_refused_as_empty() -> None:
    """It is known for what it is."""
    trace = Trace.of(b"<!-- Generated by SpecStory -->\n\n# 2026\n", source="x.md")
    assert (trace.format.name, list(trace)) == ("markdown-chat", [])


_LINES = st.sampled_from(
    [
        "_**User (2026-01-05 12:03Z)**_",
        "_**Agent (m-1)**_",
        "## User",
        "## Assistant:",
        "**User:** hi",
        "**Cursor**",
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>',
        "</details></tool-use>",
        "<think>",
        "</think>",
        "Tool use: **Bash** x",
        "### Tool: ls (failed)",
        "Result:",
        "Input (truncated): ```",
        "```",
        "```text",
        "~~~",
        "---",
        "#### hello  ",
        "> Tokens: 1.k sent, ,k received. Cost: $.. message",
        "# aider chat started at 2026-13-45 99:99:99",
        "<summary>",
        " path `a` - b: `c`",
        "words",
        "",
    ]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=20)), max_size=40))
def test_nothing_but_an_ebbtide_error_escapes(lines: list[str]) -> None:
    """Whatever stands in a file that looks like an export."""
    for first in (
        "<!-- Generated by SpecStory -->",
        "# aider chat started at 2026-01-05 12:03:11",
        "## User",
    ):
        try:
            events = list(Trace.of("\n".join((first, *lines)).encode(errors="replace"), source="x.md"))
        except EbbtideError:
            continue
        assert all(not isinstance(event, ModelCall | Message) or event.text for event in events)


@pytest.mark.parametrize(
    "piece",
    [
        "_**User**_\n\nhi\n\n_**Agent**_\n\n",
        '_**User**_\n\n<tool-use data-tool-type="a" data-tool-name="b">\n\n',
        "_**Agent**_\n\n<think>\n",
        "## Assistant\n\n### Tool: ls\n\n```\n\n## User\n\n",
        "Tool use: **x**\n\n```a\n",
        "## User\n\n```\n~~~\n## Assistant\n\n",
        "#### a  \n> Tokens: 1k sent, 1k received.\n",
    ],
)
def test_time_grows_with_length_alone(piece: str) -> None:
    """Twice the text takes no more than a few times as long, whatever is left open in it."""
    for first in ("<!-- Generated by SpecStory -->\n\n", "# aider chat started at 2026-01-05 12:03:11\n"):
        seconds = []
        for count in (2_000, 4_000):
            data, best = (first + "_**Agent**_\n\n" + piece * count).encode(), math.inf
            for _ in range(3):  # a collection of garbage in one of them says nothing about the reader
                begin = time.process_time()
                list(Trace.of(data, source="x.md"))
                best = min(best, time.process_time() - begin)
            seconds.append(best)
        assert seconds[1] < 4 * seconds[0] + 0.5
