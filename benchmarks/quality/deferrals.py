"""How well deferrals are found by meaning.

    python -m benchmarks.quality.deferrals [--data DIR]

- table: sentences of our own, deferrals and others that are hard to tell from them, written before the rule.
  The rule and its two bars were chosen with "tune"; "held_out" was counted after that
- real: how often a sentence of the labelled data is flagged. Hardly any of them puts anything off, so this is
  close to the rate of false alarms. The bars were chosen with these in sight as well
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, wilson, write_result
from ebbtide.convergence.deferrals import Deferrals
from ebbtide.text.embedding.embedder import open_embedder

TABLE = ROOT / "tests" / "convergence" / "deferral_sentences.json"
MOST = 2000  # sentences of each kind
_SEED = 20_260
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?:\\n|\n)+")
_LEAST_WORDS = 3


def table(deferrals: Deferrals) -> dict[str, Any]:
    """Precision and recall on our own sentences, by half."""
    result = {}
    for half, rows in json.loads(TABLE.read_text(encoding="utf-8")).items():
        found = sum(deferrals.put_off(rows["deferral"]))
        wrong = sum(deferrals.put_off(rows["other"]))
        result[half] = {
            "deferrals": len(rows["deferral"]),
            "found": found,
            "recall": round(found / len(rows["deferral"]), 4),
            "recall_interval": wilson(found, len(rows["deferral"])),
            "others": len(rows["other"]),
            "flagged": wrong,
            "precision": round(found / (found + wrong), 4) if found + wrong else None,
            "precision_interval": wilson(found, found + wrong),
        }
    return result


def real(deferrals: Deferrals, data: Path) -> dict[str, Any]:
    """How many real sentences are flagged, and the first few of them."""
    kinds = {
        "issue comments (ConDec)": [row["text"] for row in _rows(data / "decisions" / "condec.jsonl.gz")],
        "airline assistant": list(_assistant(data)),
        "reviews": [
            sentence
            for row in _rows(data / "rounds" / "self_refine_yelp_gpt4.jsonl.gz")
            for sentence in _sentences(row["review"])
        ],
        "arguments": [row["argument"] for row in _rows(data / "claims" / "kpa_train.jsonl.gz")],
        "logs of coding agents": [
            sentence
            for row in _rows(data / "decisions" / "relay_events.jsonl.gz")
            for sentence in _sentences(row["content"])
        ],
    }
    result = {}
    for kind, texts in kinds.items():
        distinct = list(dict.fromkeys(texts))
        random.Random(_SEED).shuffle(distinct)
        flags = deferrals.put_off(distinct[:MOST])
        for text in [text for text, flag in zip(distinct, flags, strict=False) if flag][:8]:
            print(f"  {kind}: {text[:110]}")
        result[kind] = _share(sum(flags), len(flags))
    result["all"] = _share(
        sum(row["flagged"] for row in result.values()), sum(row["sentences"] for row in result.values())
    )
    return result


def _share(flagged: int, sentences: int) -> dict[str, Any]:
    return {
        "sentences": sentences,
        "flagged": flagged,
        "share": round(flagged / sentences, 4),
        "interval": wilson(flagged, sentences),
    }


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _assistant(data: Path) -> Iterator[str]:
    runs = json.loads(
        (data / "traces" / "openai_messages" / "tau_airline_20.json").read_text(encoding="utf-8")
    )
    for run in runs:
        for message in run["traj"]:
            if message["role"] == "assistant" and message.get("content"):
                yield from _sentences(message["content"])


def _sentences(text: str) -> Iterator[str]:
    yield from (part for part in _SENTENCE.split(text) if len(part.split()) >= _LEAST_WORDS)


def show(result: dict[str, Any]) -> None:
    for half, row in result["table"].items():
        print(
            f"{half:24} recall {row['recall']:.2f} {row['recall_interval']} of {row['deferrals']}, precision"
            f" {row['precision']:.2f} {row['precision_interval']}; {row['flagged']} of {row['others']} wrong"
        )
    for kind, row in result["real"].items():
        flagged = f"{row['flagged']:4} of {row['sentences']:5} flagged"
        print(f"{kind:24} {flagged}, {row['share']:.2%} {row['interval']}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how well deferrals are found.")
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    embedder = open_embedder()
    deferrals = Deferrals(embedder)
    result = {
        "setup": setup("numpy", "onnxruntime"),
        "model": embedder.model,
        "table": table(deferrals),
        "real": real(deferrals, data),
    }
    show(result)
    write_result("quality-deferrals", result)


if __name__ == "__main__":
    main()
