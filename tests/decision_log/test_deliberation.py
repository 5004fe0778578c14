"""From a thought to a decision, through the gate, in a file and on a server."""

import asyncio
import inspect
import subprocess
import sys
import threading

import pytest

from ebbtide.decision_log.deliberation.answer import DecisionVerdict
from ebbtide.decision_log.deliberation.async_deliberation import AsyncDeliberation
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log import steps
from ebbtide.decision_log.record.record import Decision, Mode, Relation, Status
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source, Stakes, TurnContext
from ebbtide.errors import ConfigError, LifecycleError, UnknownDecisionError
from ebbtide.profile import Profile
from ebbtide.profile.duplicates import DuplicateRules

USE_SQLITE = "Use SQLite for the log because there is one writer"
NOISE = "Done! Created the PR."


@pytest.mark.clause("Q04")
def test_frames_that_are_captured(log):
    """Decision and debug are recorded, a task is not and is counted; the frames can be chosen."""
    work = Deliberation(log)
    assert work.start("coder", "Which store?", "decision")
    assert work.start("coder", "Why does the build hang?", "debug")
    assert work.start("coder", "Rename the module", "task") is None
    assert work.last.verdict is DecisionVerdict.NOT_CAPTURED
    assert "record_decision" in work.last.reason
    assert log.counts().not_captured == 1
    assert log.counts().by("frame")["task"] == {"not_captured": 1}
    chosen = Deliberation(log, frames=("task",))
    assert chosen.start("coder", "Rename the other module", "task")
    assert chosen.start("coder", "Which queue?", "decision") is None


@pytest.mark.clause("Q05")
def test_explicit_records(log):
    """An explicit record works in any frame, meets the quality rules, says why not, and can be forced."""
    work = Deliberation(log)
    kept = work.record_decision(
        USE_SQLITE, frame="task", confidence=0.5, confidence_source=ConfidenceSource.STATED
    )
    assert (kept.verdict, kept.kept, kept.reason) == (DecisionVerdict.KEPT, True, None)
    assert kept.decision.candidate.source is Source.EXPLICIT
    refused = work.record_decision("ok", frame="task")
    assert refused.verdict is DecisionVerdict.QUARANTINED
    assert refused.reason
    assert refused.assessment.primary.id
    assert [each.id for each in log.list().decisions] == [kept.id]
    forced = work.record_decision("ok then", frame="task", force=True)
    assert (forced.verdict, forced.decision.forced, forced.decision.refused) == (
        DecisionVerdict.KEPT,
        True,
        True,
    )
    assert forced.reason == refused.reason
    assert log.verify().ok


@pytest.mark.clause("Q13")
def test_a_refusal_is_kept_apart(log):
    """What the gate refuses gives None and leaves the log clean; it stays with rule, reason and text."""
    work = Deliberation(log)
    opened = work.start("coder", "What about the pull request?", "decision", "s1")
    turn = TurnContext(text=NOISE, tool_results=("created",))
    assert work.finalize(opened, description=NOISE, context=turn) is None
    assert log.list().decisions == ()
    assert log.search("created") == ()
    assert work.last.verdict is DecisionVerdict.QUARANTINED
    refused = log.quarantined().decisions[0]
    assert (refused.id, refused.candidate.description) == (opened, NOISE)
    assert refused.assessment.primary.reason == work.last.reason
    log.restore(opened, by="ana")
    assert [each.id for each in log.list().decisions] == [opened]


@pytest.mark.clause("Q06")
@pytest.mark.parametrize("profile", [Profile.SPEC, Profile.DEFAULT], ids=lambda profile: profile.name)
def test_the_window_compares_like_with_like(log, clock, profile):
    """A start meets starts and a final text finals, all of the window, of the same agent and session."""
    work = Deliberation(log, profile=profile)
    question = "Should the new documentation site be built with Astro and Tailwind?"
    first = work.start("coder", question, "decision", "s1")
    for number in range(8):
        assert work.start("coder", f"Topic {number}: {'abcdefgh'[number] * 9} store?", "decision", "s1")
    assert work.finalize(first, description=USE_SQLITE) == first
    clock.now += 200
    assert work.start("coder", question, "decision", "s1") is None
    assert (work.last.verdict, work.last.duplicate.of, work.last.id) == (
        DecisionVerdict.DUPLICATE,
        first,
        None,
    )
    assert work.start("coder", USE_SQLITE, "decision", "s1")  # a question, where that was an answer
    assert work.start("coder", question, "decision", "s2")
    other = work.start("coder", "What should hold the log of all decisions?", "decision", "s1")
    assert work.finalize(other, description=USE_SQLITE) is None
    assert work.last.verdict is DecisionVerdict.DUPLICATE
    assert log.get(first).occurrences == 3
    clock.now += 101
    assert work.start("coder", question, "decision", "s1")


def test_a_duplicate_loses_nothing(log):
    """What a duplicate was thought and decided for stays with its original, and it can be restored."""
    work = Deliberation(log)
    first = work.record_decision(USE_SQLITE, session="s").id
    second = work.start("coder", "Something else entirely?", "decision", "s")
    work.think(second, "one process writes")
    assert work.finalize(second, description=USE_SQLITE, reasons=[Reason(text="no server")]) is None
    again = log.get(first).again[0]
    assert (again.of_id, again.thoughts, again.reasons) == (
        second,
        ("one process writes",),
        (Reason(text="no server"),),
    )
    assert (again.stage, again.score) == ("final", 1.0)
    assert log.get(second).links[0].relation is Relation.DUPLICATE_OF
    assert log.restore(second, by="ana").candidate.description == USE_SQLITE


def test_a_reversal_is_kept_and_told(log):
    """A decision that turns an earlier one round is kept, linked, and offered to supersede it."""
    work = Deliberation(log)
    first = work.record_decision("Enable retries for the billing client in production", session="s").id
    answer = work.record_decision("Disable retries for the billing client in production", session="s")
    assert answer.verdict is DecisionVerdict.KEPT
    assert answer.reversals == (first,)
    link = log.get(answer.id).links[0]
    assert (link.relation, link.to) == (Relation.CONTRADICTS, first)


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.ADVISE])
def test_modes_that_keep_everything(log, mode):
    """In shadow and advise all is kept; refusals are counted, noted and told."""
    work = Deliberation(log, mode=mode)
    opened = work.start("coder", "What about the pull request?", "decision", "s1")
    assert work.finalize(opened, description=NOISE) == opened
    assert work.last.reason
    assert log.get(opened).refused
    assert work.record_decision(USE_SQLITE, session="s1").kept
    again = work.record_decision(USE_SQLITE, session="s1")
    assert (again.kept, again.duplicate.is_duplicate) == (True, True)
    twice = work.start("coder", "What about the pull request?", "decision", "s1")
    assert twice
    assert work.last.duplicate.of == opened
    counts = log.counts()
    assert (counts.kept, counts.refused, counts.would_refuse) == (3, 0, 2)
    assert counts.by("layer")["duplicate"] == {"kept": 1, "opened": 1}
    before = counts
    log.rebuild()
    assert log.counts() == before


def test_finalizing_again_gives_the_same_answer(log):
    """A caller who did not hear the answer can ask again; another text is refused."""
    work = Deliberation(log)
    opened = work.start("coder", "Which store?", "decision", "s1")
    assert work.finalize(opened, description=USE_SQLITE) == opened
    events = len(log.events(opened))
    assert work.finalize(opened, description=USE_SQLITE) == opened
    assert Deliberation(log).finalize(opened, description=USE_SQLITE) == opened
    assert len(log.events(opened)) == events
    with pytest.raises(LifecycleError, match="kept already, with another text"):
        work.finalize(opened, description="Use PostgreSQL for the log because there are many writers")
    with pytest.raises(LifecycleError, match="cannot be thought about"):
        work.think(opened, "too late")
    noise = work.start("coder", "What about the pull request?", "decision", "s1")
    assert work.finalize(noise, description=NOISE) is None
    assert work.finalize(noise, description=NOISE) is None
    assert work.last.verdict is DecisionVerdict.QUARANTINED


def test_none_skips(log):
    """The id that start gives for nothing can be passed on."""
    work = Deliberation(log)
    work.think(None, "nobody hears this")
    assert work.finalize(None, description=USE_SQLITE) is None
    with pytest.raises(UnknownDecisionError, match="01NONE"):
        work.finalize("01NONE", description=USE_SQLITE)


def test_a_gate_that_fails_keeps_the_decision(log):
    """Where the gate cannot be asked, the decision is kept and the answer says so."""

    def broken(candidate, context, profile):
        raise RuntimeError("no weights")

    answer = Deliberation(log, gate=broken).record_decision("ok")
    assert (answer.kept, answer.degraded, answer.assessment) == (True, "RuntimeError: no weights", None)


@pytest.mark.parametrize("jump", [-3600.0, -5.0, 3600.0 * 24 * 365 * 50])
def test_clocks_that_jump(log, clock, jump):
    """Events never go back, the record keeps the clock's word, and the window works on both sides."""
    work = Deliberation(log)
    before = work.record_decision(USE_SQLITE, session="s").decision
    clock.now += jump
    text = "Use a queue for the mails because bursts are long"
    after = work.record_decision(text, session="s").decision
    assert after.settled_at == pytest.approx(before.settled_at + jump, abs=1)
    assert work.record_decision(text, session="s").verdict is DecisionVerdict.DUPLICATE
    stamps = [event.ts for each in (before, after) for event in log.events(each.id)]
    assert stamps == sorted(stamps)
    clock.now -= jump
    assert work.record_decision(text + " enough", session="s2").kept
    assert log.verify().ok


def test_a_capped_window_falls_back_to_equal_texts(log):
    """Beyond the rows that are read, an equal text is still found, and the verdict says that it was cut."""
    rules = DuplicateRules(compared_at_most=3, exact_first=True)
    work = Deliberation(log, duplicates=rules)
    first = work.record_decision(USE_SQLITE, session="s").id
    for name in ("alpha", "bravo", "charlie", "delta", "echo"):
        assert work.record_decision(
            f"{name} {name}s choose {name}ish {name}ly things", session="s", force=True
        ).kept
    answer = work.record_decision(USE_SQLITE, session="s")
    assert (answer.duplicate.of, answer.duplicate.truncated) == (first, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "\x00",
        "a\x00b" * 20,
        "\udfff\ud800",
        "\U0001f680\U0001f389",
        "\u0642\u0631\u0631\u0646\u0627",
        "x " * 500_000,
    ],
    ids=["empty", "blank", "nul", "nuls", "surrogates", "emoji", "arabic", "1 MB"],
)
def test_no_text_is_lost(log, text):
    """Whatever a description is made of, it is stored as it came and can be finalized and restored."""
    work = Deliberation(log)
    opened = work.start("coder", text, "decision", "s")
    work.think(opened, text)
    work.finalize(opened, description=text, reasons=[text], category=text)
    assert work.last.id == opened
    decision = log.get(opened)
    assert (decision.candidate.description, decision.question, decision.thoughts) == (text, text, (text,))
    assert decision.candidate.category == text
    assert log.verify().ok


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"confidence": 1.5}, "confidence = 1.5"),
        ({"confidence": float("nan")}, "confidence = nan"),
        ({"confidence": True}, "confidence = True"),
        ({"reasons": "one text"}, "reasons"),
        ({"options": [3]}, "options = 3"),
        ({"stakes": "huge"}, "stakes = 'huge'"),
        ({"review_by": 1.8e15}, "milliseconds"),
        ({"ts": float("inf")}, "ts = inf"),
        ({"description": 3}, "description = 3"),
    ],
)
def test_values_that_cannot_be_used(log, said, what):
    """A value that cannot be used is refused with its name, and the decision stays open."""
    work = Deliberation(log)
    opened = work.start("coder", "Which store?", "decision", "s")
    with pytest.raises(ConfigError, match=what):
        work.finalize(opened, **{"description": USE_SQLITE, **said})
    with pytest.raises(TypeError, match="mood"):
        work.finalize(opened, mood="good")
    assert log.get(opened).status is Status.OPENED
    assert work.finalize(opened, description=USE_SQLITE, stakes=Stakes.LOW) == opened


def test_two_threads_give_one_record(log):
    """Of many threads that record the same at once, one has the record, the others are duplicates of it."""
    work, answers, ready = Deliberation(log), [], threading.Barrier(8)

    def one() -> None:
        ready.wait()
        answers.append(work.record_decision(USE_SQLITE, session="s"))

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verdicts = sorted(answer.verdict for answer in answers)
    assert verdicts == [DecisionVerdict.DUPLICATE] * 7 + [DecisionVerdict.KEPT]
    kept = next(answer for answer in answers if answer.kept)
    assert {answer.duplicate.of for answer in answers if not answer.kept} == {kept.id}
    assert log.get(kept.id).occurrences == 8
    assert log.verify().ok


PROGRAM = """
import sys
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.deliberation.deliberation import Deliberation
with DecisionLog.open(sys.argv[1], timeout_s=30) as log:
    work = Deliberation(log)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(10):
        text = f"Use store {number} for part {number} because of {number} writers " * 2
        answer = work.record_decision(text, agent_id=f"a{number % 2}", session=f"s{number}")
        print(answer.verdict.value, flush=True)
"""


def test_processes_give_one_record(place, open_log):
    """Processes that open a new log at once and record the same make one record of each."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    text = [child.communicate(timeout=120)[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    for verdicts in zip(*text, strict=True):
        assert sorted(verdicts) == ["duplicate", "duplicate", "kept"]
    log = open_log()
    assert len(log.list().decisions) == 10
    assert log.verify().ok


def test_what_others_write_is_compared(open_log, clock):
    """What was read of a window is not used again where somebody else wrote to the stream since."""
    ours, theirs = open_log(agent="coder"), open_log(agent="coder")
    one, other = Deliberation(ours), Deliberation(theirs)
    first = one.record_decision(USE_SQLITE, session="s").id
    queue = "Use a queue for the mails because bursts are long"
    second = other.record_decision(queue, session="s").id
    assert other.record_decision(USE_SQLITE, session="s").duplicate.of == first
    assert one.record_decision(queue, session="s").duplicate.of == second
    theirs.supersede(first, by=second)
    assert one.record_decision(USE_SQLITE, session="s").kept
    third = one.record_decision("Cache the sessions in Redis for a day as reads dominate", session="s").id
    clock.now -= 200  # a window that reaches further back than what was read
    assert other.record_decision(queue, session="s").duplicate.of == second
    theirs.redact(third, by="ana")
    assert one.record_decision("Cache the sessions in Redis for a day as reads dominate", session="s").kept


def test_a_write_that_fails_leaves_no_trace_in_the_window(log):
    """A decision whose transaction was undone is no earlier decision."""
    work = Deliberation(log)
    assert work.record_decision("Use a queue for the mails because bursts are long", session="s").kept

    def fails(tx) -> None:
        scope = log.view.scope(None, "s")
        candidate = Candidate(description=USE_SQLITE)
        steps.settle(tx, Decision(scope=scope, candidate=candidate, settled_at=log.clock()))
        raise RuntimeError("not this time")

    with pytest.raises(RuntimeError, match="not this time"):
        log.store.write(fails, order=("default", "coder"))
    assert work.record_decision(USE_SQLITE, session="s").kept
    assert log.verify().ok


def test_async_does_not_block_the_loop(open_log):
    """Tasks record at once while the loop goes on, and each sees its own latest answer."""
    log = open_log(agent="coder")

    async def one(work: AsyncDeliberation, number: int) -> tuple[str | None, str | None]:
        opened = await work.start("coder", f"Which store for part {number}?", "decision", f"s{number}")
        await work.think(opened, "one writer")
        kept = await work.finalize(opened, f"Use store {number} because there is one writer", confidence=0.8)
        return kept, work.last.id

    async def main() -> list[tuple[str | None, str | None]]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(tick())
        async with AsyncDeliberation(Deliberation(log)) as work:
            process = await asyncio.gather(*(one(work, number) for number in range(20)))
            assert (await work.record_decision("ok")).verdict is DecisionVerdict.QUARANTINED
            assert await work.finalize(None) is None
            assert await work.run(lambda: log.counts().kept) == 20
        beside.cancel()
        assert ticks > 20
        return process

    process = asyncio.run(main())
    assert all(kept is not None and kept == last for kept, last in process)
    assert log.verify().ok


def test_the_asynchronous_twin_does_what_a_subclass_does(log):
    """A method that a subclass does otherwise is done so from asyncio too, and keeps its name and help."""

    class Loud(Deliberation):
        def start(self, agent_id, description, *rest, **named):
            return super().start(agent_id, description.upper(), *rest, **named)

    async def main() -> tuple[str | None, str | None]:
        async with AsyncDeliberation(Loud(log)) as work:
            first = await work.start("coder", "Which store?")
            await work.think(None, "nothing is open")
            return first, work.last.id

    first, last = asyncio.run(main())
    assert first == last
    assert log.get(first).question == "WHICH STORE?"


def methods(kind: type) -> dict[str, str]:
    """The public methods of a class, each with its arguments."""
    return {
        name: str(inspect.signature(method))
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


def test_the_asynchronous_twin_has_every_method():
    """Each method of `Deliberation` can be awaited, with the same arguments and the same help."""
    verbs = methods(Deliberation)
    assert verbs.items() <= methods(AsyncDeliberation).items()
    for name in verbs:
        assert inspect.iscoroutinefunction(getattr(AsyncDeliberation, name))
        assert getattr(AsyncDeliberation, name).__doc__ == getattr(Deliberation, name).__doc__


def test_what_is_awaited_is_what_is_called(log):
    """A batch and an assessment from asyncio are those of the plain calls, and the last answer is known."""

    async def main() -> None:
        async with AsyncDeliberation(Deliberation(log)) as work:
            answers = await work.record_batch([{"description": USE_SQLITE}, {"description": NOISE}])
            assert [answer.verdict for answer in answers] == [
                DecisionVerdict.KEPT,
                DecisionVerdict.QUARANTINED,
            ]
            assert work.last == answers[-1]
            candidate = Candidate(description=NOISE)
            assert await work.assess(candidate) == work.deliberation.assess(candidate)

    asyncio.run(main())


def test_settings_that_cannot_be_used(log):
    """A mode that is none, and no threads, are refused."""
    with pytest.raises(ValueError, match="loud"):
        Deliberation(log, mode="loud")
    with pytest.raises(ConfigError, match="threads"):
        AsyncDeliberation(Deliberation(log), threads=0)
