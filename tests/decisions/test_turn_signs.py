"""Which turns are worth reading: every turn in which reading finds a candidate is let through."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ebbtide.decisions.gate.choice_rules import CHOICES
from ebbtide.decisions.turns import turn_candidates, turn_signs
from ebbtide.decisions.turns.turn_candidates import TurnCandidate, candidates_of
from ebbtide.decisions.turns.turn_rules import RECOMMENDATIONS
from ebbtide.decisions.turns.turn_signs import may_state_choice

# One a rule at least; the test below says that each of them is a candidate.
STATED = {
    "decision.will-use": "We'll finally also use SQLite.",
    "decision.lets-use": "Let us now switch to SQLite.",
    "decision.decided": "The team decided to keep SQLite.",
    "decision.was-decided": "It was already agreed that SQLite stays.",
    "decision.the-decision": "Our choice is SQLite.",
    "decision.made": "They reached the verdict and made a choice.",
    "decision.going-with": "Going with SQLite.",
    "decision.label": "Decision 3: SQLite",
    "decision.section": "## What we agreed on\n\nSQLite.",
    "decision.field": '{"decisions": ["SQLite"]}',
    "proposal.the-fix": "The only real fix for this is to round it.",
    "choice.to-fix": "To prevent a lock of the file when two write, we need to queue them.",
    "proposal.recommend": "I would strongly recommend to queue them.",
    "proposal.it-is": "Fine, one writer it is.",
    "proposal.i-would": "I'd rather just leave them there.",
    "proposal.best": "It would be safer if we queue them.",
    "proposal.recommendation": "My recommendation is to queue them.",
    "proposal.recommended": "Queue them (recommended).",
    "proposal.what-i-would": "What I'd suggest are two queues.",
    "proposal.should": "We should queue them instead of locking the file.",
    "out.will-not": "I will not add a second writer.",
    "choice.option": "Let's proceed with option B.",
    "choice.use": "Use LRU rather than LFU.",
    "choice.commit": "I'll cache it rather than read it again.",
    "choice.made": "We kept the replica instead of a second writer.",
    "choice.over": "We chose SQLite over PostgreSQL.",
    "gone.off-the-table": "The second writer is off the table.",
    "record.agreed": "Agreed so far:\n- The key is a hash.",
    "record.for-the-record": "Thanks! For the record:\n\n- The key is a hash.",
}


@pytest.mark.parametrize("text", STATED.values(), ids=STATED)
def test_what_states_a_choice_is_let_through(text: str) -> None:
    """Every wording of a rule is a candidate, and is read."""
    assert candidates_of(text)
    assert may_state_choice(text)


def test_a_look_begins_at_words_that_are_known() -> None:
    """A phrase that began with any word would be tried at each word of every turn."""
    rules = [rule for table in turn_signs._tables() for rule in table.rules]
    assert not [rule.id for rule in rules if rule.pattern.startswith(("(?:[\\w-]", "[\\w-]", "\\w"))]


def test_every_proposal_has_an_example() -> None:
    """A rule that is added here needs a sign, and a row in the table."""
    assert {rule.id for rule in RECOMMENDATIONS.rules} <= STATED.keys()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\u202e🚢\ud800",
        "Let me look at the logs.",
        "Now I need to check what the second page says about it.",
        "The usage is of the user's cause.",
        "it is clear that this is a list of its parts",
        "I will search for the next one.",
        "Use it and run on.",
    ],
)
def test_narration_is_left_unread(text: str) -> None:
    """Nothing of a choice stands in it."""
    assert not may_state_choice(text)
    assert candidates_of(text) == ()


def _escaped(text: str) -> str:
    return json.dumps({"thought": text})


FORMS = {
    "as it is": str,
    "upper case": str.upper,
    "curly apostrophes": lambda text: text.replace("'", "\u2019"),
    "other apostrophes": lambda text: text.replace("'", "\u02bc"),
    "a line a word": lambda text: text.replace(" ", "\n"),
    "two spaces": lambda text: text.replace(" ", "  "),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "bold words": lambda text: " ".join(f"**{word}**" for word in text.split(" ")),
    "code words": lambda text: " ".join(f"`{word}`" for word in text.split(" ")),
    "emphasis": lambda text: f"__{text}__",
    "quoted": lambda text: "> " + text.replace(" ", "\n> "),
    "tags": lambda text: f"<p>{text.replace(' ', '<br>')}</p>",
    "a link": lambda text: f"See [{text}](https://example.org/a(b)).",
    "links": lambda text: " ".join(f"[{word}](x.y)" for word in text.split(" ")),
    "escapes": lambda text: text.replace("'", "\\'").replace(".", "\\."),
    "a list": lambda text: f"- [ ] {text}\n- {text}",
    "a table": lambda text: f"| a | b |\n|---|---|\n| {text} | {text} |",
    "JSON": _escaped,
    "JSON in code": lambda text: f"```json\n{_escaped(text)}\n```",
    "JSON in JSON": lambda text: _escaped(_escaped(text)),
    "JSON of code points": lambda text: (
        '{"thought": "' + "".join(f"\\u{ord(character):04X}" for character in text) + '"}'
    ),
    "wide letters": lambda text: "".join(
        chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character for character in text
    ),
    "long s and dotless i": lambda text: text.replace("s", "\u017f").replace("i", "\u0131"),
    "in quotes": lambda text: f'"{text}"',
    "in brackets": lambda text: f"({text})",
    "cut": lambda text: text.rstrip("."),
}
CHOICE_WORDS = sorted({word for rule in CHOICES for word in re.findall(r"[a-z]+(?:'t)?", rule.pattern)})
LINKS = [
    "so",
    "and",
    "then we",
    "I",
    "our",
    "it is",
    "to",
    "not",
    "because",
    "should",
    "instead",
    "over",
    "the",
    "-",
]
MARKS = [
    " ",
    " ",
    " ",
    " ",
    ", ",
    ". ",
    ": ",
    "\n",
    "\n\n",
    "\n- ",
    " - ",
    "! ",
    "? ",
    "*",
    "_",
    "\u2019",
    '"',
    "\\n",
    "<b>",
]
FILLER = ["", "", "Great! ", "Note: ", "# Plan\n\n", "Ok so ", "When\n", "1. ", "if\n\n", "\u2122", "Sure, "]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_hides_a_choice(form) -> None:
    """However a choice is marked up: what reading finds, the look at the words lets through."""
    for text in STATED.values():
        for before in sorted(set(FILLER)):
            turn = before + form(text)
            assert may_state_choice(turn) or candidates_of(turn) == (), turn


SENTENCES = st.lists(
    st.tuples(
        st.sampled_from(FILLER),
        st.sampled_from([*STATED.values(), *(f"{word} it" for word in CHOICE_WORDS)]),
        st.sampled_from(list(FORMS.values())),
        st.sampled_from(MARKS),
    ),
    max_size=3,
).map(lambda parts: "".join(before + form(text) + mark for before, text, form, mark in parts))
WORDS = st.lists(
    st.tuples(
        st.sampled_from(
            [*CHOICE_WORDS, *LINKS, *(word for text in STATED.values() for word in text.split())]
        ),
        st.sampled_from(MARKS),
    ),
    max_size=12,
).map(lambda parts: "".join(word + mark for word, mark in parts))


@settings(max_examples=300)
@given(st.one_of(SENTENCES, WORDS, st.text(max_size=60)))
def test_what_is_left_unread_has_no_candidate(turn: str) -> None:
    """Of any made text: the look at the words misses nothing."""
    assert may_state_choice(turn) or candidates_of(turn) == ()


def every_sentence_read(turn: str) -> tuple[TurnCandidate, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_candidates, "may_state_choice", lambda _text: True)
        return candidates_of(turn)


@settings(max_examples=300)
@given(st.one_of(SENTENCES, WORDS))
@example("a*I'd propose ")
def test_sentences_that_are_left_unread_have_no_candidate(turn: str) -> None:
    """Reading only the sentences with the words of a choice finds what reading all of them finds."""
    assert candidates_of(turn) == every_sentence_read(turn)


def test_no_sentence_of_real_records_is_missed(data: Path) -> None:
    """Of decision records, most of whose sentences have no word of a choice, no candidate is lost."""
    with gzip.open(data / "decisions" / "adr.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["markdown"] for line in lines]
    assert sum(len(candidates_of(text)) for text in texts) > 200
    assert [text for text in texts if candidates_of(text) != every_sentence_read(text)] == []


def test_a_sentence_under_a_heading_or_in_a_record_is_read() -> None:
    """What a heading or a lead-in makes a decision needs no word of a choice."""
    for turn in ("## Decision\n\nSQLite.\n", "For the record:\n1. SQLite.\n2. A table.\n"):
        assert next(each.text for each in candidates_of(turn)) == "SQLite."
    assert [each.text for each in candidates_of("For the record:\n1. SQLite.\n\nA table.")] == ["SQLite."]


def test_no_candidate_of_real_turns_is_missed(data: Path) -> None:
    """Of 3,682 turns and thoughts of agents, most are left unread, and none of those has a candidate."""
    with gzip.open(data / "loops" / "swe_transitions.jsonl.gz", "rt") as lines:
        texts = [thought for line in lines for thought in json.loads(line)["thoughts"]]
    with gzip.open(data / "loops" / "hotpotqa_react_base.jsonl.gz", "rt") as lines:
        texts += [step.get("thought") for line in lines for step in json.loads(line)["steps"]]
    rows = json.loads((data / "traces" / "openai_messages" / "tau_airline_20.json").read_text("utf-8"))
    texts += [message.get("content") for row in rows for message in row["traj"]]
    texts = [text for text in texts if text]
    unread = [text for text in texts if not may_state_choice(text)]
    assert len(texts) > 3_600
    assert len(unread) > 0.85 * len(texts)
    assert [text for text in unread if candidates_of(text)] == []
