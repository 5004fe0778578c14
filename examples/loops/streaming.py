"""Streamed answers: what was produced is charged, also where the reader leaves early."""

from collections.abc import Iterator

from local_model import PRICES, Json, LocalModel, question, tokens_of

from ebbtide import ExecutionContext, Limits, Prices, Usage

MODEL = LocalModel(pause_s=0.02)


def pieces(messages: list[Json]) -> Iterator[Json]:
    """The pieces of an answer, each with the usage so far: a reader who leaves never sees the last one's."""
    produced = 0
    for piece in MODEL.stream(messages):
        produced += len(piece["choices"])
        so_far = {"prompt_tokens": tokens_of(messages), "completion_tokens": produced}
        yield {**piece, "usage": piece["usage"] or so_far}


def main() -> None:
    """Read one answer to its end, and leave another one after three words."""
    with MODEL, ExecutionContext(Limits(cost_usd=0.01), prices=Prices(PRICES, public=False)) as run:
        stream = run.wrap_llm_call(pieces, usage=Usage.of, at_most=Usage(cost_usd=0.001))
        for most in (100, 3):
            words: list[str] = []
            before = run.report().spent
            for piece in stream(question("What do you know of invoice 7?")):
                words += [choice["delta"]["content"] for choice in piece["choices"]]
                if len(words) == most:
                    break
            spent = run.report().spent
            taken = spent.tokens - before.tokens, spent.cost_usd - before.cost_usd
            print(f"{len(words)} words: {''.join(words).strip()}")
            print(f"charged: {taken[0]} tokens, ${taken[1]:.6f}")


if __name__ == "__main__":
    main()
