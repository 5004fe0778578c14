"""The four rules of quality (decision quality gate, layer 3)."""

import pytest

from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source, Stakes
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.gate.quality import validate_decision_quality
from ebbtide.profile import Profile

LONG = "Store the sessions in Redis for one day"
SHORT = "Description too short (<20 chars)"
DEFAULT = "Default confidence (0.5) with high stakes"
CHAT = "Description starts with chat pattern"
ERROR = "Description is an error message template"
TEMPLATE = "I encountered an error processing your request"


def reason(profile, description=LONG, **fields):
    """Why an explicit record is refused; None where it is kept."""
    return assess(Candidate(description=description, source=Source.EXPLICIT, **fields), None, profile).reason


@pytest.mark.clause("Q12")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"description": LONG}, None),
        ({"description": "On it!"}, SHORT),
        ({"description": LONG, "confidence": 0.5, "stakes": Stakes.HIGH}, DEFAULT),
        ({"description": "Sure, the sessions go to Redis"}, CHAT),
        ({"description": TEMPLATE}, ERROR),
        ({"description": "done", "confidence": 0.5, "stakes": Stakes.CRITICAL}, SHORT),
    ],
)
def test_the_four_reasons(fields, expected):
    """Valid and None, or not valid and the reason of the first rule, in the words of the spec."""
    assert validate_decision_quality(Candidate(**fields)) == (expected is None, expected)


@pytest.mark.clause("Q08")
def test_twenty_characters_to_the_letter():
    """White space at the ends does not count; 19 characters are too few and 20 are not."""
    assert reason(Profile.SPEC, "x" * 19) == SHORT
    assert reason(Profile.SPEC, f"\n {'x' * 19} \t") == SHORT
    assert reason(Profile.SPEC, "x" * 20) is None


@pytest.mark.clause("Q08")
@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Use Concourse CI", None),
        ("Security Groups", None),
        ("\u4f7f\u7528\u5361\u592b\u5361", None),
        ("Logging", SHORT),
        ("It is", SHORT),
        ("Fixed it", SHORT),
        ("", SHORT),
        (" \n\t", SHORT),
        ("\U0001f680" * 30, SHORT),
        ("-" * 40, SHORT),
    ],
)
def test_short_with_content(description, expected):
    """By default two words of content are enough, and without a word nothing is."""
    assert reason(Profile.DEFAULT, description) == expected


@pytest.mark.clause("Q09")
@pytest.mark.parametrize("stakes", [Stakes.HIGH, Stakes.CRITICAL])
@pytest.mark.parametrize(
    ("confidence", "origin", "spec", "default"),
    [
        (0.5, None, DEFAULT, DEFAULT),
        (0.5, ConfidenceSource.DEFAULT, DEFAULT, DEFAULT),
        (0.5, ConfidenceSource.STATED, None, None),
        (0.5, ConfidenceSource.DERIVED, DEFAULT, None),
        (0.500001, None, None, None),
        (0.499999, ConfidenceSource.DEFAULT, None, None),
        (None, None, None, None),
    ],
)
def test_default_confidence(stakes, confidence, origin, spec, default):
    """Exactly 0.5 is the default unless somebody deliberated it; by default a derived one is none either."""
    fields = {"stakes": stakes, "confidence": confidence, "confidence_source": origin}
    assert reason(Profile.SPEC, **fields) == spec
    assert reason(Profile.DEFAULT, **fields) == default


@pytest.mark.clause("Q09")
@pytest.mark.parametrize("stakes", [None, Stakes.LOW, Stakes.MEDIUM])
def test_default_confidence_with_low_stakes(stakes):
    """Without high stakes the default confidence is fine."""
    assert reason(Profile.SPEC, confidence=0.5, stakes=stakes) is None


@pytest.mark.clause("Q10")
@pytest.mark.parametrize("profile", [Profile.SPEC, Profile.DEFAULT], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    "description",
    [
        "Done with the first part of it",
        "On it, the subtask is running now",
        "Here's the summary of the results",
        "Got it, will look into the failing job",
        "Sure! Let me look at that for you",
        "Okay, let me check that first please",
        "Alright! I'll start with the tests now",
        "Working on the fix for the login bug",
        "Let me check the schema of the table",
        "I'll start by reading the code of it",
        "DONE! The change is merged and pushed",
    ],
)
def test_chat_at_the_start(profile, description):
    """Each of the ten openings refuses what goes on as chat."""
    assert CHAT in [rule.reason for rule in assess(Candidate(description=description), None, profile).rules]
    assert reason(profile, description) == CHAT


@pytest.mark.clause("Q10")
@pytest.mark.parametrize("profile", [Profile.SPEC, Profile.DEFAULT], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    "description",
    [
        "Okay-ish caching of results beats none",
        "Surety bonds are stored per tenant",
        "Done-state machines replace the flags",
        "On iteration limits the team settled for ten",
        "Let metrics be pushed by the agents",
        "Surefire stays the test runner",
        "Heresy rules are checked by the linter",
    ],
)
def test_whole_words_only(profile, description):
    """A longer word or a hyphen makes another word."""
    assert reason(profile, description) is None


@pytest.mark.clause("Q10")
@pytest.mark.parametrize(
    "description",
    [
        "I'll use approach X to solve this",
        "Okay, we decided to store sessions in Redis",
        "Sure, Redis for sessions and S3 for files",
        "Alright: always squash commits before a merge",
    ],
)
def test_chat_before_a_decision(description):
    """By default an opening of chat is forgiven where a decision follows; by the spec it is not."""
    assert reason(Profile.SPEC, description) == CHAT
    assert reason(Profile.DEFAULT, description) is None


@pytest.mark.clause("Q11")
@pytest.mark.parametrize("profile", [Profile.SPEC, Profile.DEFAULT], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    "description",
    [
        TEMPLATE,
        f"{TEMPLATE}. Please try again.",
        f"Sorry, {TEMPLATE}: timeout after 30 s",
        f"I'm sorry, but {TEMPLATE}",
        f"\u274c Error: {TEMPLATE.upper()}",
        "Unfortunately, the agent encountered an error processing your request",
    ],
)
def test_error_template(profile, description):
    """A record that is the error template is refused."""
    assert ERROR in [rule.reason for rule in assess(Candidate(description=description), None, profile).rules]
    assert reason(profile, description) == ERROR


@pytest.mark.clause("Q11")
@pytest.mark.parametrize(
    "description",
    [
        f'Return "{TEMPLATE}" instead of a stack trace',
        "Retry once when a worker encountered an error processing your request",
        f"Drop records that say '{TEMPLATE}' at import",
    ],
)
def test_error_template_in_a_decision(description):
    """By default a decision about the template is kept; by the spec it is refused."""
    assert reason(Profile.SPEC, description) == ERROR
    assert reason(Profile.DEFAULT, description) is None


def test_reasons_do_not_save_chat_or_errors():
    """Reasons save a short text, not the error template."""
    because = (Reason(text="the tool timed out"),)
    assert reason(Profile.DEFAULT, "Redis", reasons=because) is None
    assert reason(Profile.DEFAULT, TEMPLATE, reasons=because) == ERROR


@pytest.mark.parametrize(
    "description",
    """LGTM, ship it!
Looks good to me!
Great work everyone
ship it 🚀
Kudos to everyone involved
Excellent work on the release everyone
+1, looks good
Happy Friday everyone!
Congratulations to the whole team
Looks good to me, merging when green
Yes, go ahead, great idea""".splitlines(),
)
def test_chat_that_is_recorded_on_purpose_is_refused(description):
    """Thanks, praise and approval that say of nothing what is done."""
    assert reason(Profile.DEFAULT, description) is not None


@pytest.mark.parametrize(
    "description",
    """Ship every Friday
Go with plan B
Merge only when two people approve
Approve refunds up to $50
Welcome emails weekly
Good defaults over options
High availability over cost
Ship it as a wheel""".splitlines(),
)
def test_short_choices_in_the_words_of_chat_are_kept(description):
    """One word of their own is enough."""
    assert reason(Profile.DEFAULT, description) is None


def test_chat_with_options_is_kept():
    """What was weighed says what is approved."""
    assert reason(Profile.DEFAULT, "Ship it!", options=("ship", "wait")) is None
