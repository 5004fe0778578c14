"""Decisions on one subject that cannot both hold, whatever else they say."""

import pytest

from ebbtide.decisions.repeats.differences import DifferenceKind
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.decisions.repeats.subject import find_opposition, find_reversal, read_subject
from ebbtide.text.normal_form import normal_form


def opposition(second, first):
    return find_opposition(normal_form(second), normal_form(first))


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (
            "Set the client timeout to 30 s",
            "Raise the client timeout to 60 s because uploads are slow",
            "number",
        ),
        ("Cache the query results", "Do not cache query results: they are stale at once", "negation"),
        ("Keep the XML parser as a fallback", "Drop the XML parser, nobody sends XML", "antonym"),
        ("Raise the memory limit of the workers", "Lower the memory limit of the workers again", "antonym"),
        ("Use dataclasses for events", "Events become attrs classes instead of dataclasses", "negation"),
        ("Migrate before the rollout of a service", "Migrate after the rollout of a service", "sides"),
    ],
)
def test_what_contradicts_an_earlier_decision_on_one_subject_is_seen(first, second, kind):
    assert opposition(second, first).kind is DifferenceKind(kind)
    assert opposition(first, second).kind is DifferenceKind(kind)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Set the client timeout to 30 s", "Set the query timeout to 60 s"),
        ("Keep backups for 30 days", "Keep audit logs for 365 days"),
        ("The free plan includes three projects", "The team plan includes 50 projects"),
        ("Keep the XML parser as a fallback", "Drop Python 3.9 in the next release"),
        ("Cache the query results", "Cache query results in Redis"),
        ("Skip step 1 of the build", "Skip step 2 of the build"),
        ("Set the client timeout to 30 s", "The client gets a timeout of 30 seconds"),
        ("", "Drop the XML parser"),
        ("x " * 2000, "Do not x"),
    ],
)
def test_another_subject_or_the_same_statement_is_no_contradiction(first, second):
    assert opposition(second, first) is None


def test_a_subject_has_no_reasons_numbers_and_verbs_of_setting():
    assert read_subject("set the pool of the worker to 50, 20 was too few").topic == ("pool", "worker")
    assert read_subject("in production, log as json; nobody reads text").topic == (
        "production",
        "log",
        "json",
    )


def test_the_newest_decision_on_a_subject_counts():
    off, on = ("off", "Do not cache query results"), ("on", "Cache query results")
    assert find_reversal("Cache query results", [off, on]).of == "off"
    assert find_reversal("Cache query results", [on, off]) is None, "it is on again already"
    assert find_reversal("Cache query results", [("other", "Cache images for a day")]) is None


def told(text, *earlier):
    rows = [Earlier(id=str(number), text=each, ts=float(number)) for number, each in enumerate(earlier)]
    return find_duplicate(text, rows, ts=60.0)


def test_an_exact_repeat_is_one_whatever_stands_between():
    verdict = told("Skip step 1 of the build", "Skip step 1 of the build", "Skip step 2 of the build")
    assert (verdict.is_duplicate, verdict.of) == (True, "0")
    verdict = told("Use A for logs", "Use A for logs", "Use A for logs and metrics", "Use B for traces")
    assert (verdict.is_duplicate, verdict.of) == (True, "0")


def test_an_exact_repeat_is_none_where_it_was_taken_back_in_between():
    verdict = told("Cache query results", "Cache query results", "Do not cache query results")
    assert (verdict.is_duplicate, verdict.of, verdict.contradicts) == (False, "1", True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Delete raw events after 90 days", "Raw events are deleted after 90 days"),
        ("Move the build to GitHub Actions", "The build moves to GitHub Actions"),
        ("Remove the banner from the landing page", "The banner is removed from the landing page"),
    ],
)
def test_the_passive_of_a_decision_repeats_it(first, second):
    assert told(second, first).is_duplicate


def test_a_number_of_another_thing_is_not_asked_about_in_one_session_either():
    assert told("The team plan includes 50 projects", "The free plan includes three projects").repeat == "new"


def test_an_exchange_of_things_is_no_passive():
    assert not told(
        "Test staging before production deploys", "Test production before staging deploys"
    ).is_duplicate
