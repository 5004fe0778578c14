"""Whether every face says the same of a run: each recorded run at hand, read by all of them, fact by fact.

    python -m benchmarks.quality.faces [--data DIR] [--own] [--every N]

`ebbtide.check` is held against the screen, the report, `loops`, `stop`, `score`, `watch`, the row of an
archive, the row, summary and report of the service, the tool for models, and what hooks and a registry say
while the run goes on. A fact that a face does not have is not compared. A run that grows in a service is
compared as one that is not over, and where events have no time, without times: there they get that of their
arrival.
"""

from __future__ import annotations

import argparse
import html
import io
import json
import re
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, write_result
from ebbtide.batch.results.archived_run import FileRun
from ebbtide.batch.results.run_result import result_of
from ebbtide.checking import check, check_events
from ebbtide.claims.claim import ClaimCheck
from ebbtide.claims.claim_record import LastWords
from ebbtide.claims.sentences import claims_line
from ebbtide.cli.declaration import read_prices
from ebbtide.cli.rounds.score import score
from ebbtide.cli.rounds.stop import stop
from ebbtide.cli.runs.loops import loops
from ebbtide.cli.runs.run_screen import run_screen
from ebbtide.cli.runs.run_table import run_table
from ebbtide.cli.runs.watch import LiveRun
from ebbtide.codec import from_wire
from ebbtide.errors import DegradedEventWarning, EbbtideError
from ebbtide.events.event import Event
from ebbtide.report import wording
from ebbtide.report.page import page
from ebbtide.service.hooks.hook_service import status_line
from ebbtide.service.hooks.hook_session import HookSession
from ebbtide.service.mcp.run_tools import explanation
from ebbtide.service.runs.listing import find_run
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_event import run_event
from ebbtide.service.runs.run_origin import RunOrigin, RunSource
from ebbtide.service.runs.run_report import report, report_claims
from ebbtide.service.runs.run_report import summary as service_summary
from ebbtide.service.runs.waste import keep_waste
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.headline import SECOND, Course, Headline
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.sentences import ended
from ebbtide.traces.reading import open_trace

OPTIONS: Final = RunOptions(prices=read_prices(None))
Facts = dict[str, Any]
Difference = tuple[str, str, Any, Any]  # face, fact, what check says, what the face says

_LARGEST: Final = 12_000_000  # bytes of a compressed file that are read
_PIECE: Final = 50_000  # bytes of a file that grows
_BADGE: Final = re.compile(r'class="badge[^"]*"[^>]*>([^<]*)<')
_LOOPS: Final = (Cause.DIVERGENCE, Cause.SPENDING)
_ANSWERS: Final = {
    Action.ALLOW: "CONTINUE",
    Action.NUDGE: "CONTINUE",
    Action.FINALIZE: "SHIP",
    Action.ESCALATE: "ESCALATE",
    Action.STOP: "ESCALATE",
}
_SHOWN: Final = 40  # differences that are printed
_TIMES: Final = ("began", "ended", "seconds")


def facts_of(summary: RunSummary) -> Facts:
    """The facts of a summary, by name."""
    spent = summary.spent
    return {
        "words": summary.words,
        "end": summary.ending.ending.value,
        "how": ended(summary.ending, refused=summary.facts.failures.refused),
        "reason": summary.reason,
        "at the end": wording.at_end(summary),
        "latest": summary.latest.action.value,
        "rounds": len(summary.rounds),
        "signal": summary.converged,
        "loops": [
            [item.kind, item.copies, item.first_event, item.last_event, _cents(item.cost_usd)]
            for item in summary.findings
            if item.cause in _LOOPS
        ],
        "events": spent.events,
        "tool calls": spent.tool_calls,
        "model calls": spent.llm_calls,
        "tokens": spent.tokens.total,
        "cost": _cents(spent.cost_usd),
        "wasted": _cents(summary.bill.wasted.cost_usd),
        "claims": claims_line(summary.claims),
        "began": summary.began_s,
        "ended": summary.ended_s,
        "seconds": spent.seconds,
    }


def _cents(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 6)


# ----- the faces: each gives what it says of a file, of which `check` said a summary -----


def _wire(path: Path, summary: RunSummary) -> Facts:
    del path
    wire = json.loads(json.dumps(summary.to_dict()))
    spent = wire["spent"]
    return {
        "words": _joined(wire),
        "reason": wire["reason"],
        "rounds": len(wire["rounds"]),
        "events": spent["events"],
        "tool calls": spent["tool_calls"],
        "model calls": spent["llm_calls"],
        "cost": _cents(spent["cost_usd"]),
        "began": wire["began_s"],
        "ended": wire["ended_s"],
        "latest": wire["latest"]["action"],
        "claims": claims_line([from_wire(ClaimCheck, item) for item in wire["claims"]]),
    }


def _screen(path: Path, summary: RunSummary) -> Facts:
    del path
    lines = [line.text for line in run_screen(summary, 10_000)]
    text = "\n".join(lines)
    facts: Facts = {"words": lines[0].partition("  ")[0], "reason": _within(summary.reason, text)}
    facts["claims"] = _claims_within(summary, text)
    how = ended(summary.ending, refused=summary.facts.failures.refused)
    for sentence in (how, wording.at_end(summary)):
        if sentence is not None:
            facts["how" if sentence == how else "at the end"] = _within(sentence, text)
    return facts


def _within(sentence: str, text: str) -> str | None:
    """The sentence, where it is in the text as a screen would show it."""
    return sentence if " ".join(sentence.split())[:60] in " ".join(text.split()) else None


def _claims_within(summary: RunSummary, text: str) -> str | None:
    """The line about the claims, where it is in the text as a whole; empty where there is none to say."""
    line = claims_line(summary.claims)
    shown = " ".join(line.split()) in " ".join(text.split())
    return line if shown and (line or "Claims and the record" not in text) else None


def _row_of_many(path: Path, summary: RunSummary) -> Facts:
    del path
    lines = [line.text for line in run_table([summary, summary], (), 10_000)]
    row = next(line for line in lines if line.startswith(summary.words[:4]))
    return {"words": row.partition("  ")[0]}


def _report(path: Path, summary: RunSummary) -> Facts:
    del path
    return _page_facts(page([summary]), summary)


def _page_facts(text: str, summary: RunSummary) -> Facts:
    match = _BADGE.search(text)
    plain = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return {
        "words": None if match is None else html.unescape(match[1]),
        "reason": _within(summary.reason, plain),
        "claims": _claims_within(summary, plain),
    }


def _json_of(command: Any, path: Path) -> dict[str, Any] | None:
    """What a command prints; None where it refuses the file."""
    printed, said = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        try:
            command.main([str(path), "--json"], standalone_mode=False)
        except SystemExit:
            pass
        except EbbtideError:
            return None
    text = printed.getvalue()
    answer: dict[str, Any] | None = json.loads(text) if text.strip() else None
    return answer


def _loops(path: Path, _: RunSummary) -> Facts:
    wire = _json_of(loops, path)
    if wire is None:
        return {"loops": None}
    keys = ("kind", "copies", "first_event", "last_event")
    return {
        "events": wire["events"],
        "loops": [[*(item[key] for key in keys), _cents(item["cost_usd"])] for item in wire["loops"]],
    }


def _joined(wire: Mapping[str, Any]) -> str | None:
    """First and second word of a wire form."""
    if "headline" not in wire:
        return None
    word, second = Headline(wire["headline"]), Course(wire["course"])
    return f"{word}, {second}" if second in SECOND[word] else word.value


def _stop(path: Path, summary: RunSummary) -> Facts:
    wire = _json_of(stop, path)
    if wire is None:
        return {} if not summary.rounds else {"rounds": 0}
    facts: Facts = {}
    if summary.spent.tool_calls:
        facts["words"] = _joined(wire)
        facts["latest"] = summary.latest.action.value
        if wire["signal"] != _ANSWERS[summary.latest.action]:
            facts["latest"] = wire["signal"]
    elif len({point.chain_id for point in summary.rounds}) < 2:
        facts["signal"] = wire["signal"]
    return facts


def _score(path: Path, summary: RunSummary) -> Facts:
    wire = _json_of(score, path)
    if wire is None:
        return {} if not summary.rounds else {"rounds": 0}
    facts: Facts = {}
    if summary.spent.tool_calls:
        facts["words"] = _joined(wire.get("run") or {})
    if len({point.chain_id for point in summary.rounds}) < 2 and len(summary.rounds) < 1000:
        facts["rounds"] = len(wire["novelty_by_round"])
        facts["signal"] = wire["stop_recommendation"]["signal"]
    return facts


def _watch(path: Path, summary: RunSummary) -> Facts:
    del summary
    live = LiveRun(str(path), OPTIONS)
    data = _unpacked(path)
    for start in range(0, len(data), _PIECE):
        for _ in live.feed(data[start : start + _PIECE]):
            pass
    for _ in live.finish():
        pass
    return facts_of(live.summary())


def _unpacked(path: Path) -> bytes:
    from ebbtide.traces.input.source import unpacked_pieces

    return b"".join(unpacked_pieces(str(path)))


def _archive(path: Path, _: RunSummary) -> Facts:
    row = result_of(str(path), FileRun(str(path), is_named=True).summary(OPTIONS))
    findings = row.findings or ()
    return {
        "words": _joined({"headline": row.headline, "course": row.course}),
        "end": row.ending,
        "reason": row.reason,
        "latest": row.latest_action,
        "rounds": len(row.rounds or ()),
        "signal": row.converged,
        "loops": [
            [item.kind, item.copies, item.first_event, item.last_event, _cents(item.cost_usd)]
            for item in findings
            if item.cause in _LOOPS
        ],
        "events": row.events,
        "tool calls": row.tool_calls,
        "model calls": row.model_calls,
        "tokens": row.tokens,
        "cost": _cents(row.cost_usd),
        "wasted": _cents(row.wasted_usd),
        "seconds": row.seconds,
        "claims": claims_line(row.claims or ()),
    }


def _tool(path: Path, summary: RunSummary) -> Facts:
    del path
    answer = explanation(json.loads(json.dumps(summary.to_dict())))
    return {
        "words": _joined(answer),
        "reason": answer["reason"],
        "events": answer["events"],
        "tool calls": answer["tool_calls"],
        "model calls": answer["model_calls"],
        "cost": _cents(answer["cost_usd"]),
        "wasted": _cents(answer["wasted_usd"]),
        "claims": answer["claims"],
    }


FACES: Mapping[str, Callable[[Path, RunSummary], Facts]] = {
    "check --json": _wire,
    "screen": _screen,
    "table": _row_of_many,
    "report": _report,
    "loops": _loops,
    "stop": _stop,
    "score": _score,
    "watch": _watch,
    "archive": _archive,
    "MCP": _tool,
}


class ServiceFaces:
    """A service in this process, that takes runs whole; its faces, and those of hooks, of each.

    Args:
        folder: Where its database is.
    """

    def __init__(self, folder: Path) -> None:
        self._runs = LiveRuns(RunDatabase(folder / "runs.db"))
        self._number = 0

    def differences(self, path: Path) -> Iterator[Difference]:
        """What its faces say otherwise than `check` says of the same events."""
        trace = open_trace(path)
        items = list(trace)
        events = [item for item in items if isinstance(item, Event)]
        if not events or len(events) < len(items):
            return  # rounds are handed to no service
        for event in events:
            event.seq = None
        self._number += 1
        run_id = f"run {self._number}"
        now = time.time()
        taken = [run_event(event, self._runs.prices, now) for event in events]
        origin = RunOrigin(project=None, agent=None, source=RunSource.API)
        places = self._runs.append(run_id, taken, origin, now=now).result()
        for event, place in zip(events, places, strict=True):
            self._runs.take(run_id, event, place)
        held = self._runs.note(run_id, now=now)
        self._runs.database.flush().result()
        outcome = service_summary(self._runs, run_id)
        options = RunOptions(prices=self._runs.prices)
        expected = facts_of(check_events(events, options, over=False))
        if not all(event.ts is not None for event in events):
            expected = {name: value for name, value in expected.items() if name not in _TIMES}
        yield from _differing("live summary", expected, facts_of(outcome))
        row = find_run(self._runs.database, run_id)
        assert row is not None
        live = {
            "words": row["word"],
            "latest": row["action"],
            "events": row["events"],
            "tokens": row["tokens"],
        }
        yield from _differing("live row", expected, live | {"cost": _cents(row["cost_usd"])})
        report_of = LastWords()
        for number, event in enumerate(events, start=1):
            report_of.see(event, number)
        asked = report_claims(self._runs, run_id, report_of.words)
        yield from _differing("live claims", expected, {"claims": claims_line(asked)})
        line = status_line({}, _heard_session(now), held, now).removeprefix("ebbtide ")
        yield from _differing("hooks' status", expected, {"words": line})
        yield from _differing("live report", expected, _page_facts(report(self._runs, outcome, row), outcome))
        self._runs.end(run_id)
        self._runs.database.flush().result()
        outcome = service_summary(self._runs, run_id)
        keep_waste(self._runs, run_id, len(events), outcome)
        row = find_run(self._runs.database, run_id)
        assert row is not None
        expected = facts_of(check_events(events, options))
        yield from _differing("events alone", expected, facts_of(check(path, options)))
        if not all(event.ts is not None for event in events):
            expected = {name: value for name, value in expected.items() if name not in _TIMES}
        yield from _differing("service summary", expected, facts_of(outcome))
        kept = {"words": row["words"], "cost": _cents(row["cost_usd"]), "wasted": _cents(row["wasted_usd"])}
        yield from _differing("service row", expected, kept)
        yield from _differing(
            "service report", expected, _page_facts(report(self._runs, outcome, row), outcome)
        )

    def close(self) -> None:
        """Close its database."""
        self._runs.close()


def _heard_session(now: float) -> HookSession:
    session = HookSession()
    session.latest = now
    return session


def _differing(face: str, expected: Facts, found: Facts) -> Iterator[Difference]:
    for name, value in found.items():
        if name in expected and expected[name] != value:
            yield face, name, expected[name], value


def differences(path: Path, service: ServiceFaces) -> list[Difference]:
    """Facts of a run that a face has otherwise than `check`; empty of what cannot be read."""
    with quiet():
        try:
            summary = check(path, OPTIONS)
        except EbbtideError:
            return []
        expected = facts_of(summary)
        found: list[Difference] = []
        for name, face in FACES.items():
            found += _differing(name, expected, face(path, summary))
        found += service.differences(path)
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Nobody is warned of events that cannot be read in full."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegradedEventWarning)
        yield


@contextmanager
def service_faces() -> Iterator[ServiceFaces]:
    """A service, and its end."""
    with tempfile.TemporaryDirectory() as folder:
        service = ServiceFaces(Path(folder))
        try:
            yield service
        finally:
            service.close()


# ----- the runs -----


def own_files() -> list[Path]:
    """The recorded runs of the repository."""
    examples = (f"examples/{name}" for name in ("runs", "conversations", "decisions"))
    folders = (*examples, "tests/traces/samples", "tests/claims/samples")
    files = (path for folder in folders for path in (ROOT / folder).iterdir())
    return sorted(path for path in files if path.is_file() and path.suffix != ".csv")


def data_files(data: Path) -> list[Path]:
    """The recorded runs of the data beside the repository."""
    files = [
        *(data / "runs").rglob("*.gz"),
        *(data / "sessions").rglob("*.jsonl.gz"),
        *(path for path in (data / "traces").rglob("*") if path.is_file()),
    ]
    return sorted(path for path in files if path.stat().st_size <= _LARGEST)


def main() -> None:
    """Print each difference, and how many there are by face and fact."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--own", action="store_true", help="only the runs of the repository")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth run")
    parser.add_argument("--only", metavar="WORD", default="", help="only paths that contain WORD")
    arguments = parser.parse_args()
    files = own_files()
    if not arguments.own:
        files += data_files(data_folder(arguments.data))
    files = [path for path in files if arguments.only in str(path)][:: arguments.every]
    counts: Counter[str] = Counter()
    differing = 0
    start = time.perf_counter()
    with service_faces() as service:
        for path in files:
            found = differences(path, service)
            differing += bool(found)
            for face, fact, expected, value in found:
                counts[f"{face}: {fact}"] += 1
                if counts[f"{face}: {fact}"] <= _SHOWN // 8:
                    print(f"{path.name}: {face}: {fact}: {expected!r:.150} but {value!r:.150}", flush=True)
    for name, number in counts.most_common():
        print(f"{number:6}  {name}")
    seconds = time.perf_counter() - start
    print(f"{len(files)} runs, {differing} with a difference; {seconds:.0f} s")
    if not arguments.own and arguments.every == 1 and not arguments.only:
        result = {"setup": setup(), "runs": len(files), "differing": differing, "facts": dict(counts)}
        write_result("faces", result)
    raise SystemExit(1 if counts else 0)


if __name__ == "__main__":
    main()
