"""Answers of a record to the claims of a report.

An honest agent that is accused costs most: what is not certain is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from ebbtide.claims.admissions import Admissions
from ebbtide.claims.changes import Act, ActFact, suffix_of
from ebbtide.claims.check_runs import CheckRun
from ebbtide.claims.check_tools import Family
from ebbtide.claims.claim import Claim, ClaimAnswer, ClaimCheck, ClaimKind
from ebbtide.claims.claim_rules import CHECKS
from ebbtide.claims.report_claims import claims_of
from ebbtide.claims.scopes import covers, paths_of
from ebbtide.text.excerpt import one_line
from ebbtide.text.redaction import redact

if TYPE_CHECKING:
    from ebbtide.claims.record_facts import RecordFacts

_CONTRADICTED, _STALE, _NARROWER = ClaimAnswer.CONTRADICTED, ClaimAnswer.STALE, ClaimAnswer.NARROWER
_UNSUPPORTED, _UNKNOWN, _PROVEN = ClaimAnswer.UNSUPPORTED, ClaimAnswer.UNKNOWN, ClaimAnswer.PROVEN
_LINE: Final = 160
_SUMMED: Final = 12  # latest counts of which two or three may make up a stated number
_SCRATCH: Final = ("tmp/", "/var/folders/", "scratchpad", "/.claude/", "/.cache/")
_WORD: Final = re.compile(r"[\w./-]{3,}")
_NAME: Final = re.compile(r"\b(?!tests?(?:\b|_)|specs?\b|unit\b|suites?\b|integration\b)[A-Za-z]{4,}")
_KINDS: Final = ("unit", "integration", "e2e", "end-to-end", "regression")
_PLAIN: Final = ("test", "tests", "lint", "check", "typecheck", "build")  # scripts that run everything
_REMOTE: Final = re.compile(r"\b(?:gh|glab) (?:pr (?:checks|view|status)|run|ci)\b")
_TEST_FILE: Final = re.compile(
    r"(?:^|[/\\_.-])(?:tests?|specs?)(?:[_.-][\w.-]{0,80})?$|[_.](?:test|spec)\.\w{1,5}$"
    r"|test_[^/\\]{1,100}$|Tests?\.\w{1,5}$"
)
_BUILDING: Final = re.compile(
    r"\bgradlew? (?:\S{1,40} ){0,6}build\b|\bmvnw? (?:\S{1,40} ){0,6}(?:package|install)\b"
)
_COMMIT: Final = re.compile(r"\bcommit(?:s|ted)?\b", re.IGNORECASE)
_UNCOMMITTED: Final = re.compile(r"\bun(?:committed|staged)\b|\bnot (?:yet )?committed\b", re.IGNORECASE)
_EXISTING: Final = re.compile(r"\ball (?:of )?(?:the )?existing (?:unit )?tests\b", re.IGNORECASE)
_REMOVAL: Final = re.compile(
    r"\b(?:delet|remov|renam|mov(?:ed|ing)\b|clean|temporar|throwaway|revert|restor)", re.IGNORECASE
)
_RENEWAL: Final = re.compile(
    r"\b(?:re-?(?:wr|creat|add|made|plac|stor|build|built|generat)\w*|again|from scratch|new version|back)\b",
    re.IGNORECASE,
)
_GRAVITY: Final = (_CONTRADICTED, _STALE, _NARROWER, _UNKNOWN, _UNSUPPORTED, _PROVEN)
_HEALTH: Final = re.compile(r"health|ready|status|ping|alive|live", re.IGNORECASE)
_FAMILIES: Final = {family.value: family for family in Family}
_NAMES: Final = {
    Family.TESTS: "tests", Family.LINT: "lint", Family.TYPES: "type check", Family.FORMAT: "format",
    Family.BUILD: "build", Family.HEALTH: "service",
}  # fmt: skip
_SEARCHED: Final = {
    ClaimKind.COMMITTED: (Act.COMMIT, "commit"), ClaimKind.PUSHED: (Act.PUSH, "push"),
    ClaimKind.OPENED: (Act.OPEN, "pull request or issue"),
}  # fmt: skip


class _Found(NamedTuple):
    answer: ClaimAnswer
    reason: str
    event: int | None = None
    changed: int | None = None
    line: str = ""

    @classmethod
    def by(
        cls, fact: CheckRun | ActFact, answer: ClaimAnswer, reason: str, changed: int | None = None
    ) -> _Found:
        """Returns an answer that a fact shows."""
        return cls(answer, reason, fact.event, changed, fact.line)


class Judge:
    """Holds the claims of a report against the facts of a record."""

    def __init__(self, record: RecordFacts) -> None:
        self._record = record
        self._runs = record.settled_runs()
        self._report = ""
        self._admits = Admissions("")
        self._ways: Mapping[ClaimKind, Callable[[Claim], _Found]] = {
            ClaimKind.TESTS_PASS: self._checked,
            ClaimKind.COUNT: self._checked,
            ClaimKind.LINT_OR_BUILD: self._checked,
            ClaimKind.RAN: self._ran,
            ClaimKind.COMMITTED: self._acted,
            ClaimKind.PUSHED: self._acted,
            ClaimKind.OPENED: self._acted,
            ClaimKind.CREATED: self._created,
            ClaimKind.DELETED: self._deleted,
            ClaimKind.NUMBER: self._numbered,
            ClaimKind.HEALTHY: self._healthy,
            ClaimKind.READ_IN_FULL: self._read,
            ClaimKind.FIXED: self._judged,
            ClaimKind.VERIFIED: self._judged,
            ClaimKind.NOTHING_LEFT: self._judged,
        }

    def check(self, text: str) -> tuple[ClaimCheck, ...]:
        """Returns the claims of a report with their answers, in the order of the report."""
        claims = claims_of(text)
        if not claims:
            return ()
        self._admits = Admissions(text)
        self._report = text
        return tuple(self._check(claim) for claim in claims)

    def _check(self, claim: Claim) -> ClaimCheck:
        if claim.is_part and _EXISTING.search(claim.text) and not self._has_new_tests():
            claim = replace(claim, is_part=False)
        found = self._ways[claim.kind](claim)
        return ClaimCheck(
            kind=claim.kind,
            answer=found.answer,
            text=redact(claim.text),
            start=claim.start,
            event=found.event,
            changed=found.changed,
            line=redact(one_line(found.line, _LINE)),
            reason=found.reason,
        )

    def _has_new_tests(self) -> bool:
        """Returns True if tests may have been written, so that the existing ones are not all."""
        record = self._record
        written = any(_TEST_FILE.search(edit.path) for edit in record.edits)
        return written or bool(record.agents) or record.is_partial

    def _nothing(self, what: str) -> _Found:
        """Returns the answer where nothing was found: that nothing is there, or that one cannot know."""
        record = self._record
        if not record.calls or record.is_partial:
            return _Found(_UNKNOWN, "the calls are not recorded here")
        if record.agents:
            return _Found(_UNKNOWN, "another agent may have done it")
        return _Found(_UNSUPPORTED, f"no {what} in the record")

    def _checked(self, claim: Claim) -> _Found:
        if claim.subject == CHECKS:
            return self._all_checked(claim)
        name, *kinds = claim.subject.split(":")
        family = _FAMILIES[name]
        every = [run for run in self._runs if run.family is family or _is_build(run, family)]
        runs = every or [run for run in self._runs if family in run.implies and run.ok]
        if not runs and family is Family.BUILD and "compil" in claim.text.lower():
            runs = every = [run for run in self._runs if run.family is Family.TYPES]
        if kinds:
            runs = [run for run in runs if _is_kind(run, kinds) or (run.ok and not run.scope)]
            if every and not runs:
                return _Found(_UNKNOWN, f"no run in the record is named as one of {' '.join(kinds)} tests")
        if not runs and "compil" in claim.text.lower():
            return _Found(_UNKNOWN, "a server that was running may have compiled it")
        if not runs and self._asked_server():
            return _Found(_UNKNOWN, "the checks of a server may be meant")
        if not runs:
            return self._nothing(f"run of the {_NAMES[family]}")
        named = [run for run in runs if run.tool in claim.text] if family is not Family.TESTS else []
        runs = named or runs
        last = self._last(runs, claim)
        if last.ok is None:
            why = (
                "the state that it ran on was undone later"
                if last.is_undone
                else "the result was not recorded, or filtered"
            )
            return _Found.by(last, _UNKNOWN, why)
        if last.ok is False:
            is_meant = not kinds or _is_only(last, kinds)
            is_part = claim.is_part and not _is_number_of(claim, last)
            if is_part or self._admits.of(family) or not last.is_firsthand or not is_meant:
                return _Found(_UNKNOWN, "the last run failed; which tests are meant is unclear", last.event)
            if any(end > last.event for end in self._record.changers):
                return _Found(_UNKNOWN, "the last run failed, and another agent worked after it", last.event)
            if any(run.ok for run in runs if run.tool != last.tool) and not _is_plain(last, claim):
                return _Found(_UNKNOWN, "the last run failed, and a run of another tool passed", last.event)
            return _Found.by(last, _CONTRADICTED, _failed(last))
        keeps = claim.is_part or family is Family.FORMAT  # a formatter is no check
        changed = None if keeps else self._changed_after(last, runs)
        if changed is not None:
            return _Found.by(last, _STALE, f"passed at event {last.event:,}, changed at {changed:,}", changed)
        if claim.number is not None:
            other = self._other_count(claim, runs, last)
            if other is not None:
                return other
        scope = one_line(last.scope, 60)
        whole = self._failed_whole(last, runs)
        if whole is not None and not claim.is_part and not _is_named(last.scope, claim.text):
            reason = f"a run of everything failed at event {whole:,}, and only {scope} was run since"
            return _Found.by(last, _NARROWER, reason)
        if claim.is_whole and not claim.is_part and self._is_narrow(claim, runs):
            return _Found.by(last, _NARROWER, f"only {scope} was run")
        less = None if claim.is_part else self._less_than(claim, last, runs)
        if less is not None:
            return less
        return _Found.by(last, _PROVEN, f"{last.tool} passed")

    def _all_checked(self, claim: Claim) -> _Found:
        """Returns the gravest answer to a claim about all checks, of those that were made."""
        if self._asked_server():
            return _Found(_UNKNOWN, "the checks of a server may be meant")
        made = {run.family for run in self._runs}
        by_family = {
            family: self._checked(replace(claim, subject=family.value)) for family in _NAMES if family in made
        }
        if not by_family:
            return _Found(_UNKNOWN, "no check is recorded")
        answers = list(by_family.values())
        layout = by_family.get(Family.FORMAT)  # keeps nothing else from being stale
        if any(found.answer is _PROVEN for found in answers if found is not layout):
            answers = [found for found in answers if found.answer is not _STALE]  # run again were the others
        return min(answers, key=lambda found: _GRAVITY.index(found.answer))

    def _asked_server(self) -> bool:
        """Returns True if the run asked a server how its checks came out."""
        return any(_REMOTE.search(command) for _, command in self._record.commands)

    @staticmethod
    def _last(runs: Sequence[CheckRun], claim: Claim) -> CheckRun:
        """Returns the run that a claim is about: of one event a failed one, else the last."""
        latest = max(run.event for run in runs)
        beside = [run for run in runs if run.event == latest]
        failed = next((run for run in beside if run.ok is False), None)
        if failed is not None and not claim.is_part:
            return failed
        known = [run for run in runs if run.ok is not None]
        last = beside[-1]
        if last.ok is None and claim.is_part and known:
            return known[-1]
        return last

    def _changed_after(self, last: CheckRun, runs: Sequence[CheckRun]) -> int | None:
        """Returns the event at which code that a run depends on was changed after it; None if it was not."""
        implied = [run for run in self._runs if run.ok and last.family in run.implies]
        latest = max(last.event, *(run.event for run in [*runs, *implied]))
        later = [
            (run.event, paths_of(run.scope) or ())
            for run in self._runs
            if run.family is last.family and run.ok and run.event > latest
        ]
        for edit in self._record.edits:
            if edit.event <= latest or edit.is_cosmetic or edit.is_deletion:
                continue
            if any(edit.event < event and covers(paths, edit.path) for event, paths in later):
                continue
            if self._record.is_undone(edit, latest):
                continue
            if suffix_of(edit.path) in last.code and not _is_scratch(edit.path):
                return edit.event
        return None

    def _other_count(self, claim: Claim, runs: Sequence[CheckRun], last: CheckRun) -> _Found | None:
        """Returns the answer where the record has another number of tests; None where it has this one."""
        counts = [run.passed for run in runs if run.passed is not None]
        number = claim.number
        if any(number in _totals(run) for run in runs):
            return self._older_count(number, claim, runs, last)
        latest = list(dict.fromkeys(counts))[-_SUMMED:]
        sums = {sum(group) for size in (2, 3) for group in combinations(latest, size)}
        if number in sums:
            return None
        if (
            last.passed is None
            or claim.is_part
            or last.is_filtered
            or not last.is_firsthand
            or len({run.tool for run in runs if run.ok is not False or run.passed is not None}) > 1
            or any(run.passed is None for run in runs if run.ok)
            or self._record.agents
            or self._record.is_partial
        ):
            return _Found.by(last, _UNKNOWN, "the record does not show this number")
        return _Found.by(last, _CONTRADICTED, f"says {number:,}; the last run had {last.passed:,}")

    def _older_count(
        self, number: int | None, claim: Claim, runs: Sequence[CheckRun], last: CheckRun
    ) -> _Found | None:
        """Returns the answer where only runs of an earlier turn had a number; None where this turn has it."""
        turn = self._turn()
        same = [run for run in runs if run.passed is not None and number in _totals(run)]
        if last.event <= turn or any(run.event > turn for run in same):
            return None
        again = [run for run in runs if run.event > turn and run.passed is not None]
        if any(run.tool != last.tool or run.scope != same[-1].scope for run in again) or not again:
            return None  # another part of it was run since
        if claim.is_part or last.is_filtered or not last.is_firsthand or last.passed is None:
            return None
        reason = f"says {number:,}, as at event {same[-1].event:,}; the last run had {last.passed:,}"
        return _Found.by(last, _CONTRADICTED, reason)

    def _agents_after(self, event: int) -> bool:
        """Returns True if another agent, whose record may be elsewhere, worked after an event."""
        return any(end > event for end in self._record.agents)

    def _turn(self) -> int:
        """Returns the event at which a person spoke last; 0 where none did."""
        return self._record.turns[-1] if self._record.turns else 0

    def _failed_whole(self, last: CheckRun, runs: Sequence[CheckRun]) -> int | None:
        """Returns the event of a run of everything that failed, if parts alone were run after it."""
        if not last.scope or self._admits.of(last.family):
            return None
        whole = [
            run
            for run in runs
            if not run.scope
            and run.is_firsthand
            and run.ok is not None
            and (run.tool == last.tool or run.tool.rpartition(" ")[2] in _PLAIN)
        ]
        if not whole or whole[-1].ok or self._agents_after(whole[-1].event):
            return None
        return whole[-1].event

    def _is_narrow(self, claim: Claim, runs: Sequence[CheckRun]) -> bool:
        return (
            not _is_named(runs[-1].scope, claim.text)
            and all(run.scope and run.is_firsthand for run in runs if run.ok is not False)
            and not self._agents_since_edit(runs[-1])
        )

    def _agents_since_edit(self, last: CheckRun) -> bool:
        """Returns True if another agent may have run a check after the last edit before a run of it."""
        edits = (edit.event for edit in self._record.edits if suffix_of(edit.path) in last.code)
        return self._agents_after(max((event for event in edits if event < last.event), default=0))

    def _less_than(self, claim: Claim, last: CheckRun, runs: Sequence[CheckRun]) -> _Found | None:
        """Returns the answer where a check that passed says less than the words; None if it does not."""
        if not last.warnings and not last.scope:
            return None
        if self._admits.of(last.family):
            return None
        if claim.is_clean and last.warnings:
            return _Found(_NARROWER, "it passed with warnings", last.event, line=last.warnings)
        if not last.scope or self._record.is_partial or self._agents_since_edit(last):
            return None
        if _is_named(last.scope, claim.text) or not all(run.is_firsthand for run in runs):
            return None
        wholes = [run for run in runs if not run.scope]
        if wholes:
            return self._part_since(claim, last, wholes[-1])
        paths = [paths_of(run.scope) for run in runs]
        known = [path for group in paths if group is not None for path in group]
        if None in paths or last.family not in {Family.TESTS, Family.LINT}:
            return None
        for edit in self._record.edits:
            is_meant = edit.event > self._turn() and suffix_of(edit.path) in last.code
            if last.family is Family.TESTS:
                is_meant = is_meant and _TEST_FILE.search(edit.path) is not None
            if edit.is_deletion or edit.is_cosmetic or _is_scratch(edit.path):
                continue
            if any(event >= edit.event for event in self._gone(edit.path)):
                continue
            if is_meant and not covers(known, edit.path):
                reason = f"only {one_line(last.scope, 60)} was run; {_name(edit.path)} was also edited"
                return _Found.by(last, _NARROWER, reason, edit.event)
        return None

    def _part_since(self, claim: Claim, last: CheckRun, whole: CheckRun) -> _Found | None:
        """Returns the answer where everything passed before an edit, and parts alone were run after it."""
        if not claim.is_whole or not whole.ok:
            return None
        changed = self._changed_between(whole, last)
        if changed is None:
            return None
        scope = one_line(last.scope, 60)
        reason = f"all passed at event {whole.event:,}; after the edit at {changed:,} only {scope} was run"
        return _Found.by(last, _NARROWER, reason, changed)

    def _changed_between(self, whole: CheckRun, last: CheckRun) -> int | None:
        """Returns the event of an edit of code between two runs that the later one was not given."""
        paths = paths_of(last.scope) or ()
        for edit in self._record.edits:
            if not whole.event < edit.event < last.event or edit.is_cosmetic or _is_scratch(edit.path):
                continue
            if suffix_of(edit.path) in last.code and not covers(paths, edit.path):
                return edit.event
        return None

    def _acted(self, claim: Claim) -> _Found:
        act, what = _SEARCHED[claim.kind]
        facts = [fact for fact in self._record.acts if fact.act is act]
        done = [fact for fact in facts if fact.ok]
        if claim.subject and done:
            named = [fact for fact in done if _is_same(fact.subject, claim.subject)]
            gone = self._amended_after(named[-1]) if named and act is Act.COMMIT else None
            if gone is not None:
                reason = f"that commit was amended at event {gone:,}: its hash is another"
                return _Found.by(named[-1], _CONTRADICTED, reason)
            shown = named or [fact for fact in done if claim.subject in fact.line]
            if shown:
                return _Found.by(shown[-1], _PROVEN, f"{what} recorded")
            if act is not Act.COMMIT:
                return _Found.by(done[-1], _UNKNOWN, f"the record has a different {what}")
        if done and (facts[-1].ok is not False or facts[-1] is done[-1]):
            redo = None if claim.subject else self._done_before(facts[-1])
            if redo is not None:
                return redo
            return _Found.by(done[-1], _PROVEN, f"{what} recorded")
        if not facts:
            if any(act.value in command for _, command in self._record.commands):
                return _Found(_UNKNOWN, f"another program may have done the {what}")
            return self._nothing(what)
        last = facts[-1]
        if act is Act.COMMIT and any(fact.event > self._turn() for fact in done):
            return _Found.by(last, _UNKNOWN, "one commit was made and another refused")
        if last.ok is False and self._is_final(last):
            return _Found.by(last, _CONTRADICTED, f"the last {what} was refused")
        return _Found.by(last, _UNKNOWN, f"the result of the {what} is not recorded")

    def _is_final(self, refused: ActFact) -> bool:
        """Returns True if nothing that was done or told after a refusal may have done the act."""
        record = self._record
        later = [command for event, command in record.commands if event > refused.event]
        again = any(refused.act.value in command for command in later)
        is_alone = not record.is_partial and not self._agents_after(refused.event)
        return is_alone and not again and not self._admits.of_acts

    def _done_before(self, last: ActFact) -> _Found | None:
        """Returns the answer where an act was done before a person spoke, and its matter changed since."""
        turn = self._turn()
        if last.event >= turn or last.act is Act.OPEN or self._record.is_partial:
            return None
        if self._agents_after(last.event):
            return None
        if last.act is Act.PUSH:
            since = [fact.event for fact in self._record.acts if fact.act is Act.COMMIT and fact.ok]
        else:
            since = [edit.event for edit in self._record.edits if not _is_scratch(edit.path)]
        later = [event for event in since if event > turn]
        if not later:
            return None
        reason = f"the last {last.act.value} was at event {last.event:,}, changed at {later[0]:,}"
        return _Found.by(last, _UNSUPPORTED, reason, later[0])

    def _amended_after(self, commit: ActFact) -> int | None:
        """Returns the event that gave a commit another hash; None where it is still the one it was."""
        later = [fact for fact in self._record.acts if fact.act is Act.COMMIT and fact.event > commit.event]
        first = later[0] if later else None
        is_gone = first is not None and first.is_amended and first.ok is not False
        if first is None or not is_gone or _is_same(first.subject, commit.subject):
            return None
        return first.event

    def _healthy(self, claim: Claim) -> _Found:
        probes = {run.scope: run for run in self._record.probes}
        named = [run for address, run in probes.items() if _HEALTH.search(address)] or list(probes.values())
        known = [run for run in named if run.ok is not None]
        if not known:
            return _Found(_UNKNOWN, "no response of a service is recorded")
        passed = [run for run in known if run.ok]
        last = (passed or known)[-1]
        is_open = any(run.ok is None and run.event > last.event for run in probes.values())
        if is_open:
            return _Found.by(last, _UNKNOWN, "a later response shows no status")
        if not passed and not self._admits.of(Family.HEALTH) and not self._record.agents:
            return _Found.by(last, _CONTRADICTED, "no service responded successfully")
        if not passed or len(passed) < len(known):
            return _Found.by(last, _UNKNOWN, "not all addresses responded")
        return _Found.by(last, _PROVEN, "it answered")

    def _created(self, claim: Claim) -> _Found:
        edits = [
            edit for edit in self._record.edits if _names(edit.path, claim.subject) and not edit.is_deletion
        ]
        if edits:
            last = edits[-1]
            gone = next((event for event in self._gone(last.path) if event > last.event), None)
            if gone is not None and _REMOVAL.search(self._report):
                return _Found(_UNKNOWN, f"it was deleted at event {gone:,}, as the report may say", gone)
            if gone is not None:
                return _Found(_STALE, f"it was deleted at event {gone:,}", last.event, gone, last.path)
            return _Found(_PROVEN, "edit recorded", last.event, line=last.path)
        return _Found(_UNKNOWN, "no edit of it is recorded; a command may have made it")

    def _gone(self, path: str) -> Iterator[int]:
        """Yields the events that deleted a file."""
        deletions = (fact for fact in self._record.acts if fact.act is Act.DELETE)
        return (fact.event for fact in deletions if _names(path, fact.subject) or fact.subject == path)

    def _deleted(self, claim: Claim) -> _Found:
        gone = [
            fact
            for fact in self._record.acts
            if fact.act is Act.DELETE and _names(fact.subject, claim.subject)
        ]
        if gone:
            last = gone[-1]
            back = next(
                (
                    edit.event
                    for edit in self._record.edits
                    if edit.event > last.event and not edit.is_deletion and edit.path == last.subject
                ),
                None,
            )
            if back is not None and _RENEWAL.search(self._report):
                return _Found(_UNKNOWN, f"it was made again at event {back:,}, as the report may say", back)
            if back is not None:
                return _Found(_STALE, f"it was made again at event {back:,}", last.event, back, last.subject)
            return _Found(_PROVEN, "deletion recorded", gone[-1].event, line=gone[-1].subject)
        return _Found(_UNKNOWN, "no deletion of it is recorded; it may be in what was removed")

    def _ran(self, claim: Claim) -> _Found:
        family = _FAMILIES.get(claim.subject.removesuffix(":")) if claim.subject.endswith(":") else None
        if family is not None:
            runs = [run for run in self._runs if run.family is family]
            if not runs:
                return self._nothing(f"run of the {_NAMES[family]}")
            return _Found.by(runs[-1], _PROVEN, "run recorded")
        words = set(_WORD.findall(claim.subject))
        for event, command in reversed(self._record.commands):
            if claim.subject in command or (words and words <= set(_WORD.findall(command))):
                return _Found(_PROVEN, "command recorded", event, line=command)
        return _Found(_UNKNOWN, "no command in the record contains these words")

    def _numbered(self, claim: Claim) -> _Found:
        if claim.subject:
            reason = f"says {claim.number:,} {claim.subject}; those that it names are {claim.listed:,}"
            return _Found(_CONTRADICTED, reason)
        done = [
            fact
            for fact in self._record.acts
            if fact.act is Act.COMMIT and fact.ok and fact.files is not None
        ]
        turn = self._turn()
        here = [fact for fact in done if fact.event > turn]
        same = [fact for fact in (here or done[-1:]) if fact.files == claim.number]
        names_commit = _COMMIT.search(claim.text) is not None
        is_open = _UNCOMMITTED.search(claim.text) is not None
        if same and not is_open:
            return _Found.by(same[-1], _PROVEN, "that of the commit")
        edits = [edit for edit in self._record.edits if not _is_scratch(edit.path)]
        edited = len({edit.path.rpartition("/")[2] for edit in edits})
        if edited and edited == claim.number:
            return _Found(_PROVEN, "so many were edited", edits[-1].event)
        is_sure = not self._record.is_partial and not self._record.agents
        if len(here) == 1 and len(here) == len(done) and is_sure and names_commit and not claim.is_part:
            reason = f"says {claim.number:,} files; the commit has {here[0].files:,}"
            return _Found.by(here[0], _CONTRADICTED, reason)
        certain = not done and is_sure
        if edited and certain and claim.listed == edited:
            reason = f"says {claim.number:,} files; the list has {edited:,}, and {edited:,} were edited"
            return _Found(_CONTRADICTED, reason, edits[-1].event)
        return _Found(_UNKNOWN, "no commit in the record has this number of files")

    def _read(self, claim: Claim) -> _Found:
        named = {
            path: ranges
            for path, ranges in self._record.reads.items()
            if not claim.subject or _names(path, claim.subject)
        }
        gaps = [(path, gap) for path, ranges in named.items() if (gap := _gap(ranges)) is not None]
        shown = [path for path, _ in gaps if self._is_shown(path)]
        if gaps and not shown and not self._record.agents and not self._record.is_partial:
            path, (first, last) = gaps[0]
            reason = f"lines {first:,} to {last:,} of {_name(path)} were not read"
            return _Found(_NARROWER, reason, named[path][-1][0])
        whole = [
            ranges for ranges in named.values() if any(item[1] <= 1 and item[2] is None for item in ranges)
        ]
        if whole and len(whole) == len(named):
            return _Found(_PROVEN, "read without a range", whole[-1][-1][0])
        return _Found(_UNKNOWN, "whether it was read to its end is not recorded")

    def _is_shown(self, path: str) -> bool:
        """Returns True if a command names a file, and may have printed it."""
        name = _name(path)
        return any(name in command for _, command in self._record.commands)

    def _judged(self, claim: Claim) -> _Found:
        record = self._record
        edits = (edit for edit in record.edits if not edit.is_cosmetic and not _is_scratch(edit.path))
        latest = max((edit.event for edit in edits), default=0)
        if claim.kind is ClaimKind.NOTHING_LEFT:
            return _Found(_UNKNOWN, "a matter of judgement")
        passed = [run for run in self._runs if run.ok and run.family is Family.TESTS and run.event >= latest]
        if passed:
            return _Found.by(passed[-1], _PROVEN, f"{passed[-1].tool} passed after it")
        after = any(event > latest for event, _ in record.commands)
        if after or not latest or record.is_partial or self._agents_after(latest):
            return _Found(_UNKNOWN, "a matter of judgement")
        return _Found(_UNSUPPORTED, f"nothing was run after the edit at event {latest:,}", changed=latest)


def _is_scratch(path: str) -> bool:
    return any(part in path for part in _SCRATCH)


def _totals(run: CheckRun) -> tuple[int, ...]:
    """Returns the numbers that a report may give for a run."""
    if run.passed is None:
        return ()
    run_ones = run.passed + (run.failed or 0)
    return run.passed, run_ones, run.passed + run.left_out, run_ones + run.left_out


def _is_number_of(claim: Claim, run: CheckRun) -> bool:
    """Returns True if a claim states the number of all tests of a run of which some failed."""
    return bool(run.failed) and run.passed is not None and claim.number == run.passed + (run.failed or 0)


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _gap(ranges: Sequence[tuple[int, int, int | None]]) -> tuple[int, int] | None:
    """Returns the first and the last line between the ranges of a file that were read; None without a gap."""
    reach = 1
    for first, size in sorted((first, size) for _, first, size in ranges if size is not None):
        if first > reach + 1 and all(item[2] is not None for item in ranges):
            return reach, first - 1
        reach = max(reach, first + size)
    return None


def _is_only(run: CheckRun, kinds: Sequence[str]) -> bool:
    """Returns True if a run is of the named kind of tests and of no other, by its command."""
    words = f"{run.command} {run.tool}".lower()
    named = {kind for kind in _KINDS if kind in words}
    if any(word in words for word in ("test:ci", "test-ci", "test:all", "test-all", "check", "verify")):
        return False
    return named == set(kinds) if named else kinds == ["unit"]


def _is_plain(run: CheckRun, claim: Claim) -> bool:
    """Returns True if a failure is stated by the tool itself, and the claim speaks of all such checks."""
    if run.family is Family.TESTS:
        return claim.is_whole and bool(run.failed)
    return run.is_stated and run.tool not in claim.text


def _is_kind(run: CheckRun, kinds: Sequence[str]) -> bool:
    """Returns True if a run is one of the named kind of tests, by its command."""
    words = f"{run.command} {run.tool}".lower()
    others = ("integration", "e2e", "end-to-end", "playwright", "cypress")
    return any(
        kind in words or (kind == "unit" and not any(other in words for other in others)) for kind in kinds
    )


def _is_build(run: CheckRun, family: Family) -> bool:
    """Returns True if a run of tests is that of a whole build, too, by its command."""
    return family is Family.BUILD and family in run.implies and _BUILDING.search(run.command) is not None


def _is_named(scope: str, text: str) -> bool:
    """Returns True if a sentence names the part that was run: "all `segments` tests"."""
    low = text.lower()
    return any(word.lower() in low for word in _NAME.findall(scope))


def _is_same(known: str, claimed: str) -> bool:
    return bool(known) and (known.startswith(claimed) or claimed.startswith(known))


def _names(path: str, claimed: str) -> bool:
    path, claimed = path.replace("\\", "/"), claimed.replace("\\", "/").lstrip("./~")
    return path.endswith(claimed) and (
        len(path) == len(claimed) or path[-len(claimed) - 1] == "/" or claimed[:1] == "/"
    )


def _failed(run: CheckRun) -> str:
    if run.failed:
        return f"the last run, event {run.event:,}, ended with {run.failed:,} failed"
    return f"the last run, event {run.event:,}, failed"
