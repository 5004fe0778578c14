"""The transcript format 0.1 in memory, and its JSON Schema."""

import copy
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round, RoundOrder, Transcript

LISTS = ("claims", "decisions", "open_questions", "next_actions")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
optional_texts = st.none() | st.text()
texts = st.lists(st.text(), max_size=4)
others = st.dictionaries(st.sampled_from(["inputs", "telemetry", "mood", "type"]), json_values)


def objects(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda fields, more: more | fields, st.fixed_dictionaries(required, optional=optional), others
    )


outputs = objects(
    {"claims": texts}, {key: texts | st.none() for key in LISTS[1:]} | {"summary": optional_texts}
)
rounds = objects({"outputs": outputs}, {"agent": optional_texts, "text": optional_texts})


@st.composite
def transcripts(draw: st.DrawFn) -> dict[str, Any]:
    """A valid wire form, its rounds in any order."""
    bodies = draw(st.lists(rounds, min_size=1, max_size=4))
    numbered = [body | {"round": number} for number, body in enumerate(bodies, start=1)]
    header = draw(
        objects({}, {"conversation_id": optional_texts, "topic": optional_texts, "version": st.just("0.1")})
    )
    return header | {"rounds": draw(st.permutations(numbered))}


def places(value: object) -> Iterator[tuple[Any, Any]]:
    """Each container inside a JSON value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@st.composite
def near_misses(draw: st.DrawFn) -> object:
    """A valid wire form with one to three places replaced, removed, doubled or renamed."""
    wire = copy.deepcopy(draw(transcripts()))
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(places(wire)) or [([wire], 0)]))
        action = draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        if action == "replace":
            container[key] = draw(json_values)
        elif action == "remove":
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[draw(st.sampled_from(["Claims", "round", "extra"]))] = container.pop(key)
    return wire


def read(wire: object) -> Transcript | TranscriptError:
    try:
        return Transcript.from_dict(wire)
    except TranscriptError as error:
        return error


def told(wire: dict[str, Any]) -> dict[str, Any]:
    """What an object of the wire form says, without what it leaves open."""
    return {key: value for key, value in wire.items() if value not in (None, [])}


@given(transcripts())
def test_wire_form_comes_back(wire: dict[str, Any]) -> None:
    """Whatever is valid is read, written and read again as the same; the input is left as it was."""
    before = copy.deepcopy(wire)
    transcript = Transcript.from_dict(wire)
    assert Transcript.from_dict(transcript.to_dict()) == transcript
    assert Transcript.from_dict(json.loads(json.dumps(transcript.to_dict()))) == transcript
    assert wire == before


@given(transcripts())
def test_nothing_is_lost(wire: dict[str, Any]) -> None:
    """Every key comes back with its value, known or not, in the transcript, its rounds and their outputs."""
    wire_again = Transcript.from_dict(wire).to_dict()
    assert told(wire | {"rounds": 0}).items() <= (wire_again | {"rounds": 0}).items()
    for item in wire["rounds"]:
        again = wire_again["rounds"][item["round"] - 1]
        assert told(item | {"outputs": 0}).items() <= (again | {"outputs": 0}).items()
        assert told(item["outputs"]).items() <= again["outputs"].items()


@given(near_misses() | json_values)
def test_anything_is_read_or_refused(wire: object) -> None:
    """Any JSON value gives a transcript, which comes back from its wire form, or a TranscriptError."""
    result = read(wire)
    if isinstance(result, Transcript):
        assert Transcript.from_dict(result.to_dict()) == result
        assert [item.number for item in result.rounds] == list(range(1, len(result.rounds) + 1))
    else:
        assert str(result)


def schema() -> dict[str, Any]:
    """The JSON Schema as the installed package carries it."""
    text = resources.files("ebbtide.events").joinpath("transcript.schema.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(document)
    return document


VALIDATOR = jsonschema.Draft202012Validator(schema())
#: What a schema cannot say: round numbers that repeat, or leave a gap.
BEYOND_THE_SCHEMA = ("appears twice", "is missing")


@given(near_misses() | transcripts() | json_values)
def test_schema_and_reader_agree(wire: object) -> None:
    """The schema accepts exactly what the reader accepts, but for repeated and missing round numbers."""
    result = read(wire)
    if isinstance(result, TranscriptError) and any(phrase in result.what for phrase in BEYOND_THE_SCHEMA):
        assert VALIDATOR.is_valid(wire)
    else:
        assert VALIDATOR.is_valid(wire) == isinstance(result, Transcript)


VALID = {
    "version": "0.1",
    "conversation_id": "cache",
    "rounds": [
        {
            "round": 1,
            "agent": "ann",
            "outputs": {"claims": ["The cache is cold."], "open_questions": ["Why?"]},
        },
        {"round": 2, "agent": "bob", "outputs": {"claims": [], "next_actions": ["Warm it."]}},
    ],
}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((), [], "expected a transcript object, found a list"),
        ((), None, "expected a transcript object, found nothing"),
        (("version",), "1.0", "version: version '1.0' is not known. Expected '0.1'."),
        (("version",), 0.1, "version: expected a text, found a number 0.1"),
        (("version",), None, "version: version null is not known. Expected '0.1'."),
        (("topic",), 7, "topic: expected a text, found a number 7"),
        (("conversation_id",), ["x"], "conversation_id: expected a text, found a list"),
        (("rounds",), {}, "rounds: expected a list of rounds, found an object"),
        (("rounds",), None, "rounds: expected a list of rounds, found nothing"),
        (("rounds",), [], "rounds: there are no rounds. A transcript has at least one round."),
        (("rounds", 1), "two", "rounds[1]: expected an object, found a text 'two'"),
        (("rounds", 1, "round"), 0, "rounds[1].round: expected a whole number, 1 or more, found a number 0"),
        (
            ("rounds", 1, "round"),
            1.5,
            "rounds[1].round: expected a whole number, 1 or more, found a number 1.5",
        ),
        (
            ("rounds", 1, "round"),
            True,
            "rounds[1].round: expected a whole number, 1 or more, found true/false True",
        ),
        (
            ("rounds", 1, "round"),
            "2",
            "rounds[1].round: expected a whole number, 1 or more, found a text '2'",
        ),
        (("rounds", 1, "round"), 1, "rounds[1].round: round 1 appears twice"),
        (
            ("rounds", 1, "round"),
            4,
            (
                "rounds[1].round: round 4 is there, but round 2 is missing. "
                "Number the rounds 1, 2, 3, ... without gaps."
            ),
        ),
        (("rounds", 1, "agent"), {"name": "bob"}, "rounds[1].agent: expected a text, found an object"),
        (("rounds", 1, "outputs"), ["x"], "rounds[1].outputs: expected an object, found a list"),
        (
            ("rounds", 1, "outputs"),
            {"Claims": ["The cache is cold."]},
            "rounds[1].outputs.claims: the round has no claims. Write [] for a round that states nothing.",
        ),
        (
            ("rounds", 1, "outputs", "claims"),
            "Warm it.",
            "rounds[1].outputs.claims: expected a list of texts, found a text 'Warm it.'",
        ),
        (
            ("rounds", 1, "outputs", "claims"),
            ["Warm it.", 3],
            "rounds[1].outputs.claims[1]: expected a text, found a number 3",
        ),
        (
            ("rounds", 1, "outputs", "decisions"),
            [None],
            "rounds[1].outputs.decisions[0]: expected a text, found nothing",
        ),
        (
            ("rounds", 1, "outputs", "summary"),
            False,
            "rounds[1].outputs.summary: expected a text, found true/false False",
        ),
        (("rounds", 1, "text"), "x" * 100, None),
        (("rounds", 1, "agent"), list("x" * 100), "rounds[1].agent: expected a text, found a list"),
        (
            ("rounds", 1, "outputs"),
            "x" * 100,
            f"rounds[1].outputs: expected an object, found a text '{'x' * 58}\u2026",
        ),
    ],
)
def test_wrong_shape_names_the_place(
    place: tuple[str | int, ...], value: object, message: str | None
) -> None:
    """One wrong value gives an error with its path, what was expected and what was found."""
    wire: Any = [copy.deepcopy(VALID)]
    target = wire
    for key in (0, *place)[:-1]:
        target = target[key]
    target[(0, *place)[-1]] = value
    result = read(wire[0])
    assert (str(result) if isinstance(result, TranscriptError) else None) == message


@pytest.mark.parametrize(
    ("key", "hint"), [("round", "Number the rounds"), ("outputs", "Raw text is read as")]
)
def test_missing_keys_say_what_to_do(key: str, hint: str) -> None:
    """A round without its number or its outputs is refused with its path and a hint."""
    wire = copy.deepcopy(VALID)
    del wire["rounds"][1][key]
    result = read(wire)
    assert isinstance(result, TranscriptError)
    assert result.path == f"rounds[1].{key}"
    assert result.hint
    assert result.hint.startswith(hint)


@pytest.mark.parametrize("sign", [-1, 1])
def test_numbers_too_long_to_print_are_refused(sign: int) -> None:
    """A number that Python would not write out is refused like any other, with its size."""
    wire = copy.deepcopy(VALID) | {"rounds": [{"round": sign * 10**5000, "outputs": {"claims": []}}]}
    assert "of 16610 bits" in str(read(wire))


def test_whole_numbers_need_no_int() -> None:
    """JSON has one kind of number, so round 2.0 is round 2."""
    assert Round.from_dict({"round": 2.0, "outputs": {"claims": []}}).number == 2


@given(st.permutations(range(1, 9)))
def test_rounds_come_in_the_order_of_their_numbers(numbers: list[int]) -> None:
    """Whatever the order they arrive in, each round comes out once, in order, as early as that allows."""
    order = RoundOrder()
    out: list[int] = []
    for count, number in enumerate(numbers, start=1):
        out += [item.number for item in order.add(Round(number=number))]
        arrived = set(numbers[:count])
        assert out == list(range(1, next(n for n in range(1, 10) if n not in arrived)))
    order.finish()


def test_order_refuses_a_gap_and_a_repeat() -> None:
    """A number that was there, given out or still waiting, is refused, and so is an end with a gap."""
    order = RoundOrder()
    assert order.add(Round(number=2)) == ()
    with pytest.raises(TranscriptError, match="round 2 appears twice"):
        order.add(Round(number=2))
    with pytest.raises(TranscriptError, match="round 2 is there, but round 1 is missing"):
        order.finish()
    assert [item.number for item in order.add(Round(number=1))] == [1, 2]
    with pytest.raises(TranscriptError, match="round 1 appears twice"):
        order.add(Round(number=1))
    order.finish()


@pytest.mark.clause("B06")
def test_raw_text_becomes_a_round() -> None:
    """A round made of raw text has what the extraction finds in it, and keeps the text."""
    text = (
        "The cache is cold after a restart. Should we warm it first?\n\n"
        "Next steps:\n- Add a warm-up job to deploy.yml."
    )
    item = Round.from_text(text, number=3, agent="ann")
    assert (item.number, item.agent, item.text) == (3, "ann", text)
    assert "The cache is cold after a restart." in item.claims
    assert item.open_questions == ("Should we warm it first?",)
    assert item.next_actions == ("Add a warm-up job to deploy.yml.",)
