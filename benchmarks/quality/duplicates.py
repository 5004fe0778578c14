"""Which decisions are repetitions, by window and by measure, and what becomes of reversals.

    python -m benchmarks.quality.duplicates [--data DIR]

Three questions. What agents logged about their own work is replayed in time, one trajectory a scope: how
many events repeat an earlier one of the window, by each measure? Nobody labelled them, so beside the counts
stands what the measure went by, and the pairs on which the two profiles differ are shown: whether "skip step
a" repeats "skip step b" is a matter of judgement, which no count decides. Reversals written by hand, beside
rewordings that are none. And titles of architecture decision records of one repository, all of which are
different decisions, pair by pair.

A measure compares an event with all before it; a profile with those that it kept, as a log would, so its
counts are lower. The pairs by hand were written along with the rules. Most of those of the contrast guard's
own tests were not: they tell how the rules do on pairs that they were not written for. Only that another
order of words is no repetition was learned from two of them.

Containment and cosine stand for comparison: neither refuses a decision in Ebbtide. The
cosine needs the extra "semantic"; without it its column is missing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, wilson, write_result
from ebbtide.decisions.repeats.compared_text import fingerprint, read_text
from ebbtide.decisions.repeats.duplicate_verdict import Repeat
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.errors import SemanticError
from ebbtide.profile.convergence import TokenForm
from ebbtide.profile.duplicates import DuplicateRules
from ebbtide.text.jaccard_index import jaccard

WINDOWS = {"1 min": 60.0, "5 min": 300.0, "15 min": 900.0, "60 min": 3600.0, "1 day": 86400.0}
COSINE = 0.9
CONTAINMENT = 0.8
PROFILES = {"SPEC": DuplicateRules.SPEC, "default": DuplicateRules.DEFAULT}
_WHOLE = re.compile(
    r"^(?:\d+[.:)]?\s*)?(?:Architecture Decision Record:?\s*|ADR[- ]?\d+[.:)]?\s*)?", re.IGNORECASE
)

# Each pair decides something else the second time; both have to be in the log.
REVERSALS = (
    ("Enable retries for the billing client", "Disable retries for the billing client"),
    ("Enable retries", "Disable retries"),
    ("Use Postgres instead of MySQL for the ledger", "Use MySQL instead of Postgres for the ledger"),
    ("Set the gateway timeout to 30s", "Set the gateway timeout to 60s"),
    ("Dedicated ingress controllers per team", "Shared ingress controllers per team"),
    ("Use the ADR number as unique ID of the log", "Use the ADR slug as unique ID of the log"),
    ("Keep the legacy login endpoint until March", "Remove the legacy login endpoint until March"),
    ("We will support Windows in the first release", "We will not support Windows in the first release"),
    ("Pin the API to version 5 in all clients", "Pin the API to version 6 in all clients"),
    ("Write audit events synchronously in the request", "Write audit events asynchronously in the request"),
    ("Run the migration before the deployment", "Run the migration after the deployment"),
    (
        "Move the sessions from Redis to Postgres this week",
        "Move the sessions from Postgres to Redis this week",
    ),
    (
        "Cache query results in Redis for one hour",
        "Cache query results in Redis for one hour except payments",
    ),
    ("Allow anonymous uploads on the public bucket", "Forbid anonymous uploads on the public bucket"),
    ("Skip step build-api since its upstream failed", "Skip step build-web since its upstream failed"),
    (
        "\u5728\u751f\u4ea7\u73af\u5883\u542f\u7528\u91cd\u8bd5\u673a\u5236\u5e76\u8bb0\u5f55\u65e5\u5fd7",
        "\u5728\u751f\u4ea7\u73af\u5883\u7981\u7528\u91cd\u8bd5\u673a\u5236\u5e76\u8bb0\u5f55\u65e5\u5fd7",
    ),
)
# The same decision twice.
REPETITIONS = (
    ("Use Astro + Tailwind for docs site", "Use Astro + Tailwind for docs site."),
    ("Use Astro and Tailwind for the docs site", "Go with Astro and Tailwind for the docs site"),
    ("Use Astro and Tailwind for the docs site", "Use Tailwind and Astro for the docs site"),
    ("Cache query results in Redis for one hour", "cache the query results in Redis, for one hour"),
    ("Store the audit log in PostgreSQL", "We will store audit logs in PostgreSQL"),
    ("Retry failed uploads three times", "Retry failed uploads 3 times"),
    ("Use Astro + Tailwind for docs site", "The docs site will be built with Astro and styled with Tailwind"),
    (
        "\u4f7f\u7528PostgreSQL\u6570\u636e\u5e93\u5b58\u50a8\u5ba1\u8ba1\u65e5\u5fd7",
        "\u4f7f\u7528 PostgreSQL \u6570\u636e\u5e93\u5b58\u50a8\u5ba1\u8ba1\u65e5\u5fd7",
    ),
)


class Event(NamedTuple):
    """One line of an agent's log of its own work."""

    id: str
    trajectory: str
    kind: str
    ts: float
    text: str


def read_events(path: Path) -> list[Event]:
    """The events in time, oldest first."""
    events = [
        Event(f"{number}", row["id"], row["type"], row["ts_ms"] / 1000, row["content"])
        for number, row in enumerate(_rows(path))
    ]
    return sorted(events, key=lambda event: event.ts)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


Pairwise = Callable[[str, str], bool]


def measures(texts: Iterable[str]) -> dict[str, Pairwise]:
    """Which pairs of texts each measure takes for one, without any guard."""

    def by_jaccard(form: TokenForm) -> Pairwise:
        return lambda a, b: jaccard(read_text(a, form).tokens, read_text(b, form).tokens) > 0.6

    def contained(a: str, b: str) -> bool:
        one, other = read_text(a, TokenForm.STEMS).tokens, read_text(b, TokenForm.STEMS).tokens
        return len(one & other) >= CONTAINMENT * min(len(one), len(other)) > 0

    found: dict[str, Pairwise] = {
        "exact": lambda a, b: fingerprint(a) == fingerprint(b),
        "jaccard, words": by_jaccard(TokenForm.WORDS),
        "jaccard, stems": by_jaccard(TokenForm.STEMS),
        f"containment {CONTAINMENT}": contained,
    }
    cosine = _cosine(sorted(set(texts)))
    return found if cosine is None else {**found, f"cosine {COSINE}": cosine}


def _cosine(texts: list[str]) -> Pairwise | None:
    try:
        import numpy as np

        from ebbtide.text.embedding.embedder import open_embedder

        embedder = open_embedder()
        rows = np.asarray(
            [row for at in range(0, len(texts), 256) for row in embedder.embed(texts[at : at + 256])]
        )
    except (ImportError, SemanticError) as error:
        print(f"no cosine: {error}")
        return None
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    places = {text: place for place, text in enumerate(texts)}
    return lambda a, b: bool(rows[places[a]] @ rows[places[b]] >= COSINE)


def replay(events: list[Event]) -> dict[str, Any]:
    """Events that repeat an earlier one of their trajectory, by window and measure."""
    chains: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        chains[event.trajectory].append(event)
    result: dict[str, Any] = {"events": len(events), "trajectories": len(chains), "found": {}}
    for name, same in measures(event.text for event in events).items():
        counts: Counter[str] = Counter()
        for chain in chains.values():
            for place, event in enumerate(chain):
                # How long ago the last one was that it repeats.
                ages = [event.ts - other.ts for other in chain[:place] if same(event.text, other.text)]
                counts.update(window for window, seconds in WINDOWS.items() if ages and min(ages) <= seconds)
        result["found"][name] = {window: _share(counts[window], len(events)) for window in WINDOWS}
    for profile, rules in PROFILES.items():
        for wanted in (Repeat.DUPLICATE, Repeat.POSSIBLE_REVERSAL):
            if profile == "SPEC" and wanted is Repeat.POSSIBLE_REVERSAL:
                continue
            row = {}
            for window, seconds in WINDOWS.items():
                told = _verdicts(chains.values(), replace(rules, window_s=seconds))
                row[window] = _share(sum(verdict.repeat is wanted for _, verdict in told), len(events))
            result["found"][f"{profile}: {wanted.value}"] = row
    result["differ_at_5_min"] = _judgement(chains.values())
    return result


def _verdicts(chains: Iterable[list[Event]], rules: DuplicateRules) -> list[tuple[Event, Any]]:
    """What each event is to those before it that were kept: a duplicate that is refused is not in the log."""
    told = []
    for chain in chains:
        kept: list[Earlier] = []
        for event in chain:
            verdict = find_duplicate(event.text, kept, rules, ts=event.ts)
            told.append((event, verdict))
            if not verdict.is_duplicate:
                kept.append(Earlier(id=event.id, text=event.text, ts=event.ts))
    return told


def _judgement(chains: Iterable[list[Event]]) -> dict[str, Any]:
    """What the SPEC profile refuses and the default keeps, by what the default sees in it."""
    chains = list(chains)
    texts = {event.id: event.text for chain in chains for event in chain}
    spec = {event.id: verdict for event, verdict in _verdicts(chains, DuplicateRules.SPEC)}
    kinds: Counter[str] = Counter()
    shown: dict[str, list[str]] = defaultdict(list)
    for event, verdict in _verdicts(chains, DuplicateRules.DEFAULT):
        other = spec[event.id]
        if verdict.is_duplicate == other.is_duplicate:
            continue
        side = "only SPEC refuses" if other.is_duplicate else "only the default refuses"
        seen = "new" if verdict.difference is None else verdict.difference.kind.value
        why = f"{side}: {'duplicate' if verdict.is_duplicate else seen}"
        seen_in = verdict.difference
        if seen_in is not None and _names_differ(seen_in.here, seen_in.there):
            why += ", in a name"
        kinds[why] += 1
        if len(shown[why]) < 3:
            of = verdict.of or other.of
            shown[why].append(f"{event.text[:90]!r} after {texts[of][:90]!r}")
    return {"counts": dict(kinds), "examples": dict(shown)}


def _names_differ(here: str, there: str) -> bool:
    """Whether both sides show a name of a step, such as review-codex."""
    return all(any("-" in word.strip("-") for word in words.split()) for words in (here, there))


def _share(hits: int, total: int) -> dict[str, Any]:
    return {"hits": hits, "n": total, "interval_95": wilson(hits, total)}


def by_hand(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What the second text of each pair is to the first, a minute later."""
    rows = []
    for first, second in pairs:
        before = [Earlier(id="first", text=first, ts=0.0)]
        row: dict[str, Any] = {"first": first, "second": second}
        for name, rules in PROFILES.items():
            verdict = find_duplicate(second, before, rules, ts=60.0)
            seen = verdict.difference
            row[name] = verdict.repeat.value + ("" if seen is None else f" ({seen.kind.value})")
        rows.append(row)
    totals = {
        name: {
            wanted.value: _share(sum(row[name].startswith(wanted.value) for row in rows), len(rows))
            for wanted in Repeat
        }
        for name in PROFILES
    }
    return {"pairs": rows, "totals": totals}


def guard_pairs() -> dict[str, Any]:
    """The pairs of the guard's tests: reversals that are refused, and rewordings that are recognised."""
    path = ROOT / "tests" / "text" / "contrast" / "contrast_pairs.json"
    rows = [row for part in json.loads(path.read_text(encoding="utf-8")).values() for row in part]
    result: dict[str, Any] = {}
    for sort, wanted in (("reversals", True), ("rewordings", False)):
        pairs = [(row["a"], row["b"]) for row in rows if bool(row["kind"]) is wanted]
        found = by_hand(pairs)
        result[sort] = {
            **found["totals"],
            "refused": {
                name: [row for row in found["pairs"] if row[name].startswith("duplicate")][:20]
                for name in PROFILES
            },
        }
    return result


def titles(path: Path) -> dict[str, Any]:
    """Pairs of titles of one repository that each profile takes for one decision, though they are two."""
    by_repository: dict[str, list[str]] = defaultdict(list)
    for row in _rows(path):
        heading = next((line for line in row["markdown"].splitlines() if line.startswith("# ")), "")
        title = _WHOLE.sub("", heading.removeprefix("# ").strip())
        if title:
            by_repository[row["id"].split(":")[0]].append(title)
    pairs = [pair for row in by_repository.values() for pair in combinations(dict.fromkeys(row), 2)]
    result: dict[str, Any] = {"titles": sum(map(len, by_repository.values())), "pairs": len(pairs)}
    for name, rules in PROFILES.items():
        told: dict[str, list[str]] = defaultdict(list)
        for one, other in pairs:
            verdict = find_duplicate(other, [Earlier(id="one", text=one, ts=0.0)], rules, ts=60.0)
            if verdict.repeat is not Repeat.NEW:
                told[verdict.repeat.value].append(f"{one!r} / {other!r}")
        result[name] = {
            wanted.value: {**_share(len(told[wanted.value]), len(pairs)), "shown": told[wanted.value][:30]}
            for wanted in (Repeat.DUPLICATE, Repeat.POSSIBLE_REVERSAL)
        }
    return result


def cost(events: list[Event], rows: int = 300) -> dict[str, Any]:
    """Microseconds a pair, and milliseconds a question, against a window of real texts read before."""
    texts = list(dict.fromkeys(event.text for event in events if event.kind == "decision"))[: rows + 50]
    window = [Earlier(id=str(place), text=text, ts=0.0) for place, text in enumerate(texts[:rows])]
    result: dict[str, Any] = {"rows": len(window)}
    for name, rules in PROFILES.items():
        spent = []
        for _ in range(5):
            for text in texts[rows:]:
                start = time.perf_counter_ns()
                find_duplicate(text, window, rules, ts=1.0)
                spent.append((time.perf_counter_ns() - start) / 1000)
        median = statistics.median(spent)
        result[name] = {
            "us_a_pair": round(median / len(window), 3),
            "ms_a_question": round(median / 1000, 3),
            "ms_p95": round(statistics.quantiles(spent, n=20)[-1] / 1000, 3),
        }
    return result


def main() -> None:
    """Run everything, print it, and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    folder = data_folder(parser.parse_args().data) / "decisions"
    events = read_events(folder / "relay_events.jsonl.gz")
    result: dict[str, Any] = {"setup": setup()}
    parts = {"decisions": [event for event in events if event.kind == "decision"], "all events": events}
    for name, chosen in parts.items():
        result[name] = found = replay(chosen)
        print(f"\n{name}: {found['events']} in {found['trajectories']} trajectories; found by window")
        print(f"{'':28}" + "".join(f"{window:>9}" for window in WINDOWS))
        for measure, row in found["found"].items():
            print(f"{measure:28}" + "".join(f"{row[window]['hits']:9}" for window in WINDOWS))
        for why, count in sorted(found["differ_at_5_min"]["counts"].items()):
            print(f"  {why}: {count}")
            for example in found["differ_at_5_min"]["examples"][why]:
                print(f"      {example}")
    for name, pairs in (("reversals", REVERSALS), ("repetitions", REPETITIONS)):
        result[name] = found = by_hand(pairs)
        print(f"\n{name}, by hand")
        for row in found["pairs"]:
            print(f"  SPEC {row['SPEC']:10} default {row['default']:28} {row['first']!r} / {row['second']!r}")
        for profile, totals in found["totals"].items():
            shown = ", ".join(
                f"{wanted} {share['hits']} of {share['n']} {share['interval_95']}"
                for wanted, share in totals.items()
            )
            print(f"  {profile}: {shown}")
    result["pairs of the guard's tests"] = found = guard_pairs()
    for sort, totals in found.items():
        print(f"\n{sort} of the guard's tests")
        for profile in PROFILES:
            shown = ", ".join(
                f"{wanted} {share['hits']} of {share['n']} {share['interval_95']}"
                for wanted, share in totals[profile].items()
            )
            print(f"  {profile}: {shown}")
        if sort == "reversals":
            for row in totals["refused"]["default"]:
                print(f"  refused: {row['first']!r} / {row['second']!r}")
    result["titles"] = found = titles(folder / "adr.jsonl.gz")
    print(f"\n{found['titles']} titles of decision records, {found['pairs']} pairs of one repository")
    for name in PROFILES:
        for wanted, share in found[name].items():
            print(f"  {name}: {wanted} {share['hits']} of {share['n']} {share['interval_95']}")
            for line in share["shown"]:
                print(f"      {line}")
    result["cost"] = cost(events)
    print(f"\ncost: {result['cost']}")
    write_result("quality-duplicates", result)


if __name__ == "__main__":
    main()
