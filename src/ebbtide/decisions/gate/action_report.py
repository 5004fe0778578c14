"""Turns that used tools and say what they did: reports, not decisions.

Source: decision quality gate, 1b (clause Q02).
"""

from __future__ import annotations

from ebbtide.decisions.assessment import Layer, RuleFired
from ebbtide.decisions.candidate import TurnContext
from ebbtide.decisions.gate.spec_rules import REPORT_MARKERS, REPORT_WORDS
from ebbtide.profile.decisions import GateRules

ID = "report.action"


def action_report(turn: TurnContext, rules: GateRules) -> RuleFired | None:
    """The rule, where tools were used and enough of the beginning says that something is done.

    Markers count once each. By the spec they count inside other words too; where evidence is
    weighed they are whole words, and neither "unresolved" nor "not done" is one.
    """
    if not turn.tool_results:
        return None
    beginning = turn.text[: rules.report_characters].lower()
    markers = [marker for marker in REPORT_MARKERS if marker in beginning]
    if rules.weighs and len(markers) >= rules.report_markers:
        markers = list(dict.fromkeys(match.group().lower() for match in REPORT_WORDS.finditer(beginning)))
    if len(markers) < rules.report_markers:
        return None
    return RuleFired(
        id=ID,
        layer=Layer.INFORMATIONAL,
        reason="It used tools and reports what they did",
        phrase=", ".join(markers),
        weight=1.0,
        decides=not rules.weighs,
    )
