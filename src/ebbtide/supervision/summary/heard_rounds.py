"""The rounds of a recorded run, as its summary was made of them, for whoever wants them whole."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from ebbtide.events.transcript import Round
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary

_MODEL = "assistant"  # who speaks where the run names nobody
_EVERY_ROUND = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardRounds:
    """The rounds of the longest conversation in a run.

    Args:
        rounds: In the order of the run, numbered from 1.
        conversations: Chains with rounds, this one among them.
        summary: The run that they are of.
    """

    rounds: tuple[Round, ...]
    conversations: int
    summary: RunSummary


class HearingRecorder(RunRecorder):
    """Records a run, and keeps its rounds whole: those that `RunSummary.rounds` has one point each for."""

    def __init__(self, options: RunOptions) -> None:
        self._chains: dict[str, list[ReadRound]] = defaultdict(list)
        super().__init__(options, decisions=False, eager_rounds=_EVERY_ROUND)

    def round(self, chain_id: str, read_round: ReadRound) -> None:
        """As `Listener.round`."""
        self._chains[chain_id].append(read_round)
        super().round(chain_id, read_round)

    def heard(self, summary: RunSummary) -> HeardRounds:
        """Returns the rounds so far."""
        longest = max(self._chains.values(), key=len, default=[])
        in_order = sorted(longest, key=lambda read_round: read_round.event)
        return HeardRounds(
            rounds=tuple(
                replace(read_round.item, number=number, agent=read_round.item.agent or _MODEL)
                for number, read_round in enumerate(in_order, start=1)
            ),
            conversations=len(self._chains),
            summary=summary,
        )
