"""Stems: what is the same word, what is not, and what a token may lose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.normal_form import normal_form
from ebbtide.text.stems import _IRREGULAR, stem, stem_tokens

SAME = """
cache caches cached caching
query queries queried querying
decide decides decided deciding
run runs running ran
test tests tested testing
use uses used using
hop hops hopped hopping
hope hopes hoped hoping
plan plans planned planning
add adds added adding
commit commits committed committing
control controls controlled controlling
call calls called calling
visit visits visited visiting
create creates created creating
queue queues queued queuing queueing
process processes processed processing
access accesses accessed accessing
status statuses
bus buses
box boxes
branch branches
index indexes indices
cookie cookies
hero heroes
analysis analyses
api apis
agree agrees agreed agreeing
need needs needed needing
die dies died dying
quote quotes quoted quoting
type types typed typing
paste pastes pasted pasting
embed embeds embedded embedding
write writes wrote written writing
be is are was were been being
child children
"""
APART = [
    ("news", "new"),
    ("universe", "university"),
    ("access", "acces"),
    ("hop", "hope"),
    ("plan", "plane"),
    ("quit", "quite"),
    ("local", "locale"),
    ("past", "paste"),
    ("unit", "united"),
    ("even", "evening"),
    ("http", "https"),
    ("bus", "buse"),
    ("organ", "organize"),
    ("general", "generate"),
    ("us", "use"),
]


@pytest.mark.clause("B01")
@pytest.mark.parametrize("words", SAME.strip().splitlines())
def test_inflection_is_folded(words):
    """All forms of a word have one stem."""
    assert len(set(map(stem, words.split()))) == 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_words_stay_apart(one, other):
    """Words that only look related keep different stems."""
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    "word",
    ["news", "process", "status", "bus", "analysis", "string", "thing", "less", "this", "embed", "k8s"],
)
def test_whole_words_stay_whole(word):
    """A word that has no ending loses nothing."""
    assert stem(word) == word


@pytest.mark.parametrize(
    "word",
    ["test_runs", "tests/runs.py", "README", "v1.2", "c++", "\u00fcberpr\u00fcfungen", "x" * 31 + "s", ""],
)
def test_names_are_left_alone(word):
    """Identifiers, paths, other alphabets and blobs are not English words."""
    assert stem(word) == word


@pytest.mark.clause("B01")
def test_running_tests_is_run_tests():
    """The example of the spec: different words, the same tokens."""
    assert stem_tokens("running tests") == stem_tokens("run tests") == {"run", "test"}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('(the "cache", again)', {"the", "cach", "again"}),
        ("c++ c# .net -5 50% v1.2 $3 #90", {"c++", "c#", ".net", "-5", "50%", "v1.2", "$3", "#90"}),
        ("foo() `code` **bold** ...and", {"foo", "code", "bold", "and"}),
        ("../lib/x.py ./run.sh --force __init__", {"../lib/x.py", "./run.sh", "--force", "__init__"}),
        ("a - b \u2014 c \u2022 d , ...", {"a", "b", "c", "d"}),
        ("== <= \U0001f44d", {"==", "<=", "\U0001f44d"}),
        ("the user's the users' it\u2019s", {"the", "user", "it"}),
        ("don't can't won\u2019t", {"do", "not", "can", "will"}),
        ("cannot dont", {"can", "not", "do"}),
        ("o'clock", {"o'clock"}),
        ("", set()),
    ],
)
def test_edges_and_contractions(text, tokens):
    """Punctuation goes where it only surrounds a word, and a contracted negation stays a negation."""
    assert stem_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("\u91cd\u8bd5\u8bf7\u6c42", {"\u91cd\u8bd5", "\u8bd5\u8bf7", "\u8bf7\u6c42"}),
        ("\u4f7f\u7528redis\u7f13\u5b58\u3002", {"\u4f7f\u7528", "redis", "\u7f13\u5b58"}),
        ("\u597d", {"\u597d"}),
        ("\u30c6\u30b9\u30c8", {"\u30c6\u30b9", "\u30b9\u30c8"}),
    ],
)
def test_scripts_without_spaces(text, tokens):
    """Text in a script without spaces is compared by pairs of neighbouring characters."""
    assert stem_tokens(text) == tokens


@given(st.text())
def test_any_text_has_tokens_without_white_space(text):
    """Whatever the text, tokens are not empty and hold no white space."""
    for token in stem_tokens(normal_form(text)):
        assert token
        assert not any(sign.isspace() for sign in token)


@given(st.from_regex("[a-z]{1,12}", fullmatch=True))
def test_a_plain_plural_has_the_stem_of_its_singular(word):
    """A regular plural in -s never leaves its word, whatever the letters; past forms ("met") have none."""
    if (
        word not in _IRREGULAR
        and word[-1] in "bcdfghjklmnpqrtvwz"
        and len(word) > 2
        and not word.endswith(("ed", "ing"))
    ):
        assert stem(f"{word}s") == stem(word)
