"""The tables of the gate and the section of the profile."""

import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decisions.gate.evidence import WORDINGS
from ebbtide.decisions.gate.rule_forms import anywhere, opening, preceded_by
from ebbtide.decisions.gate.wording import Wording
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.profile.decisions import GateRules
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor

# A sentence of each rule that has words to find, and what it is evidence of.
EXAMPLES = {
    "chat.acknowledgement": "Understood, the cache is stale.",
    "chat.thanks": "Thanks for the review.",
    "chat.wish": "Have a great weekend, everyone!",
    "chat.wonder": "Hmm, it fails.",
    "chat.sorry": "Sorry for the delay.",
    "narration.moving-on": "Moving on to the tests.",
    "state.everything": "Everything passes.",
    "report.run": "The command finished.",
    "chat.praise": "Good news, everyone.",
    "chat.got-it": "Sounds good to me.",
    "chat.apology": "I apologize for the confusion.",
    "chat.done": "Done with the tests.",
    "chat.on-it": "On it.",
    "chat.offer": "Would you like to see the logs?",
    "narration.let-me": "Let me check the logs.",
    "narration.intent": "I'm going to run the tests.",
    "narration.look": "I need to understand the router.",
    "narration.look-up": "To find the year, I can search the archive.",
    "narration.next": "The next step is the router.",
    "narration.waiting": "Still waiting on CI.",
    "narration.need": "We need to look at the logs.",
    "narration.change": "Now let's remove the flag.",
    "narration.ongoing": "Looking at the logs.",
    "narration.progress": "Running integration tests.",
    "narration.now": "It is compiled now.",
    "narration.i-am-doing": "I'm still waiting for the build.",
    "narration.inside": "It failed, so I'll check the logs.",
    "state.perception": "I can see the error now.",
    "state.here": "Here is the log of the run.",
    "state.shows": "The following diagram shows it.",
    "state.issue": "The issue is in the parser.",
    "state.based-on": "Based on the results, more is wrong.",
    "state.seems": "It seems that the cache is stale.",
    "state.information": "We need more context about it.",
    "state.hedged": "The cache is probably stale.",
    "state.suggests": "The log suggests that it is stale.",
    "state.cause": "The error occurs when two write.",
    "state.root-cause": "Root cause is the cache.",
    "state.requirement": "A user wants to see the log.",
    "state.located": "The class is defined in the parser module.",
    "state.describes": "The function returns a list of rows.",
    "state.means": "This means that the cache is stale.",
    "state.clear": "I'm not sure whether it is stale.",
    "state.none": "No matches found.",
    "state.could-not": "The page couldn't be opened.",
    "state.aside": "After a look, I think it is stale.",
    "state.answer": "So the answer is Ohio.",
    "state.concludes": "Both lag, so the cache is stale.",
    "state.source": "The article mentions a second cache.",
    "state.already": "The cache is already implemented.",
    "report.chore": "I pushed the branch.",
    "report.passive": "The bug is now fixed.",
    "report.state": "The service was deployed.",
    "report.success": "It was added successfully.",
    "report.went-well": "It runs as expected.",
    "report.works": "That worked.",
    "report.complete": "Review complete: no issues.",
    "report.counts": "All 12 tests passed.",
    "report.tests": "The full build passes.",
    "report.change": "The PR was merged.",
    "report.counted": "Parsed 17 steps, no cycles.",
    "report.done-with": "Fixes validated with two runs.",
    "report.still": "The build is still failing.",
    "report.now": "The parser now accepts tabs.",
    "report.checked": "Verified end to end.",
    "report.past": "The server returned 403.",
    "report.person": "He did it on Monday.",
    "report.perfect": "We've modified the parser.",
    "report.work-item": "This work item improves the parser.",
    "status.label": "Summary of the changes: a faster parser",
    "status.task": "Purpose: a faster parser",
    "status.failed": "Failed at the first step",
    "status.exit": "It exited with code 2",
    "status.skip": "Whether to skip review: skip",
    "status.upstream": 'Upstream dependency "review" failed',
    "time.later": "That is for tomorrow.",
    "time.future": "That is part of a future work item.",
    "choice.decided": "The team decided on Redis.",
    "choice.the-decision": "The decision is final.",
    "choice.picked": "We prefer Redis.",
    "choice.i-will": "I'll use Redis.",
    "choice.going-with": "They went with Redis.",
    "choice.instead": "Redis instead of files.",
    "choice.instead-end": "Redis holds them instead.",
    "choice.declared": "Decision: sessions live in Redis.",
    "choice.wish": "I'd rather have Redis.",
    "choice.unwanted": "We don't want globals.",
    "choice.recommend": "I recommend Redis.",
    "choice.lets": "Let's drop the files.",
    "choice.approval": "Please go ahead.",
    "choice.labelled": "Take option B.",
    "choice.becomes": "The registry becomes a plain dict.",
    "choice.over": "Redis won the vote over files.",
    "choice.not": "A struct, not a view.",
    "choice.replace": "Replace the files with Redis.",
    "choice.commitment": "We will store it in Redis.",
    "choice.obligation": "Sessions must be short.",
    "choice.future": "The sessions will be kept.",
    "choice.we": "We store sessions in Redis.",
    "choice.norm": "The flag is off by default.",
    "choice.prohibition": "Do not use globals.",
    "choice.why": "Redis, because it is there.",
    "choice.so-that": "Redis, so that it scales.",
    "choice.by-means": "Solved by adding an index.",
    "choice.weighed": "The second option wins.",
    "choice.kept": "Kept the flag.",
    "choice.now-on": "The files are no longer read.",
}


@pytest.mark.parametrize("rule", WORDINGS.rules, ids=lambda rule: rule.id)
def test_every_rule_finds_its_example(rule):
    """Each rule has an example that it fires on, in any of the spellings that the gate takes for one."""
    text = EXAMPLES[rule.id]
    for spelling in (text, text.upper(), f"\U0001f680 {text}", f"- {text}", text.replace("'", "\u2019")):
        assert rule.id in rules_of(Wording.of(spelling)), spelling


def rules_of(wording: Wording) -> set[str]:
    return {match.rule.id for match in WORDINGS.matches(wording.text, wording.keys, wording.sentences)}


def test_ids_are_unique():
    """A counter by rule needs one name a rule."""
    names = [rule.id for rule in WORDINGS.rules]
    assert len(set(names)) == len(names)
    assert set(EXAMPLES) == set(names)


def test_the_index_misses_nothing(data):
    """Trying only the rules whose words a text has finds what trying all of them finds, on real texts."""
    with gzip.open(data / "decisions" / "condec.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    for text in [*texts, *EXAMPLES.values()]:
        wording = Wording.of(text)
        ids = rules_of(wording)
        for rule in WORDINGS.rules:
            pattern = re.compile(rf"(?<!\w)(?:{rule.pattern})(?!\w)", re.IGNORECASE)
            if rule.anchor is Anchor.TEXT:
                expected = any(pattern.match(wording.text, start, end) for start, end, _ in wording.sentences)
            else:
                expected = pattern.search(wording.text) is not None
            assert (rule.id in ids) == expected, (rule.id, text)


def test_a_word_is_a_whole_one():
    """The word of a rule goes on behind neither an apostrophe nor a hyphen at the start of a sentence."""
    here = PhraseTable([opening("x.here", 1.0, "", words="here up")], lower=True)
    assert here.first("here it is") is not None
    assert here.first("here's one") is None
    assert here.first("up-to-date") is None
    trade = PhraseTable([anywhere("x.trade", 1.0, "", words="trade-off option")], lower=True)
    assert trade.first("that trade-off") is not None
    assert trade.first("the options") is None


@given(st.text(st.sampled_from("ab1_' \"-.\u2014\u2192\u2019\u00e9\u4f7f\u2713\n"), max_size=40))
def test_words_are_found_in_any_text(text):
    """What is looked up byte by byte is what the pattern of a word finds."""
    wording = Wording.of(text)
    assert wording.words == frozenset(re.findall(r"\w+(?:'\w+)*", wording.text))


def test_preceded_by():
    """The word before is a whole one, and any of those that are named."""
    pattern = re.compile(f"{preceded_by('is was')}done")
    assert pattern.search("it is done")
    assert pattern.search("was done")
    assert not pattern.search("this done")
    assert not pattern.search("is it done")


def test_wording():
    """One spelling, no decoration; sentences with and without what links them."""
    wording = Wording.of("\U0001f680 **Plan:** Now let\u2019s go \u2013 it works. \u4f7f\u7528\u5361\u592b")
    assert wording.text.startswith("now let's go")
    assert [word for _, _, word in wording.sentences][:3] == ["let's", "now", "it"]
    assert Wording.of("\u4f7f\u7528\u5361\u592b\u5361").content == 3
    assert Wording.of("\u4f7f\u7528\u5361\u592b\u5361").width == 10
    assert Wording.of("It is what it is").content == 0


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("weighs", 1),
        ("frames", "decision"),
        ("frames", [1]),
        ("refuse_at", 0),
        ("refuse_at", float("nan")),
        ("refuse_at", True),
        ("short_below", -1),
        ("short_below", 2.5),
        ("short_words", 0),
        ("short_turn_below", "50"),
        ("bullets_above", 1.1),
        ("report_markers", 0),
        ("report_characters", 0),
        ("default_confidence", 2),
    ],
)
def test_settings_out_of_range(setting, value):
    """Each setting says what it may be."""
    with pytest.raises(ConfigError, match=rf"decisions\.{setting}"):
        Profile.from_dict({"decisions": {setting: value}})


def test_profiles():
    """The SPEC profile is the spec's; the default one weighs. Both come back from their tables."""
    assert Profile.SPEC.decisions == GateRules()
    assert not Profile.SPEC.decisions.weighs
    assert Profile.DEFAULT.decisions.weighs
    for profile in (Profile.SPEC, Profile.DEFAULT):
        assert Profile.from_dict({"base": profile.name, **profile.to_dict()}) == profile
