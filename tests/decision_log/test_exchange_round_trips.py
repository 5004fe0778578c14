"""Whatever a decision says, it comes back from every format as it was, and breaks out of none."""

import csv
import io
import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.exchange.json_form import write_document, write_jsonl
from ebbtide.decision_log.exchange.madr import write_madr
from ebbtide.decision_log.exchange.markdown import (
    block,
    front_matter,
    inline,
    item,
    items,
    sections,
    split_front_matter,
    unescape,
)
from ebbtide.decision_log.exchange.reading import FileFormat, read_decisions
from ebbtide.decision_log.exchange.rows import RowFields
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionOutcome,
    DecisionScope,
    Link,
    Mode,
    Relation,
    Review,
    Status,
)
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, ReasonKind, Source, Stakes

_NASTY = (
    "---", "\n---\n", "\n## Decision Outcome\n", "```\n", "~~~", "* ", "- [ ] ", "1. ", "1) ", "> ",
    "| a | b |", "# ", " #", "\\", "\\n", "&amp;", "&#10;", "<script>", "<!--", "-->", '"', "'", "''",
    '", because', ": ", "a: b", "**analysis:** ", "![x](http://x)", "[x]: http://x", "\r\n", "\r", "\t",
    "  ", "\n\n", "\n", "\x00", "\x85", "\u2028", "\ufeff", "\u200b", "\u202e", "שלום", "مرحبا", "决定", "🚢",
    "👩\u200d👩\u200d👧", "é", ",", ";", "{", "}", "[", "]", "%s", "$(id)", "=1+1",
)  # fmt: skip
CHARACTERS = st.characters(exclude_categories=("Cs",))
TEXTS = st.lists(st.one_of(st.sampled_from(_NASTY), st.text(CHARACTERS, max_size=6)), max_size=6).map("".join)
SAID = TEXTS.filter(str.strip)
TIMES = st.floats(0, 4e9).map(lambda seconds: round(seconds, 3))
SHARES = st.floats(0, 1)
IDS = st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=22, max_size=22)


def elsewhere(one: Decision) -> Decision:
    """A decision as another log takes it: neither its tenant nor its version matter there."""
    return replace(one, scope=replace(one.scope, tenant="default"), version=0)


def some(values):
    return st.none() | values


CANDIDATES = st.builds(
    Candidate,
    description=SAID,
    options=st.lists(SAID, max_size=3).map(tuple),
    reasons=st.lists(st.builds(Reason, text=SAID, kind=some(st.sampled_from(ReasonKind))), max_size=3).map(
        tuple
    ),
    assumptions=st.lists(SAID, max_size=2).map(tuple),
    stakes=some(st.sampled_from(Stakes)),
    category=some(SAID),
    confidence=some(SHARES),
    confidence_source=some(st.sampled_from(ConfidenceSource)),
    frame=SAID,
    source=st.sampled_from(Source),
)
RULES = st.builds(
    RuleFired, id=st.just("chat.done"), layer=st.sampled_from(Layer), reason=TEXTS, phrase=TEXTS
)
ASSESSMENTS = RULES.flatmap(
    lambda rule: st.builds(
        Assessment,
        keep=st.just(False),
        primary=st.just(rule),
        rules=st.just((rule,)),
        noise=SHARES,
        choice=SHARES,
        threshold=SHARES,
        profile=st.just("default"),
    )
)
PARTICULARS = st.builds(
    Particulars,
    standing=some(st.sampled_from(RecordStatus)),
    context=some(SAID),
    choice=some(SAID),
    options=st.lists(
        st.builds(
            RecordOption,
            title=SAID,
            pros=st.lists(SAID, max_size=2).map(tuple),
            cons=st.lists(SAID, max_size=2).map(tuple),
            neutral=st.lists(SAID, max_size=1).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    consequences=st.lists(SAID, max_size=2).map(tuple),
    deciders=st.lists(SAID, max_size=2).map(tuple),
).filter(lambda particulars: particulars != Particulars())
DECISIONS = st.builds(
    Decision,
    id=IDS,
    scope=st.builds(DecisionScope, agent=SAID, session=some(SAID)),
    candidate=CANDIDATES,
    status=st.sampled_from([status for status in Status if status is not Status.PURGED]),
    opened_at=TIMES,
    settled_at=some(TIMES),
    thoughts=st.lists(SAID, max_size=3).map(tuple),
    assessment=some(ASSESSMENTS),
    mode=some(st.sampled_from(Mode)),
    links=st.lists(st.builds(Link, relation=st.sampled_from(Relation), to=IDS, why=TEXTS), max_size=2).map(
        tuple
    ),
    reviews=st.lists(
        st.builds(
            Review,
            outcome=st.sampled_from(DecisionOutcome),
            by=SAID,
            evidence=TEXTS,
            ts=TIMES,
            observed=st.booleans(),
        ),
        max_size=2,
    ).map(tuple),
    review_by=some(TIMES),
    prediction=some(SAID),
    particulars=some(PARTICULARS),
    amended=st.sampled_from(((), ("context", "deciders"))),
)
LISTS = st.lists(DECISIONS, max_size=4, unique_by=lambda decision: decision.id)


def read(content: str, source: str = "log", **options):
    return list(read_decisions(content, source, **options))


@given(DECISIONS)
def test_a_page_reads_back_as_it_was(one: Decision) -> None:
    """A MADR page holds the whole decision, whatever its texts are made of."""
    assert read(write_madr(one, {}), "0001-page.md") == [elsewhere(one)]


@given(LISTS)
def test_json_reads_back_as_it_was(some: list[Decision]) -> None:
    """So does the complete JSON document."""
    expected = [elsewhere(one) for one in some]
    assert read("".join(write_document(some))) == expected


@given(LISTS.filter(bool))
def test_json_lines_read_back_as_they_were(some: list[Decision]) -> None:
    """And JSON lines, of which each is a line for every reader."""
    lines = list(write_jsonl(some))
    assert not any("\n" in line for line in lines)
    assert read("\n".join(lines)) == [elsewhere(one) for one in some]


@given(SAID, st.lists(SAID, max_size=3))
def test_csv_with_any_text(description: str, options: list[str]) -> None:
    """What another program writes as CSV is read as it was meant."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["what", "options", "time"])
    writer.writerow([description, json.dumps(options), "2026-03-01T10:00:00Z"])
    # What has a line of its own first may look like another format; the format is named.
    (one,) = read(text.getvalue(), kind=FileFormat.CSV, keys=RowFields(description="what"))
    assert one.candidate.description == description
    assert one.candidate.options == tuple(options)
    assert one.opened_at == 1772359200.0


@given(TEXTS)
def test_text_stays_text(text: str) -> None:
    """Escaped text opens no section, and comes back as it was."""
    assert unescape(inline(text)) == text
    assert "\n" not in inline(text)
    page = sections(f"# {inline(text)}\n\n{block(text)}\n\n## Next\n")
    assert [part.level for part in page] == [0, 1, 2]
    assert unescape(page[1].title) == text
    assert unescape(page[1].text) == text


@given(st.lists(TEXTS))
def test_items_stay_items(texts: list[str]) -> None:
    """Each text is one item of a list."""
    page = "\n".join(map(item, texts))
    assert [unescape(entry) for entry in items(page.split("\n"))] == texts


@given(st.dictionaries(st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), TEXTS | st.lists(TEXTS)), TEXTS)
def test_front_matter_stays_front_matter(values: dict, below: str) -> None:
    """No value ends the block or adds a name to it."""
    assert split_front_matter(f"{front_matter(values)}\n{below}") == (values, below)
