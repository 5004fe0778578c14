"""What `check --all` says of a bill, below its sentence."""

from __future__ import annotations

from ebbtide.budget.prices import Prices
from ebbtide.checking import check_events
from ebbtide.cli.runs.run_screen import bill_lines
from ebbtide.events.event import Message, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions

PRICES = Prices({"m": {"input": 1.0, "output": 5.0, "cache_read": 0.1, "cache_write": 1.25}}, public=False)


def call(read: int, write: int) -> ModelCall:
    """A call of the model that reads so many tokens."""
    usage = Usage(model="m", cache_read_tokens=read, cache_write_tokens=write, output_tokens=100)
    return ModelCall(text="", usage=usage)


def test_every_view_is_a_line() -> None:
    """Classes, contents, tools, files, phases, failures, and the most expensive events."""
    events = [
        Message(text="Read the file."),
        call(0, 100_000),
        ToolCall(name="Read", args={"file_path": "big.json"}, result="x" * 80_000),
        call(100_000, 20_100),
        ToolCall(name="Write", args={"file_path": "a.py", "content": "x"}, result="ok"),
        call(120_100, 120),
        ToolCall(name="Bash", args={"command": "pytest -q"}, result="1 failed", error=True),
        call(120_220, 120),
    ]
    lines = bill_lines(check_events(events, RunOptions(prices=PRICES)).bill)
    text = [line.text for line in lines]
    assert [line.partition(":")[0] for line in text[:6]] == [
        "classes",
        "contents",
        "tools",
        "files",
        "phases",
        "failed",
    ]
    assert "Read $0.03 (" in text[2]
    assert "big.json $0.03 (" in text[3]
    assert "event 3: Read big.json: 20,000 tokens, read by 3 calls: $0.03" in text


def test_reasoning_and_writes_for_an_hour_have_names() -> None:
    """They stand beside the classes that they are a part of."""
    usage = Usage(
        model="m",
        cost_usd=1.0,
        output_tokens=1_000,
        reasoning_tokens=600,
        cache_write_tokens=8_000,
        cache_write_1h_tokens=5_000,
    )
    (line, *_) = bill_lines(check_events([ModelCall(text="", usage=usage)], RunOptions(prices=PRICES)).bill)
    names = ("cache writes $", "one-hour cache writes $", "output $", "reasoning $")
    assert all(name in line.text for name in names)


def test_a_run_without_usage_has_no_bill() -> None:
    """Nothing is known, and nothing is shown."""
    assert bill_lines(check_events([ToolCall(name="ls", args={}, result="a")]).bill) == []
