"""Shapes that texts of agents, tools and people come in, each at any length: material for `text_growth`."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Callable
from functools import cache

_NOUNS = ("cache", "queue", "worker", "index", "gateway", "schema", "token", "cluster", "backup", "router")
_VERBS = ("move", "split", "rename", "replace", "drop", "extend", "test", "document", "measure", "lock")
_PLACES = ("staging", "production", "the nightly job", "the mobile app", "the old API", "the second region")


def _sentence(number: int) -> str:
    """A sentence whose words come again in ever new mixtures."""
    verb, noun, place = _VERBS[number % 10], _NOUNS[number // 10 % 10], _PLACES[number // 100 % 6]
    other = _NOUNS[number * 7 // 3 % 10]
    return f"We {verb} the {noun} of {place} before the {other} number {number}."


def _digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def _word(number: int) -> str:
    return "".join(chr(97 + int(sign, 16)) for sign in _digest(number)[: 3 + number % 8])


def _prose(number: int) -> str:
    return " ".join(_word(number * 12 + place) for place in range(11)).capitalize() + ". "


def _record(number: int) -> dict[str, object]:
    return {"id": number, "name": _word(number), "tags": ["a", _word(number + 1)], "note": _sentence(number)}


#: By name: the piece of a number, of which a text is made; each piece brings its own line ends.
SHAPES: dict[str, Callable[[int], str]] = {
    "prose": _prose,
    "numbered items": lambda i: f"{i}. Step {i}: check the {_NOUNS[i % 10]} and restart service {i}.\n",
    "numbered words": lambda i: f"{i}. item {i}\n",
    "same bullet": lambda _: "- Check the cache and restart the service.\n",
    "bullets, one number": lambda i: f"- The worker handles item {i} of the nightly batch without errors.\n",
    "bullets, mixed words": lambda i: f"- {_sentence(i)}\n",
    "nested lists": lambda i: f"{'  ' * (i % 6)}- level {i % 6} of the {_NOUNS[i % 10]}, part {i}\n",
    "deeply nested list": lambda i: f"{' ' * min(i, 400)}- deeper {i}\n",
    "checkboxes": lambda i: f"- [{'x '[i % 2]}] {_VERBS[i % 10]} the {_NOUNS[i // 10 % 10]} {i}\n",
    "headings": lambda i: f"{'#' * (1 + i % 6)} Part {i}: the {_NOUNS[i % 10]}\n",
    "table": lambda i: f"| {i} | {_word(i)} | {i * 17 % 101} % | ok |\n",
    "log lines": lambda i: (
        f"2026-11-22T10:{i // 60 % 60:02}:{i % 60:02}.{i % 1000:03}Z INFO worker-{i % 8} request {i} took "
        f"{i * 13 % 997} ms\n"
    ),
    "error log": lambda i: (
        f"[{i}] ERROR app.db: could not connect to 10.0.0.{i % 256}: connection refused (try {i})\n"
    ),
    "stack traces": lambda i: (
        f'Traceback (most recent call last):\n  File "/srv/app/{_word(i)}.py", line {i}, in {_word(i + 1)}\n'
        f"    return self.{_word(i + 2)}(value)\nValueError: invalid value {i}\n"
    ),
    "pretty JSON": lambda i: json.dumps(_record(i), indent=2) + ",\n",
    "JSON on one line": lambda i: json.dumps(_record(i), separators=(",", ":")) + ",",
    "JSON lines": lambda i: json.dumps(_record(i)) + "\n",
    "open brackets": lambda i: "{[("[i % 3],
    "base64": lambda i: base64.b64encode(_digest(i).encode()).decode(),
    "one long word": lambda _: "x",
    "one word again": lambda _: "again ",
    "one word a line": lambda _: "again\n",
    "punctuation": lambda i: "?!.,;:-_*#"[i % 10],
    "full stops": lambda _: ".",
    "dashes": lambda _: "- ",
    "stars": lambda _: "**",
    "underscores": lambda _: "_a",
    "newlines": lambda _: "\n",
    "spaces": lambda _: " ",
    "words far apart": lambda i: f"{_word(i)}{' ' * 200}",
    "tabs and newlines": lambda i: "\t\n "[i % 3],
    "quotes": lambda i: f"\"He wrote '{_word(i)} ",
    "backticks": lambda i: f"`{_word(i)} ",
    "open links": lambda i: f"[{_word(i)}]( ",
    "open tags": lambda i: f"<a {_word(i)} ",
    "backslashes": lambda _: "\\",
    "code fences": lambda i: f"```python\nx_{i} = {i}\n```\n",
    "open fences": lambda i: f"```\ntext {i}\n~~~ sh\n",
    "quoted lines": lambda i: f"> > {_sentence(i)}\n",
    "source code": lambda i: (
        f"def {_word(i)}(value: int) -> int:\n    if value == {i}:\n        return {i}\n\n"
    ),
    "diff": lambda i: f"@@ -{i},3 +{i},4 @@\n-old line {i}\n+new line {i}\n context\n",
    "CSV": lambda i: f"{i},{_word(i)},{i * 3 % 7},2026-11-{1 + i % 28:02},\n",
    "HTML": lambda i: f'<li class="row-{i}"><a href="/item/{i}">Item <b>{_word(i)}</b></a></li>\n',
    "XML": lambda i: f'<entry id="{i}"><name>{_word(i)}</name><size>{i}</size></entry>',
    "URLs": lambda i: f"https://example.org/{_word(i)}/{i}?page={i}&q={_word(i + 1)} ",
    "paths": lambda i: f"./src/{_word(i % 40)}/{_word(i)}.py\n",
    "ls -l": lambda i: f"-rw-r--r-- 1 root root {i * 31 % 9999:6} Nov 22 10:{i % 60:02} {_word(i)}.txt\n",
    "test output": lambda i: f"tests/test_{_word(i % 30)}.py::test_{_word(i)} PASSED [{i % 100:3}%]\n",
    "progress": lambda i: f"\rDownloading {i % 101:3}% |{'#' * (i % 20):20}| {i} MB/s",
    "emoji": lambda i: "\U0001f600\U0001f680\u2705\ufe0f"[i % 4],
    "CJK": lambda i: f"\u6211\u4eec\u51b3\u5b9a\u4f7f\u7528\u7b2c{i}\u4e2a\u7f13\u5b58\u3002",
    "CJK without stops": lambda i: chr(0x4E00 + i * 37 % 9000),
    "Cyrillic": lambda i: f"\u041c\u044b \u0440\u0435\u0448\u0438\u043b\u0438 {i}: \u043a\u044d\u0448. ",
    "combining": lambda _: "e\u0301\u0323",
    "zero width": lambda _: "a\u200b\u200d",
    "we will": lambda i: f"We will use the following query {i}. ",
    "I decided": lambda i: f"I decided to keep option {_word(i)} instead of {_word(i + 1)}. ",
    "decided, unfinished": lambda _: "i decided to decide that we decided ",
    "decision lists": lambda i: f"Decisions:\n- Use {_word(i)} for {_word(i + 1)}.\n\n",
    "lead-ins": lambda i: f"We decided on part {i}:\n",
    "next steps": lambda i: f"Next step: Alice will {_VERBS[i % 10]} the {_NOUNS[i // 10 % 10]} {i}. ",
    "blockers": lambda i: f"Next step: deploy {i}, no blockers, not blocked by anything. ",
    "blocked again": lambda _: "TODO: no blockers and not blocked and no blockers and ",
    "questions": lambda i: f"Should we {_VERBS[i % 10]} the {_NOUNS[i // 10 % 10]} number {i}? ",
    "agreement": lambda i: f"I agree with point {i}, and I disagree with point {i + 1}. ",
    "and, and": lambda i: f"and the {_NOUNS[i % 10]} {i}, ",
    "negations": lambda i: f"Do {'not ' * (i % 2)}cache the answers of the {_NOUNS[i // 2 % 10]}. ",
    "negated words": lambda _: "not ",
    "instead of": lambda i: f"use {_word(i)} instead of ",
    "because": lambda i: f"because of {i} ",
    "numbers": lambda i: f"{i * 7919 % 1009} ",
    "quantities": lambda i: f"{i} ms, {i % 60} s and {i} % of 3.5 GB; ",
    "digits": lambda i: str(i % 10),
    "clock times": lambda i: f"12:{i % 60:02}:",
    "hashes": lambda i: f"{_digest(i)[:8]}-",
    "temporary paths": lambda i: f"/tmp/{_digest(i)[:12]} ",  # noqa: S108
    "turns of chat": lambda i: f"User: what of {i}?\nAssistant: I looked at {i}.\n\n",
}


@cache
def text_of(shape: str, size: int, variant: int = 0) -> str:
    """A text of a shape.

    Args:
        shape: Its name in `SHAPES`.
        size: Characters.
        variant: Shifts the numbers in it a little, so that texts of two variants are alike.
    """
    piece = SHAPES[shape]
    pieces: list[str] = []
    length = 0
    for number in itertools.count(variant):
        pieces.append(piece(number))
        length += len(pieces[-1])
        if length >= size:
            break
    return "".join(pieces)[:size]
