"""`ebbtide check` without a trace: what the sessions of coding agents on this machine came to."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.checking import Output, check_files, write_page
from ebbtide.cli.runs.fail_on import failures
from ebbtide.cli.runs.ignoring import ignored_by, print_ignored
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES, MachineSessions, SessionPart
from ebbtide.cli.runs.money import SessionMoney
from ebbtide.cli.runs.money_options import MoneyOptions
from ebbtide.cli.runs.money_screen import NARROWEST, ROWS, UNKNOWN, more, room, totals_wire, widths
from ebbtide.cli.runs.run_screen import word_style
from ebbtide.cli.runs.run_table import SkippedFile, skipped_lines
from ebbtide.cli.runs.trace_files import TraceFiles
from ebbtide.cli.terminal import (
    Line,
    columns,
    plain,
    print_json,
    print_lines,
    terminal_width,
    warn,
)
from ebbtide.errors import TranscriptError
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.text.redaction import redact


def check_sessions(
    machine: MachineSessions,
    options: RunOptions,
    output: Output,
    *,
    money: SessionMoney,
    money_options: MoneyOptions,
    jobs: int | None = None,
) -> Exit:
    """Print what became of this machine's sessions.

    Args:
        machine: The sessions.
        options: By what they are judged.
        output: What to do with the answers.
        money: What they cost, which is on the screen already.
        money_options: What was wanted of it.
        jobs: Processes; None takes one a core where they are worth it.

    Returns:
        As `check` does for a folder.

    Raises:
        TranscriptError: None of them can be read.
        ConfigError: The page cannot be written.
    """
    options = dataclasses.replace(options, timeline=output.html is not None)
    traces, left_out = TraceFiles(
        files=tuple(machine.parts), from_arguments=frozenset(), refusals=(), several=True, are_growing=True
    ).without(output.ignored_runs)
    obstacles = {path: machine.parts[path].file.obstacle for path in traces.files}
    traces = dataclasses.replace(
        traces,
        files=tuple(
            path for path, obstacle in obstacles.items() if not obstacle and path not in money.outside
        ),
    )
    shown: Callable[[str], str] = redact if options.redact else str
    summaries, skipped_files = check_files(traces, options, jobs=jobs)
    skipped_files += [
        SkippedFile(source=shown(path), reason=reason, is_unreadable=True)
        for path, reason in (*obstacles.items(), *machine.unreadable)
        if reason
    ]
    skipped_files += [
        SkippedFile(source=shown(path), reason=f"ignored by {ignored_by()}") for path in left_out
    ]
    # A summary knows its file by the name that may be shown.
    parts = {
        shown(path): dataclasses.replace(part, project=part.project and shown(part.project))
        for path, part in machine.parts.items()
    }
    runs = [SessionRun(part=parts[summary.source], summary=summary) for summary in summaries]
    runs.sort(key=lambda run: run.summary.source)
    if output.as_json:
        for run in runs:
            print_json(run.to_dict(), indent=None)
        for item in skipped_files:
            print_json(item.to_dict(), indent=None)
        totals = SessionTotals.of(runs)
        wire = totals_wire(money, machine.selection, money_options, options)
        print_json({**wire, **_waste_wire(totals)}, indent=None)
    if not runs and (skipped_files or not money.outside):
        raise _nothing_read(skipped_files)
    if output.html is not None:
        write_page(output.html, summaries, options, skipped_files)
    if not output.as_json:
        width = terminal_width()
        if runs:
            print_lines(waste_screen(runs, width, everything=output.everything))
        elif money.outside:
            others = count(len(money.outside), "file")
            print_lines([Line(f"{others} with calls of other days: --since all", "dim")])
        print_lines(_skipped_lines(skipped_files, parts, width, everything=output.everything))
        print_ignored(summaries)
    problems = failures(summaries, output.fail_on, output.known(summaries))
    for problem in problems:
        warn(str(problem))
    unreadable = [item for item in skipped_files if item.is_unreadable]
    if unreadable and output.fail_on:
        for item in unreadable:
            warn(f"{item.source}: UNREADABLE: {item.reason.splitlines()[0]}")
        return Exit.BAD_INPUT
    return Exit.CHECK_FAILED if problems else Exit.DONE


def _waste_wire(totals: SessionTotals) -> dict[str, Any]:
    return {
        "runs": totals.runs,
        "wasted_usd": totals.wasted_usd,
        "avoidable_usd": totals.avoidable_usd,
    }


def _skipped_lines(
    skipped_files: Sequence[SkippedFile], parts: Mapping[str, SessionPart], width: int, *, everything: bool
) -> list[Line]:
    """How many files were not read; with everything, which and why."""
    if not skipped_files:
        return []
    if everything:
        return skipped_lines(skipped_files, width, everything=True)
    broken = Counter(_kind(parts.get(item.source)) for item in skipped_files if item.is_unreadable)
    lines = [
        Line(f"{count(number, what)}{owner} UNREADABLE{reason}", "red")
        for (what, owner, reason), number in broken.items()
    ]
    others = Counter(item.reason for item in skipped_files if not item.is_unreadable)
    lines += [Line.safe(f"{count(number, 'file')}: {reason}", "dim") for reason, number in others.items()]
    lines.append(Line("--all names them.", "dim"))
    return [Line(), *(part for line in lines for part in line.wrap(width))]


def _kind(part: SessionPart | None) -> tuple[str, str, str]:
    """What cannot be read, whose it is and why, in words."""
    if part is None:
        return "folder", "", ""
    obstacle = part.file.obstacle
    return "file", f" of {AGENT_NAMES[part.file.agent]}", f": {obstacle}" if obstacle else ""


def _nothing_read(skipped_files: Sequence[SkippedFile]) -> TranscriptError:
    reasons = "".join(f"\n{item.source}: {item.reason.splitlines()[0]}" for item in skipped_files[:5])
    more = f"\nand {len(skipped_files) - 5:,} more" if len(skipped_files) > 5 else ""
    return TranscriptError(f"none of {count(len(skipped_files), 'session')} could be read:{reasons}{more}")


_SENTENCE = 160


def waste_screen(runs: Sequence[SessionRun], width: int, *, everything: bool = False) -> list[Line]:
    """The screen of what the money of some sessions bought, and of the worst of them.

    Args:
        runs: Their files, checked; at least one.
        width: Columns.
        everything: Show every run.
    """
    sentence = _waste_sentence(SessionTotals.of(runs))
    return [Line(), *Line(sentence, "bold").wrap(width), *_worst(runs, width, everything=everything)]


def _waste_sentence(totals: SessionTotals) -> str:
    amounts = ((totals.wasted_usd, "bought nothing"), (totals.avoidable_usd, "could have been avoided"))
    cost = totals.cost_usd or 0.0
    shares = [
        f"{wording.money(amount)}{_share(amount, cost)} of it {what}" for amount, what in amounts if amount
    ]
    if shares:
        return f"{', and '.join(shares)}."
    return "What it bought is unknown." if totals.wasted_usd is None else "No waste was found."


def _share(amount: float, cost: float) -> str:
    return f" ({amount / cost:.0%})" if amount >= 0.01 * cost > 0 else ""


def _worst(runs: Sequence[SessionRun], width: int, *, everything: bool) -> list[Line]:
    """The runs that wasted most, then those that came out worst, each with a sentence and its file."""
    ordered = sorted(runs, key=_badness)
    visible = ordered if everything else ordered[:ROWS]
    folder = wording.folder_of([run.summary.source for run in runs])
    rows = [_amounts_of(run.summary) for run in visible]
    names = ("cost", "wasted", "avoidable", "verdict")
    sizes = [*widths(names, rows), max(room(names, rows, width), NARROWEST)]
    title = Line("The worst first", "bold").append(f", in {plain(folder)}" if folder else "", "dim")
    lines = [*title.wrap(width), *columns([[Line(name, "dim") for name in names]], sizes, right=(0, 1, 2))]
    for run, row in zip(visible, rows, strict=True):
        *amounts, verdict = row.values()
        first = [*map(Line, amounts), Line(verdict, word_style(run.summary))]
        path = run.summary.source.removeprefix(folder)
        below = (Line(plain(why(run.summary), _SENTENCE)), Line.safe(path, "dim"))
        lines += columns([first], sizes, right=(0, 1, 2))
        lines += [Line("  ").extend(part) for line in below for part in line.wrap(width - 2)]
    return [*lines, *more(len(runs) - len(visible))]


def _amounts_of(summary: RunSummary) -> dict[str, str]:
    return {
        "cost": UNKNOWN if summary.spent.cost_usd is None else wording.cost(summary.spent),
        "wasted": _waste(wasted_usd(summary)),
        "avoidable": _waste(avoidable_usd(summary)),
        "verdict": summary.words,
    }


def _badness(run: SessionRun) -> tuple[Any, ...]:
    summary = run.summary
    saving = (wasted_usd(summary) or 0.0) + (avoidable_usd(summary) or 0.0)
    return (-saving, *wording.badness(summary))


def _waste(amount: float | None) -> str:
    return UNKNOWN if amount is None else wording.money(amount) if amount else "-"


_Number = TypeVar("_Number", int, float)
_Key = TypeVar("_Key", str, str | None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRun:
    """One file of a session, checked.

    Args:
        part: The file.
        summary: What became of it.
    """

    part: SessionPart
    summary: RunSummary

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON, with the session that it is of."""
        session = {
            "agent": self.part.file.agent.value,
            "id": self.part.session,
            "project": self.part.project,
            "day": self.part.day,
            "is_main": self.part.is_main,
            "wasted_usd": wasted_usd(self.summary),
            "avoidable_usd": avoidable_usd(self.summary),
        }
        return {**self.summary.to_dict(), "session": session}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTotals:
    """What some sessions came to.

    Args:
        sessions: How many.
        runs: Files that were checked; sub-agents have their own.
        cost_usd: Dollars, as far as known; None where no cost is known.
        unknown_cost: Sessions of which no cost is known although a model was called.
        is_partial: Whether the others cost more: calls have no known price, or state too few tokens.
        tokens: Of all classes; None where none are known.
        wasted_usd: Dollars that bought nothing, as far as known; None where that is not known of any session.
        avoidable_usd: Dollars that bought something that could have been had for less, likewise.
    """

    sessions: int
    runs: int
    cost_usd: float | None
    unknown_cost: int
    is_partial: bool
    tokens: int | None
    wasted_usd: float | None
    avoidable_usd: float | None

    @classmethod
    def of(cls, runs: Sequence[SessionRun]) -> SessionTotals:
        """The totals of some runs."""
        spent = [run.summary.spent for run in runs]
        by_session = grouped(runs, lambda run: f"{run.part.file.agent} {run.part.session}")
        return cls(
            sessions=len(by_session),
            runs=len(runs),
            cost_usd=_sum(item.cost_usd for item in spent),
            unknown_cost=sum(map(_is_unknown, by_session.values())),
            is_partial=any(
                run.summary.spent.unpriced or run.summary.bill.is_least
                for run in runs
                if run.summary.spent.cost_usd is not None
            ),
            tokens=_sum(item.tokens.total for item in spent),
            wasted_usd=_sum(wasted_usd(run.summary) for run in runs),
            avoidable_usd=_sum(avoidable_usd(run.summary) for run in runs),
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form; null is unknown."""
        return {
            "sessions": self.sessions,
            "runs": self.runs,
            "cost_usd": self.cost_usd,
            "sessions_of_unknown_cost": self.unknown_cost,
            "cost_is_partial": self.is_partial,
            "tokens": self.tokens,
            "wasted_usd": self.wasted_usd,
            "avoidable_usd": self.avoidable_usd,
        }


def wasted_usd(summary: RunSummary) -> float | None:
    """Dollars of a run that bought nothing; None where that cannot be told."""
    return None if summary.course is Course.UNKNOWN else summary.bill.wasted.cost_usd


def avoidable_usd(summary: RunSummary) -> float | None:
    """Dollars of a run that could have been saved, beside what bought nothing; None where that is unknown."""
    return None if summary.course is Course.UNKNOWN else summary.bill.avoidable.cost_usd


def why(summary: RunSummary) -> str:
    """A run in one sentence: what went wrong, or else where its money went."""
    went_well = summary.course is Course.HEALTHY and not summary.verdict.ends
    return (summary.bill.sentence if went_well else "") or summary.reason


def grouped(runs: Iterable[SessionRun], key: Callable[[SessionRun], _Key]) -> dict[_Key, list[SessionRun]]:
    """Runs by a key, in the order in which the keys come up."""
    groups: dict[_Key, list[SessionRun]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def _is_unknown(runs: Iterable[SessionRun]) -> bool:
    spent = [run.summary.spent for run in runs]
    return all(item.cost_usd is None for item in spent) and any(item.llm_calls for item in spent)


def _sum(amounts: Iterable[_Number | None]) -> _Number | None:
    numbers = [amount for amount in amounts if amount is not None]
    return sum(numbers) if numbers else None
