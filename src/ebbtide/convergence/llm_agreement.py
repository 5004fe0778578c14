"""Modify, endorse or rephrase, by a model: for afterwards, where a call for each round can be afforded.

Source: rubric, section 5 (clause B04).
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.convergence.agreement import Agreement
from ebbtide.events.transcript import Round
from ebbtide.text.excerpt import excerpt
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatUsage
from ebbtide.text.llm.prompt_contract import Contract, Failure

_LONGEST = 12_000  # characters of a round that are sent: both take some 6,000 tokens
_CONTRACT = Contract(
    task=(
        "You are given two consecutive rounds of a conversation as the texts BEFORE and AFTER. Say what "
        "AFTER does with BEFORE. agreement is one of\n"
        "modify: it changes, corrects, contradicts or replaces something, or adds something of substance;\n"
        "endorse: it agrees, with small additions at most;\n"
        "rephrase: it says the same again in other words.\n"
        "reason is one short sentence that says why."
    ),
    schema={
        "type": "object",
        "required": ["reason", "agreement"],
        "properties": {
            "reason": {"type": "string"},
            "agreement": {"type": "string", "enum": [label.value for label in Agreement]},
        },
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmAgreement:
    """What a model makes of a round.

    Args:
        agreement: What the round does with the one before; None where the model failed.
        reason: Why, in the words of the model; None likewise.
        failure: Why the model failed; None where it did not.
        usage: What the model took.
    """

    agreement: Agreement | None
    reason: str | None
    failure: Failure | None
    usage: ChatUsage


def agreement_by_llm(before: Round, after: Round, model: ChatModel) -> LlmAgreement:
    """Ask a model what `after` does with `before`.

    Args:
        before: A round.
        after: The next one, or the next agent's.
        model: Such as `ChatEndpoint`.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    answer = _CONTRACT.ask(model, {"BEFORE": _content(before), "AFTER": _content(after)})
    value = answer.value
    return LlmAgreement(
        agreement=None if value is None else Agreement(value["agreement"]),
        reason=None if value is None else value["reason"],
        failure=answer.failure,
        usage=answer.usage,
    )


def _content(item: Round) -> str:
    """What a round says: its text, or else what it lists; of much of it the beginning and the end."""
    text = item.text
    if text is None:
        stated = dict.fromkeys((*item.claims, *item.decisions, *item.open_questions, *item.next_actions))
        text = "\n".join((*stated, *filter(None, [item.summary])))
    return excerpt(text, _LONGEST).text
