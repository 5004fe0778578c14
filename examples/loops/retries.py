"""Calls that fail and are tried again: retries are limited, and a call that failed may have a price."""

from urllib.error import HTTPError

from local_model import PRICES, LocalModel, question

from ebbtide import ExecutionContext, LimitExceeded, Limits, Prices, Usage

FAILURE_USD = 0.000022  # what the provider bills for a call that fails


def persist(model: LocalModel) -> None:
    """Ask four questions, each as often as it takes."""
    answers = 0
    limits, prices = Limits(cost_usd=0.01, retries=3), Prices(PRICES, public=False)
    with ExecutionContext(limits, prices=prices) as run:
        ask = run.wrap_llm_call(model.ask, usage=Usage.of, at_most=Usage(cost_usd=0.0005))
        try:
            while answers < 4:
                try:
                    ask(question(f"Question {answers}?"))
                except HTTPError:
                    continue  # the same call again: that is a retry
                answers += 1
        except LimitExceeded as halt:
            print("ended:", halt)
        print(f"{answers} answers, {model.requests} requests, {len(run.unsettled)} of them failed")
        print(f"counted ${run.report().spent.cost_usd:.6f}, billed ${model.billed_usd:.6f}")
        for call in run.unsettled:
            call.settle(Usage(cost_usd=FAILURE_USD))
        print(f"counted ${run.report().spent.cost_usd:.6f} with the bill")


def main() -> None:
    """Ask a model that fails at every second request, and one that fails always."""
    for fails_every in (2, 1):
        with LocalModel(fails_every=fails_every) as model:
            persist(model)


if __name__ == "__main__":
    main()
