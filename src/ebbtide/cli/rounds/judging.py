"""`--judge URL#MODEL`: a chat model that is asked beside the rules, its bill, and where the two differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ebbtide.budget.prices import Prices
from ebbtide.cli.table import Table, more_rows
from ebbtide.cli.terminal import Line, plain
from ebbtide.codec import Record
from ebbtide.convergence.llm_outcome import LlmOutcome
from ebbtide.convergence.llm_rounds import Disagreement, JudgedRound
from ebbtide.convergence.llm_score import JudgedScore
from ebbtide.errors import ConfigError
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.events.usage import Usage
from ebbtide.report.plurals import count
from ebbtide.report.wording import money
from ebbtide.text.llm.chat_endpoint import ChatEndpoint, ChatModel, ChatUsage, CircuitBreaker
from ebbtide.text.llm.prompt_contract import Failure, FailureKind

_ROWS = 12
_CELL = 26
_REASON = 200
QUOTE = 80  #: characters of a quotation that are shown


def open_judge(spec: str, prices: Prices) -> ChatModel:
    """The model that an option names as ``URL#MODEL``, with ``openai:`` before it or not.

    Raises:
        ConfigError: It names no model.
        SemanticError: A library is missing.
    """
    url, _, name = spec.removeprefix("openai:").partition("#")
    if not url or not name:
        raise ConfigError(f"--judge {spec!r}: expected URL#MODEL, such as http://localhost:11434/v1#llama3")

    def price(answer: Any) -> float | None:
        usage = Usage.of(answer, model=name)
        return None if usage is None else prices.cost(usage)

    return CircuitBreaker(ChatEndpoint(url, name, price=price))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBill(Record):
    """The cost of asking a model, apart from that of the run, and the answers that could not be used.

    Args:
        model: The model that was asked.
        usage: What the replies took.
        failures: Why the rules stand in, one an answer.
    """

    _WIRE: ClassVar = """
        model replies=usage.replies questions_without_reply=unanswered
        input_tokens=usage.input_tokens output_tokens=usage.output_tokens cost_usd=usage.cost_usd
    """

    model: str
    usage: ChatUsage
    failures: tuple[Failure, ...]

    @classmethod
    def of(cls, model: str, rounds: Sequence[JudgedRound], outcomes: Sequence[LlmOutcome]) -> JudgeBill:
        """The bill for questions about rounds, and about how work came out."""
        failures = [failure for item in rounds for failure in item.failures.values()]
        usages = [*(item.usage for item in rounds), *(item.usage for item in outcomes)]
        return cls(
            model=model,
            usage=sum(usages, ChatUsage()),
            failures=(*failures, *(item.failure for item in outcomes if item.failure is not None)),
        )

    @property
    def unanswered(self) -> int:
        """Questions without a reply. Whether they cost anything is not known."""
        return sum(failure.kind is FailureKind.ENDPOINT for failure in self.failures)

    def lines(self, width: int) -> list[Line]:
        """Returns the lines for a person."""
        usage = self.usage
        hint = " (add its price with --prices FILE)" if usage.cost_usd is None else ""
        amounts = [f"cost {money(usage.cost_usd)}{hint}", count(usage.replies, "reply", "replies")]
        if usage.input_tokens is None or usage.output_tokens is None:
            amounts.append("tokens unknown")
        else:
            total = count(usage.input_tokens + usage.output_tokens, "token")
            amounts.append(f"{total} ({usage.input_tokens:,} in, {usage.output_tokens:,} out)")
        if self.unanswered:
            amounts.append(f"{count(self.unanswered, 'question')} without a reply")
        lines = [Line(f"Asking the judge: {', '.join(amounts)}. This is not part of the cost of the run.")]
        if self.failures:
            times = f"{count(len(self.failures), 'answer')} missing or unusable, so the rules decide"
            lines.append(Line(f"{times}: {plain(str(self.failures[0]), _REASON)}", "yellow"))
        lines.append(Line(f"judge: {plain(self.model)}", "dim"))
        return [part for line in lines for part in line.wrap(width)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """The answers of a model that was asked about conversations.

    Args:
        model: The model that was asked.
        rounds: The rounds that it was asked about.
        disagreements: Where it and the rules differ.
        outcome: How the work came out.
        labels: Both labels of each round, as plain data.
    """

    model: str
    rounds: tuple[JudgedRound, ...]
    disagreements: tuple[Disagreement, ...]
    outcome: LlmOutcome
    labels: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, model: str, judged: JudgedScore) -> JudgeReport:
        """The report on a conversation that a model read."""
        return cls(
            model=model,
            rounds=judged.rounds,
            disagreements=tuple(judged.disagreements()),
            outcome=judged.outcome,
            labels=judged.rounds_to_dict(),
        )

    @property
    def differ(self) -> int:
        """Rounds about which they differ."""
        return len({item.round for item in self.disagreements})

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        failures = [
            {"round": item.item.number, "question": question, "reason": str(failure)}
            for item in self.rounds
            for question, failure in item.failures.items()
        ]
        if self.outcome.failure is not None:
            failures.append({"round": None, "question": "outcome", "reason": str(self.outcome.failure)})
        return {
            **JudgeBill.of(self.model, self.rounds, [self.outcome]).to_dict(),
            "fallbacks": failures,
            "outcome": self.outcome.to_dict(),
            "rounds_compared": len(self.rounds),
            "rounds_differ": self.differ,
            "disagreements": [item.to_dict() for item in self.disagreements],
            "rounds": list(self.labels),
        }

    def lines(self, width: int) -> list[Line]:
        """Returns the lines for a person: where they differ, and the bill."""
        lines = [disagreement_line(self.differ, len(self.rounds))]
        visible = self.disagreements[:_ROWS]
        table = Table("round", "about", "judge", "rules", right=(0,), least=_CELL)
        for item in visible:
            table.add(f"{item.round}", item.about.value, _texts(item.judge), _texts(item.rules))
        lines += table.lines(width) if visible else []
        lines += more_rows(len(self.disagreements) - len(visible), "--json")
        lines += _outcome_line(self.outcome).wrap(width)
        return lines + JudgeBill.of(self.model, self.rounds, [self.outcome]).lines(width)


def disagreement_line(differ: int, rounds: int) -> Line:
    """States in how many rounds they differ."""
    return Line(f"Judge and rules disagree on {differ:,} of {count(rounds, 'round')}.", "bold")


def _outcome_line(outcome: LlmOutcome) -> Line:
    """States the outcome by the judge and by the rules, with the words that each goes by."""
    if outcome.outcome is None:
        line = Line("Outcome: the judge names none")
    else:
        line = Line(f"Outcome: the judge says {_label(outcome.outcome)}")
        line.append(f" (\u201c{plain(outcome.quote or '', QUOTE)}\u201d)", "dim")
    rules = outcome.by_rules
    if rules is None:
        return line.append("; the rules find no outcome in the last turns.")
    line.append(f"; the rules say {_label(rules.outcome)}")
    return line.append(f" (\u201c{plain(rules.text, QUOTE)}\u201d).", "dim")


def _label(outcome: RunOutcome) -> str:
    """The word for a person."""
    return outcome.value.replace("_", " ")


def _texts(texts: Sequence[str]) -> str:
    """The first text, as far as a cell holds it, and how many more there are."""
    if not texts:
        return "none"
    more = f" +{len(texts) - 1}" if len(texts) > 1 else ""
    return plain(texts[0], _CELL - len(more)) + more
