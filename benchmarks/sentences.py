"""Real sentences for the benchmarks: the labelled data, and the documentation of the running interpreter.

The order is a fixed shuffle, so that sizes nest; the interpreter's part differs a little between versions.
"""

from __future__ import annotations

import ast
import glob
import gzip
import json
import random
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LEAST_WORDS = 3
_SEED = 20_260


def real_sentences(data: Path) -> list[str]:
    """Distinct sentences of the data under `data` and of the interpreter's documentation, shuffled."""
    found: dict[str, None] = {}
    for text in (*_data_texts(data), *_documentation()):
        for sentence in _SENTENCE_END.split(text):
            if len(sentence.split()) >= _LEAST_WORDS:
                found.setdefault(" ".join(sentence.split()))
    sentences = list(found)
    random.Random(_SEED).shuffle(sentences)
    return sentences


def _data_texts(data: Path) -> Iterator[str]:
    for path in sorted(data.glob("*/*.jsonl.gz")):
        if path.name.startswith("intercode"):  # shell commands and cut outputs, not sentences
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from _strings(json.loads(line))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("\\n", "\n")
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _documentation() -> Iterator[str]:
    root = sysconfig.get_paths()["stdlib"]
    for path in sorted(glob.glob(f"{root}/**/*.py", recursive=True)):  # noqa: PTH207 - sorted, and fast
        if "site-packages" in path:
            continue
        try:
            source = Path(path).read_text(encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (OSError, UnicodeDecodeError, SyntaxError, ValueError):
            continue
        yield from _docstrings(tree)
        yield from _comments(source)


def _docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                yield " ".join(paragraph.split())


def _comments(source: str) -> Iterator[str]:
    block: list[str] = []
    for line in (*source.splitlines(), ""):
        stripped = line.strip()
        if stripped.startswith("#"):
            block.append(stripped.lstrip("#").strip())
        elif block:
            yield " ".join(block)
            block = []
