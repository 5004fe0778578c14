"""Whole conversations read by a model: what each round says, and what it does with the one before.

The rules read every round as well. They stand in if the model fails, and each difference of the two is
reported: neither of them is the truth.

Source: rubric, v0.2 upgrades (clause B06) and section 5 (clause B04).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from ebbtide.codec import Record
from ebbtide.convergence.agreement import Agreement
from ebbtide.events.transcript import LISTS, Round
from ebbtide.text.excerpt import excerpt
from ebbtide.text.extraction.turn import Extraction, ItemKind
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatUsage
from ebbtide.text.llm.concurrent_questions import ask_all
from ebbtide.text.llm.extraction import LlmExtraction, extract_with_llm
from ebbtide.text.llm.prompt_contract import Contract, Failure


class JudgedSubject(StrEnum):
    """Subjects that a model and the rules may read differently."""

    DECISIONS = "decisions"
    OPEN_QUESTIONS = "open questions"
    NEXT_ACTIONS = "next actions"
    AGREEMENT = "agreement"  #: modify, endorse or rephrase
    SIGNAL = "signal"  #: what to do after the round, by what each of them read
    OUTCOME = "outcome"  #: how the work came out, after the last round


# No claims: where one sentence is cut into two, there is no disagreement about what was said.
_COMPARED = {
    ItemKind.DECISION: JudgedSubject.DECISIONS,
    ItemKind.OPEN_QUESTION: JudgedSubject.OPEN_QUESTIONS,
    ItemKind.NEXT_ACTION: JudgedSubject.NEXT_ACTIONS,
}
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
    """

    agreement: Agreement | None
    reason: str | None
    failure: Failure | None
    usage: ChatUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement(Record):
    """Difference between a model and the rules in a round.

    Args:
        judge: The model's label, or the texts that only the model takes for one.
        rules: The label of the rules, or the texts that only the rules take for one.
    """

    round: int
    about: JudgedSubject
    judge: tuple[str, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRound:
    """A round as a model reads it, beside the rules.

    Args:
        item: The round with what the model extracted; as it came where the model failed, or was not asked.
        by_rules: The round as it came.
        extraction: Extraction of its text by the model; None for a round that lists its claims itself.
        rules: Extraction of its text by the rules; None for a round that lists its claims itself.
        agreement: Effect on the round before, by the model; None if that was not asked.
    """

    item: Round
    by_rules: Round
    extraction: LlmExtraction | None
    rules: Extraction | None
    agreement: LlmAgreement | None

    @property
    def failures(self) -> dict[str, Failure]:
        """Reasons why the rules stand in, by the question."""
        answers = {"extraction": self.extraction, "agreement": self.agreement}
        return {name: item.failure for name, item in answers.items() if item and item.failure}

    @property
    def reading(self) -> Extraction | None:
        """Items of its text that count: those of the model, or those of the rules if that failed."""
        extraction = self.extraction
        return self.rules if extraction is None or extraction.failure else extraction

    @property
    def usage(self) -> ChatUsage:
        """Usage of the questions about it."""
        answers = (self.extraction, self.agreement)
        return sum((item.usage for item in answers if item is not None), ChatUsage())

    def to_dict(self) -> dict[str, Any]:
        """Returns the readings of both in the wire form, and null for what one of them does not read."""
        wire: dict[str, Any] = {"round": self.item.number}
        if self.extraction is not None and self.rules is not None:
            wire["extraction"] = {
                "judge": None if self.extraction.failure else _lists(self.extraction),
                "rules": _lists(self.rules),
                "dropped": list(self.extraction.dropped),
            }
        if self.agreement is not None:
            wire["agreement"] = {"judge": self.agreement.agreement, "reason": self.agreement.reason}
        return wire

    def disagreements(self) -> Iterator[Disagreement]:
        """Yields what the model and the rules extract differently; nothing if the model failed.

        Two items are one where they are of one kind, and their places in the text overlap.
        """
        if self.extraction is None or self.rules is None or self.extraction.failure is not None:
            return
        for kind, subject in _COMPARED.items():
            judge = _unmatched(self.extraction, self.rules, kind)
            rules = _unmatched(self.rules, self.extraction, kind)
            if judge or rules:
                yield Disagreement(round=self.item.number, about=subject, judge=judge, rules=rules)


def judge_rounds(
    rounds: Sequence[Round],
    model: ChatModel,
    *,
    agreements: bool = True,
    advance: Callable[[], object] | None = None,
) -> tuple[JudgedRound, ...]:
    """Asks a model about each round of a conversation.

    Args:
        rounds: Rounds in their order.
        model: A model, such as `ChatEndpoint`, which threads may share.
        agreements: True to ask what each round does with the one before, too.
        advance: Called after each round.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    befores = [None, *rounds] if agreements else [None] * len(rounds)
    questions = [partial(_judge, item, before, model) for item, before in zip(rounds, befores, strict=False)]
    return tuple(ask_all(questions, advance=advance))


def agreement_by_llm(before: Round, after: Round, model: ChatModel) -> LlmAgreement:
    """Asks a model what `after` does with `before`.

    Args:
        after: The next one, or the next agent's.

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


def is_raw(item: Round) -> bool:
    """Returns True if the rules read the lists of a round out of its text; else its author wrote them."""
    if item.text is None:
        return False
    if "agents" in item.extra:
        return True
    extraction = item.extraction()
    return item.claims == extraction.claims and item.next_actions == extraction.next_actions


def _judge(item: Round, before: Round | None, model: ChatModel) -> JudgedRound:
    extraction = extract_with_llm(item.text or "", model) if is_raw(item) else None
    return JudgedRound(
        item=item if extraction is None or extraction.failure else item.with_lists(extraction),
        by_rules=item,
        extraction=extraction,
        rules=None if extraction is None else item.extraction(),
        agreement=None if before is None else agreement_by_llm(before, item, model),
    )


def _lists(extraction: Extraction) -> dict[str, list[str]]:
    return {name: list(getattr(extraction, name)) for name in LISTS}


def _unmatched(some: Extraction, others: Extraction, kind: ItemKind) -> tuple[str, ...]:
    places = [(item.start, item.end) for item in others.items if item.kind is kind]
    return tuple(
        item.text
        for item in some.items
        if item.kind is kind and not any(item.start < end and start < item.end for start, end in places)
    )
