"""Whole conversations read by a model: what each round says, and what it does with the one before.

The rules read every round as well. They stand in where the model fails, and where the two differ that is
told: neither of them is the truth.

Source: rubric, v0.2 upgrades (clause B06) and section 5 (clause B04).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from ebbtide.convergence.llm_agreement import LlmAgreement, agreement_by_llm
from ebbtide.events.transcript import Round
from ebbtide.text.extraction.turn import Extraction, ItemKind, extract
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatUsage
from ebbtide.text.llm.extraction import LlmExtraction, extract_with_llm
from ebbtide.text.llm.prompt_contract import Failure

_AT_ONCE = 4  # questions under way: what small servers bear


class JudgedSubject(StrEnum):
    """What a model and the rules may read differently."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """What a model and the rules read differently in a round.

    Args:
        round: The round.
        subject: What they differ about.
        judge: The model's label, or the texts that only the model takes for one.
        rules: Likewise those of the rules.
    """

    round: int
    subject: JudgedSubject
    judge: tuple[str, ...]
    rules: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "round": self.round,
            "about": self.subject.value,
            "judge": list(self.judge),
            "rules": list(self.rules),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRound:
    """A round as a model reads it, beside the rules.

    Args:
        item: The round with what the model extracted; as it came where the model failed, or was not asked.
        by_rules: The round as it came.
        extraction: What the model made of its text; None for a round that lists its claims itself.
        rules: What the rules make of its text; None likewise.
        agreement: What it does with the round before, by the model; None where that was not asked.
    """

    item: Round
    by_rules: Round
    extraction: LlmExtraction | None
    rules: Extraction | None
    agreement: LlmAgreement | None

    @property
    def failures(self) -> dict[str, Failure]:
        """Why the rules stand in, by the question."""
        answers = {"extraction": self.extraction, "agreement": self.agreement}
        return {name: item.failure for name, item in answers.items() if item and item.failure}

    @property
    def usage(self) -> ChatUsage:
        """What the questions about it took."""
        answers = (self.extraction, self.agreement)
        return sum((item.usage for item in answers if item is not None), ChatUsage())

    def to_dict(self) -> dict[str, Any]:
        """The wire form: what each of them reads, and null where it does not."""
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
        """What the model and the rules extract differently; nothing where the model failed.

        Two items are one where they are of one kind, and their places in the text overlap.
        """
        if self.extraction is None or self.rules is None or self.extraction.failure is not None:
            return
        for kind, subject in _COMPARED.items():
            judge = _unmatched(self.extraction, self.rules, kind)
            rules = _unmatched(self.rules, self.extraction, kind)
            if judge or rules:
                yield Disagreement(round=self.item.number, subject=subject, judge=judge, rules=rules)


def judge_rounds(
    rounds: Sequence[Round],
    model: ChatModel,
    *,
    agreements: bool = True,
    at_once: int = _AT_ONCE,
    advance: Callable[[], object] | None = None,
) -> tuple[JudgedRound, ...]:
    """Ask a model about each round of a conversation.

    Args:
        rounds: In their order.
        model: Such as `ChatEndpoint`, which threads may share.
        agreements: Whether to ask what each round does with the one before, too.
        at_once: Questions under way at a time, 1 or more.
        advance: Called after each question, in any thread.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    with ThreadPoolExecutor(max_workers=at_once) as pool:

        def ask(question: Callable[..., Any], *about: Any) -> Future[Any]:
            future = pool.submit(question, *about, model)
            if advance is not None:
                future.add_done_callback(lambda _: advance())
            return future

        extractions = [ask(extract_with_llm, item.text) if is_raw(item) else None for item in rounds]
        pairs = [ask(agreement_by_llm, *pair) if agreements else None for pair in pairwise(rounds)]
        try:
            return tuple(
                _judged(
                    item,
                    None if extraction is None else extraction.result(),
                    None if agreement is None else agreement.result(),
                )
                for item, extraction, agreement in zip(rounds, extractions, [None, *pairs], strict=False)
            )
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def questions_about(rounds: Sequence[Round], *, agreements: bool = True) -> int:
    """How many questions `judge_rounds` asks."""
    return sum(map(is_raw, rounds)) + (max(len(rounds) - 1, 0) if agreements else 0)


def is_raw(item: Round) -> bool:
    """Whether the rules read the lists of a round out of its text; else its author wrote them."""
    if item.text is None:
        return False
    if "agents" in item.extra:
        return True
    extraction = extract(item.text)
    return item.claims == extraction.claims and item.next_actions == extraction.next_actions


def _judged(item: Round, extraction: LlmExtraction | None, agreement: LlmAgreement | None) -> JudgedRound:
    judged_item = item
    if extraction is not None and extraction.failure is None:
        judged_item = dataclasses.replace(
            item,
            claims=extraction.claims,
            decisions=extraction.decisions,
            open_questions=extraction.open_questions,
            next_actions=extraction.next_actions,
            left_out=extraction.left_out,
        )
    return JudgedRound(
        item=judged_item,
        by_rules=item,
        extraction=extraction,
        rules=extract(item.text) if extraction is not None and item.text is not None else None,
        agreement=agreement,
    )


def _lists(extraction: Extraction) -> dict[str, list[str]]:
    return {
        "claims": list(extraction.claims),
        "decisions": list(extraction.decisions),
        "open_questions": list(extraction.open_questions),
        "next_actions": list(extraction.next_actions),
    }


def _unmatched(some: Extraction, others: Extraction, kind: ItemKind) -> tuple[str, ...]:
    places = [(item.start, item.end) for item in others.items if item.kind is kind]
    return tuple(
        item.text
        for item in some.items
        if item.kind is kind and not any(item.start < end and start < item.end for start, end in places)
    )
