"""What a person chose of the options that an agent offered with a tool: a decision with its alternatives."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decisions.turns.answered_questions import answered_questions
from ebbtide.decisions.turns.filtered_turns import Disposition, SpokenTurn
from ebbtide.decisions.turns.turn_filter import TurnFilter
from ebbtide.events.event import ModelCall, ToolCall
from ebbtide.service.hooks.session_decisions import SessionDecisions
from ebbtide.supervision.summary.recorder import RunRecorder

STORES = ("SQLite (Recommended)", "Redis", "PostgreSQL")


def asked(question: str = "Which store?", options: tuple[str, ...] = STORES) -> dict[str, object]:
    labels = [{"label": option, "description": "text"} for option in options]
    return {"questions": [{"question": question, "header": "Store", "options": labels}]}


def told(answer: str, question: str = "Which store?") -> str:
    return f'User has answered your questions: "{question}"="{answer}". You can now continue.'


def call(answer: str, question: str = "Which store?", options: tuple[str, ...] = STORES) -> ToolCall:
    return ToolCall(name="AskUserQuestion", args=asked(question, options), result=told(answer, question))


@pytest.mark.parametrize(
    "result",
    [
        told("SQLite (Recommended)"),
        told("SQLite"),
        'Your questions have been answered: "Which store?"="SQLite" selected preview:\n"x"="y"',
        {"answers": {"Which store?": "SQLite"}},
        json.dumps({"answers": {"Which store?": {"answers": ["SQLite"]}}}),
    ],
)
def test_an_option_is_chosen_over_the_others(result: object) -> None:
    """In the words of Claude Code and opencode, or in an object of answers."""
    (each,) = answered_questions("AskUserQuestion", asked(), result)
    assert (each.chosen, each.over) == (("SQLite",), ("Redis", "PostgreSQL"))
    assert each.decides


def test_several_options_leave_one_out() -> None:
    """Where all are chosen, nothing was."""
    (each,) = answered_questions("AskUserQuestion", asked(), told("PostgreSQL, Redis"))
    assert (each.chosen, each.over) == (("Redis", "PostgreSQL"), ("SQLite",))
    assert answered_questions("AskUserQuestion", asked(), told("SQLite, Redis, PostgreSQL")) == ()


@pytest.mark.parametrize(
    "result",
    [
        None,
        "",
        told("what is the difference?"),
        "The user doesn't want to proceed",
        '"Which store?"',
        "{broken",
    ],
)
def test_no_option_is_chosen(result: object) -> None:
    """The person asked back, refused, or nothing is recorded."""
    assert answered_questions("AskUserQuestion", asked(), result) == ()


@pytest.mark.parametrize(
    ("question", "options", "answer"),
    [
        ("More questions about sharing, or move on?", ("More questions", "Next area"), "Next area"),
        ("Ready to force-push the branch?", ("Yes", "No"), "Yes"),
        ("Which icon?", ("Sun", "Moon", "You decide"), "You decide"),
        ("Did you run the command?", ("Yes", "Later"), "Yes"),
    ],
)
def test_an_answer_about_the_talk_decides_nothing(
    question: str, options: tuple[str, ...], answer: str
) -> None:
    """The next step, a permission, and a choice that is handed back are none."""
    assert TurnFilter().answer(1, call(answer, question, options)) == ()


def test_the_gate_keeps_what_was_chosen() -> None:
    """With the question, the choice, and what was left; said again it is a duplicate."""
    turns = TurnFilter()
    (each,) = turns.answer(4, call("SQLite"))
    assert each.disposition is Disposition.KEPT
    assert each.sentence.candidate().description == "Which store? SQLite"
    assert each.sentence.candidate().options == ("SQLite", "Redis, PostgreSQL")
    assert (each.turn.speaker, each.sentence.rule) == ("user", "answer.option")
    (again,) = turns.answer(9, call("SQLite"))
    assert again.disposition is Disposition.DUPLICATE


def test_a_call_carries_out_what_was_chosen() -> None:
    """As any other decision."""
    turns = TurnFilter()
    (each,) = turns.answer(1, call("log_store.py", options=("log_store.py", "store.py")))
    (later,) = turns.act(2, {"file_path": "src/log_store.py"})
    assert (later.id, later.carried_out) == (each.id, 2)


def test_a_session_remembers_it_as_said_by_a_person() -> None:
    """So that it is handed back after a compaction, and no agent takes it back."""
    decisions = SessionDecisions()
    decisions.take(call("SQLite"))
    (each,) = decisions.taken()
    assert (each.text, each.by_person, each.event) == ("Which store? SQLite", True, 1)


def test_a_run_lists_it() -> None:
    """In the summary, with its event."""
    run = RunRecorder()
    run.record(ModelCall(text="I will ask which store to use."))
    run.record(call("Redis"))
    (each,) = run.summary("run.jsonl", "ebbtide").decisions
    assert (each.event, each.kept, each.by_person, each.text) == (2, True, True, "Which store? Redis")


def test_the_command_lists_it_where_people_are_asked_for(tmp_path: Path) -> None:
    """A session of Claude Code, with and without its person; a refused question is none."""
    use = {"type": "tool_use", "id": "q1", "name": "AskUserQuestion", "input": asked()}
    refused = use | {"id": "q2"}
    answers = [
        {"type": "tool_result", "tool_use_id": "q1", "content": told("SQLite")},
        {"type": "tool_result", "tool_use_id": "q2", "content": told("Redis"), "is_error": True},
    ]
    session = tmp_path / "session.jsonl"
    records = [
        ("user", "Hello, where are we?"),
        ("assistant", [use]),
        ("user", answers[:1]),
        ("assistant", [refused]),
        ("user", answers[1:]),
    ]
    session.write_text(
        "".join(
            json.dumps(
                {
                    "type": role,
                    "uuid": str(n),
                    "sessionId": "s",
                    "message": {"role": role, "content": content},
                }
            )
            + "\n"
            for n, (role, content) in enumerate(records)
        )
    )
    command = [sys.executable, "-m", "ebbtide", "decisions", "from", str(session), "--json"]
    without, with_users = (
        json.loads(subprocess.run([*command, *more], capture_output=True, check=True, timeout=120).stdout)
        for more in ((), ("--users",))
    )
    assert without["candidates"] == []
    (each,) = [found for found in with_users["candidates"] if found["fate"] == "kept"]
    assert (each["speaker"], each["chosen"], each["over"]) == ("user", "SQLite", "Redis, PostgreSQL")
    assert with_users["turns"] == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["questions", "question", "options", "label", "answers", "answer", "id"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(args=JSON, result=JSON)
def test_any_arguments_and_any_answer(args: object, result: object) -> None:
    """Nothing raises, and what is chosen was offered."""
    for each in answered_questions("AskUserQuestion", args, result):
        assert each.chosen
        assert each.over
        assert not set(each.chosen) & set(each.over)


def test_other_turns_go_on() -> None:
    """An answer takes the number that it is given, and no turn before it is accepted by it."""
    turns = TurnFilter()
    turns.take(SpokenTurn(number=1, speaker="coder", text="I'd recommend a cache in `store.py`."))
    (each,) = turns.answer(2, call("SQLite"))
    assert (each.id, turns.turns) == ("turn-2-1", 2)
