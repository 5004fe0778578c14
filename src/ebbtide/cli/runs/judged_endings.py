"""How recorded runs came out, by a model that is asked beside the rules: one question a run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ebbtide.cli.judging import JudgeBill, judge_progress, outcome_label, outcome_line
from ebbtide.cli.lines import Line, columns
from ebbtide.cli.terminal import plain
from ebbtide.convergence.llm_outcome import LlmOutcome, outcome_by_llm
from ebbtide.errors import TranscriptError
from ebbtide.report.plurals import count
from ebbtide.text.llm.chat_endpoint import ChatModel
from ebbtide.traces.reading import open_trace

_AT_ONCE = 4  # questions under way
_ROWS = 20
_LABEL = 11
_HEADERS = ("judge", "rules", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEndings:
    """What a model says of how runs came out.

    Args:
        model: Who was asked.
        outcomes: Its answers, by the file of the run.
    """

    model: str
    outcomes: Mapping[str, LlmOutcome]

    def to_dict(self, source: str) -> dict[str, Any]:
        """The answer about one run and what it took, as plain data."""
        outcome = self.outcomes[source]
        reason = None if outcome.failure is None else str(outcome.failure)
        return {
            **JudgeBill.of(self.model, outcomes=(outcome,)).to_dict(),
            "outcome": outcome.to_dict(),
            "fallback": reason,
        }

    def lines(self, width: int) -> list[Line]:
        """For a person: the answer about one run, or where the judge and the rules differ about several."""
        outcomes = tuple(self.outcomes.values())
        bill = JudgeBill.of(self.model, outcomes=outcomes).lines(width)
        if len(outcomes) == 1:
            return [*outcome_line(outcomes[0]).wrap(width), *bill]
        differ = [(source, outcome) for source, outcome in self.outcomes.items() if outcome.differs]
        runs = count(len(outcomes), "run")
        lines = [Line(f"Judge and rules disagree on how {len(differ):,} of {runs} ended.", "bold")]
        rows = [_row(source, outcome) for source, outcome in differ[:_ROWS]]
        if rows:
            head = [Line(name, "dim") for name in _HEADERS]
            lines += columns([head, *rows], (_LABEL, _LABEL, max(width - 2 * _LABEL - 4, _LABEL)))
        if len(rows) < len(differ):
            lines.append(Line(f"and {len(differ) - len(rows):,} more: --json", "dim"))
        return [*lines, *bill]


def judge_endings(sources: Sequence[str], model: ChatModel) -> JudgedEndings:
    """Read runs once more, and ask a model how each came out.

    Args:
        sources: Their files.
        model: Which threads may share.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """

    def ask(source: str) -> LlmOutcome:
        outcome = _outcome(source, model)
        advance()
        return outcome

    with judge_progress(len(sources)) as advance, ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        try:
            outcomes = dict(zip(sources, pool.map(ask, sources), strict=True))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return JudgedEndings(model=model.model, outcomes=outcomes)


def _outcome(source: str, model: ChatModel) -> LlmOutcome:
    with contextlib.suppress(TranscriptError):
        return outcome_by_llm(open_trace(source), model)
    return outcome_by_llm((), model)  # it was there a moment ago, and cannot be read any more


def _row(source: str, outcome: LlmOutcome) -> list[Line]:
    rules = outcome.by_rules
    labels = [outcome.outcome, None if rules is None else rules.outcome]
    return [
        *(Line("none" if label is None else outcome_label(label)) for label in labels),
        Line(plain(source)),
    ]
