"""An agent that asks for the same page for ever, and the three lines that stop it with the reason."""

from itertools import cycle

from ebbtide import ExecutionContext, Limits, LoopMonitor
from ebbtide.errors import CallBlocked, RunHalted


def open_page(url: str) -> str:
    """A tool of yours."""
    return f"{url}: for earlier years write to us"


def main() -> None:
    """Run the loop."""
    with ExecutionContext(Limits(cost_usd=1.0, tool_calls=100), monitor=LoopMonitor()) as run:
        tool = run.wrap_tool_call(open_page)
        try:
            for url in cycle(["ferry.example/2021", "ferry.example/2019"]):  # what the model asks for
                try:
                    tool(url)
                except CallBlocked as refusal:
                    print("refused:", refusal)
        except RunHalted as halt:
            print("stopped:", halt)
            print("done so far:", len(halt.done.results), "results, the last one:", halt.done.results[-1])


if __name__ == "__main__":
    main()
