"""Record of a run that a report of it can be held against."""

from __future__ import annotations

from ebbtide.claims.claim import ClaimCheck
from ebbtide.claims.judging import Judge
from ebbtide.claims.record_facts import RecordFacts


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
