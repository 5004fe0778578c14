"""Names that decisions of a project ruled out, read from the log beside the hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Final

from ebbtide import Decision, DecisionLog
from ebbtide.decisions.contradictions.rejected_names import rejected_names
from ebbtide.errors import ConfigError
from ebbtide.service.hooks.contradiction import RulingDecision
from ebbtide.shipped.git import Repository

_PERSON: Final = "user"  # the speaker under whom words of a person are kept
_HOLDS: Final = "kept"  # what a log says of a decision that nothing took the place of
_SETTLED: Final = (None, "accepted")  # what a team may say of a decision that holds
_MOST: Final = 200  # decisions with names, the newest of people first
_LOG_WAIT_S: Final = 5.0


def ruled_out(log: str, folder: str, folder_of: Callable[[str], str | None]) -> tuple[RulingDecision, ...]:
    """Returns the decisions of a project that rule out a name, those of people first, then the newest.

    Names that the project has already are left out: then the decision was about one place of it.

    Args:
        log: Path or URL of the log.
        folder: A folder of the project; where it is in no repository of git, nothing is known of its names.
        folder_of: Returns the folder of an earlier run; None where it is not known.

    Raises:
        EbbtideError: The log cannot be read.
    """
    try:
        repository = Repository(folder)
    except ConfigError:
        return ()
    roots = [Path(root).resolve() for root in repository.roots()]
    is_file = "://" not in log
    if is_file and not Path(log).is_file():
        return ()
    is_own = is_file and _is_inside(log, roots)
    folder_of = cache(folder_of)
    found: list[RulingDecision] = []
    with DecisionLog.open(log, create=False, read_only=True, timeout_s=_LOG_WAIT_S) as opened:
        for decision in opened.iterate():
            ruling = _ruling(decision) if decision.status == _HOLDS else None
            if ruling is None:
                continue
            place = None if is_own else _folder(decision, folder_of)
            if is_own or (place is not None and _is_inside(place, roots)):
                found.append(ruling)
    found.sort(key=lambda each: (not each.by_person, -(each.at or 0.0)))
    return _new_here(found[:_MOST], repository)


def _new_here(found: list[RulingDecision], repository: Repository) -> tuple[RulingDecision, ...]:
    words = sorted({name.text.lower() for each in found for name in each.names})
    try:
        here = repository.words_here(words)
    except ConfigError:
        return ()
    kept = ((each, tuple(name for name in each.names if name.text.lower() not in here)) for each in found)
    return tuple(each._replace(names=names) for each, names in kept if names)


def _ruling(decision: Decision) -> RulingDecision | None:
    """Returns a decision that rules out a name; None where it rules out none, or does not hold."""
    particulars = decision.particulars
    if particulars is not None and particulars.standing not in _SETTLED:
        return None
    candidate = decision.candidate
    choice, alternatives = _choice(decision)
    parts = [part for each in alternatives for part in dict.fromkeys((each, *each.split(", ")))]
    names = rejected_names(candidate.description, choice, parts)
    if not names:
        return None
    deciders = particulars.deciders if particulars is not None else ()
    by_person = decision.scope.agent == _PERSON or bool(deciders)
    return RulingDecision(
        id=decision.id,
        text=candidate.description,
        by=", ".join(deciders) or ("the person" if by_person else decision.scope.agent),
        by_person=by_person,
        at=decision.settled_at,
        names=names,
    )


def _choice(decision: Decision) -> tuple[str | None, Iterable[str]]:
    """Returns what was chosen, None where something was only ruled out, and the alternatives."""
    options, particulars = decision.candidate.options, decision.particulars
    if particulars is not None and particulars.choice is not None:
        titles = (option.title for option in particulars.options)
        return particulars.choice, [title for title in titles if title != particulars.choice]
    if len(options) < 2:
        return None, ()
    return (None if options[0] == decision.candidate.description else options[0]), options[1:]


def _folder(decision: Decision, folder_of: Callable[[str], str | None]) -> str | None:
    """Returns the folder of the run in which a decision was made, as its origin names the run."""
    run_id, sign, _ = (decision.origin or "").partition(" event ")
    return folder_of(run_id) if sign else None


def _is_inside(path: str, roots: Iterable[Path]) -> bool:
    place = Path(path).resolve()
    return any(place.is_relative_to(root) for root in roots)
