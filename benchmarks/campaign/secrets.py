"""Secrets of every kind in a text: none may be left, and nothing else may be masked."""

from __future__ import annotations

from benchmarks.campaign.attack import Attack
from benchmarks.quality.secrets import INNOCENTS, planted, shows
from ebbtide.text.redaction import redact


def attack(one: Attack) -> None:
    """Plant secrets of all kinds, others each time, until the time is over."""
    for text in INNOCENTS.splitlines():
        one.counts["innocents"] += 1
        one.expect(redact(text) == text, "an innocent text is masked", text=text)
    while one.goes_on:
        for kind, rows in planted(one.chance.randrange(1 << 30), 20).items():
            for text, secrets in rows:
                one.counts["secrets"] += 1
                one.expect(
                    not shows(redact(text), secrets), "a secret is left", kind=kind
                )  # the seed gives the text again
