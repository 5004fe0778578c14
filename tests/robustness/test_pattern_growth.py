"""Every pattern of the package reads a text in a time that grows with the text."""

import json
import re
import subprocess
import sys

from benchmarks.quality import pattern_growth

# Of these the time grows with the square of the text or more, and what bounds the text is named.
BOUNDED = {
    "claims.check_runs.compile": "a line of an output: `_LONGEST`",
    "events.outcome._STRONG": "a line of the ends of an answer: `_CUT`",
    "events.outcome._EMPTY": "a line of the ends of an answer: `_CUT`",
    "events.outcome._COUNT": "the telling lines of an answer: `_CUT`, `_TOP`, `_BOTTOM`",
    "events.outcome._DEEDS": "`_TOP_READ`",
    "decisions.contradictions.added_text._MODULES": "a line of an edit: `_LINE`",
    "decisions.contradictions.added_text._PACKAGES": "the same",
    "text.pattern_words._TOKEN": "patterns of the package",
    "service.hooks.install.opencode_plugin._SPAWN": "the plugin file that the package writes",
}
# The same, without a bound but that of a file or a line which a person hands over. It may only get shorter.
LEFT = {
    "cli.runs.run_table._WHERE",
    "decision_log.exchange.madr_reading.CHOSEN",
    "decision_log.exchange.madr_reading._COMMENT",
    "decision_log.exchange.record_edits._END",
    "decision_log.exchange.record_edits._PAIRED",
    "decision_log.exchange.record_edits.search",
    "decision_log.exchange.record_fields.NUMBER",
    "decision_log.exchange.record_fields._LINK",
    "decision_log.exchange.record_fields._TARGET",
    "text.contrast.clauses._RANGE",
    "text.extraction.reading._CODE[code.call]",
    "traces.chats.markdown_tool_uses._HEADING",
    "traces.chats.markdown_tool_uses._SUMMARY",
    "traces.chats.markdown_turns._HEADING",
}


def test_no_pattern_is_kept_busy_by_an_unkind_text() -> None:
    """No text made of what a pattern repeats takes more than its share; none is read in two ways."""
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.quality.pattern_growth", "--longest", "5000"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.stderr == ""
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    new = [row for row in rows if name(row["name"]) not in BOUNDED.keys() | LEFT]
    assert new == []
    assert [row for row in rows if name(row["name"]) in LEFT and row["power"] > 2.4] == []


def name(text: str) -> str:
    """The name of a pattern without its package and line."""
    return re.sub(r"line \d+\.", "", text.removeprefix("ebbtide."))


def test_the_finder_sees_what_it_looks_for() -> None:
    """An optional separator, an item that is others in a row, and a run that is sought from each place."""
    for text in (r"(?:ok ?,? ?)*done", r"(?:a |b |a b )*x", r"(?:\w+ ?)+!", r"(?:\d+[.)]?[.,]? +)*go"):
        assert next(pattern_growth.ambiguous_repeats(re.compile(text)), None)
    for text in (
        r"(?:ok(?: ?, ?| {0,2}))*done",
        r"(?:a |b )*x",
        r"(?:\w++ ?)+!",
        r"(?:[^a]++|a)+b",
        r"(?:- [^\n]*(?:\n|\Z))+",
    ):
        assert next(pattern_growth.ambiguous_repeats(re.compile(text)), None) is None
    for text, power in (
        (r"\s+x", 2),
        (r"\s*\s*\s*x", 4),
        (r"(?<!\s)\s+x", None),
        (r"a+b", 2),
        (r"(?<!a)a+b", None),
    ):
        pattern = re.compile(text)
        slow = pattern_growth.slowest(pattern_growth.NamedPattern("x", pattern, pattern.search), 32_000)
        assert (slow is None) == (power is None)
