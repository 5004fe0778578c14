"""Chat histories of aider."""

from collections.abc import Callable

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind


def test_a_history(calls: Callable[..., list[Event]]) -> None:
    """Who says what, what an answer cost, and where a run begins."""
    events = calls("aider.chat.history.md", form="aider")
    spoken = [event for event in events if isinstance(event, Message | ModelCall)]
    assert [type(event) for event in spoken] == [Message, ModelCall] * 2
    assert spoken[0].text == "The cache is cold after a restart.\nWarm it at boot."
    answer = spoken[1]
    assert isinstance(answer, ModelCall)
    assert answer.text is not None
    assert "#### What changes" in answer.text
    assert "#### start" in answer.text
    assert answer.usage is not None
    assert (answer.usage.model, answer.usage.input_tokens, answer.usage.output_tokens) == (
        "claude-sonnet-4-5",
        2_300,
        150,
    )
    assert answer.usage.cost_usd == 0.01
    starts = [event for event in events if isinstance(event, Notice) and event.ts is not None]
    assert [event.kind for event in starts] == [NoticeKind.NOTE, NoticeKind.RUN_START]
