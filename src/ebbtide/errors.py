"""Errors of Ebbtide, as a tree.

EbbtideError
├── ConfigError        a profile, threshold or argument that cannot be used (also a ValueError)
├── SemanticError      the semantic level cannot run: a library, weights or an endpoint fails it
├── TranscriptError    input that cannot be read as a conversation (also a ValueError)
├── UnknownNodeError   an id that the execution graph never gave out (also a KeyError)
├── StoreError         the store of decisions cannot do it: locked, read-only, full, damaged, gone, too new
├── DecisionError      a decision that cannot be found or changed so
│   ├── UnknownDecisionError  no decision of this tenant and agent has the id (also a KeyError)
│   ├── StaleDecisionError    it changed since somebody looked
│   └── LifecycleError        from where it stands, there is no such step
├── ServiceError       the service cannot be reached, or refuses; from `ebbtide.service.client`
├── CallRefused        a call of a tool is refused because the result is due; the model may still answer
└── RunHalted          no call is let through any more; what was done so far is attached
    ├── LimitExceeded  the next call would pass a hard limit
    ├── LimitUnknown   a hard limit cannot be counted: a price, a usage or a time is not known
    ├── BudgetRefused  a budget that others draw on too does not allow the next call, or wants a person asked
    └── RunStopped     the supervisor has ended the run, or wants a person asked first
        └── RunEnded   the same, from an adapter whose framework has no quieter end

DegradedEventWarning, a UserWarning, is no error: it is given once for each watch that met bad data.

A message says what is wrong, where (file, line, path inside the document) and what to do.
Misuse in code, such as a dict where an event belongs, is a TypeError: `expect` raises it.
Verdicts are values; nothing here is raised for CONTINUE, SHIP or ESCALATE.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from reprlib import Repr
from typing import Any, Final

LONGEST: Final = 200  #: characters of an error that a watch keeps

_PACKAGE = __name__.partition(".")[0]
_FORM = Repr()
_FORM.maxlevel = 3
_FORM.maxstring = _FORM.maxother = _FORM.maxlong = 60


class EbbtideError(Exception):
    """The root of every exception that Ebbtide raises on purpose."""


class ConfigError(EbbtideError, ValueError):
    """A profile, threshold or argument that cannot be used."""


class DegradedEventWarning(UserWarning):
    """An event or a field of it could not be read: it counts as not known, and the watch goes on."""


class SemanticError(EbbtideError):
    """The semantic level cannot run: a library or weights are missing or wrong, or an endpoint fails."""


class TranscriptError(EbbtideError, ValueError):
    """Input that cannot be read as a conversation.

    Args:
        what: The fault, with the offending value.
        source: File name, or ``<stdin>``.
        line: Line number in the file, from 1.
        path: Place inside the document, such as ``rounds[3].outputs.claims``.
        hint: The way out.
        no_trace: True if the input is something else than a trace, such as a picture. What looks like a trace
            and cannot be read is none of these.
    """

    def __init__(
        self,
        what: str,
        *,
        source: str | None = None,
        line: int | None = None,
        path: str | None = None,
        hint: str | None = None,
        no_trace: bool = False,
    ) -> None:
        self.what = what
        self.source = source
        self.line = line
        self.path = path
        self.hint = hint
        self.no_trace = no_trace
        super().__init__(what)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line) if part is not None)
        text = ": ".join(part for part in (place, self.path, self.what) if part)
        return f"{text}. {self.hint}" if self.hint else text

    def located(self, *, source: str | None = None, line: int | None = None) -> TranscriptError:
        """Returns the same error, with the file and line filled in if they were not known."""
        return TranscriptError(
            self.what,
            source=self.source or source,
            line=self.line if self.line is not None else line,
            path=self.path,
            hint=self.hint,
            no_trace=self.no_trace,
        )


class UnknownNodeError(EbbtideError, KeyError):
    """An id that the execution graph never gave out.

    Args:
        chain_id: The chain whose graph was asked.
    """

    def __init__(self, node_id: object, chain_id: str) -> None:
        self.node_id = node_id
        self.chain_id = chain_id
        super().__init__(node_id, chain_id)

    def __str__(self) -> str:
        return (
            f"node {shown(self.node_id)} was never begun in chain {shown(self.chain_id)}; "
            "use the ids that create_root and begin_node return"
        )


class StoreError(EbbtideError):
    """The store of decisions cannot do what it was asked.

    Args:
        what: The fault, its place, and what to do.
        recorded: True if the call was recorded all the same, False if not; None if the connection broke while
            it was being committed and nobody can know. Asking again is safe after False; after None, look
            first.
    """

    def __init__(self, what: str, *, recorded: bool | None = False) -> None:
        self.recorded = recorded
        super().__init__(what)


class DecisionError(EbbtideError):
    """Decision that cannot be found, or not changed as asked."""


class UnknownDecisionError(DecisionError, KeyError):
    """No decision that the view may see has the id.

    Args:
        decision_id: The id, or the beginning of one.
        where: Tenant and agent that were looked at.
        hint: The way out.
    """

    def __init__(
        self, decision_id: object, where: str, hint: str = "`ebbtide decisions list` names them"
    ) -> None:
        self.decision_id = decision_id
        self.where = where
        self.hint = hint
        super().__init__(decision_id, where, hint)

    def __str__(self) -> str:
        return f"no decision {shown(self.decision_id)} of {self.where}; {self.hint}"


class StaleDecisionError(DecisionError):
    """Decisions changed since somebody looked; nothing was done."""

    def __init__(self, decision_ids: tuple[str, ...]) -> None:
        self.decision_ids = decision_ids
        super().__init__(decision_ids)

    def __str__(self) -> str:
        some = ", ".join(self.decision_ids[:3]) + (", ..." if len(self.decision_ids) > 3 else "")
        return (
            f"{len(self.decision_ids)} decisions changed since the plan was made ({some}); "
            "nothing was done. Make a new plan."
        )


class LifecycleError(DecisionError):
    """Step that does not exist from where the decision stands."""


class CallRefused(EbbtideError):  # noqa: N818 - what happened is no error of the program
    """A call of a tool is refused because the result is due; the model may still answer.

    Its text is for the model: give it as the answer of the tool.

    Args:
        verdict: The `Verdict`, which is a finalize.
    """

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        super().__init__(verdict)

    def __str__(self) -> str:
        return str(self.verdict.nudge or self.verdict.reason)


class RunHalted(EbbtideError):  # noqa: N818 - likewise
    """No call is let through any more.

    ``report`` is the `RunReport` of the run so far, with its latest results; None where no `ExecutionContext`
    let the call through.
    """

    report: Any = None

    def _as_event(self, event_type: str, *names: str) -> dict[str, Any]:
        """Returns the error as an event, with some of its attributes."""
        return {"event_type": event_type, "severity": "stop", **{name: getattr(self, name) for name in names}}


_COUNTED = {"max_agents": "agents", "max_depth": "levels of agents"}


class LimitExceeded(RunHalted):
    """The next call would pass a hard limit.

    Args:
        kind: The limit, by its name in `LimitKind`.
        value: Amount of the scope with the call.
        limit: The most that the scope allows.
        scope: Name of the scope whose limit it is.
    """

    def __init__(self, kind: str, value: float, limit: float, scope: str) -> None:
        self.kind = kind
        self.value = value
        self.limit = limit
        self.scope = scope
        #: How much of `value` is set aside for calls that are under way.
        self.reserved: float = 0
        super().__init__(kind, value, limit, scope)

    def __str__(self) -> str:
        would = f"scope {self.scope!r} would be at {self.value:.6g} {_COUNTED.get(self.kind, self.kind)}"
        reserved = f", {self.reserved:.6g} of it set aside for calls under way" if self.reserved else ""
        return f"{would}{reserved}, and its limit is {self.limit:.6g}. End the run, or allow more."

    def to_dict(self) -> dict[str, Any]:
        """Returns the error as an event."""
        return self._as_event("LIMIT_EXCEEDED", "kind", "value", "limit", "scope")


class LimitUnknown(RunHalted):
    """A hard limit cannot be counted, so no call is let through any more.

    Args:
        kind: The limit, by its name in `LimitKind`.
        limit: The most that the scope allows.
        scope: Name of the scope whose limit it is.
        why: The missing fact, and what to pass.
    """

    def __init__(self, kind: str, limit: float, scope: str, why: str) -> None:
        self.kind = kind
        self.limit = limit
        self.scope = scope
        self.why = why
        super().__init__(kind, limit, scope, why)

    def __str__(self) -> str:
        return self.why

    def to_dict(self) -> dict[str, Any]:
        """Returns the error as an event."""
        return self._as_event("LIMIT_UNKNOWN", "kind", "limit", "scope", "why")


class RunStopped(RunHalted):
    """The supervisor has ended the run, or wants a person asked first.

    Args:
        verdict: The `Verdict`: a stop or an escalate. Its reason is for a person.
    """

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        super().__init__(verdict)

    def __str__(self) -> str:
        return str(self.verdict.reason)


class RunEnded(RunStopped):
    """An adapter has ended a run in a framework that has no other way to end it with the work so far.

    Args:
        verdict: The `Verdict`: a stop or an escalate.
        spent: Standing of the run, a `RunStanding`; None if that is not known.
        work: Messages, items or steps that the framework has so far.
    """

    def __init__(
        self, verdict: Any, *, run_id: str = "", spent: Any = None, work: Sequence[Any] = ()
    ) -> None:
        super().__init__(verdict)
        self.run_id = run_id
        self.spent = spent
        self.work = work


def error_text(error: BaseException, most: int = LONGEST) -> str:
    """Returns the class and the text of an error, cut; the class alone if its text form fails.

    >>> error_text(ValueError("no"))
    'ValueError: no'
    """
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the text of a foreign error can fail too
        return name[:most]
    return f"{name}: {text[:most]}"[:most]


def shown(value: object, most: int = 60) -> str:
    """Returns a value as a message shows it: its text form, cut; its class if that fails.

    >>> shown("x" * 9, 6), shown({"a": [1, 2]})
    ("'xxxxx", "{'a': [1, 2]}")
    """
    try:
        return _FORM.repr(value)[:most]
    except Exception:  # noqa: BLE001 - a whole number can have too many digits
        return f"<{type(value).__name__}>"[:most]


def expect(name: str, value: object, *kinds: type, optional: bool = False) -> None:
    """Refuses an argument of another class.

    Args:
        name: The argument, as the caller writes it.
        kinds: Classes that are allowed.
        optional: True if None is allowed, too.

    Raises:
        TypeError: It is of none of the classes. The message says what was expected, and what came.

    >>> expect("limits", {}, int)
    Traceback (most recent call last):
    TypeError: limits: expected int, not dict: {}
    """
    if isinstance(value, kinds) or (optional and value is None):
        return
    names = " or ".join([kind.__name__ for kind in kinds] + ["None"] * optional)
    raise TypeError(f"{name}: expected {names}, not {type(value).__name__}: {shown(value)}")


def warn_degraded(fault: str | None) -> None:
    """Warns of the first event that could not be read in full, at the program's line that handed it over.

    What Ebbtide itself reads, from a file for example, is not warned of: who reads it reports the count.

    Args:
        fault: The fault, in words.
    """
    frame = sys._getframe(2)  # noqa: SLF001 - who called the verb that warns
    if frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        return
    warnings.warn(
        f"an event could not be read in full: {fault}. What could not be read counts as not known. This is "
        "warned of once; `snapshot()` counts the rest as `degraded`, with the `last_fault`.",
        DegradedEventWarning,
        stacklevel=3,
    )
