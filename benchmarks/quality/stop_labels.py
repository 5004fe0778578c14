"""What `calibrate` finds on real conversations with labels made from their outcomes.

    python -m benchmarks.quality.stop_labels [--data DIR]

Refinement chains: the round after which to stop is the first that the judge found on target. Reflections
after failed trials: of an environment that is never solved the right signal is ESCALATE, of one that the next
trial solves it is CONTINUE. Both labels are outcomes that the texts may not show.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.stopping import Run, refinement_chains, reflection_trials
from ebbtide.convergence.calibration.labelled import LabelledTranscript
from ebbtide.convergence.calibration.stops import StopAgreement, calibrate_stops
from ebbtide.convergence.signal import Signal
from ebbtide.events.transcript import Round, Transcript
from ebbtide.profile import Profile
from ebbtide.rate import Rate


def chains(data: Path) -> Iterator[LabelledTranscript]:
    """Chains that met their target, with the round in which they did."""
    for run in refinement_chains(data):
        if run.solved_at is not None:
            yield LabelledTranscript(transcript=_transcript(run), signal=None, stop_round=run.solved_at)


def trials(data: Path) -> Iterator[LabelledTranscript]:
    """Environments with a reflection at least: give up, or not."""
    for run in reflection_trials(data):
        if run.texts:
            signal = Signal.ESCALATE if run.solved_at is None else Signal.CONTINUE
            yield LabelledTranscript(transcript=_transcript(run), signal=signal, stop_round=None)


def _transcript(run: Run) -> Transcript:
    rounds = tuple(Round.from_text(text, number=number) for number, text in enumerate(run.texts, start=1))
    return Transcript(conversation_id=run.id, rounds=rounds)


def _show(name: str, agreement: StopAgreement) -> None:
    print(
        f"    {name:<10} signal {_rate(agreement.signal)}   stop round {_rate(agreement.stop_round)}", end=""
    )
    print(f"   within 1 {_rate(agreement.near)}   early {_rate(agreement.early)}")


def _rate(rate: Rate) -> str:
    low, high = rate.interval
    return "-" if rate.value is None else f"{rate.value:.3f} [{low:.3f}, {high:.3f}] of {rate.total}"


def main() -> None:
    """Calibrate both profiles on both sets and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    result: dict[str, object] = {"setup": setup()}
    for name, items in (
        ("refinement chains", tuple(chains(data))),
        ("reflection trials", tuple(trials(data))),
    ):
        for profile in (Profile.SPEC, Profile.DEFAULT):
            found = calibrate_stops(items, profile)
            result[f"{name}, {profile.name}"] = found.to_dict()
            print(f"\n{name}, {profile.name}: {found.transcripts} conversations, {found.verdict}")
            _show("now", found.current)
            if found.fit:
                _show("fitted on", found.fit.fitted_on)
                _show("held out", found.fit.held_out)
    write_result("quality-stop-labels", result)


if __name__ == "__main__":
    main()
