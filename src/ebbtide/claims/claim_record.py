"""Record of a run that a report of it can be held against, and the report itself: its last words."""

from __future__ import annotations

from ebbtide.claims.claim import ClaimCheck
from ebbtide.claims.judging import Judge
from ebbtide.claims.record_facts import RecordFacts
from ebbtide.events.event import Event, ModelCall, ModelPart, Phase, Stop, ToolCall


class ClaimRecord(RecordFacts):
    """Facts of a run as its events come, and what they say to the claims of a report.

    >>> from ebbtide.events.event import ToolCall
    >>> record = ClaimRecord()
    >>> result = "3 failed, 209 passed in 4.10s"
    >>> record.see(ToolCall(name="Bash", args={"command": "pytest -q"}, result=result))
    >>> [(item.answer.value, item.event, item.line) for item in record.check_report("All 212 tests pass.")]
    [('contradicted', 1, '3 failed, 209 passed in 4.10s')]
    """

    def check_report(self, text: str, at: int | None = None) -> tuple[ClaimCheck, ...]:
        """Returns the claims of a report with what the record says of each, in the order of the report.

        Args:
            text: The report.
            at: Number of its event: what came after it is no evidence. None where the report is made now.
        """
        facts = self if at is None or at >= self.events else self.until(at)
        return Judge(facts).check(text)


class LastWords:
    """Keeps the last words of a run and the facts that they can be held against.

    Attributes:
        words: The last words; empty where something was done after them.

    The words of sub-agents are no report: they speak to another agent. Their calls are facts.

    >>> report = LastWords()
    >>> result = "   1c2d3e4..5f6a7b8  main -> main"
    >>> report.see(ToolCall(name="Bash", args={"command": "git push"}, result=result), 1)
    >>> report.see(ModelCall(text="Pushed to `main`."), 2)
    >>> [(item.kind.value, item.answer.value, item.event) for item in report.check()]
    [('pushed', 'proven', 1)]
    """

    def __init__(self) -> None:
        self._record = ClaimRecord()
        self._chain: str | None = None  # the first one, which is that of the run
        self.words = ""
        self._at = 0  # event of the words

    def see(self, event: Event, number: int) -> None:
        """Take the event of that number."""
        if self._chain is None:
            self._chain = event.chain_id
        if type(event) is ModelCall:
            if (
                event.text
                and event.part is ModelPart.WHOLE
                and event.stop is not Stop.CALLS
                and event.chain_id == self._chain
            ):
                self.words, self._at = event.text, number
            return
        if type(event) is ToolCall and event.phase is Phase.FINISHED and event.chain_id == self._chain:
            self.words = ""
        self._record.see(event, number)

    def check(self) -> tuple[ClaimCheck, ...]:
        """Returns the claims of the last words, with what the record of what came before says of each."""
        return self._record.check_report(self.words, self._at) if self.words else ()
