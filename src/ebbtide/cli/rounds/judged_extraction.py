"""`ebbtide extract --judge`: what a model reads out of raw text, beside the rules."""

from __future__ import annotations

from ebbtide.cli.judging import JudgeReport, judge_progress
from ebbtide.cli.lines import Line, print_lines, terminal_width
from ebbtide.cli.rounds.extraction import print_turns, turn_dict
from ebbtide.cli.terminal import print_json
from ebbtide.convergence.llm_rounds import judge_rounds
from ebbtide.text.llm.chat_endpoint import ChatModel
from ebbtide.text.redaction import redacted
from ebbtide.traces.reading import load
from ebbtide.traces.transcripts.turns import RoundUnit


def show_judged(name: str, unit: RoundUnit, judge: ChatModel, *, redact: bool, as_json: bool) -> None:
    """Print each turn's items as a model reads them, where it differs from the rules, and what it took.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
        TranscriptError: The file cannot be read.
    """
    rounds = load(name, unit=unit).rounds
    with judge_progress(len(rounds)) as advance:
        judged_rounds = judge_rounds(rounds, judge, agreements=False, advance=advance)
    if redact:
        judged_rounds = redacted(judged_rounds)
    raw_rounds = tuple(item for item in judged_rounds if item.extraction is not None)
    differences = tuple(difference for item in raw_rounds for difference in item.disagreements())
    report = JudgeReport(model=judge.model, rounds=raw_rounds, disagreements=differences)
    turns = [(item.item, item.reading) for item in raw_rounds if item.reading is not None]
    if as_json:
        by_round = {item.item.number: item.to_dict() for item in raw_rounds}
        wires = [turn_dict(*turn) | by_round[turn[0].number] for turn in turns]
        print_json({"rounds": wires, "judge": report.to_dict()})
        return
    print_turns(turns)
    print_lines([Line(), *report.lines(terminal_width())])
