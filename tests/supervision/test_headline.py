"""How a run ended, then how it went, in words that do not contradict each other."""

from __future__ import annotations

import itertools

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.checking import check_events
from ebbtide.divergence.detector_table import LOOPS
from ebbtide.events.event import Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.shipped_tools import shipped
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.report.wording import at_end
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.ending import EndingReader, EndKind
from ebbtide.supervision.summary.headline import MEANINGS, SECOND, Course, Headline, course, headline
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_facts import Coverage
from ebbtide.supervision.summary.run_summary import Spending
from ebbtide.supervision.summary.sentences import ended, run_reason
from ebbtide.supervision.verdict import Verdict

ASK, LOOK = Message(text="Fix the login."), ToolCall(name="ls", args={}, result="a.txt")
ENDINGS = {
    "an answer": ([ASK, ModelCall(text="The capital of Peru is Lima.")], EndKind.FINISHED, "answer"),
    "says so": ([ASK, LOOK, ModelCall(text="Done. All 12 tests pass.")], EndKind.FINISHED, "finished.tests"),
    "a tool hands in": (
        [ASK, ModelCall(text="I am ready."), ToolCall(name="submit", args={})],
        EndKind.FINISHED,
        "tool",
    ),
    "a shell hands in": (
        [
            ASK,
            ModelCall(text="Look."),
            ToolCall(name="bash", args={"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
        ],
        EndKind.FINISHED,
        "tool",
    ),
    "thanks": (
        [ASK, ModelCall(text="It works now."), Message(text="Perfect, thank you!")],
        EndKind.FINISHED,
        "finished.person-thanks",
    ),
    "thanks for nothing": (
        [ASK, ModelCall(text="I was unable to find it."), Message(text="OK, thanks anyway")],
        EndKind.FAILED,
        "failed.unable",
    ),
    "gave up": (
        [ASK, LOOK, ModelCall(text="I could not find the file.")],
        EndKind.FAILED,
        "failed.could-not",
    ),
    "terminate after a failure": (
        [
            ASK,
            ModelCall(text="The task cannot be completed.", agent="a"),
            ModelCall(text="TERMINATE", agent="b"),
        ],
        EndKind.FAILED,
        "failed.could-not",
    ),
    "an error of the harness": (
        [
            ASK,
            ModelCall(text="Let me look."),
            Notice(kind=NoticeKind.ERROR, text="stream closed", error=True),
        ],
        EndKind.FAILED,
        "notice",
    ),
    "max turns": (
        [
            ASK,
            ModelCall(text="Let me look."),
            Notice(kind=NoticeKind.ERROR, text="Reached max turns (40)", error=True),
        ],
        EndKind.LIMIT,
        "limit.ran-into",
    ),
    "a question": (
        [ASK, ModelCall(text="Which of the two files do you mean?")],
        EndKind.HANDED_BACK,
        "handed_back.question",
    ),
    "an offer": (
        [ASK, ModelCall(text="It is fixed. Anything else?")],
        EndKind.FINISHED,
        "finished.work-done",
    ),
    "an offer to do it otherwise": (
        [
            ASK,
            LOOK,
            ModelCall(
                text="Names come from it.\n\nIf it has more rows, let me know and I'll adjust the list."
            ),
        ],
        EndKind.FINISHED,
        "answer",
    ),
    "a condition to go on": (
        [ASK, LOOK, ModelCall(text="If you have the key, let me know and I'll go on with the upload.")],
        EndKind.HANDED_BACK,
        "handed_back.please",
    ),
    "a call": ([ASK, ModelCall(text="Let me look."), LOOK], EndKind.CUT_OFF, "call"),
    "an announcement": (
        [ASK, ModelCall(text="Now I'll run the tests:")],
        EndKind.CUT_OFF,
        "going_on.promise",
    ),
    "interrupted": (
        [ASK, ModelCall(text="Look."), LOOK, Message(text="[Request interrupted by user]")],
        EndKind.CUT_OFF,
        "interrupted.marker",
    ),
    "unanswered": (
        [ASK, ModelCall(text="It is fixed."), Message(text="Now add a test for it.")],
        EndKind.CUT_OFF,
        "unanswered",
    ),
    "the person says no": (
        [ASK, ModelCall(text="It is fixed."), Message(text="It still doesn't work.")],
        EndKind.FAILED,
        "failed.person-still",
    ),
    "blocked": (
        [ASK, ModelCall(text="I'm blocked until somebody grants access.")],
        EndKind.BLOCKED,
        "blocked.blocked",
    ),
    "calls alone": ([LOOK, LOOK], EndKind.UNKNOWN, ""),
    "a command to the harness": (
        [ASK, ModelCall(text="It is fixed."), Message(text="<command-name>/exit</command-name>")],
        EndKind.FINISHED,
        "finished.work-done",
    ),
}


LONG = (
    "The first pair is read from the table, and the second one is read from the file of the ferry " * 2
).rstrip()
QUOTES = {
    "a short answer is quoted whole": ("Paris.", "Paris."),
    "the last line mostly holds the result": (
        "Two ways lead there.\n\nThe answer is 42.",
        "The answer is 42.",
    ),
    "the beginning says more than the last item": (
        "Both faults are gone:\n\n1. `low` is checked\n2. `high` is checked",
        "Both faults are gone:",
    ),
    "nor is a row of a table the result": (
        "It has two rows:\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "It has two rows:",
    ),
    "an offer at the end is none": (
        "The lock is taken once now.\n\nIf the file has other names, let me know and I'll adjust the list.",
        "The lock is taken once now.",
    ),
    "a long last line is cut between sentences": (f"A.\n\n{LONG}. The sum is 7.", "The sum is 7."),
    "one long line is quoted from its beginning": (f"{LONG}. The sum is 7.", f"{LONG[:157].rstrip()}..."),
}


@pytest.mark.parametrize(("answer", "quote"), QUOTES.values(), ids=QUOTES)
def test_the_quote_of_an_answer_makes_sense_by_itself(answer: str, quote: str) -> None:
    """No quote begins in the middle of a word, or is one item of a list."""
    reader = EndingReader(shipped())
    for number, event in enumerate([ASK, ModelCall(text=answer)], start=1):
        reader.see(event, number)
    assert reader.read().text == quote


@pytest.mark.parametrize(("events", "kind", "rule"), ENDINGS.values(), ids=ENDINGS)
def test_a_run_ended_as_its_last_words_say(events, kind, rule):
    """The last words and the last act decide, and each has its sentence."""
    reader = EndingReader(shipped())
    for number, event in enumerate(events, start=1):
        reader.see(event, number)
    ending = reader.read()
    assert (ending.ending, ending.rule) == (kind, rule)
    assert (ended(ending) is None) is (kind is EndKind.UNKNOWN)


def test_a_call_that_is_told_late_is_not_the_last_act():
    """Readers tell calls without an answer at the end, without a time."""
    reader = EndingReader(shipped())
    events = [
        Message(text="Fix it.", ts=1.0),
        ModelCall(text="It is fixed.", ts=2.0),
        ToolCall(name="Bash", args={"command": "make"}),
    ]
    for number, event in enumerate(events, start=1):
        reader.see(event, number)
    assert reader.read().ending is EndKind.FINISHED


@pytest.mark.parametrize(
    ("kind", "signal"), list(itertools.product(EndKind, ("SHIP", "ESCALATE", "CONTINUE", None)))
)
def test_only_a_ship_at_the_end_is_converged(kind, signal):
    """CONVERGED is kept for SHIP, and never said of what failed, was cut off, or is at a limit."""
    word = headline(kind, Verdict(), Verdict(), course=Course.HEALTHY, signal=signal)
    assert (word is Headline.CONVERGED) is (signal == "SHIP" and kind in (EndKind.FINISHED, EndKind.UNKNOWN))


STOP = Verdict(action=Action.STOP, cause=Cause.DIVERGENCE)
WORDS = {
    "a loop to the end": (EndKind.CUT_OFF, STOP, STOP, Headline.STUCK),
    "a loop, then something else": (EndKind.CUT_OFF, STOP, Verdict(), Headline.CUT_OFF),
    "a loop, then an answer": (EndKind.FINISHED, STOP, STOP, Headline.FINISHED),
    "words unknown": (EndKind.UNKNOWN, Verdict(), Verdict(), Headline.HEALTHY),
    "a limit": (EndKind.FINISHED, Verdict(action=Action.STOP, cause=Cause.LIMIT), Verdict(), Headline.LIMIT),
    "nothing new": (
        EndKind.UNKNOWN,
        Verdict(action=Action.ESCALATE, cause=Cause.CONVERGENCE),
        Verdict(action=Action.ESCALATE, cause=Cause.CONVERGENCE),
        Headline.STUCK,
    ),
}


@pytest.mark.parametrize(("kind", "highest", "latest", "word"), WORDS.values(), ids=WORDS)
def test_words_go_before_loops_and_limits_before_words(kind, highest, latest, word):
    """What is said last is how it ended; where nothing is said, a loop that goes on is."""
    assert headline(kind, highest, latest, course=Course.HEALTHY) is word


@pytest.mark.parametrize(
    ("steps", "word"),
    [
        ([], Course.HEALTHY),
        ([(Action.FINALIZE, Cause.CONVERGENCE)], Course.HEALTHY),
        ([(Action.STOP, Cause.LIMIT)], Course.HEALTHY),
        ([(Action.NUDGE, Cause.SPENDING)], Course.COSTLY),
        ([(Action.NUDGE, Cause.SPENDING), (Action.NUDGE, Cause.DIVERGENCE)], Course.NOISY),
        ([(Action.STOP, Cause.DIVERGENCE)], Course.NOISY),
    ],
)
def test_how_it_went_comes_of_what_was_found(steps, word):
    """A limit is how it ended, not how it went."""
    assert course(steps) is word
    assert course([], blind=True) is Course.UNKNOWN


def test_every_word_has_a_meaning():
    """No word without a sentence that defines it."""
    assert set(MEANINGS) == set(Headline)
    assert {Headline(word.value) for word in Course} <= set(Headline)


NONSENSE = {
    (Headline.FAILED, Course.HEALTHY),
    (Headline.LIMIT, Course.HEALTHY),
    (Headline.BLOCKED, Course.HEALTHY),
    (Headline.CUT_OFF, Course.HEALTHY),
    (Headline.STUCK, Course.HEALTHY),
    (Headline.STUCK, Course.NOISY),
}
_LIMITED = Verdict(action=Action.STOP, cause=Cause.LIMIT)


@pytest.mark.parametrize("second", Course)
@pytest.mark.parametrize("first", Headline)
def test_no_two_words_of_a_headline_deny_each_other(first, second):
    """Every pair that a screen can say is of the one table, and none of it is nonsense."""
    said = second in SECOND[first]
    assert not (said and (first, second) in NONSENSE)
    assert not (said and first.value in tuple(Course))


@pytest.mark.parametrize("kind", EndKind)
def test_nothing_on_a_screen_denies_the_headline(kind):
    """Words, reason and end of a run fit together, for each end and each finding."""
    for highest, second in itertools.product((Verdict(), STOP, _LIMITED), Course):
        word = headline(kind, highest, Verdict(), course=second)
        assert word in SECOND
    spent = Spending(events=3)
    reason = run_reason(Verdict(), [], spent, Coverage(), kind)
    assert ("no limit passed" in reason) is (kind is not EndKind.LIMIT)


def _recorded(*events):
    run = RunRecorder()
    for event in events:
        run.record(event)
    return run.summary("run", "test")


LOOP = [ToolCall(name="ls", args={}, result="same")] * 6
NEW = [ToolCall(name="read", args={"n": n}, result=f"new {n}") for n in range(12)]
RECOVERIES = {
    "new answers, and an end": ([*LOOP, *NEW, ModelCall(text="It is fixed.")], True),
    "new answers, and no end": ([*LOOP, *NEW], True),
    "one new answer, which may be a last attempt": ([*LOOP, NEW[0]], False),
    "words alone": ([*LOOP, ModelCall(text="It is done.")], None),
    "a pseudo call of a harness": ([*LOOP, ToolCall(name="exit_cost", args={}, result="")], False),
    "the account's limit": (
        [*LOOP, *NEW, ModelCall(text="You're out of extra usage", error=True)],
        False,
    ),
    "a crash": ([*LOOP, *NEW, ModelCall(text="API Error: 500", error=True)], False),
    "calls that failed": (
        [*LOOP, *(ToolCall(name="read", args={"n": n}, result=f"no {n}", error=True) for n in range(3))],
        None,
    ),
    "new answers in another chain": (
        [
            *LOOP,
            *(ToolCall(name="read", args={"n": n}, result=f"new {n}", chain_id="b") for n in range(12)),
            ToolCall(name="ls", args={"n": 1}, result="x"),
        ],
        False,
    ),
}


@pytest.mark.parametrize(("events", "recovered"), RECOVERIES.values(), ids=RECOVERIES)
def test_a_run_recovers_only_where_something_new_came_after_the_loop(events, recovered):
    """New answers in the same chain, and an end that is no crash and no limit; None where the loop holds."""
    assert _recorded(*events).recovered is recovered


def test_what_did_not_recover_says_what_it_went_on_until():
    """A pseudo call by which a harness reports its limit is that limit."""
    run = _recorded(Message(text="Fix it."), *LOOP, ToolCall(name="exit_cost", args={}, result=""))
    assert run.headline is Headline.LIMIT
    assert at_end(run) == "It continued until the limit ended it."


REFUSED = [
    ToolCall(
        name="Bash",
        args={"command": f"swift build {n}"},
        result="Permission to use Bash has been denied.",
        error=True,
    )
    for n in range(12)
]


def test_a_run_that_was_refused_until_a_limit_ended_it_says_both() -> None:
    """In one sentence, with the number of refused calls, and whose limit it was."""
    summary = check_events(
        [*REFUSED, ModelCall(text="You're out of extra usage. Resets at 3 pm.", error=True)]
    )
    assert summary.ending.ending is EndKind.LIMIT
    sentence = ended(summary.ending, refused=summary.facts.failures.refused)
    assert sentence is not None
    assert sentence.startswith("12 calls were refused; the account limit ended it: “You're out of")


def test_a_summary_for_a_compaction_is_no_work_that_stops() -> None:
    """Whatever next step it quotes, and whatever failed in what it condenses."""
    text = "<analysis>\nThe build failed.\n</analysis>\n<summary>\nNext, I will run the tests.\n</summary>"
    summary = check_events([Message(text="Fix the build."), ModelCall(text=text)])
    assert summary.headline is Headline.FINISHED
    assert ended(summary.ending) == "It wrote the summary for a compaction."


#: Of money alone, which the limit tells of, too; of many chains, none of which goes on; of all of a stretch;
#: of changes, each of which may have been the last that was needed; of contexts, with other calls in each.
_NONE_OF_A_CHAIN = (
    LoopKind.SPEND_RATE,
    LoopKind.BUDGET_END,
    LoopKind.SPEND_WITHOUT_NEWS,
    LoopKind.ACROSS_CHAINS,
    LoopKind.MONOTONY,
    LoopKind.COMPLAINT,
    LoopKind.FORGOTTEN,
)


@pytest.mark.parametrize("kind", [kind for kind in LOOPS if kind not in _NONE_OF_A_CHAIN])
def test_a_loop_that_goes_on_until_a_limit_is_stuck(kind: LoopKind) -> None:
    """Whether it is proven or suspected: what ended it does not say how it went."""
    events = [LOOPS[kind].known_loop(number) for number in range(40)]
    summary = check_events(events, RunOptions(limits=Limits(steps=30, when_unknown="allow")))
    if kind in (LoopKind.HANDOFF_CYCLE, LoopKind.CONDENSATION):
        assert summary.verdict.cause is not Cause.LIMIT  # it has no calls that a limit could count
    else:
        assert summary.headline in (Headline.STUCK, Headline.BLOCKED)


def test_a_loop_that_was_left_before_the_limit_is_none_of_it() -> None:
    """A suspicion that ended in new answers, and then a limit."""
    loop = [LOOPS[LoopKind.SAME_ANSWER].known_loop(number) for number in range(12)]
    work = [ToolCall(name=f"read {n % 7}", args={"n": n}, result=f"page {n * 7919}") for n in range(30)]
    summary = check_events([*loop, *work], RunOptions(limits=Limits(steps=40)))
    assert summary.headline is Headline.LIMIT
