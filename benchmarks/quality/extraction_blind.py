"""What extraction makes of 392 sentences of five genres, labelled blind: the reader of labels knew no rules.

    python -m benchmarks.quality.extraction_blind [--data DIR] [--half odd|even] [--errors]

Each sentence is judged in its whole turn, as Ebbtide reads it: it is found where an extracted item
overlaps it. The rules were made with the odd half in sight; the even half was measured blind once, and then
read to mend them (docs/benchmarks.md has both numbers). The file of labels holds no texts: it names the
source, the turn and the SHA-1 of each sentence.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.events.event import Message, ModelCall
from ebbtide.text.extraction.turn import ItemKind, Speaker, extract
from ebbtide.traces.reading import open_trace

LABELS = Path(__file__).with_name("extraction_blind.jsonl")
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CHAT_TURN = re.compile(r"\n(?=_\*\*)")
_CHAT_SPEAKER = re.compile(r"_\*\*(User|Agent)[^*]*\*\*_")
_CHAT_TOOLS = re.compile(
    r"<think>.*?</think>|<details>.*?</details>|<tool-use.*?</tool-use>",
    re.DOTALL,
)
_PLACE = re.compile(r"(.*)\[(\d+)\]")
_PEOPLE = ("user", "human", "User")
_TERMINALS = ("Computer_terminal", "ComputerTerminal")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSentence:
    """A sentence in its turn, what a reader says that it is, and what is extracted from it."""

    id: str
    genre: str
    sentence: str
    labels: frozenset[str]
    extracted: frozenset[str]


def sentences_of(text: str) -> list[str]:
    """The sentences of a turn as they were cut for the sample."""
    return [part.strip() for part in _END.split(_FENCED.sub("", text))]


def digest(sentence: str) -> str:
    """What stands for a sentence in the file of labels."""
    return hashlib.sha1(sentence.encode(), usedforsecurity=False).hexdigest()


@cache
def turns_of(data: Path, source: str) -> dict[int, tuple[Speaker, str]]:
    """The turns of a source by their number, with who speaks."""
    place = _PLACE.fullmatch(source)
    path = data / (place[1] if place else source)
    return dict(_turns(path, int(place[2]) if place else None))


def _turns(path: Path, number: int | None) -> Iterator[tuple[int, tuple[Speaker, str]]]:
    if path.name.endswith(".jsonl.gz"):
        for at, event in enumerate(open_trace(path)):
            if isinstance(event, (ModelCall, Message)) and event.text:
                person = isinstance(event, Message)
                yield at, (Speaker.PERSON if person else Speaker.MODEL, event.text)
    elif path.name.endswith(".md.gz"):
        for at, part in enumerate(_CHAT_TURN.split(_read(path))):
            speaker = _CHAT_SPEAKER.match(part)
            if speaker is not None:
                yield at, (_speaker(speaker[1]), _CHAT_TOOLS.sub("", part[speaker.end() :]))
    else:
        document = json.loads(_read(path))
        messages = document["history"] if number is None else document[number]["traj"]
        for at, message in enumerate(messages):
            name = message.get("name") or message.get("role")
            yield at, (_speaker(name), str(message.get("content") or ""))


def _speaker(name: str) -> Speaker:
    if name in _TERMINALS:
        return Speaker.TOOL
    return Speaker.PERSON if name in _PEOPLE else Speaker.MODEL


def _read(path: Path) -> str:
    if path.suffix != ".gz":
        return path.read_text(encoding="utf-8")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return lines.read()


def read_labels(data: Path, half: str | None) -> Iterator[LabelledSentence]:
    """The labelled sentences of one half (by the number in their id), or of both."""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if half is not None and int(row["id"][1:]) % 2 != (half == "odd"):
            continue
        turns = turns_of(data, row["source"])
        numbers = [row["turn"], *turns]  # a reader may number events anew
        speaker, text, sentence = next(
            (*turns[at], each)
            for at in numbers
            if at in turns
            for each in sentences_of(turns[at][1])
            if digest(each) == row["sha1"]
        )
        start = text.find(sentence)
        end = start + len(sentence)
        items = extract(text, speaker=speaker).items
        yield LabelledSentence(
            id=row["id"],
            genre=row["genre"],
            sentence=sentence,
            labels=frozenset(row["labels"]),
            extracted=frozenset(item.kind.value for item in items if item.start < end and start < item.end),
        )


def measure(rows: list[LabelledSentence]) -> dict[str, Any]:
    """Precision and recall of each kind."""
    rates = {}
    for kind in (ItemKind.NEXT_ACTION, ItemKind.OPEN_QUESTION, ItemKind.DECISION, ItemKind.CLAIM):
        labelled = sum(kind in row.labels for row in rows)
        extracted = sum(kind in row.extracted for row in rows)
        right = sum(kind in row.labels and kind in row.extracted for row in rows)
        rates[kind.value] = {"precision": _rate(right, extracted), "recall": _rate(right, labelled)}
    return rates


def _rate(hits: int, total: int) -> dict[str, Any]:
    return {"hits": hits, "of": total, "interval": wilson(hits, total)}


def _print(name: str, rates: dict[str, Any]) -> None:
    print(name)
    for kind, rate in rates.items():
        cells = []
        for each in ("precision", "recall"):
            low, high = rate[each]["interval"]
            cells.append(f"{each} {rate[each]['hits']:>3} of {rate[each]['of']:>3}  {low:.2f} to {high:.2f}")
        print(f"  {kind:<14} {'   '.join(cells)}")


def main() -> None:
    """Measure, print and write the result; with one half alone it is only printed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--half", choices=("odd", "even"), help="only the ids with such a number")
    parser.add_argument("--errors", action="store_true", help="list what was read otherwise than labelled")
    options = parser.parse_args()
    data = data_folder(options.data)
    result = {}
    for half in (options.half,) if options.half else ("odd", "even"):
        rows = list(read_labels(data, half))
        genres = sorted({row.genre for row in rows})
        result[half] = {
            "total": measure(rows),
            **{genre: measure([row for row in rows if row.genre == genre]) for genre in genres},
        }
        for name, rates in result[half].items():
            _print(f"{half} half, {name}", rates)
        if options.errors:
            _print_errors(rows)
    if not options.half:
        write_result("quality-extraction-blind", {"setup": setup(), **result})


def _print_errors(rows: list[LabelledSentence]) -> None:
    for row in rows:
        for kind in ItemKind:
            if kind is not ItemKind.CLAIM and (kind in row.labels) != (kind in row.extracted):
                print(f"{'missed' if kind in row.labels else 'wrong'} {kind} {row.id}: {row.sentence}")


if __name__ == "__main__":
    main()
