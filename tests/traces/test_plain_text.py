"""Plain text with turns: what opens a turn, and what only looks like it."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.traces.reading import loads
from ebbtide.traces.transcripts.turns import RoundUnit


def turns(text: str) -> list[tuple[str | None, str | None]]:
    return [(item.agent, item.text) for item in loads(dedent(text).lstrip("\n"), source="talk.txt").rounds]


TALK = [
    ("Ann", "The cache is cold."),
    ("Bob", "Warm it at boot.\n\nThen measure."),
    ("Ann", "Done: p99 is 20 ms."),
]


@pytest.mark.parametrize(
    "layout",
    [
        "{name}: {text}\n",
        "{name}: {text}\n\n",
        "{name}:\n{text}\n\n",
        "{name} : {text}\n",
        "{name}\uff1a{text}\n",
        "**{name}:** {text}\n\n",
        "**{name}**: {text}\n",
        "__{name}__:\n{text}\n",
        "[12:03] {name}: {text}\n",
        "(2026-01-05 12:03:11) {name}: {text}\n",
        "2026-01-05T12:03:11Z {name}: {text}\n",
        "05/01/26, 12:03 PM - {name}: {text}\n",
        "{name} [00:01:02]: {text}\n",
        "[12:03] **{name}:** {text}\n",
    ],
)
@pytest.mark.parametrize(
    "names", [{}, {"Ann": "user", "Bob": "assistant"}, {"Ann": "Dr. A. Li", "Bob": "Log_Expert 2"}]
)
def test_layouts_of_a_turn(layout: str, names: dict[str, str]) -> None:
    """However the name is set off, the turns are the same; a turn runs until the next name."""
    talk = [(names.get(name, name), text) for name, text in TALK]
    text = "".join(layout.format(name=name, text=text) for name, text in talk)
    assert turns(text) == talk
    assert turns(text.replace("\n", "\r\n")) == talk


def test_what_stands_before_the_first_turn_is_kept() -> None:
    """A title is no turn, and is not lost."""
    transcript = loads("Weekly meeting\n\nAnn: One thing.\nBob: Yes.\nAnn: Good.", source="notes/weekly.txt")
    assert transcript.extra == {"preamble": "Weekly meeting"}
    assert transcript.conversation_id == "weekly"
    assert [item.agent for item in transcript.rounds] == ["Ann", "Bob", "Ann"]


@pytest.mark.parametrize(
    "prose",
    [
        "See https://example.org/a: it has the numbers.",
        "https://example.org is down",
        "12:30 is when it fails.",
        "At 12:30: the job starts.",
        "Note: this is slow.\nNote: this is slower.",
        "Next steps:\n- one\n- two\nNext steps:\n- three",
        "Step 1: build\nStep 2: test\nStep 2: test again",
        "**Pros:**\n- fast\n\n**Cons:**\n- large\n\n**Pros:** cheap",
        "The reason: nobody looked.",
        "C:\\temp is full",
        "Use std::map here, a::b there",
        "```yaml\nCid: 1\nDan: 2\nCid: 3\n```",
        "~~~\nCid: 1\nCid: 3\n~~~",
        "    ```\nCid: 1\nCid: 2\n    ```",
        "if ready:\n    go()\nelse:\n    wait()\nif ready:\n    go()",
        "> Cid: quoted\n> Cid: again",
        "- Cid: item\n- Cid: item",
        "a very long line of words that goes on: and on\na very long line of words that goes on: and on",
    ],
)
def test_colons_in_prose_open_no_turn(prose: str) -> None:
    """Links, times, headings, lists, quotes and code stay inside the turn in which they stand."""
    assert turns(f"Ann: Look.\n{prose}\nBob: I see.\n{prose}\nAnn: Good.\n") == [
        ("Ann", f"Look.\n{prose}"),
        ("Bob", f"I see.\n{prose}"),
        ("Ann", "Good."),
    ]


def test_a_name_in_another_layout_opens_no_turn() -> None:
    """The first speaker's layout is everybody's."""
    text = "**Ann:** Options.\n\nFast: in memory.\nFast: on disk.\n\n**Bob:** Fast.\n\n**Ann:** Good."
    assert [name for name, _ in turns(text)] == ["Ann", "Bob", "Ann"]


@pytest.mark.parametrize(
    ("said", "speakers"),
    [
        ("Ann: 1.|Bob: 2.|Ann: 3.", ["Ann", "Bob", "Ann"]),
        ("Ann: 1.|Bob: 2.|Cid: 3.|Ann: 4.", ["Ann", "Bob", "Cid", "Ann"]),
        ("Ann: 1.|Fast: yes.|Bob: 2.|Ann: 3.|Bob: 4.", ["Ann", "Bob", "Ann", "Bob"]),
        ("Ann: 1.|Bob: 2.|Ann: 3.|Bob: 4.|Fast: yes.", ["Ann", "Bob", "Ann", "Bob"]),
        ("Host: 0.|Ann: 1.|Bob: 2.|Ann: 3.|Bob: 4.", ["Host", "Ann", "Bob", "Ann", "Bob"]),
        (
            "12:03 Ann: 1.|12:04 Cid: 2.|12:05 Bob: 3.|12:06 Ann: 4.|12:07 Bob: 5.",
            ["Ann", "Cid", "Bob", "Ann", "Bob"],
        ),
    ],
)
def test_a_name_that_comes_once(said: str, speakers: list[str]) -> None:
    """It speaks if it opens the text, has a time, or if somebody would answer himself without it."""
    assert [name for name, _ in turns(said.replace("|", "\n"))] == speakers


def test_two_turns_are_enough() -> None:
    """Where no name comes again, two that open the text are a conversation."""
    assert turns("Ann: One.\nBob: Two.") == [("Ann", "One."), ("Bob", "Two.")]


def test_one_speaker_is_enough() -> None:
    """An agent alone has rounds too, if its name opens the text."""
    assert turns("Agent: One.\nAgent: Two.") == [("Agent", "One."), ("Agent", "Two.")]


def test_an_open_code_block_hides_no_turns() -> None:
    """A block that nobody closes, or that another one follows, ends with its turn."""
    said = [
        "Ann: Look.\n```\nx",
        "Bob: I see.\n```python\nAnn: 1\n```",
        "Ann: Good.",
        "Bob: ```\nBob: 2\n```",
        "Ann: Bye.\n```\n",
    ]
    assert [name for name, _ in turns("\n".join(said))] == ["Ann", "Bob", "Ann", "Bob", "Ann"]


def test_an_empty_turn_is_none() -> None:
    """A name without text does not count as a round."""
    assert turns("Ann: One.\nBob:\nAnn: Two.\nBob: Three.") == [
        ("Ann", "One."),
        ("Ann", "Two."),
        ("Bob", "Three."),
    ]


def test_circles_of_speakers() -> None:
    """A round can be a full circle here too."""
    rounds = loads("Ann: One.\nBob: Two.\nAnn: Three.\nBob: Four.", unit=RoundUnit.CIRCLE).rounds
    assert [item.text for item in rounds] == ["One.\n\nTwo.", "Three.\n\nFour."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Just some prose.\nAnd more.", "no line starts with the 'Name:' of a speaker"),
        ("Note: one thing.\nNote: another.", "no line starts with the 'Name:' of a speaker"),
        (
            "Some prose.\nFast: in memory.",
            "too few lines start with 'Name:' to tell speakers from prose; there is 'Fast' in line 2",
        ),
        (
            "Fast: in memory.",
            "too few lines start with 'Name:' to tell speakers from prose; there is 'Fast' in line 1",
        ),
        (
            "Prose.\nFast: a.\nFast: b.",
            "too few lines start with 'Name:' to tell speakers from prose; there is 'Fast' in line 2",
        ),
    ],
)
def test_prose_is_no_conversation(text: str, reason: str) -> None:
    """Text without speakers is refused, and the reason says what was looked for."""
    with pytest.raises(TranscriptError) as caught:
        loads(text, source="x")
    assert f"\n  text: {reason}" in str(caught.value)


names = st.sampled_from(["Ann", "Bob", "user", "Zo\u00eb", "\u5c0f\u660e"])
pieces = st.lists(
    st.sampled_from(["word", ":", " ", "\n", "```", "**", "Note:", "12:30", "[", "{", "#", "- "])
)


@given(st.lists(st.tuples(names, pieces.map("".join)), min_size=2, max_size=8))
def test_every_timed_name_opens_its_turn(said: list[tuple[str, str]]) -> None:
    """Whatever is said, each turn comes back whole: no closed code block around a name, no text lost."""
    said = [(name, text.replace("`", "'").strip() or "-") for name, text in said]
    rounds = loads("\n".join(f"[12:03] {name}: {text}" for name, text in said)).rounds
    assert [(item.agent, item.text) for item in rounds] == said
