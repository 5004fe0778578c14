"""Notes on a run's spans that one should know before judging the run."""

from __future__ import annotations

from typing import Final

from ebbtide.events.event import Event, ModelCall, ModelPart, ToolCall
from ebbtide.traces.content_capture import capture_setting
from ebbtide.traces.telemetry.span_attributes import SpanWriter

_MOST_SCOPES: Final = 64


class RunNotes:
    """Counts what was not recorded of a run, and what came late.

    Attributes:
        service: The program that runs it; None if it is not reported.
        late: Spans that came after what should be behind them.
    """

    def __init__(self) -> None:
        self.service: str | None = None
        self.late = 0
        self._scopes: set[str] = set()
        self._tool_calls = self._without_arguments = 0
        self._model_calls = self._without_text = 0

    def take(self, event: Event) -> None:
        """One more event of the run."""
        if isinstance(event, ToolCall):
            self._tool_calls += 1
            self._without_arguments += event.args is None
        elif isinstance(event, ModelCall) and event.part is ModelPart.WHOLE and not event.error:
            self._model_calls += 1
            self._without_text += event.text is None

    def take_writer(self, writer: SpanWriter) -> None:
        """Who wrote some of the spans."""
        self.service = self.service or writer.service
        if writer.scope is not None and len(self._scopes) < _MOST_SCOPES:
            self._scopes.add(writer.scope)

    @property
    def lacks_content(self) -> bool:
        """True if the arguments of most calls are missing; without calls, the words of most answers."""
        if self._tool_calls:
            return 2 * self._without_arguments > self._tool_calls
        return 2 * self._without_text > self._model_calls

    def text(self) -> str:
        """The note in sentences; empty if there is nothing to know."""
        sentences = []
        if self.lacks_content:
            setting = capture_setting("otlp", self._scopes).rstrip(",")
            sentences.append(f"Content capture is off: loops cannot be judged. {setting}.")
        if self.late:
            spans = "1 span" if self.late == 1 else f"{self.late:,} spans"
            sentences.append(f"{spans} came late, and counted behind later ones.")
        return " ".join(sentences)
