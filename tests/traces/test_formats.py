"""The list of formats: every row works, and telling a format loads nothing that reads others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.events.transcript import Transcript
from ebbtide.traces.formats import FORMATS, Format
from ebbtide.traces.input.document import Document
from ebbtide.traces.transcripts.turns import RoundUnit


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_what_a_row_names_is_there(form: Format) -> None:
    """Readers stand where the list says; whoever can be read line by line can tell a line."""
    assert form.has_events or form.transcript_reader_at
    if form.has_events:
        assert form.paths
        assert form.event_reader().duplicates == 0
    assert (form.line_reader_at is None) == (form.is_line is None)
    if form.line_reader_at:
        assert form.line_reader(RoundUnit.TURN) is not form.line_reader(RoundUnit.TURN)


def test_a_reader_that_is_not_there_is_a_mistake_of_the_caller() -> None:
    """Plain text has no events to read."""
    with pytest.raises(TypeError, match="no such reader"):
        FORMATS[-1].event_reader()


def test_a_transcript_is_read_by_the_row_that_tells_it() -> None:
    """The first of the rows reads the rounds."""
    document = Document.of(b'{"rounds": [{"round": 1, "outputs": {"claims": ["a"]}}]}')
    assert FORMATS[0].refuse(document) is None
    transcript = FORMATS[0].read_transcript(document, title="x", unit=RoundUnit.TURN)
    assert isinstance(transcript, Transcript)
    assert transcript.conversation_id == "x"


def loaded(path: Path) -> set[str]:
    """The readers that reading a file loads."""
    code = (
        "import sys; from ebbtide.traces.reading import open_trace; list(open_trace(sys.argv[1]));"
        "print(*(name for name in sys.modules if name.startswith('ebbtide.traces.')))"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True, text=True)
    folders = ("agents", "chats", "telemetry")
    return {name for name in run.stdout.split() if name.split(".")[2] in folders and name.count(".") == 3}


def test_only_the_reader_that_is_needed_is_loaded(tmp_path: Path, samples: Path) -> None:
    """Neither Ebbtide's own events nor a session of an agent load what reads spans or other agents."""
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps({"kind": "tool", "name": "ls", "args": {}}))
    readers = {
        "ebbtide.traces.telemetry.otlp",
        "ebbtide.traces.telemetry.langfuse",
        "ebbtide.traces.telemetry.langsmith",
    }
    for file, reader in ((path, "ebbtide_events"), (samples / "claude_code.jsonl", "claude_code")):
        modules = loaded(file)
        assert {name for name in modules if ".agents." in name} == {
            f"ebbtide.traces.agents.{name}" for name in ("sniffing", reader)
        }
        assert not modules & readers
