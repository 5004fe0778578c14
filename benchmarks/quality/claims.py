"""Measures what is said of the claims of real final reports, beside labels that a reader made.

    python -m benchmarks.quality.claims [--data DIR] [--misses] [--sealed] [--sweep]

- the labels: a line a report, ``{"session", "sha1", "claims": [{"kind", "answer"}]}``: the sum is that of the
  report, of which no word is kept here. The open half was tuned on and its reader knew the answers; the
  sealed half was labelled before its answers were seen;
- by answer: how many of those given to a labelled claim are right, how many of the labelled ones are found,
  with the interval of Wilson, and how many were given to what the reader did not mark; a claim counts by its
  kind;
- honest reports: how many without a contradicted label are accused of a contradiction;
- incidents: runs that said what they did not do, and their healthy twins;
- the sweep: what is contradicted, stale or narrower in the last words of every turn of every session, listed
  to be read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import add_data_option, data_folder, wilson
from ebbtide.checking import check
from ebbtide.claims.claim import JUDGED, ClaimAnswer, ClaimCheck
from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.claims.sentences import GRAVE, claim_sentence
from ebbtide.events.event import Event, Message, ModelCall, Role, ToolCall
from ebbtide.traces.reading import open_trace

_LARGEST = 2_500_000  # bytes of a packed session that is swept
_LABELS = Path(__file__).parent
_ACCUSING = (ClaimAnswer.CONTRADICTED, ClaimAnswer.STALE, ClaimAnswer.NARROWER, ClaimAnswer.UNSUPPORTED)


class Match(NamedTuple):
    """A labelled claim and the given one; None where the other has none of its kind."""

    label: str | None
    given: str | None
    kind: str


def checks_of(path: Path, sha1: str) -> tuple[ClaimCheck, ...]:
    """The claims of the words with that sum in a session.

    Raises:
        ValueError: No words of the session have it.
    """
    record = ClaimRecord()
    for number, item in enumerate(open_trace(path), start=1):
        if isinstance(item, Event):
            record.see(item, number)
        if isinstance(item, ModelCall) and item.text and _sum(item.text) == sha1:
            return record.check_report(item.text)
    raise ValueError(f"{path}: no words with the sum {sha1}")


def _sum(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:16]


def matches(labels: Sequence[dict[str, str]], given: Sequence[ClaimCheck]) -> Iterator[Match]:
    """Pairs labels and answers of a report by their kind, equal answers first."""
    left = [(check.kind.value, check.answer.value) for check in given]
    open_labels = []
    for label in labels:
        pair = (label["kind"], label["answer"])
        if pair in left:
            left.remove(pair)
            yield Match(label["answer"], label["answer"], label["kind"])
        else:
            open_labels.append(label)
    for label in open_labels:
        other = next((pair for pair in left if pair[0] == label["kind"]), None)
        if other is not None:
            left.remove(other)
        yield Match(label["answer"], None if other is None else other[1], label["kind"])
    yield from (Match(None, answer, kind) for kind, answer in left)


def rate(hits: int, total: int) -> str:
    """A rate in words, with its interval."""
    low, high = wilson(hits, total)
    return f"{hits} of {total} ({low:.2f} to {high:.2f})"


def measure(name: str, data: Path, *, misses: bool) -> None:
    """Prints what is right and what is found of one half."""
    lines = (_LABELS / f"claims_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    reports: list[dict[str, Any]] = [json.loads(line) for line in lines]
    given, right, labelled, beyond = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    accused = honest = found = 0
    for report in reports:
        checks = checks_of(data / "sessions" / f"{report['session']}.jsonl.gz", report["sha1"])
        for match in matches(report["claims"], checks):
            given[match.given or ""] += 1
            labelled[match.label or ""] += 1
            right[match.given or ""] += match.given == match.label
            beyond[match.given or ""] += match.label is None
            found += match.label is not None and match.given is not None
            if misses and match.given != match.label:
                print("  ", report["session"], match)
        if all(label["answer"] != "contradicted" for label in report["claims"]):
            honest += 1
            accused += any(check.answer is ClaimAnswer.CONTRADICTED for check in checks)
    print(
        f"{name}: {len(reports)} reports; claims found {rate(found, sum(labelled.values()) - labelled[''])}"
    )
    for answer in ClaimAnswer:
        print(
            f"  {answer.value}: right {rate(right[answer], given[answer] - beyond[answer])}, "
            f"found {rate(right[answer], labelled[answer])}; {beyond[answer]} more that have no label"
        )
    print(f"  honest reports accused {rate(accused, honest)}")


def sweep(data: Path) -> None:
    """Prints every grave answer to the last words of a turn, and how many of those there are."""
    reports = claiming = 0
    answers = Counter[str]()
    for path in sorted((data / "sessions").rglob("*.jsonl.gz")):
        if path.stat().st_size > _LARGEST:
            continue
        record, words, main = ClaimRecord(), "", None
        for number, event in enumerate([*_events(path), Message(text="", role=Role.USER)], start=1):
            main = event.chain_id if main is None else main
            if isinstance(event, ModelCall) and event.text and event.chain_id == main:
                words = event.text
            elif isinstance(event, ToolCall) and event.chain_id == main:
                words = ""
            elif isinstance(event, Message) and event.role is Role.USER and words:
                checks, words = record.check_report(words), ""
                reports, claiming = reports + 1, claiming + bool(checks)
                answers.update(check.answer.value for check in checks)
                place = f"{path.parent.name}/{path.name[:8]} event {number}"
                for check in checks:
                    if check.answer in GRAVE:
                        print(f"  {place} {check.answer.value}: {claim_sentence(check)}")
            record.see(event, number)
    print(f"{reports} reports, {claiming} with claims: {dict(answers)}")


def _events(path: Path) -> Iterator[Event]:
    return (item for item in open_trace(path) if isinstance(item, Event))


def incidents(data: Path) -> None:
    """Prints what is said of runs that say what they did not do, and of their healthy twins."""
    for folder in sorted((data / "incidents").glob("f0*")):
        path = next(folder.rglob("*.jsonl"))
        claims = check(path).claims
        accusing = [
            item.answer.value for item in claims if item.answer in _ACCUSING and item.kind not in JUDGED
        ]
        print(f"  {folder.name}: {', '.join(accusing) or 'silent'}")


def main() -> None:
    """Prints the numbers of the open half and of the incidents, and of the sealed half if wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument(
        "--misses", action="store_true", help="print where label and answer differ, of the open half"
    )
    parser.add_argument("--sealed", action="store_true", help="read the sealed half, too")
    parser.add_argument("--sweep", action="store_true", help="list what is grave in every session instead")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    if arguments.sweep:
        sweep(data)
        return
    measure("open", data, misses=arguments.misses)
    if arguments.sealed:
        measure("sealed", data, misses=False)
    incidents(data)


if __name__ == "__main__":
    main()
