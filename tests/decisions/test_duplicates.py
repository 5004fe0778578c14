"""Duplicates: what repeats an earlier decision, what only looks like it, and why."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ebbtide.codec import to_wire
from ebbtide.decisions.repeats.compared_text import fingerprint, read_text
from ebbtide.decisions.repeats.differences import find_contrast, find_difference
from ebbtide.decisions.repeats.duplicate_verdict import Measure, Repeat, Sureness
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.errors import ConfigError
from ebbtide.profile.convergence import TokenForm
from ebbtide.profile.duplicates import DuplicateRules
from ebbtide.text.jaccard_index import jaccard
from ebbtide.text.normal_form import normal_form

SPEC, DEFAULT = DuplicateRules.SPEC, DuplicateRules.DEFAULT


def told(second, first, rules=DEFAULT, *, age_s=60.0):
    """What `second` is to `first`, that many seconds later."""
    return find_duplicate(second, [Earlier(id="first", text=first, ts=1000.0)], rules, ts=1000.0 + age_s)


def numbered(*numbers):
    return " ".join(f"word{number}" for number in numbers)


@pytest.mark.clause("Q06")
@pytest.mark.parametrize(
    ("shared", "own", "expected"),
    [(3, 2, Repeat.NEW), (2, 1, Repeat.DUPLICATE), (61, 39, Repeat.DUPLICATE), (60, 40, Repeat.NEW)],
    ids=["3 of 5", "2 of 3", "61 of 100", "60 of 100"],
)
def test_the_threshold_itself_is_no_duplicate(shared, own, expected):
    """0.6 is compared as the fraction that it is: 3 of 5 is not above it."""
    both = numbered(*range(shared))
    verdict = told(f"{both} {numbered(*range(shared, shared + own))}", both, SPEC)
    assert verdict.repeat is expected
    if expected is Repeat.DUPLICATE:
        assert (verdict.shared, verdict.union, verdict.score) == (
            shared,
            shared + own,
            shared / (shared + own),
        )
        assert (verdict.of, verdict.measure) == ("first", Measure.JACCARD)


@given(st.integers(1, 200), st.integers(0, 200), st.integers(0, 200), st.decimals(0, 1, places=3).map(float))
def test_thresholds_are_compared_exactly(shared, own, others, above):
    """Above means above, for every pair of counts and every decimal threshold."""
    left, right = numbered(*range(shared + own)), numbered(*range(shared), *range(1000, 1000 + others))
    verdict = told(left, right, DuplicateRules(jaccard_above=above))
    assert verdict.is_duplicate is (Fraction(shared, shared + own + others) > Fraction(str(above)))


@pytest.mark.clause("Q06")
@pytest.mark.parametrize("rules", [SPEC, DEFAULT], ids=["spec", "default"])
def test_the_window(rules):
    """Five minutes are looked back, both ends included."""
    text = "Use Astro with Tailwind for the docs site"
    assert told(text, text, rules, age_s=300.0).repeat is Repeat.DUPLICATE
    late = told(text, text, rules, age_s=300.001)
    assert (late.repeat, late.compared, late.window_s) == (Repeat.NEW, 0, 300.0)
    assert told(text, text, rules, age_s=-3600.0).is_duplicate, "the clock went back"
    assert told(text, text, DuplicateRules(window_s=None), age_s=1e9).is_duplicate
    assert not told(text, text, DuplicateRules(window_s=0.0), age_s=0.001).is_duplicate


@pytest.mark.clause("Q06")
@pytest.mark.parametrize("rules", [SPEC, DEFAULT], ids=["spec", "default"])
def test_every_decision_of_the_window_is_compared(rules):
    """The oldest of 200 still counts, where the spec's code reads five."""
    first = Earlier(id="first", text="Use Astro with Tailwind for the docs site", ts=0.0)
    others = [
        Earlier(id=f"d{number}", text=numbered(*range(9 * number, 9 * number + 9)), ts=float(number))
        for number in range(1, 200)
    ]
    verdict = find_duplicate(first.text, [*others, first], rules, ts=250.0)
    assert (verdict.of, verdict.compared, verdict.truncated) == ("first", 200, False)


def test_a_cap_falls_back_on_the_normal_form_and_says_so():
    """Rows beyond the cap are compared by their normal form alone."""
    rules = DuplicateRules(tokens=TokenForm.STEMS, exact_first=True, contrast_guard=True, compared_at_most=1)
    rows = [
        Earlier(id="similar", text="Store the audit log in PostgreSQL", ts=0.0),
        Earlier(id="equal", text="Cache sessions in Redis for one day", ts=1.0),
        Earlier(id="other", text="Something else altogether", ts=2.0),
    ]
    similar = find_duplicate("We will store audit logs in PostgreSQL", rows, rules, ts=3.0)
    assert (similar.repeat, similar.truncated) == (Repeat.NEW, True)
    equal = find_duplicate("cache sessions in Redis for one day.", rows, rules, ts=3.0)
    assert (equal.of, equal.truncated) == ("equal", True)


REVERSALS = {
    "enable": (
        "Enable retries for the billing client",
        "Disable retries for the billing client",
        "antonym",
        True,
    ),
    "two words": ("Enable retries", "Disable retries", "antonym", False),
    "instead of": (
        "Use Postgres instead of MySQL for the ledger",
        "Use MySQL instead of Postgres for the ledger",
        "sides",
        True,
    ),
    "seconds": ("Set the gateway timeout to 30s", "Set the gateway timeout to 60s", "number", True),
    "shared": (
        "Dedicated ingress controllers for teams",
        "Shared ingress controllers for teams",
        "replaced",
        True,
    ),
    "slug": (
        "Use the ADR number as unique ID of the log",
        "Use the ADR slug as unique ID of the log",
        "replaced",
        True,
    ),
    "keep": (
        "Keep the legacy login endpoint until March",
        "Remove the legacy login endpoint until March",
        "antonym",
        True,
    ),
    "not": (
        "We will support Windows in the first release",
        "We will not support Windows in the first release",
        "negation",
        True,
    ),
    "version": (
        "Pin the API to version 5 in all clients",
        "Pin the API to version 6 in all clients",
        "number",
        True,
    ),
    "async": (
        "Write audit events synchronously in the request",
        "Write audit events asynchronously in the request",
        "antonym",
        True,
    ),
    "before": (
        "Run the migration before the deployment",
        "Run the migration after the deployment",
        "sides",
        True,
    ),
    "direction": (
        "Convert the templates to components of the pages",
        "Convert the components to templates of the pages",
        "order",
        True,
    ),
    "subject": (
        "The server trusts the client certificate",
        "The client trusts the server certificate",
        "order",
        True,
    ),
    "except": (
        "Cache query results in Redis for one hour",
        "Cache query results in Redis for one hour except payments",
        "limit",
        True,
    ),
    "no longer limited": (
        "Cache query results in Redis for one hour except payments",
        "Cache query results in Redis for one hour, payments too",
        "limit",
        True,
    ),
    "another step": (
        "Skip step build-api since its upstream failed",
        "Skip step build-web since its upstream failed",
        "replaced",
        True,
    ),
    "no spaces": (
        "\u5728\u751f\u4ea7\u73af\u5883\u542f\u7528\u91cd\u8bd5\u673a\u5236\u5e76\u8bb0\u5f55\u65e5\u5fd7",
        "\u5728\u751f\u4ea7\u73af\u5883\u7981\u7528\u91cd\u8bd5\u673a\u5236\u5e76\u8bb0\u5f55\u65e5\u5fd7",
        "replaced",
        False,
    ),
}


@pytest.mark.clause("Q06")
@pytest.mark.parametrize(("first", "second", "kind", "spec_merges"), REVERSALS.values(), ids=REVERSALS.keys())
def test_reversals_are_kept(first, second, kind, spec_merges):
    """What says something else in nearly the same words is a question; the SPEC profile merges most."""
    for one, other in ((first, second), (second, first)):
        verdict = told(other, one)
        assert (verdict.repeat, verdict.of) == (Repeat.POSSIBLE_REVERSAL, "first")
        assert verdict.difference is not None
        assert verdict.difference.kind.value == kind
        assert verdict.contradicts is (kind in ("antonym", "sides", "number", "negation"))
        assert verdict.sure is (Sureness.LIKELY if verdict.contradicts else Sureness.POSSIBLE)
    assert told(second, first, SPEC).is_duplicate is spec_merges


def test_the_words_that_differ_are_told():
    """The evidence stands on the side that it came from."""
    difference = told(
        "Dedicated ingress controllers for teams", "Shared ingress controllers for teams"
    ).difference
    assert difference is not None
    assert to_wire(difference) == {"kind": "replaced", "here": "dedicated", "there": "shared"}


def test_what_goes_on_is_kept_and_what_says_less_is_not():
    """A text that adds a matter is asked about; the shorter one after it brings nothing."""
    short = "Use Redis for caching the session data of the shop"
    long = f"{short} and the audit log"
    added = told(long, short)
    assert added.difference is not None
    assert to_wire(added.difference) == {"kind": "added", "here": "and audit log", "there": ""}
    assert told(short, long).is_duplicate


@pytest.mark.parametrize(
    ("first", "second", "measure"),
    [
        ("Use Astro + Tailwind for docs site", "use  Astro + Tailwind for docs site.", Measure.FINGERPRINT),
        (
            "Use Astro and Tailwind for the docs site",
            "Go with Astro and Tailwind for the docs site",
            Measure.JACCARD,
        ),
        (
            "Use Astro and Tailwind for the docs site",
            "Use Tailwind and Astro for the docs site",
            Measure.JACCARD,
        ),
        ("Store the audit log in PostgreSQL", "We will store audit logs in PostgreSQL", Measure.JACCARD),
        ("Retry failed uploads three times", "Retry failed uploads 3 times", Measure.JACCARD),
        ("Keep the access logs for twelve months", "Keep the access logs for 12 months", Measure.JACCARD),
        (
            "Before deploying to production, run the smoke tests",
            "Run the smoke tests before deploying to production",
            Measure.JACCARD,
        ),
        ("Use Concourse CI", "use Concourse CI", Measure.FINGERPRINT),
        (
            "\u4f7f\u7528PostgreSQL\u6570\u636e\u5e93\u5b58\u50a8\u65e5\u5fd7",
            "\u4f7f\u7528 PostgreSQL \u6570\u636e\u5e93\u5b58\u50a8\u65e5\u5fd7",
            Measure.FINGERPRINT,
        ),
        (
            "\u5728\u751f\u4ea7\u73af\u5883\u542f\u7528\u91cd\u8bd5\u673a\u5236\u5e76\u8bb0\u5f55\u65e5\u5fd7",
            "\u5728\u751f\u4ea7\u73af\u5883\u542f\u7528\u91cd\u8bd5\u673a\u5236\u8bb0\u5f55\u65e5\u5fd7",
            Measure.JACCARD,
        ),
        ("\U0001f680", "\U0001f680", Measure.FINGERPRINT),
    ],
    ids=[
        "equal",
        "verb",
        "and",
        "endings",
        "number",
        "twelve",
        "front",
        "short",
        "gap",
        "no spaces",
        "emoji",
    ],
)
def test_repetitions_are_found(first, second, measure):
    """The same thing said again, and how sure that is."""
    verdict = told(second, first)
    assert (verdict.repeat, verdict.of, verdict.measure) == (Repeat.DUPLICATE, "first", measure)
    assert verdict.sure is (Sureness.CERTAIN if measure is Measure.FINGERPRINT else Sureness.LIKELY)
    assert verdict.difference is None
    assert told(first, second).is_duplicate


def test_short_texts_are_duplicates_only_where_they_are_equal():
    """Under four tokens that say something, similarity refuses nothing."""
    assert told("Use the Concourse CI now", "Use the Concourse CI").repeat is Repeat.NEW
    assert told("Use the Concourse CI now", "Use the Concourse CI", SPEC).is_duplicate


def test_a_decision_that_goes_back_and_forth_is_kept():
    """Enable, disable, enable: the third reverses the second, though the first says the same."""
    rows = [
        Earlier(id="on", text="Enable retries for the billing client", ts=0.0),
        Earlier(id="off", text="Disable retries for the billing client", ts=10.0),
    ]
    again = find_duplicate("Enable retries for the billing client", rows, ts=20.0)
    assert (again.repeat, again.of, again.contradicts) == (Repeat.POSSIBLE_REVERSAL, "off", True)
    same = find_duplicate("Disable retries for the billing client", rows, ts=20.0)
    assert (same.repeat, same.of) == (Repeat.DUPLICATE, "off")


def test_an_equal_text_stays_a_duplicate_beside_one_of_another_matter():
    """Skip a, skip b, skip a: the third repeats the first."""
    rows = [
        Earlier(id="a", text="Skip step build-api since its upstream failed", ts=0.0),
        Earlier(id="b", text="Skip step build-web since its upstream failed", ts=1.0),
    ]
    verdict = find_duplicate(rows[0].text, rows, ts=2.0)
    assert (verdict.repeat, verdict.of, verdict.sure) == (Repeat.DUPLICATE, "a", Sureness.CERTAIN)


@pytest.mark.parametrize("text", ["", "   ", "...", "\u0000", "\ud800", "\u202e\u05d0"])
@pytest.mark.parametrize("rules", [SPEC, DEFAULT], ids=["spec", "default"])
def test_texts_that_say_nothing_are_compared_as_they_are(text, rules):
    """Nothing, NUL, half a character: an answer, and no duplicate of a real decision."""
    assert told(text, "Use Astro with Tailwind for the docs site", rules).repeat is Repeat.NEW
    assert told("Use Astro with Tailwind for the docs site", text, rules).repeat is Repeat.NEW
    assert told(text, text, DEFAULT).is_duplicate
    assert fingerprint("...") != fingerprint("!?")


def test_a_text_as_long_as_a_file_counts_where_it_is_equal():
    """A megabyte is compared by its normal form alone."""
    text = "never merge three of these before noon " * 27_000
    assert told(text, text).is_duplicate
    assert told(f"{text} x", text).repeat is Repeat.NEW


def test_texts_that_nobody_reads_have_no_difference_to_tell():
    """A text as long as a file is not read for a contrast, and texts without content have no order."""
    assert find_contrast("enable retries", "disable retries") is not None
    assert find_contrast("enable retries", "disable retries " * 2_000) is None
    assert find_difference("use it", "go with it") is None


@given(st.text(), st.text())
def test_similarity_is_symmetric(a, b):
    """Both orders share as much, between 0 and 1, and texts of one normal form share all."""
    for form in TokenForm:
        one, other = read_text(a, form).tokens, read_text(b, form).tokens
        assert jaccard(one, other) == jaccard(other, one)
        assert 0 <= jaccard(one, other) <= 1
    if normal_form(a):
        assert jaccard(*(read_text(text, TokenForm.STEMS).tokens for text in (a, normal_form(a)))) == 1
    there, back = told(a, b), told(b, a)
    assert there.score == back.score


@given(st.text())
def test_a_text_repeats_itself(text):
    """The same normal form is a duplicate with the score 1, whatever it says."""
    assume(normal_form(text))
    verdict = told(normal_form(text), text)
    assert (verdict.repeat, verdict.score, verdict.measure) == (Repeat.DUPLICATE, 1.0, Measure.FINGERPRINT)


WORDS = "enable disable cache retries not 3 30 s instead of from to redis kafka and for the only use".split()
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@given(st.lists(TEXTS, max_size=8), TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(texts, text, random):
    """The times say which one is newer."""
    rows = [Earlier(id=str(at), text=other, ts=float(at)) for at, other in enumerate(texts)]
    shuffled = random.sample(rows, len(rows))
    assert find_duplicate(text, rows, ts=20.0) == find_duplicate(text, shuffled, ts=20.0)


@given(TEXTS, TEXTS)
def test_the_guard_only_turns_yes_into_ask(first, second):
    """Nothing is a duplicate with the guard that is none without it."""
    bare = DuplicateRules(tokens=TokenForm.STEMS, exact_first=True)
    guarded = DuplicateRules(tokens=TokenForm.STEMS, exact_first=True, contrast_guard=True)
    assert told(second, first, bare).is_duplicate or not told(second, first, guarded).is_duplicate


def test_the_fingerprint_is_stored():
    """It is the same in every process and in every version."""
    assert (
        fingerprint("Use  PgBouncer.") == fingerprint("use pgbouncer") == "877de22d0c2fc89e12be610f9b5ae9bf"
    )
    program = """
import json
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
row = Earlier(id="a", text="Use shared, public queues for jobs of teams", ts=0)
print(json.dumps(find_duplicate("Use own, private queues for jobs of teams", [row], ts=1).to_dict()))
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


def test_wire_form():
    """A verdict is plain data, with the similarity as the fraction that it is."""
    wire = told("Disable retries for the billing client", "Enable retries for the billing client").to_dict()
    assert json.loads(json.dumps(wire)) == {
        "schema": 1,
        "repeat": "possible_reversal",
        "of": "first",
        "measure": "jaccard",
        "score": 0.714286,
        "fraction": "5/7",
        "sure": "likely",
        "difference": {"kind": "antonym", "here": "disable", "there": "enable"},
        "contradicts": True,
        "window_s": 300.0,
        "compared": 1,
        "truncated": False,
    }
    fresh = told("Something", "Else").to_dict()
    assert (fresh["score"], fresh["of"], fresh["sure"], fresh["fraction"]) == (None, None, None, None)
    assert told("Same", "same").to_dict()["score"] == 1.0


@pytest.mark.parametrize(
    "values",
    [
        {"window_s": -1.0},
        {"window_s": float("nan")},
        {"window_s": True},
        {"jaccard_above": 1.5},
        {"tokens": "letters"},
        {"exact_first": 1},
        {"contrast_guard": None},
        {"content_tokens": -1},
        {"compared_at_most": 1.5},
    ],
    ids=str,
)
def test_rules_are_checked(values):
    """A setting that cannot be used is named."""
    with pytest.raises(ConfigError, match=next(iter(values))):
        DuplicateRules(**values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Skip step a of the release process", "Skip step b of the release process"),
        (
            "For the storage layer of the client use option A",
            "For the storage layer of the client use option B",
        ),
        ("Skip step a, then release the process", "Skip step b, then release the process"),
        ("Use plan i for the release of the client", "Use plan v for the release of the client"),
        ("Run step a before step b of the migration", "Run step b before step a of the migration"),
    ],
)
def test_a_letter_is_a_name_where_no_article_stands(one, other):
    """A bare letter that names something says what is decided; the article says nothing."""
    assert told(one, other, DEFAULT).repeat is Repeat.POSSIBLE_REVERSAL
    assert told(one, one.upper(), DEFAULT).is_duplicate
    assert told(
        "Put a cache in front of the store", "Put the cache in front of the store", DEFAULT
    ).is_duplicate


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("because there's one writer", "because there is one writer"),
        ("because there's one writer", "because there is only one writer"),
        ("because there isn't a second writer", "because there is no second writer"),
        ("because a server isn't needed", "because there's no need for a server"),
    ],
)
def test_another_wording_of_the_reason_reverses_nothing(first, second):
    """The reason limits and denies nothing that was decided."""
    texts = [f"Use SQLite for the event store {reason}" for reason in (first, second)]
    for one, other in (texts, texts[::-1]):
        assert told(one, other).repeat is not Repeat.POSSIBLE_REVERSAL
