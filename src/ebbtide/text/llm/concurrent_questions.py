"""Questions that do not depend on each other, a few under way at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Final, NamedTuple, TypeVar, cast

AT_ONCE: Final = 4  #: questions under way: what small servers bear
_Answer = TypeVar("_Answer")


class _Reply(NamedTuple):
    number: int
    answer: object = None
    error: BaseException | None = None


def ask_all(
    questions: Sequence[Callable[[], _Answer]],
    *,
    at_once: int = AT_ONCE,
    advance: Callable[[], object] | None = None,
) -> list[_Answer]:
    """The answers, in the order of the questions.

    An interruption ends the wait at once. A pool of `concurrent.futures` would wait for what is under way
    first, which may be as long as the time-out of a model.

    Args:
        questions: Each is called once, in a thread of its own or of others.
        at_once: Questions under way at a time, 1 or more.
        advance: Called after each answer.

    Raises:
        Exception: What the first question that failed raised; those that are not under way are not asked.

    >>> ask_all([lambda: "yes", lambda: "no"])
    ['yes', 'no']
    """
    waiting = deque(enumerate(questions))
    replies: SimpleQueue[_Reply] = SimpleQueue()

    def work() -> None:
        while waiting:
            try:
                number, question = waiting.popleft()
            except IndexError:
                return
            try:
                replies.put(_Reply(number, answer=question()))
            except BaseException as error:  # noqa: BLE001 - it is raised where the answers are waited for
                replies.put(_Reply(number, error=error))

    for _ in range(min(at_once, len(questions))):
        threading.Thread(target=work, daemon=True).start()
    answers: dict[int, object] = {}
    try:
        for _ in questions:
            reply = replies.get()
            if reply.error is not None:
                raise reply.error
            answers[reply.number] = reply.answer
            if advance is not None:
                advance()
    finally:
        waiting.clear()
    return [cast("_Answer", answers[number]) for number in range(len(questions))]
