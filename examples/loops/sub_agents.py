"""A planner, and two readers at the same time: a loop ends its own conversation, a limit counts them all."""

import asyncio

from local_model import TOOLS, LocalModel, calls_in, exchange, question, text_in, use

from ebbtide import Effect, Limits, ModelCall, Runs, Supervisor, ToolCall, ToolPolicies, ToolPolicy

POLICIES = ToolPolicies({"search": ToolPolicy(effect=Effect.READ)})
CALLS = {"enough": 20, "few": 6}  # of the model, for all agents of a run together
RUNS = Runs(lambda run_id: Supervisor(tools=POLICIES, limits=Limits(llm_calls=CALLS[run_id])))


async def agent(model: LocalModel, run_id: str, name: str) -> str:
    """Work on a part of the task, in a conversation of its own."""
    messages, tools = question(f"The part of the {name}."), TOOLS
    while True:
        turn = RUNS.before_model(run_id, agent=name)
        if turn.refusal:
            return f"ended: {turn.refusal}"
        if turn.without_tools:
            tools = []
        if turn.note:
            messages.append({"role": "user", "content": turn.note})
        answer = await model.ask_async(messages, [] if name == "planner" else tools, name)
        RUNS.record(run_id, ModelCall.of(answer, agent=name))
        if not calls_in(answer):
            return f"done: {text_in(answer)}"
        for call in calls_in(answer):
            result = use(call)
            RUNS.record(run_id, ToolCall.of(call, result=result, agent=name))
            messages += exchange(call, result)


async def research(model: LocalModel, run_id: str) -> None:
    """Plan, and read at the same time."""
    print(f"{run_id}, planner: {await agent(model, run_id, 'planner')}")
    readers = ("busy", "stuck")
    outcomes = await asyncio.gather(*(agent(model, run_id, name) for name in readers))
    for name, outcome in zip(readers, outcomes, strict=True):
        print(f"{run_id}, {name} reader: {outcome}")


def main() -> None:
    """Run the same agents with enough calls, and with few."""
    for run_id, most in CALLS.items():
        with LocalModel() as model:
            asyncio.run(research(model, run_id))
            print(f"{run_id}: {model.requests} requests of {most}")


if __name__ == "__main__":
    main()
