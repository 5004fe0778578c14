"""One run on one screen: the verdict first, then what it cost, what went wrong, and how it ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ebbtide.budget.bill.bill import Bill, BillLine, BillTree, CarriedEvent
from ebbtide.claims.claim import ClaimAnswer, ClaimCheck
from ebbtide.claims.sentences import claim_sentence, claims_line
from ebbtide.cli.table import more_rows
from ebbtide.cli.terminal import CLASS_STYLES, Line, columns, plain
from ebbtide.report import wording
from ebbtide.report.bill_words import (
    CLASS_NAMES,
    CONTENT_NAMES,
    WASTE_NAMES,
    amount,
    share,
    tree_parts,
    tree_sentence,
)
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.run_summary import (
    RoundPoint,
    RunDecision,
    RunFinding,
    RunSummary,
    Spending,
)
from ebbtide.supervision.summary.sentences import ended
from ebbtide.supervision.wording import listed

ACTION_STYLES = {
    Action.ALLOW: "bold green",
    Action.NUDGE: "bold yellow",
    Action.FINALIZE: "bold green",
    Action.ESCALATE: "bold magenta",
    Action.STOP: "bold red",
}
_EIGHTHS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_SPARKS = 32
_LABEL = 9
_RUNG = 8
_FINDINGS = 5
_DECISIONS = 4
_NAME = 40  # characters of a conversation's name
_TEXT = 160  # characters of a text of the run
_EVIDENCE = 300


def run_screen(
    summary: RunSummary,
    width: int,
    *,
    everything: bool = False,
    every_claim: bool = False,
    known_findings: Collection[RunFinding] = (),
) -> list[Line]:
    """The screen of a run.

    Args:
        summary: The run.
        width: Columns; only the first line, which names the file, may be longer.
        everything: Show every finding with its evidence, every decision and every fault, not what fits on
            one screen.
        every_claim: Show every claim with the answer of the record.
        known_findings: Findings that were accepted.
    """
    head, *reasons = verdict_lines(summary)
    lines = [head, *(part for reason in reasons for part in reason.wrap(width)), Line()]
    label = ""
    for name, line in _rows(
        summary,
        width - _LABEL - 2,
        everything=everything,
        every_claim=every_claim or everything,
        known_findings=known_findings,
    ):
        lines += columns([(Line("" if name == label else name, "dim"), line)], (_LABEL, width - _LABEL - 2))
        label = name
    return lines


def claims_screen(summaries: Iterable[RunSummary], width: int) -> list[Line]:
    """Returns the claims of several runs with the answers of their records, run by run."""
    lines: list[Line] = []
    for summary in summaries:
        for number, line in enumerate(_claims(summary.claims, everything=True)):
            if number:
                lines += columns([(Line(), line)], (0, width - 2))
            else:
                lines += [Line(), *Line.safe(summary.source, "bold").wrap(width), *line.wrap(width)]
    return lines or [Line(), Line("No final message claims anything that the record can show.", "dim")]


def verdict_lines(summary: RunSummary) -> list[Line]:
    """Returns the lines on how the run ended and how it went, with the words that say so, and why."""
    head = Line(summary.words, word_style(summary)).append(f"  {plain(summary.source)}")
    how = ended(summary.ending, refused=summary.facts.failures.refused)
    about = wording.about(summary)
    lines = [head, *([Line.safe(about, "bold")] if about else [])]
    lines += [*([] if how is None else [Line.safe(how)]), Line.safe(summary.reason)]
    if summary.bill.sentence:
        lines.append(Line.safe(summary.bill.sentence, "bold"))
    end = wording.at_end(summary)
    if end is not None:
        lines.append(Line.safe(end))
    if summary.verdict.shadow:
        lines.append(Line(wording.SHADOW, "dim"))
    return lines


def word_style(summary: RunSummary) -> str:
    """The style of the headline of a run."""
    return ACTION_STYLES[wording.severity(summary)]


def _rows(
    summary: RunSummary,
    width: int,
    *,
    everything: bool,
    every_claim: bool,
    known_findings: Collection[RunFinding],
) -> list[tuple[str, Line]]:
    decisions = [item for item in summary.decisions if item.kept]
    noise = [item for item in summary.decisions if not item.kept]
    saving, missing = wording.saved(summary), wording.missing(summary)
    sections = {
        "spent": _spending(summary),
        "tree": _tree(summary.bill.tree),
        "missing": [] if missing is None else [Line.safe(missing, "yellow")],
        "calls": [Line.safe(fact) for fact in wording.call_facts(summary)],
        "findings": _findings(summary, width, everything=everything, known_findings=known_findings),
        "cheaper": [Line.safe(item.text) for item in summary.bill.suggestions],
        "bill": bill_lines(summary.bill) if everything else [],
        "saving": [] if saving is None else [Line(saving)],
        "converged": _convergence(summary),
        "claims": _claims(summary.claims, everything=every_claim),
        "decided": _decided(decisions, noise, everything=everything),
        "noise": _noise(noise, everything=everything),
        "unread": _faults(summary, everything=everything),
    }
    return [(label, line) for label, lines in sections.items() for line in lines]


def _spending(summary: RunSummary) -> list[Line]:
    spending = summary.spent
    total = spending.tokens.total
    amounts = []
    if spending.cost_usd is not None:
        amounts.append(wording.cost(spending))
    if total is not None:
        classes = ", ".join(wording.token_classes(spending.tokens))
        amounts.append(f"{count(total, 'token')}{f' ({classes})' if classes else ''}")
    if spending.seconds is not None:
        amounts.append(wording.duration(spending.seconds))
    values = {"cost": spending.cost_usd, "tokens": total, "time": spending.seconds}
    unknown = [name for name, amount in values.items() if amount is None]
    line = Line(", ".join(amounts), "bold")
    if unknown:
        line.append(f"{'; ' * bool(amounts)}{listed(unknown)} unknown", "dim")
    calls = f"{count(spending.events, 'event')}: {count(spending.tool_calls, 'tool call')}, "
    calls += count(spending.llm_calls, "model call")
    if len(summary.chains) > 1:
        calls += f", in {count(len(summary.chains), 'conversation')}"
    calls += f"; format {plain(summary.format)}"
    if not summary.timed and spending.seconds is not None:
        calls += "; no rates, because some events have no time"
    lines = [line, Line(calls)]
    missing = wording.missing_cost(spending)
    if missing:
        lines.append(Line.safe(missing, "yellow"))
    return lines


def _tree(tree: BillTree | None) -> list[Line]:
    if tree is None:
        return []
    parts = (
        Line.safe(f"{amount(part)}{f' ({share(part)})' if part.share else ''}  {name}")
        for name, part in tree_parts(tree)
    )
    return [Line(tree_sentence(tree), "bold"), *parts]


def _findings(
    summary: RunSummary, width: int, *, everything: bool, known_findings: Collection[RunFinding]
) -> list[Line]:
    items = summary.findings
    if not items:
        if summary.course is Course.UNKNOWN:
            return [Line("none in what was recorded", "dim")]
        return [Line(f"none: {wording.nothing_found(summary)}", "green")]
    visible = items if everything else items[:_FINDINGS]
    rows = []
    for index, item in enumerate(visible):
        rung = Line(item.action.value.upper(), ACTION_STYLES[item.action])
        line = _finding(item, summary.spent)
        rows.append((rung, line.append(" (known)", "dim") if item in known_findings else line))
        if item.advice and (everything or index == 0):
            rows.append((Line(), Line.safe(item.advice, "italic")))
        if item.evidence and everything:
            rows.append((Line(), Line(plain(item.evidence, _EVIDENCE), "dim")))
    lines = columns(rows, (_RUNG, width - _RUNG - 1), gap=1)
    if len(items) > 1:
        lines.insert(0, Line(f"{len(items):,}, {wording.in_order(items)}"))
    return [*lines, *more_rows(len(items) - len(visible))]


def _finding(item: RunFinding, whole: Spending) -> Line:
    """Returns the line of a finding: its place, its sentence and its cost."""
    line = Line(f"{wording.where(item, whole)}: {plain(item.sentence, _TEXT)}")
    amounts = wording.amounts(item.cost_usd, item.tokens)
    if amounts:
        line.append(", ").append(amounts, "bold")
    if item.chain_id:
        line.append(f", in conversation {plain(item.chain_id, _NAME)}", "dim")
    return line


def _convergence(summary: RunSummary) -> list[Line]:
    lines = [Line.safe(wording.convergence(summary))]
    rounds = wording.longest(summary.rounds)
    if len(rounds) > 1:
        curve = Line("new in each round ").extend(_sparkline(rounds))
        lines.append(curve.append(f"  {wording.last_round(rounds)}"))
    if rounds:
        lines.append(Line.safe(wording.cut_of(summary), "dim"))
    return lines


def _sparkline(rounds: Sequence[RoundPoint]) -> Line:
    """Novelty by round, a column a round; more rounds than there is room for share columns."""
    size = -(-len(rounds) // _SPARKS)
    line = Line()
    for start in range(0, len(rounds), size):
        part = rounds[start : start + size]
        rate = sum(item.novelty_rate for item in part) / len(part)
        word = "LOW" if rate < wording.LOW else "HIGH" if rate > wording.HIGH else "MEDIUM"
        line.append(_EIGHTHS[min(7, max(0, round(rate * 7)))], CLASS_STYLES[word])
    return line


_ANSWER_STYLES = {
    ClaimAnswer.CONTRADICTED: "bold red",
    ClaimAnswer.STALE: "bold yellow",
    ClaimAnswer.NARROWER: "yellow",
}


def _claims(checks: Sequence[ClaimCheck], *, everything: bool) -> list[Line]:
    """Counts the claims of the last words by their answers; lists each where everything is shown."""
    if not checks:
        return []
    if not everything:
        return [Line.safe(claims_line(checks))]
    lines = [Line.safe(claims_line(checks).partition(': says "')[0])]
    for check in checks:
        line = Line(f"{check.answer.value}: ", _ANSWER_STYLES.get(check.answer, ""))
        lines.append(line.append(plain(f"{check.kind.value}: {claim_sentence(check)}", _EVIDENCE)))
    return lines


def _decided(
    decisions: Sequence[RunDecision], noise: Sequence[RunDecision], *, everything: bool
) -> list[Line]:
    if not decisions and not noise:
        return [Line("no sentence looks like a decision")]
    lines = []
    visible = decisions if everything else decisions[:_DECISIONS]
    if noise or len(visible) < len(decisions):
        sentences = count(len(decisions) + len(noise), "sentence")
        lines.append(Line(f"{len(decisions):,} kept of {sentences} that could be decisions"))
    return [*lines, *map(_decision, visible), *more_rows(len(decisions) - len(visible))]


def _noise(noise: Sequence[RunDecision], *, everything: bool) -> list[Line]:
    if not noise:
        return []
    line = Line(f"{len(noise):,} refused: {plain(wording.reasons(noise))}")
    return [line, *map(_decision, noise)] if everything else [line]


def _decision(item: RunDecision) -> Line:
    line = Line(f"event {item.event:,}{', by a person' if item.by_person else ''}: ", "dim")
    line.append(plain(item.text, _TEXT), "" if item.kept else "dim")
    if item.carried_out is not None:
        line.append(f" (carried out at event {item.carried_out:,})", "green")
    if item.supersedes is not None:
        line.append(f" (may reverse event {item.supersedes:,})", "yellow")
    if item.duplicate_of is not None:
        line.append(f" (repeats event {item.duplicate_of:,})", "dim")
    elif item.reason:
        line.append(f" ({plain(item.reason)})", "dim")
    return line


def _faults(summary: RunSummary, *, everything: bool) -> list[Line]:
    number = max(summary.degraded, len(summary.faults))
    if not number:
        return []
    line = Line(f"{count(number, 'line or event', 'lines or events')} not read in full", "yellow")
    if everything:
        return [line, *map(Line.safe, summary.faults)]
    if summary.faults:
        first = ", the first" if number > 1 else ""
        line.append(f"{first}: {plain(summary.faults[0], _TEXT)}", "yellow")
    return [line]


_LISTED = 6
_BILL_NAME = 60
_MAIN = "main"  # what has no name
_NO_NAMES: Mapping[str, str] = {}


def bill_lines(bill: Bill) -> list[Line]:
    """Every view of a bill that says something, a line each; the most expensive events a line each."""
    if not bill.sentence:
        return []
    views: list[tuple[str, Iterable[str]]] = [
        ("classes", _amounts(bill.classes, CLASS_NAMES)),
        ("contents", _amounts(bill.contents, CONTENT_NAMES)),
        ("tools", _amounts(bill.tools)),
        ("files", _amounts(bill.files)),
        ("models", _amounts(bill.models) if len(bill.models) > 1 else ()),
        ("agents", _amounts(bill.agents) if len(bill.agents) > 1 else ()),
        ("requests", _amounts(_dearest(bill.requests)) if len(bill.requests) > 1 else ()),
        ("phases", _amounts(bill.phases)),
        ("waste", _waste(bill)),
        ("failed", _failures(bill)),
        ("unattributed", _amounts(bill.why_unattributed)),
        (
            "compactions",
            [f"event {item.event:,}: {item.before:,} to {item.after:,} tokens" for item in bill.compactions],
        ),
    ]
    lines = []
    for name, parts in views:
        words = ", ".join(parts)
        if words:
            lines.append(Line(f"{name}: ", "dim").append(words))
    return lines + [_event(item) for item in bill.events]


def _amounts(lines: Sequence[BillLine], names: Mapping[str, str] = _NO_NAMES) -> list[str]:
    visible = [line for line in lines if line.amount.share >= 0.0005][:_LISTED]
    words = [
        f"{plain(names.get(line.name) or line.name or _MAIN, _BILL_NAME)} {amount(line.amount)}"
        f" ({share(line.amount)})"
        for line in visible
    ]
    rest = len(lines) - len(visible)
    return [*words, f"{rest:,} more"] if rest and words else words


def _dearest(lines: Sequence[BillLine]) -> list[BillLine]:
    return sorted(lines, key=lambda line: line.amount.share, reverse=True)


def _waste(bill: Bill) -> list[str]:
    if not bill.waste:
        return []
    kinds = [
        f"{WASTE_NAMES[line.kind]} {amount(line.amount)} ({count(line.count, 'call')})" for line in bill.waste
    ]
    return [f"wasted {amount(bill.wasted)}", f"avoidable {amount(bill.avoidable)}", *kinds]


def _failures(bill: Bill) -> list[str]:
    line = bill.failures
    return [] if line is None else [f"{count(line.count, 'call')} {amount(line.amount)}"]


def _event(item: CarriedEvent) -> Line:
    size = f"{'about ' * item.is_estimated}{count(item.size, 'token')}"
    name = plain(item.title, _BILL_NAME) or CONTENT_NAMES[item.content]
    reading = f"{size}, read by {count(item.reads, 'call')}: " if item.size else ""
    line = Line(f"event {item.event:,}: ", "dim").append(f"{name}: {reading}")
    return line.append(amount(item.amount), "bold")
