"""Eight runs in four threads, each with a limit of its own, share one sum of money: it holds."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from local_model import PRICES, TOOLS, LocalModel, carry_out, question

from ebbtide import ExecutionContext, LimitExceeded, Limits, Prices, Usage

PRICE = Prices(PRICES, public=False)


def agent(model: LocalModel, number: int) -> str:
    """Work on a task until the model answers in words, or the money of all is spent."""
    messages = question(f"Which of the files is number {number} about?")
    with ExecutionContext(Limits(llm_calls=10), name=f"run {number}", prices=PRICE) as run:
        ask = run.wrap_llm_call(model.ask, usage=Usage.of, at_most=Usage(cost_usd=0.0005))
        try:
            while True:
                text = carry_out(ask(messages, TOOLS, "busy"), messages)
                if text:
                    return f"done: {text}"
        except LimitExceeded as halt:
            return f"ended after {len(messages) // 2} calls: {halt}"


def main() -> None:
    """Run eight agents, four at a time."""
    with LocalModel() as model, ExecutionContext(Limits(cost_usd=0.006), name="all", prices=PRICE) as budget:
        with ThreadPoolExecutor(4) as pool:
            outcomes = list(pool.map(partial(agent, model), range(8)))
        spent = budget.report().spent.cost_usd
    for number, outcome in enumerate(outcomes):
        print(f"{number}: {outcome}")
    print(f"counted ${spent:.6f}, billed ${model.billed_usd:.6f}, limit $0.006000")


if __name__ == "__main__":
    main()
