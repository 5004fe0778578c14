"""Budgets that others draw on too, held by watched runs."""

import asyncio
import threading

import pytest

from ebbtide import (
    Action,
    AsyncRuns,
    Budget,
    Budgets,
    ModelCall,
    Notice,
    NoticeKind,
    Runs,
    Supervisor,
    ToolCall,
    Usage,
    Verdict,
    watch,
)
from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore

RULES = [Budget(scope="project", limit_usd=1.6, soft_usd=1.2), Budget(scope="agent", limit_usd=1.0)]


def spent(budgets: Budgets) -> dict[str, tuple[float, float]]:
    return {row.key: (row.spent_usd, row.reserved_usd) for row in budgets.standings()}


def answer(cost: float | None, **fields) -> ModelCall:
    usage = None if cost is None else Usage(cost_usd=cost, output_tokens=9)
    return ModelCall(text=f"cost {cost}", usage=usage, **fields)


@pytest.fixture
def budgets() -> Budgets:
    return Budgets(RULES).of(project="x")


def test_a_call_sets_aside_a_share_then_what_the_most_expensive_took(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    assert runs.before_model("r1", agent="coder").refusal is None
    assert spent(budgets) == {"agent:coder:total": (0.0, 0.0625), "project:x:total": (0.0, 0.0625)}
    runs.record("r1", answer(0.2, agent="coder"))
    runs.before_model("r2", agent="coder")
    assert spent(budgets) == {"agent:coder:total": (0.2, 0.2), "project:x:total": (0.2, 0.2)}


def test_two_runs_draw_on_one_budget_and_the_verdict_says_so(budgets: Budgets) -> None:
    changes: list[tuple[str, str]] = []
    runs = Runs(budgets=budgets, listener=lambda run_id, verdict: changes.append((run_id, verdict.action)))
    for number in range(2):
        assert runs.before_model(f"r{number}").refusal is None
        runs.record(f"r{number}", answer(0.45))
    advice = runs.before_model("r2")
    assert advice.end == (
        "The budget of no agent does not allow the next call: $0.90 of $1.00 spent, and it may cost $0.45."
    )
    assert (advice.verdict.kind, advice.verdict.cause, advice.verdict.action) == ("budget", "limit", "stop")
    assert Verdict.from_dict(advice.verdict.to_dict()) == advice.verdict
    assert changes == [("r2", "stop")]
    assert runs.standing()[0].run_id == "r2"
    assert runs.get("r2").ending("") is not None
    budgets.extend("agent::total", 1.0)
    assert runs.before_model("r2").refusal is None
    assert changes == [("r2", "stop"), ("r2", "allow")]


def test_a_person_who_acknowledges_lets_all_runs_go_on(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    runs.record("r1", answer(0.7, agent="a"))
    runs.record("r1", answer(0.6, agent="b"))
    advice = runs.before_model("r1", agent="c")
    assert advice.end is None
    assert "passed $1.20, so a person must approve more: $1.30 of $1.60 spent" in (advice.ask or "")
    runs.acknowledge("r1")
    for run_id in ("r1", "r2"):
        assert runs.before_model(run_id, agent="c").refusal is None


def test_a_call_without_a_price_ends_the_next_until_its_usage_comes(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    runs.before_model("r1")
    runs.record("r1", answer(None))
    advice = runs.before_model("r2")
    assert "cannot be counted: the cost of a finished call is unknown" in (advice.end or "")
    runs.record("r1", Notice(kind=NoticeKind.USAGE, usage=Usage(cost_usd=0.1)))
    assert runs.before_model("r2").refusal is None
    assert spent(budgets)["project:x:total"][0] == 0.1


def test_failed_calls_and_tools_cost_nothing_unless_they_say_so(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    runs.before_model("r1")
    runs.record("r1", ModelCall(error=True))
    runs.record("r1", ToolCall(name="ls", args={}, result="a"))
    assert set(spent(budgets).values()) == {(0.0, 0.0)}
    runs.record("r1", ToolCall(name="agent", args={}, result="a", usage=Usage(cost_usd=0.3)))
    assert spent(budgets)["project:x:total"] == (0.3, 0.0)


def test_a_call_that_the_supervisor_ends_is_given_back(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    for _ in range(5):
        advice = runs.before_model("r1")
        runs.record("r1", answer(0.01))
        runs.record("r1", ToolCall(name="ls", args={"path": "."}, result="a.txt"))
    assert advice.verdict.action is Action.STOP
    runs.before_model("r1")
    assert spent(budgets)["project:x:total"] == (0.05, 0.0)


def test_a_run_in_shadow_is_charged_and_goes_on(budgets: Budgets) -> None:
    runs = Runs(lambda _: Supervisor(shadow=True), budgets=budgets)
    for _ in range(3):
        assert runs.before_model("r1").refusal is None
        runs.record("r1", answer(0.6))
    assert spent(budgets)["project:x:total"] == (1.8, 0.0)


def test_agents_at_the_same_time_are_charged_for_their_own_calls(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    for agent in ("a", "b"):
        runs.before_model("r1", agent=agent)
    runs.record("r1", answer(0.4, agent="b"))
    assert spent(budgets)["agent:b:total"] == (0.4, 0.0)
    assert spent(budgets)["agent:a:total"] == (0.0, 0.0625)


def test_calls_at_the_same_time_are_each_charged_once(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    for _ in range(3):
        runs.before_model("r1")
    for _ in range(3):
        runs.record("r1", answer(0.05))
    assert spent(budgets)["project:x:total"] == (pytest.approx(0.15), 0.0)


def test_a_call_that_nobody_records_comes_back_when_its_lease_ends() -> None:
    now = [1e9]
    budgets = Budgets(RULES, SQLiteBudgetStore(clock=lambda: now[0]), lease_s=60)
    runs = Runs(budgets=budgets)
    runs.before_model("r1")
    runs.end("r1")
    assert spent(budgets)["project::total"] == (0.0, 0.0625)
    now[0] += 61
    assert spent(budgets)["project::total"] == (0.0, 0.0)


def test_a_budget_verdict_goes_when_a_restarted_run_has_no_budgets(budgets: Budgets) -> None:
    runs = Runs(budgets=budgets)
    runs.record("r1", answer(1.7))
    assert runs.before_model("r1").end
    supervisor = Supervisor()
    supervisor.load(runs.get("r1").to_bytes())
    assert Runs(lambda _: supervisor).before_model("r1").end is None


@pytest.mark.filterwarnings("ignore:the store of budgets is away", "ignore:the registry of runs goes on")
@pytest.mark.parametrize("when_away", ["refuse", "allow"])
def test_a_store_that_is_away_is_told_of(when_away: str) -> None:
    runs = Runs(budgets=Budgets(RULES, "redis://127.0.0.1:1/0", when_away=when_away))
    advice = runs.before_model("r1")
    assert (advice.end is None) == (when_away == "allow")
    assert runs.faults == {"budgets": 1}
    assert "127.0.0.1" in runs.last_fault


def test_the_registry_of_asyncio_waits_for_the_store_in_a_thread(budgets: Budgets, monkeypatch) -> None:
    threads = set()
    reserve = SQLiteBudgetStore.reserve

    def reserve_here(*args, **options):
        threads.add(threading.current_thread())
        return reserve(*args, **options)

    monkeypatch.setattr(SQLiteBudgetStore, "reserve", reserve_here)

    async def run() -> None:
        async with AsyncRuns(Runs(budgets=budgets)) as runs:
            assert (await runs.before_model("r1")).refusal is None
            await runs.record("r1", answer(1.7))
            assert (await runs.before_model("r1")).end

    asyncio.run(run())
    assert threads
    assert threading.current_thread() not in threads


class Completions:
    """What `watch` needs of an SDK."""

    def create(self, **_: object) -> dict:
        return {
            "choices": [{"message": {"role": "assistant", "content": "42"}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.9},
            "model": "x",
        }


class Client:
    def __init__(self) -> None:
        self.chat = type("Chat", (), {"completions": Completions()})()


def test_a_watched_client_draws_on_the_budgets(budgets: Budgets) -> None:
    client = watch(Client(), budgets=budgets)
    for question in ("a", "b"):
        reply = client.chat.completions.create(messages=[{"role": "user", "content": question}])
    assert spent(budgets)["project:x:total"] == (0.9, 0.0)
    assert "The budget of project 'x' does not allow the next call" in reply.choices[0].message.content
