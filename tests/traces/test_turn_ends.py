"""Who speaks in a session of a coding agent, and whether its turn is over: what the record itself says."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from ebbtide.checking import check_events
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop
from ebbtide.events.event_json import event_wire, read_event
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.traces.agents.claude_code import ClaudeCodeReader
from ebbtide.traces.agents.codex import CodexReader

ASKED = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Fix the login."}}
_BASH = {"type": "tool_use", "name": "Bash", "input": {"command": "make"}}
_ANSWERED = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}


def _said(name: str, *content: dict[str, Any], **line: Any) -> dict[str, Any]:
    message = {"role": "assistant", "id": name, "model": "m", "content": list(content)}
    return {"type": "assistant", "uuid": f"l-{name}", "message": message, **line}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _synthetic(words: str, **line: Any) -> dict[str, Any]:
    line = _said("s", _text(words), **line)
    line["message"]["model"] = "<synthetic>"
    return line


def _user(words: str, **line: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": f"u {words}", "message": {"role": "user", "content": words}, **line}


def _events(reader: Any, lines: Sequence[dict[str, Any]]) -> list[Event]:
    events = [event for line in lines for event in reader.read(json.loads(json.dumps(line)), "line")]
    return [*events, *reader.finish()]


_CALL = _said("m1", _text("The fix is in and all tests pass."), {**_BASH, "id": "c1"})
_RESULT = {"type": "user", "uuid": "u2", "message": {"role": "user", "content": [_ANSWERED]}}
_DONE = _said("m2", _text("I'll look at the rest when the build is through."))
_OVER = {"type": "system", "subtype": "turn_duration", "durationMs": 5}
_LIMIT = "You're out of extra usage · resets 11pm"
ENDS = {
    "a call without an answer, whatever was said before it": ([ASKED, _CALL], EndKind.CUT_OFF, "call"),
    "a call with an answer and no word after it": ([ASKED, _CALL, _RESULT], EndKind.CUT_OFF, "call"),
    "a turn that is over is not cut off": ([ASKED, _CALL, _RESULT, _DONE, _OVER], EndKind.FINISHED, "answer"),
    "a result that says success": (
        [ASKED, _DONE, {"type": "result", "subtype": "success", "total_cost_usd": 0.1}],
        EndKind.FINISHED,
        "answer",
    ),
    "the account's limit": (
        [ASKED, _CALL, _RESULT, _synthetic(_LIMIT, isApiErrorMessage=True)],
        EndKind.LIMIT,
        "limit.out-of",
    ),
    "an error of the interface": (
        [ASKED, _synthetic("API Error: 500 overloaded", isApiErrorMessage=True), _OVER],
        EndKind.FAILED,
        "error",
    ),
    "retries, and no call that got through": (
        [
            ASKED,
            *(
                {"type": "system", "subtype": "api_error", "retryAttempt": n, "maxRetries": 10}
                for n in range(1, 11)
            ),
        ],
        EndKind.FAILED,
        "notice",
    ),
    "the harness answers where nothing was asked": (
        [ASKED, _said("m3", _text("Lima.")), _synthetic("No response requested.")],
        EndKind.FINISHED,
        "answer",
    ),
    "a question that nobody answered": (
        [
            ASKED,
            _said(
                "m4", {"type": "tool_use", "id": "c4", "name": "AskUserQuestion", "input": {"questions": []}}
            ),
        ],
        EndKind.HANDED_BACK,
        "tool",
    ),
    "an answer that the limit of its output cut": (
        [ASKED, {**_DONE, "message": {**_DONE["message"], "stop_reason": "max_tokens"}}],
        EndKind.LIMIT,
        "length",
    ),
    "a file saved before the words": (
        [ASKED, _CALL, _RESULT, _said("m5", {"type": "thinking", "thinking": "All good."})],
        EndKind.CUT_OFF,
        "empty",
    ),
}


@pytest.mark.parametrize(("lines", "kind", "rule"), ENDS.values(), ids=ENDS)
def test_what_the_record_shows_goes_before_words(
    lines: list[dict[str, Any]], kind: EndKind, rule: str
) -> None:
    """Calls without an answer, errors and marks of a turn's end say how a session ended."""
    ending = check_events(_events(ClaudeCodeReader(), lines)).ending
    assert (ending.ending, ending.rule) == (kind, rule)


@pytest.mark.parametrize(
    "words",
    [
        "<bash-input>ls</bash-input>",
        "Base directory for this skill: /skills/x",
        "Operation stopped by hook: another session is active",
        "This session is being continued from a previous conversation that ran out of context.",
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
    ],
)
def test_no_person_says_what_the_harness_writes(words: str) -> None:
    """Such lines are notes, so that they neither end a run nor ask for anything."""
    events = _events(ClaudeCodeReader(), [_user(words)])
    assert [event.kind for event in events if isinstance(event, Notice)] == [NoticeKind.NOTE]
    assert not any(isinstance(event, Message) for event in events)


def test_the_request_is_quoted_without_its_wrapper() -> None:
    """A person's words stand alone, without the wrapper of an editor."""
    wrapped = "<ide_selection>lines 1 to 3</ide_selection>\nRename it."
    events = _events(ClaudeCodeReader(), [_user(wrapped)])
    assert [event.text for event in events if isinstance(event, Message)] == ["Rename it."]


def _codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **payload}}


def _spoken(words: str, phase: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words}]
    return _codex("message", role="assistant", content=content, phase=phase)


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (
            [_spoken("The branch is pushed. I'll merge it once it is reviewed.", "final_answer")],
            EndKind.FINISHED,
        ),
        (
            [
                _spoken("All tests pass.", "commentary"),
                _codex("function_call", name="exec_command", arguments="{}", call_id="c1"),
            ],
            EndKind.CUT_OFF,
        ),
    ],
)
def test_codex_says_which_message_is_the_last(lines: list[dict[str, Any]], kind: EndKind) -> None:
    """Its phase says whether an answer is final; a call without an answer is none."""
    asked = _codex("message", role="user", content=[{"type": "input_text", "text": "Push it."}])
    assert check_events(_events(CodexReader(), [asked, *lines])).ending.ending is kind


@pytest.mark.parametrize("stop", [*Stop, None])
def test_why_a_model_stopped_survives_the_plain_form(stop: Stop | None) -> None:
    """A reason that is written is read back; another word counts as not known."""
    call = ModelCall(text="x", stop=stop)
    assert read_event(event_wire(call)) == call
    assert read_event({"kind": "llm", "text": "x", "stop": "refusal"}) == ModelCall(text="x")
