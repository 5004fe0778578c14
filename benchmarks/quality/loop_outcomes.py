"""Alarms against what became of real runs: shell and SQL episodes, question answering, airline support.

    python -m benchmarks.quality.loop_outcomes [--data DIR]

Episodes: an alarm at a step is right if no later reward beats the best so far; saved are the steps after a
right alarm. Beside it stands "three equal actions in a row". 1,225 of the episodes are given their reward
at `submit` alone, for what they had reached before: there the reward of a submission does not speak against
an alarm after which no answer came that was not known. Both counts are given, the letter and this one.

Question answering: traces that ran out of steps (HALTED) should be alarmed, those that ended CORRECT must
not. Traces repeat over five trials; distinct ones are counted too. Support: runs with any alarm, of 20.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, ToolCall

_CUT = 300  # characters at which the data cuts an action, whose whole text has a hash beside it
_CUT_ANSWER = 70
_ERROR = "Error executing query"  # how the environment says that an action failed
_ACTION = re.compile(r"\s*(\w+)\[(.*)\]\s*$", re.DOTALL)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as text:
        yield from map(json.loads, text)


def step_call(episode: dict[str, Any], step: dict[str, Any]) -> ToolCall:
    args = {"action": step["action"]}
    if len(step["action"]) >= _CUT:
        args["sha1"] = step["action_sha1"]
    answer = step["observation"]
    failed = answer.startswith(_ERROR)
    if len(answer) >= _CUT_ANSWER:
        answer = f"{answer} {step['observation_sha1']}"
    return ToolCall(name=episode["env"], args=args, result=answer, error=failed)


def alarm_of_ebbtide(episode: dict[str, Any]) -> tuple[int, str] | None:
    monitor = LoopMonitor()
    for place, step in enumerate(episode["steps"]):
        signals = monitor.update(step_call(episode, step))
        if signals:
            return place, str(signals[0].kind)
    return None


def alarm_of_three(episode: dict[str, Any]) -> tuple[int, str] | None:
    actions = [step["action_sha1"] for step in episode["steps"]]
    for place in range(2, len(actions)):
        if len(set(actions[place - 2 : place + 1])) == 1:
            return place, "three equal"
    return None


def improves(episode: dict[str, Any], place: int, *, letter: bool) -> bool:
    """Whether a reward after the alarm beats the best so far."""
    steps = episode["steps"]
    rewards = [step["reward"] or 0 for step in steps]
    if max(rewards[place + 1 :], default=-1) <= max(rewards[: place + 1]):
        return False
    if letter or steps[-1]["action"].strip() != "submit":
        return True
    known = {step["observation_sha1"] for step in steps[: place + 1]}
    return any(step["observation_sha1"] not in known for step in steps[place + 1 : -1])


def score_episodes(episodes: list[dict[str, Any]], alarm: Any) -> dict[str, Any]:
    alarmed = wrong = wrong_letter = saved = saved_letter = 0
    by_rule: Counter[str] = Counter()
    wrong_by_rule: Counter[str] = Counter()
    by_model: dict[str, list[int]] = {}
    for episode in episodes:
        found = alarm(episode)
        if found is None:
            continue
        place, rule = found
        alarmed += 1
        by_rule[rule] += 1
        late, late_letter = (improves(episode, place, letter=letter) for letter in (False, True))
        rest = len(episode["steps"]) - 1 - place
        wrong += late
        wrong_letter += late_letter
        saved += 0 if late else rest
        saved_letter += 0 if late_letter else rest
        wrong_by_rule[rule] += late_letter
        counts = by_model.setdefault(f"{episode['env']} {episode['model']}", [0, 0, 0])
        for index, value in enumerate((1, late, late_letter)):
            counts[index] += value
    return {
        "alarmed": alarmed,
        "precision": round(1 - wrong / alarmed, 4),
        "interval": wilson(alarmed - wrong, alarmed),
        "saved_turns": saved,
        "letter": {
            "precision": round(1 - wrong_letter / alarmed, 4),
            "interval": wilson(alarmed - wrong_letter, alarmed),
            "saved_turns": saved_letter,
        },
        "rules": {rule: {"alarmed": by_rule[rule], "wrong_letter": wrong_by_rule[rule]} for rule in by_rule},
        "models": {
            name: {"alarmed": counts[0], "wrong": counts[1], "wrong_letter": counts[2]}
            for name, counts in sorted(by_model.items())
        },
    }


def score_questions(traces: list[dict[str, Any]]) -> dict[str, Any]:
    total: Counter[str] = Counter()
    alarmed: Counter[str] = Counter()
    distinct: dict[str, tuple[str, bool]] = {}
    for trace in traces:
        monitor = LoopMonitor()
        raised = False
        for step in trace["steps"]:
            if step.get("thought"):
                raised |= bool(monitor.update(ModelCall(text=step["thought"], part=ModelPart.THOUGHT)))
            match = _ACTION.match(step["action"] or "")
            name, query = match.groups() if match else ("action", step["action"])
            raised |= bool(
                monitor.update(ToolCall(name=name, args={"query": query}, result=step["observation"]))
            )
        status = trace["status"]
        total[status] += 1
        alarmed[status] += raised
        distinct[json.dumps([[step["action"], step["observation"]] for step in trace["steps"]])] = (
            status,
            raised,
        )
    apart = Counter(status for status, _ in distinct.values())
    apart_alarmed = Counter(status for status, raised in distinct.values() if raised)
    return {
        status: {
            "alarmed": alarmed[status],
            "of": total[status],
            "interval": wilson(alarmed[status], total[status]),
            "distinct_alarmed": apart_alarmed[status],
            "distinct": apart[status],
        }
        for status in sorted(total)
    }


def chat_calls(messages: list[dict[str, Any]]) -> Iterator[Event]:
    requests: dict[str, tuple[str, Any]] = {}
    for message in messages:
        role, text = message["role"], message.get("content")
        if role == "user":
            yield Message(text=text)
        elif role == "assistant":
            if text:
                yield ModelCall(text=text)
            for call in message.get("tool_calls") or []:
                requests[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
        elif role == "tool":
            name, args = requests[message["tool_call_id"]]
            yield ToolCall(name=name, args=args, result=text, error=str(text).startswith("Error"))


def score_support(runs: list[dict[str, Any]]) -> dict[str, Any]:
    monitors = [LoopMonitor() for _ in runs]
    alarmed = sum(
        any(list(map(monitor.update, chat_calls(run["traj"]))))
        for monitor, run in zip(monitors, runs, strict=True)
    )
    return {"alarmed": alarmed, "of": len(runs), "interval": wilson(alarmed, len(runs))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    folder = data_folder(parser.parse_args().data)
    episodes = list(lines(folder / "loops" / "intercode.jsonl.gz"))
    ours, three = score_episodes(episodes, alarm_of_ebbtide), score_episodes(episodes, alarm_of_three)
    ratio = round(ours["saved_turns"] / three["saved_turns"], 3)
    ratio_letter = round(ours["letter"]["saved_turns"] / three["letter"]["saved_turns"], 3)
    for name, found in (("ebbtide", ours), ("three equal actions", three)):
        print(
            f"episodes, {name}: {found['alarmed']} of {len(episodes)} alarmed; precision "
            f"{found['precision']} {found['interval']}, {found['saved_turns']} turns saved; to the letter "
            f"{found['letter']['precision']} {found['letter']['interval']}, {found['letter']['saved_turns']}"
        )
    print(f"turns saved, against three equal actions: {ratio} times; to the letter {ratio_letter} times")
    for model, counts in ours["models"].items():
        wrong = f"{counts['wrong']} wrong ({counts['wrong_letter']} to the letter)"
        print(f"  {model}: {counts['alarmed']} alarmed, {wrong}")
    questions = score_questions(list(lines(folder / "loops" / "hotpotqa_react_base.jsonl.gz")))
    for status, counts in questions.items():
        print(
            f"questions, {status}: {counts['alarmed']} of {counts['of']} alarmed {counts['interval']}; "
            f"{counts['distinct_alarmed']} of {counts['distinct']} distinct"
        )
    runs = json.loads(
        (folder / "traces" / "openai_messages" / "tau_airline_20.json").read_text(encoding="utf-8")
    )
    support = score_support(runs)
    print(f"support: {support['alarmed']} of {support['of']} runs alarmed {support['interval']}")
    write_result(
        "quality-loop-outcomes",
        {
            "episodes": {
                "of": len(episodes),
                "ebbtide": ours,
                "three_equal": three,
                "saved_ratio": ratio,
                "saved_ratio_letter": ratio_letter,
            },
            "questions": questions,
            "support": support,
            "setup": setup(),
        },
    )


if __name__ == "__main__":
    main()
