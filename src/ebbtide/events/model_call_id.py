"""The identity of a model call: what makes two records, in any files, records of one call."""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.events.usage import Usage

#: Tokens of a prompt: read anew, from a cache, into a cache; empty where none is stated.
Prompt = tuple[int, ...]


def prompt_of(usage: Usage) -> Prompt:
    """Returns the sizes of the prompt of a call; what is not stated counts for nothing."""
    return usage.input_tokens or 0, usage.cache_read_tokens or 0, usage.cache_write_tokens or 0


class CallId(NamedTuple):
    """The name of a model call: that of its provider, or else its place in a thread.

    Records with different names are of different calls. Records with one name are of one call where their
    prompts have the same sizes or their times are the same: a recorder that masks ids gives one name to many
    calls, and then both differ. What follows from that over several records holds too. Records that state no
    prompt are of the call that does, where there is only one.

    >>> CallId.of("msg_1", "req_1"), CallId.of(None, "req_1"), CallId.of(None, None)
    (CallId(name='msg_1 req_1', thread=''), CallId(name='req_1', thread=''), None)
    >>> CallId.at("7f3a", 4)
    CallId(name='4', thread='7f3a')

    Args:
        name: The ids that the provider gave it, or its ordinal.
        thread: The thread in which that is its ordinal; empty for ids of a provider, which hold everywhere.
    """

    name: str
    thread: str = ""

    @classmethod
    def of(cls, *ids: str | None) -> CallId | None:
        """The identity by ids of the provider, of a message, a request or a response; None without any."""
        known = [part for part in ids if part]
        return cls(" ".join(known)) if known else None

    @classmethod
    def at(cls, thread: str, ordinal: object) -> CallId:
        """The identity of a call without an id: its thread, and what tells it from the others there.

        Args:
            thread: The id of the thread, or the file where it has none.
            ordinal: A number or a sum of tokens so far that no other call of the thread has.
        """
        return cls(str(ordinal), thread)

    def __str__(self) -> str:
        return f"{self.thread}/{self.name}" if self.thread else self.name
