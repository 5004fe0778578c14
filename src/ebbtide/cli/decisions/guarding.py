"""`ebbtide decisions guardrails`: the rules of a team for its decisions, and what breaks them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ebbtide.cli.decisions.browsing import Place
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.decision_log.deliberation.guardrails import (
    Guarded,
    Guardrail,
    broken_guardrails,
    load_guardrails,
)
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count

_SHOWN = 100  # characters of a decision


def list_guardrails(place: Place, file: str | None, *, limit: int, as_json: bool) -> None:
    """Print the rules, and the decisions in force that lack what they ask for.

    Raises:
        ConfigError: There are no rules, or they cannot be used.
    """
    if file is None:
        raise ConfigError(
            "there are no guardrails: [[guardrails]] in ebbtide.toml has them, or --guardrails FILE"
        )
    rules = load_guardrails(file)
    breaches = breaches_in(place, rules)
    if as_json:
        rows = [
            {"id": decision.id, "guardrail": rule.name, "action": rule.action.value, "reason": reason}
            for decision, rule, reason in breaches
        ]
        print_json({"schema": 1, "guardrails": [rule.to_dict() for rule in rules], "breaches": rows})
        return
    terminal = console()
    for rule in rules:
        needs = ", ".join(rule.require)
        terminal.print(
            Text.assemble(
                (rule.name, "bold"), f": {rule.action.value} without {needs}", (_about(rule), "dim")
            ),
            soft_wrap=True,
        )
    print_breaches(breaches, limit)


def breaches_in(place: Place, rules: Sequence[Guardrail]) -> list[tuple[Decision, Guardrail, str]]:
    """The decisions in force that break a rule, oldest first, with the rule and what is missing."""
    with place.open() as log:
        return [
            (decision, rule, reason)
            for decision in log.iterate(status=Status.KEPT)
            for rule, reason in broken_guardrails(rules, Guarded.of(decision))
        ]


def print_breaches(breaches: Sequence[tuple[Decision, Guardrail, str]], limit: int) -> None:
    """Print what is missing, a decision each."""
    terminal = console()
    if not breaches:
        terminal.print("No decision breaks a guardrail.")
        return
    terminal.print(
        f"{count(len({decision.id for decision, _, _ in breaches}), 'decision')} of the log without:"
    )
    for decision, _, reason in breaches[:limit]:
        text = plain(decision.candidate.description, _SHOWN)
        terminal.print(Text.assemble(("  ", ""), (decision.id, "dim"), " ", text), soft_wrap=True)
        terminal.print(styled(reason, indent=4), soft_wrap=True)
    if len(breaches) > limit:
        terminal.print(f"  and {len(breaches) - limit} more; --limit shows them")


def _about(rule: Guardrail) -> str:
    kinds = (("words", rule.words), ("category", rule.category), ("path", rule.path))
    parts = [f"{kind} {', '.join(patterns)}" for kind, patterns in kinds if patterns]
    return f" ({'; '.join(parts)})" if parts else " (every decision)"
