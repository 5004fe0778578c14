"""`ebbtide decisions record | start | think | finalize | review | supersede`: what is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from rich.text import Text

from ebbtide.cli.decisions.place import Place
from ebbtide.cli.decisions.typed_input import RecordTexts, moment_of, reasons_of
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.decision_log.deliberation.answer import DecisionAnswer, DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.deliberation.guardrails import load_guardrails
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.particulars import Particulars, RecordStatus
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Link, Mode, Relation, Review, Status
from ebbtide.decision_log.record.review import SIGNAL
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.decisions.candidate import ConfidenceSource, Reason, Stakes
from ebbtide.errors import ConfigError, UnknownDecisionError
from ebbtide.profile import Profile

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
