"""Plain text that a search of a folder comes upon: what is clearly a conversation, and what is not."""

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.traces.reading import Trace

TALK = "Ann: The cache is cold.\nBob: Warm it at boot, please.\n" * 3


def searched(text: str, source: str = "talk.txt") -> Trace:
    return Trace.of(text.encode(), source=source, is_named=False)


@pytest.mark.parametrize(
    "text",
    [
        TALK,
        f"# Weekly\n\n{TALK}",
        "User: Warm it.\nAssistant: Done.",
        "Lead: Who looks at it?\n" + "Lead: I look again at the logs.\nAnn: They are empty, it seems.\n" * 4,
    ],
    ids=["names", "heading", "roles", "one speaks more"],
)
def test_a_conversation_is_read(text: str) -> None:
    """Few speakers who take turns and speak in sentences."""
    assert searched(text).format.name == "text"


@pytest.mark.parametrize(
    ("text", "source", "reason"),
    [
        (TALK, "talk.py", "a file of the type .py"),
        ("Ann: I look again at it.\n" * 20 + "Bob: So do I, of course.\n" * 4, "a.log", "the names do not"),
        (TALK, "LICENSE", "a file of the type without a suffix"),
        ("Ann: One thing is left.\nBob: Two things are left.", "a.txt", "only 2 turns"),
        ("Agent: One thing is left.\n" * 6, "a.txt", "only one name starts lines"),
        ("PASS: gdb works well here.\n" * 20 + "XFAIL: it does not work.\n" * 2, "a.log", "'PASS' is no"),
        ("Ann: ok\nBob: no\n" * 4, "a.txt", "too few words"),
        ("Size: 4 of all the bytes\nKind: a of all the kinds\n" * 4, "a.txt", "what stands behind"),
        (
            "Colour: it is red now.\nFlavour: it is sour now.\nSmell: none.\nTouch: none.\n",
            "a.txt",
            "too few of",
        ),
        (
            "Content-Type: text and more of it.\nReceived: by some other host.\n" * 4,
            "a.txt",
            "'Content-Type' is",
        ),
        ("Prose goes on.\n" * 40 + TALK, "a.md", "most of it stands before"),
    ],
)
def test_other_text_is_refused(text: str, source: str, reason: str) -> None:
    """The message says what is missing, and that a file which is named is read."""
    assert Trace.of(text.encode(), source=source).format.name == "text"
    with pytest.raises(TranscriptError, match=f"text that is not clearly a conversation: {reason}") as caught:
        searched(text, source)
    assert caught.value.no_trace
    assert "Name the file" in str(caught.value)
