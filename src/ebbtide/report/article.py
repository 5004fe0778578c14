"""Part of a page about one run: text that is readable without scripts, and the words behind every chart."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.budget.limits import LimitKind
from ebbtide.claims.sentences import claim_sentence, claims_line
from ebbtide.report import wording
from ebbtide.report.bill import bill_details, bill_part
from ebbtide.report.markup import Markup, element, joined, table, tile
from ebbtide.report.plurals import count
from ebbtide.report.projection import Projection
from ebbtide.report.shipped import shipped_part
from ebbtide.report.wording import (
    UNKNOWN,
    amounts,
    at_end,
    duration,
    in_order,
    money,
    period,
    reasons,
    saved,
    severity,
    token_classes,
    where,
)
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import MEANINGS
from ebbtide.supervision.summary.run_summary import Cell, RunDecision, RunFinding, RunSummary, Spending
from ebbtide.supervision.summary.sentences import ended, so_far

_ROUNDS = 400  # rows of the table behind the chart
_SAMPLES = 24
_FIRST = 12  # findings, and decisions, that are seen at once
_FINDINGS = 200
_REFUSED = 300
_WENT = {"SHIP": "ready", "ESCALATE": "nothing new", "CONTINUE": "going on"}


def article(
    summary: RunSummary, number: int, ends: Sequence[Projection], *, folder: str = "", state: str = ""
) -> Markup:
    """Returns the article of a run: verdict, bill, findings, charts and tables.

    Args:
        number: Its number on the page, from 1.
        ends: Projections to its limits.
        folder: Common beginning of the names of all runs on the page.
        state: A sentence that says whether it still goes on; empty if nobody knows.
    """
    curve = len(summary.rounds) > 1
    has_amounts = any(cell.cost_usd is not None or cell.tokens is not None for cell in summary.timeline)
    spending = _section("Spending", _budget(ends), _spending(summary, number)) if has_amounts else None
    sentence = wording.convergence(summary)
    converged = _section(
        "Did it converge?",
        element("p", f"{sentence[:1].upper()}{sentence[1:]}.", class_="statement", dir="auto"),
        _rounds(summary, number) if curve else None,
    )
    details = bill_details(summary.bill)
    return element(
        "article",
        _headline(summary, folder, state),
        element(
            "div",
            bill_part(summary),
            _tiles(summary),
            class_="top has-bill" if summary.bill.classes else "top",
        ),
        _saving(summary),
        _section("Calls", _timeline(number)) if summary.timeline else None,
        _section(f"Findings ({len(summary.findings):,})", _findings(summary)),
        _section("Claims and the record", _claims(summary)) if summary.claims else None,
        None if summary.shipped is None else _section("What it shipped", shipped_part(summary.shipped)),
        None if details is None else _section("Where the money went", details),
        _calls(summary),
        None if curve else converged,
        element("div", converged if curve else None, spending, class_="charts")
        if curve or has_amounts
        else None,
        _section("Decisions", _decisions(summary)),
        _faults(summary),
        id=f"run-{number}",
        class_="run",
        data_run=number,
    )


def _section(title: str, *children: str | None) -> Markup:
    return element("section", element("h2", title), *children)


def _timeline(number: int) -> Markup:
    name = f"timeline-{number}"
    return joined(
        element("div", class_="controls", id=f"{name}-controls"),
        element("div", class_="strip", id=f"{name}-strip"),
        element("div", class_="timeline", id=name),
        element("div", class_="legend", id=f"{name}-legend"),
        element("div", class_="readout", id=f"{name}-readout", aria_live="polite"),
        element("noscript", element("p", "The timeline and the charts need scripts.", class_="quiet")),
    )


def _rounds(summary: RunSummary, number: int) -> Markup:
    label = f"Novelty and readiness by round: {wording.convergence(summary)}"
    return joined(_chart(f"rounds-{number}", label), _rounds_table(summary))


def _spending(summary: RunSummary, number: int) -> Markup:
    total = amounts(summary.spent.cost_usd, summary.spent.tokens.total)
    return joined(
        _chart(f"spending-{number}", f"Cost and tokens so far, by event: {total} in all"),
        _spending_table(summary.timeline),
    )


def _chart(name: str, label: str) -> Markup:
    return element("div", class_="chart", id=name, role="img", aria_label=label)


def _headline(summary: RunSummary, folder: str, state: str) -> Markup:
    """Returns the verdict, and why."""
    refused = summary.facts.failures.refused
    how = ended(summary.ending, refused=refused) if summary.over else so_far(summary.ending)
    now = at_end(summary)
    facts = [count(summary.spent.events, "event"), f"format {summary.format}"]
    if len(summary.chains) > 1:
        facts.append(count(len(summary.chains), "conversation"))
    when = period(summary)
    facts += [when] if when else []
    return element(
        "header",
        element(
            "div",
            element(
                "span",
                summary.words,
                class_=f"badge {_tone(severity(summary))}",
                title=MEANINGS[summary.headline],
            ),
            _source(summary.source.removeprefix(folder)),
            class_="verdict",
            role="heading",
            aria_level=1,
        ),
        element("p", title, class_="about", dir="auto") if (title := wording.about(summary)) else None,
        element("p", state, class_="state", dir="auto") if state else None,
        element("p", how, class_="why", dir="auto") if how else None,
        element("p", summary.reason, class_="now" if how else "why", dir="auto"),
        element("p", now, class_="now", dir="auto") if now else None,
        element("p", " \N{MIDDLE DOT} ".join(facts), class_="facts"),
        element("p", wording.SHADOW, class_="now") if summary.verdict.shadow else None,
        class_="headline",
    )


def _calls(summary: RunSummary) -> Markup | None:
    """Returns the part about calls beside loops, and what was not recorded."""
    missing, facts = wording.missing(summary), wording.call_facts(summary)
    if missing is None and not facts:
        return None
    return element(
        "section",
        element("h2", "Failures, look-ups, waiting" if facts else "Not recorded"),
        element("p", missing, class_="statement") if missing else None,
        element("ul", *(element("li", fact, dir="auto") for fact in facts), class_="facts")
        if facts
        else None,
    )


def _tone(action: Action) -> str:
    """Returns the colour of an action, by its name in the style sheet."""
    return f"tone-{action.value}"


def _tiles(summary: RunSummary) -> Markup:
    """Returns tiles with what the run took beside money."""
    spending = summary.spent
    timed = None if summary.timed else "Some events have no time, so there are no rates."
    return element(
        "dl",
        tile(
            "Tokens",
            UNKNOWN if spending.tokens.total is None else f"{spending.tokens.total:,}",
            ", ".join(token_classes(spending.tokens)),
        ),
        tile(
            "Calls",
            f"{spending.tool_calls + spending.llm_calls:,}",
            f"{count(spending.tool_calls, 'tool call')}, {count(spending.llm_calls, 'model call')}",
        ),
        tile("Time", duration(spending.seconds), timed),
        class_="tiles",
    )


def _saving(summary: RunSummary) -> Markup | None:
    """Returns where it would have been ended; with emphasis if only a stop would have ended it."""
    sentence = saved(summary)
    if sentence is None or summary.saving is None:
        return None
    verdict = summary.saving.verdict
    resolved = summary.recovered is True
    behind = next((item.sentence for item in summary.findings if item.id == verdict.loop_id), None)
    return element(
        "section",
        element("h2", "The cost to recover" if resolved else "What stopping would have saved"),
        element("p", sentence, class_="statement"),
        element("p", f"{behind}.", class_="quiet", dir="auto")
        if behind and behind not in summary.reason
        else None,
        class_="callout" if resolved else f"callout {_tone(verdict.action)}",
    )


def _findings(summary: RunSummary) -> Markup:
    """Returns the part about findings, most expensive first, each with its evidence to open."""
    items = summary.findings
    if not items:
        return element("p", f"{wording.nothing_found(summary).capitalize()}.", class_="quiet")
    rows = [_finding(index, item, summary.spent) for index, item in enumerate(items[:_FINDINGS])]
    rest = rows[_FIRST:]
    first = joined(
        element("p", f"{in_order(items).capitalize()}.", class_="quiet") if len(items) > 1 else None,
        element("ol", *rows[:_FIRST], class_="findings"),
    )
    if not rest:
        return first
    omitted = len(items) - len(rows)
    more = element(
        "details",
        element("summary", f"{len(rest):,} more, each cheaper than these"),
        element("ol", *rest, class_="findings"),
        element("p", f"{omitted:,} are not shown.", class_="quiet") if omitted else None,
        class_="table",
    )
    return joined(first, more)


def _claims(summary: RunSummary) -> Markup:
    """Returns the claims of the last words in one line, and each with its answer to open."""
    headers = ("answer", "kind", "claim, and record")
    rows = [
        (check.answer.value, check.kind.value.replace("_", " "), claim_sentence(check))
        for check in summary.claims
    ]
    return joined(
        element("p", claims_line(summary.claims), class_="statement", dir="auto"),
        table("Each claim", headers, rows, words=headers),
    )


def _rounds_table(summary: RunSummary) -> Markup:
    """Returns a table of the numbers in the chart of the rounds."""
    visible = summary.rounds[-_ROUNDS:]
    title = "As a table" if len(visible) == len(summary.rounds) else f"As a table: the last {len(visible)}"
    return table(
        title,
        ("round", "event", "agent", "claims", "new", "novelty", "readiness", "signal"),
        [
            (
                str(item.number),
                f"{item.event:,}",
                item.agent or "",
                str(item.claims),
                str(item.new_claims),
                f"{item.novelty_rate:.2f}",
                f"{item.readiness:.2f}",
                f"{item.signal} ({_WENT.get(item.signal, '')})",
            )
            for item in visible
        ],
        words=("agent", "signal"),
    )


def _spending_table(cells: Sequence[Cell]) -> Markup:
    """Returns the numbers behind the chart of the spending, at so many places of the run."""
    last = len(cells) - 1
    places = sorted({round(index * last / (_SAMPLES - 1)) for index in range(_SAMPLES)}) if cells else []
    return table(
        "As a table",
        ("event", "cost so far", "tokens so far"),
        [
            (
                f"{cells[at].number:,}",
                money(cells[at].cost_usd),
                UNKNOWN if (tokens := cells[at].tokens) is None else f"{tokens:,}",
            )
            for at in places
        ],
    )


def _budget(limits: Sequence[Projection]) -> Markup | None:
    """Returns the place where each limit is reached, in a sentence."""
    lines = [element("p", _budget_sentence(item), class_="statement") for item in limits]
    return joined(*lines) if lines else None


def _budget_sentence(item: Projection) -> str:
    """Returns the place where a limit is reached, in a sentence."""
    if item.kind is LimitKind.COST_USD:
        limit, spending = money(item.limit), money(item.spent)
    else:
        limit, spending = (f"{amount:,.0f} tokens" for amount in (item.limit, item.spent))
    if item.passed_at is not None:
        return f"The limit of {limit} was reached at event {item.passed_at:,}; the run took {spending}."
    if item.ends_at is None:
        return f"{spending} of {limit} spent, and nothing more lately."
    when = "" if item.ends_in_s is None else f", in {duration(item.ends_in_s)}"
    end = f"event {item.ends_at:,}{when}"
    return f"{spending} of {limit} spent. At the latest rate, the limit is reached at about {end}."


def _decisions(summary: RunSummary) -> Markup:
    """Returns the part about decisions, and about sentences that only looked like one."""
    kept_items = [item for item in summary.decisions if item.kept]
    refused_items = [item for item in summary.decisions if not item.kept]
    omitted = summary.decisions_left_out
    if not summary.decisions:
        return element("p", "No sentence looks like a decision.", class_="quiet")
    rows = [_decision(item) for item in kept_items]
    parts: list[Markup | None] = [
        element("ul", *rows[:_FIRST], class_="decisions")
        if kept_items
        else element("p", "No decision was kept.", class_="quiet")
    ]
    if len(rows) > _FIRST:
        parts.append(
            element(
                "details",
                element("summary", f"{len(rows) - _FIRST:,} more"),
                element("ul", *rows[_FIRST:], class_="decisions"),
                class_="table",
            )
        )
    if refused_items:
        title = reasons(refused_items)
        parts.append(
            element(
                "details",
                element("summary", f"Noise: {len(refused_items):,} refused: {title}"),
                element(
                    "ul", *(_decision(item) for item in refused_items[:_REFUSED]), class_="decisions refused"
                ),
                class_="table",
            )
        )
    if omitted:
        parts.append(element("p", f"{omitted:,} more are not shown.", class_="quiet"))
    return joined(*parts)


def _faults(summary: RunSummary) -> Markup | None:
    """Returns the part about what could not be read; None if all could."""
    if not summary.degraded and not summary.faults:
        return None
    number = max(summary.degraded, len(summary.faults))
    return element(
        "details",
        element("summary", f"{count(number, 'event or line', 'events or lines')} not read in full"),
        element("ul", *(element("li", text, dir="auto") for text in summary.faults)),
        class_="table faults",
    )


def _source(source: str) -> Markup:
    """Returns the name of a file, and more quietly where it is."""
    head, separator, name = source.rpartition("/")
    folder = element("span", f"{head}{separator}", class_="folder") if head else None
    return element("span", folder, name, class_="source", dir="auto")


def _finding(index: int, item: RunFinding, whole: Spending) -> Markup:
    total = amounts(item.cost_usd, item.tokens, item.seconds)
    detail = [
        ("Kind", item.kind.replace("_", " ")),
        ("Conversation", item.chain_id),
        ("Calls", ", ".join(item.tools)),
        ("Counted", f"{item.copies:,}" if item.copies > 1 else ""),
        ("Found by", item.cause.value),
        ("Id", item.id),
    ]
    return element(
        "li",
        element(
            "details",
            element(
                "summary",
                element("span", item.action.value, class_=f"badge small {_tone(item.action)}"),
                element("span", item.sentence, class_="sentence", dir="auto"),
                element(
                    "span",
                    where(item, whole),
                    element("b", total) if total else None,
                    class_="where",
                ),
            ),
            element("p", item.advice, class_="advice", dir="auto") if item.advice else None,
            _evidence(item.evidence),
            element(
                "dl",
                *(_pair(name, text) for name, text in detail if text),
                class_="facts",
            ),
            element("button", "Show it on the timeline", type="button", class_="locate", data_finding=index),
        ),
    )


def _evidence(text: str) -> Markup | None:
    return element("pre", text, dir="auto", tabindex="0", aria_label="Evidence") if text else None


def _pair(name: str, text: str) -> Markup:
    return joined(element("dt", name), element("dd", text, dir="auto"))


def _decision(item: RunDecision) -> Markup:
    speaker = item.agent or ("user" if item.by_person else None)
    notes = [f"event {item.event:,}", *([speaker] if speaker else [])]
    if item.duplicate_of is not None:
        notes.append(f"repeats event {item.duplicate_of:,}")
    elif item.reason:
        notes.append(item.reason)
    notes += [f"accepted at event {item.accepted:,}"] if item.accepted is not None else []
    notes += [f"carried out at event {item.carried_out:,}"] if item.carried_out is not None else []
    notes += [f"may reverse event {item.supersedes:,}"] if item.supersedes is not None else []
    return element(
        "li",
        element("span", item.text, dir="auto", class_="text"),
        element("span", " \N{MIDDLE DOT} ".join(notes), class_="note", dir="auto"),
    )
