"""How recorded runs came out, by a model that is asked beside the rules: one question a run."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ebbtide.cli.judging import QUOTE, JudgeBill, judge_progress
from ebbtide.cli.terminal import Line, columns, plain
from ebbtide.convergence.llm_outcome import LlmOutcome, outcome_by_llm
from ebbtide.errors import TranscriptError
from ebbtide.report.plurals import count
from ebbtide.supervision.summary.ending import EndKind, RunEnding, ending_of
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.sentences import ended
from ebbtide.text.llm.chat_endpoint import ChatModel
from ebbtide.text.llm.concurrent_questions import ask_all
from ebbtide.traces.reading import open_trace

_ROWS = 20
_LABEL = 11
_HEADERS = ("judge", "rules", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEnding:
    """How a run ended, by a model and by the rules.

    Args:
        source: The file of the run.
        outcome: What the model says.
        ending: What the rules say, which is half of the headline of the run.
    """

    source: str
    outcome: LlmOutcome
    ending: RunEnding

    @property
    def judge(self) -> EndKind | None:
        """The label of the model; None where it has none."""
        return None if self.outcome.outcome is None else ending_of(self.outcome.outcome)

    @property
    def differs(self) -> bool:
        """Whether the model has another label than the rules."""
        return self.judge not in (None, self.ending.ending)

    def line(self) -> Line:
        """Both, with the words that each goes by."""
        if self.judge is None:
            line = Line("Outcome: the judge does not say.")
        else:
            line = Line(f"Outcome: the judge says {self.judge.value}")
            line.append(f" (\u201c{plain(self.outcome.quote or '', QUOTE)}\u201d).", "dim")
        sentence = ended(self.ending)
        rules = f" ({plain(sentence)})" if sentence is not None else ""
        return line.append(f" The rules say {self.ending.ending.value}").append(f"{rules}.", "dim")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEndings:
    """How runs ended, by a model and by the rules.

    Args:
        model: Who was asked.
        runs: Each run.
    """

    model: str
    runs: tuple[JudgedEnding, ...]

    def to_dict(self, source: str) -> dict[str, Any]:
        """Both labels of one run, and what asking about it took, as plain data."""
        run = next(run for run in self.runs if run.source == source)
        outcome = run.outcome
        return {
            **JudgeBill.of(self.model, outcomes=(outcome,)).to_dict(),
            "outcome": {
                "judge": run.judge,
                "quote": outcome.quote,
                "rules": run.ending.ending,
                "rules_quote": run.ending.text,
            },
            "differs": run.differs,
            "fallback": None if outcome.failure is None else str(outcome.failure),
        }

    def lines(self, width: int) -> list[Line]:
        """For a person: the answer about one run, or where the judge and the rules differ about several."""
        bill = JudgeBill.of(self.model, outcomes=[run.outcome for run in self.runs]).lines(width)
        if len(self.runs) == 1:
            return [*self.runs[0].line().wrap(width), *bill]
        differ = [run for run in self.runs if run.differs]
        total = count(len(self.runs), "run")
        lines = [Line(f"Judge and rules disagree on how {len(differ):,} of {total} ended.", "bold")]
        rows = [
            [Line(run.judge or ""), Line(run.ending.ending), Line.safe(run.source)] for run in differ[:_ROWS]
        ]
        if rows:
            head = [Line(name, "dim") for name in _HEADERS]
            lines += columns([head, *rows], (_LABEL, _LABEL, max(width - 2 * _LABEL - 4, _LABEL)))
        if len(rows) < len(differ):
            lines.append(Line(f"and {len(differ) - len(rows):,} more: --json", "dim"))
        return [*lines, *bill]


def judge_endings(summaries: Sequence[RunSummary], model: ChatModel) -> JudgedEndings:
    """Read runs once more, and ask a model how each ended.

    Args:
        summaries: What the rules made of them, with their files.
        model: Which threads may share.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    with judge_progress(len(summaries)) as advance:
        answers = ask_all([partial(_outcome, item.source, model) for item in summaries], advance=advance)
    runs = (
        JudgedEnding(source=item.source, outcome=answer, ending=item.ending)
        for item, answer in zip(summaries, answers, strict=True)
    )
    return JudgedEndings(model=model.model, runs=tuple(runs))


def _outcome(source: str, model: ChatModel) -> LlmOutcome:
    with contextlib.suppress(TranscriptError):
        return outcome_by_llm(open_trace(source), model)
    return outcome_by_llm((), model)  # it was there a moment ago, and cannot be read any more
