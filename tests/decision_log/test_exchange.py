"""Files of decisions: pages of ours and of others, logs of others, and what is wrong with them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ebbtide.decision_log.exchange.arrivals import Broken
from ebbtide.decision_log.exchange.folder import NUMBERS, export_folder
from ebbtide.decision_log.exchange.importing import import_decisions, survey
from ebbtide.decision_log.exchange.json_form import write_document
from ebbtide.decision_log.exchange.madr import write_madr
from ebbtide.decision_log.exchange.markdown import sections, split_front_matter
from ebbtide.decision_log.exchange.reading import FileFormat, read_decisions
from ebbtide.decision_log.exchange.rows import RowFields
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionOutcome,
    DecisionScope,
    Link,
    Relation,
    Status,
)
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.decisions.candidate import Candidate, Reason, ReasonKind, Stakes
from ebbtide.errors import ConfigError, TranscriptError


def elsewhere(one: Decision) -> Decision:
    """A decision as another log takes it: neither its tenant nor its version matter there."""
    return replace(one, scope=replace(one.scope, tenant="default"), version=0)


def read(content: str, source: str = "log", **options):
    return list(read_decisions(content, source, **options))


def entries(content: str, source: str = "log", **options) -> list[Decision]:
    found = read(content, source, **options)
    assert not [arrival for arrival in found if isinstance(arrival, Broken)]
    return [arrival for arrival in found if isinstance(arrival, Decision)]


def decision(description: str = "Use SQLite for the log", **changes) -> Decision:
    fields = {"id": "01HF7YAT000001FGBB85YR", "status": Status.KEPT, "opened_at": 1_700_000_000.0}
    said = {
        name: changes.pop(name) for name in ("reasons", "options", "assumptions", "stakes") if name in changes
    }
    return Decision(
        **{
            **fields,
            "scope": DecisionScope(),
            "candidate": Candidate(description=description, **said),
            **changes,
        }
    )


@pytest.mark.parametrize(
    "text",
    [
        "Use X\n---\nstatus: rejected",
        'Use X\n\n## Decision Outcome\n\nChosen option: "Y"',
        "Use X\n```\n# hidden",
        "<!-- Use X",
        "Use X <script>alert(1)</script> ![pixel](http://example.org/x.png)",
    ],
)  # fmt: skip
def test_injections_are_shown_not_obeyed(text: str) -> None:
    """The page has the sections of a page, and loads and runs nothing."""
    page = write_madr(decision(text, reasons=(Reason(text=text),)), {})
    assert [part.title for part in sections(split_front_matter(page)[1]) if part.level == 2] == [
        "Decision Drivers",
        "Decision Outcome",
    ]
    body = split_front_matter(page)[1]
    assert not re.search(r"(?<!\\)<|(?<!\\)!\[", body)


# ---- pages ----


def test_page_of_a_decision() -> None:
    """This is what a page looks like."""
    page = write_madr(
        decision(
            reasons=(Reason(text="it needs no server", kind=ReasonKind.ANALYSIS), Reason(text="one writer")),
            options=("SQLite", "PostgreSQL"),
            assumptions=("there is one writer",),
            stakes=Stakes.HIGH,
            links=(Link(relation=Relation.SUPERSEDES, to="old", why="it was a server"),),
            prediction="No report of a locked file in a month",
        ),
        {"old": "0001-use-postgresql.md"},
    )
    head, body = page.split("\n---\n", 1)
    assert head.split("\n")[:4] == [
        "---",
        'status: "accepted"',
        'date: "2023-11-14"',
        'decision-makers: ["agent"]',
    ]
    assert body == (
        "# Use SQLite for the log\n"
        "\n## Decision Drivers\n\n* **analysis:** it needs no server\n* one writer\n"
        "\n## Considered Options\n\n* SQLite\n* PostgreSQL\n"
        '\n## Decision Outcome\n\nChosen option: "Use SQLite for the log"\n'
        "\n### Consequences\n\n* **expected:** No report of a locked file in a month\n"
        "\n## Assumptions\n\n* there is one writer\n"
        "\n## Links\n\n* supersedes [ADR-0001](0001-use-postgresql.md): it was a server\n"
        "\n## More Information\n\nhigh stakes.\n"
    )


def test_a_page_edited_by_hand_is_read_as_edited() -> None:
    """The text of a page counts, not a copy of it."""
    page = write_madr(decision(), {}).replace("SQLite for the log", "SQLite for the log, in WAL mode")
    assert entries(page, "page.md")[0].candidate.description == "Use SQLite for the log, in WAL mode"


def test_numbers_stay(tmp_path: Path) -> None:
    """A second export keeps numbers and names, leaves foreign pages alone, and writes what changed."""
    (tmp_path / "0007-by-hand.md").write_text("# By hand\n")
    first, second = decision(), decision("Cache pages in the proxy", id="01HF7YAT000002FGBB85YR")
    result = export_folder([first], tmp_path)
    assert (result.files, result.new, result.changed) == ({first.id: "0008-use-sqlite-for-the-log.md"}, 1, 1)
    renamed = decision("Use SQLite in WAL mode for the log")
    again = export_folder([second, renamed], tmp_path)
    assert again.files == {
        first.id: "0008-use-sqlite-for-the-log.md",
        second.id: "0009-cache-pages-in-the-proxy.md",
    }
    assert (again.new, again.changed) == (1, 2)
    assert export_folder([renamed, second], tmp_path).changed == 0
    assert (tmp_path / "0007-by-hand.md").read_text() == "# By hand\n"


def test_superseded_pages_point_to_each_other(tmp_path: Path) -> None:
    """The status names the page that took the place."""
    new = decision("Cache pages in the proxy", id="01HF7YAT000002FGBB85YR")
    old = decision(status=Status.SUPERSEDED, superseded_by=new.id)
    files = export_folder([old, new], tmp_path).files
    page = (tmp_path / files[old.id]).read_text()
    assert 'status: "superseded by [ADR-0002](0002-cache-pages-in-the-proxy.md)"' in page


def test_broken_numbers_stop_the_export(tmp_path: Path) -> None:
    """Without the file that remembers, numbers would change: that is said, not result."""
    (tmp_path / NUMBERS).write_text("{")
    with pytest.raises(ConfigError, match=r"numbers\.json"):
        export_folder([decision()], tmp_path)


FOREIGN = """\
---
status: superseded by ADR-0012
date: 2024-02-01
---
# ADR-0004: Use a queue

## Context and Problem Statement

Requests time out.

## Considered Options

* [Redis streams](https://example.org)
* RabbitMQ

## Decision Outcome

Chosen option: "Redis streams", because it runs already.

### Consequences

* Good, because there is no new server
"""


def test_pages_of_others_are_read_by_their_headings() -> None:
    """Title, choice, reason, options, status and date of a page that another tool wrote."""
    (one,) = entries(FOREIGN, "0004-use-a-queue.md")
    assert one.candidate.description == "Use a queue: Redis streams"
    assert one.candidate.options == ("Redis streams", "RabbitMQ")
    assert [reason.text for reason in one.candidate.reasons] == ["it runs already."]
    assert (one.status, one.opened_at) == (Status.SUPERSEDED, 1706745600.0)
    assert one.particulars is not None
    assert (one.particulars.context, one.thoughts) == ("Requests time out.", ())


def test_a_page_without_a_decision_is_none() -> None:
    """A README among the records is said to be none."""
    (broken,) = read("# Our records\n\nSee below.\n", "README.md")
    assert str(broken).startswith("README.md: no record of a decision")


# ---- logs of others ----


def test_rows_with_keys_of_their_own() -> None:
    """The keys are named on the command line, and times may be milliseconds."""
    line = json.dumps(
        {"nr": 7, "chosen": "Use a queue", "at": 1_772_359_200_000, "conf": "0.7", "outcome": "Partial"}
    )
    keys = RowFields.parse("description=chosen,time=at,confidence=conf,id=nr")
    (one,) = entries(f"{line}\n", keys=keys)
    assert (one.candidate.confidence, one.opened_at) == (0.7, 1772359200.0)
    assert [review.outcome for review in one.reviews] == [DecisionOutcome.PARTIAL]
    assert one.origin == entries(f"\n{line}\n", keys=keys)[0].origin


@pytest.mark.parametrize("written", ["", "description", "description=", "what=x", "time=a,time=b"])
def test_fields_that_cannot_be_used(written: str) -> None:
    """A message names the entry."""
    with pytest.raises(ConfigError, match="cannot read"):
        RowFields.parse(written)


BROKEN_LINES = [
    ("hello", "not JSON"),
    ("[1]", "expected an object"),
    ('{"description": 3}', "expected a text"),
    ('{"description": "  "}', "there is no description"),
    ('{"text": "Use a queue"}', "--fields description=KEY"),
    ('{"description": "Use a queue", "confidence": 1.5}', "confidence = 1.5"),
    ('{"description": "Use a queue", "confidence": "high"}', "expected a number"),
    ('{"description": "Use a queue", "stakes": "huge"}', "not one of low, medium, high, critical"),
    ('{"description": "Use a queue", "time": "soon"}', "expected a time"),
    ('{"description": "Use a queue", "time": -1}', "expected a time"),
    ('{"description": "Use \udcff"}', "not UTF-8"),
    ('{"description": "x", "options": 3}', "expected a list"),
    ("[" * 100_000, "not JSON"),
    (
        '{"candidate": {"description": "Use a queue", "options": "ab"}, "id": "a"}',
        "candidate.options: expected a list, found 'ab'",
    ),
    ('{"candidate": {"description": "Use a queue"}}', "the key 'id' is missing"),
]


@pytest.mark.parametrize(("line", "expected"), BROKEN_LINES, ids=[expected for _, expected in BROKEN_LINES])
def test_a_broken_line_costs_itself(line: str, expected: str) -> None:
    """It is told with its number, and the lines around it are read."""
    good = '{"description": "Use a queue"}'
    first, broken, last = read(f"{good}\n{line}\n{good}", kind=FileFormat.JSONL)
    assert isinstance(first, Decision)
    assert isinstance(last, Decision)
    assert (broken.line, broken.source) == (2, "log")
    assert expected in broken.what


def test_nan_is_unknown() -> None:
    """JSON has no word for it: it is no confidence."""
    (one,) = entries('{"description": "Use a queue", "confidence": NaN}\n', kind=FileFormat.JSONL)
    assert one.candidate.confidence is None


def test_csv_rows() -> None:
    """Semicolons, quoted line ends, a short row and an open quote."""
    content = 'description;stakes\n"Use\na queue";high\nonly one\n"Keep it;low\n'
    first, short, last = read(content, "log.csv")
    assert first.candidate.description == "Use\na queue"
    assert first.candidate.stakes is Stakes.HIGH
    assert (short.line, short.what) == (4, "1 cells, where the first line names 2")
    assert last.line == 5
    assert "not CSV" in last.what


def test_csv_without_the_column() -> None:
    """The columns that are there are named."""
    with pytest.raises(TranscriptError, match="The columns are 'what'"):
        read("what,when\nUse a queue,1\n", "log.csv")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "the file is empty"),
        (" \n\t", "the file is empty"),
        ('{"kind": "ebbtide.decisions", "schema": 9, "decisions": []}', "schema 9 is not known"),
        ('{"kind": "ebbtide.decisions", "schema": 1, "decisions": [3]}', "expected an object"),
    ],
)
def test_files_that_cannot_be_read(content: str, expected: str) -> None:
    """What is wrong with the whole file."""
    with pytest.raises(TranscriptError, match=expected):
        read(content)


def test_a_json_list() -> None:
    """Rows with keys of their own and complete decisions, in one list or alone."""
    rows = [{"description": "Use a queue", "time": 5}, decision_document(decision()), {"what": 3}]
    own, full, broken = read(json.dumps(rows, indent=1))
    assert (own.candidate.description, own.opened_at) == ("Use a queue", 5.0)
    assert full == elsewhere(decision())
    assert broken.what.startswith("decisions[2]: description: there is no description")
    assert read(json.dumps(rows[0], indent=1))[0].candidate == own.candidate
    assert read(json.dumps(rows[1], indent=1)) == [full]


# ---- into a log ----


def test_an_import_twice_adds_nothing() -> None:
    """Rows without ids and times too; equal rows of one file are two decisions."""
    content = (
        '{"description": "Use a queue"}\n{"description": "Use a queue"}\nhello\n{"description": "No queue"}\n'
    )
    now = iter(range(1000, 2000))
    with DecisionLog.open(":memory:", clock=lambda: float(next(now))) as log:
        first = import_decisions(log, read_decisions(content, "a.jsonl", kind=FileFormat.JSONL))
        again = import_decisions(log, read_decisions(content, "b.jsonl", kind=FileFormat.JSONL))
        assert (len(first.created), first.present, len(first.broken)) == (3, 0, 1)
        assert (len(again.created), again.present) == (0, 3)
        assert len(list(log.iterate())) == 3


def test_a_copy_of_a_log_is_the_same_log() -> None:
    """Ids, times, statuses and reviews arrive; the tenant is that of the log it goes to."""
    original = decision(
        reasons=(Reason(text="one writer"),), prediction="No locks", settled_at=1_700_000_060.5
    )
    content = "".join(write_document([original]))
    with DecisionLog.open(":memory:", tenant="other") as log:
        assert import_decisions(log, read_decisions(content, "log")).created == (original.id,)
        found = log.get(original.id)
        assert found.scope.tenant == "other"
        assert elsewhere(found) == elsewhere(original)


def test_a_survey_puts_nothing_anywhere() -> None:
    """What an import would find."""
    found = survey(read_decisions('{"description": "Use a queue"}\n[]\n', "log.jsonl"))
    assert (len(found.created), len(found.broken)) == (1, 1)


def test_real_records_are_read(data: Path) -> None:
    """All records that say what was decided; a list of contents and a read-me are none."""
    import gzip

    content = gzip.decompress((data / "decisions" / "adr.jsonl.gz").read_bytes()).decode()
    pages = [json.loads(line) for line in content.splitlines()]
    found = [arrival for page in pages for arrival in read(page["markdown"], page["id"])]
    assert sum(isinstance(arrival, Broken) for arrival in found) == 2
