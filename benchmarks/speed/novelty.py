"""Cost of one claim against everything said before: search and insert, by size.

    python -m benchmarks.speed.novelty [--data DIR]

Prints microseconds a claim at doubling sizes for the index alone and for the whole meter (normal form,
tokens, L0, L1, contrast guard), checks the search against brute force, and measures memory.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.sentences import real_sentences
from ebbtide.convergence.novelty import NoveltyMeter
from ebbtide.profile import Profile
from ebbtide.text.jaccard_index import JaccardIndex, jaccard
from ebbtide.text.normal_form import normal_form

SAMPLE = 1_000
SIZES = (1_000, 2_000, 4_000, 8_000, 10_000, 16_000, 32_000, 64_000, 100_000)
EXACT_AT = 20_000
EXACT_QUESTIONS = 500


def cost_by_size(sentences: list[str]) -> list[dict[str, Any]]:
    """Microseconds a claim at each size: median and mean over the claims that follow."""
    rows = []
    for size in SIZES:
        if size + SAMPLE > len(sentences):
            continue
        row: dict[str, Any] = {"seen": size}
        tokens = [frozenset(normal_form(text).split()) for text in sentences[: size + SAMPLE]]
        index = JaccardIndex(Profile.SPEC.novelty.jaccard_at_least)
        for item in tokens[:size]:
            index.add(item)
        row["index"] = _timed(index.add, tokens[size:])
        for profile in (Profile.SPEC, Profile.DEFAULT):
            meter = NoveltyMeter(profile.novelty)
            meter.update(sentences[:size], 1)
            row[f"meter {profile.name}"] = _timed(
                lambda text, m=meter: m.update((text,), 2), sentences[size : size + SAMPLE]
            )
        rows.append(row)
        shown = "  ".join(
            f"{key} {row[key]['median_us']:6.1f} ({row[key]['mean_us']:6.1f})" for key in row if key != "seen"
        )
        print(f"{size:>7} seen: median (mean) us a claim: {shown}", flush=True)
    return rows


def _timed(update: Any, items: list[Any]) -> dict[str, float]:
    gc.collect()
    gc.disable()
    spent = []
    for item in items:
        start = time.perf_counter_ns()
        update(item)
        spent.append((time.perf_counter_ns() - start) / 1_000)
    gc.enable()
    return {"median_us": round(statistics.median(spent), 2), "mean_us": round(statistics.fmean(spent), 2)}


def exactness(sentences: list[str]) -> dict[str, int]:
    """How many of the matches that brute force finds the index finds, and how many that are none."""
    tokens = [frozenset(normal_form(text).split()) for text in sentences[: EXACT_AT + EXACT_QUESTIONS]]
    index = JaccardIndex(0.6)
    for item in tokens[:EXACT_AT]:
        index.add(item)
    expected = found = both = 0
    for question in tokens[EXACT_AT:]:
        truth = {number for number, other in enumerate(tokens[:EXACT_AT]) if jaccard(question, other) >= 0.6}
        answer = {match.number for match in index.matches(question)}
        expected, found, both = expected + len(truth), found + len(answer), both + len(truth & answer)
    return {
        "questions": EXACT_QUESTIONS,
        "seen": EXACT_AT,
        "expected": expected,
        "found": found,
        "in_both": both,
    }


def memory(sentences: list[str]) -> dict[str, float]:
    """Bytes a claim that a meter of the default profile holds, the text of the claim not counted."""
    size = min(100_000, len(sentences))
    tracemalloc.start()
    meter = NoveltyMeter(Profile.DEFAULT.novelty)
    for start in range(0, size, 100):
        meter.update(sentences[start : start + 100], 1 + start)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"claims": size, "bytes_per_claim": round(held / size, 1)}


def main() -> None:
    """Run everything and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    options = parser.parse_args()
    sentences = real_sentences(data_folder(options.data))
    print(f"{len(sentences)} distinct real sentences")
    result: dict[str, Any] = {"setup": setup(), "sentences": len(sentences), "cost": cost_by_size(sentences)}
    result["exactness"] = exactness(sentences)
    print(f"exactness: {result['exactness']}")
    result["memory"] = memory(sentences)
    print(f"memory: {result['memory']}")
    write_result("speed-novelty", result)


if __name__ == "__main__":
    main()
