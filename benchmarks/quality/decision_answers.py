"""Finds what people chose where an agent asked them with options, held against one reader's labels.

    python -m benchmarks.quality.decision_answers [--data DIR]

Every answered question of the public sessions and of the markdown chats, labelled by one reader
(benchmarks/quality/answered_questions.jsonl; the texts stay in the data folder). The rule of
`ebbtide.decisions.turns.answered_questions` was written with the sessions in view, and fixed before the chats
were read, which are of another team: their row is that of an unseen set. The labels of the chats were given
after that, by the same reader. A label is in doubt where a choice is about one run of a tool, or a thin one.

`kept` are the choices that the gate keeps, of those that the rule finds. What a person wrote instead of an
option is not taken, and counts as missed where it decides something.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.decisions.turns.filtered_turns import Disposition
from ebbtide.decisions.turns.turn_filter import TurnFilter
from ebbtide.events.event import ToolCall
from ebbtide.traces.reading import open_trace

_LABELS: Final = Path(__file__).with_name("answered_questions.jsonl")
_TOOL: Final = "AskUserQuestion"
_ASKED: Final = re.compile(
    rf'^<tool-use[^>\n]*data-tool-name="{_TOOL}"(.*?)^</details>', re.MULTILINE | re.DOTALL
)
_QUESTION: Final = re.compile(
    r"^\*\*(.+?)\*\*(?: _\(select multiple\)_)?\n\nOptions:\n((?:- \*\*.*\n)+)", re.MULTILINE
)
_OPTION: Final = re.compile(r"^- \*\*(.+?)\*\*", re.MULTILINE)
_WRITTEN: Final = re.compile(r"\*\*Answer:\*\* (.*)", re.DOTALL)
_TAIL: Final = re.compile(r'"(?:\. Read the answers| selected preview:).*', re.DOTALL)


def labels() -> list[dict[str, Any]]:
    """Returns the labels: the file, the call in it, the question of the call, from 0, and what it is."""
    return [json.loads(line) for line in _LABELS.read_text(encoding="utf-8").splitlines()]


def session_call(path: Path, event: int) -> ToolCall:
    """Returns a call of a session by the number of its event."""
    for number, item in enumerate(open_trace(path), start=1):
        if number == event and isinstance(item, ToolCall):
            return item
    raise ValueError(f"{path.name}: event {event} is no call")


def chat_call(path: Path, number: int) -> ToolCall:
    """Returns a call of a chat by its place among the questions of the chat, from 0.

    A chat joins the answers of a call with commas; they are told apart by the options that were offered.
    """
    body = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    text = list(_ASKED.finditer(body))[number][1]
    asked = [(words, _OPTION.findall(options)) for words, options in _QUESTION.findall(text)]
    written = _WRITTEN.search(text)
    answers = (
        [] if written is None else parted(_TAIL.sub("", written[1]).strip(), [each for _, each in asked])
    )
    pairs = zip((words for words, _ in asked), answers, strict=False)
    return ToolCall(
        name=_TOOL,
        args={
            "questions": [
                {"question": words, "options": [{"label": label} for label in options]}
                for words, options in asked
            ]
        },
        result=", ".join(f'"{words}"="{answer}"' for words, answer in pairs if answer is not None),
    )


def parted(text: str, offered: Sequence[Sequence[str]]) -> list[str | None]:
    """Returns the answer to each question of a joined text; None where the text is used up."""
    answers: list[str | None] = []
    for number, options in enumerate(offered):
        later = [option for each in offered[number + 1 :] for option in each]
        option = next((each for each in options if text == each or text.startswith(f"{each}, ")), None)
        places = [text.find(f", {each}") for each in later]
        end = min((place for place in places if place >= 0), default=len(text))
        answer = text[:end] if option is None else option
        answers.append(answer or None)
        text = text[len(answer) :].removeprefix(", ")
    return answers


def kept_questions(call: ToolCall) -> set[int]:
    """Returns the questions of a call, from 0, of whose answers the gate keeps a choice."""
    assert isinstance(call.args, Mapping)
    kept = [
        each.sentence.text for each in TurnFilter().answer(1, call) if each.disposition is Disposition.KEPT
    ]
    asked = [" ".join(str(each["question"]).split()) for each in call.args["questions"]]
    return {number for number, words in enumerate(asked) if any(text.startswith(words) for text in kept)}


def scored(rows: Sequence[tuple[dict[str, Any], bool]]) -> Iterator[dict[str, Any]]:
    """Yields precision and recall of what is kept, by part, with and without labels in doubt."""
    for part in (*sorted({label["part"] for label, _ in rows}), "all"):
        for firm in (False, True):
            counted: Counter[str] = Counter()
            for label, kept in rows:
                if part in ("all", label["part"]) and not (firm and label["doubt"]):
                    decides = label["label"] == "decision"
                    counted.update(questions=1, decisions=decides, kept=kept, right=kept and decides)
            yield {
                "part": part,
                "labels": "firm" if firm else "all",
                **counted,
                "precision": wilson(counted["right"], counted["kept"]),
                "recall": wilson(counted["right"], counted["decisions"]),
            }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    rows, calls = [], {}
    for label in labels():
        place = label["file"], label["call"]
        if place not in calls:
            read = chat_call if label["part"] == "chats" else session_call
            calls[place] = kept_questions(read(data / label["file"], label["call"]))
        rows.append((label, label["question"] in calls[place]))
    results = list(scored(rows))
    for row in results:
        print(
            f"{row['part']}, {row['labels']} labels: {row['right']} of {row['kept']} kept right "
            f"{row['precision']}, of {row['decisions']} decisions {row['recall']}, {row['questions']} "
            "questions"
        )
    write_result("quality-decision-answers", {"setup": setup(), "rows": results})


if __name__ == "__main__":
    main()
