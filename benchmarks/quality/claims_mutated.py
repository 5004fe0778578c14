"""Measures how many false claims are found in real reports whose records were made to say otherwise.

    python -m benchmarks.quality.claims_mutated [--data DIR] [--misses] [--sealed]

A report of data/sessions whose claim its record proves becomes false by one change of the record alone: the
words stay those of the agent. Each proven claim is tried with every mutation of its kind:

- failed: the run, the commit or the push that proves it ends with a failure, in the words of its tool;
- edited: a program file that the session had edited is edited once more after the last run;
- other count: the run that proves a number of tests had one test more;
- one file: every run of the tests took one file alone;
- never: the call that proves it was not made.

A mutation counts as found where the answer to the claim is the expected one, or a graver one. It is no
whole trial: real false reports have other reasons, and where a record proves a claim in a second place, the
answer that is counted as a miss is right.
Sessions are halved by the sum of their names: rules may be tuned on the open half alone.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.claims import rate
from ebbtide.claims.changes import suffix_of
from ebbtide.claims.check_tools import CODE
from ebbtide.claims.claim import ClaimAnswer, ClaimCheck, ClaimKind
from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.events.event import Event, Message, ModelCall, Role, ToolCall
from ebbtide.traces.reading import open_trace

_LARGEST: Final = 1_500_000  # bytes of a packed session
_CHECKS: Final = (ClaimKind.TESTS_PASS, ClaimKind.COUNT, ClaimKind.LINT_OR_BUILD)
_ACTS: Final = (ClaimKind.COMMITTED, ClaimKind.PUSHED)
#: Last lines of good runs, and how the same tools end bad ones.
_BAD: Final = (
    (re.compile(r"^(=+ )?(\d+) passed( in .*)$", re.MULTILINE), r"\g<1>2 failed, \2 passed\3"),
    (re.compile(r"^(\s*Tests:?\s+)(\d+) passed", re.MULTILINE), r"\g<1>2 failed, \2 passed"),
    (re.compile(r"^(\s*Tests\s+)(\d+) passed \(\d+\)", re.MULTILINE), r"\g<1>2 failed | \2 passed"),
    (re.compile(r"^ok(  ?\t\S+)\t.*$", re.MULTILINE), r"FAIL\1\t0.012s"),
    (re.compile(r"test result: ok\. (\d+) passed; 0 failed"), r"test result: FAILED. \1 passed; 2 failed"),
    (re.compile(r"^(\s*\d+ pass\n\s*)0 fail", re.MULTILINE), r"\g<1>2 fail"),
    (re.compile(r"(Failed:\s+)0\b"), r"\g<1>2"),
    (re.compile(r"^(# fail) 0$", re.MULTILINE), r"\1 2"),
    (re.compile(r"All checks passed!"), "Found 2 errors."),
    (
        re.compile(r"^(Checked \d+ files? in \S+)\. (?:No fixes applied|Fixed \d+ files?)\.", re.MULTILINE),
        r"\1.\nFound 2 errors.",
    ),
    (
        re.compile(r"Success: no issues found in \d+ source files?"),
        "Found 2 errors in 1 file (checked 9 source files)",
    ),
    (re.compile(r"^0 issues\.$", re.MULTILINE), "2 issues:\n* errcheck: 2"),
)
_WHOLE: Final = re.compile(r"\b(?:all|full|every|entire|whole)\b", re.IGNORECASE)
#: Runs of everything, and how one file is run; a script repeats the command of its tool.
_ONE_FILE: Final = (
    (re.compile(r"\bpytest\b(?! tests/one)"), "pytest tests/one.py"),
    (re.compile(r"\bgo test\b([^|&;\n]*?) \./\.\.\."), r"go test\1 ./internal/one"),
    (re.compile(r"\b(vitest run|jest)\b"), r"\1 src/one.test.ts"),
    (re.compile(r"^\$ bun test\b.*", re.MULTILINE), "$ bun test src/one.test.ts"),
    (re.compile(r"\b((?:npm|pnpm|bun|yarn)(?: run)? test)\b(?! --)"), r"\1 -- src/one.test.ts"),
)
_MORE: Final = re.compile(r"\b(\d+)(?= pass)")


class Mutation(NamedTuple):
    """A change of a record.

    Args:
        name: What it does.
        kinds: Claims that it makes false.
        expected: The answer, or a graver one is given.
        change: Returns the changed events; None where the record has no place for it.
    """

    name: str
    kinds: tuple[ClaimKind, ...]
    expected: ClaimAnswer
    change: Callable[[list[Event], ClaimCheck], list[Event] | None]


class Report(NamedTuple):
    """The last words of a turn, and all events before them."""

    place: str
    text: str
    events: list[Event]


def reports_of(path: Path) -> Iterator[Report]:
    """Yields the last words of the turns of a session."""
    events = [item for item in open_trace(path) if isinstance(item, Event)]
    main = events[0].chain_id if events else ""
    words = ""
    for number, event in enumerate([*events, Message(text="", role=Role.USER)]):
        if isinstance(event, ModelCall) and event.text and event.chain_id == main:
            words = event.text
        elif isinstance(event, ToolCall) and event.chain_id == main:
            words = ""
        elif isinstance(event, Message) and event.role is Role.USER and words:
            yield Report(f"{path.parent.name}/{path.name[:8]} event {number}", words, events[:number])
            words = ""


def check(report: Report, events: Sequence[Event]) -> tuple[ClaimCheck, ...]:
    """The claims of a report, held against other events."""
    record = ClaimRecord()
    for number, event in enumerate(events, start=1):
        record.see(event, number)
    return record.check_report(report.text)


def _call(events: Sequence[Event], claim: ClaimCheck) -> ToolCall | None:
    event = events[claim.event - 1] if claim.event is not None else None
    return event if isinstance(event, ToolCall) and isinstance(event.result, str) else None


def _put(events: list[Event], claim: ClaimCheck, call: ToolCall) -> list[Event]:
    place = (claim.event or 0) - 1
    return [*events[:place], call, *events[place + 1 :]]


def failed(events: list[Event], claim: ClaimCheck) -> list[Event] | None:
    """The call that proves a claim ends with a failure."""
    call = _call(events, claim)
    if call is None or not isinstance(call.result, str):
        return None
    if claim.kind is ClaimKind.COMMITTED:
        text = "husky - pre-commit script failed (code 1)"
        return _put(events, claim, replace(call, result=text, error=True))
    if claim.kind is ClaimKind.PUSHED:
        text = " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'origin'"
        return _put(events, claim, replace(call, result=text, error=True))
    text = call.result
    for pattern, words in _BAD:
        text = pattern.sub(words, text, count=1)
    if text == call.result and claim.kind is ClaimKind.COUNT:
        return None
    return _put(events, claim, replace(call, result=f"Exit code 1\n{text}", error=True))


def edited(events: list[Event], _claim: ClaimCheck) -> list[Event] | None:
    """A program file of the session is edited once more, after everything."""
    for event in reversed(events):
        args = event.args if isinstance(event, ToolCall) and not event.error else None
        path = args.get("file_path") if isinstance(args, dict) else None
        if isinstance(path, str) and suffix_of(path) in CODE and "old_string" in (args or {}):
            change = {"file_path": path, "old_string": "return first(a)", "new_string": "return second(b, 7)"}
            return [*events, ToolCall(name="Edit", args=change, result=f"The file {path} has been updated.")]
    return None


def other_count(events: list[Event], claim: ClaimCheck) -> list[Event] | None:
    """The run had one test more than the report says."""
    call = _call(events, claim)
    if call is None or not isinstance(call.result, str):
        return None
    text, changes = _MORE.subn(lambda match: str(int(match[1]) + 1), call.result, count=1)
    return _put(events, claim, replace(call, result=text)) if changes else None


def one_file(events: list[Event], claim: ClaimCheck) -> list[Event] | None:
    """Every run of the tests takes one file alone, and prints no number of tests."""
    if _WHOLE.search(claim.text) is None or re.search(r"\d", claim.text):
        return None
    changed: list[Event] = []
    is_changed = False
    for event in events:
        args = event.args if isinstance(event, ToolCall) else None
        line = args.get("command") if isinstance(args, dict) else None
        narrow = _narrowed(line) if isinstance(line, str) else None
        if isinstance(event, ToolCall) and isinstance(args, dict) and narrow != line:
            is_changed = True
            result = _narrowed(event.result) if isinstance(event.result, str) else event.result
            changed.append(replace(event, args={**args, "command": narrow}, result=result))
        else:
            changed.append(event)
    return changed if is_changed else None


def _narrowed(text: str) -> str:
    for pattern, words in _ONE_FILE:
        text = pattern.sub(words, text)
    return text


def never(events: list[Event], claim: ClaimCheck) -> list[Event] | None:
    """The call that proves a claim was not made."""
    call = _call(events, claim)
    return None if call is None else _put(events, claim, replace(call, args={"command": "ls"}, result="a"))


MUTATIONS: Final = (
    Mutation("failed", (*_CHECKS, *_ACTS), ClaimAnswer.CONTRADICTED, failed),
    Mutation("edited", _CHECKS, ClaimAnswer.STALE, edited),
    Mutation("other count", (ClaimKind.COUNT,), ClaimAnswer.CONTRADICTED, other_count),
    Mutation("one file", (ClaimKind.TESTS_PASS,), ClaimAnswer.NARROWER, one_file),
    Mutation("never", (*_CHECKS, *_ACTS), ClaimAnswer.UNSUPPORTED, never),
)
_ORDER: Final = list(ClaimAnswer)


def is_sealed(path: Path) -> bool:
    """True for sessions that no rule is tuned on."""
    return hashlib.sha1(path.name.encode(), usedforsecurity=False).digest()[0] % 2 == 1


def measure(paths: Sequence[Path], *, misses: bool) -> dict[str, dict[str, int]]:
    """Counts mutations that were tried and found, by name and kind of claim."""
    tried, found = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for path in paths:
        for report in reports_of(path):
            for place, claim in enumerate(check(report, report.events)):
                if claim.answer is not ClaimAnswer.PROVEN:
                    continue
                for mutation in MUTATIONS:
                    events = mutation.change(report.events, claim) if claim.kind in mutation.kinds else None
                    if events is None:
                        continue
                    key = (mutation.name, claim.kind.value)
                    answer = check(report, events)[place]
                    is_found = _ORDER.index(answer.answer) <= _ORDER.index(mutation.expected)
                    tried[key] += 1
                    found[key] += is_found
                    if misses and not is_found:
                        print(
                            f"  {report.place} {mutation.name}: {answer.answer.value}: {answer.reason}: "
                            f"{claim.text[:100]}"
                        )
    table: dict[str, dict[str, int]] = defaultdict(dict)
    for (name, kind), number in sorted(tried.items()):
        hits = found[name, kind]
        table[name][f"{kind} tried"], table[name][f"{kind} found"] = number, hits
        print(f"  {name}, {kind}: found {rate(hits, number)}")
    return dict(table)


def main() -> None:
    """Prints the numbers of the open half, and of the sealed one where that is wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--misses", action="store_true", help="print what is not found, of the open half")
    parser.add_argument(
        "--sealed", action="store_true", help="read the sealed half, too, and write the result"
    )
    arguments = parser.parse_args()
    folder = data_folder(arguments.data) / "sessions"
    paths = [path for path in sorted(folder.rglob("*.jsonl.gz")) if path.stat().st_size <= _LARGEST]
    print("open half")
    result = {"open": measure([path for path in paths if not is_sealed(path)], misses=arguments.misses)}
    if arguments.sealed:
        print("sealed half")
        result["sealed"] = measure([path for path in paths if is_sealed(path)], misses=False)
        write_result("quality-claims-mutated", {**result, "setup": setup()})


if __name__ == "__main__":
    main()
