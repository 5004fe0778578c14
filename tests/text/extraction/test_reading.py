"""What one sentence is."""

# ruff: noqa: RUF001 - dashes and other scripts

import pytest

from ebbtide.text.extraction import rules
from ebbtide.text.extraction.reading import is_nothing, read_sentence, section_kind

#: A sentence for each rule that decides about a sentence, in the words of nobody's data.
EXAMPLES = [
    ("decision.label", "Decision: use two brokers."),
    ("decision.decided", "After lunch we finally decided to keep the old index."),
    ("decision.was-decided", "It was agreed that the beta ends in May."),
    ("decision.will-use", "We'll go with the smaller model."),
    ("decision.lets-use", "OK, let's stick with SQLite."),
    ("decision.lets-proceed", "Let's proceed with the smaller model."),
    ("decision.since-use", "Since the disk is full, we can use the spare one."),
    ("decision.concur", "I concur with the conclusion."),
    ("decision.the-decision", "Our final decision is a monthly release."),
    ("decision.made", "The board made the decision without us."),
    ("decision.going-with", "Going with plan B."),
    ("question.label", "Open question: the owner of the cache"),
    ("question.mark", "Who owns the cache?"),
    ("question.request", "Could you please rotate the keys?"),
    ("question.need-from-you", "To renew the lease, I'll need your broker number."),
    ("question.need-from-you", "I will need the lease ID and the reason."),
    ("question.please-tell", "Please provide your broker number."),
    ("question.please-tell", "To renew it, please confirm that you agree."),
    ("question.let-me-know", "Let me know which of the two leases it is."),
    ("question.should-we", "Should we shard by tenant"),
    ("question.inverted", "Is there a way to undo the import"),
    ("question.wh", "Which broker do we trust"),
    ("question.let-me-know", "Please let me know if you would like to proceed with the import."),
    ("question.unclear", "It is not yet clear whether the licence allows that."),
    ("question.tbd", "The name of the flag is TBD."),
    ("question.remains-open", "The pricing remains unclear."),
    ("question.to-decide", "We still have to decide who signs."),
    ("question.wondering", "I wonder if the lock is needed."),
    ("question.blocked", "We are blocked until legal signs."),
    ("action.label", "Next step: rotate the keys"),
    ("action.open-box", "[ ] rotate the keys"),
    ("action.todo", "TODO rotate the keys"),
    ("action.next-step", "The next step is to rotate the keys."),
    ("action.owner", "@mina will rotate the keys."),
    ("action.please", "Please rotate the keys."),
    ("action.please-then", "Now that the lease is there, Renewer, please renew the others."),
    ("action.negative", "Do not rotate the keys."),
    ("action.obligation", "The keys leaked, so we have to rotate them."),
    ("action.needs-done", "The keys need to be rotated."),
    ("action.deadline", "Mina will rotate the keys by Friday."),
    ("action.promise", "Then I'll rotate the keys."),
    ("action.narrated", "Now let me rotate the keys."),
    ("action.narrated", "Let me do the same for the leases."),
    ("action.narrated", "First, let me see what leases expired."),
    ("action.commitment", "To be sure, I'll attempt to renew the lease."),
    ("action.promise", "Let's use the lease_finder tool to see them."),
    ("action.ongoing", "Rotating the keys."),
    ("action.promise", "Once the keys are there, I'll rotate them."),
    ("action.imperative", "Rotate the keys."),
    ("action.imperative", "To be safe, rotate the keys."),
    ("action.imperative", "Once it is up, connect with the broker."),
    ("action.imperative", "Commit these leases:"),
    ("action.imperative", "Develop a lease that lasts."),
    ("claim.ticked-box", "[x] rotate the keys"),
    ("pleasantry.acknowledgement", "Sounds good to me!"),
    ("pleasantry.agreement", "You're absolutely right."),
    ("pleasantry.yes-no", "Yes, please."),
    ("pleasantry.thanks", "Thank you for looking into the broker logs!"),
    ("pleasantry.praise", "That's a great question."),
    ("pleasantry.greeting", "Hi there everyone,"),
    ("pleasantry.farewell", "Have a lovely weekend!"),
    ("pleasantry.offer", "I'd be happy to help you with the broker."),
    ("pleasantry.let-me-know", "Please let me know if you need anything else."),
    ("pleasantry.apology", "I'm so sorry for the mix-up."),
    ("pleasantry.welcome", "You're welcome!"),
    ("pleasantry.appreciation", "We really appreciate your patience."),
    ("pleasantry.wait", "One moment please..."),
    ("pleasantry.done", "All done! 🎉"),
    ("pleasantry.offer-question", "How can I help you today?"),
    ("pleasantry.anything-else", "Is there anything else that you would like to know?"),
    ("pleasantry.does-that-help", "Does that make sense?"),
    ("pleasantry.may-i-help", "May I help you with that?"),
    ("pleasantry.tag", "Really?"),
    ("narration.as-mentioned", "As I already mentioned above..."),
    ("narration.transition", "That being said,"),
    ("narration.intent", "Now let me take a closer look at this file."),
    ("narration.perception", "Okay, now I see the problem."),
    ("narration.ongoing", "Looking at the output again..."),
    ("narration.request", "Please go ahead."),
    ("narration.here", "Here is the rewritten paragraph on brokers:"),
    ("narration.telling", "Let me outline the plan for brokers:"),
    ("control.terminate", "TERMINATE"),
    ("control.interrupted", "[Request interrupted by user]"),
    ("fragment.none", "None at this time."),
    ("fragment.no-words", "--- 🚀"),
    ("structure.label", "Note:"),
    ("structure.lead-in", "Edge cases:"),
    ("structure.lead-in", "Compile and Present the Findings:"),
    ("pleasantry.wait", "Take your time to find it."),
    ("code.line", 'if (broker == null) { return "none"; }'),
    ("code.line", "import broker.core as bc"),
    ("code.line", ">>> broker.start()"),
    ("code.line", "broker.start(3) broker.stop()"),
    ("code.line", "DROP TABLE brokers;"),
    ("code.line", "[{'broker': 'one', 'up': True}]"),
    ("code.line", 'File "broker.py", line 3, in start'),
]

CLAIMS = [
    "The cache is stale.",
    "Thanks to the cache, latency dropped by half.",
    "Great expectations are what we had.",
    "Okay-ish caching is fine.",
    "Right now the broker is down.",
    "Sure signs of a leak: memory grows.",
    "Done-state caching was removed.",
    "Good morning traffic peaks at nine.",
    "I see that the broker is already patched.",
    "Here is what broke it: the lease expired.",
    "I need the broker logs of Monday.",
    "I'll need the broker logs of Monday.",
    "Leaving the lease open costs a broker.",
    "Leaving those for another lease.",
    "We'll see fewer leases.",
    "I'll have the broker.",
    "Let me explain why the lease expired.",
    "If there was a fault, please contact the broker.",
    "Open standards solve this.",
    "Return flight",
    "Search Titles",
    "Package Management",
    "Complete audit: the history shows what went.",
    "Correct calculation of the lease",
    "Read/write access to the broker",
    "go.mod",
    "Port 3389: not listening",
    "Merge conflict: there was only one.",
    "File operations",
    "Correct answers of the broker",
    "The decision is how to stop it.",
    "The list holds everything you need to run it.",
    "Cancel the lease: if it is new, you can.",
    "After the update, cache hits dropped.",
    "Caching layers of the broker.",
    'The search did not find "Can the broker renew it?".',
    "Looking at the output, the lease expired twice.",
    "I hope the lease holds.",
    "I appreciate that the broker is free.",
    "The broker has not decided on a leader.",
    "We have not agreed on a name.",
    "When we decided to leave, it rained.",
    'The song "I\'ll Keep the Light" is old.',
    "Test coverage is 80 percent.",
    "Use of leases is discouraged.",
    "Update: the broker is up again.",
    "Rebase and tests are complete.",
    '"review" step passed.',
    "If we need to scale, there is room.",
    "The lease does not need to be renewed.",
    "It needs to be fast.",
    "TBDs abound.",
    "That is the new lease; it expires in May;",
    r"s = \sqrt{x}",
    "42",
    "Paris.",
    "Paris",
]


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_rule(rule, text):
    """Each rule finds what it is for."""
    assert read_sentence(text).rule == rule


def test_every_rule_has_an_example():
    """No rule is without an example, but for the tables that are matched as a part of something else."""
    parts = {rule.id for table in (rules.CODE, rules.TAGS) for rule in table}
    sections = {rule.id for rule in rules.SECTIONS} | {"remark.label"}
    tables = [value for value in vars(rules).values() if isinstance(value, tuple)]
    of_persons = (rules.APPROVALS, rules.PERSON_REQUESTS)
    ids = {rule.id for table in tables if table not in of_persons for rule in table}
    assert ids - parts - sections == {rule for rule, _ in EXAMPLES} & ids


#: A sentence for each rule of what a person says.
OF_PERSONS = [
    ("decision.approved", "Yes, please go ahead with those changes."),
    ("decision.approved", "In that case, please go ahead and renew the lease."),
    ("decision.willing", "If it costs a day, I'm willing to wait."),
    ("decision.approved-it", "Great, do it!"),
    ("decision.sounds-good", "That sounds good."),
    ("decision.agreed", "Approved."),
    ("decision.chosen", "I'd like to proceed with the smaller model."),
    ("decision.picked", "OK, I'll take the second one."),
    ("decision.picked", "I want to use my own lease first."),
    ("decision.lets", "Let's remove that."),
    ("action.request", "I was hoping to change the lease."),
    ("action.request", "Hi there, I'd like to renew the lease."),
]


@pytest.mark.parametrize(("rule", "text"), OF_PERSONS)
def test_rule_of_persons(rule, text):
    """A person approves and asks; from a model the same would be politeness, or a word about itself."""
    assert read_sentence(text, person=True).rule == rule
    assert read_sentence(text).rule != rule


def test_every_rule_of_persons_has_an_example():
    """No rule is without an example."""
    ids = [rule.id for rule in (*rules.APPROVALS, *rules.PERSON_REQUESTS)]
    assert ids == list(dict(OF_PERSONS))


@pytest.mark.parametrize(
    "text",
    [
        "The cache is stale.",
        "Let's look at the cache.",
        "I want to know why.",
        "That works only on Monday.",
        "Let's consider what happens then.",
        "Can we go ahead?",
        "Yes.",
    ],
)
def test_person_who_neither_approves_nor_asks(text):
    """Looking into something decides nothing, and a question is none of both."""
    reading = read_sentence(text, person=True)
    assert reading.rule not in dict(OF_PERSONS)


@pytest.mark.parametrize(
    "text",
    [
        "Open the file.",
        "Run tests",
        "Check error logs of the broker",
        "Change to `x` if the intent is that it counts",
        "Fix NormalizePath matching",
        "Log to files",
        "turn document types into leases",
        "Return the code of the country.",
    ],
)
def test_order(text):
    """A verb that is a noun or an adjective as well orders something where an object follows."""
    assert read_sentence(text).rule == "action.imperative"


def test_narration_states_nothing():
    """What comes next is an action and no claim; a promise is both."""
    assert not read_sentence("Let me rotate the keys.").states
    assert read_sentence("I'll rotate the keys.").states


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('What is said in "Can it?"', True),
        ('Did you read "Can it?"', True),
        ('Read "Can it?"', False),
        ('"Can it?"', True),
    ],
)
def test_question_mark_of_a_title(text, asks):
    """A question mark in a title at the end asks nothing."""
    assert (read_sentence(text).kind == "question") is asks


@pytest.mark.parametrize(
    "text",
    [
        "Could you please tell me your broker number?",
        "Can you help me with that?",
        "Would you like a lease?",
        "Could you confirm that the lease holds?",
    ],
)
def test_question_that_asks_for_no_work(text):
    """Whoever asks to be told something asks, and wants nothing done."""
    assert read_sentence(text).rule == "question.mark"


@pytest.mark.parametrize("text", CLAIMS)
def test_claim(text):
    """What only looks like a pleasantry, a decision or an action is a claim, whole."""
    reading = read_sentence(text)
    assert reading == ("claim.statement", 0, len(text), True)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Great, so we use Redis.", "we use Redis."),
        ("Sure! - the cache is stale", "the cache is stale"),
        ("Yes, but the cache is stale.", "the cache is stale."),
        ("Thanks for checking, the cache is stale.", "the cache is stale."),
        ("Thank you for checking v1.2 so quickly, the cache is stale.", "the cache is stale."),
        ("Sorry, the cache is stale.", "the cache is stale."),
        ("As mentioned above, the cache is stale.", "the cache is stale."),
        ("In summary: the cache is stale.", "the cache is stale."),
        ("Okay, great, so the cache is stale.", "the cache is stale."),
        ("Note: the cache is stale.", "the cache is stale."),
        ("Decision 3: the cache goes.", "the cache goes."),
        ("TODO - drop the cache", "drop the cache"),
        ("The cache is stale, right?", "The cache is stale"),
        ("The cache is stale, isn't it?", "The cache is stale"),
        ("OK, `cache.drop` is stale.", "`cache.drop` is stale."),
    ],
)
def test_what_counts(text, content):
    """Openings, labels and tag questions are left out of what counts."""
    reading = read_sentence(text)
    assert text[reading.start : reading.end] == content


@pytest.mark.parametrize(
    "text", ["你好吗？", "هل هذا صحيح؟", "Τι είναι;", "Why?!", "(Is it?)", '"Is it?"', "Is it? 🤔", "Ինչու՞"]
)
def test_question_marks_of_other_scripts(text):
    """A question is known by the mark of its script, whatever follows the mark."""
    assert read_sentence(text) == ("question.mark", 0, len(text), False)


def test_openness_states_something():
    """ "It is unclear whether X" leaves a question open and states that it is; "Should we" states nothing."""
    assert read_sentence("It is unclear whether it scales.").states
    assert not read_sentence("Should we scale").states
    assert not read_sentence("Does it scale?").states


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Next steps", "action"),
        ("**Immediate action items:**", "action"),
        ("📋 TODO list", "action"),
        ("Plan for the next two weeks", "action"),
        ("Open questions", "question"),
        ("Remaining questions for the team:", "question"),
        ("Key decisions made so far", "decision"),
        ("What we've decided", "decision"),
        ("Known risks", "claim"),
        ("Decision records are kept in git", None),
        ("Next steps are hard", None),
        ("The cache", None),
    ],
)
def test_section(text, kind):
    """A heading says what stands below it, if all of it does."""
    assert section_kind(text) == kind


def test_given_kind():
    """A statement takes the kind of its section; a question stays one, and a label wins."""
    assert read_sentence("The owner of the cache", "question").rule == "question.section"
    assert read_sentence("Redis", "decision").rule == "decision.section"
    assert read_sentence("Who pays?", "decision").rule == "question.mark"
    assert read_sentence("Decision: Redis", "action").rule == "decision.label"
    assert read_sentence("August 3, 2015", "action").rule == "claim.statement"
    assert read_sentence("Redis", "claim").rule == "claim.statement"
    assert read_sentence("n/a", "question").rule == "fragment.none"


def test_heading():
    """A heading counts if it states something; a question in one is answered below it."""
    assert read_sentence("Caching layer", heading=True).rule == "structure.heading"
    assert read_sentence("Why is it stale?", heading=True).rule == "structure.heading"
    assert read_sentence("Why is it stale?", "question", heading=True).rule == "question.mark"
    assert read_sentence("The cache is stale", heading=True).rule == "claim.statement"


@pytest.mark.parametrize(
    ("text", "expected"), [("None.", True), ("N/A", True), ("—", True), ("No cache", False)]
)
def test_nothing(text, expected):
    """An answer that says that there is nothing is known as such."""
    assert is_nothing(text) is expected
