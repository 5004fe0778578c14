"""Tells if a sentence that a later call carries out is a decision, and what plans state of decisions.

    python -m benchmarks.quality.decision_deeds [--data DIR]

The labelled turns of three genres (benchmarks/quality/decisions_blind.md) whose records go on with calls. A
sentence names something where `names_in` finds a file, an identifier or an option in it, and is carried out
where one of the next 32 calls that change something has two thirds of these names, by the rule of the
product (`ebbtide.decisions.turns.turn_deeds`). `precision` is the share of such sentences that a label
calls a decision, `recall` the share of turns that decide something with such a sentence. Questions and
proposals count as any other sentence. `or rules` adds what the product keeps.

Plans are the arguments of `ExitPlanMode` in public sessions. There are no labels for their sentences: only
how many plans a person approved by the record, and how many sentences of plans the gate keeps.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.decision_sentences import LabelledSentence, sentences_of
from benchmarks.quality.decisions_blind import HEADING, fill, load, rows
from benchmarks.quality.run_sets import session_files
from ebbtide.decisions.turns.filtered_turns import Disposition, SpokenTurn
from ebbtide.decisions.turns.turn_deeds import carries_out, names_in, words_of_call
from ebbtide.decisions.turns.turn_filter import filter_turns
from ebbtide.divergence.monitor import tools_of
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.profile import Profile
from ebbtide.traces.reading import open_trace

_CALLS: Final = 32  # that change something, as many as the product waits for
_TOOLS = tools_of(None, Profile.DEFAULT.divergence)
_BLOCK = re.compile(
    r"^<tool-use data-tool-type=\"(write|shell)\"[^\n]*\n(.*?)^</details>", re.MULTILINE | re.DOTALL
)
_SHELL_LINE = re.compile(r"^`([^`\n]+)`$|^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"```(?:bash|mswea_bash_command)\n(.*?)\n```", re.DOTALL)
_RULES: Final = ("carried out", "names without a deed", "no names", "rules", "carried out or rules")


def changes(tool: str, args: object) -> bool:
    """Returns True if a call is known to change something."""
    policy = _TOOLS.get(tool)
    return policy is not None and policy.effect_of(args) is Effect.CHANGE


def calls_in_chat(body: str, at: Mapping[str, int]) -> Iterator[str]:
    """Yields the words of the calls after a turn of a chat; of an edit mostly its file is known."""
    for match in _BLOCK.finditer(body, list(HEADING.finditer(body))[at["heading"]].end()):
        kind, block = match.groups()
        if kind == "write":
            yield block[:2_000].lower()
            continue
        line = _SHELL_LINE.search(block)
        command = "" if line is None else line[1] or line[2]
        if changes("Bash", {"command": command}):
            yield command.lower()


def calls_in_session(body: str, at: Mapping[str, int]) -> Iterator[str]:
    """Yields the words of the calls after a turn of a session of Claude Code."""
    for line in body.split("\n")[at["line"] :]:
        if '"tool_use"' not in line:
            continue
        try:
            content = json.loads(line)["message"]["content"]
        except (ValueError, KeyError, TypeError):
            continue
        for block in content if isinstance(content, list) else ():
            is_call = isinstance(block, dict) and block.get("type") == "tool_use"
            if is_call and changes(block["name"], block["input"]):
                yield words_of_call(block["input"])


def calls_in_run(body: str, at: Mapping[str, int]) -> Iterator[str]:
    """Yields the commands of a run of mini-swe-agent, that of the same message with them."""
    for message in json.loads(body)["messages"][at["message"] :]:
        if message["role"] == "assistant":
            for command in _COMMAND.findall(str(message["content"])):
                if changes("Bash", {"command": command}):
                    yield command.lower()


_READERS: dict[str, Callable[[str, Mapping[str, int]], Iterator[str]]] = {
    "decisions/coding_chats": calls_in_chat,
    "runs/claude_code": calls_in_session,
    "runs/mini_swe_agent": calls_in_run,
}


def calls_after(source: str, data: Path) -> list[str] | None:
    """Returns the words of the calls after a labelled turn; None where its record has no calls."""
    name, _, rest = source.partition("#")
    reader = next((read for folder, read in _READERS.items() if name.startswith(folder)), None)
    if reader is None:
        return None
    at = {key: int(value) for key, value in (pair.split("=") for pair in rest.split(","))}
    return list(islice(reader(load(str(data / name)), at), _CALLS))


def kind_of(sentence: LabelledSentence, calls: list[str]) -> str:
    """Returns what calls make of a sentence."""
    names = names_in(sentence.text)
    if not names:
        return "no names"
    return "carried out" if any(carries_out(names, call) for call in calls) else "names without a deed"


def score(pairs: list[tuple[LabelledSentence, str]]) -> list[dict[str, Any]]:
    """Returns what each kind of sentence is worth as a sign of a decision."""
    found = []
    tests: dict[str, Callable[[LabelledSentence, str], bool]] = {
        name: (lambda _, kind, name=name: kind == name) for name in _RULES[:3]
    }
    tests["rules"] = lambda item, _: item.kept
    tests["carried out or rules"] = lambda item, kind: item.kept or kind == "carried out"
    for firm in (False, True):
        own = [(item, kind) for item, kind in pairs if item.firm or not firm]
        turns = {item.turn for item, _ in own if item.decides}
        for name, test in tests.items():
            chosen = [item for item, kind in own if test(item, kind)]
            right = sum(item.decides for item in chosen)
            hits = len({item.turn for item in chosen if item.decides})
            row: dict[str, Any] = {
                "rule": name,
                "labels": "firm" if firm else "all",
                "sentences": len(chosen),
            }
            row |= {"right": right, "precision": wilson(right, len(chosen))}
            row |= {"hits": hits, "decisions": len(turns), "recall": wilson(hits, len(turns))}
            found.append(row)
    return found


def plans(data: Path) -> dict[str, int]:
    """Counts plans of public sessions, those that a person approved, and what the gate keeps of them."""
    found = {"plans": 0, "approved": 0, "sentences_kept": 0, "plans_with_one": 0}
    for path, _ in session_files(data):
        for event in open_trace(path):
            if not isinstance(event, ToolCall) or event.name != "ExitPlanMode":
                continue
            plan = event.args.get("plan") if isinstance(event.args, Mapping) else None
            if not isinstance(plan, str):
                continue
            kept = filter_turns([SpokenTurn(number=1, speaker="agent", text=plan)]).having(Disposition.KEPT)
            found["plans"] += 1
            found["approved"] += not event.error
            found["sentences_kept"] += len(kept)
            found["plans_with_one"] += bool(kept)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    pairs: dict[str, list[tuple[LabelledSentence, str]]] = defaultdict(list)
    for part in ("open", "tuning"):
        for stored in rows(part):
            calls = calls_after(stored["source"], data)
            if calls is not None:
                for item in sentences_of(fill(stored, str(data)), part):
                    pairs[stored["genre"]].append((item, kind_of(item, calls)))
    results = []
    everything = [pair for found in pairs.values() for pair in found]
    for genre, own in (*pairs.items(), ("all", everything)):
        for row in score(own):
            results.append({"genre": genre, **row})
            print(
                f"{genre}, {row['labels']} labels, {row['rule']}: {row['right']} of {row['sentences']} right "
                f"{row['precision']}, {row['hits']} of {row['decisions']} turns {row['recall']}"
            )
    counted = plans(data)
    print(f"plans: {counted}")
    write_result("quality-decision-deeds", {"setup": setup(), "rows": results, "plans": counted})


if __name__ == "__main__":
    main()
