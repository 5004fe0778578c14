"""JSON text to values: what is read, and how everything else is refused."""

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import _tolerant, json_value

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)
# Texts made of what makes escapes: half surrogate pairs of both kinds, backslashes, and letters around them.
escapes = st.lists(
    st.sampled_from(
        [r"\ud83d", r"\ude00", r"\uD800", r"\uDFFF", r"\\", "ud83d", r"\n", r"\u0041", "x", "\U0001f600"]
    )
).map("".join)


# JSON of every shape and what is nearly JSON: tokens that one reader may take and another may not.
NUMBERS = """
    0 -0 -0.0 01 1. .5 +1 - 1.5 1E5 1e400 -1e400 1e-400 5e-324 2.2250738585072011e-308 1.7976931348623157e308
    1.7976931348623159e308 9007199254740993 9007199254740993.0 9223372036854775808 -9223372036854775809
    18446744073709551616 123456789012345678901234567890 0.1000000000000000055511151231257827 NaN Infinity
    -Infinity
""".split()
TEXTS = [
    r'"\ud800"',
    r'"\udc00\ud83d"',
    r'"\ud83d\ude00"',
    r'"\ud83dx"',
    r'"\u0000"',
    r'"\x"',
    '"a',
    '"\x01"',
]
OTHERS = ["null", "true", "tru", "//", ",", ":", "]", "}", '"\x7f\u2028"', "9" * 5_000]
tokens = (
    st.sampled_from(NUMBERS + TEXTS + OTHERS)
    | st.integers().map(str)
    | st.floats().map(repr)
    | st.text().map(json.dumps)
)
keys = st.sampled_from(['"a"', '"b"', '"\\ud800"', "a", '"a', ""])
spaces = st.sampled_from(["", " ", "\n\t\r ", "\x0b", "\ufeff"])
nearly = st.recursive(
    st.tuples(spaces, tokens, spaces).map("".join),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]")
        | st.lists(st.tuples(keys, inner), max_size=4).map(
            lambda items: "{" + ",".join(f"{key}:{value}" for key, value in items) + "}"
        )
    ),
)


def outcome(read: Callable[[], object]) -> str:
    """What came out, with its type, or why nothing did."""
    try:
        return repr(read())
    except TranscriptError as error:
        return str(error)


@settings(max_examples=300)
@given(nearly, st.integers(0, 40))
def test_the_quick_reader_and_the_tolerant_one_agree(text: str, cut: int) -> None:
    """Values, types and messages are the same, of whole texts and of such that were cut off."""
    for said in (text, text[:-cut]):
        expected = outcome(lambda said=said: _tolerant(said, 1))
        assert outcome(lambda said=said: json_value(said)) == expected
        assert outcome(lambda said=said: json_value(said.encode())) == expected


@given(st.binary(max_size=12))
def test_bytes_are_read_as_their_text(data: bytes) -> None:
    """What is no UTF-8 is told as such, inside a text and outside."""
    for said in (data, b'{"a": "' + data + b'"}'):
        try:
            text = said.decode()
        except UnicodeDecodeError:
            with pytest.raises(UnicodeDecodeError):
                json_value(said)
        else:
            assert outcome(lambda said=said: json_value(said)) == outcome(
                lambda text=text: _tolerant(text, 1)
            )


@pytest.mark.parametrize("depth", [1, 400, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_is_bounded_alike(opening: str, depth: int) -> None:
    """What one reader refuses as too deep, the other does too."""
    text = opening * depth + "1" + ("]" if opening == "[" else "}") * depth
    found = outcome(lambda: json_value(text))
    assert found == outcome(lambda: _tolerant(text, 1))
    assert ("too deeply" in found) == (depth > 400)


@given(values, st.booleans())
def test_json_is_read_as_written(value: object, ascii_only: bool) -> None:
    """Every JSON value comes back from its text, in ASCII with escaped pairs too."""
    assert json_value(json.dumps(value, ensure_ascii=ascii_only)) == value


@given(escapes)
def test_half_surrogate_pairs_become_the_replacement_character(escaped: str) -> None:
    """What comes out can be encoded, and differs from what stands there only in half pairs."""
    text = json_value(f'{{"{escaped}": "{escaped}"}}')[json_value(f'"{escaped}"')]
    text.encode()
    plain = json.loads(f'"{escaped}"')
    assert text == plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NaN", None),
        ("[Infinity, -Infinity]", [None, None]),
        ("[1e999, -1e999, 1e-999]", [None, None, 0.0]),
        ("9" * 5000, None),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ('{"a": 1, "b": 2, "a": 3}', {"a": 3, "b": 2}),
    ],
)
def test_what_json_leaves_open(text: str, value: object) -> None:
    """Numbers that nobody can hold are unknown; of a key that stands twice the last value counts."""
    assert json_value(text) == value


@given(st.floats())
def test_no_number_is_infinite(value: float) -> None:
    """Whatever Python writes for a float is read as a finite number or as unknown."""
    read = json_value(json.dumps(value))
    assert read == value if math.isfinite(value) else read is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": 1, b}', 7, "not JSON: Expecting property name enclosed in double quotes, column 10"),
        ('{"a": 1,\n "b" 2}', 8, "not JSON: Expecting ':' delimiter, column 6"),
        ("", 7, "not JSON: Expecting value, column 1"),
        ("{} {}", 7, "not JSON: Extra data, column 4"),
        ('"a\tb"', 7, "not JSON: Invalid control character at, column 3"),
        ('"\\ud8"', 7, "not JSON: Invalid \\uXXXX escape, column 3"),
        ("[" * 100_000, 7, "nested too deeply to be read"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, 7, "nested too deeply to be read"),
    ],
    ids=range(8),
)
def test_what_is_not_json_is_refused_with_its_place(text: str, line: int, message: str) -> None:
    """The line counts from the first line given, the column from 1."""
    with pytest.raises(TranscriptError) as caught:
        json_value(text, first_line=7)
    assert (caught.value.line, caught.value.what) == (line, message)


@given(st.text() | st.text(alphabet='[]{}",:\\u0ad1e+-.NIt '))
def test_any_text_is_read_or_refused(text: str) -> None:
    """What comes out of any text can be written as JSON again, or is a TranscriptError."""
    try:
        value = json_value(text)
    except TranscriptError:
        return
    assert json_value(json.dumps(value)) == value
