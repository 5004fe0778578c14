"""Agents whose work comes to nothing, and fleets that get on."""

import json
from collections.abc import Sequence

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, Message, Notice, NoticeKind, ToolCall
from ebbtide.profile.loop_kinds import LoopKind

IDLE = (
    "The file is generated, so I did not edit it.",
    "Build output; left untouched.",
    "No changes were made: the header says DO NOT EDIT.",
    "Nothing to do here.",
)
GATE = (
    "s{}: access denied (403), price unknown.",
    "Could not read s{}: refused by the gateway.",
    "s{0}: n/a (403).\n\nagentId: a4{0}f (to continue this agent)\n<usage>tokens: 900</usage>",
    "Permission denied for s{}.",
)
LEAD = (
    "I settle the scope once the reviewer accepts a variant.",
    "That depends on the reviewer, ask there first.",
)
CLOSED = '{"status": {"completed": "..."}}'
REVIEWER = (
    "The lead has to fix the scope before I approve.",
    "Please let the lead say which variant is final.",
)


def task(order: str, answer: str, agent: str = "general-purpose") -> ToolCall:
    return ToolCall(name="Agent", args={"prompt": order, "subagent_type": agent}, result=answer)


def priced(number: int) -> ToolCall:
    return task(f"Find the price at s{number}.example.", GATE[number % 4].format(number))


def start(number: int, order: str) -> ToolCall:
    return ToolCall(name="spawn_agent", args={"message": order}, result=f'{{"agent_id": "t-{number:04d}"}}')


def wait(numbers: Sequence[int], answer: str) -> ToolCall:
    status = {f"t-{number:04d}": {"completed": answer.format(number)} for number in numbers}
    return ToolCall(name="wait_agent", args={"ids": [*status]}, result=json.dumps({"status": status}))


def close(number: int, status: str) -> ToolCall:
    return ToolCall(name="close_agent", args={"id": f"t-{number:04d}"}, result=status)


def edit(number: int) -> ToolCall:
    args = {"file_path": f"deps{number}.ts", "old_string": "null", "new_string": f"check({number})"}
    return ToolCall(name="Edit", args=args, result="The file was updated.")


def handed_back() -> list[Event]:
    events: list[Event] = [task("Approve docs/design.md.", REVIEWER[0], "reviewer")]
    for number in range(8):
        said = REVIEWER[number % 2]
        events.append(task(f"The reviewer answered: {said} Please react.", LEAD[number % 2], "lead"))
        said = LEAD[number % 2]
        again = REVIEWER[(number + 1) % 2]
        events.append(task(f"The lead answered: {said} Please decide now.", again, "reviewer"))
    return events


def reviewed() -> list[Event]:
    events: list[Event] = [task("Implement paging in list.py.", "Implemented paging, tests pass.", "coder")]
    for number in range(5):
        found = f"Two findings: case {number} is not encoded, and limit {number + 10} is not checked."
        events.append(task(f"Review list.py, round {number}; the coder says it is done.", found, "reviewer"))
        fixed = f"Fixed both findings of the reviewer: encoded case {number}, checked limit {number + 10}."
        events.append(task(f"The reviewer says: {found} Fix both.", fixed, "coder"))
    return events


def note(number: int) -> Notice:
    text = f"<task-notification><task-id>t-{number:04d}</task-id><result>v{number} costs {number}.</result>"
    return Notice(kind=NoticeKind.NOTE, text=f"{text}</task-notification>")


def sum_of(*parts: Sequence[Event]) -> list[Event]:
    return [event for part in parts for event in part]


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        pytest.param(
            [task(f"Fix the lint errors in gen/api{n}.py.", IDLE[n % 4]) for n in range(12)],
            LoopKind.IDLE_AGENTS,
            id="each leaves its file as it is",
        ),
        pytest.param(
            sum_of(
                *(
                    [
                        *(start(n, f"Migrate vendor/m{n}.js.") for n in wave),
                        wait(wave, "m{}: not ours, no edit made."),
                    ]
                    for wave in (range(4), range(4, 8), range(8, 12))
                )
            ),
            LoopKind.IDLE_AGENTS,
            id="in waves, though the first were read",
        ),
        pytest.param(handed_back(), LoopKind.RELAY, id="a question that nobody answers"),
        pytest.param(
            sum_of(
                *([start(n, f"Review p{n}."), close(n, '{"status": "running"}')] for n in range(9)),
            ),
            LoopKind.UNREAD_AGENTS,
            id="ended before they answered",
        ),
        pytest.param(
            [priced(n) for n in range(12)],
            LoopKind.FAILED_AGENTS,
            id="all meet the same gate",
        ),
        pytest.param(
            sum_of(*([priced(n), edit(n)] for n in range(12))),
            LoopKind.FAILED_AGENTS,
            id="though their failures are noted",
        ),
        pytest.param(
            [start(n, f"Write a docstring for f{n}.") for n in range(30)],
            LoopKind.UNREAD_AGENTS,
            id="never read",
        ),
    ],
)
def test_agents_for_nothing_are_found(events: list[Event], kind: LoopKind) -> None:
    """Their answers change nothing, go round, or are not read."""
    signals = find_loops(events)
    assert signals
    assert signals[0].kind is kind
    assert not signals[0].is_proof


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [task(f"Fix p{n}.py.", IDLE[n % 4] if n % 3 else f"Fixed {n} places.") for n in range(20)],
            id="some find nothing to do",
        ),
        pytest.param(
            [task(f"Search m{n} for md5; report.", f"m{n}: no changes needed.") for n in range(20)],
            id="they were to look, not to change",
        ),
        pytest.param(
            [*(start(n, f"Fix imports in p{n}.") for n in range(12)), wait(range(12), "nothing to change.")],
            id="one wave, started before anything was known",
        ),
        pytest.param(
            [priced(n) if n % 5 else task(f"Price at s{n}?", f"s{n}: 7.30 EUR") for n in range(30)],
            id="some doors are closed",
        ),
        pytest.param(
            [task(f"Review m{n}.", f"In m{n} {n + 2} of 40 cases failed." + f" Case {n}: no text." * 40)
             for n in range(12)],
            id="they report failures at length",
        ),
        pytest.param(
            sum_of(*([task(f"Fix p{n}.py.", IDLE[n % 4]), edit(n)] for n in range(12))),
            id="who ordered it does it",
        ),
        pytest.param(reviewed(), id="a review that goes on until it is good"),
        pytest.param(
            sum_of(*([start(n, f"Read {n}."), wait([n], "p{} races."), close(n, CLOSED)] for n in range(12))),
            id="ended after they answered",
        ),
        pytest.param(
            sum_of(*([*(start(n, f"Price of v{n}?") for n in range(w, w + 5)), *map(note, range(w, w + 5))]
                     for w in range(0, 30, 5))),
            id="their answers come by themselves",
        ),
        pytest.param(
            sum_of(*([start(n, f"Price of v{n}?"), Message(text=f"And now v{n + 1}.")] for n in range(30))),
            id="a person asks for each",
        ),
    ],
)  # fmt: skip
def test_fleets_that_get_on_are_left_alone(events: list[Event]) -> None:
    """A map, a panel, a review: answers are read, and of use."""
    assert find_loops(events) == []
