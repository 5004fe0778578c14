"""Claims, decisions, open questions and next actions of one raw turn."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.extraction.turn import Extraction, ItemKind, Speaker, extract

TURN = """\
Great question! I looked at the lease code.

## Findings
- The lease **expires** after 30 s, e.g. during a [compaction](docs/compaction.md).
- The broker renews it every 40 s.

```python
lease = Lease(ttl=30)
```

## Decisions
1. Renew the lease every 10 s. It costs nothing.

## Open questions
- Who owns the broker?
- The licence of the client

**Next steps:**
- [ ] Patch `broker/lease.py`
- [x] Reproduce the outage
- None of us has access, so @mina will ask.

Does that help?
"""


@pytest.mark.clause("B06")
def test_turn():
    """A turn as models write them gives its claims, decisions, questions and actions."""
    found = extract(TURN)
    assert found.decisions == ("Renew the lease every 10 s.",)
    assert found.open_questions == ("Who owns the broker?", "The licence of the client")
    assert found.next_actions == ("Patch broker/lease.py", "None of us has access, so @mina will ask.")
    assert found.claims == (
        "I looked at the lease code.",
        "The lease expires after 30 s, e.g. during a compaction.",
        "The broker renews it every 40 s.",
        "Renew the lease every 10 s.",
        "It costs nothing.",
        "Patch broker/lease.py",
        "Reproduce the outage",
        "None of us has access, so @mina will ask.",
    )
    assert [aside.rule for aside in found.set_aside] == [
        "pleasantry.praise",
        "structure.heading",
        "code.block",
        "structure.heading",
        "structure.heading",
        "structure.heading",
        "pleasantry.does-that-help",
    ]


def test_place():
    """An item knows its sentence and where that stands in the turn."""
    (item,) = extract("Sure, **the cache** is\nstale.").items
    assert item.kind is ItemKind.CLAIM
    assert (item.text, item.sentence) == ("the cache is stale.", "Sure, the cache is stale.")
    assert (item.start, item.end) == (0, 29)


def test_decision_and_action_are_claims():
    """A decision and an action are claims too, with the same place and rule; a question is not."""
    found = extract("We decided to use Redis. Please update the docs. Who tests it?")
    kinds = [(item.kind.value, item.rule, item.start) for item in found.items]
    assert kinds == [
        ("decision", "decision.decided", 0),
        ("claim", "decision.decided", 0),
        ("next_action", "action.please", 25),
        ("claim", "action.please", 25),
        ("open_question", "question.mark", 49),
    ]


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("## Next steps\n- one\n- two\n## Risks\n- three", ("one", "two")),
        ("## Next steps\n### Backend\n- one\n# Notes\n- two", ("one",)),
        ("## Next steps\n### Context\n- one", ()),
        ("## Next steps\nThe disk. It is full.\n\nThe cable.", ("The disk.", "The cable.")),
        ("Next steps:\n- one\n  - two\n\nThree is a crowd.", ("one", "two")),
        ("Next steps:\n\nThe disk.\n\nThe cable is old.", ("The disk.",)),
        ("- Next steps:\n  - one\n- two", ("one",)),
        ("**Next steps**\n- one\n\n- two", ("one", "two")),
        ("TODO\n- one", ("one",)),
        ("Next steps\n==========\n- one", ("one",)),
        ("Next steps: none", ()),
        ("Next steps:\n- None", ()),
        ("## Next steps\n- Should we stop?", ()),
        (
            "The following steps will be implemented:\n1. The lease\n2. The broker",
            ("The lease", "The broker"),
        ),
        ("I'll do the following:\n- Broker first", ("Broker first",)),
    ],
)
def test_section(text, actions):
    """What stands below a heading or a lead-in takes its kind, until the section or the list ends."""
    assert extract(text).next_actions == actions


def test_decided_list():
    """A list that is led in by a decision is a list of decisions."""
    found = extract("We agreed on two things:\n- one broker\n- two leases\n\nThe rest is open to debate.")
    assert found.decisions == ("We agreed on two things:", "one broker", "two leases")


def test_table():
    """A row of a table is a claim, the row of its names is not."""
    found = extract("| Store | ms |\n|---|---|\n| Redis | 3 |")
    assert found.claims == ("Redis, 3",)
    assert [(aside.text, aside.rule) for aside in found.set_aside] == [("Store, ms", "structure.heading")]


JSON = {
    "thought": "The lease is too short. Does it matter?",
    "claims": ["It expires after 30 s", {"text": "The broker renews it every 40 s", "id": "c2"}],
    "nextActions": [{"action": "Patch the lease", "owner": "mina"}],
    "open_questions": ["Owner of the broker", "none"],
    "decisions": [],
    "command": "rm -rf the old cache directory",
    "action": "web_search",
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "frame", ["{}", "```json\n{}\n```", "Here it is:\n\n```\n{}\n```\nThanks!", "Result:\n{}\n"]
)
def test_json(frame, indent):
    """Known fields of JSON are read as what they are, and prose fields like a turn, wherever it stands."""
    text = frame.format(json.dumps(JSON, indent=indent))
    found = extract(text)
    assert found.claims == (
        "The lease is too short.",
        "It expires after 30 s",
        "The broker renews it every 40 s",
        "Patch the lease",
    )
    assert found.next_actions == ("Patch the lease",)
    assert found.open_questions == ("Does it matter?", "Owner of the broker")
    places = {json.loads(text[item.start : item.end]) for item in found.items}
    assert "The broker renews it every 40 s" in places


def test_json_of_unknown_fields():
    """Without a known field, the texts that are sentences are read; without those, it is code."""
    found = extract('{"name": "lease", "why": "The lease is too short.", "ttl": 30}')
    assert found.claims == ("The lease is too short.",)
    assert extract('["The lease is too short.", "租约太短。"]').claims == (
        "The lease is too short.",
        "租约太短。",
    )
    assert [aside.rule for aside in extract('{"name": "lease"}').set_aside] == ["code.json"]
    assert [aside.rule for aside in extract('[{"ttl": 30}]').set_aside] == ["code.block"]


def test_json_in_json():
    """A text in JSON that is JSON is read as such, and stands where the outer text stands."""
    inner = json.dumps({"claims": ["The lease is too short"]})
    outer = json.dumps({"answer": inner})
    (item,) = extract(outer).items
    assert item.text == "The lease is too short"
    assert json.loads(outer[item.start : item.end]) == inner


PAGE = """I clicked it.

Here is a screenshot of [Shop](http://a.b). The viewport shows 20% of the page.
Automatic OCR of the page screenshot has detected the following text:

We decided to close the shop. New customer? Please enter your name.

Next steps
- Open an account
"""


def test_page():
    """What a page decides, asks and orders is stated by whoever shows it, and no more."""
    found = extract(PAGE)
    assert (found.decisions, found.open_questions, found.next_actions) == ((), (), ())
    assert {"We decided to close the shop.", "Open an account"} <= set(found.claims)
    assert "quoted.question" in [aside.rule for aside in found.set_aside]


@pytest.mark.parametrize(
    "text", [PAGE, "We decided to use Redis. Please fix it now. Who owns it?", '{"todo": ["fix it"]}']
)
def test_tool(text):
    """A tool decides nothing, asks nothing and wants nothing done."""
    found = extract(text, speaker=Speaker.TOOL)
    assert (found.decisions, found.open_questions, found.next_actions) == ((), (), ())
    assert found.claims


def test_json_in_a_quotation_mark_is_an_answer():
    """A long text in JSON is no quotation; JSON on a page is one."""
    answer = '{"next_step": "Please update the docs of the broker, of the lease and of the whole house."}'
    assert len(extract(answer).next_actions) == 1
    assert extract(f"The following metadata was extracted from the webpage:\n{answer}").next_actions == ()


def test_person():
    """A person's approval is a decision, and what it tells to do is to be done."""
    found = extract("Thanks! Yes, please go ahead with those changes.", speaker=Speaker.PERSON)
    assert found.decisions == found.next_actions == ("Yes, please go ahead with those changes.",)
    assert extract("That sounds good.", speaker=Speaker.PERSON).claims == ()


def test_request_is_a_question_and_an_action():
    """Whoever asks whether the other can do something wants it done, and waits for an answer."""
    found = extract("Could you check the lease?", speaker=Speaker.PERSON)
    assert found.open_questions == found.next_actions == ("Could you check the lease?",)
    assert found.claims == ()


def test_own_answer():
    """Whoever answers the own question at once asked nobody."""
    found = extract("Why does it fail? Because the lease is too short. Who owns it? It is stale.")
    assert found.open_questions == ("Who owns it?",)
    assert [aside.rule for aside in found.set_aside] == ["question.answered"]


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("| Step | Done |\n|---|---|\n| Install the broker | yes |", ()),
        ("Calculate the mean:\n\\[ x = 1 \\]", ()),
        ("Calculate the mean:\nof all leases", ("Calculate the mean:",)),
    ],
)
def test_order_that_is_none(text, actions):
    """A cell of a table orders nothing, and what is calculated at once is not to be done."""
    assert extract(text).next_actions == actions


def test_empty():
    """An empty turn says nothing."""
    assert extract("") == extract(" \n\n\t") == Extraction()


#: What means something to the reader, to stand between what chance makes.
MARKS = (
    '\n|\n\n|# |- |> |```\n|? |. |: |**|[ ] |{"claims": ["|"]}|Next steps|Decision|Thanks|none|, right?'
).split("|")
MESSY = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=())), st.sampled_from([*MARKS, "|", "we decided to "]))
).map("".join)


@given(MESSY)
def test_any_text(text):
    """Any text can be read: items hold a part of their sentence, in order, at places inside the text."""
    found = extract(text)
    places = [item.start for item in found.items]
    assert places == sorted(places)
    for item in found.items:
        assert item.text in item.sentence
        assert item.text.strip()
        assert 0 <= item.start < item.end <= len(text)
    for aside in found.set_aside:
        assert 0 <= aside.start <= aside.end <= len(text)
    assert set(found.decisions) <= set(found.claims)
    assert extract(text, speaker=Speaker.TOOL).next_actions == ()


SENTENCES = st.sampled_from(
    [
        "The cache is stale.",
        "Who owns it?",
        "Thanks!",
        "We decided to use Redis.",
        "Please fix it now.",
        "Let me see.",
    ]
)


@given(st.lists(SENTENCES))
def test_each_sentence_counts_once(parts):
    """In prose a sentence is an item or set aside, whatever stands around it."""
    found = extract(" ".join(parts))
    alone = [extract(part) for part in parts]
    assert found.claims == tuple(text for one in alone for text in one.claims)
    assert found.open_questions == tuple(text for one in alone for text in one.open_questions)
    assert len(found.set_aside) == sum(len(one.set_aside) for one in alone)


REPEATED = (
    "we |we will |will |thanks |ok, |ok |sure so |note: |decision: |now |let me |to be |what |open |key "
    "|next |the |as i |please |a(|a() |select |[ ] |@a |, right|We decided. |# Next steps\n|- a\n|  - a:\n"
    '|is it, |not clear |- |\u0130|\u2019s |["a",\n'
).split("|")


@pytest.mark.parametrize("unit", REPEATED)
@pytest.mark.parametrize("end", ["", "?"])
def test_reading_is_linear(unit, end, is_linear):
    """Eight times the turn takes about eight times as long, whatever is repeated."""
    assert is_linear(extract, unit * 1_000 + end, unit * 8_000 + end)


def test_deep_and_long_json_is_linear(is_linear):
    """So does JSON, with texts, escapes and levels in any number."""
    assert is_linear(extract, *(json.dumps(['a \\" b c d e'] * size) for size in (1_000, 8_000)))
    assert is_linear(extract, *(json.dumps({"answer": '\\n" ' * size}) for size in (1_000, 8_000)))
    assert is_linear(
        extract, *('{"a":' * 200 + '"' + "b " * size + '"' + "}" * 200 for size in (1_000, 8_000))
    )
