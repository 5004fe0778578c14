"""`ebbtide decisions record | start | think | finalize | review | supersede`: what is written by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Self

from rich.text import Text

from ebbtide.cli.decisions.browsing import Place
from ebbtide.cli.declaration import FILE, OF_AGENT, SINCE, UNTIL, Argument, Option, shared
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.clock import system_clock
from ebbtide.decision_log.deliberation.answer import DecisionAnswer, DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.deliberation.guardrails import load_guardrails
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Link, Mode, Relation, Review, Status
from ebbtide.decision_log.record.review import SIGNAL
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.decisions.candidate import ConfidenceSource, Reason, ReasonKind, Stakes
from ebbtide.errors import ConfigError, TranscriptError, UnknownDecisionError
from ebbtide.profile import Profile
from ebbtide.traces.input.source import STDIN, read_bytes

_VERDICT_STYLES = {
    DecisionVerdict.OPENED: "bold cyan",
    DecisionVerdict.KEPT: "bold green",
    DecisionVerdict.QUARANTINED: "bold yellow",
    DecisionVerdict.DUPLICATE: "bold yellow",
    DecisionVerdict.NOT_CAPTURED: "bold yellow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOptions:
    """What somebody says of a decision on the command line; see `Candidate`."""

    text: str | None
    reasons: tuple[Reason, ...]
    options: tuple[str, ...]
    assumptions: tuple[str, ...]
    stakes: Stakes | None
    category: str | None
    confidence: float | None
    confidence_source: ConfidenceSource | None
    prediction: str | None
    review_by: float | None
    particulars: Particulars | None

    @classmethod
    def of(
        cls,
        *,
        text: str | None,
        reasons: Sequence[str] | None,
        assumptions: Sequence[str] | None,
        stakes: Stakes | None,
        category: str | None,
        confidence: float | None,
        confidence_source: ConfidenceSource | None,
        prediction: str | None,
        review_by: str | None,
        proposed: bool,
        **texts: Any,
    ) -> Self:
        """As typed.

        Raises:
            ConfigError: The confidence is no number from 0 to 1, the date is none, or an argument is of no
                option.
        """
        record = RecordTexts(**texts)
        if confidence is not None and not 0 <= confidence <= 1:
            raise ConfigError(f"--confidence {confidence}: expected a number from 0 to 1")
        return cls(
            text=text,
            reasons=reasons_of(reasons or ()),
            options=tuple(record.options or ()),
            assumptions=tuple(assumptions or ()),
            stakes=stakes,
            category=category,
            confidence=confidence,
            confidence_source=confidence_source,
            prediction=prediction,
            review_by=moment_of(review_by, "--review-by"),
            particulars=record.particulars(RecordStatus.PROPOSED if proposed else None),
        )

    def arguments(self) -> dict[str, Any]:
        """What was typed, by the names that `Deliberation` takes; the text is not among it."""
        values = {
            "reasons": self.reasons,
            "options": self.options,
            "assumptions": self.assumptions,
            "stakes": self.stakes,
            "category": self.category,
            "confidence": self.confidence,
            "confidence_source": self.confidence_source,
            "prediction": self.prediction,
            "review_by": self.review_by,
            "particulars": self.particulars,
        }
        return {name: value for name, value in values.items() if value not in (None, ())}


class Work:
    """A log, the gate before it, and how results are printed.

    Args:
        log: Where decisions go.
        deliberation: The gate.
        as_json: Print JSON for machines.
    """

    def __init__(self, log: DecisionLog, deliberation: Deliberation, *, as_json: bool) -> None:
        self._log = log
        self._deliberation = deliberation
        self._as_json = as_json

    @classmethod
    @contextmanager
    def open(
        cls,
        place: Place,
        profile: str = "default",
        mode: Mode = Mode.ENFORCE,
        *,
        guardrails: str | None = None,
        as_json: bool,
    ) -> Iterator[Self]:
        """The work on a log; recording begins one where there is none.

        Raises:
            StoreError: The log cannot be opened.
            ConfigError: There is no such profile, or the guardrails cannot be used.
        """
        rules, of_team = Profile.load(profile), () if guardrails is None else load_guardrails(guardrails)
        with place.open(new=True) as log:
            deliberation = Deliberation(log, profile=rules, mode=mode, guardrails=of_team)
            yield cls(log, deliberation, as_json=as_json)

    def record(
        self,
        options: DecisionOptions,
        links: Sequence[tuple[Relation, str]] = (),
        *,
        frame: str,
        force: bool,
    ) -> bool:
        """Record a decision, with its links where it is kept; returns whether it was.

        Raises:
            UnknownDecisionError: A link leads to no decision.
            ConfigError: It would supersede one that is not kept.
        """
        targets = self._targets(links)
        answer = self._deliberation.record_decision(
            options.text or "",
            frame=frame,
            force=force,
            links=[Link(relation=relation, to=other) for relation, other in targets],
            **options.arguments(),
        )
        self._print_answer(answer)
        return answer.kept

    def start(self, text: str, *, frame: str) -> bool:
        """Open a decision; returns whether it was."""
        answer = self._deliberation.try_start(self._log.agent or "agent", text, frame, self._log.session)
        self._print_answer(answer)
        return answer.verdict is DecisionVerdict.OPENED

    def think(self, beginning: str, text: str) -> None:
        """Note a thought.

        Raises:
            UnknownDecisionError: There is no such decision.
        """
        decision_id = self._log.resolve(beginning)
        self._deliberation.think(decision_id, text)
        self._print_decision(self._log.get(decision_id), "noted")

    def finalize(self, beginning: str, options: DecisionOptions) -> bool:
        """Settle an open decision; returns whether it was kept."""
        arguments = options.arguments()
        if options.text is not None:
            arguments["description"] = options.text
        answer = self._deliberation.try_finalize(self._log.resolve(beginning), **arguments)
        self._print_answer(answer)
        return answer.kept

    def review(
        self, beginning: str, outcome: DecisionOutcome, *, by: str, evidence: str, observed: bool
    ) -> None:
        """Note how a decision turned out.

        Raises:
            ConfigError: A machine measured it, and nobody says what.
        """
        if observed and not evidence.strip():
            raise ConfigError("--observed says that a machine measured it: --evidence names what it measured")
        if observed and not by.startswith(SIGNAL):
            by = f"{SIGNAL}{by}"
        opinion = Review(outcome=outcome, by=by, evidence=evidence, ts=self._log.clock(), observed=observed)
        self._print_decision(self._log.review(self._log.resolve(beginning), opinion), outcome.value)

    def supersede(self, old: str, new: str, *, why: str) -> None:
        """Note that one decision took the place of another."""
        decision = self._log.supersede(self._log.resolve(old), by=self._log.resolve(new), why=why)
        self._print_decision(decision, "superseded")

    def amend(
        self,
        beginning: str,
        texts: RecordTexts,
        links: Sequence[tuple[Relation, str]],
        *,
        why: str,
        version: int | None,
    ) -> None:
        """Change what the record of a decision says, and how the decision stands to others.

        Raises:
            ConfigError: There is nothing to amend, or a link that cannot be.
            LifecycleError: It has another version, or cannot be amended.
        """
        decision_id = self._log.resolve(beginning)
        titles = self._log.get(decision_id).candidate.options
        change = texts.particulars(titles=titles, every=True)
        if not links and change is None:
            raise ConfigError(
                "there is nothing to amend: --context, --chosen, --option, --pro, --con, --consequence, "
                "--decider or --link KIND=ID"
            )
        targets = self._targets(links)
        if any(other == decision_id for _, other in targets):
            raise ConfigError(f"--link: decision {decision_id} cannot be linked to itself")
        if change is not None:
            self._log.amend(decision_id, change, why=why, version=version)
        self._link(decision_id, targets, why=why)
        self._print_decision(self._log.get(decision_id), "amended")

    def say(self, beginning: str, standing: RecordStatus, *, why: str) -> None:
        """Note what the team says of a decision."""
        decision = self._log.amend(self._log.resolve(beginning), Particulars(standing=standing), why=why)
        self._print_decision(decision, standing.value)

    def _targets(self, links: Sequence[tuple[Relation, str]]) -> list[tuple[Relation, str]]:
        """The links with whole ids, before anything is written."""
        targets = [(relation, self._log.resolve(beginning)) for relation, beginning in links]
        for relation, other in targets:
            status = self._log.get(other).status
            if relation is Relation.SUPERSEDES and status is not Status.KEPT:
                raise ConfigError(f"--link supersedes={other}: it is {status.value}, not kept")
        return targets

    def _link(self, decision_id: str, targets: Sequence[tuple[Relation, str]], *, why: str = "") -> None:
        for relation, other in targets:
            if relation is Relation.SUPERSEDES:
                self._log.supersede(other, by=decision_id, why=why)
            else:
                self._log.link(decision_id, relation, other, why=why)

    def _print_answer(self, answer: DecisionAnswer) -> None:
        if self._as_json:
            print_json(answer.to_dict())
            return
        terminal = console()
        verdict = answer.verdict.value.replace("_", " ")
        line = Text.assemble((verdict, _VERDICT_STYLES[answer.verdict]), " ", plain(answer.id or ""))
        terminal.print(line, soft_wrap=True)
        for text in (answer.reason, *answer.asks):
            if text:
                terminal.print(styled(text, indent=2), soft_wrap=True)
        duplicate = answer.duplicate
        if duplicate is not None and duplicate.is_duplicate and duplicate.of is not None:
            terminal.print(styled(self._described(duplicate.of), "dim", indent=2), soft_wrap=True)
        for earlier in answer.reversals:
            question = f"Does it take the place of {self._described(earlier)}?"
            terminal.print(styled(question, "magenta", indent=2), soft_wrap=True)
        if answer.degraded:
            terminal.print(
                styled(f"The gate could not be asked: {answer.degraded}", indent=2), soft_wrap=True
            )
        if answer.verdict is DecisionVerdict.QUARANTINED and answer.id:
            terminal.print(
                styled(
                    f"It is in quarantine; `ebbtide decisions restore {answer.id}` brings it back.",
                    "dim",
                    indent=2,
                ),
                soft_wrap=True,
            )

    def _print_decision(self, decision: Decision, what: str) -> None:
        if self._as_json:
            print_json(decision_document(decision))
        else:
            console().print(Text.assemble((what, "bold"), " ", plain(decision.id)), soft_wrap=True)

    def _described(self, decision_id: str) -> str:
        try:
            text = self._log.get(decision_id).candidate.description
        except UnknownDecisionError:
            return decision_id
        return f"{decision_id}: {text}"


Log = Annotated[
    str | None,
    Option(
        "--log",
        metavar="FILE|URL",
        envvar="EBBTIDE_LOG",
        help="File or postgresql:// URL; else a file in your data folder.",
    ),
]
Tenant = Annotated[str, Option("--tenant", metavar="NAME", help="Whose log.")]
Agent = Annotated[str | None, Option("--agent", "-a", metavar="NAME", help=OF_AGENT)]
Session = Annotated[
    str | None, Option("--session", "-s", metavar="NAME", help="Of which session; without it, of all.")
]
GateMode = Annotated[Mode, Option("--mode", help="What the gate may do: shadow, advise or enforce.")]
TextFile = Annotated[Path | None, Option("--file", "-f", metavar="FILE", help="Read the text from FILE.")]
Frame = Annotated[
    str, Option("--frame", metavar="NAME", help="What the agent was doing: decision, debug, task, ...")
]
Reasons = Annotated[
    list[str] | None,
    Option("--reason", "-r", metavar="TEXT", help="Why, such as 'analysis: it is faster'. Repeatable."),
]
Options = Annotated[
    list[str] | None, Option("--option", metavar="TEXT", help="What was weighed. Repeatable.")
]
Assumptions = Annotated[
    list[str] | None, Option("--assume", metavar="TEXT", help="What has to hold. Repeatable.")
]
StakesOf = Annotated[Stakes | None, Option("--stakes", help="What it costs to be wrong.")]
Category = Annotated[
    str | None, Option("--category", "-c", metavar="NAME", help="Any name, such as architecture or tooling.")
]
Confidence = Annotated[
    float | None, Option("--confidence", metavar="P", help="How sure it is to turn out right, 0 to 1.")
]
ConfidenceFrom = Annotated[
    ConfidenceSource | None,
    Option("--confidence-source", help="Where that is from; without it exactly 0.5 is the default."),
]
Prediction = Annotated[str | None, Option("--predict", metavar="TEXT", help="What is expected to happen.")]
ReviewBy = Annotated[
    str | None,
    Option("--review-by", metavar="WHEN", help="When to look how it turned out: 2026-03-01, or 30d."),
]
Links = Annotated[
    list[str] | None,
    Option(
        "--link",
        metavar="KIND=ID",
        help="How it stands to another one: depends_on, related_to, contradicts or supersedes. Repeatable.",
    ),
]
Context = Annotated[str | None, Option("--context", metavar="TEXT", help="The problem that is decided.")]
Chosen = Annotated[str | None, Option("--chosen", metavar="TEXT", help="The option that was chosen.")]
Consequences = Annotated[
    list[str] | None, Option("--consequence", metavar="TEXT", help="What follows from it. Repeatable.")
]
Pros = Annotated[
    list[str] | None,
    Option("--pro", metavar="TEXT", help="What speaks for an option: 'SQLite: no server'. Repeatable."),
]
Cons = Annotated[
    list[str] | None,
    Option("--con", metavar="TEXT", help="What speaks against one: 'SQLite: one writer'. Repeatable."),
]
Deciders = Annotated[list[str] | None, Option("--decider", metavar="NAME", help="Who decided. Repeatable.")]
Proposed = Annotated[bool, Option("--proposed", help="It is proposed, and not accepted yet.")]
GuardrailsFile = Annotated[
    str | None,
    Option("--guardrails", metavar="FILE", type=FILE, help="TOML file of rules for decisions."),
]
Force = Annotated[bool, Option("--force", help="Record it over the objection of the gate.")]
By = Annotated[str, Option("--by", metavar="NAME", help="Who says so.")]
Why = Annotated[str, Option("--why", metavar="TEXT", help="Why.")]
Statuses = Annotated[
    list[Status] | None, Option("--status", metavar="STATUS", help="Only these. Repeatable.")
]
Users = Annotated[bool, Option("--users", help="Read what users say too.")]
Limit = Annotated[
    int, Option("--limit", "-n", metavar="N", at_least=1, at_most=100_000, help="How many at most.")
]
Since = Annotated[str | None, Option("--since", metavar="WHEN", help=SINCE)]
Until = Annotated[str | None, Option("--until", metavar="WHEN", help=UNTIL)]
Identifier = Annotated[str, Argument(metavar="ID", help="Id of a decision, or its beginning.")]

_OF_A_LOG = {
    "log": (Log, None),
    "tenant": (Tenant, "default"),
    "agent": (Agent, None),
    "session": (Session, None),
}


def with_log(*, session: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options that name a log; what they say is its first argument, a `Place`.

    Args:
        session: Whether one session can be named too.
    """
    options = {name: option for name, option in _OF_A_LOG.items() if session or name != "session"}
    return shared(options, Place)


Details = dict[str, Any]  # what `DecisionOptions.of` takes beside the text

_OF_A_RECORD = {
    "context": (Context, None),
    "choice": (Chosen, None),
    "options": (Options, None),
    "pros": (Pros, None),
    "cons": (Cons, None),
    "consequences": (Consequences, None),
    "deciders": (Deciders, None),
}

#: What a record says, as `RecordTexts` takes it.
with_record_texts = shared(_OF_A_RECORD, dict)

with_details = shared(
    {
        **_OF_A_RECORD,
        "proposed": (Proposed, False),
        "reasons": (Reasons, None),
        "assumptions": (Assumptions, None),
        "stakes": (StakesOf, None),
        "category": (Category, None),
        "confidence": (Confidence, None),
        "confidence_source": (ConfidenceFrom, None),
        "prediction": (Prediction, None),
        "review_by": (ReviewBy, None),
    },
    dict,
)


_LINKS = (Relation.DEPENDS_ON, Relation.RELATED_TO, Relation.CONTRADICTS, Relation.SUPERSEDES)
_LONGEST = 4 << 20  # bytes of a text
_SPAN = re.compile(r"\+?(\d{1,5})([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def typed_text(argument: str | None, file: Path | None, what: str = "description") -> str:
    """A text as an argument, ``-`` for standard input, or from a file.

    Raises:
        ConfigError: There is none, or there are two.
        TranscriptError: It cannot be read, or it is not UTF-8.
    """
    if (argument is None) == (file is None):
        raise ConfigError(f"one {what} is needed: as an argument, - for standard input, or --file FILE")
    if argument is not None and argument != STDIN:
        return _utf8(argument.encode(errors="surrogateescape"), f"the {what}")
    source = STDIN if file is None else file
    return _utf8(read_bytes(source, _LONGEST), str(file or "<stdin>")).rstrip("\r\n")


def moment_of(text: str | None, name: str) -> float | None:
    """A time as written on the command line: a date, a date with a time, or ``30d`` from now (h, d, w, m, y).

    Raises:
        ConfigError: It is written in another way.
    """
    if text is None:
        return None
    span = _SPAN.fullmatch(text.strip().lower())
    if span:
        return system_clock() + timedelta(hours=int(span[1]) * _HOURS[span[2]]).total_seconds()
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ConfigError(
            f"{name} {text!r:.60}: expected such as 2026-03-01, 2026-03-01T10:00Z or 30d"
        ) from None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()


def past_moment_of(text: str | None, name: str) -> float | None:
    """Likewise, but ``30d`` is so long ago."""
    span = None if text is None else _SPAN.fullmatch(text.strip().lower())
    if span:
        return system_clock() - timedelta(hours=int(span[1]) * _HOURS[span[2]]).total_seconds()
    return moment_of(text, name)


def reasons_of(texts: Sequence[str]) -> tuple[Reason, ...]:
    """Reasons as written on the command line: ``analysis: it is faster``, or without a kind."""
    reasons = []
    for text in texts:
        kind, colon, rest = text.partition(":")
        if colon and kind.strip().lower() in tuple(ReasonKind) and rest.strip():
            reasons.append(Reason(text=rest.strip(), kind=ReasonKind(kind.strip().lower())))
        else:
            reasons.append(Reason(text=text))
    return tuple(reasons)


def links_of(texts: Sequence[str]) -> tuple[tuple[Relation, str], ...]:
    """Links as written on the command line: ``depends_on=ID``.

    Raises:
        ConfigError: One is written in another way.
    """
    links = []
    for text in texts:
        kind, _, beginning = text.partition("=")
        name = kind.strip().lower().replace("-", "_")
        if name not in _LINKS or not beginning.strip():
            raise ConfigError(f"--link {text!r:.60}: expected KIND=ID, where KIND is {', '.join(_LINKS)}")
        links.append((Relation(name), beginning.strip()))
    return tuple(links)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTexts:
    """What a record says, as it is written on the command line."""

    context: str | None = None
    choice: str | None = None
    options: Sequence[str] | None = None
    pros: Sequence[str] | None = None
    cons: Sequence[str] | None = None
    consequences: Sequence[str] | None = None
    deciders: Sequence[str] | None = None

    def particulars(
        self, standing: RecordStatus | None = None, *, titles: Sequence[str] = (), every: bool = False
    ) -> Particulars | None:
        """What was typed; None where nothing was.

        Args:
            standing: What the team says of the decision.
            titles: The options that it has already.
            every: Whether options without arguments are among it.

        Raises:
            ConfigError: A text is empty, or an argument is of no option.
        """
        options, consequences, deciders = self.options or (), self.consequences or (), self.deciders or ()
        texts = (self.context, self.choice, *options, *consequences, *deciders)
        if any(text is not None and not text.strip() for text in texts):
            raise ConfigError("--context, --choice, --option, --consequence and --decider need a text")
        names = list(dict.fromkeys((*titles, *options)))
        pros, cons = _arguments(self.pros or (), names, "--pro"), _arguments(self.cons or (), names, "--con")
        weighed = tuple(
            RecordOption(title=name, pros=tuple(pros[name]), cons=tuple(cons[name]))
            for name in names
            if pros[name] or cons[name] or (every and name in options)
        )
        particulars = Particulars(
            standing=standing,
            context=self.context,
            choice=self.choice,
            options=weighed,
            consequences=tuple(consequences),
            deciders=tuple(deciders),
        )
        return None if particulars == Particulars() else particulars


def _arguments(texts: Sequence[str], names: Sequence[str], flag: str) -> dict[str, list[str]]:
    """The arguments of each option; of two names with which one begins, the longer counts."""
    arguments: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        fitting = [name for name in names if text.startswith(f"{name}:") and text[len(name) + 1 :].strip()]
        if not fitting:
            there = ", ".join(names) or "none; --option names one"
            raise ConfigError(f"{flag} {text!r:.60}: expected OPTION: TEXT, where the options are {there}")
        name = max(fitting, key=len)
        arguments[name].append(text[len(name) + 1 :].strip())
    return arguments


def _utf8(data: bytes, source: str) -> str:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise TranscriptError(
            f"not UTF-8: 0x{byte:02x} at byte {error.start}", source=source, hint="Save it as UTF-8."
        ) from error
