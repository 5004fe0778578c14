"""What an unkind text costs: twice the text takes about twice the time, whatever it repeats."""

import subprocess
import sys

import pytest

from ebbtide.text.redaction import redact

PATIENCE_S = (
    20  # for a process; the fastest of the patterns that these texts were made for took 30 seconds and more
)

#: The least of some measurements in turn; a busy machine makes single ones longer, so that more follow.
GROWTH = """
def growth(count):
    small = large = float("inf")
    for turn in range(9):
        small, large = min(small, seconds(count)), min(large, seconds(2 * count))
        if turn > 1 and large < 2.5 * small:
            break
    return large / max(small, 0.0005)
"""

RULES = """
import sys, time
from importlib import import_module
module, name, rule, start, unit, end = sys.argv[1:]
rules = getattr(import_module(module), name)
groups = rules.values() if isinstance(rules, dict) else [getattr(rules, "rules", rules)]
find = next(each for group in groups for each in group if each.id == rule).find
def seconds(count):
    text = start + unit * count + end
    begun = time.process_time()
    for _ in range(5):
        find(text)
    return time.process_time() - begun
seconds(10)
print(growth(400))
"""

REDACTION = """
import sys, time
from ebbtide.text.redaction import redact
start, unit, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
def seconds(count):
    text = start + unit * count
    begun = time.process_time()
    redact(text)
    return time.process_time() - begun
seconds(10)
print(growth(count))
"""


def ratio(program: str, *arguments: str) -> float:
    """How many times as long a text of twice the length takes, in a process that ends if it does not."""
    result = subprocess.run(
        [sys.executable, "-c", GROWTH + program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    return float(result.stdout)


@pytest.mark.parametrize(
    ("rules", "rule", "start", "unit"),
    [
        ("convergence.outcome_rules AGENT", "finished.done", "", "ok "),
        ("text.extraction.rules APPROVALS", "decision.approved", "", "if so, please - "),
        ("text.extraction.rules APPROVALS", "decision.lets", "", "if so then, "),
        ("text.extraction.rules PERSON_REQUESTS", "action.request", "", "if so, please - "),
        ("text.extraction.rules REQUESTS", "question.request", "", "in that case, "),
        ("text.extraction.rules SECTIONS", "action.section", "steps", " are to be lifted for us for all"),
        ("decisions.turns.sign_rules SIGNS", "mood.lets", "", "1. "),
        ("decisions.turns.turn_rules NOT_OURS", "other.undecided", "nothing ", "has been "),
        ("decisions.turns.turn_rules RECORDS", "record.decisions", "decisions", " from from so far"),
    ],
)
def test_a_rule_reads_a_text_in_one_way(rules: str, rule: str, start: str, unit: str) -> None:
    """Nods, orders and separators that go on and on are read once, not in every way that they split."""
    module, name = rules.split()
    assert ratio(RULES, f"ebbtide.{module}", name, rule, start, unit, "\u2026x") < 3


@pytest.mark.parametrize(
    ("start", "unit", "count"),
    [
        ("private key -----END ", "\\", 20_000),
        ("private key -----END ", "Proc-Type:", 4_000),
        ("private key -----END ", "Version: ", 4_000),
        ("private key -----END ", "AAAAAAAA\n", 1_000),
        ("", "eyJ---------", 6_000),
        ("", "eyJAAAAAAAA_", 6_000),
    ],
)
def test_redaction_takes_time_as_the_text_is_long(start: str, unit: str, count: int) -> None:
    """No number of backslashes or of beginnings of a key makes it slower by more than their number."""
    assert ratio(REDACTION, start, unit, str(count)) < 3


@pytest.mark.parametrize("before", ["", "eyJ---------", "token_"])
def test_what_begins_like_a_token_does_not_hide_one(before: str) -> None:
    """A token behind what looks like the beginning of another is masked."""
    assert "SIGNATURE" not in redact(f"a {before}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SIGNATURE00 b")
    assert redact(f"a {before}eyJhbGciOiJIUzI1NiJ9 b") == f"a {before}eyJhbGciOiJIUzI1NiJ9 b"
