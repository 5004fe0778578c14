"""Labelled texts for the gate before the decision log: real decisions, and real noise.

How each set got its label:

- ConDec (people): sentences of issue comments and commits that are labelled decision or irrelevant.
- ADR (all are decisions): the title without its number, and the first paragraph of the Decision section, with
  the next one where it ends in a colon.
- relay (silver; agents logged them): of the `decision` events those whose choice is the word "skip" are
  noise. Those whose first word is a verb in the past tense are reports; this label and the gate's rule look
  at the same words, so it says how well a report is told from a choice, not whether it was one. Reports that
  name an alternative ("Merged main instead of rebasing") are counted apart, as decisions. The rest are
  choices. Events of other types are noise.
- Narration (silver): what an agent said beside a tool call, where the extraction rules find no decision in
  it. Those rules are not the gate's, but they were written in the same project; and some of these turns do
  say what is chosen. Some agents think in a template of their own there, more analysis than narration.
- Question answering (by what they do): thoughts of agents that search and answer, beside a call each. They
  state facts and name the next search; nothing is decided.
- Turns (people): the open half of `benchmarks/quality/decisions_blind.md`, six genres. The sentences that
  state the decision of a turn are decisions, those of turns without decision and proposal are noise.

A genre is where texts come from: people or agents of one kind at one kind of work. Some have only decisions,
some only noise.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.quality.decisions_blind import fill, rows
from ebbtide.decisions.candidate import Candidate, Reason, Source, TurnContext
from ebbtide.text.extraction.turn import extract
from ebbtide.text.sentence_ends import spans

_NUMBER = re.compile(r"^(?:adr[- ]?)?\d+[.:)]?\s*(?:architecture decision record:\s*)?", re.IGNORECASE)
_TITLE = re.compile(r"^#\s+(.*)$", re.MULTILINE)
_SECTION = re.compile(
    r"^#+\s*(?:decisions?|decision outcome|proposal)\s*$(.*?)(?=^#|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_NO_RECORD = ("readme.md", "index.md", "template.md")
_PAST = re.compile(
    r"(?!(?:embed|exceed|feed|need|proceed|seed|speed)\b)(?:\w{2,}ed|built|made|ran|rewrote|sent|took|wrote)\b"
)
_ALTERNATIVE = re.compile(r"\b(?:instead of|rather than|in favou?r of)\b|, not (?:an?|the)\b", re.IGNORECASE)
_FENCE = re.compile(r"^ *```.*?(?:^ *```|\Z)", re.DOTALL | re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LEAST_WORDS = 3  # of a sentence of a turn
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)|<!--.*?-->", re.DOTALL)


#: Folds that nobody read when the rules were written; of the others the mistakes were read.
UNREAD = frozenset((5, 7, 9))


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text, the set it belongs to, its label, and the record or document that it came from."""

    group: str
    text: str
    document: str
    is_decision: bool = False
    reasons: tuple[str, ...] = ()
    beside_call: bool = False
    genre: str = ""
    said_in: str = ""  # the turn that it is a sentence of

    @property
    def fold(self) -> int:
        """0 to 9, by document."""
        return hashlib.sha256(self.document.encode()).digest()[0] % 10

    @property
    def unread(self) -> bool:
        """Whether its document is of a fold that nobody read."""
        return self.fold in UNREAD

    def candidate(self) -> Candidate:
        """What the gate is asked."""
        return Candidate(
            description=self.text,
            reasons=tuple(Reason(text=text) for text in self.reasons),
            source=Source.AUTO if self.beside_call or self.said_in else Source.IMPORT,
        )

    def turn(self) -> TurnContext | None:
        """The turn, where there is one."""
        if self.said_in:
            return TurnContext(text=self.said_in)
        return self.turn_with_call() if self.beside_call else None

    def turn_with_call(self) -> TurnContext:
        """The turn that it would be beside a call."""
        return TurnContext(text=self.text, tool_results=("",))


def labelled_texts(folder: Path) -> list[Labelled]:
    """Every text once in its set."""
    readers = {
        _condec: "issue comments",
        _records: "decision records",
        _relay: "logs of agents",
        _thoughts: "narration, SWE agents",
        _conversations: "narration, conversations",
        _questions: "question answering",
        _turns: "",
    }
    texts: dict[tuple[str, str], Labelled] = {}
    for reader, genre in readers.items():
        for item in reader(folder):
            texts.setdefault((item.group, item.text), replace(item, genre=item.genre or genre))
    return list(texts.values())


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _condec(folder: Path) -> Iterator[Labelled]:
    for row in _rows(folder / "decisions" / "condec.jsonl.gz"):
        if row["label"] in {"decision", "irrelevant"}:
            group = f"ConDec {row['label']}"
            yield Labelled(group, row["text"], row["text"], is_decision=row["label"] == "decision")


def _records(folder: Path) -> Iterator[Labelled]:
    for row in _rows(folder / "decisions" / "adr.jsonl.gz"):
        if row["id"].lower().endswith(_NO_RECORD):
            continue
        if title := _TITLE.search(row["markdown"]):
            yield Labelled("ADR title", _NUMBER.sub("", title[1].strip()), row["id"], is_decision=True)
        section = _SECTION.search(row["markdown"])
        if section and (paragraph := _first_paragraph(section[1])):
            yield Labelled("ADR decision", paragraph, row["id"], is_decision=True)


def _first_paragraph(section: str) -> str:
    """Its words, with those of the next one where it ends in a colon; pictures and comments left out."""
    paragraphs = [" ".join(part.split()) for part in _IMAGE.sub("", section).split("\n\n") if part.strip()]
    words = 2 if paragraphs and paragraphs[0].endswith((":", "because")) else 1
    return "\n".join(paragraphs[:words])


def _relay(folder: Path) -> Iterator[Labelled]:
    for row in _rows(folder / "decisions" / "relay_events.jsonl.gz"):
        if row["type"] != "decision":
            yield Labelled(f"relay {row['type']}", row["content"], row["id"])
            continue
        chosen, why = row["raw"]["chosen"], row["raw"]["reasoning"]
        reasons = (why,) if why else ()
        if chosen == "skip":
            yield Labelled("relay skip", row["content"], row["id"], reasons=reasons)
        elif not _PAST.match(chosen.lower()):
            yield Labelled("relay choice", chosen, row["id"], is_decision=True, reasons=reasons)
        elif _ALTERNATIVE.search(chosen):
            yield Labelled("relay past, names another", chosen, row["id"], is_decision=True, reasons=reasons)
        else:
            yield Labelled("relay past", chosen, row["id"], reasons=reasons)


def _thoughts(folder: Path) -> Iterator[Labelled]:
    for row in _rows(folder / "loops" / "swe_transitions.jsonl.gz"):
        for thought in row["thoughts"]:
            if thought and not extract(thought).decisions:
                yield Labelled("narration, SWE agents", thought, str(row["id"]), beside_call=True)


def _conversations(folder: Path) -> Iterator[Labelled]:
    for path in sorted((folder / "traces").glob("*/*")):
        if path.parent.name not in {"openai_messages", "claude_code", "swe_agent"}:
            continue
        text = path.read_text(encoding="utf-8")
        values = (
            [json.loads(line) for line in text.splitlines()]
            if path.suffix == ".jsonl"
            else [json.loads(text)]
        )
        for place, message in enumerate(_messages(values)):
            said, calls = _said(message)
            if said and calls and not extract(said).decisions:
                document = f"{path.name}:{place}"
                yield Labelled("narration, conversations", said, document, beside_call=True)


def _questions(folder: Path) -> Iterator[Labelled]:
    for row in _rows(folder / "loops" / "hotpotqa_react_base.jsonl.gz"):
        for step in row["steps"]:
            if thought := step.get("thought"):
                # The same thoughts come in many runs, so a thought is a document.
                yield Labelled("question answering", thought, thought, beside_call=True)


def _turns(folder: Path) -> Iterator[Labelled]:
    for row in rows("open"):
        turn = fill(row, str(folder))
        genre, text = turn["genre"].replace("_", " "), turn["text"]
        if turn["label"] == "decision":
            for sentence in turn["sentences"]:
                yield replace(
                    Labelled(f"{genre}, decisions", sentence, turn["id"], is_decision=True),
                    genre=genre,
                    said_in=text,
                )
        elif turn["label"] == "none":
            for line in _FENCE.sub("\n", text).splitlines():
                for start, end in spans(line, 0, len(line)):
                    if len(_LETTERS.findall(line[start:end])) >= _LEAST_WORDS:
                        other = Labelled(f"{genre}, others", line[start:end].strip(), turn["id"])
                        yield replace(other, genre=genre, said_in=text)


def _messages(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("role") == "assistant" or ("thought" in value and "action" in value):
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _messages(part)


def _said(message: dict[str, Any]) -> tuple[str, bool]:
    content = message.get("thought") or message.get("content")
    calls = bool(message.get("tool_calls") or message.get("action"))
    if isinstance(content, list):
        calls = calls or any(part.get("type") == "tool_use" for part in content if isinstance(part, dict))
        content = "\n".join(part["text"] for part in content if isinstance(part, dict) and part.get("text"))
    return (content or "").strip(), calls
