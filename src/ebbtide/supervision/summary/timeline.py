"""The strip of a run: one cell an event, equal calls alike, so that loops show as stripes."""

from __future__ import annotations

from ebbtide.divergence.detectors.near_duplicates import argument_text
from ebbtide.events.event import Call
from ebbtide.events.identity import identify, key_of
from ebbtide.supervision.summary.run_summary import Cell

_SHOWN = 160  # characters of a call, and of its answer


class Strip:
    """The cells of a run so far."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self._identities: dict[bytes, int] = {}
        self._names: dict[str, str] = {}

    def take(self, call: Call, number: int, *, cost_usd: float | None, tokens: int | None) -> None:
        """Add an event.

        Args:
            call: The event.
            number: Its number in the run.
            cost_usd: Spent in the run up to and with it.
            tokens: Likewise.
        """
        kind = call.kind if call.kind in ("llm", "user", "system") else "tool"
        said = call.text if call.text is not None else ""
        if kind == "tool":
            found = identify(call.name, call.args)
            key = found[0] if found else key_of(kind, number)
            shown = f"{call.name} {argument_text(call.args)}"[:_SHOWN].strip()
            if call.result is not None:
                shown = f"{shown} \u2192 {str(call.result)[:_SHOWN]}"
        else:
            key = key_of(kind, call.name, said)
            shown = said[:_SHOWN] or call.name
        self.cells.append(
            Cell(
                number=number,
                kind=kind,
                name=self._names.setdefault(call.name, call.name),
                identity=self._identities.setdefault(key, len(self._identities)),
                error=bool(call.error),
                chain_id=call.chain_id,
                cost_usd=cost_usd,
                tokens=tokens,
                ts=call.ts,
                shown=shown,
            )
        )
