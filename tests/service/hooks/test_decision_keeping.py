"""Decisions over a compaction: what the service hands back, when, and what it writes into the log."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbtide import DecisionLog
from ebbtide.service.hooks.hook_service import HookAnswer, HookService
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.supervision.runs.run_store import SQLiteRunStore

KEEP = "Keep the old endpoint in api/legacy.py."
LATER = "Remove the PNG from the page."
_WAIT_S = 30.0


class Clock:
    """Seconds since 1970, which a test sets."""

    now = 1.8e9

    def __call__(self) -> float:
        return self.now


class Session:
    """A session of Claude Code: its file, and the hooks that it runs."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self.path = folder / "s.jsonl"
        self.log = str(folder / "data" / "decisions.db")
        self.lines = 0
        self.begin()

    def begin(self) -> None:
        """A service on the same files, as after a restart."""
        store = HookStore(SQLiteRunStore(self.folder / "runs.db"), self.folder / "sessions.db")
        self.service = HookService(store, clock=self.clock)

    def write(self, kind: str, content: object, **fields: Any) -> None:
        self.lines += 1
        minute, second = divmod(self.lines, 60)
        line = {
            "type": kind,
            "uuid": f"u{self.lines}",
            "sessionId": "s",
            "timestamp": f"2026-03-01T{10 + minute // 60}:{minute % 60:02}:{second:02}.000Z",
            "message": {
                "role": kind,
                "content": content,
                "id": f"m{self.lines}",
                "model": "claude-sonnet-4-5",
            },
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, **fields}) + "\n")

    def say(self, *words: str) -> None:
        for text in words:
            self.write("user", text)
            self.write("assistant", [{"type": "text", "text": "Fine."}])

    def compact(self) -> None:
        """As Claude Code writes it: a boundary and the summary, between the two hooks."""
        self.hook("PreCompact", trigger="auto")
        self.write("system", "", subtype="compact_boundary")
        summary = "This session is being continued from a previous conversation."
        self.write("user", summary, isCompactSummary=True)

    def hook(self, name: str, *, arrives: bool = True, log: str | None = "", **fields: Any) -> dict[str, Any]:
        """What a hook answers; its note arrives."""
        flags = {key: fields.pop(key) for key in ("shadow", "is_late") if key in fields}
        self.clock.now += 2.0
        event = {"session_id": "s", "hook_event_name": name, "transcript_path": str(self.path)}
        body = json.dumps({**event, "cwd": str(self.folder), **fields}).encode()
        answer = self.service.take("claude", body, log=self.log if log == "" else log, **flags)
        assert isinstance(answer, HookAnswer)
        if answer.ticket is not None:
            self.service.confirm(answer.ticket, has_arrived=arrives)
        return answer.content

    def call(self) -> dict[str, Any]:
        """The model has called a tool, another one each time."""
        number = int(self.clock.now)
        call = {"tool_name": "Bash", "tool_input": {"command": f"cat {number}"}, "tool_use_id": f"t{number}"}
        return self.hook("PostToolBatch", tool_calls=[{**call, "tool_response": str(number)}])

    def calls_until_told(self) -> dict[str, Any]:
        """The first answer with a note."""
        deadline = time.monotonic() + _WAIT_S
        while time.monotonic() < deadline:
            if note(answer := self.call()):
                return answer
            time.sleep(0.02)
        return {}

    def calls_for_a_while(self) -> list[dict[str, Any]]:
        """Answers of calls until all is read, and of three more."""
        reading = self.service._keeper.latest("claude:s")
        assert reading is not None
        assert reading.done.wait(_WAIT_S)
        return [self.call() for _ in range(3)]

    def rows(self) -> list[tuple[str, str, str | None, str]]:
        """Text, speaker, session and status of what is in the log in the end, the oldest first."""
        self.service.close()
        self.begin()
        if not Path(self.log).exists():
            return []
        with DecisionLog.open(self.log, create=False) as log:
            rows = [
                (each.candidate.description, each.scope.agent, each.scope.session, each.status.value)
                for each in log.list(limit=100).decisions
            ]
        return rows[::-1]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    own = Session(tmp_path, Clock())
    yield own
    own.service.close()


def note(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_after_a_compaction_the_model_gets_back_what_was_decided(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    session.compact()
    answer = session.hook("SessionStart", source="compact")
    if not note(answer):  # the machine is slow: the next call has it
        answer = session.calls_until_told()
    assert note(answer).splitlines()[1:] == [f"- event 3 03-01 10:00, person: {KEEP}"]
    assert answer["systemMessage"].startswith(
        "[ebbtide] The model got 1 decision of this session back: about "
    )
    assert all(not note(session.call()) for _ in range(3))


def test_a_resumed_session_gets_them_too_and_a_new_one_does_not(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    for source in ("startup", "clear"):
        assert session.hook("SessionStart", source=source) == {}
        assert session.call() == {}
    assert KEEP in (note(session.hook("SessionStart", source="resume")) or note(session.calls_until_told()))


def test_a_resumed_session_does_not_get_the_same_text_twice(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    session.compact()
    session.hook("SessionStart", source="compact")
    session.calls_for_a_while()
    session.hook("SessionStart", source="resume", seconds_since_last_response=9)
    assert not any(map(note, session.calls_for_a_while()))
    session.say(LATER)
    resumed = session.hook("SessionStart", source="resume", seconds_since_last_response=99)
    answers = [resumed, *session.calls_for_a_while()]
    assert [LATER in note(answer) for answer in answers].count(True) == 1


def test_without_the_option_nothing_is_read_or_said(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    assert session.hook("PreCompact", trigger="auto", log=None) == {}
    assert session.hook("SessionStart", source="compact", log=None) == {}
    assert session.hook("SessionEnd", log=None) == {}
    assert session.rows() == []


@pytest.mark.parametrize("what", ["shadow", "off"])
def test_a_run_that_is_only_recorded_or_not_watched_hears_nothing(session: Session, what: str) -> None:
    if what == "off":
        session.hook("UserPromptSubmit", prompt="ebbtide off")
    session.say("Fix the page.", KEEP)
    session.compact()
    answer = session.hook("SessionStart", source="compact", **({"shadow": True} if what == "shadow" else {}))
    assert answer == {}
    assert [text for text, *_ in session.rows()] == ([KEEP] if what == "shadow" else [])


def test_a_text_that_did_not_arrive_comes_again(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    session.compact()
    session.hook("SessionStart", source="compact", arrives=False)
    answer = session.hook("UserPromptSubmit", prompt="Go on.", arrives=False)
    if not note(answer):
        answer = session.calls_until_told()
    assert KEEP in note(answer)


def test_what_is_owed_outlives_the_service(session: Session) -> None:
    """The session start is what started it: the event came late, and nobody waited for its answer."""
    session.say("Fix the page.", KEEP)
    session.hook("SessionStart", source="resume", log=None, is_late=True)
    session.service.close()
    session.begin()
    assert KEEP in (
        note(session.hook("UserPromptSubmit", prompt="Go on.")) or note(session.calls_until_told())
    )


def test_an_event_that_comes_twice_is_answered_once(session: Session) -> None:
    """As with hooks of the user and of the project."""
    session.say("Fix the page.", KEEP)
    session.compact()
    first = session.hook("SessionStart", source="compact")
    session.clock.now -= 1.9
    second = session.hook("SessionStart", source="compact")
    rest = session.calls_for_a_while()
    assert [bool(note(answer)) for answer in (first, second, *rest)].count(True) == 1


def test_a_loop_is_not_told_to_have_been_heard(session: Session) -> None:
    """What was handed back is no warning: a run ends only after one that arrived."""
    session.say("Fix the page.", KEEP)
    session.compact()
    session.hook("SessionStart", source="compact")
    assert not session.service._store.session("claude:s").delivery("main").may_end


def test_the_log_has_each_decision_once_over_all_compactions(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    session.compact()
    session.hook("SessionStart", source="compact")
    assert session.rows() == [(KEEP, "user", "s", "kept")]  # after a restart the file is read anew
    session.say(LATER)
    session.compact()
    session.hook("SessionStart", source="compact")
    session.hook("SessionEnd", reason="other")
    session.hook("SessionEnd", reason="other")
    assert session.rows() == [(KEEP, "user", "s", "kept"), (LATER, "user", "s", "kept")]
    with DecisionLog.open(session.log) as log:
        origins = [each.origin for each in log.list().decisions]
    assert origins == ["claude:s event 7, sentence 1", "claude:s event 3, sentence 1"]


def test_what_was_taken_back_is_superseded_in_the_log(session: Session) -> None:
    old, new = "Set the client timeout to 30 s.", "Set the client timeout to 60 s."
    session.say(old)
    session.hook("PreCompact", trigger="auto")
    session.say(new)
    session.hook("SessionEnd", reason="other")
    assert session.rows() == [(old, "user", "s", "superseded"), (new, "user", "s", "kept")]


def test_a_log_that_cannot_be_written_breaks_nothing(session: Session) -> None:
    (session.folder / "data").write_text("no folder")
    session.say("Fix the page.", KEEP)
    session.compact()
    answer = session.hook("SessionStart", source="compact")
    assert KEEP in (note(answer) or note(session.calls_until_told()))
    session.service.close()
    assert session.service.faults["decision log"] == 2


def test_the_log_that_the_agent_names_gets_them(
    session: Session, state, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the service was started with; and such a hook prints nothing, for it would be an order."""
    session.say("Fix the page.", KEEP)
    of_service, own = session.folder / "of the service.db", session.folder / "caf\u00e9 & co.db"
    monkeypatch.setenv("EBBTIDE_LOG", str(of_service))
    state.serve()
    monkeypatch.setenv("EBBTIDE_LOG", own.name)
    event = {"session_id": "s", "hook_event_name": "PreCompact", "transcript_path": str(session.path)}
    done = state.client("claude", "--decisions", stdin=json.dumps({**event, "cwd": str(session.folder)}))
    assert (done.stdout, done.stderr, done.returncode) == ("\n", "", 0)
    deadline = time.monotonic() + _WAIT_S
    while not own.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert own.exists()
    assert not of_service.exists()


def test_a_log_is_found_from_the_folder_of_the_session(session: Session) -> None:
    session.say("Fix the page.", KEEP)
    session.hook("SessionEnd", reason="other", log="own.db")
    session.service.close()
    assert (session.folder / "own.db").exists()


@pytest.mark.parametrize("break_it", [Path.unlink, lambda path: path.write_bytes(b"\xff{}\n[" * 99)])
def test_a_file_that_is_gone_or_broken_breaks_nothing(
    session: Session, break_it: Callable[[Path], object]
) -> None:
    session.say("Fix the page.", KEEP)
    break_it(session.path)
    assert session.hook("PreCompact", trigger="auto") == {}
    assert session.hook("SessionStart", source="compact") == {}
    assert session.call() == {}
    session.service.close()
    assert session.service.faults == {}


def test_a_long_session_stalls_no_hook(session: Session) -> None:
    """A file of 50 MB is read beside the hooks; each answers in time, and the text comes when it is there."""
    session.say("Fix the page.", KEEP)
    with session.path.open("a", encoding="utf-8") as file:
        for number in range(1_000):
            call = {
                "type": "tool_use",
                "id": f"c{number}",
                "name": "Bash",
                "input": {"command": f"cat {number}"},
            }
            answer = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"{number} " * 13_000}
            words = {
                "type": "text",
                "text": f"Then I look at page {number}. We'll use page_{number}.txt for it.",
            }
            for kind, content in (("assistant", [words, call]), ("user", [answer])):
                line = {
                    "type": kind,
                    "uuid": f"{kind}{number}",
                    "message": {"role": kind, "content": content},
                }
                line["message"] |= {"id": f"x{number}", "model": "claude-sonnet-4-5"}
                file.write(json.dumps({**line, "timestamp": "2026-03-01T12:00:00Z"}) + "\n")
    assert session.path.stat().st_size > 50e6
    waits = []

    def timed(name: str, **fields: Any) -> dict[str, Any]:
        start = time.monotonic()
        answer = session.hook(name, **fields)
        waits.append(time.monotonic() - start)
        return answer

    timed("PreCompact", trigger="auto")
    answers = [timed("SessionStart", source="compact"), timed("UserPromptSubmit", prompt="Go on.")]
    start = time.monotonic()
    told = next((answer for answer in answers if note(answer)), None) or session.calls_until_told()
    print(f"hooks took {max(waits):.3f} s at most, the text came {time.monotonic() - start:.1f} s after them")
    assert KEEP in note(told)
    assert max(waits) < 1.0  # reading takes longer; a client that has waited for 0.3 s goes on
