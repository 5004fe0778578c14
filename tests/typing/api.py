"""What a type checker sees of the public interface."""

from typing import Any, assert_type

from ebbtide import (
    Action,
    Assessment,
    AsyncDeliberation,
    Candidate,
    ConvergenceMeter,
    ConvergenceScore,
    Profile,
    Round,
    RoundReading,
    Runs,
    RunSummary,
    Signal,
    Supervisor,
    ToolCall,
    Transcript,
    Verdict,
    assess,
    check,
    score_transcript,
)
from ebbtide.service.client import ServiceClient
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.supervision.runs.run_registry import RunRegistry


def batch(transcript: Transcript) -> None:
    assert_type(score_transcript(transcript), dict[str, Any])
    assert_type(score_transcript(transcript.to_dict(), Profile.DEFAULT), dict[str, Any])


def registries() -> list[RunRegistry]:
    """What an adapter takes."""
    return [Runs(), ServiceClient(), LiveRuns(RunDatabase("runs.db"))]


def online(meter: ConvergenceMeter, item: Round) -> None:
    reading = meter.update(item)
    assert_type(reading, RoundReading | None)
    if reading is not None:
        assert_type(reading.recommendation.signal, Signal)
        assert_type(reading.novelty.rate, float)
    assert_type(meter.score(), ConvergenceScore)
    assert_type(ConvergenceMeter.from_state(meter.to_state()), ConvergenceMeter)


def supervised(supervisor: Supervisor, call: ToolCall) -> None:
    assert_type(supervisor.record(call), Verdict)
    assert_type(supervisor.check_before_model().action, Action)
    assert_type(check("run.jsonl"), RunSummary)


def gated(candidate: Candidate) -> None:
    assert_type(assess(candidate), Assessment)


async def deliberated(work: AsyncDeliberation) -> None:
    opened = await work.start("coder", "Which store?", session="s1")
    assert_type(opened, str | None)
    assert_type(await work.finalize(opened, "Use SQLite", confidence=0.8), str | None)
    assert_type((await work.record_decision("Use SQLite", reasons=["one writer"])).kept, bool)
    await work.start("coder")  # type: ignore[call-arg]
    await work.finalize(opened, confidence="sure")  # type: ignore[arg-type]
