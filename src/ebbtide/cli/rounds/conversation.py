"""One conversation: read and scored, at once or round by round."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from ebbtide.cli.declaration import read_prices
from ebbtide.cli.rounds.scoring_options import ScoringOptions
from ebbtide.cli.terminal import progress_bar, warn
from ebbtide.convergence.score import ConvergenceScore, RoundReading
from ebbtide.convergence.signal import Signal
from ebbtide.errors import TranscriptError
from ebbtide.events.event import ToolCall
from ebbtide.events.transcript import Round
from ebbtide.report.plurals import count
from ebbtide.report.wording import round_cut
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.sentences import ended
from ebbtide.text.redaction import redacted
from ebbtide.traces.input.source import STDIN, gather, unpacked_pieces
from ebbtide.traces.reading import Trace, load, loads, open_trace
from ebbtide.traces.records.readers import TraceItem
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds

if TYPE_CHECKING:
    from ebbtide.cli.rounds.judging import JudgeReport
    from ebbtide.convergence.llm_score import JudgedScore
    from ebbtide.text.llm.chat_endpoint import ChatModel
    from ebbtide.traces.live import Growth


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredConversation:
    """A conversation with its score, the readings of its rounds, and the run that it is a part of, if any.

    `cut` says how the rounds were cut; it is in the output of a run, of which not every turn is a round.

    Where a model was asked, the score is that of what it read; `judge` has the rest.
    """

    name: str
    score: ConvergenceScore
    readings: tuple[RoundReading, ...]
    cut: str
    run: RunSummary | None = None
    judge: JudgeReport | None = None

    def to_dict(self, *, explain: bool) -> dict[str, Any]:
        """The output object; with the claims of each round where they were asked for."""
        wire = self.score.to_dict()
        if self.run is not None and self.run.spent.tool_calls:
            wire["cut"] = self.cut
            wire["run"] = run_fields(self.run)
        if explain:
            wire["claims_by_round"] = [
                {"round": reading.number, "claims": [claim.to_dict() for claim in reading.novelty.readings]}
                for reading in self.readings
            ]
        if self.judge is not None:
            wire["judge"] = self.judge.to_dict()
        return wire


def score_conversation(name: str, options: ScoringOptions, *, quiet: bool = False) -> ScoredConversation:
    """Read a whole conversation and score it.

    Args:
        name: File, or ``-`` for standard input.
        options: How.
        quiet: Show no bar of progress.

    Raises:
        ConfigError: The judge cannot be asked as it is set up.
        TranscriptError: It cannot be read.
    """
    return score_rounds(name, rounds_in(name, options), options, quiet=quiet)


def score_rounds(
    name: str, source: RoundSource, options: ScoringOptions, *, quiet: bool = False
) -> ScoredConversation:
    """Scores rounds that were read; the arguments and errors are those of `score_conversation`."""
    if not source.rounds:
        raise TranscriptError(
            "every message is followed by a tool call, so there are no rounds",
            source=source.title,
            hint="`ebbtide check` judges a run by its calls.",
        )
    judge = None
    if options.judge is not None:
        judged, judge = _judged(source.rounds, options, options.judge, quiet=quiet)
        score, readings = judged.score, judged.readings
    else:
        meter = options.meter()
        readings = tuple(reading for item in source.rounds if (reading := meter.update(item)))
        score = _over(meter.score(), source.run)
    conversation = ScoredConversation(
        name=source.title if name == STDIN else name,
        score=score,
        readings=readings,
        cut=source.cut,
        run=source.run,
        judge=judge,
    )
    return redacted(conversation) if options.redact else conversation


def run_fields(run: RunSummary) -> dict[str, Any]:
    """Returns what `ebbtide check` says of the run, for the output of whatever reads its rounds alone."""
    return {
        "headline": run.headline.value,
        "course": run.course.value,
        "action": run.latest.action.value,
        "reason": run.reason,
        "tool_calls": run.spent.tool_calls,
    }


def _over(score: ConvergenceScore, run: RunSummary | None) -> ConvergenceScore:
    """The score of a run that is over: whoever asks whether to go on hears how it ended."""
    recommendation = score.recommendation
    if run is None or recommendation.signal is not Signal.CONTINUE:
        return score
    hint = over_hint(run)
    return score if hint is None else replace(score, recommendation=replace(recommendation, hint=hint))


def over_hint(run: RunSummary) -> str | None:
    """Returns how a run ended, for whoever asks whether to go on; None where it says nothing of that."""
    if run.ending.ending in (EndKind.UNKNOWN, EndKind.CUT_OFF):
        return None
    return f"The run is over. {ended(run.ending)}"


def _judged(
    rounds: Sequence[Round], options: ScoringOptions, model: ChatModel, *, quiet: bool
) -> tuple[JudgedScore, JudgeReport]:
    from ebbtide.cli.rounds.judging import JudgeReport
    from ebbtide.convergence.llm_score import score_with_llm

    with progress_bar("asking the judge", 0 if quiet else len(rounds) + 1) as advance:
        judged = score_with_llm(rounds, model, options.meter, advance=partial(advance, 1))
    return judged, JudgeReport.of(model.model, judged)


def follow_conversation(name: str, options: ScoringOptions) -> Iterator[RoundReading]:
    """Read a conversation while it is written, and score each round as it comes.

    Raises:
        TranscriptError: It cannot be read.
    """
    from ebbtide.traces.live import follow

    meter = options.meter()
    for growth in _growths_of_stdin(options.unit) if name == STDIN else follow(name, unit=options.unit):
        if growth.restarted:
            warn(f"{name}: starts over")
            meter = options.meter()
        for error in growth.errors:
            warn(str(error))
        for item in growth.rounds:
            if reading := meter.update(item):
                yield redacted(reading) if options.redact else reading


def _growths_of_stdin(unit: RoundUnit) -> Iterator[Growth]:
    """Yields the rounds that come through standard input, line by line, until it ends."""
    from ebbtide.traces.live import Growth, RoundStream

    stream = RoundStream(unit=unit, source="<stdin>")
    for line in sys.stdin.buffer:
        try:
            yield Growth(rounds=stream.feed(line))
        except TranscriptError as error:
            yield Growth(errors=(error,))
    yield Growth(rounds=stream.finish())


def warn_of_missing_level(options: ScoringOptions) -> None:
    """Print why meanings are not compared, where that was wanted."""
    if options.level.problem:
        warn(f"the semantic level is off: {options.level.problem}")


def words_alone(run: RunSummary | None) -> str:
    """Returns why a score may differ from what `ebbtide check` says; empty where there is no tool call."""
    if run is None or not run.spent.tool_calls:
        return ""
    calls = count(run.spent.tool_calls, "tool call")
    return (
        f"Only the texts were scored; {calls} not judged here. `ebbtide check` judges the whole run: "
        f"{run.words}."
    )


_STDIN = "<stdin>"
_MOST_STDIN = 64 << 20  # bytes that are read twice; what is longer is read as it comes


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSource:
    """The rounds of a file.

    Args:
        title: The conversation's own name, or that of its file.
        rounds: What is scored.
        cut: How they were cut, in a sentence.
        run: The run that they are of; None of what is no run.
    """

    title: str
    rounds: tuple[Round, ...]
    cut: str
    run: RunSummary | None = None


def rounds_in(name: str, options: ScoringOptions) -> RoundSource:
    """The rounds of a file.

    Args:
        name: File, or ``-`` for standard input.
        options: What a round is, and the profile.

    Raises:
        TranscriptError: It cannot be read.
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
    try:
        transcript = (
            load(name, unit=options.unit) if data is None else loads(data, source=_STDIN, unit=options.unit)
        )
    except TranscriptError:
        if not items or trace.faults:
            raise
        return _of_run(trace, items, options)  # it is read as a run, though not as a conversation
    rounds = transcript.rounds
    return RoundSource(
        title=transcript.conversation_id,
        rounds=rounds,
        cut=round_cut(len(rounds), form=form.name, unit=options.unit),
    )


def _of_run(trace: Trace, items: Iterable[TraceItem], options: ScoringOptions) -> RoundSource:
    from ebbtide.checking import hear

    run_options = RunOptions(profile=options.profile, prices=read_prices(None), redact=options.redact)
    conversation = hear(trace, run_options, items=items)
    rounds, run = conversation.rounds, conversation.summary
    people = any(item.is_by_person for item in rounds)
    if options.unit is RoundUnit.CIRCLE:
        circles = TurnRounds(options.unit)
        turns = [Turn(speaker=item.agent or "assistant", text=item.words) for item in rounds]
        rounds = tuple(item for turn in turns for item in circles.add(turn)) + circles.finish()
    return RoundSource(
        title=trace.source,
        rounds=rounds,
        run=run,
        cut=round_cut(
            len(rounds),
            form=trace.format.name,
            unit=options.unit,
            calls=run.spent.tool_calls,
            people=people,
            conversations=conversation.conversations,
        ),
    )
