"""Whether bills are true sums: against stated totals, against rebuilt incidents, and against raw lines.

    python -m benchmarks.quality.bill_sums [--data DIR] [--jobs N] [--only PART]

Everything is asked of `ebbtide check --json` in a process of its own, as a user would.

`stated`: each session that states its total (the `result` of a stream-json run, the calls of pi, the last
count of Codex, the shutdown of Copilot CLI) is checked alone. Its dollars are equal within 0.1 %, its tokens
to the unit, or `bill.stated.cause` names the difference.
`incidents`: each case with a known truth is checked as a folder: tokens of each kind and by model to the
unit, dollars and those by model and by day to a hundredth of a cent. Calls are counted beside it.
`raw`: Claude Code sessions against `benchmarks.raw_calls`: each alone, each group of forks and resumed copies
together, and all of them together, where each call counts once.

The sum of several files is that of the line of totals (`"type": "totals"` with `spent`) where there is one,
else that of all runs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.run_sets import session_files
from benchmarks.raw_calls import claude_lines, counted_once, token_sums

_CENT = 1e-4  # dollars: a hundredth of a cent
_SHARE = 1e-3  # of a stated total
_KINDS = ("input", "output", "cache_read", "cache_write")
_PARTS = ("stated", "incidents", "raw")
_SHOWN = 8  # failures of each part and kind


@dataclass(slots=True)
class Sums:
    """What `check --json` answered.

    Args:
        runs: Lines of runs.
        tokens: By kind: input without cached tokens, output, cache_read, cache_write and, of these,
            cache_write_1h.
        cost: Dollars; None where no run has any.
        calls: Of models.
        models: Dollars and tokens by model.
        days: Dollars by day; None where the answer has no days.
        stated: What runs say of their stated totals.
        unread: Files that were not read, and why.
    """

    runs: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    cost: float | None = None
    calls: int = 0
    models: dict[str, list[float]] = field(default_factory=dict)
    days: dict[str, float] | None = None
    stated: list[dict[str, Any]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Iterable[dict[str, Any]]) -> Sums:
        """Sums of the machine's line, or of all runs where there is none."""
        sums = cls()
        lines = list(lines)
        machine = next((line for line in lines if line.get("type") == "totals" and "spent" in line), None)
        sums.unread = [str(line["skipped"])[:120] for line in lines if "skipped" in line]
        runs = [line for line in lines if "spent" in line and line is not machine]
        sums.runs = len(runs)
        for line in runs:
            sums._add(line)
        if machine is not None:
            sums._take(machine["spent"])
        for line in runs:
            stated = line["bill"].get("stated")
            sums.stated += [] if stated is None else [stated]
        return sums

    def _take(self, spent: dict[str, Any]) -> None:
        """Take the line of totals for the sum of the runs."""
        self.tokens.update(
            {kind: (count or 0) - self.tokens[kind] for kind, count in spent["tokens"].items()}
        )
        self.calls, self.cost = spent["llm_calls"], spent["cost_usd"]

    def _add(self, line: dict[str, Any]) -> None:
        spent, bill = line["spent"], line["bill"]
        self.tokens.update({kind: count or 0 for kind, count in spent["tokens"].items()})
        self.calls += spent["llm_calls"]
        if spent["cost_usd"] is not None:
            self.cost = (self.cost or 0.0) + spent["cost_usd"]
        for part in bill["classes"]:
            if part["name"] == "cache_write_1h":
                self.tokens["cache_write_1h"] += part["amount"]["tokens"]
        for part in bill["models"]:
            row = self.models.setdefault(part["name"], [0.0, 0])
            row[0] += part["amount"]["cost_usd"] or 0.0
            row[1] += part["amount"]["tokens"]
        if bill.get("days") is not None:
            self.days = self.days or {}
            for day in bill["days"]:
                cost = day["amount"]["cost_usd"] or 0.0
                self.days[day["name"]] = self.days.get(day["name"], 0.0) + cost

    @property
    def all_tokens(self) -> int:
        """Tokens of all kinds."""
        return sum(self.tokens[kind] for kind in _KINDS)


def checked(paths: Sequence[Path], *options: str) -> list[dict[str, Any]]:
    """The lines of `ebbtide check --json` of files and folders.

    Raises:
        RuntimeError: It answers with something else.
    """
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "ebbtide", "--no-config", "check", "--json", *options]
        found = subprocess.run(
            [*command, *(str(path.resolve()) for path in paths)],
            cwd=empty,
            capture_output=True,
            text=True,
            check=False,
        )
    decoder = json.JSONDecoder()
    lines, text, at = [], found.stdout, 0
    while at < len(text.rstrip()):
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError as error:
            raise RuntimeError(f"{paths[0]}: {found.stderr[-300:] or error}") from error
        lines.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return lines


@cache
def _has_zones() -> bool:
    """Whether `check` books days in a zone that is named."""
    command = [sys.executable, "-m", "ebbtide", "check", "--help"]
    return "--timezone" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stated(data: Path, pool: ThreadPoolExecutor) -> list[dict[str, Any]]:
    """A row for each session that states a total."""
    cards = []
    for path, card in session_files(data):
        if {"cost_usd", "tokens", "tokens_by_model"} & (card.get("stated") or {}).keys():
            cards.append((path, card))
    found = pool.map(lambda item: Sums.of(checked([item[0]])), cards)
    return [_stated_row(card, sums) for (_, card), sums in zip(cards, found, strict=True)]


def _stated_row(card: dict[str, Any], sums: Sums) -> dict[str, Any]:
    says, faults = card["stated"], []
    dollars, tokens = says.get("cost_usd"), says.get("tokens")
    # Nothing is free: $0 beside tokens is what a tool writes that has no price for the model.
    dollars = dollars or None
    row = {"part": "stated", "kind": card["agent"], "name": card["id"], "stated usd": dollars}
    row |= {"usd": sums.cost, "tokens": sums.all_tokens}
    if sums.unread:
        return {**row, "faults": [f"unread: {sums.unread[0]}"]}
    if dollars is not None and not _near(sums.cost, dollars):
        faults.append(f"${_text(sums.cost)} for ${_text(dollars)}{_ratio(sums.cost, dollars)}")
    for model, cost in (says.get("by_model") or {}).items():
        here = sums.models.get(model, [None])[0]
        if not _near(here, cost):
            faults.append(f"{model}: ${_text(here)} for ${_text(cost)}")
    if isinstance(tokens, dict):
        cached = tokens["cached_input_tokens"]
        wanted = {"input": tokens["input_tokens"] - cached, "cache_read": cached}
        faults += _token_faults(sums, wanted | {"output": tokens["output_tokens"]})
    elif tokens is not None and tokens != sums.all_tokens:
        faults.append(f"{sums.all_tokens} tokens for {tokens}")
    if says.get("tokens_by_model"):
        faults += _token_faults(sums, _copilot_tokens(says["tokens_by_model"].values()))
    cause = next((item["cause"] for item in sums.stated if item.get("cause")), None)
    return {**row, "faults": faults if cause is None else [], "named": cause if faults else None}


def _copilot_tokens(models: Iterable[dict[str, int]]) -> Counter[str]:
    """Tokens by kind; what Copilot CLI calls input has the cached ones in it."""
    sums: Counter[str] = Counter()
    for usage in models:
        read, written = usage["cacheReadTokens"], usage["cacheWriteTokens"]
        sums.update(input=usage["inputTokens"] - read - written, output=usage["outputTokens"])
        sums.update(cache_read=read, cache_write=written)
    return sums


def incidents(data: Path, pool: ThreadPoolExecutor) -> list[dict[str, Any]]:
    """A row for each case with a truth."""
    folder = data / "incidents"
    cases = json.loads((folder / "expectations.json").read_text(encoding="utf-8"))
    cases = [case for case in cases if case.get("truth")]
    return list(pool.map(lambda case: _incident_row(folder / case["id"], case), cases))


def _incident_row(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    truth, sums, faults = case["truth"], Sums.of(checked([folder])), []
    tokens = truth["tokens"]
    written = tokens["cache_write_5m"] + tokens["cache_write_1h"]
    wanted = {kind: tokens[kind] for kind in ("input", "output", "cache_read")} | {"cache_write": written}
    faults += _token_faults(sums, {**wanted, "cache_write_1h": tokens["cache_write_1h"]})
    if not _same(sums.cost, truth["usd"]):
        faults.append(f"${_text(sums.cost)} for ${_text(truth['usd'])}{_ratio(sums.cost, truth['usd'])}")
    for model, part in truth["by_model"].items():
        cost, count = {_plain(name): row for name, row in sums.models.items()}.get(_plain(model), [None, 0])
        if part["usd"] is not None and not _same(cost, part["usd"]):
            faults.append(f"{model}: ${_text(cost)} for ${_text(part['usd'])}")
        if count != part["tokens"]:
            faults.append(f"{model}: {count} tokens for {part['tokens']}")
    for zone, days in (truth.get("by_day") or {}).items():
        found = Sums.of(checked([folder], "--timezone", zone)).days if _has_zones() else None
        if found is None:
            faults.append(f"{zone}: no days")
            continue
        faults += [
            f"{zone} {day}: ${_text(found.get(day))} for ${_text(days.get(day))}"
            for day in sorted(days.keys() | found.keys())
            if not _same(found.get(day), days.get(day))
        ]
    row = {"part": "incidents", "kind": case["family"], "name": case["id"], "stated usd": truth["usd"]}
    row |= {"usd": sums.cost, "tokens": sums.all_tokens, "runs": sums.runs, "faults": faults}
    if sums.unread:
        row["unread"] = len(sums.unread)
    return {**row, "calls": sums.calls, "stated calls": truth["calls"]}


def raw(data: Path, pool: ThreadPoolExecutor) -> list[dict[str, Any]]:
    """A row for each Claude Code session, for each group of copies, and for all together."""
    files: dict[Path, str] = {}
    groups: dict[str, list[Path]] = defaultdict(list)
    for path, card in session_files(data):
        if card["agent"] != "claude-code":
            continue
        files[path] = card["id"]
        if card.get("family"):
            groups[card["family"]].append(path)
    lines = checked(list(files))
    by_source = defaultdict(list)
    for line in lines:
        by_source[line.get("source")].append(line)
    # A file that shares calls with others has its own alone in the sums of all: it is checked once more.
    inheriting = [
        path for path in files if any(line.get("inherited") for line in by_source[str(path.resolve())])
    ]
    alone = dict(zip(inheriting, pool.map(lambda path: checked([path]), inheriting), strict=True))
    rows = [
        _raw_row("alone", name, [path], Sums.of(alone.get(path, by_source[str(path.resolve())])))
        for path, name in files.items()
    ]
    several = {name: paths for name, paths in groups.items() if len(paths) > 1}
    found = pool.map(lambda paths: Sums.of(checked(paths)), several.values())
    rows += [_raw_row("group", name, several[name], sums) for name, sums in zip(several, found, strict=True)]
    return [*rows, _raw_row("all", "all sessions", list(files), Sums.of(lines))]


def _raw_row(kind: str, name: str, paths: Sequence[Path], sums: Sums) -> dict[str, Any]:
    calls = counted_once(call for path in paths for call in claude_lines(path))
    wanted = token_sums(calls)
    written = wanted.pop("cache_write_5m") + wanted["cache_write_1h"]
    faults = _token_faults(sums, {**wanted, "cache_write": written})
    row = {"part": "raw", "kind": kind, "name": name, "usd": sums.cost, "tokens": sums.all_tokens}
    whole = sum(sum(call.tokens) for call in calls)
    in_progress = sum(sum(call.tokens) for call in calls if call.record == "progress")
    in_results = sum(sum(call.tokens) for call in calls if call.record == "tool result")
    row |= {"raw tokens": whole, "of them in progress lines": in_progress}
    row |= {"of them in tool results": in_results, "calls": sums.calls}
    return {**row, "stated calls": len(calls), "faults": faults}


def _token_faults(sums: Sums, wanted: dict[str, int]) -> list[str]:
    return [
        f"{sums.tokens[kind]} {kind} for {count}"
        for kind, count in wanted.items()
        if sums.tokens[kind] != count
    ]


def _plain(model: str) -> str:
    """A model without the date of its release: not every agent writes it down."""
    return re.sub(r"-20\d{6}$", "", model.replace(".", "-"))


def _near(cost: float | None, says: float) -> bool:
    return cost is not None and abs(cost - says) <= _SHARE * says


def _same(cost: float | None, truth: float | None) -> bool:
    if cost is None or truth is None:
        return cost is truth
    return abs(cost - truth) < _CENT


def _text(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:.4f}"


def _ratio(cost: float | None, truth: float | None) -> str:
    return f" ({cost / truth:.2f} times)" if cost is not None and truth else ""


def _summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts by part and kind."""
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kinds[row["part"], row["kind"]].append(row)
    result = []
    for (part, kind), group in kinds.items():
        counts = {"n": len(group), "true": sum(not row["faults"] for row in group)}
        counts["named"] = sum(bool(row.get("named")) for row in group)
        if all("stated calls" in row for row in group):
            counts["calls true"] = sum(row["calls"] == row["stated calls"] for row in group)
        result.append({"part": part, "kind": kind, **counts})
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--jobs", type=int, default=2, help="commands at once")
    parser.add_argument("--only", choices=_PARTS, help="one part; its result is printed and not kept")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for name, part in (("stated", stated), ("incidents", incidents), ("raw", raw)):
            if arguments.only in (None, name):
                rows += part(data, pool)
    summary = _summary(rows)
    failed = [row for row in rows if row["faults"]]
    shown: Counter[tuple[str, str]] = Counter()
    for row in failed:
        shown[row["part"], row["kind"]] += 1
        if shown[row["part"], row["kind"]] <= _SHOWN:
            print(row["part"], row["kind"], row["name"], "; ".join(row["faults"][:4]), sep="  ")
    for row in summary:
        print(*(f"{key} {value}" for key, value in row.items()), sep="  ")
    print(f"true: {len(rows) - len(failed)} of {len(rows)}")
    if arguments.only is None:
        kept = {"setup": setup("msgspec"), "summary": summary, "failures": failed}
        write_result("quality-bill-sums", kept)


if __name__ == "__main__":
    main()
