"""Where rounds that are scored come from: a conversation as it stands, or a run, cut as `check` cuts it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from ebbtide.cli.rounds.scoring_options import ScoringOptions
from ebbtide.errors import TranscriptError
from ebbtide.events.event import ToolCall
from ebbtide.events.transcript import Round
from ebbtide.report.wording import round_cut
from ebbtide.supervision.summary.ending import RunEnding
from ebbtide.traces.input.source import STDIN, gather, unpacked_pieces
from ebbtide.traces.reading import Trace, load, loads, open_trace
from ebbtide.traces.records.readers import TraceItem
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds

_STDIN = "<stdin>"
_MOST_STDIN = 64 << 20  # bytes that are read twice; what is longer is read as it comes


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSource:
    """The rounds of a file.

    Args:
        title: The conversation's own name, or that of its file.
        rounds: What is scored.
        cut: How they were cut, in a sentence.
        tool_calls: Calls of tools, which are not judged here.
        ending: How the run ended; None of what is no run.
    """

    title: str
    rounds: tuple[Round, ...]
    cut: str
    tool_calls: int = 0
    ending: RunEnding | None = None


def rounds_in(name: str, options: ScoringOptions) -> RoundSource:
    """The rounds of a file.

    Args:
        name: File, or ``-`` for standard input.
        options: What a round is, and the profile.

    Raises:
        TranscriptError: It cannot be read, or nothing in it is a round.
    """
    data, is_whole = None, True
    if name == STDIN:
        pieces = unpacked_pieces(STDIN)
        data, is_whole = gather(b"", pieces, _MOST_STDIN)
        trace = Trace.of(data if is_whole else chain((data,), pieces), source=_STDIN, unit=options.unit)
    else:
        trace = open_trace(name, unit=options.unit)
    form = trace.format
    if form.transcript_reader_at is None or not is_whole:
        return _of_run(trace, trace, options)
    items = list(trace) if form.has_events else []
    if any(isinstance(item, ToolCall) for item in items) and not trace.faults:
        return _of_run(trace, items, options)
    # Of what people write a broken line is refused.
    transcript = (
        load(name, unit=options.unit) if data is None else loads(data, source=_STDIN, unit=options.unit)
    )
    rounds = transcript.rounds
    return RoundSource(
        title=transcript.conversation_id,
        rounds=rounds,
        cut=round_cut(len(rounds), form=form.name, unit=options.unit),
    )


def _of_run(trace: Trace, items: Iterable[TraceItem], options: ScoringOptions) -> RoundSource:
    from ebbtide.supervision.heard_rounds import heard_rounds

    conversation = heard_rounds(items, options.profile)
    rounds = conversation.rounds
    if trace.faults and not trace.events:
        raise trace.faults[0]
    if not rounds:
        raise TranscriptError(
            "nobody says anything that no call of a tool follows, so there are no rounds",
            source=trace.source,
            hint="`ebbtide check` judges a run by its calls.",
        )
    people = any(item.is_by_person for item in rounds)
    if options.unit is RoundUnit.CIRCLE:
        circles = TurnRounds(options.unit)
        turns = [Turn(speaker=item.agent or "assistant", text=item.words) for item in rounds]
        rounds = tuple(item for turn in turns for item in circles.add(turn)) + circles.finish()
    return RoundSource(
        title=trace.source,
        rounds=rounds,
        tool_calls=conversation.tool_calls,
        ending=conversation.ending,
        cut=round_cut(
            len(rounds),
            form=trace.format.name,
            unit=options.unit,
            calls=conversation.tool_calls,
            people=people,
            conversations=conversation.conversations,
        ),
    )
