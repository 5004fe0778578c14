"""An agent that asks for the same pages for ever, and the lines that stop it with the reason."""

from itertools import cycle

from ebbtide import Effect, ExecutionContext, Limits, RunHalted, Supervisor, ToolPolicies, ToolPolicy


def open_page(url: str) -> str:
    """A tool of yours."""
    return f"{url}: for earlier years write to us"


def main() -> None:
    """Run the loop."""
    tools = ToolPolicies({"open_page": ToolPolicy(effect=Effect.READ)})  # asking it again changes nothing
    with ExecutionContext(Limits(cost_usd=1.0, tool_calls=100), supervisor=Supervisor(tools=tools)) as run:
        tool = run.wrap_tool_call(open_page)
        try:
            for url in cycle(["ferry.example/2021", "ferry.example/2019"]):  # what the model asks for
                tool(url)
                for text in run.take_nudges():  # put it before the model; this one does not listen
                    print("nudge:", text)
        except RunHalted as halt:
            print("stopped:", halt)
            print("done so far:", len(halt.report.results), "results, the last one:", halt.report.results[-1])


if __name__ == "__main__":
    main()
