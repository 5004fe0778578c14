"""A person is asked before a run ends, and one who wants it to go on overrules an escalation or a stop."""

from local_model import PAGES, TOOLS, LocalModel, calls_in, exchange, question, text_in, use

from ebbtide import Effect, ModelCall, Prices, Runs, Supervisor, ToolCall, ToolPolicies, ToolPolicy

DEAR = Prices({"*": {"input": 400.0, "cache_read": 400.0, "output": 400.0}}, public=False)
POLICIES = {"stuck": ToolPolicies(), "patient": ToolPolicies({"search": ToolPolicy(effect=Effect.READ)})}
RUNS = Runs(lambda name: Supervisor(tools=POLICIES[name], prices=DEAR))
ANSWERS = {"stuck": ["more"], "patient": ["mended"]}  # what the person says; after that, no


def person(name: str, reason: str | None) -> bool:
    """A person, who reads why a run is to end and says whether it goes on."""
    print(f"{name}: {reason}")
    answer = ANSWERS[name].pop() if ANSWERS[name] else "no"
    print(f"{name}: the person says {answer}")
    if answer == "more":
        RUNS.extend(name, 2)  # two more turns, then ask again
    if answer == "mended":
        PAGES["invoice 7"] = "Invoice 7 is of 3 May."
        RUNS.acknowledge(name)  # seen, and put right
    return answer != "no"


def agent(model: LocalModel, name: str) -> str:
    """Work on a task until the model answers in words, or the person ends it."""
    messages, tools = question("Find invoice 7."), TOOLS
    while True:
        turn = RUNS.before_model(name)
        if turn.refusal:
            if not person(name, turn.refusal):
                return f"ended after {model.requests} requests"
            continue
        if turn.without_tools:
            tools = []
        if turn.note:
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
    """Run an agent whose spending is escalated, and one that is stopped."""
    for name in ("stuck", "patient"):
        with LocalModel() as model:
            print(f"{name}:", agent(model, name))


if __name__ == "__main__":
    main()
