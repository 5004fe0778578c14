"""Last words of a run, read for the run and not for the work."""

import pytest

from ebbtide.convergence.outcomes import read_outcome
from ebbtide.events.run_outcome import RunOutcome

REVIEW = """## Review of the importer

The change is sound, with two findings.

- A new deployment fails when the table is empty, and the job is marked as failed.
- Failure: the red snackbar stays open.
- The worker gives up after 3 attempts and is blocked until the queue is drained.

The message exceeds the token budget in one case. I couldn't run the tests, npm is broken here.
The retry loop still needs a cast in `worker.ts`. It would have failed on Windows too.
The second finding is the more important of the two. The rest is a matter of taste.
The names are good. The documentation is up to date."""
REPORTS = {
    "a review that describes faults": REVIEW,
    "a check that could not run": "Implemented the parser in `src/parse.py`. I could not run the tests here.",
    "a fault beside what is done": "Fixed the race and pushed it. The nightly build still fails, as before.",
    "what comes next": "Committed as `1a2b3c`.\n\n## Next up\n\nPhase 15 is planned and not started yet.",
    "a state in a list": "Pushed. It prints:\n- **Done**: a tick\n- **Not yet configured**: the prompt",
    "what is left to do": "Pushed and ran it. The branch still needs to be merged to make this permanent.",
    "an explanation": "Unfortunately, the tool does not support keys for every unlock, only for new devices.",
    "a promise that waits for a person": "I added it. Let me know if more are public and I'll extend it.",
    "a deed without a subject": "Added the flag, and documented it. You could not set it before.",
}


@pytest.mark.parametrize("text", REPORTS.values(), ids=REPORTS)
def test_a_report_about_the_work_is_no_failure_of_the_run(text: str) -> None:
    """Faults, risks, checks that could not run and next steps end no run."""
    reading = read_outcome(text)
    assert reading is None or reading.outcome is RunOutcome.FINISHED


ENDS = {
    "it gives up": ("I changed the lock twice. Neither helped, so I am giving up.", RunOutcome.FAILED),
    "it did not do its task": (
        "I was not able to complete the task. The deadlock is in C code. I tried three locks.",
        RunOutcome.FAILED,
    ),
    "it waits": ("The client is ready. I can't continue until the key is set.", RunOutcome.BLOCKED),
    "it goes on": (
        "The models are ported and their tests pass. Now I'll port the views.",
        RunOutcome.GOING_ON,
    ),
    "it asks for a choice after its report": (
        "All tests pass. Would you like me to explore this further, or should I commit it first?",
        RunOutcome.HANDED_BACK,
    ),
    "it asks, and says what it does with the answer": (
        "I found no command.\n- Which client is it?\n\nOnce I have that I'll write it down.",
        RunOutcome.HANDED_BACK,
    ),
    "a program printed its limit": ("Max rounds (30) reached.", RunOutcome.LIMIT),
}


@pytest.mark.parametrize(("text", "outcome"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_turn_says_how_the_run_ended(text: str, outcome: RunOutcome) -> None:
    """Last sentences about the agent's own task decide."""
    reading = read_outcome(text)
    assert reading is not None
    assert reading.outcome is outcome


@pytest.mark.parametrize(
    "end",
    ["Here's a summary of the changes:\n- one flag\n- one test", "Done.", "All changes made:\n- `a.py`"],
)
def test_the_words_that_are_quoted_say_what_is_done(end: str) -> None:
    """An announcement of a list, or one bare word, gives way to the report before it."""
    reading = read_outcome(f"I ran the linter. All 42 tests pass now. {end}")
    assert reading is not None
    assert reading.outcome is RunOutcome.FINISHED
    assert reading.text == "All 42 tests pass now."


BARE = {
    "Done.": "Done.",
    "Fixed. The cast hid the error.": "Fixed. The cast hid the error.",
    "Both pass. Here's a summary of the changes:\n- one flag": "Both pass. Here's a summary of the changes:",
}


@pytest.mark.parametrize(("text", "quoted"), BARE.items(), ids=BARE)
def test_a_bare_report_is_quoted_with_its_neighbour(text: str, quoted: str) -> None:
    """Where no other sentence reports what is done."""
    reading = read_outcome(text)
    assert reading is not None
    assert reading.text == quoted
