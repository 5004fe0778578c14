"""Who holds what, circle by circle, and what that says to do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.cli.rounds.score import report_lines
from ebbtide.convergence.consensus import ConsensusMeter, ConsensusReading
from ebbtide.convergence.consensus_signal import consensus_signal
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.profile.convergence import ConsensusRules

RULES = Profile.DEFAULT.consensus
TWO_CIRCLES = ConsensusRules(counts=True, at_once_from=0)


def hear(
    turns: Iterable[tuple[str, str]], meter: ConsensusMeter | None = None
) -> list[ConsensusReading | None]:
    meter = meter or ConsensusMeter()
    return [
        meter.update(Round.from_text(text, number=number, agent=agent))
        for number, (agent, text) in enumerate(turns, start=1)
    ]


def circles(rows: Iterable[tuple[str, ...]]) -> list[ConsensusReading | None]:
    meter = ConsensusMeter()
    return [meter.update(Round(number=n, claims=row)) for n, row in enumerate(rows, start=1)]


def holders(reading: ConsensusReading | None) -> dict[str, str] | None:
    if reading is None:
        return None
    return {position.answer: "".join(agent[0] for agent in position.agents) for position in reading.positions}


def turns(text: str) -> list[tuple[str, str]]:
    """ "a 80, b 75" as turns of a and b."""
    return [(part.split()[0], " ".join(part.split()[1:])) for part in text.split(",")]


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        # The first circle is full when somebody speaks again; later ones when everybody has spoken.
        ("a 80, b 75, c 80, a 80, b 80, c 80", [None] * 3 + [{"80": "ac", "75": "b"}, None, {"80": "abc"}]),
        # Somebody joins late.
        ("a 80, b 80, a 80, c 75, b 80", [None, None, {"80": "ab"}, None, {"80": "ab", "75": "c"}]),
        # Somebody passes by silence: the answer stands.
        ("a 80, b 75, c 80, a 80, b 80, a 80", [None] * 3 + [{"80": "ac", "75": "b"}, None, {"80": "abc"}]),
        # Somebody passes in words: the answer stands as well.
        ("a 80, b 80, a pass, b 80", [None, None, {"80": "ab"}, {"80": "ab"}]),
        # One who speaks again may take agreement back, and not make it.
        ("a 80, b 80, c 80, a 75", [None] * 3 + [{"80": "bc", "75": "a"}]),
        ("a 75, b 80, c 80, a 80", [None] * 3 + [{"80": "bc", "75": "a"}]),
        # Alone, or without answers, nothing is known.
        ("a 80, a 80, a 80", [None] * 3),
        ("a hello there, b hello there, a hello there, b hello there", [None] * 4),
        # A person is no party.
        ("user 75, a 80, b 80, user 75, a 80", [None] * 4 + [{"80": "ab"}]),
    ],
)
def test_circles_are_found_as_the_turns_come(talk: str, expected: list[dict[str, str] | None]) -> None:
    assert [holders(reading) for reading in hear(turns(talk))] == expected


def test_who_passes_two_circles_has_left() -> None:
    readings = hear(turns("a 80, b 80, c 75, a 80, b 80, a 80, b 80, a 80, b 80"))
    assert holders(readings[3]) == {"80": "ab", "75": "c"}
    assert holders(readings[-1]) == {"80": "ab"}


def test_a_speaker_without_an_answer_is_in_the_way_once_and_no_party_later() -> None:
    readings = [reading for reading in hear(turns("m go, a 80, b 80, m go, a 80, b 80")) if reading]
    assert [(reading.silent, reading.unanimous) for reading in readings] == [(("m",), False), ((), True)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("80", "80", "75")], [("consensus.majority", 0.666667, None, 0, 1)]),
        ([("80", "80")], [("consensus.unanimous", 1.0, None, 1, 0)]),
        (
            [("80", "80"), ("80", "80"), ("75", "75")],
            [
                ("consensus.unanimous", 1.0, None, 1, 0),
                ("consensus.unanimous-unchanged", 1.0, True, 2, 0),
                ("consensus.unanimous", 1.0, False, 1, 0),
            ],
        ),
        (
            [("80", "75"), ("80", "75"), ("75", "80")],
            [
                ("consensus.none", 0.5, None, 0, 1),
                ("consensus.apart-unchanged", 0.5, True, 0, 2),
                ("consensus.none", 0.5, False, 0, 1),
            ],
        ),
    ],
)
def test_a_reading_counts_circles(
    rows: list[tuple[str, ...]], expected: list[tuple[str, float, bool | None, int, int]]
) -> None:
    assert [
        (r.rule, r.majority, r.unchanged, r.unanimous_rounds, r.disagreement_rounds)
        for r in circles(rows)
        if r
    ] == expected


@pytest.mark.parametrize(
    "item",
    [
        Round(
            number=1,
            text="x",
            extra={
                "turns": [{"agent": "a", "text": "The answer is 80."}, {"agent": "b", "text": "I get 80."}]
            },
        ),
        Round(number=1, text="Ann: The answer is 80.\nBob: I get 80."),
        Round(number=1, claims=("80", "80"), extra={"agents": ["a", "b"]}),
    ],
    ids=["turns", "lines", "claims"],
)
def test_a_round_of_several_speakers_is_a_circle(item: Round) -> None:
    reading = ConsensusMeter().update(item)
    assert reading is not None
    assert {answer: names.lower() for answer, names in (holders(reading) or {}).items()} == {"80": "ab"}


@pytest.mark.parametrize("text", ["The answer is 80.", "Ann: The answer is 80.", "", "Note: hello\nBut: bye"])
def test_a_text_of_nobody_has_no_speakers(text: str) -> None:
    assert ConsensusMeter().update(Round(number=1, text=text)) is None


def test_claims_that_are_no_bare_answers_have_no_speakers() -> None:
    assert circles([("The cache is cold.", "80"), ("80",), ()]) == [None] * 3


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I agree with Ann.", {"80": "AB"}),
        ("I fully agree with your answer.", {"80": "AB"}),
        ("I agree with Ann, but not on 80.", None),
        ("I agree with Cid.", None),
        ("I disagree with Ann.", None),
    ],
)
def test_agreeing_with_somebody_takes_the_answer_over(reply: str, expected: dict[str, str] | None) -> None:
    readings = hear([("Ann", "The answer is 80."), ("Bob", reply), ("Ann", "80")])
    assert holders(readings[-1]) == expected


class OneMeaning:
    """An embedder to which every text means the same."""

    model = "one"

    def embed(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 1), dtype=np.float32)


def test_answers_in_other_words_are_one_by_meaning_and_never_against_the_contrast_guard() -> None:
    warm, early, never = (
        "The answer is to warm the cache before the day begins.",
        "The answer is that all entries get loaded early each morning.",
        "The answer is to warm no cache before the day begins.",
    )
    for other, unanimous in ((early, True), (never, False)):
        talk = [("ann", warm), ("bob", other), ("ann", warm)]
        with_meaning = hear(talk, ConsensusMeter(embedder=OneMeaning()))[-1]
        without = hear(talk)[-1]
        assert with_meaning is not None
        assert without is not None
        assert (with_meaning.unanimous, without.unanimous) == (unanimous, False)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The answer is to warm the cache at night.", "The answer is to warm the cache every night.", True),
        ("The answer is to enable the retries now.", "The answer is to disable the retries now.", False),
        ("The answer is 80.", "The answer is 81.", False),
        ("The answer is Paris.", "The answer is Rome.", False),
    ],
)
def test_answers_in_words_are_compared_by_words_and_contrast(one: str, other: str, *, same: bool) -> None:
    meter = ConsensusMeter(alike=Profile.DEFAULT.novelty)
    readings = hear([("ann", one), ("bob", other), ("ann", one)], meter)
    assert readings[-1] is not None
    assert readings[-1].unanimous is same


@pytest.mark.parametrize(
    ("rules", "rows", "expected"),
    [
        (RULES, [("80", "80", "80")], Signal.SHIP),
        (RULES, [("80", "80")], None),  # two may repeat each other
        (RULES, [("80", "80"), ("80", "80")], Signal.SHIP),
        (TWO_CIRCLES, [("80", "80", "80")], None),
        (TWO_CIRCLES, [("80", "80", "80"), ("80", "80", "80")], Signal.SHIP),
        (TWO_CIRCLES, [("80", "80", "80"), ("75", "75", "75")], None),
        (RULES, [("80", "80", "75")] * 2, None),
        (RULES, [("80", "80", "75")] * 3, Signal.ESCALATE),
        (RULES, [("80", "75"), ("75", "80")] * 2, Signal.ESCALATE),
        (RULES, [("80", "75"), ("75", "81"), ("81", "82")], None),
        (ConsensusRules(), [("80", "80", "80")] * 3, None),
    ],
)
def test_agreement_ships_and_standing_apart_escalates(
    rules: ConsensusRules, rows: list[tuple[str, ...]], expected: Signal | None
) -> None:
    reading = circles(rows)[-1]
    assert reading is not None
    signal = consensus_signal(reading, rules)
    assert (signal and signal.signal) == expected


def test_an_escalation_names_the_positions_and_their_reasons() -> None:
    talk = [
        ("Ann", "Each box holds ten because the label says so. The answer is 80."),
        ("Bob", "Two boxes are broken. The answer is 60."),
    ]
    reading = hear(talk * 4)[-1]
    assert reading is not None
    signal = consensus_signal(reading, RULES)
    assert signal is not None
    assert signal.signal is Signal.ESCALATE
    for words in ("Ann", "80", "Bob", "60", "because the label says so"):
        assert words in signal.rationale


def test_last_sentences_that_only_conclude_never_ship_at_once() -> None:
    talk = [(agent, "Therefore, the cache has to be warmed first.") for agent in "abc"]
    readings = hear(talk + talk[:1])
    assert readings[-1] is not None
    assert readings[-1].unanimous
    assert consensus_signal(readings[-1], RULES) is None


def test_the_meter_ships_what_all_answer_and_says_who_holds_it() -> None:
    meter = ConvergenceMeter()
    reading = meter.update(Round(number=1, claims=("80", "80", "80")))
    assert reading is not None
    assert (reading.recommendation.signal, reading.recommendation.rule) == (
        Signal.SHIP,
        "consensus.unanimous",
    )
    wire = meter.score().to_dict()
    assert wire["consensus"]["positions"][0]["agents"] == ["1", "2", "3"]
    json.dumps(wire)


def test_while_answers_differ_novelty_does_not_stop_it() -> None:
    rows = [("80", "75"), ("75", "80"), ("80", "81"), ("81", "80")]
    default, spec = ConvergenceMeter(), ConvergenceMeter(Profile.SPEC)
    signals = []
    for number, row in enumerate(rows, start=1):
        item = Round(number=number, claims=row)
        signals.append(
            [reading.recommendation.signal for m in (default, spec) if (reading := m.update(item))]
        )
    assert {first for first, _ in signals} == {Signal.CONTINUE}
    assert "consensus" not in spec.score().to_dict()


def test_nothing_ships_while_something_blocks_it() -> None:
    meter = ConvergenceMeter()
    item = Round(number=1, claims=("80", "80", "80"), next_actions=("Waiting on legal",))
    reading = meter.update(item)
    assert reading is not None
    assert reading.recommendation.signal is Signal.CONTINUE


_TURNS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["80", "75", "81", "hm", "B"])), max_size=24
)


@given(_TURNS, st.integers(0, 24))
def test_a_restart_at_any_turn_changes_nothing(talk: list[tuple[str, str]], cut: int) -> None:
    whole, first = ConsensusMeter(), ConsensusMeter()
    expected = hear(talk, whole)
    before = hear(talk[:cut], first)
    second = ConsensusMeter()
    second.restore(json.loads(json.dumps(first.to_state())))
    assert before + hear(talk[cut:], second) == expected
    assert second.to_state() == whole.to_state()


@given(_TURNS)
def test_unanimous_means_that_every_answer_is_one(talk: list[tuple[str, str]]) -> None:
    for reading in hear(talk):
        if reading is None:
            continue
        agents = [agent for position in reading.positions for agent in position.agents]
        assert len(agents) == len(set(agents)) >= 2
        assert reading.unanimous == (len(reading.positions) == 1 and not reading.silent)
        assert (reading.unanimous_rounds > 0) == reading.unanimous


def test_a_crowd_is_no_debate_and_takes_bounded_memory() -> None:
    meter = ConsensusMeter()
    hear([(f"agent {number}", "80") for number in range(500)], meter)
    assert len(json.dumps(meter.to_state())) < 50_000


def test_score_shows_who_holds_what() -> None:
    meter = ConvergenceMeter()
    for number, (agent, text) in enumerate([("Ann", "The answer is 80."), ("Bob", "I get 75.")] * 2, start=1):
        meter.update(Round.from_text(text, number=number, agent=agent))
    lines = report_lines("debate", meter.score(), Profile.DEFAULT.novelty, 100)
    shown = "\n".join(line.text for line in lines)
    assert "Who holds what, after circle 2: the most hold 50%, nobody changed it" in shown
    assert "80  Ann" in shown
    assert "75  Bob" in shown
