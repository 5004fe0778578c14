"""Duties of every adapter: ask before each call of a model, record what came of it, keep out of the way."""

from __future__ import annotations

import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Self, TypedDict, Unpack

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.final_text import final_text
from ebbtide.bounded import Bounded
from ebbtide.budget.limits import LimitKind, Limits, Missing, uncounted
from ebbtide.budget.prices import Prices
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.errors import ConfigError, error_text
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.identity import MARK
from ebbtide.events.provider_answer import parsed
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.settings_file import nearest_name
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_registry import RunRegistry
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

_NO_ADVICE: Final = Advice(Verdict())
_MOST_MODELS: Final = 1000


class WatchOptions(TypedDict, total=False):
    """Options of every adapter, by name.

    Args:
        runs: The registry, where the program has one; the others are for the one that is made otherwise.
        limits: Hard limits of each run.
        tools: Declarations of tools that Ebbtide does not know by name.
        prices: Prices of models; None takes the public ones.
        shadow: True to watch only: nothing is said, and nothing ends.
        listener: Called with the id of the run and the verdict when what is to be done has changed.
        budgets: Budgets that others draw on too.
    """

    runs: RunRegistry
    limits: Limits | None
    tools: ToolPolicies | None
    prices: Prices | None
    profile: Profile
    shadow: bool
    listener: Callable[[str, Verdict], object] | None
    budgets: Budgets | None


class RunWatch:
    """Watch of the runs of one framework. What fails in here is counted and warned of once; the run goes on.

    Attributes:
        runs: The registry: how every run stands, and what a person can do about it.
        faults: Count of failures in here.
        last_fault: The latest of them, in words.

    Raises:
        ConfigError: There is a registry, and something else that belongs into it; or no such option.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        unknown = sorted(set(options) - set(WatchOptions.__annotations__))
        if unknown:
            guess = nearest_name(unknown[0], WatchOptions.__annotations__)
            hint = f"did you mean {guess}? " if guess else ""
            names = ", ".join(WatchOptions.__annotations__)
            raise ConfigError(f"{unknown[0]}: no such option. {hint}There are {names}")
        runs = options.get("runs")
        if runs is not None and len(options) > 1:
            other = next(name for name in options if name != "runs")
            raise ConfigError(f"{other} belongs into the registry that runs= gives")
        if runs is not None and not hasattr(runs, "before_model"):
            raise ConfigError(
                f"runs = {runs!r:.60}: expected a registry, such as Runs() or ServiceClient(url)"
            )
        self._prices = options.get("prices") or Prices()
        self.runs: RunRegistry = _registry(options, self._prices) if runs is None else runs
        # One that is asked over the network is asked beside the run, which does not wait for it.
        in_background = getattr(self.runs, "in_background", None)
        self._runs: RunRegistry = self.runs if in_background is None else in_background()
        self.faults = 0
        self.last_fault: str | None = None
        self._lock = threading.Lock()
        limits = options.get("limits")
        is_strict = limits is not None and limits.refuses_unknown and not options.get("shadow")
        self._most_usd = limits.cost_usd if limits is not None and is_strict else None
        self._priced: Bounded[str, None] = Bounded(_MOST_MODELS)  # models whose price was looked up

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Returns itself: frameworks copy what holds it, and the runs of the copies are the same runs."""
        del memo
        return self

    def new_run(self) -> str:
        """Returns an id for a run whose framework gives it none."""
        return uuid.uuid4().hex

    def advise(
        self, run_id: str, *, agent: str | None = None, asks: bool = False, model: object = None
    ) -> Advice:
        """Returns what to do before the next call of a run's model; nothing if that fails.

        Args:
            run_id: The run.
            asks: True if there is a person to ask: then a loop, which would end the run, is a question, too.
            model: Name of the model, if it is known; a limit in dollars without its price is warned of.
        """
        if self._most_usd is not None and isinstance(model, str):
            self._look_up_price(model, self._most_usd)
        try:
            advice = self._runs.before_model(run_id, agent=agent)
        except Exception as error:  # noqa: BLE001 - the run does not notice
            self._fault(error)
            return _NO_ADVICE
        verdict = advice.verdict
        if asks and verdict.cause is Cause.DIVERGENCE and verdict.action is Action.STOP:
            return Advice(replace(verdict, action=Action.ESCALATE))
        return advice

    def _look_up_price(self, model: str, limit: float) -> None:
        """Warns before the first call of a model that nobody has a price for: the second would be refused.

        The call is made all the same, since some providers state the cost in their answer.
        """
        with self._lock:
            if model in self._priced:
                return
            self._priced[model] = None
        with self.guarded():
            if self._prices.rates(model) is not None:
                return
            warnings.warn(
                "Unless the answer states its cost, this call is the last: "
                + uncounted(LimitKind.COST_USD, limit, Missing.PRICE, model),
                RuntimeWarning,
                stacklevel=4,
            )

    def record(self, run_id: str, event: Event) -> None:
        """Takes one event."""
        try:
            self._runs.record(run_id, event)
        except Exception as error:  # noqa: BLE001 - likewise
            self._fault(error)

    def record_message(self, run_id: str, text: object, *, agent: str | None = None) -> None:
        """Takes what a person says. A note of ours is none of theirs."""
        words = answer_text(text)
        if words and not words.startswith(MARK):
            self.record(run_id, Message(text=words, agent=agent))

    def record_answer(
        self,
        run_id: str,
        answer: object,
        *,
        agent: str | None = None,
        model: str | None = None,
        usage: object = None,
    ) -> None:
        """Takes the answer of a model.

        Args:
            answer: The returned object, as for `ModelCall.of`.
            model: The model, in place of the one that the answer names.
            usage: Object that states the usage, as for `Usage.of`, if that is not the answer.
        """
        try:
            call = ModelCall.of(answer, model=model, agent=agent)
            if usage is not None:
                call.usage = Usage.of(usage, model=model)
            self._runs.record(run_id, call)
        except Exception as error:  # noqa: BLE001 - likewise
            self._fault(error)

    def record_failure(self, run_id: str, *, agent: str | None = None) -> None:
        """Takes a call of a model that failed."""
        self.record(run_id, ModelCall(error=True, agent=agent))

    def record_tool_call(
        self,
        run_id: str,
        name: str,
        args: object,
        result: object,
        *,
        error: bool = False,
        agent: str | None = None,
        batch: str | None = None,
    ) -> None:
        """Takes a call of a tool that has ended.

        Args:
            args: Its arguments, or their JSON; None where they are not known.
            result: Its answer, whatever the framework makes of it.
            batch: Equal for calls that one answer of a model asked for.
        """
        call = ToolCall(
            name=name,
            args=parsed(args),
            result=answer_text(result),
            error=error,
            agent=agent,
            batch=batch,
        )
        self.record(run_id, call)

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """Records that a person has seen what holds, and lets the run go on."""
        try:
            self._runs.acknowledge(run_id, agent=agent)
        except Exception as error:  # noqa: BLE001 - likewise
            self._fault(error)

    def end(self, run_id: str) -> RunStanding | None:
        """Ends a run; returns what it has come to, or None if that fails."""
        try:
            return self._runs.end(run_id)
        except Exception as error:  # noqa: BLE001 - likewise
            self._fault(error)
            return None

    def last_words(self, run_id: str, advice: Advice) -> str:
        """Ends a run whose next call is refused; returns why, in words for a person."""
        return final_text(advice.verdict, self.end(run_id))

    @contextmanager
    def calling(self, run_id: str, *, agent: str | None = None) -> Iterator[None]:
        """Makes a call of a model in here: one that raises is recorded as failed."""
        try:
            yield
        except Exception:
            self.record_failure(run_id, agent=agent)
            raise

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Runs code of an adapter: what it raises is counted here, and the run does not notice."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - likewise
            self._fault(error)

    def _fault(self, error: Exception) -> None:
        with self._lock:
            self.faults += 1
            is_first = self.faults == 1
            self.last_fault = error_text(error)
        if is_first:
            warnings.warn(
                f"Ebbtide cannot watch: {self.last_fault}. The run goes on unwatched; see `faults`",
                RuntimeWarning,
                stacklevel=3,
            )


def require_parts(kind: Any, names: Iterable[str], wish: str) -> None:
    """Refuses a version of a framework that lacks what an adapter needs.

    Args:
        kind: The class that has to have it, or an object of it.
        wish: The version that is wanted, for the message.

    Raises:
        ConfigError: An attribute is missing.
    """
    missing = next((name for name in names if not hasattr(kind, name)), None)
    if missing is not None:
        owner = kind if isinstance(kind, type) else type(kind)
        raise ConfigError(f"{wish}: {owner.__name__}.{missing} is missing")


def _registry(options: WatchOptions, prices: Prices) -> Runs:
    profile = options.get("profile") or Profile.DEFAULT

    def make(_: str) -> Supervisor:
        return Supervisor(
            profile,
            limits=options.get("limits"),
            tools=options.get("tools"),
            prices=prices,
            shadow=options.get("shadow", False),
        )

    return Runs(make, listener=options.get("listener"), budgets=options.get("budgets"))
