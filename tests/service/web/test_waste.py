"""What a run has wasted is found without anybody asking, and again when it has grown."""

import time
from typing import Any


def turns(first: int, count: int) -> list[dict[str, Any]]:
    """A call of the model and one of a tool, each time the same."""
    call = {"kind": "tool", "name": "ls", "args": {}, "result": "a.txt"}
    model_call = {"kind": "llm", "model": "small", "input_tokens": 100, "cost_usd": 0.5}
    numbers = range(first, first + 2 * count, 2)
    return [event for seq in numbers for event in ({"seq": seq, **model_call}, {"seq": seq + 1, **call})]


def wasted(service, run_id: str, *, above: float = 0.0) -> float | None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        amount = service.get(f"/v1/runs/{run_id}")["wasted_usd"]
        if amount is not None and amount > above:
            return amount
        time.sleep(0.1)
    return None


def test_it_is_what_the_summary_says_and_grows(empty_service) -> None:
    empty_service.send("a", *turns(1, 6), project="billing")
    first = wasted(empty_service, "a")
    assert first == empty_service.get("/v1/runs/a/summary")["bill"]["wasted"]["cost_usd"] > 0
    empty_service.send("a", *turns(13, 20))
    assert (
        wasted(empty_service, "a", above=first)
        == empty_service.get("/v1/runs/a/summary")["bill"]["wasted"]["cost_usd"]
    )
    (group,) = empty_service.get("/v1/spending", by="project")["groups"]
    assert group["wasted_usd"] == empty_service.get("/v1/runs/a")["wasted_usd"]


def test_who_is_looked_at_does_not_wait_for_the_others(empty_service) -> None:
    """Beside a run that takes a minute, a stuck one is there in seconds, and one that is opened at once."""
    steps = [
        {"kind": "tool", "name": "read", "args": {"n": n}, "result": f"page {n}"} for n in range(1, 10_001)
    ]
    empty_service.send("long", *({"seq": seq, **step} for seq, step in enumerate(steps, 1)))
    time.sleep(1.2)  # until it is looked at
    start = time.monotonic()
    empty_service.send("stuck", *turns(1, 6))
    empty_service.send("opened", *turns(1, 2))
    assert empty_service.client.get("/v1/runs/opened/report.html").status_code == 200
    assert empty_service.get("/v1/runs/opened")["wasted_usd"] is not None
    assert empty_service.get("/v1/runs/stuck")["stuck_since"] is not None
    assert wasted(empty_service, "stuck")
    assert time.monotonic() - start < 5
    assert empty_service.get("/v1/runs/long")["wasted_usd"] is None
