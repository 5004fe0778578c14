"""Claims, decisions, open questions and next actions of one raw turn, by a model.

What the model says is taken only as far as the turn says it: every item must be a quotation. So a model that
invents, or does what a turn tells it, cannot put words into a conversation; it can still leave some out.

Source: rubric, v0.2 upgrades (clause B06).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ebbtide.text.excerpt import excerpt
from ebbtide.text.extraction.sentences import plain
from ebbtide.text.extraction.turn import ExtractedItem, Extraction, ItemKind, extract
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatUsage
from ebbtide.text.llm.prompt_contract import Contract, Failure, FailureKind
from ebbtide.text.llm.quotations import Quotations

_LONGEST = 24_000  # characters of a turn that are sent: some 6,000 tokens, which small contexts hold
_CONTRACT = Contract(
    task=(
        "You are given one turn of a conversation as the text TURN. List what it says about its subject, in "
        "its order. Leave out greetings, thanks, and announcements of what the speaker is about to do.\n"
        "kind is one of\n"
        "claim: a statement about the subject;\n"
        "decision: something that is settled in this turn;\n"
        "open_question: something that is asked, or said to be unknown;\n"
        "next_action: something that somebody is to do.\n"
        "quote is the part of TURN that says it, copied word for word: a sentence, or a clause that can "
        "stand alone. Quote nothing twice."
    ),
    schema={
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["kind", "quote"],
                    "properties": {
                        "kind": {"type": "string", "enum": [kind.value for kind in ItemKind]},
                        "quote": {"type": "string"},
                    },
                },
            }
        },
    },
)
_RULES = {
    ItemKind.CLAIM: "claim.llm",
    ItemKind.DECISION: "decision.llm",
    ItemKind.OPEN_QUESTION: "question.llm",
    ItemKind.NEXT_ACTION: "action.llm",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmExtraction(Extraction):
    """The items in a turn, read by a model, or by the rules where that failed.

    Args:
        dropped: What the model quoted and the turn does not say.
        failure: Why the rules read it; None where the model did.
        usage: What the model took, also where it failed.
    """

    dropped: tuple[str, ...] = ()
    failure: Failure | None = None
    usage: ChatUsage


def extract_with_llm(text: str, model: ChatModel) -> LlmExtraction:
    """Read one turn by a model.

    Args:
        text: The turn; an empty one is not sent, and of a long one the beginning and the end.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    if not text.strip():
        return LlmExtraction(usage=ChatUsage())
    sent_text = excerpt(text, _LONGEST)
    answer = _CONTRACT.ask(model, {"TURN": sent_text.text})
    if answer.value is None:
        return _by_rules(text, answer.failure, answer.usage)
    items: dict[tuple[int, int, ItemKind], ExtractedItem] = {}
    dropped: list[str] = []
    turn = Quotations(text)
    for entry in answer.value["items"]:
        place = turn.find(entry["quote"])
        if place is None:
            dropped.append(entry["quote"])
            continue
        for item in _items(text, place, ItemKind(entry["kind"])):
            items.setdefault((*place, item.kind), item)
    if dropped and not items:
        reason = f"none of its {len(dropped)} quotations is in the turn"
        failure = Failure(kind=FailureKind.QUOTATION, reason=reason)
        return _by_rules(text, failure, answer.usage, dropped)
    ordered = tuple(items[key] for key in sorted(items, key=lambda key: key[:2]))
    return LlmExtraction(
        items=ordered, dropped=tuple(dropped), left_out=sent_text.left_out, usage=answer.usage
    )


def _items(text: str, place: tuple[int, int], kind: ItemKind) -> Iterator[ExtractedItem]:
    """The item, and the claim that a decision or a next action is as well."""
    start, end = place
    quote = " ".join(plain(text[start:end]).split())
    kinds = [kind] if kind in (ItemKind.CLAIM, ItemKind.OPEN_QUESTION) else [kind, ItemKind.CLAIM]
    for each in kinds:
        yield ExtractedItem(kind=each, text=quote, sentence=quote, rule=_RULES[kind], start=start, end=end)


def _by_rules(
    text: str, failure: Failure | None, usage: ChatUsage, dropped: Sequence[str] = ()
) -> LlmExtraction:
    extraction = extract(text)
    return LlmExtraction(
        items=extraction.items,
        set_aside=extraction.set_aside,
        left_out=extraction.left_out,
        dropped=tuple(dropped),
        failure=failure,
        usage=usage,
    )
