"""Events of records, and what they say to a report."""

from __future__ import annotations

from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.claims.sentences import GRAVE
from ebbtide.events.event import Event, ToolCall

PASSED = "===== 212 passed in 4.10s ====="
FAILED = "===== 3 failed, 209 passed in 4.10s ====="
GO = "ok  \texample.org/quay/berths\t0.982s\nok  \texample.org/quay/tides\t1.280s"
PUSHED = "To github.com:quay/berths.git\n   9c1d0aa..e77b3f2  main -> main"
REJECTED = "To github.com:quay/berths.git\n ! [rejected]        main -> main (non-fast-forward)"
AGENT = ToolCall(name="Task", args={"prompt": "Look at the tides."}, result="They are right.")


def shell(command: str, result: str | None = "", *, error: bool = False) -> ToolCall:
    """A command with its output."""
    return ToolCall(name="Bash", args={"command": command}, result=result, error=error)


def edit(path: str, old: str = "a = 1", new: str = "a = 2") -> ToolCall:
    """An edit of a file."""
    args = {"file_path": path, "old_string": old, "new_string": new}
    return ToolCall(name="Edit", args=args, result="edited")


def answers(events: list[Event], report: str) -> list[str]:
    """The kinds and answers of a report's claims, and the events that show them."""
    record = ClaimRecord()
    for event in events:
        record.see(event)
    return [
        f"{check.kind.value} {check.answer.value}{'' if check.event is None else f' {check.event}'}"
        for check in record.check_report(report)
    ]


def write(path: str, content: str = "x") -> ToolCall:
    """A new file."""
    return ToolCall(name="Write", args={"file_path": path, "content": content}, result="File created")


def is_accused(events: list[Event], report: str) -> bool:
    """True if the record speaks against a claim of the report."""
    return any(answer.split()[1] in set(GRAVE) for answer in answers(events, report))
