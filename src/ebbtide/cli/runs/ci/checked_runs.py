"""The result of a check, as every report of it needs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ebbtide.claims.sentences import GRAVE, claim_sentence
from ebbtide.cli.runs.baseline import KnownFindings
from ebbtide.cli.runs.fail_on import FailedCondition
from ebbtide.cli.runs.run_table import SkippedFile
from ebbtide.report import wording
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary

STDIN = "<stdin>"


class FreshFinding(NamedTuple):
    """A finding and whether it was accepted."""

    finding: RunFinding
    is_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRuns:
    """Runs that were checked.

    Args:
        summaries: What became of them.
        skipped_files: What was not checked.
        problems: Which run meets which condition of ``--fail-on``.
        known_findings: What was accepted.
        is_gate: Whether there is a condition, so that an unreadable file in a folder fails the check.
    """

    summaries: Sequence[RunSummary]
    skipped_files: Sequence[SkippedFile] = ()
    problems: Sequence[FailedCondition] = ()
    known_findings: KnownFindings
    is_gate: bool = False

    @property
    def runs(self) -> list[RunSummary]:
        """The runs, the worst first."""
        return sorted(self.summaries, key=wording.badness)

    @property
    def unreadable(self) -> list[SkippedFile]:
        """Files that make the check end with the code of bad input."""
        return [item for item in self.skipped_files if item.is_named or (item.is_unreadable and self.is_gate)]

    def problems_of(self, summary: RunSummary) -> list[FailedCondition]:
        """The conditions that a run meets."""
        return [item for item in self.problems if item.source == summary.source]

    def findings(self, summary: RunSummary) -> list[FreshFinding]:
        """The findings of a run."""
        accepted = self.known_findings.of(summary)
        return [FreshFinding(item, item in accepted) for item in summary.findings]


class ClaimNote(NamedTuple):
    """A claim of the last words that the record does not bear out: the rule, and what to say of it."""

    rule: str
    sentence: str
    is_contradicted: bool


def claim_notes(run: RunSummary) -> list[ClaimNote]:
    """Lists what the last words of a run claim against its record, the gravest first."""
    return [
        ClaimNote(f"claim_{answer.value}", f"The report {claim_sentence(check)}.", answer is GRAVE[0])
        for answer in GRAVE
        for check in run.claims
        if check.answer is answer
    ]


def sentence(finding: RunFinding, summary: RunSummary) -> str:
    """States what was found, where and for how much."""
    amounts = wording.amounts(finding.cost_usd, finding.tokens)
    where = wording.where(finding, summary.spent)
    return f"{finding.sentence} ({where}{', ' * bool(amounts)}{amounts or ''})."


def path_of(source: str) -> str | None:
    """The file of a run as CI names it: from the working directory where it lies there, with ``/``."""
    if source == STDIN:
        return None
    try:
        path = os.path.relpath(source)
    except ValueError:  # another drive
        path = source
    if path.startswith(os.pardir):
        path = os.path.abspath(source)  # noqa: PTH100 - as relpath, without reading links
    return path.replace(os.sep, "/")
