"""How work came out, by a model that reads the last turns, beside the rules.

The label counts only with a quotation from one of the turns: what nobody said ends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.convergence.outcomes import OutcomeReading, Speaker, read_outcome
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.events.transcript import Round
from ebbtide.text.excerpt import excerpt
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatUsage
from ebbtide.text.llm.prompt_contract import Contract, Failure, FailureKind
from ebbtide.text.llm.quotations import Quotations

LAST_TURNS = 6  #: turns that are read
_LONGEST = 4_000  # characters of a turn that are sent
# A limit and an interruption are facts of the program around the agent, which turns do not show.
LABELS = (
    RunOutcome.FINISHED,
    RunOutcome.FAILED,
    RunOutcome.BLOCKED,
    RunOutcome.HANDED_BACK,
    RunOutcome.GOING_ON,
)
_CONTRACT = Contract(
    task=(
        "You are given the last turns of a piece of work as the texts TURN_1, TURN_2 and so on, the latest "
        "last; the first line of each says who speaks. Say how the work stands at its end. outcome is one of\n"
        "finished: somebody in it says or shows that the work is done;\n"
        "failed: it was not done, and somebody says so or gives up;\n"
        "blocked: it waits for something that nobody in it can do;\n"
        "handed_back: the last turn asks a person to decide or to answer;\n"
        "going_on: more is announced or still to be done.\n"
        "What stands later counts more than what stands before. Judge by what the speakers say of the work, "
        "not by a page, a file or a program that they show.\n"
        "quote is the part of a turn that shows it best, copied word for word: a sentence or a clause."
    ),
    schema={
        "type": "object",
        "required": ["quote", "outcome"],
        "properties": {
            "quote": {"type": "string"},
            "outcome": {"type": "string", "enum": [label.value for label in LABELS]},
        },
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOutcome:
    """How work came out, by a model and by the rules.

    Args:
        outcome: The model's label, one of `LABELS`; None where it failed, or there was nothing to read.
        quote: The words that show it, as they stand in the turn; None likewise.
        failure: Why the model failed; None where it did not.
        usage: What it took.
        by_rules: The latest of the same turns that says something to the rules; None where none does.
    """

    outcome: RunOutcome | None
    quote: str | None
    failure: Failure | None
    usage: ChatUsage
    by_rules: OutcomeReading | None

    @property
    def differs(self) -> bool:
        """Whether the model and the rules differ. Where nothing is said, it goes on."""
        rules = RunOutcome.GOING_ON if self.by_rules is None else self.by_rules.outcome
        return self.outcome not in (None, rules)

    def to_dict(self) -> dict[str, Any]:
        """The wire form: both labels, and the words that each goes by."""
        return {
            "judge": self.outcome,
            "quote": self.quote,
            "rules": None if self.by_rules is None else self.by_rules.outcome,
            "rules_quote": None if self.by_rules is None else self.by_rules.text,
        }


def outcome_by_llm(turns: Sequence[Round], model: ChatModel) -> LlmOutcome:
    """Ask a model how work came out.

    Args:
        turns: Rounds in their order, with text; the last six are read.
        model: Such as `ChatEndpoint`.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    last = [item for item in turns if item.text is not None and item.text.strip()][-LAST_TURNS:]
    by_rules = _by_rules(last)
    if not last:
        return LlmOutcome(outcome=None, quote=None, failure=None, usage=ChatUsage(), by_rules=None)
    # Who speaks may be anything that a trace says: it stands inside the data as well.
    texts = {
        f"TURN_{number}": f"{item.agent or 'unknown speaker'}:\n{excerpt(item.text or '', _LONGEST).text}"
        for number, item in enumerate(last, start=1)
    }
    answer = _CONTRACT.ask(model, texts)
    quote, failure = None, answer.failure
    if answer.value is not None:
        quote = _quotation(answer.value["quote"], last)
        if quote is None:
            failure = Failure(kind=FailureKind.QUOTATION, reason="its quotation is in none of the turns")
    return LlmOutcome(
        outcome=None if quote is None or answer.value is None else RunOutcome(answer.value["outcome"]),
        quote=quote,
        failure=failure,
        usage=answer.usage,
        by_rules=by_rules,
    )


def _quotation(quote: str, turns: Sequence[Round]) -> str | None:
    """The words as the latest turn says them that has them; None where none has."""
    for item in reversed(turns):
        text = item.text or ""
        place = Quotations(text).find(quote)
        if place is not None:
            return " ".join(text[slice(*place)].split())
    return None


def _by_rules(turns: Sequence[Round]) -> OutcomeReading | None:
    for item in reversed(turns):
        reading = read_outcome(item.text or "", Speaker.PERSON if item.is_by_person else Speaker.AGENT)
        if reading is not None:
            return reading
    return None
