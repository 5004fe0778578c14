"""Outcome of work, by a model that reads the last turns, beside the rules.

The label counts only with a quotation from one of the turns: what nobody said ends nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ebbtide.codec import Record
from ebbtide.convergence.outcomes import OutcomeReading, read_outcome
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Phase, Role, ToolCall
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.events.transcript import Round
from ebbtide.text.excerpt import excerpt
from ebbtide.text.extraction.turn import Speaker
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatUsage
from ebbtide.text.llm.prompt_contract import Contract, Failure, FailureKind
from ebbtide.text.llm.quotations import Quotations

LAST_TURNS = 8  #: turns and calls that are read
_CHAINS = 512
_CALL = 500  # characters of the arguments of a call
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
        "last; the first line of each says who speaks. Say how the work stands at its end.\n"
        "outcome is one of\n"
        "finished: somebody in it says that the work is done, or hands in its result;\n"
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
class LlmOutcome(Record):
    """Outcome of work, by a model and by the rules.

    Args:
        outcome: The model's label, one of `LABELS`; None where it failed, or there was nothing to read.
        quote: The words that show it, as they stand in the turn; None as for `outcome`.
        failure: Reason why the model failed; None if it did not.
        by_rules: The latest of the same turns that says something to the rules; None if none does.
    """

    _WIRE: ClassVar = "judge=outcome quote rules=by_rules.outcome rules_quote=by_rules.text"

    outcome: RunOutcome | None
    quote: str | None
    failure: Failure | None
    usage: ChatUsage
    by_rules: OutcomeReading | None

    @property
    def differs(self) -> bool:
        """True if the model and the rules differ. An outcome that nobody states counts as going on."""
        rules = RunOutcome.GOING_ON if self.by_rules is None else self.by_rules.outcome
        return self.outcome not in (None, rules)


def outcome_by_llm(items: Iterable[Event | Round], model: ChatModel) -> LlmOutcome:
    """Asks a model how work came out.

    Args:
        items: The rounds of a conversation, or the events of a run, in their order. The last turns and calls
            of its main chain are read, else of the chain that came last. What tools answer is not: a page
            that an agent reads finishes nothing.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
    """
    turns = _last_turns(items)
    if not turns:
        return LlmOutcome(outcome=None, quote=None, failure=None, usage=ChatUsage(), by_rules=None)
    # Who speaks may be anything that a trace says: it stands inside the data as well.
    texts = {f"TURN_{number}": f"{turn.speaker}:\n{turn.text}" for number, turn in enumerate(turns, start=1)}
    answer = _CONTRACT.ask(model, texts)
    quote, failure = None, answer.failure
    if answer.value is not None:
        quote = _quotation(answer.value["quote"], turns)
        if quote is None:
            failure = Failure(kind=FailureKind.QUOTATION, reason="its quotation is in none of the turns")
    return LlmOutcome(
        outcome=None if quote is None or answer.value is None else RunOutcome(answer.value["outcome"]),
        quote=quote,
        failure=failure,
        usage=answer.usage,
        by_rules=_by_rules(turns),
    )


class _Turn(NamedTuple):
    speaker: str
    text: str
    read_as: Speaker | None  # by the rules, which read no calls


def _last_turns(items: Iterable[Event | Round]) -> Sequence[_Turn]:
    chains: dict[str, deque[_Turn]] = {}
    for item in items:
        turn = _turn(item)
        if turn is not None:
            name = "" if isinstance(item, Round) else item.chain_id
            # The chain that spoke last stands last; a run may have more of them than are worth keeping.
            chains[name] = chains.pop(name, deque(maxlen=LAST_TURNS))
            chains[name].append(turn)
            if len(chains) > _CHAINS:
                del chains[next(chain for chain in chains if chain)]
    if not chains:
        return ()
    return tuple(chains.get("") or chains[next(reversed(chains))])


def _turn(item: Event | Round) -> _Turn | None:
    """Returns what somebody says or calls; None for what is neither."""
    if isinstance(item, Round):
        turn = _Turn(
            item.agent or "unknown speaker",
            item.text or item.summary or "",
            Speaker.PERSON if item.is_by_person else Speaker.MODEL,
        )
    elif isinstance(item, Message) and item.role is Role.USER:
        turn = _Turn(item.agent or "user", item.text or "", Speaker.PERSON)
    elif isinstance(item, ModelCall) and item.part is ModelPart.WHOLE:
        # The text of a call that failed is the failure.
        speaker = Speaker.HARNESS if item.error else Speaker.MODEL
        turn = _Turn(item.agent or "assistant", item.text or "", speaker)
    elif isinstance(item, ToolCall) and item.phase is Phase.FINISHED:
        turn = _Turn(item.agent or "assistant", f"calls {item.name} with {item.args!r:.{_CALL}}", None)
    else:
        return None
    return turn._replace(text=excerpt(turn.text, _LONGEST).text) if turn.text.strip() else None


def _quotation(quote: str, turns: Sequence[_Turn]) -> str | None:
    """Returns the words as the latest turn says them that has them; None if none has."""
    for turn in reversed(turns):
        place = Quotations(turn.text).find(quote)
        if place is not None:
            return " ".join(turn.text[slice(*place)].split())
    return None


def _by_rules(turns: Sequence[_Turn]) -> OutcomeReading | None:
    for turn in reversed(turns):
        reading = None if turn.read_as is None else read_outcome(turn.text, turn.read_as)
        if reading is not None:
            return reading
    return None
