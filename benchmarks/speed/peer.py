"""A whole transcript, beside the published scorer `diminishing-returns`, in one run on the same claims.

    python -m benchmarks.speed.peer [--data DIR] [--claims N]

Needs the extra ``bench``. The peer compares every pair of claims: at 10,000 it takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from dr.score import score_transcript as peer_score

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.sentences import real_sentences
from ebbtide.convergence.meter import score_transcript

CLAIMS_PER_ROUND = 100


def transcript_of(sentences: list[str]) -> dict[str, Any]:
    """One conversation that says them all, a hundred a round."""
    starts = range(0, len(sentences), CLAIMS_PER_ROUND)
    rounds = [
        {"round": number, "outputs": {"claims": sentences[start : start + CLAIMS_PER_ROUND]}}
        for number, start in enumerate(starts, start=1)
    ]
    return {"version": "0.1", "conversation_id": "benchmark", "rounds": rounds}


def main() -> None:
    """Time both at doubling sizes up to the one asked for, and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--claims", type=int, default=10_000)
    options = parser.parse_args()
    sentences = real_sentences(data_folder(options.data))
    rows = []
    for claims in (options.claims // 8, options.claims // 4, options.claims):
        transcript = transcript_of(sentences[:claims])
        start = time.process_time()
        score_transcript(transcript)
        ours = time.process_time() - start
        start = time.process_time()
        peer_score(transcript)
        peer = time.process_time() - start
        rows.append(
            {
                "claims": claims,
                "ours_s": round(ours, 3),
                "peer_s": round(peer, 2),
                "ratio": round(peer / ours),
            }
        )
        print(
            f"{claims:>7} claims: {ours:8.3f} s of CPU, the peer {peer:9.2f} s, ratio {peer / ours:.0f}",
            flush=True,
        )
    write_result("speed-peer", {"setup": setup("diminishing-returns"), "rows": rows})


if __name__ == "__main__":
    main()
