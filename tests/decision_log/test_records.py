"""Records of other tools: in with every field, out as they were, changed only where something was done."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.exchange.arrivals import Broken
from ebbtide.decision_log.exchange.folder import NUMBERS, export_folder, read_files
from ebbtide.decision_log.exchange.importing import import_decisions, linked_records
from ebbtide.decision_log.exchange.json_form import write_document
from ebbtide.decision_log.exchange.reading import read_decisions
from ebbtide.decision_log.exchange.record_edits import edited_record
from ebbtide.decision_log.exchange.record_fields import RecordLink, record_fields
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus, pack, unpack
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionOutcome,
    DecisionScope,
    Link,
    Relation,
    Review,
    SourceDocument,
    Status,
)
from ebbtide.decision_log.record.wire import from_wire, to_wire
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import ConfigError

FOLDERS = Path(__file__).parent / "adr"
#: Per tool: a record, and the one that takes its place.
EDITS = {
    "adr-tools": ("0001-record-architecture-decisions.md", "0003-store-events-in-sqlite.md"),
    "nygard": ("001-use-queues.md", "002-retire-the-mail-relay.md"),
    "madr-2": ("0001-use-postgres.md", "0002-one-schema-a-service.md"),
    "madr-3": ("0001-sign-releases.md", "0002-sign-with-a-service.md"),
    "madr-4": ("0002-write-the-tool-in-python.md", "0003-bare.md"),
    "log4brains": ("20230105-use-log4brains.md", "20230210-cache-pages.md"),
}


def pages_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.md"))}


def put(log: DecisionLog, folder: Path) -> dict[str, Decision]:
    """Import a folder as the command does; its decisions by the names of their files."""
    arrivals = (
        arrival
        for name, content in pages_in(folder).items()
        for arrival in read_decisions(content.decode("utf-8", "surrogateescape"), name)
    )
    ids = {name: identifier for identifier, name in read_files(folder).items()}
    import_decisions(log, linked_records(arrivals, ids))
    return by_name(log)


def by_name(log: DecisionLog) -> dict[str, Decision]:
    every = log.iterate(status=tuple(Status))
    return {decision.document.name: decision for decision in every if decision.document}


def all_of(log: DecisionLog) -> list[Decision]:
    return list(log.iterate(status=tuple(Status)))


def record(text: str, **changes) -> Decision:
    fields = {"id": "01HF7YAT000001FGBB85YR", "status": Status.KEPT, "opened_at": 1.7e9}
    return Decision(
        **{
            **fields,
            "scope": DecisionScope(),
            "candidate": Candidate(description="Use a queue"),
            "document": SourceDocument(name="0001-use-a-queue.md", text=text),
            **changes,
        }
    )


@pytest.mark.parametrize("tool", EDITS)
def test_a_folder_comes_back_as_it_was(tool: str, tmp_path: Path, place: str) -> None:
    """Every page has its name and its bytes; nothing else is in the folder, and nothing is new twice."""
    with DecisionLog.open(place) as log:
        put(log, FOLDERS / tool)
        assert log.verify().ok
        result = export_folder(all_of(log), tmp_path)
        assert pages_in(tmp_path) == pages_in(FOLDERS / tool)
        assert not (tmp_path / NUMBERS).exists()
        assert (result.new, result.changed) == (0, len(result.files))
        assert export_folder(all_of(log), tmp_path).changed == 0
        before = all_of(log)
        put(log, tmp_path)
        assert all_of(log) == before


@pytest.mark.parametrize("tool", EDITS)
def test_only_the_lines_change_that_say_what_was_done(tool: str, tmp_path: Path) -> None:
    """A record that was superseded and reviewed is the page in the folder ``TOOL.edited``, and stays it."""
    old, new = EDITS[tool]
    with DecisionLog.open(":memory:") as log:
        decisions = put(log, FOLDERS / tool)
        log.supersede(decisions[old].id, by=decisions[new].id)
        log.link(decisions[new].id, Relation.DEPENDS_ON, decisions[old].id, why="the same team")
        review = Review(outcome=DecisionOutcome.PARTIAL, by="Ann Lee", evidence="two incidents", ts=1.7e9)
        log.review(decisions[new].id, review)
        export_folder(all_of(log), tmp_path)
        assert pages_in(tmp_path) == pages_in(FOLDERS / f"{tool}.edited")
        assert export_folder(all_of(log), tmp_path).changed == 0
        before = all_of(log)
        put(log, tmp_path)
        assert all_of(log) == before
    with DecisionLog.open(":memory:") as copy:
        decisions = put(copy, tmp_path)
        assert (decisions[old].status, decisions[old].superseded_by) == (
            Status.SUPERSEDED,
            decisions[new].id,
        )
        export_folder(all_of(copy), tmp_path / "again")
        before = all_of(copy)
        put(copy, tmp_path / "again")
        assert all_of(copy) == before
        assert read_files(tmp_path / "again").keys() == read_files(tmp_path).keys()


AMENDMENT = Particulars(
    standing=RecordStatus.REJECTED,
    context="Nobody asked.\n\n# Not a heading",
    choice="Another way",
    consequences=("Good, because it lasts", "Bad, because it costs\nmoney"),
    deciders=("Eve Fox", "no: name"),
    options=(RecordOption(title="Another way", pros=("it is cheap",), cons=("it is *slow*",)),),
)


@pytest.mark.parametrize("tool", EDITS)
def test_only_the_texts_change_that_were_amended(tool: str, tmp_path: Path) -> None:
    """A record that was amended is the page in the folder ``TOOL.amended``; the others are as they were."""
    name = EDITS[tool][1]
    with DecisionLog.open(":memory:") as log:
        decisions = put(log, FOLDERS / tool)
        weighed = decisions[name].particulars.options[:1]
        more = tuple(RecordOption(title=option.title, pros=("it is tested",)) for option in weighed)
        log.amend(decisions[name].id, replace(AMENDMENT, options=(*AMENDMENT.options, *more)))
        export_folder(all_of(log), tmp_path)
        expected = pages_in(FOLDERS / tool) | pages_in(FOLDERS / f"{tool}.amended")
        assert pages_in(tmp_path) == expected
        assert export_folder(all_of(log), tmp_path).changed == 0
        before = all_of(log)
        put(log, tmp_path)
        assert all_of(log) == before


def test_one_amendment_is_one_change(tmp_path: Path) -> None:
    """Fields that were not amended are not written, whatever somebody wrote on the page since."""
    with DecisionLog.open(":memory:") as log:
        decisions = put(log, FOLDERS / "madr-2")
        export_folder(all_of(log), tmp_path)
        page = tmp_path / "0001-use-postgres.md"
        by_hand = (
            page.read_text(encoding="utf-8").replace("sells out", "sold out").replace("accepted", "draft")
        )
        page.write_text(by_hand, encoding="utf-8")
        log.amend(decisions[page.name].id, Particulars(deciders=("Ann Lee", "Eve Fox")))
        export_folder(all_of(log), tmp_path)
        assert page.read_text(encoding="utf-8") == by_hand.replace("Bo Chan", "Bo Chan, Eve Fox")


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("deciders: Ann", "deciders: Ann, Eve"),
        ("deciders: [Ann]  # both", "deciders: [Ann, Eve]  # both"),
        ("deciders: []", "deciders: [Eve]"),
        ("deciders:", "deciders: Eve"),
        ("deciders:\n  - Ann\n  - Bo", "deciders:\n  - Ann\n  - Bo\n  - Eve"),
        ("status: accepted", "status: accepted\ndecision-makers: [Eve]"),
    ],
)
def test_a_decider_in_front_matter(front: str, expected: str) -> None:
    """A name is put where the names are, in the way in which they are written."""
    text = f"---\n{front}\n---\n# Use a queue\n\n## Decision Outcome\n\nA queue.\n"
    one = record(text, particulars=Particulars(deciders=("Eve",)), amended=("deciders",))
    assert edited_record(one, text, {}, {}) == text.replace(front, expected, 1)


@pytest.mark.parametrize("word", ["proposed", "accepted", "rejected", "deprecated"])
def test_what_the_team_says_goes_in_and_out(word: str, tmp_path: Path) -> None:
    """The four words of the templates are read, and written where they were changed."""
    text = f"# 1. Use a queue\n\n## Status\n\n{word.capitalize()}\n\n## Decision\n\nWe will.\n"
    (tmp_path / "0001-use-a-queue.md").write_text(text, encoding="utf-8")
    with DecisionLog.open(":memory:") as log:
        (one,) = put(log, tmp_path).values()
        assert (one.status, one.particulars.standing) == (Status.KEPT, RecordStatus(word))
        for after in RecordStatus:
            log.amend(one.id, Particulars(standing=after))
            export_folder(all_of(log), tmp_path)
            page = (tmp_path / "0001-use-a-queue.md").read_text(encoding="utf-8")
            assert page == text.replace(word.capitalize(), after.value.capitalize())


def test_fields_of_madr() -> None:
    """Everything that the long template has a place for."""
    text = (FOLDERS / "madr-3" / "0001-sign-releases.md").read_text(encoding="utf-8")
    fields = record_fields(text, "0001-sign-releases.md")
    assert (fields.title, fields.number) == ("Sign releases with keys of the maintainers", 1)
    assert (fields.status, fields.date) == ("accepted", "2022-11-03")
    assert fields.deciders == ("Ann Lee", "Bo Chan")
    assert (fields.consulted, fields.informed) == (("the security group",), ("everyone who packages us",))
    assert fields.context == "How does somebody know that a file is ours?"
    assert fields.drivers == ("No server to run",)
    assert fields.options == (
        RecordOption(
            title="Keys of the maintainers",
            pros=("it works today",),
            cons=("keys get lost",),
            neutral=("each has another tool",),
        ),
        RecordOption(title="A service that signs", pros=("nobody keeps a key",), cons=("it has to be up",)),
    )
    assert (fields.choice, fields.justification) == ("Keys of the maintainers", "there is no server to run.")
    assert fields.consequences == ("Good, because anybody can check", "Bad, because keys get lost")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("adr-tools/0001-record-architecture-decisions.md", ("accepted", 1, "2024-03-01", ())),
        ("adr-tools/0002-store-events-in-files.md", ("superseded", 2, "2024-03-04", ())),
        ("adr-tools/0004-keep-events-for-a-year.md", ("proposed", 4, "2024-05-02", ())),
        ("nygard/001-use-queues.md", ("accepted", 1, None, ())),
        ("nygard/002-retire-the-mail-relay.md", (None, 2, None, ())),
        ("nygard/003-buy-a-mail-service.md", ("rejected", 3, None, ())),
        ("madr-2/0001-use-postgres.md", ("accepted", 1, "2021-06-15", ("Ann Lee", "Bo Chan"))),
        ("madr-4/0001-write-the-tool-in-go.md", ("superseded", 1, "2024-09-20", ("Ann Lee", "Bo Chan"))),
        ("madr-4/0002-write-the-tool-in-python.md", ("accepted", 2, "2024-10-02", ("Ann Lee",))),
        ("madr-4/0003-bare.md", (None, 3, None, ())),
        ("log4brains/20230105-use-log4brains.md", ("accepted", None, "2023-01-05", ())),
        ("log4brains/20230210-cache-pages.md", ("draft", None, "2023-02-10", ("Ann Lee",))),
    ],
)
def test_status_number_date_and_deciders(page: str, expected: tuple) -> None:
    """In the place where each tool writes them."""
    fields = record_fields((FOLDERS / page).read_bytes().decode(), Path(page).name)
    assert (fields.status, fields.number, fields.date, fields.deciders) == expected


def test_links_lead_to_decisions() -> None:
    """A link in the words of a tool is one between decisions; the words stay with it."""
    with DecisionLog.open(":memory:") as log:
        decisions = put(log, FOLDERS / "adr-tools")
        files, sqlite = (
            decisions["0002-store-events-in-files.md"],
            decisions["0003-store-events-in-sqlite.md"],
        )
        year = decisions["0004-keep-events-for-a-year.md"]
        assert files.superseded_by == sqlite.id
        assert sqlite.links == (
            Link(relation=Relation.SUPERSEDES, to=files.id),
            Link(relation=Relation.RELATED_TO, to=year.id, why="amended by"),
        )
        assert year.links == (Link(relation=Relation.RELATED_TO, to=sqlite.id, why="amends"),)


def test_a_number_is_a_link_too() -> None:
    """Where only a number is named."""
    page = "# B\n\n## Status\n\nSuperseded by ADR-0012\n\n## Decision\n\nb\n"
    assert record_fields(page).links == (RecordLink(kind="superseded by", number=12),)


def test_an_edit_by_hand_stays(tmp_path: Path) -> None:
    """What somebody wrote into an exported page is not overwritten by the next export."""
    with DecisionLog.open(":memory:") as log:
        decisions = put(log, FOLDERS / "madr-4")
        export_folder(all_of(log), tmp_path)
        path = tmp_path / "0003-bare.md"
        text = path.read_text(encoding="utf-8").replace("nobody asked", "hardly anybody asked")
        path.write_text(text, encoding="utf-8")
        assert export_folder(all_of(log), tmp_path).changed == 0
        log.review(decisions[path.name].id, Review(outcome=DecisionOutcome.SUCCESS, by="Bo", ts=1.7e9))
        assert export_folder(all_of(log), tmp_path).changed == 1
        assert path.read_text(encoding="utf-8") == f"{text}\n\n## Reviews\n\n* 2023-11-14: success, says Bo\n"


def test_pages_of_one_name(tmp_path: Path) -> None:
    """Of two records with one name, and of a page that is another record, none is overwritten."""
    for folder, title in (("a", "Use a queue"), ("b", "Use a table")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "0001-start.md").write_text(f"# {title}\n\n## Decision\n\nYes.\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / "0007-other.md").write_text("# By hand\n")
    with DecisionLog.open(":memory:") as log:
        put(log, tmp_path / "a")
        put(log, tmp_path / "b")
        names = set(export_folder(all_of(log), out).files.values())
        assert len(names) == 2
        assert "0001-start.md" in names
        assert any(name.startswith("0008-") for name in names)
        assert export_folder(all_of(log), out).changed == 0
        texts = sorted((out / name).read_text() for name in names)
        assert texts == ["# Use a queue\n\n## Decision\n\nYes.\n", "# Use a table\n\n## Decision\n\nYes.\n"]
    (out / "0001-start.md").write_text("# Somebody's own\n")
    with DecisionLog.open(":memory:") as log:
        put(log, tmp_path / "a")
        export_folder(all_of(log), out)
    assert (out / "0001-start.md").read_text() == "# Somebody's own\n"


def test_two_pages_of_the_same_words(tmp_path: Path) -> None:
    """They are two records."""
    for name in ("0001-a.md", "0002-b.md"):
        (tmp_path / name).write_text("# Template\n\n## Decision\n\nTo do.\n")
    with DecisionLog.open(":memory:") as log:
        assert len(put(log, tmp_path)) == 2
        export_folder(all_of(log), tmp_path / "out")
        assert pages_in(tmp_path / "out") == pages_in(tmp_path)


def test_a_signpost_is_a_record() -> None:
    """A numbered page that only points elsewhere is kept; a read-me is none."""
    page = "# 28 Scan repositories\n\nDate: 2021-02-03\n\nSee [there](https://example.org).\n"
    (entry,) = read_decisions(page, "028-scan.md")
    assert not isinstance(entry, Broken)
    (broken,) = read_decisions(page, "README.md")
    assert isinstance(broken, Broken)


def test_the_complete_form_has_the_record() -> None:
    """Long ones are packed, and come back."""
    for text in ("# A\r\n\r\n## Decision\r\n\r\nb", "# A\n\n## Decision\n\n" + "word \u00e9\n" * 5000):
        one = record(text)
        (entry,) = read_decisions("".join(write_document([one])), "log.json")
        assert entry.document == one.document
        assert len(json.dumps(to_wire(one))) < 3000


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../0001-a.md"},
        {"name": "numbers.json"},
        {"name": "a\\b.md"},
        {"status": "gone"},
        {"packed": "%%"},
        {"packed": pack("# A")[:-8]},
        {"text": None},
    ],
)
def test_documents_that_cannot_be_used(change: dict) -> None:
    """A name that leads out of the folder, or a text that cannot be read, is refused."""
    table = to_wire(record("# A"))
    table["document"].update(change)
    with pytest.raises(ConfigError):
        from_wire(Decision, table)


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would unpack to more than the limit is not unpacked."""
    monkeypatch.setattr("ebbtide.decision_log.record.particulars._LARGEST", 1000)
    assert unpack(pack("a" * 1000)) == "a" * 1000
    with pytest.raises(ConfigError, match="longer"):
        unpack(pack("a" * 1001))


def test_erased_with_the_text(tmp_path: Path) -> None:
    """The record is text of the decision: what is redacted stands in no byte of the log, packed or not."""
    folder = tmp_path / "in"
    folder.mkdir()
    noise = "".join(f"line {number * 7919}\n" for number in range(400))
    texts = {"0001-a.md": "# A\n\n## Decision\n\nxyzzy one\n", "0002-b.md": f"# B\n\n## Decision\n\n{noise}"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    place = tmp_path / "decisions.db"
    with DecisionLog.open(place) as log:
        for decision in put(log, folder).values():
            assert log.redact(decision.id, by="a person").document is None
        assert log.verify().ok
    content = b"".join(path.read_bytes() for path in tmp_path.glob("decisions.db*"))
    assert b"xyzzy" not in content
    assert pack(texts["0002-b.md"])[:40].encode() not in content


LINES = st.sampled_from(
    (
        "", " ", "Accepted", "accepted", "# T", "## Status", "## Links", "## Reviews", "### Status", "---",
        "## Decision", "status: accepted", "status:", "  - a", "* Status: accepted", "**Status:** Proposed",
        "...", "```", "~~~", "<!--", "-->", "* [x](0002-b.md)", "- item", "1. item", "text", "\u2028",
        "Date: 2020-01-01", "\ufeff",
    )
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\r\n"])
TEXTS = st.builds(lambda lines, end: end.join(lines), st.lists(LINES, min_size=1, max_size=14), ENDS)


@given(TEXTS)
def test_nothing_done_is_nothing_changed(text: str) -> None:
    """Whatever a page is made of."""
    assert edited_record(record(text), text, {}, {}) == text


@given(TEXTS)
def test_an_edit_takes_out_one_status_at_most(text: str) -> None:
    """The other lines stay; and the same edit again changes nothing."""
    new = "01HF7YAT000002FGBB85YR"
    one = record(
        text,
        status=Status.SUPERSEDED,
        superseded_by=new,
        links=(Link(relation=Relation.DEPENDS_ON, to=new),),
        reviews=(Review(outcome=DecisionOutcome.SUCCESS, by="Ann", ts=1.7e9),),
    )
    names, titles = {new: "0002-b.md"}, {new: "B"}
    page = edited_record(one, text, names, titles)
    before, after = (Counter(line.rstrip("\r") for line in each.split("\n")) for each in (text, page))
    # A status in the front matter may have more lines than one.
    missing = [line for line in (before - after).elements() if not line.startswith((" ", "- "))]
    assert len(list(filter(None, missing))) <= 1
    assert "uperseded by [" in page
    assert edited_record(one, page, names, titles) == page


def test_real_records(data: Path, tmp_path: Path) -> None:
    """The 132 records of four repositories; two pages more are a list of contents and a read-me."""
    content = gzip.decompress((data / "decisions" / "adr.jsonl.gz").read_bytes()).decode()
    folders = set()
    for row in map(json.loads, content.splitlines()):
        repository, _, name = row["id"].partition(":")
        folder = tmp_path / repository.replace("/", "_")
        folder.mkdir(exist_ok=True)
        folders.add(folder)
        if name not in {"README.md", "index.md"}:
            (folder / name).write_bytes(row["markdown"].encode())
    count = 0
    for folder in folders:
        with DecisionLog.open(":memory:") as log:
            count += len(put(log, folder))
            export_folder(all_of(log), folder / "out")
        assert pages_in(folder / "out") == pages_in(folder)
    assert count == 132
