"""Two runs in one event loop: the one that is stuck ends, and the other one does not notice."""

import asyncio

from local_model import TOOLS, Json, LocalModel, calls_in, exchange, question, text_in, use

from ebbtide import AsyncRuns, Effect, ModelCall, Runs, Supervisor, ToolCall, ToolPolicies, ToolPolicy

POLICIES = ToolPolicies({"search": ToolPolicy(effect=Effect.READ)})


async def agent(runs: AsyncRuns, model: LocalModel, name: str) -> None:
    """Work on a task until the model answers in words, or its run ends."""
    messages, tools = question("Find invoice 7."), TOOLS
    while True:
        turn = await runs.before_model(name)
        if turn.refusal:
            print(f"{name}: ended: {turn.refusal}")
            return
        if turn.without_tools:
            tools = []
        if turn.note:
            messages.append({"role": "user", "content": turn.note})
        answer: Json = await model.ask_async(messages, tools, name)
        await runs.record(name, ModelCall.of(answer))
        if not calls_in(answer):
            print(f"{name}: done: {text_in(answer)}")
            return
        for call in calls_in(answer):
            result = use(call)
            await runs.record(name, ToolCall.of(call, result=result))
            messages += exchange(call, result)


async def both() -> None:
    """Run two agents at the same time."""
    with LocalModel() as model:
        async with AsyncRuns(Runs(lambda _: Supervisor(tools=POLICIES))) as runs:
            await asyncio.gather(agent(runs, model, "busy"), agent(runs, model, "stuck"))


def main() -> None:
    """Run the event loop."""
    asyncio.run(both())


if __name__ == "__main__":
    main()
