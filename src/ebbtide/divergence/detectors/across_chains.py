"""The same call spread over several chains of one session, below every threshold in each of them.

Source: divergence spec, section 5, "Cross-chain divergence" (clause D12).
"""

from __future__ import annotations

from ebbtide.divergence.chain_memory import PROBE, Detector, Spread
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import key_of, settled, settled_answer
from ebbtide.profile.loop_kinds import LoopKind

_CHAINS = 32  # that are distinguished for one call


class AcrossChains(Detector):
    """Counts, for a call with its answer, the chains that repeated it or failed with it.

    A chain that came twice to the same answer counts in full, one that failed once counts half: chains that
    start alike, and each read the same file once, do not count at all.
    """

    def reset(self) -> None:
        """Something has changed."""
        self._memory.session.spreads.clear()

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that came before."""
        session, known = self._memory.session, moment.memory
        if not session.several or known is None:
            return None
        is_repeated = known.same_answers > 1
        if not is_repeated and not moment.is_flagged:
            return None
        call, chain = settled(moment.key), f"{self._memory.name}#{self._memory.runs}"
        symbol, spreads = call + settled_answer(moment.answer), session.spreads
        least = self._rules.chains
        if least is None:
            return None
        spread = spreads.get(symbol) or Spread(moment.number, {})
        spreads.renew(symbol, spread)
        weights = spread.weights
        if len(weights) < _CHAINS or chain in weights:
            weights[chain] = max(weights.get(chain, 0), 2 if is_repeated else 1)
        count = sum(weights.values()) // 2
        if count < least or len(weights) < least:
            return None
        begins, spread.reported = not spread.reported, True
        return Finding(
            kind=LoopKind.ACROSS_CHAINS,
            key=key_of(LoopKind.ACROSS_CHAINS, symbol),
            count=count,
            at=least,
            calls=sum(weights.values()),
            first_event=spread.first_event,
            begins=begins,
            tools=(moment.name,),
            members=frozenset({call}),
            is_proof=False,
            measure=Measurement(Unit.CHAINS, len(weights), least),
        )


def known_spread(number: int) -> ToolCall:
    """An event of a session whose agents each make one call twice."""
    return ToolCall(name=PROBE, args={"q": 1}, result="the same answer", chain_id=f"chain {number // 2}")
