"""Rules of a team for its decisions, as data: which decisions they are about, and what these must have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any

from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Link, Relation, Review
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.candidate import Candidate, ConfidenceSource
from ebbtide.errors import ConfigError
from ebbtide.settings_file import offer, read_settings

PREFIX = "guardrail."  #: what the id of the rule of a guardrail begins with
_PATH = re.compile(r"[\w.@-]*(?:/[\w.@-]+)+|[\w-]+\.\w+")
_MEASURED = (Relation.DUPLICATE_OF, Relation.CONTRADICTS)  # links that a comparison sets, and nobody says


class Requirement(StrEnum):
    """What a guardrail can ask for."""

    REVIEW = "review"  #: a review, or a day on which there will be one
    DECIDER = "decider"
    TWO_OPTIONS = "two-options"
    REASON = "reason"
    CONFIDENCE = "confidence"  #: one that somebody stated
    CONTEXT = "context"
    CONSEQUENCE = "consequence"
    LINK = "link"


#: How a requirement is met, in words.
_REMEDIES = {
    Requirement.REVIEW: "a review (--review-by says when)",
    Requirement.DECIDER: "somebody who decides (--decider)",
    Requirement.TWO_OPTIONS: "two options (--option, twice)",
    Requirement.REASON: "a reason (--reason)",
    Requirement.CONFIDENCE: "a confidence (--confidence)",
    Requirement.CONTEXT: "a context (--context)",
    Requirement.CONSEQUENCE: "a consequence (--consequence)",
    Requirement.LINK: "a link to another decision (--link)",
}


class GuardrailAction(StrEnum):
    """What happens to a decision that lacks something."""

    REFUSE = "refuse"  #: it goes to quarantine, as what the gate refuses
    ASK = "ask"  #: it is kept, and the answer asks for what is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What a guardrail looks at.

    Args:
        candidate: What is decided.
        particulars: What its record says beside.
        review_by: When somebody will look how it turned out.
        reviews: What somebody found of that.
        links: How it stands to others.
    """

    candidate: Candidate
    particulars: Particulars | None = None
    review_by: float | None = None
    reviews: Sequence[Review] = ()
    links: Sequence[Link] = ()

    @classmethod
    def of(cls, decision: Decision) -> Guarded:
        """A decision of a log."""
        return cls(**{field.name: getattr(decision, field.name) for field in fields(cls)})

    @property
    def text(self) -> str:
        """The words that say what it is about."""
        beside = self.particulars or Particulars()
        return "\n".join((self.candidate.description, beside.context or "", beside.choice or ""))

    def has(self) -> frozenset[Requirement]:
        """What it has of all that can be asked for."""
        candidate, beside = self.candidate, self.particulars or Particulars()
        source = candidate.confidence_source
        is_default = source is ConfidenceSource.DEFAULT or (source is None and candidate.confidence == 0.5)
        options = {*candidate.options, *(option.title for option in beside.options)}
        facts = {
            Requirement.REVIEW: self.review_by is not None or bool(self.reviews),
            Requirement.DECIDER: bool(beside.deciders),
            Requirement.TWO_OPTIONS: len(options) > 1,
            Requirement.REASON: bool(candidate.reasons),
            Requirement.CONFIDENCE: candidate.confidence is not None and not is_default,
            Requirement.CONTEXT: bool(beside.context),
            Requirement.CONSEQUENCE: bool(beside.consequences),
            Requirement.LINK: any(link.relation not in _MEASURED for link in self.links),
        }
        return frozenset(requirement for requirement, is_met in facts.items() if is_met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """One rule. Of each kind of pattern one has to fit; without patterns it is about every decision.

    Args:
        name: What messages call it.
        require: What such a decision must have.
        words: Words or phrases of the decision, its context or its choice; in ``auth*`` the star is the rest
            of a word.
        category: Patterns of categories.
        path: Patterns of paths that it names; ``*`` also stands for ``/``.
        action: What happens to one that lacks something.

    >>> rule = Guardrail(name="auth", words=("auth*",), require=(Requirement.REVIEW,))
    >>> rule.breach(Guarded(candidate=Candidate(description="Use OAuth for the authentication of the API")))
    'guardrail auth: a decision like this needs a review (--review-by says when)'
    """

    name: str
    require: tuple[Requirement, ...]
    words: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    action: GuardrailAction = GuardrailAction.REFUSE

    def concerns(self, guarded: Guarded) -> bool:
        """Whether it is about this decision."""
        text, category = guarded.text, guarded.candidate.category or ""
        paths = _PATH.findall(text)
        return (
            (not self.words or any(_pattern(word).search(text) for word in self.words))
            and (not self.category or _fits(category, self.category))
            and (not self.path or any(_fits(path, self.path) for path in paths))
        )

    def breach(self, guarded: Guarded) -> str | None:
        """What a decision lacks, in one sentence; None where it lacks nothing."""
        if not self.concerns(guarded):
            return None
        there = guarded.has()
        missing = [_REMEDIES[each] for each in self.require if each not in there]
        return f"guardrail {self.name}: a decision like this needs {', '.join(missing)}" if missing else None

    def to_dict(self) -> dict[str, Any]:
        """The rule as it stands in the file."""
        table = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in table.items()}


def load_guardrails(path: str | PathLike[str]) -> tuple[Guardrail, ...]:
    """The tables ``[[guardrails]]`` of a TOML file, which may be the settings of a project.

    Raises:
        ConfigError: It cannot be read, or a rule has an unknown key or a value that cannot be.
    """
    return read_settings(path, lambda tables: tuple(_guardrails(tables.get("guardrails"))))


def broken_guardrails(guardrails: Iterable[Guardrail], guarded: Guarded) -> Iterator[tuple[Guardrail, str]]:
    """The rules that a decision breaks, each with what is missing."""
    for rule in guardrails:
        if breach := rule.breach(guarded):
            yield rule, breach


def with_guardrails(
    assessment: Assessment | None, guardrails: Iterable[Guardrail], guarded: Guarded, profile: str
) -> Assessment | None:
    """What the gate made of a decision, and what the guardrails say: one that refuses decides by itself."""
    for rule, breach in broken_guardrails(guardrails, guarded):
        refuses = rule.action is GuardrailAction.REFUSE
        fired = RuleFired(
            id=f"{PREFIX}{rule.name}",
            layer=Layer.QUALITY,
            reason=breach,
            weight=1.0 if refuses else 0.0,
            decides=refuses,
        )
        if assessment is None:
            assessment = Assessment(
                keep=True, primary=None, rules=(), noise=0.0, choice=0.0, threshold=0.0, profile=profile
            )
        rules = (*assessment.rules, fired)
        if refuses and assessment.keep:
            assessment = replace(assessment, keep=False, primary=fired)
        assessment = replace(assessment, rules=rules)
    return assessment


def _guardrails(tables: object) -> Iterator[Guardrail]:
    if not isinstance(tables, list):
        raise ConfigError("there is no [[guardrails]], a table for each rule")
    names: set[str] = set()
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping):
            raise ConfigError(f"guardrails[{number}] = {table!r:.60}: expected a table")
        rule = _guardrail(table, f"guardrails[{number}]")
        if rule.name in names:
            raise ConfigError(f"guardrails[{number}].name = {rule.name!r}: there are two of this name")
        names.add(rule.name)
        yield rule


def _guardrail(table: Mapping[str, Any], place: str) -> Guardrail:
    keys = [field.name for field in fields(Guardrail)]
    for key in table:
        if key not in keys:
            raise ConfigError(f"{place}.{key}: no such key; {offer(key, keys)}")
    name = table.get("name")
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]+", name):
        raise ConfigError(f"{place}.name = {name!r:.60}: expected letters, digits and hyphens")
    lists = {key: _texts(table.get(key, []), f"{place}.{key}") for key in ("words", "category", "path")}
    required = [
        _member(Requirement, each, place, "require")
        for each in _texts(table.get("require"), f"{place}.require")
    ]
    action = _member(GuardrailAction, table.get("action", GuardrailAction.REFUSE), place, "action")
    return Guardrail(name=name, require=tuple(required), action=action, **lists)


def _texts(value: object, place: str) -> tuple[str, ...]:
    rows = [value] if isinstance(value, str) else value
    if not isinstance(rows, list) or not all(isinstance(each, str) and each.strip() for each in rows):
        raise ConfigError(f"{place} = {value!r:.60}: expected a text, or a list of texts")
    return tuple(rows)


def _member(labels: Any, value: object, place: str, key: str) -> Any:
    try:
        return labels(value)
    except ValueError:
        raise ConfigError(f"{place}.{key} = {value!r:.60}: expected one of {', '.join(labels)}") from None


def _fits(text: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(text.casefold(), pattern.casefold()) for pattern in patterns)


def _pattern(words: str) -> re.Pattern[str]:
    parts = (re.escape(part) for part in words.split("*"))
    return re.compile(r"(?<!\w)" + r"\w*".join(parts) + r"(?!\w)", re.IGNORECASE)
