"""Structural agreement by the cheap rule (rubric, section 5)."""

import pytest

from ebbtide.convergence.agreement import Agreement
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.events.transcript import Round

FIRST = "We cache hot queries in the application. The replica serves reports. Exports run at night."


@pytest.mark.clause("B04")
@pytest.mark.parametrize(
    ("reply", "label", "rule"),
    [
        (
            "Shards would spread the writes. Each tenant gets a queue.",
            Agreement.MODIFY,
            "new-claims",
        ),
        ("We do not cache hot queries in the application.", Agreement.MODIFY, "reversal"),
        ("I disagree. The replica serves reports. Locks slow it down.", Agreement.MODIFY, "change.disagree"),
        ("Agreed. We cache hot queries in the application.", Agreement.ENDORSE, "endorse.agree"),
        ("Sounds good, the replica serves reports.", Agreement.ENDORSE, "endorse.good"),
        ("LGTM. Exports run at night. We also log each export.", Agreement.ENDORSE, "endorse.good"),
        ("The replica serves reports. Exports run at night.", Agreement.REPHRASE, "nothing-new"),
        (
            "At night exports run. The replica serves the reports.",
            Agreement.REPHRASE,
            "nothing-new",
        ),
    ],
)
def test_a_reply_modifies_endorses_or_rephrases(reply: str, label: Agreement, rule: str) -> None:
    """New claims and reversals modify, agreement with little that is new endorses, the rest says it again."""
    meter = ConvergenceMeter()
    first = meter.update(Round.from_text(FIRST, number=1, agent="ana"))
    assert first is not None
    assert first.agreement is None
    second = meter.update(Round.from_text(reply, number=2, agent="bo"))
    assert second is not None
    assert second.agreement is not None
    assert (second.agreement.label, second.agreement.rule) == (label, rule)
    assert meter.score().to_dict()["components"]["structural_agreement"] == label
