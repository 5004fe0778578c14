"""What real exporters send: agents that ask the same question eight times, with content and without.

`record_exports.py` has recorded the files; ``versions.json`` says of which versions.
"""

import json
import os
from pathlib import Path

import pytest

from ebbtide.events.event import ModelCall, ToolCall
from ebbtide.service.otlp.export import PROTOBUF, SignalKind, read_export, unpacked
from ebbtide.service.otlp.span_intake import RunNews, SpanIntake
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.supervisor import Supervisor

FOLDER = Path(os.environ.get("EBBTIDE_EXPORTS", Path(__file__).parent / "exports"))
WITH_CONTENT = sorted(path.name.removesuffix("-on.pb.gz") for path in FOLDER.glob("*-on.pb.gz"))
#: Strands has no switch.
WITHOUT_CONTENT = sorted(path.name.removesuffix("-off.pb.gz") for path in FOLDER.glob("*-off.pb.gz"))
#: Part of what to switch on, by the instrumentation.
SETTINGS = {
    "agent_framework-native": "ENABLE_SENSITIVE_DATA",
    # The SDK's own spans are there, too.
    "anthropic_client-openllmetry": "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE",
    "anthropic_client-native": "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE",
    "google_adk-native": "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS",
    "openai_client-otel": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    "pydantic_ai-native": "include_content=True",
}


def runs_of(name: str) -> list[RunNews]:
    """The runs in a recorded export, after the wait."""
    body = (FOLDER / name).read_bytes()
    intake = SpanIntake(wait_s=10.0)
    intake.take(
        read_export(unpacked(body, "gzip", 1 << 20), PROTOBUF, SignalKind.TRACES), 0.0, size=len(body)
    )
    assert intake.settle(9.9) == []
    runs = intake.settle(10.0)
    assert not any(run.events for run in intake.finish()), "all of it was told after the wait"
    return runs


def strictest(runs: list[RunNews]) -> Action:
    """The strictest action in any of the runs."""
    return max(
        (
            supervisor.record(event).action
            for run in runs
            for supervisor in (Supervisor(),)
            for event in run.events
        ),
        key=lambda action: action.rank,
    )


def test_versions_are_stated() -> None:
    """Each recording says what it was made with."""
    versions = json.loads((FOLDER / "versions.json").read_text(encoding="utf-8"))
    assert sorted(versions) == WITH_CONTENT
    assert set(WITH_CONTENT) - set(WITHOUT_CONTENT) <= {"strands-native"}


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_a_loop_with_content(name: str) -> None:
    """One run, its eight calls with what they asked and got, each token once, and the loop."""
    (run,) = runs_of(f"{name}-on.pb.gz")
    calls = [event for event in run.events if isinstance(event, ToolCall) and event.name == "web_search"]
    assert [call.args for call in calls] == [{"q": "ferry revenue 2019"}] * 8
    assert all("no results" in str(call.result) for call in calls)
    usages = [event.usage for event in run.events if isinstance(event, ModelCall) and event.usage]
    assert sum(usage.input_tokens or 0 for usage in usages) == 900
    assert sum(usage.output_tokens or 0 for usage in usages) == 90
    assert (run.service, run.note) == ("demo", "")
    assert strictest([run]) is Action.STOP


# An ADK tool is over before the answer that asked for it, which nothing tells without content.
@pytest.mark.filterwarnings("ignore::ebbtide.errors.DegradedEventWarning")
@pytest.mark.parametrize("name", WITHOUT_CONTENT)
def test_no_loop_without_content(name: str) -> None:
    """The tokens are counted, nothing is judged, and the run says what to switch on."""
    runs = runs_of(f"{name}-off.pb.gz")
    events = [event for run in runs for event in run.events]
    assert sum(event.usage.input_tokens or 0 for event in events if event.usage) == 900
    assert all(event.args is None for event in events if isinstance(event, ToolCall))
    assert strictest(runs) is Action.ALLOW
    for run in runs:
        assert run.note.startswith("Content capture is off: loops cannot be judged. ")
        assert SETTINGS.get(name, "OPENINFERENCE_HIDE_INPUTS") in run.note
