"""The outcome of a run, in sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ebbtide.budget.tally import dollars
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.ending import NO_ANSWER, EndKind, RunEnding
from ebbtide.supervision.summary.run_facts import Coverage
from ebbtide.supervision.summary.run_summary import RunFinding, Spending
from ebbtide.supervision.verdict import Verdict

_MINUTE = 60
_NAMED = 2  # stretches of a finding that are named
_MANY = 10  # refused calls
#: What the limit of an account is called, which no run can raise.
_ACCOUNT = re.compile(
    r"\b(?:extra usage|usage limit|quota|credit balance|out of credits?|(?:5-hour|weekly|monthly) limit)\b",
    re.IGNORECASE,
)


def unit(spent: Spending) -> str:
    """Returns the word for the events of a run: calls, where there is nothing else."""
    return "calls" if spent.events == spent.tool_calls else "events"


def place(finding: RunFinding, events: str = "events") -> str:
    """Returns the place of a finding: "events 31-52", "events 7-9 and 21-64", "events 10-90, in 5 parts"."""
    if len(finding.parts) == _NAMED:
        return f"{events} {' and '.join(f'{part.first:,}-{part.last:,}' for part in finding.parts)}"
    if finding.parts:
        whole = f"{finding.first_event:,}-{finding.last_event:,}"
        return f"{events} {whole}, in {len(finding.parts):,} parts"
    if finding.first_event == finding.last_event:
        return f"{events.removesuffix('s')} {finding.first_event:,}"
    return f"{events} {finding.first_event:,}-{finding.last_event:,}"


def price(cost_usd: float | None, tokens: int | None) -> str:
    """Returns the cost of something: money where it is known, else tokens, else nothing.

    >>> price(1.84, 9000), price(None, 9000), price(0.004, None), price(None, None)
    ('$1.84', '9,000 tokens', '$0.004', '')
    """
    if cost_usd is not None:
        return dollars(cost_usd)
    return "" if tokens is None else f"{tokens:,} token{'s' * (tokens != 1)}"


def came_back(sentence: str, returns: int) -> str:
    """A finding that ended and came back.

    >>> came_back("2 rounds in a row brought nothing new", 237)
    '2 rounds in a row brought nothing new; it came back 237 times'
    """
    times = "once" if returns == 1 else f"{returns:,} times"
    return f"{sentence}; it came back {times}" if returns else sentence


_PERSON_SAYS = {
    EndKind.FINISHED: "A person accepted it",
    EndKind.FAILED: "A person says that it did not work",
    EndKind.CUT_OFF: "A person stopped it",
}
_SAYS = {
    EndKind.FINISHED: "It says that it is finished",
    EndKind.HANDED_BACK: "It asks a person",
    EndKind.CUT_OFF: "It stops in the middle of work",
    EndKind.BLOCKED: "It says that it is blocked",
    EndKind.FAILED: "It says that it failed",
    EndKind.LIMIT: "A limit ended it",
}
_CALLS = {
    EndKind.FINISHED: "It returned its result by calling {}.",
    EndKind.HANDED_BACK: "It turned to a person by calling {}.",
    EndKind.FAILED: "It gave up by calling {}.",
    EndKind.CUT_OFF: "It stops after calling {}.",
}


def ended(ending: RunEnding, *, refused: int = 0) -> str | None:
    """Returns a sentence on how a run ended, with the words that say so; None where nothing does.

    Args:
        refused: Calls that a person or a rule of the harness did not allow. Where they are many, a run that
            did not come to an answer is counted with them.

    >>> ended(RunEnding(ending=EndKind.FAILED, rule="failed.unable", text="I was unable to log in."))
    'It says that it failed: “I was unable to log in.”'
    >>> ended(RunEnding(ending=EndKind.LIMIT, rule="limit.out-of", text="Out of extra usage"), refused=81)
    '81 calls were refused; the account limit ended it: “Out of extra usage”'
    """
    how = ending.ending
    sentence = None if how is EndKind.UNKNOWN else _ended(ending)
    if sentence is None or refused < _MANY or how in (EndKind.FINISHED, EndKind.HANDED_BACK):
        return sentence
    return f"{refused:,} calls were refused; {sentence[0].lower()}{sentence[1:]}"


def _ended(ending: RunEnding) -> str:
    how, text = ending.ending, ending.text
    match ending.rule:
        case "call" if text == NO_ANSWER:
            return "It stops at a call that got no result."
        case "call" | "tool":
            return _CALLS.get(how, _SAYS[how] + " by calling {}.").format(text)
        case "answer":
            sentence = "It ended with an answer"
        case "unanswered":
            sentence = "Nobody answered a person"
        case "notice":
            sentence = "The harness reported an error"
        case "empty":
            return "Its last message is empty."
        case "summary":
            return "It wrote the summary for a compaction."
        case "stopped":
            return "Its last turn ended, and its final message was not recorded."
        case "error" | "notice" if ending.attempts > 1:
            sentence = f"{ending.attempts:,} model calls{_within(ending.attempts_s)}, and none succeeded"
        case "error":
            sentence = "Its last model call failed"
        case "length":
            sentence = "The output limit cut its last message"
        case "finished.person-ends":
            sentence = "A person ended it"
        case rule if rule.startswith("limit.") and _ACCOUNT.search(text) is not None:
            sentence = "The account limit ended it"
        case rule if ending.by_person or rule.startswith("interrupted."):
            sentence = _PERSON_SAYS.get(how, _SAYS[how])
        case _:
            sentence = _SAYS[how]
    return f"{sentence}: \u201c{text}\u201d" if text else f"{sentence}."


def _within(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f" in {seconds / _MINUTE:.0f} min" if seconds >= _MINUTE else f" in {seconds:.0f} s"


def so_far(ending: RunEnding) -> str | None:
    """Returns a sentence on the latest words of a run that is not over; None where they say nothing.

    >>> so_far(RunEnding(ending=EndKind.FINISHED, rule="answer", text="Paris."))
    'It gave an answer: “Paris.”'
    """
    if ending.ending is EndKind.CUT_OFF and not ending.by_person:
        return None
    if ending.rule == "answer":
        return f"It gave an answer: \u201c{ending.text}\u201d"
    return ended(ending)


def unrecorded(coverage: Coverage) -> str | None:
    """Returns what was not recorded of a run, and what cannot be judged for that; None where it is enough.

    >>> unrecorded(Coverage(tool_calls=24, without_arguments=24))
    'Arguments were not recorded for 24 of 24 calls, so loops cannot be judged.'
    """
    calls = f"{coverage.tool_calls:,} call{'s' * (coverage.tool_calls != 1)}"
    if coverage.lacks_arguments:
        number = coverage.without_arguments
        return f"Arguments were not recorded for {number:,} of {calls}, so loops cannot be judged."
    if coverage.lacks_answers:
        missing, opaque = coverage.without_answer, coverage.opaque_answers
        if opaque > missing:
            what = f"The results of {opaque:,} of {calls} are objects without a readable value"
        else:
            what = f"Results were not recorded for {missing:,} of {calls}"
        return f"{what}, so a repeated call proves no loop."
    if coverage.lacks_words:
        calls = f"{coverage.without_text:,} of {coverage.model_calls:,} model calls"
        return f"What the model wrote was not recorded for {calls}, so the conversation cannot be judged."
    return None


def run_reason(
    highest: Verdict,
    findings: Sequence[RunFinding],
    spent: Spending,
    coverage: Coverage,
    ending: EndKind = EndKind.UNKNOWN,
) -> str:
    """Why a run has its headline, in one sentence.

    Args:
        highest: The highest verdict that the run came to.
        coverage: How much of it was recorded.
        ending: How it ended, which the reason does not deny.
    """
    if highest.action is Action.ALLOW:
        return unrecorded(coverage) or _all_clear(spent, ending)
    behind = next(
        (
            finding
            for finding in findings
            if finding.id == highest.loop_id and finding.chain_id == (highest.chain_id or "")
        ),
        None,
    )
    if behind is None:
        return highest.reason if highest.cause is Cause.DIVERGENCE else capitalised(highest.reason)
    cost = price(behind.cost_usd, behind.tokens)
    size = f" ({place(behind, unit(spent))}{', ' if cost else ''}{cost})"
    # A sentence that begins with the name of a tool keeps it as the agent knows it.
    sentence = behind.sentence if behind.tools else capitalised(behind.sentence)
    return f"{sentence}{size}."


def capitalised(sentence: str) -> str:
    """Returns a sentence with a capital letter at its start.

    >>> capitalised("token limit exceeded (960 of 10)")
    'Token limit exceeded (960 of 10)'
    """
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _all_clear(spent: Spending, ending: EndKind) -> str:
    if not spent.events:
        return "There are no events."
    number = f"{spent.events:,} {unit(spent)}" if spent.events != 1 else "One event"
    return f"{number}: no loop{'' if ending is EndKind.LIMIT else ', and no limit passed'}."
