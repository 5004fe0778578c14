"""A plain loop: the agent that is stuck gets a note, and when it goes on all the same, its run ends."""

from local_model import TOOLS, LocalModel, calls_in, exchange, question, text_in, use

from ebbtide import Effect, ModelCall, Runs, Supervisor, ToolCall, ToolPolicies, ToolPolicy

POLICIES = ToolPolicies(
    {"search": ToolPolicy(effect=Effect.READ), "read_file": ToolPolicy(effect=Effect.READ)}
)
RUNS = Runs(lambda _: Supervisor(tools=POLICIES))


def agent(model: LocalModel, name: str, task: str) -> str:
    """Work on a task until the model answers in words, or its run ends."""
    messages, tools = question(task), TOOLS
    while True:
        turn = RUNS.before_model(name)
        if turn.refusal:
            print(f"{name}: {len(messages)} messages kept")
            return f"ended: {turn.refusal}"
        if turn.without_tools:
            tools = []
        if turn.note:
            print(f"{name}: {turn.note}")
            messages.append({"role": "user", "content": turn.note})
        answer = model.ask(messages, tools, name)
        RUNS.record(name, ModelCall.of(answer))
        if not calls_in(answer):
            return f"done: {text_in(answer)}"
        for call in calls_in(answer):
            result = use(call)
            RUNS.record(name, ToolCall.of(call, result=result))
            messages += exchange(call, result)


def main() -> None:
    """Run three agents, one after the other."""
    with LocalModel() as model:
        for name in ("busy", "listening", "stuck"):
            print(f"{name}:", agent(model, name, "Find invoice 7."))


if __name__ == "__main__":
    main()
