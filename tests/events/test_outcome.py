"""How a call ended, by what its answer says."""

import pytest

from ebbtide.events.awaited import is_under_way, may_still_come
from ebbtide.events.outcome import Ending, counts_deeds, outcome_of

CONTENT = "\n".join(f"line {n} of a long document" for n in range(40))


@pytest.mark.parametrize(
    "answer",
    [
        "bash: foo: command not found",
        "Traceback (most recent call last):\n  File 'a.py'\nKeyError: 'x'",
        "exit code 2",
        "3 failed, 12 passed in 0.4s",
        "npm ERR! missing script: build",
        '{"success": false}',
        '{"error": "quota exceeded"}',
        "HTTP 503 error",
        "Permission denied",
        "You haven't granted it yet",
        f"{CONTENT}\nerror: build failed",
    ],
)
def test_failures_that_no_flag_reports(answer: str) -> None:
    """What programs and harnesses print of their failures."""
    outcome = outcome_of(answer)
    assert outcome is not None
    assert outcome.ending is Ending.FAILED


@pytest.mark.parametrize(
    "answer",
    ["No results", "0 matches found", "[]", '{"results": []}', "Could not find [x]", "(0 rows)"],
)
def test_empty_answers(answer: str) -> None:
    """What says that there is nothing, and nothing else."""
    outcome = outcome_of(answer)
    assert outcome is not None
    assert outcome.ending is Ending.EMPTY


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "ok",
        "12 passed in 3.1s",
        "0 failed, 12 passed",
        "Finished with no errors",
        '{"error": null, "rows": 3}',
        "exit code 0",
        f"{CONTENT}\nthe page on errors says that a token is invalid\n{CONTENT}",
    ],
)
def test_answers_that_say_nothing_of_it(answer: str) -> None:
    """All is well, or the answer is content that may be about errors."""
    assert outcome_of(answer) is None


def test_a_flag_says_that_it_failed_whatever_the_text() -> None:
    """Then the last line stands for it."""
    outcome = outcome_of("all\nis\nwell", failed=True)
    assert outcome is not None
    assert (outcome.ending, outcome.lines) == (Ending.FAILED, (("well", "well"),))


@pytest.mark.parametrize(
    ("one", "other", "is_template", "is_wording"),
    [
        pytest.param(
            ("error: no file a.py", "a.py"),
            ("error: no file b.py", "b.py"),
            True,
            True,
            id="an echoed argument",
        ),
        pytest.param(("error after 1.5s", ""), ("error after 2.5s", ""), True, True, id="noise"),
        pytest.param(
            ("error: no 'cart' here", ""), ("error: no 'price' here", ""), True, False, id="a quoted name"
        ),
        pytest.param(("error: row 3 is bad", ""), ("error: row 4 is bad", ""), True, False, id="a number"),
        pytest.param(
            ("error: disk is full", ""), ("error: host not known", ""), False, False, id="another failure"
        ),
    ],
)
def test_lines_that_are_the_same(
    one: tuple[str, str], other: tuple[str, str], is_template: bool, is_wording: bool
) -> None:
    """Templates leave names and numbers out, wordings only noise and what was asked."""
    left, right = (outcome_of(answer, arguments) for answer, arguments in (one, other))
    assert left is not None
    assert right is not None
    assert (
        [template for template, _ in left.lines] == [template for template, _ in right.lines]
    ) is is_template
    assert ([wording for _, wording in left.lines] == [wording for _, wording in right.lines]) is is_wording


def test_numbers_that_count() -> None:
    """What a failure counts is told apart from its place."""
    counted, placed = outcome_of("3 failed, 12 passed"), outcome_of("error: line 12 is not valid")
    assert counted is not None
    assert placed is not None
    assert (counted.numbers, placed.numbers) == ((3.0, 12.0), ())


@pytest.mark.parametrize(
    ("answer", "is_down"),
    [("error: connection refused", True), ("429 Too Many Requests", True), ("error: no such column", False)],
)
def test_a_service_that_is_down(answer: str, is_down: bool) -> None:
    """Nobody's doing, and it may pass."""
    outcome = outcome_of(answer)
    assert outcome is not None
    assert outcome.is_down is is_down
    assert may_still_come(answer, outcome) is is_down


@pytest.mark.parametrize(
    ("answer", "under_way", "may_come"),
    [
        ('{"status": "running"}', True, True),
        ("2 of 3 completed, 1 running", True, True),
        ("the job is done", False, False),
        ("3 of 7", False, True),
        ("it is running " + "and more " * 40, False, True),
    ],
)
def test_what_may_still_come(answer: str, under_way: bool, may_come: bool) -> None:
    """A short state says that it is under way; what ended will not come."""
    assert (is_under_way(answer), may_still_come(answer, None)) == (under_way, may_come)


@pytest.mark.parametrize(
    ("answer", "is_deed"),
    [("20 rows affected", True), ("deleted: 3", True), ("DELETE 0", False), ("ok", False)],
)
def test_deeds_that_are_counted(answer: str, is_deed: bool) -> None:
    """Something was done to so many things, and not to none."""
    assert counts_deeds(answer) is is_deed
