"""Tells when an agent is done, when it is stuck, and what it decided, and holds its limits.

>>> from ebbtide import ConvergenceMeter, Round
>>> meter = ConvergenceMeter()
>>> reading = meter.update(Round.from_text("The cache is cold. Warm it at start-up.", number=1))
>>> print(reading.recommendation.signal)
CONTINUE
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes longer to import than all of this

if TYPE_CHECKING:
    from ebbtide.adapters.answer_text import answer_text as answer_text
    from ebbtide.adapters.final_text import final_text as final_text
    from ebbtide.adapters.watched_client import watch as watch
    from ebbtide.budget.bill.bill import Bill as Bill
    from ebbtide.budget.limits import LimitKind as LimitKind
    from ebbtide.budget.limits import Limits as Limits
    from ebbtide.budget.prices import Prices as Prices
    from ebbtide.budget.prices import Rates as Rates
    from ebbtide.budget.shared.budget import Budget as Budget
    from ebbtide.budget.shared.budget_refusal import BudgetRefusal as BudgetRefusal
    from ebbtide.budget.shared.budget_refusal import BudgetRefused as BudgetRefused
    from ebbtide.budget.shared.budget_reservation import BudgetReservation as BudgetReservation
    from ebbtide.budget.shared.budget_standing import BudgetStanding as BudgetStanding
    from ebbtide.budget.shared.budgets import Budgets as Budgets
    from ebbtide.budget.tally import Tally as Tally
    from ebbtide.checking import check as check
    from ebbtide.checking import check_events as check_events
    from ebbtide.claims.claim import ClaimAnswer as ClaimAnswer
    from ebbtide.claims.claim import ClaimCheck as ClaimCheck
    from ebbtide.claims.claim import ClaimKind as ClaimKind
    from ebbtide.claims.claim_record import ClaimRecord as ClaimRecord
    from ebbtide.convergence.meter import ConvergenceMeter as ConvergenceMeter
    from ebbtide.convergence.meter import score_transcript as score_transcript
    from ebbtide.convergence.novelty import Novelty as Novelty
    from ebbtide.convergence.readiness import Readiness as Readiness
    from ebbtide.convergence.recommendation import Recommendation as Recommendation
    from ebbtide.convergence.score import ConvergenceScore as ConvergenceScore
    from ebbtide.convergence.score import RoundReading as RoundReading
    from ebbtide.convergence.score import RoundSummary as RoundSummary
    from ebbtide.convergence.signal import Signal as Signal
    from ebbtide.decision_log.deliberation.answer import DecisionAnswer as DecisionAnswer
    from ebbtide.decision_log.deliberation.async_deliberation import AsyncDeliberation as AsyncDeliberation
    from ebbtide.decision_log.deliberation.deliberation import Deliberation as Deliberation
    from ebbtide.decision_log.log.decision_log import DecisionLog as DecisionLog
    from ebbtide.decision_log.record.particulars import Particulars as Particulars
    from ebbtide.decision_log.record.particulars import RecordOption as RecordOption
    from ebbtide.decision_log.record.particulars import RecordStatus as RecordStatus
    from ebbtide.decision_log.record.record import Decision as Decision
    from ebbtide.decision_log.record.record import DecisionOutcome as DecisionOutcome
    from ebbtide.decision_log.record.record import Review as Review
    from ebbtide.decision_log.record.results import Added as Added
    from ebbtide.decisions.assessment import Assessment as Assessment
    from ebbtide.decisions.candidate import Candidate as Candidate
    from ebbtide.decisions.candidate import TurnContext as TurnContext
    from ebbtide.decisions.gate.assess import assess as assess
    from ebbtide.divergence.graph.execution_graph import ExecutionGraph as ExecutionGraph
    from ebbtide.divergence.graph.execution_graph import NodeSignature as NodeSignature
    from ebbtide.divergence.monitor import LoopMonitor as LoopMonitor
    from ebbtide.divergence.monitor import find_loops as find_loops
    from ebbtide.divergence.signals import LoopKind as LoopKind
    from ebbtide.divergence.signals import LoopSignal as LoopSignal
    from ebbtide.divergence.snapshot import MonitorSnapshot as MonitorSnapshot
    from ebbtide.errors import CallRefused as CallRefused
    from ebbtide.errors import ConfigError as ConfigError
    from ebbtide.errors import DegradedEventWarning as DegradedEventWarning
    from ebbtide.errors import EbbtideError as EbbtideError
    from ebbtide.errors import LimitExceeded as LimitExceeded
    from ebbtide.errors import LimitUnknown as LimitUnknown
    from ebbtide.errors import RunEnded as RunEnded
    from ebbtide.errors import RunHalted as RunHalted
    from ebbtide.errors import RunStopped as RunStopped
    from ebbtide.errors import SemanticError as SemanticError
    from ebbtide.errors import StoreError as StoreError
    from ebbtide.errors import TranscriptError as TranscriptError
    from ebbtide.events.effect import Effect as Effect
    from ebbtide.events.event import Event as Event
    from ebbtide.events.event import Message as Message
    from ebbtide.events.event import ModelCall as ModelCall
    from ebbtide.events.event import Notice as Notice
    from ebbtide.events.event import NoticeKind as NoticeKind
    from ebbtide.events.event import ToolCall as ToolCall
    from ebbtide.events.run_outcome import RunOutcome as RunOutcome
    from ebbtide.events.tool_policy import ToolPolicies as ToolPolicies
    from ebbtide.events.tool_policy import ToolPolicy as ToolPolicy
    from ebbtide.events.transcript import Round as Round
    from ebbtide.events.transcript import Transcript as Transcript
    from ebbtide.events.usage import Usage as Usage
    from ebbtide.guard.execution_context import ExecutionContext as ExecutionContext
    from ebbtide.guard.guard_report import RunReport as RunReport
    from ebbtide.guard.running_call import RunningCall as RunningCall
    from ebbtide.profile import Profile as Profile
    from ebbtide.supervision.ladder import Action as Action
    from ebbtide.supervision.ladder import Cause as Cause
    from ebbtide.supervision.run_options import RunOptions as RunOptions
    from ebbtide.supervision.runs.advice import Advice as Advice
    from ebbtide.supervision.runs.async_runs import AsyncRuns as AsyncRuns
    from ebbtide.supervision.runs.run_store import MemoryRunStore as MemoryRunStore
    from ebbtide.supervision.runs.run_store import RunStanding as RunStanding
    from ebbtide.supervision.runs.run_store import RunStore as RunStore
    from ebbtide.supervision.runs.run_store import SQLiteRunStore as SQLiteRunStore
    from ebbtide.supervision.runs.run_store import StoredRun as StoredRun
    from ebbtide.supervision.runs.runs import Runs as Runs
    from ebbtide.supervision.runs.runs import RunSupervisor as RunSupervisor
    from ebbtide.supervision.summary.ending import EndKind as EndKind
    from ebbtide.supervision.summary.ending import RunEnding as RunEnding
    from ebbtide.supervision.summary.headline import Course as Course
    from ebbtide.supervision.summary.headline import Headline as Headline
    from ebbtide.supervision.summary.run_summary import RunSummary as RunSummary
    from ebbtide.supervision.supervisor import Supervisor as Supervisor
    from ebbtide.supervision.supervisor_snapshot import SupervisorSnapshot as SupervisorSnapshot
    from ebbtide.supervision.verdict import Verdict as Verdict
    from ebbtide.text.extraction.turn import Extraction as Extraction
    from ebbtide.traces.reading import Trace as Trace
    from ebbtide.traces.reading import open_trace as open_trace

__version__ = "0.1.0"

# Each name is imported on its first use: a hook that only needs the version must not wait for the engines.
_HOMES = {
    "Action": "supervision.ladder",
    "Added": "decision_log.record.results",
    "Assessment": "decisions.assessment",
    "AsyncDeliberation": "decision_log.deliberation.async_deliberation",
    "AsyncRuns": "supervision.runs.async_runs",
    "CallRefused": "errors",
    "Candidate": "decisions.candidate",
    "Cause": "supervision.ladder",
    "ClaimAnswer": "claims.claim",
    "ClaimCheck": "claims.claim",
    "ClaimKind": "claims.claim",
    "ClaimRecord": "claims.claim_record",
    "ConfigError": "errors",
    "ConvergenceMeter": "convergence.meter",
    "ConvergenceScore": "convergence.score",
    "Decision": "decision_log.record.record",
    "DecisionAnswer": "decision_log.deliberation.answer",
    "DecisionLog": "decision_log.log.decision_log",
    "DecisionOutcome": "decision_log.record.record",
    "DegradedEventWarning": "errors",
    "Deliberation": "decision_log.deliberation.deliberation",
    "Particulars": "decision_log.record.particulars",
    "RecordOption": "decision_log.record.particulars",
    "RecordStatus": "decision_log.record.particulars",
    "EbbtideError": "errors",
    "Event": "events.event",
    "ExecutionContext": "guard.execution_context",
    "ExecutionGraph": "divergence.graph.execution_graph",
    "Headline": "supervision.summary.headline",
    "Course": "supervision.summary.headline",
    "EndKind": "supervision.summary.ending",
    "RunEnding": "supervision.summary.ending",
    "RunOutcome": "events.run_outcome",
    "Extraction": "text.extraction.turn",
    "LimitExceeded": "errors",
    "LimitKind": "budget.limits",
    "LimitUnknown": "errors",
    "Limits": "budget.limits",
    "LoopKind": "divergence.signals",
    "LoopMonitor": "divergence.monitor",
    "LoopSignal": "divergence.signals",
    "MemoryRunStore": "supervision.runs.run_store",
    "Message": "events.event",
    "ModelCall": "events.event",
    "MonitorSnapshot": "divergence.snapshot",
    "NodeSignature": "divergence.graph.execution_graph",
    "Notice": "events.event",
    "NoticeKind": "events.event",
    "Novelty": "convergence.novelty",
    "Bill": "budget.bill.bill",
    "Budget": "budget.shared.budget",
    "BudgetRefusal": "budget.shared.budget_refusal",
    "BudgetRefused": "budget.shared.budget_refusal",
    "BudgetReservation": "budget.shared.budget_reservation",
    "BudgetStanding": "budget.shared.budget_standing",
    "Budgets": "budget.shared.budgets",
    "Prices": "budget.prices",
    "Rates": "budget.prices",
    "Profile": "profile",
    "Readiness": "convergence.readiness",
    "Recommendation": "convergence.recommendation",
    "Review": "decision_log.record.record",
    "Round": "events.transcript",
    "RoundReading": "convergence.score",
    "RoundSummary": "convergence.score",
    "RunEnded": "errors",
    "RunHalted": "errors",
    "RunOptions": "supervision.run_options",
    "RunReport": "guard.guard_report",
    "RunStanding": "supervision.runs.run_store",
    "RunStopped": "errors",
    "RunStore": "supervision.runs.run_store",
    "RunSupervisor": "supervision.runs.runs",
    "RunSummary": "supervision.summary.run_summary",
    "Runs": "supervision.runs.runs",
    "RunningCall": "guard.running_call",
    "SQLiteRunStore": "supervision.runs.run_store",
    "SemanticError": "errors",
    "Signal": "convergence.signal",
    "StoreError": "errors",
    "StoredRun": "supervision.runs.run_store",
    "Supervisor": "supervision.supervisor",
    "SupervisorSnapshot": "supervision.supervisor_snapshot",
    "Tally": "budget.tally",
    "ToolCall": "events.event",
    "Effect": "events.effect",
    "ToolPolicies": "events.tool_policy",
    "ToolPolicy": "events.tool_policy",
    "Trace": "traces.reading",
    "Transcript": "events.transcript",
    "TranscriptError": "errors",
    "Advice": "supervision.runs.advice",
    "TurnContext": "decisions.candidate",
    "Usage": "events.usage",
    "Verdict": "supervision.verdict",
    "answer_text": "adapters.answer_text",
    "assess": "decisions.gate.assess",
    "check": "checking",
    "check_events": "checking",
    "final_text": "adapters.final_text",
    "find_loops": "divergence.monitor",
    "open_trace": "traces.reading",
    "score_transcript": "convergence.meter",
    "watch": "adapters.watched_client",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - names, all of them


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ebbtide.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
