"""What a conversation decided: the sentences that state a choice, through the gate."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decisions.repeats.differences import Difference, find_contrast
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.decisions.turns.filtered_turns import Disposition, FilteredTurns, SpokenTurn, turn_of
from ebbtide.decisions.turns.turn_candidates import candidates_of
from ebbtide.decisions.turns.turn_filter import TurnFilter, filter_turns
from ebbtide.profile import Profile
from ebbtide.text.extraction.turn import Speaker


def said(*texts: str, every_s: float | None = None) -> list[SpokenTurn]:
    return [
        SpokenTurn(number=at, speaker="coder", text=text, ts=None if every_s is None else at * every_s)
        for at, text in enumerate(texts, start=1)
    ]


def dispositions(filtered: FilteredTurns) -> list[tuple[int, Disposition]]:
    return [(each.turn.number, each.disposition) for each in filtered.candidates]


CHOICES = [
    ("We'll use SQLite for the log, it needs no server.", "choice.will"),
    ("Let's use a queue instead of polling.", "choice.lets"),
    ("Decision: the key is a hash of tenant and day.", "decision.label"),
    ("Great, then one worker it is.", "choice.it-is"),
]


@pytest.mark.parametrize(("text", "rule"), CHOICES, ids=[text[:40] for text, _ in CHOICES])
def test_a_sentence_that_states_a_choice(text: str, rule: str) -> None:
    """It is found, by the rule that says how it is put, and kept."""
    (each,) = filter_turns(said(text)).candidates
    assert (each.sentence.rule, each.disposition) == (rule, Disposition.KEPT)


@pytest.mark.parametrize(
    ("text", "chosen", "over", "why"),
    [
        ("Use LRU rather than LFU because it is simpler.", "LRU", "LFU", "it is simpler"),
        ("We stay on SQLite, not PostgreSQL.", "SQLite", "PostgreSQL", None),
        ("No, I don't like the second writer.", None, "the second writer", None),
        ("Never push without a review.", "Never push without a review.", None, None),
        ("B sounds best.", "B", None, None),
    ],
)
def test_a_person_decides(text: str, chosen: str | None, over: str | None, why: str | None) -> None:
    """What a person orders, prefers or rules out is kept, with what was chosen, over what, and why."""
    turn = SpokenTurn(number=1, speaker="user", text=text, role=Speaker.PERSON)
    (each,) = filter_turns([turn]).candidates
    assert each.disposition is Disposition.KEPT
    assert (each.sentence.choice, each.sentence.over, each.sentence.why) == (chosen, over, why)


def test_a_proposal_waits_for_its_acceptance_or_its_deed() -> None:
    """It is kept from where the other side accepts it, or the run carries it out."""
    turns = TurnFilter()
    (each,) = turns.take(SpokenTurn(number=1, speaker="coder", text="I'd recommend a cache in `store.py`."))
    assert each.disposition is Disposition.PROPOSED
    (each,) = turns.hear(SpokenTurn(number=2, speaker="user", text="Yes, do that.", role=Speaker.PERSON))
    assert (each.disposition, each.accepted) == (Disposition.KEPT, 2)
    (each,) = turns.act(3, {"path": "store.py"})
    assert (each.disposition, each.accepted, each.carried_out) == (Disposition.KEPT, 2, 3)
    assert turns.act(4, {"path": "store.py"}) == ()


NEXT_STEPS = [
    "Let's use find_file to see where it is.",
    "I'll use the provided arxiv_search function to search for the article.",
    "To address the issue, we need to gather more context about the test runner.",
    "We'll use these logs to find out what happened.",
    "I recommend contacting a human agent for further help.",
    "The error occurs because we divide rather than round.",
    "If you want, we can keep the old endpoint instead of removing it.",
]


@pytest.mark.parametrize("text", NEXT_STEPS)
def test_a_next_step_or_an_offer_chooses_nothing(text: str) -> None:
    """Where it sounds like a choice, it is refused with the rule that says so."""
    for each in filter_turns(said(text)).candidates:
        assert each.disposition is Disposition.REFUSED
        assert each.sentence.against == each.assessment.primary.id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Let me check the logs first.",
        "Which store do we use?",
        "Should we use SQLite instead of PostgreSQL?",
        "The value is shown as a dict instead of JSON.",
        "1. Load the file\n2. Print it",
        "```python\nwe_will_use = 'sqlite instead of postgres'\n```",
        "\x00\u202e🚢",
    ],
)
def test_a_turn_that_decides_nothing(text: str) -> None:
    """Steps, questions, observations, plans and code are no candidates."""
    assert candidates_of(text) == ()


def test_short_sentences_are_taken_whole() -> None:
    """Without what opens them they would say too little; a label says nothing."""
    assert [found.text for found in candidates_of("Great, then one worker it is.")] == [
        "Great, then one worker it is."
    ]
    assert [found.text for found in candidates_of("Decision: keep the replica")] == ["keep the replica"]


def test_lists_for_the_record() -> None:
    """What stands in a list under such a line was decided, also without a word of choice."""
    listed = "- The key is a hash of tenant and day.\n- No bar in the first version."
    turn = f"Thanks! For the record:\n\n{listed}\n\nBye."
    assert [found.text for found in candidates_of(turn)] == [
        "The key is a hash of tenant and day.",
        "No bar in the first version.",
    ]


def test_a_decision_beside_narration_stays_one() -> None:
    """The words around it are not held against it."""
    turn = "Great, thanks! Let me run it. We'll use SQLite for the log, it needs no server. Done."
    assert dispositions(filter_turns(said(turn))) == [(1, Disposition.KEPT)]


def test_what_is_said_again_is_a_duplicate() -> None:
    """Of which turn, by which measure."""
    choice = "We'll use SQLite for the log, it needs no server."
    filtered = filter_turns(said(choice, "We'll cache pages in the proxy.", choice))
    last = filtered.candidates[-1]
    assert (last.disposition, last.duplicate.of, last.duplicate.score) == (
        Disposition.DUPLICATE,
        "turn-1-1",
        1.0,
    )
    assert last.assessment.primary.id == "duplicate.fingerprint"


def test_times_bring_the_window() -> None:
    """With times, what is said again after the window is decided again; without, never."""
    choice = "We'll use SQLite for the log, it needs no server."
    assert [
        disposition for _, disposition in dispositions(filter_turns(said(choice, choice, every_s=299.0)))
    ] == [
        Disposition.KEPT,
        Disposition.DUPLICATE,
    ]
    assert [
        disposition for _, disposition in dispositions(filter_turns(said(choice, choice, every_s=301.0)))
    ] == [Disposition.KEPT, Disposition.KEPT]


def test_a_reversal_is_a_question() -> None:
    """Going back and forth gives each turn of mind, and what it turned from."""
    there = "Instead of changing the division, we should change the substitution of zero by zero."
    back = "Instead of changing the substitution, we should change the division of zero by zero."
    filtered = filter_turns(said(there, back, there))
    assert {each.disposition for each in filtered.candidates} == {Disposition.KEPT}
    assert [each.reverses for each in filtered.candidates] == [None, "turn-1-1", "turn-2-1"]


def test_another_word_is_no_reversal() -> None:
    """ "Step-a" and "step-b" are two matters: both are kept, and none is asked about."""
    filtered = filter_turns(
        said("We'll drop step-a of the nightly import job.", "We'll drop step-b of the nightly import job.")
    )
    assert {each.disposition for each in filtered.candidates} == {Disposition.KEPT}
    second = filtered.candidates[1]
    assert second.duplicate.of == "turn-1-1"
    assert second.reverses is None
    assert filtered.to_dict()["reversals"] == 0


def test_a_turn_that_is_told_in_parts_has_ids_of_its_own() -> None:
    """The same number again goes on counting; another begins anew."""
    turn_filter = TurnFilter()
    parts = [
        SpokenTurn(number=n, speaker="a", text=f"We'll use module {n}{t}.")
        for n, t in ((7, "a"), (7, "b"), (8, "c"))
    ]
    ids = [each.id for part in parts for each in turn_filter.take(part)]
    assert ids == ["turn-7-1", "turn-7-2", "turn-8-1"]
    assert [turn_of(name) for name in ids] == [7, 7, 8]


def test_memory_is_bounded() -> None:
    """Of what was kept the latest 256 are compared with; the same turn is read once."""
    turn_filter = TurnFilter()
    names = ["".join(chr(97 + int(digit)) * 3 for digit in str(number)) for number in range(300)]
    for number, name in enumerate(names, start=1):
        turn_filter.take(SpokenTurn(number=number, speaker="a", text=f"We'll use {name}."))
    (late,) = turn_filter.take(SpokenTurn(number=400, speaker="a", text=f"We'll use {names[-1]}."))
    (early,) = turn_filter.take(SpokenTurn(number=401, speaker="a", text=f"We'll use {names[0]}."))
    assert (late.disposition, early.disposition) == (Disposition.DUPLICATE, Disposition.KEPT)
    assert late.duplicate.compared == 256


def test_of_a_very_long_turn_the_beginning_is_read() -> None:
    """What stands behind 20,000 characters is data."""
    choice = "We'll use SQLite for the log, it needs no server."
    assert dispositions(filter_turns(said("x" * 19_000 + "\n\n" + choice))) == [(1, Disposition.KEPT)]
    assert dispositions(filter_turns(said("x" * 20_000 + "\n\n" + choice))) == []


TURNS = st.lists(
    st.tuples(
        st.sampled_from(
            [*(text for text, _ in CHOICES), *NEXT_STEPS, "Let me look.", "We'll not use SQLite for the log."]
        ),
        st.one_of(st.none(), st.floats(0, 1_000)),
    ),
    max_size=8,
).map(
    lambda parts: [
        SpokenTurn(number=number, speaker="a", text=text, ts=ts)
        for number, (text, ts) in enumerate(parts, start=1)
    ]
)


@given(TURNS)
def test_a_conversation_is_the_fold_of_its_turns(turns: list[SpokenTurn]) -> None:
    """Turn by turn or at once, the same comes out."""
    turn_filter = TurnFilter()
    candidates = [each for turn in turns for each in turn_filter.take(turn)]
    filtered = filter_turns(turns)
    assert filtered.candidates == tuple(candidates)
    assert filtered.turns == turn_filter.turns == len(turns)


def test_the_profile_judges() -> None:
    """The spec's letter refuses sentences that open like chat."""
    text = "I'll use a queue instead of polling, it is there already."
    assert dispositions(filter_turns(said(text))) == [(1, Disposition.KEPT)]
    assert dispositions(filter_turns(said(text), Profile.SPEC)) == [(1, Disposition.REFUSED)]


def test_the_wire_form_is_json() -> None:
    """With counts, places and reasons."""
    wire = filter_turns(said("We'll use SQLite for the log.", "Let's use grep to see where it is.")).to_dict()
    assert json.loads(json.dumps(wire, allow_nan=False)) == wire
    assert wire["counts"] == {"kept": 1, "refused": 1, "duplicate": 0, "proposed": 0}
    assert [each["rule"] for each in wire["candidates"]] == [None, "step.to-look"]


@given(st.lists(st.text(max_size=80), max_size=5))
def test_every_candidate_stands_in_its_turn(texts: list[str]) -> None:
    """Whatever is said, places are places of the turn, and ids are there once."""
    filtered = filter_turns(said(*texts))
    assert len({each.id for each in filtered.candidates}) == len(filtered.candidates)
    for each in filtered.candidates:
        assert 0 <= each.sentence.start < each.sentence.end <= len(each.turn.text)


def test_thoughts_of_question_answering_decide_nothing(data: Path) -> None:
    """1,867 thoughts of agents that only look things up give no decision."""
    import gzip

    with gzip.open(data / "loops" / "hotpotqa_react_base.jsonl.gz", "rt") as lines:
        thoughts = [step.get("thought") for line in lines for step in json.loads(line)["steps"]]
    filtered = filter_turns(said(*(thought for thought in thoughts if thought)))
    assert filtered.turns > 1_800
    assert len(filtered.having(Disposition.KEPT)) <= 2


def test_what_is_left_out_of_a_turn_is_counted() -> None:
    """A turn with a hundred choices, or one that is very long, says that it was not read whole."""
    choices = " ".join(f"I decided to keep option a{number} instead of b{number}." for number in range(100))
    filtered = filter_turns(said(choices, "We'll use SQLite." + " x" * 10_000))
    assert (filtered.left_out, filtered.cut) == (68, 1)
    assert (filtered.to_dict()["left_out"], filtered.to_dict()["cut"]) == (68, 1)


def test_alike_choices_are_compared_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among hundreds of alike decisions a new one is read beside the sixteen that are most similar."""
    rows = [Earlier(id=str(n), text=f"Keep option a{n} instead of option b{n}", ts=0.0) for n in range(200)]
    calls: list[str] = []

    def counted(here: str, there: str) -> Difference | None:
        calls.append(there)
        return find_contrast(here, there)

    monkeypatch.setattr("ebbtide.decisions.repeats.duplicates.find_contrast", counted)
    verdict = find_duplicate("Keep option a777 instead of option b777", rows, ts=1.0)
    assert len(calls) <= 16
    assert verdict.truncated
    again = find_duplicate("keep option a199 instead of option b199.", rows, ts=1.0)
    assert (again.is_duplicate, again.of) == (True, "199")
