"""Runs as scripts: what the model answers in each of its calls, and tools that really do what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

INPUT_TOKENS: Final = 100  #: that each call of a scripted model states
OUTPUT_TOKENS: Final = 10
TOTAL_TOKENS: Final = INPUT_TOKENS + OUTPUT_TOKENS
#: The same as a provider with OpenAI's interface states it.
OPENAI_USAGE: Final = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": TOTAL_TOKENS,
}
TASK: Final = "Find the revenue of the ferry company in 2019."
ANSWER: Final = "It was 41.2 million."
PAGES: Final = 40
LIMIT: Final = 4  #: calls of the model, where the run is to be limited

_CHANGES = 12
_AT_ONCE = 6
_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers: words, or calls of tools that it asks for at once.

    Args:
        text: The words.
        calls: Name and arguments of each.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, str]], ...] = ()


#: What the model answers in its call number so and so, from 1, and whether it is offered tools.
Script = Callable[[int, bool], Reply]


def stuck(_: int, has_tools: bool) -> Reply:  # noqa: FBT001 - a script is called by the kit alone
    """Asks the same question for ever."""
    return Reply(calls=(("web_search", {"q": "ferry revenue 2019"}),)) if has_tools else Reply(ANSWER)


def healthy(number: int, has_tools: bool) -> Reply:  # noqa: FBT001
    """Reads forty different pages, and answers."""
    if number > PAGES or not has_tools:
        return Reply(ANSWER)
    return Reply(calls=(("read_file", {"path": f"page-{number}.md"}),))


def recovers(number: int, has_tools: bool) -> Reply:  # noqa: FBT001
    """Asks the same question three times, then reads three pages, and answers."""
    if number <= _REPEATS:
        return stuck(number, has_tools)
    return healthy(number, has_tools) if number <= 2 * _REPEATS else Reply(ANSWER)


def edit_and_check(number: int, has_tools: bool) -> Reply:  # noqa: FBT001
    """Changes a file and runs the tests, twelve times over, until they pass."""
    if number > 2 * _CHANGES or not has_tools:
        return Reply(ANSWER)
    if number % 2:
        return Reply(calls=(("edit_file", {"path": "totals.py", "text": f"total = {number}"}),))
    return Reply(calls=(("run_tests", {}),))


def at_once(number: int, has_tools: bool) -> Reply:  # noqa: FBT001
    """Asks the same question six times in one answer, reads a page, and answers."""
    if number == 1 and has_tools:
        return Reply(calls=(("web_search", {"q": "ferry revenue 2019"}),) * _AT_ONCE)
    if number == 2 and has_tools:
        return Reply(calls=(("read_file", {"path": "page-1.md"}),))
    return Reply(ANSWER)


class Workshop:
    """The tools of one run. They have types and one line of documentation, as frameworks want them."""

    def __init__(self) -> None:
        self._failures = _CHANGES

    def tools(self) -> tuple[Callable[..., str], ...]:
        """The tools, as plain functions."""

        def web_search(q: str) -> str:
            """Search the web."""
            del q
            return "no results"

        def read_file(path: str) -> str:
            """Read a file."""
            return f"{path} is about the {len(path) * sum(map(ord, path))} ships of its harbour."

        def edit_file(path: str, text: str) -> str:
            """Replace the content of a file."""
            del text
            self._failures -= 1
            return f"changed {path}"

        def run_tests() -> str:
            """Run the tests."""
            return f"{self._failures} failed, {40 - self._failures} passed"

        return web_search, read_file, edit_file, run_tests
