"""The contrast guard: what makes two alike texts different, and what does not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.contrast.guard import Contrast, ContrastKind, contrast
from ebbtide.text.contrast.quantities import quantity_at
from ebbtide.text.normal_form import normal_form

PAIRS = json.loads(Path(__file__).with_name("contrast_pairs.json").read_text(encoding="utf-8"))
TEXTS = [row[side] for part in PAIRS.values() for row in part for side in "ab"]
NOT_SEEN = {
    "Class B inherits from class A in this module": "one-letter names: A is read as the article",
    "Exports outgrew imports last year": "a verb that no list has",
    "The server trusts the client certificate": "a verb that no list has",
    "The tests failed because the mock was outdated": "because and although",
    "Only the owner may close the ticket": "only X and anyone but X",
}
WRONGLY_SEEN = {
    "The rate limiter is not the problem": "X is not Y and Y is not X",
    "Deploys on Friday are not allowed": "a noun that is also the verb",
    "Tom sent the report to Ann": "two views of one event",
}


def pairs(*, reversals, limits):
    """The pairs of one sort; what the guard is known to get wrong must fail, so that the list stays true."""
    rows = [row for part in PAIRS.values() for row in part if bool(row["kind"]) is reversals]
    marks = {a: pytest.mark.xfail(strict=True, reason=reason) for a, reason in limits.items()}
    return [pytest.param(row["a"], row["b"], marks=marks.get(row["a"], ())) for row in rows]


WORDS = """
not no never without unless neither nor enable disable cache retries redis memcached 3 30 three s seconds
instead of rather than before after from to depends on calls is by and or but , . the all none keep stop
using use faster slower on off turn only first last whether less avoid fails
""".split()
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


@pytest.mark.parametrize(("a", "b"), pairs(reversals=True, limits=NOT_SEEN))
def test_reversals_are_seen(a, b):
    """A number, a negation, an antonym or an exchange makes texts different, in their normal form as well."""
    assert contrast(a, b) is not None
    assert contrast(normal_form(a), normal_form(b)) is not None


@pytest.mark.parametrize(("a", "b"), pairs(reversals=False, limits=WRONGLY_SEEN))
def test_rewordings_pass(a, b):
    """The same thing in other words is no contrast, nor is a detail more."""
    assert contrast(a, b) is None


@pytest.mark.parametrize(
    ("a", "b", "kind", "left", "right"),
    [
        ("Wait 30 s", "Wait 300 s", ContrastKind.NUMBER, "30 s", "300 s"),
        ("Deploy today", "Do not deploy today", ContrastKind.NEGATION, "deploy", "not deploy"),
        ("Enable retries", "Disable retries", ContrastKind.ANTONYM, "enable", "disable"),
        ("Scale the pool up", "Scale the pool down", ContrastKind.ANTONYM, "up", "down"),
        (
            "Use Redis instead of Memcached",
            "Use Memcached instead of Redis",
            ContrastKind.SIDES,
            "redis \u2026 memcached",
            "memcached \u2026 redis",
        ),
        (
            "Enable retries and disable the cache",
            "Disable retries and enable the cache",
            ContrastKind.ANTONYM,
            "cache \u2026 disable",
            "cache \u2026 enable",
        ),
    ],
)
def test_evidence(a, b, kind, left, right):
    """The answer names what differs, in the words of each text."""
    assert contrast(a, b) == Contrast(kind=kind, left=left, right=right)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1,000", "1k", True),
        ("twenty five percent", "25 %", True),
        ("0.5", ".5", True),
        ("50 %", "0.5", True),
        ("1 h", "60 min", True),
        ("30 s", "30", True),
        ("30 s", "30 ms", False),
        ("1.5 GB", "1500 MB", True),
        ("two dozen", "24", True),
        ("a hundred", "100", True),
        ("12 months", "1 year", True),
        ("-5", "5", False),
        ("1e-3", "0.001", True),
        ("v1.10.2", "v1.2.10", False),
        ("10:30", "10:45", False),
        ("2024-05-01", "2024-05-02", False),
        ("utf-8", "utf-16", False),
        ("utf-8", "sha-256", True),
        ("5 s", "5 GB", True),
        ("10-20 rows", "10 to 20 rows", True),
        ("the second row", "the 2nd row", True),
        ("the second row", "the third row", False),
        ("one of them", "2 of them", True),
        ("one row", "2 rows", False),
        ("test_1.py", "test_2.py", True),
        ("\u91cd\u8bd53\u6b21", "\u91cd\u8bd55\u6b21", False),
    ],
)
def test_numbers_compare_by_value(one, other, same):
    """A number is its value and unit, not its spelling; only one kind is compared; names are none."""
    found = contrast(f"wait for {one} here", f"wait for {other} here")
    assert (found is None) is same
    assert found is None or found.kind is ContrastKind.NUMBER


def test_a_number_takes_its_unit_with_it():
    """A spelled number, its scale and its unit are one number."""
    quantity, taken = quantity_at(["two", "thousand", "ms", "later"], 0)
    assert quantity is not None
    assert (quantity.dimension, quantity.amount, taken) == ("time", 2.0, 3)


NUMBERED = st.lists(
    st.sampled_from(
        ["step", "use", "3", "4", "three", "v4", "5 s", "2 000", "1e9", "12345678901", "12345678902"]
    )
).map(" ".join)


@given(st.one_of(SENTENCES, NUMBERED, st.text()), st.one_of(SENTENCES, NUMBERED, st.text()))
def test_symmetric(a, b):
    """The order of the two texts exchanges the evidence and nothing else."""
    there, back = contrast(a, b), contrast(b, a)
    if there is None or back is None:
        assert there is back
    else:
        assert (there.kind, there.left, there.right) == (back.kind, back.right, back.left)


@given(st.one_of(SENTENCES, st.text()))
def test_a_text_does_not_contradict_itself(text):
    """A text is what it is, written with other spaces as well."""
    assert contrast(text, text) is None
    assert contrast(text, f" {text.replace(' ', '  ')} ") is None


@given(st.sampled_from(TEXTS), st.sampled_from(["kindly", "with care", "(see the log)"]))
def test_a_detail_more_is_no_contrast(text, detail):
    """Words that say nothing against a text do not make it another one."""
    assert contrast(text, f"{text} {detail}") is None


def test_long_words_are_data():
    """A word as long as a file is not taken apart."""
    assert contrast("1..1" * 50_000, "1..2" * 50_000) is None


@pytest.mark.parametrize("word", ["before ", "not ", "no x ", "x, and ", "instead of 3 x ", "turn on off "])
def test_endless_repetition_takes_no_endless_time(word):
    """The cost of a text grows with its length, not with its square."""
    assert contrast(word * 5_000, word * 5_000 + "y") is None


def test_the_same_answer_in_every_process():
    """Nothing depends on the order of sets, which differs from process to process."""
    program = """
from ebbtide.text.contrast.guard import contrast
print(contrast("Keep old, slow, unsafe rules on 3 or 4 hosts", "Drop new, fast, safe rules on 5 or 6 hosts"))
print(contrast("Keep old, slow, unsafe rules", "Keep new, fast, safe rules"))
"""
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1
