"""By what a run is judged: one value, from the command line down to the supervisor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ebbtide.profile import Profile

# For types alone: a command line that only prints its help does not need them.
if TYPE_CHECKING:
    from ebbtide.budget.limits import Limits
    from ebbtide.budget.prices import Prices
    from ebbtide.events.tool_policy import ToolPolicies


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """By what a run is judged, and what is kept of it.

    Args:
        profile: Thresholds of all engines.
        tools: What is declared about tools; None declares nothing.
        limits: What the run may take, or would have been allowed; None sets no limit.
        prices: What tokens cost where the trace does not say; None leaves it unknown.
        shadow: Report, and act on nothing, as for `Supervisor`.
        timeline: Keep one cell an event, for a report: some hundred bytes each.
        redact: Mask keys and passwords in the summary, and in verdicts that are shown.
        timezone: By whose calendar a day begins, by name; None takes that of this machine.
    """

    profile: Profile = Profile.DEFAULT
    tools: ToolPolicies | None = None
    limits: Limits | None = None
    prices: Prices | None = None
    shadow: bool = False
    timeline: bool = False
    redact: bool = True
    timezone: str | None = None

    @property
    def of_supervisor(self) -> dict[str, Any]:
        """The arguments of a `Supervisor` of a run whose events are on record.

        A limit that cannot be counted yet ends nothing: what is missing may come with the next event.
        """
        return {
            "profile": self.profile,
            "tools": self.tools,
            "limits": None if self.limits is None else replace(self.limits, when_unknown="allow"),
            "prices": self.prices,
            "shadow": self.shadow,
        }


DEFAULTS: Final = RunOptions()  #: of whoever judges a run and gives none
