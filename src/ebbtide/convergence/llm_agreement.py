"""Modification, endorsement or rephrasing, by a model.

For afterwards, if a call for each round is affordable.

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
    """Effect of a round, as a model reads it.

    Args:
        agreement: Effect of the round on the one before; None if the model failed.
        reason: Reason in the words of the model; None if it failed.
        failure: Reason why the model failed; None if it did not.
        usage: Usage of the model.
    """

    agreement: Agreement | None
    reason: str | None
    failure: Failure | None
    usage: ChatUsage


def agreement_by_llm(before: Round, after: Round, model: ChatModel) -> LlmAgreement:
    """Asks a model what `after` does with `before`.

    Args:
        after: The next one, or the next agent's.
        model: A model, such as `ChatEndpoint`.

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
    """Returns the content of a round.

    Its text, or else what it lists; of much of it the beginning and the end.
    """
    text = item.text
    if text is None:
        stated = dict.fromkeys((*item.claims, *item.decisions, *item.open_questions, *item.next_actions))
        text = "\n".join((*stated, *filter(None, [item.summary])))
    return excerpt(text, _LONGEST).text
