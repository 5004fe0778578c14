"""What the gate refused, counted; and a sample that tells how often it was wrong."""

import pytest

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.record.record import DecisionOutcome, Mode, Review
from ebbtide.decisions.candidate import TurnContext

KEEP = "Use store {0} for part {0} because there is one writer of {1}"


@pytest.fixture
def filled(log):
    """A log with decisions kept, refused, repeated and not captured."""
    work = Deliberation(log)
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()
    for number, word in enumerate(words):
        assert work.record_decision(KEEP.format(number, word * 2), session=word).kept
        opened = work.start("coder", f"What about {word}?", "debug", word)
        work.finalize(opened, "Done!", context=TurnContext(text="Done!"))
    work.record_decision(KEEP.format(0, "alphaalpha"), session="alpha")
    work.start("coder", "Rename it", "task")
    return log


@pytest.mark.clause("Q14")
def test_refusals_are_counted_by_rule(filled):
    """Refusals are counted by rule, layer, source, frame and mode, in the log, as a table and as metrics."""
    counts = filled.counts()
    assert (counts.kept, counts.refused, counts.not_captured, counts.would_refuse) == (10, 11, 1, 0)
    rules = counts.refused_by_rule()
    assert rules["duplicate.fingerprint"] == 1
    assert max(rules.values()) == 10
    assert counts.by("frame")["debug"] == {"quarantined": 10}
    assert counts.by("source")["explicit"] == {"kept": 10, "quarantined": 1}
    assert counts.by("mode")["enforce"]["kept"] == 10
    assert counts.by("layer")["duplicate"] == {"quarantined": 1}
    table = counts.to_dict()
    assert (table["refused"], table["by_rule"], table["by_status"]["quarantined"]) == (11, rules, 11)
    text = counts.prometheus()
    assert 'rule="duplicate.fingerprint"} 1\n' in text
    assert 'ebbtide_decisions{status="kept"} 10\n' in text
    assert all(line.startswith("#") or line.rsplit(" ", 1)[1].isdigit() for line in text.splitlines())
    filled.rebuild()
    assert filled.counts() == counts


def test_labels_are_escaped(log):
    """A frame with quotes and new lines does not break the metrics."""
    Deliberation(log).record_decision(KEEP.format(1, "x"), frame='a"b\\c\nd')
    line = next(line for line in log.counts().prometheus().splitlines() if "frame=" in line)
    assert 'frame="a\\"b\\\\c\\nd"' in line


def test_the_sample_is_the_same_for_everybody(filled):
    """A larger sample has the smaller one in it, from kept and from refused."""
    small, large = filled.sample(3), filled.sample(7)
    assert (small.kept_decisions, small.refused_decisions) == (
        large.kept_decisions[:3],
        large.refused_decisions[:3],
    )
    assert (large.kept_of, large.refused_of) == (10, 11)
    assert {each.id for each in filled.sample(50).refused_decisions} == {
        each.id for each in filled.iterate() if each.refused
    }
    assert small.noise.value is None


def test_rates_come_from_reviews(filled):
    """Noise is what is none among the kept, missed what is one among the refused, with intervals."""
    sample = filled.sample(5)
    for number, each in enumerate((*sample.kept_decisions, *sample.refused_decisions)):
        outcome = DecisionOutcome.NOT_A_DECISION if number in {0, 5, 6, 7, 8} else DecisionOutcome.SUCCESS
        filled.review(each.id, Review(outcome=outcome, by="ana", ts=1.7e9))
    sample = filled.sample(5)
    assert (sample.noise.hits, sample.noise.total) == (1, 5)
    assert (sample.missed.hits, sample.missed.total) == (1, 5)
    assert sample.noise.interval == (0.0362, 0.6245)
    assert not sample.unreviewed
    unsure = filled.sample(6).unreviewed[0]
    filled.review(unsure.id, Review(outcome=DecisionOutcome.UNKNOWN, by="ana", ts=1.7e9))
    assert unsure.id in {each.id for each in filled.sample(6).unreviewed}


def test_a_restore_says_that_it_was_a_decision(filled):
    """What was brought back from the quarantine counts as missed."""
    first = filled.sample(1).refused_decisions[0]
    filled.restore(first.id, by="ana")
    missed = filled.sample(1).missed
    assert (missed.hits, missed.total) == (1, 1)


def test_shadow_counts_what_it_would_refuse(log):
    """In shadow mode the refused half of the sample is what would have been refused."""
    work = Deliberation(log, mode=Mode.SHADOW)
    work.record_decision("ok")
    work.record_decision(KEEP.format(1, "x"))
    counts, sample = log.counts(), log.sample()
    assert (counts.kept, counts.refused, counts.would_refuse) == (2, 0, 1)
    assert [each.candidate.description for each in sample.refused_decisions] == ["ok"]
