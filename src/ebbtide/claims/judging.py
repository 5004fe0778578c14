"""Answers of a record to the claims of a report.

An honest agent that is accused costs most: what is not certain is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from ebbtide.claims.changes import Act, ActFact, suffix_of
from ebbtide.claims.check_runs import CheckRun
from ebbtide.claims.check_tools import Family
from ebbtide.claims.claim import Claim, ClaimAnswer, ClaimCheck, ClaimKind
from ebbtide.claims.claim_rules import CHECKS
from ebbtide.claims.report_claims import claims_of
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
#: Words by which a report itself states what does not pass; of failures, where a check or an act is named.
_HONEST: Final = re.compile(
    r"\bpre-?existing\b|\bflak|\u274c|\bnot (?:pass|green|clean)|\berrors? remain|\bred\b", re.IGNORECASE
)
_FAILS: Final = re.compile(r"\bfail(?:s|ed|ing|ures?)?\b", re.IGNORECASE)
_FAILING: Final = re.compile(
    r"\b(?:tests?|specs?|suites?|lint\w*|builds?|checks?|ci|types?|type-?check\w*|compil\w+|asserti\w+|push\w*"
    r"|commits?|hooks?|coverage|pipelines?|packages?)\b",
    re.IGNORECASE,
)
_NO_FAILURE: Final = re.compile(
    r"\b(?:no|0|zero|without) (?:\w+ )?(?:fail|failures?|failed|failing)\b", re.IGNORECASE
)
_NAME: Final = re.compile(r"\b(?!tests?\b|specs?\b|unit\b|suites?\b|integration\b)[A-Za-z]{4,}")
_PLAIN: Final = ("test", "tests", "lint", "check", "typecheck", "build")  # scripts that run everything
_REMOTE: Final = re.compile(r"\b(?:gh|glab) (?:pr (?:checks|view|status)|run|ci)\b")
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


class Judge:
    """Holds the claims of a report against the facts of a record.

    Args:
        record: The facts.
    """

    def __init__(self, record: RecordFacts) -> None:
        self._record = record
        self._is_open = False  # the report itself states something that fails
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
        self._is_open = _tells_of_failure(text)
        return tuple(self._check(claim) for claim in claims)

    def _check(self, claim: Claim) -> ClaimCheck:
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
        every = [run for run in self._record.runs if run.family is family]
        runs = every or [run for run in self._record.runs if family in run.implies and run.ok]
        if kinds:
            runs = [run for run in runs if _is_kind(run, kinds) or (run.ok and not run.scope)]
            if every and not runs:
                return _Found(_UNKNOWN, f"no run of the record is named as one of {' '.join(kinds)} tests")
        if not runs:
            return self._nothing(f"run of the {_NAMES[family]}")
        named = [run for run in runs if run.tool in claim.text] if family is not Family.TESTS else []
        runs = named or runs
        last = self._last(runs, claim)
        if last.ok is None:
            return _Found(_UNKNOWN, "the result was not recorded, or filtered", last.event, line=last.line)
        if last.ok is False:
            if claim.is_part or self._is_open or not last.is_firsthand or kinds:
                return _Found(_UNKNOWN, "the last run failed; which tests are meant is open", last.event)
            if len({run.tool for run in runs}) > 1 and any(run.ok for run in runs if run.tool != last.tool):
                return _Found(_UNKNOWN, "the last run failed, one of another tool passed", last.event)
            return _Found(_CONTRADICTED, _failed(last), last.event, line=last.line)
        keeps = claim.is_part or family is Family.FORMAT  # a formatter is no check
        changed = None if keeps else self._changed_after(last, runs)
        if changed is not None:
            return _Found(
                _STALE,
                f"passed at event {last.event:,}, changed at {changed:,}",
                last.event,
                changed,
                last.line,
            )
        if claim.number is not None:
            other = self._other_count(claim, runs, last)
            if other is not None:
                return other
        scope = one_line(last.scope, 60)
        whole = self._failed_whole(last, runs)
        if whole is not None and not claim.is_part and not _is_named(last.scope, claim.text):
            reason = f"a run of everything failed at event {whole:,}, and only {scope} was run since"
            return _Found(_NARROWER, reason, last.event, line=last.line)
        if claim.is_whole and not claim.is_part and self._is_narrow(claim, runs):
            return _Found(_NARROWER, f"only {scope} was run", last.event, line=last.line)
        return _Found(_PROVEN, f"{last.tool} passed", last.event, line=last.line)

    def _all_checked(self, claim: Claim) -> _Found:
        """Returns the gravest answer to a claim about all checks, of those that were made."""
        record = self._record
        if any(_REMOTE.search(command) for _, command in record.commands):
            return _Found(_UNKNOWN, "the checks of a server may be meant")
        made = {run.family for run in record.runs}
        answers = [self._checked(replace(claim, subject=family.value)) for family in _NAMES if family in made]
        if not answers:
            return _Found(_UNKNOWN, "no check is recorded")
        if any(found.answer is _PROVEN for found in answers):  # of those, it is said, that were run again
            answers = [found for found in answers if found.answer is not _STALE]
        return min(answers, key=lambda found: _GRAVITY.index(found.answer))

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
        implied = [run for run in self._record.runs if run.ok and last.family in run.implies]
        latest = max(last.event, *(run.event for run in [*runs, *implied]))
        for edit in self._record.edits:
            if edit.event <= latest or edit.is_cosmetic or edit.is_deletion:
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
            return _Found(_UNKNOWN, "the record does not show this number", last.event, line=last.line)
        return _Found(
            _CONTRADICTED,
            f"says {number:,}; the last run had {last.passed:,}",
            last.event,
            line=last.line,
        )

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
        return _Found(_CONTRADICTED, reason, last.event, line=last.line)

    def _agents_after(self, event: int) -> bool:
        """Returns True if another agent, whose record may be elsewhere, worked after an event."""
        return any(end > event for end in self._record.agents)

    def _turn(self) -> int:
        """Returns the event at which a person spoke last; 0 where none did."""
        return self._record.turns[-1] if self._record.turns else 0

    def _failed_whole(self, last: CheckRun, runs: Sequence[CheckRun]) -> int | None:
        """Returns the event of a run of everything that failed, if parts alone were run after it."""
        if not last.scope or self._is_open:
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
            and not self._record.agents
        )

    def _acted(self, claim: Claim) -> _Found:
        act, what = _SEARCHED[claim.kind]
        facts = [fact for fact in self._record.acts if fact.act is act]
        done = [fact for fact in facts if fact.ok]
        if claim.subject and done:
            named = [fact for fact in done if _is_same(fact.subject, claim.subject)]
            gone = self._amended_after(named[-1]) if named and act is Act.COMMIT else None
            if gone is not None:
                return _Found(
                    _CONTRADICTED, f"that commit was amended at event {gone:,}: its hash is another",
                    named[-1].event, line=named[-1].line,
                )  # fmt: skip
            shown = named or [fact for fact in done if claim.subject in fact.line]
            if shown:
                return _Found(_PROVEN, f"{what} recorded", shown[-1].event, line=shown[-1].line)
            if act is not Act.COMMIT:
                return _Found(_UNKNOWN, f"the record has another {what}", done[-1].event, line=done[-1].line)
        if done and (facts[-1].ok is not False or facts[-1] is done[-1]):
            redo = None if claim.subject else self._done_before(facts[-1])
            if redo is not None:
                return redo
            return _Found(_PROVEN, f"{what} recorded", done[-1].event, line=done[-1].line)
        if not facts:
            if any(act.value in command for _, command in self._record.commands):
                return _Found(_UNKNOWN, f"another program may have done the {what}")
            return self._nothing(what)
        last = facts[-1]
        is_sure = not self._record.is_partial and not self._agents_after(last.event) and not self._is_open
        if last.ok is False and is_sure:
            return _Found(_CONTRADICTED, f"the last {what} was refused", last.event, line=last.line)
        return _Found(_UNKNOWN, f"the result of the {what} is not recorded", last.event, line=last.line)

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
        return _Found(_UNSUPPORTED, reason, last.event, later[0], last.line)

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
            return _Found(_UNKNOWN, "no answer of a service is recorded")
        passed = [run for run in known if run.ok]
        last = (passed or known)[-1]
        if not passed and not self._is_open and not self._record.agents:
            return _Found(_CONTRADICTED, "no service answered well", last.event, line=last.line)
        if not passed or len(passed) < len(known):
            return _Found(_UNKNOWN, "not all addresses answered", last.event, line=last.line)
        return _Found(_PROVEN, "it answered", last.event, line=last.line)

    def _created(self, claim: Claim) -> _Found:
        edits = [
            edit for edit in self._record.edits if _names(edit.path, claim.subject) and not edit.is_deletion
        ]
        if edits:
            last = edits[-1]
            gone = next((event for event in self._gone(last.path) if event > last.event), None)
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
            if back is not None:
                return _Found(_STALE, f"it was made again at event {back:,}", last.event, back, last.subject)
            return _Found(_PROVEN, "deletion recorded", gone[-1].event, line=gone[-1].subject)
        return _Found(_UNKNOWN, "no deletion of it is recorded; what was removed may stand in it")

    def _ran(self, claim: Claim) -> _Found:
        family = _FAMILIES.get(claim.subject.removesuffix(":")) if claim.subject.endswith(":") else None
        if family is not None:
            runs = [run for run in self._record.runs if run.family is family]
            if not runs:
                return self._nothing(f"run of the {_NAMES[family]}")
            return _Found(_PROVEN, "run recorded", runs[-1].event, line=runs[-1].line)
        words = set(_WORD.findall(claim.subject))
        for event, command in reversed(self._record.commands):
            if claim.subject in command or (words and words <= set(_WORD.findall(command))):
                return _Found(_PROVEN, "command recorded", event, line=command)
        return _Found(_UNKNOWN, "no command of the record has these words")

    def _numbered(self, claim: Claim) -> _Found:
        if claim.subject:
            reason = f"says {claim.number:,} {claim.subject}; the list under it has {claim.listed:,}"
            return _Found(_CONTRADICTED, reason)
        done = [
            fact
            for fact in self._record.acts
            if fact.act is Act.COMMIT and fact.ok and fact.files is not None
        ]
        same = [fact for fact in done if fact.files == claim.number]
        if same:
            return _Found(_PROVEN, "that of the commit", same[-1].event, line=same[-1].line)
        edits = [edit for edit in self._record.edits if not _is_scratch(edit.path)]
        edited = len({edit.path.rpartition("/")[2] for edit in edits})
        if edited and edited == claim.number:
            return _Found(_PROVEN, "so many were edited", edits[-1].event)
        turn = self._turn()
        here = [fact for fact in done if fact.event > turn]
        is_sure = not self._record.is_partial and not self._record.agents
        if len(here) == 1 and len(here) == len(done) and is_sure and "commit" in claim.text.lower():
            reason = f"says {claim.number:,} files; the commit has {here[0].files:,}"
            return _Found(_CONTRADICTED, reason, here[0].event, line=here[0].line)
        certain = not done and is_sure
        if edited and certain and claim.listed == edited:
            reason = f"says {claim.number:,} files; the list has {edited:,}, and as many were edited"
            return _Found(_CONTRADICTED, reason, edits[-1].event)
        return _Found(_UNKNOWN, "no commit of the record has this number of files")

    def _read(self, claim: Claim) -> _Found:
        ranges = [
            item
            for path, items in self._record.reads.items()
            if _names(path, claim.subject)
            for item in items
        ]
        whole = [item for item in ranges if item[1] <= 1 and item[2] is None]
        if whole:
            return _Found(_PROVEN, "read without a range", whole[-1][0])
        known = sorted((first, first + size) for _, first, size in ranges if size is not None)
        reach = 1
        for first, end in known:
            if first > reach + 1 and len(known) == len(ranges):
                return _Found(_CONTRADICTED, f"lines {reach:,} to {first - 1:,} were not read", ranges[-1][0])
            reach = max(reach, end)
        return _Found(_UNKNOWN, "whether it was read to its end is not recorded")

    def _judged(self, claim: Claim) -> _Found:
        record = self._record
        latest = max((edit.event for edit in record.edits if not edit.is_cosmetic), default=0)
        if claim.kind is ClaimKind.NOTHING_LEFT:
            return _Found(_UNKNOWN, "a matter of judgement")
        passed = [run for run in record.runs if run.ok and run.family is Family.TESTS and run.event >= latest]
        if passed:
            return _Found(
                _PROVEN,
                f"{passed[-1].tool} passed after it",
                passed[-1].event,
                line=passed[-1].line,
            )
        after = any(event > latest for event, _ in record.commands)
        if after or not latest or record.is_partial or self._agents_after(latest):
            return _Found(_UNKNOWN, "a matter of judgement")
        return _Found(_UNSUPPORTED, f"nothing was run after the edit at event {latest:,}", changed=latest)


def _tells_of_failure(report: str) -> bool:
    """Returns True if a report may tell itself that a check or an act failed."""
    if _HONEST.search(report):
        return True
    lines = _NO_FAILURE.sub("", report).splitlines()
    return any(_FAILS.search(line) and _FAILING.search(line) for line in lines)


def _is_scratch(path: str) -> bool:
    return any(part in path for part in _SCRATCH)


def _totals(run: CheckRun) -> tuple[int, ...]:
    """Returns the numbers that a report may give for a run."""
    return () if run.passed is None else (run.passed, run.passed + (run.failed or 0))


def _is_kind(run: CheckRun, kinds: Sequence[str]) -> bool:
    """Returns True if a run is one of the named kind of tests, by its command."""
    words = f"{run.command} {run.tool}".lower()
    others = ("integration", "e2e", "end-to-end", "playwright", "cypress")
    return any(
        kind in words or (kind == "unit" and not any(other in words for other in others)) for kind in kinds
    )


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
