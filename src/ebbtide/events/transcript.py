"""Input of the convergence meter: rounds with structured outputs.

The wire form is transcript format 0.1, whose JSON Schema is transcript.schema.json in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ebbtide.errors import TranscriptError

if TYPE_CHECKING:
    from ebbtide.text.extraction.turn import Extraction

VERSION = "0.1"
PERSONS = frozenset({"user", "human", "customer", "system", "developer"})
_KEYS = frozenset(("round", "agent", "outputs", "text", "characters_left_out"))
#: Lists of what a round says, by their names.
LISTS = ("claims", "decisions", "open_questions", "next_actions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a conversation.

    Args:
        number: 1, 2, 3 ... in the order in which the rounds happened.
        agent: The speaker, if one agent spoke.
        decisions: Decisions that it makes.
        open_questions: Questions that it leaves open.
        next_actions: Actions that it asks for.
        text: The raw text that the lists were extracted from, if they were.
        left_out: Characters in the middle of the text that were not read, since it is too long.
        extra: Every other key of the wire form, kept as it came; those of ``outputs`` under that key.
    """

    number: int
    agent: str | None = None
    claims: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()
    summary: str | None = None
    text: str | None = None
    left_out: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, wire: object, path: str = "") -> Round:
        """Reads one round of the wire form.

        A round must say its claims: were a missing list read as an empty one, a misspelt key would look
        like a round that brings nothing new.

        Args:
            wire: The object, as parsed from JSON.
            path: Its place in its document, for error messages; empty if it is the document.

        Raises:
            TranscriptError: It has another shape; the path of the wrong part is in the error.
        """
        if not isinstance(wire, Mapping):
            raise _wrong(path, "an object", wire)
        if "round" not in wire:
            raise TranscriptError(
                "the round has no number", path=_inside(path, "round"), hint="Number the rounds 1, 2, 3, ..."
            )
        number = _number(wire["round"], _inside(path, "round"))
        agent = _text(wire.get("agent"), _inside(path, "agent"))
        if "outputs" not in wire:
            raise TranscriptError(
                "the round has no outputs",
                path=_inside(path, "outputs"),
                hint="Raw text is read as chat messages or as plain text with 'Name: text' turns.",
            )
        outputs = wire["outputs"]
        if not isinstance(outputs, Mapping):
            raise _wrong(_inside(path, "outputs"), "an object", outputs)
        if outputs.get("claims") is None:
            raise TranscriptError(
                "the round has no claims",
                path=_inside(path, "outputs.claims"),
                hint="Write [] for a round that states nothing.",
            )
        lists = {key: _texts(outputs.get(key), _inside(path, f"outputs.{key}")) for key in LISTS}
        extra = {key: value for key, value in wire.items() if key not in _KEYS}
        rest = {key: value for key, value in outputs.items() if key not in (*LISTS, "summary")}
        if rest:
            extra["outputs"] = rest
        return cls(
            number=number,
            agent=agent,
            summary=_text(outputs.get("summary"), _inside(path, "outputs.summary")),
            text=_text(wire.get("text"), _inside(path, "text")),
            left_out=_count(wire.get("characters_left_out"), _inside(path, "characters_left_out")),
            extra=extra,
            **lists,
        )

    @classmethod
    def from_text(
        cls, text: str, *, number: int, agent: str | None = None, before: str | None = None
    ) -> Round:
        """Returns a round made of what the rules of `ebbtide.text.extraction.turn` find in raw text.

        Args:
            agent: The speaker; under a name such as "user" a person, who can approve.
            before: The turn before, of somebody else, for what an approval approves.
        """
        item = cls(number=number, agent=agent, text=text)
        return item.with_lists(item.extraction(before))

    def with_lists(self, extraction: Extraction) -> Round:
        """Returns the round with what was extracted in place of what it lists."""
        lists = {name: getattr(extraction, name) for name in LISTS}
        return replace(self, left_out=extraction.left_out, **lists)

    def extraction(self, before: str | None = None) -> Extraction:
        """Returns what the rules read in its text, nothing if it has none; `before` as in `from_text`."""
        from ebbtide.text.extraction.turn import Speaker, extract

        speaker = Speaker.PERSON if self.is_by_person else Speaker.MODEL
        return extract(self.text or "", speaker=speaker, before=before)

    @property
    def words(self) -> str:
        """Returns the text; of a round that only lists decisions these, as a speaker would say them."""
        if self.text is not None:
            return self.text
        return "".join(f"Decision: {decision}\n\n" for decision in self.decisions)

    @property
    def is_by_person(self) -> bool:
        """True if a person speaks, or a developer's instructions do: what they decide the agent did not."""
        return self.agent is not None and self.agent.lower() in PERSONS

    def to_dict(self) -> dict[str, Any]:
        """Returns the round in the wire form."""
        outputs: dict[str, Any] = {"claims": list(self.claims)}
        outputs |= {key: list(getattr(self, key)) for key in LISTS[1:] if getattr(self, key)}
        if self.summary is not None:
            outputs["summary"] = self.summary
        extra = dict(self.extra)
        outputs |= extra.pop("outputs", {})
        wire: dict[str, Any] = {"round": self.number}
        if self.agent is not None:
            wire["agent"] = self.agent
        if self.text is not None:
            wire["text"] = self.text
        if self.left_out:
            wire["characters_left_out"] = self.left_out
        return {**wire, "outputs": outputs, **extra}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A conversation: its rounds in order, numbered without gaps from the first.

    Args:
        rounds: At least one, in the order of their numbers.
        extra: Every other key of the wire form, kept as it came.
    """

    conversation_id: str
    rounds: tuple[Round, ...]
    topic: str | None = None
    version: str = VERSION
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, wire: object) -> Transcript:
        """Reads the wire form; the rounds are put in the order of their numbers.

        Raises:
            TranscriptError: It has another shape, no rounds, or round numbers that repeat or are missing.
        """
        if not isinstance(wire, Mapping):
            raise _wrong("", "a transcript object", wire)
        header = cls.from_header(wire)
        rounds = wire.get("rounds")
        if not isinstance(rounds, list | tuple):
            raise _wrong("rounds", "a list of rounds", rounds)
        order = RoundOrder()
        ready: list[Round] = []
        for at, item in enumerate(rounds):
            path = f"rounds[{at}]"
            ready += order.add(Round.from_dict(item, path), path)
        order.finish()
        return replace(header, rounds=tuple(ready))

    @classmethod
    def from_header(cls, wire: Mapping[str, Any]) -> Transcript:
        """Returns what `wire` says about the conversation, its rounds left aside.

        Raises:
            TranscriptError: A key has another shape, or the version is not known.
        """
        name = _text(wire.get("conversation_id"), "conversation_id")
        return cls(
            conversation_id="conversation" if name is None else name,
            rounds=(),
            topic=_text(wire.get("topic"), "topic"),
            version=_version(wire.get("version", VERSION)),
            extra={
                key: value
                for key, value in wire.items()
                if key not in ("conversation_id", "topic", "version", "rounds")
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the transcript in the wire form."""
        wire: dict[str, Any] = {"version": self.version, "conversation_id": self.conversation_id}
        if self.topic is not None:
            wire["topic"] = self.topic
        return {**wire, "rounds": [item.to_dict() for item in self.rounds], **self.extra}


class RoundOrder:
    """Queue that takes rounds in any order and gives them in the order of their numbers, without gaps."""

    def __init__(self) -> None:
        self._next = 1
        self._waiting: dict[int, tuple[Round, str]] = {}

    def add(self, item: Round, path: str = "") -> tuple[Round, ...]:
        """Returns the rounds whose turn it is now; one whose predecessors have not come yet waits.

        Args:
            item: Any round that was not there before.
            path: Its place in its document, for error messages.

        Raises:
            TranscriptError: Its number was there before.
        """
        if item.number < self._next or item.number in self._waiting:
            raise TranscriptError(f"round {_clip(item.number)} appears twice", path=_inside(path, "round"))
        self._waiting[item.number] = (item, path)
        ready = []
        while self._next in self._waiting:
            ready.append(self._waiting.pop(self._next)[0])
            self._next += 1
        return tuple(ready)

    def finish(self) -> None:
        """Ends the conversation: no more rounds come.

        Raises:
            TranscriptError: There was none, or one is missing.
        """
        if self._waiting:
            item, path = self._waiting[min(self._waiting)]
            raise TranscriptError(
                f"round {_clip(item.number)} is there, but round {self._next} is missing",
                path=_inside(path, "round"),
                hint="Number the rounds 1, 2, 3, ... without gaps.",
            )
        if self._next == 1:
            raise TranscriptError(
                "there are no rounds", path="rounds", hint="A transcript has at least one round."
            )


def _version(value: object) -> str:
    text = _text(value, "version")
    if text is None or text.partition(".")[0] != VERSION.partition(".")[0]:
        excerpt = "null" if text is None else _clip(text)
        raise TranscriptError(
            f"version {excerpt} is not known", path="version", hint=f"Expected {VERSION!r}."
        )
    return text


def _inside(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _number(value: object, path: str) -> int:
    # JSON has one kind of number: 3.0 is the whole number 3.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _wrong(path, "a whole number, 1 or more", value)
    return value


def _count(value: object, path: str) -> int:
    return 0 if value in (None, 0) else _number(value, path)


def _text(value: object, path: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _wrong(path, "a text", value)


def _texts(value: object, path: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise _wrong(path, "a list of texts", value)
    for at, item in enumerate(value):
        if not isinstance(item, str):
            raise _wrong(f"{path}[{at}]", "a text", item)
    return tuple(value)


def _wrong(path: str, expected: str, value: object) -> TranscriptError:
    names = {type(None): "nothing", bool: "true/false", int: "a number", float: "a number", str: "a text"}
    kind = names.get(type(value)) or ("a list" if isinstance(value, list | tuple) else "an object")
    excerpt = f" {_clip(value)}" if isinstance(value, bool | int | float | str) else ""
    return TranscriptError(f"expected {expected}, found {kind}{excerpt}", path=path or None)


def _clip(value: float | str, length: int = 60) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        # Python refuses to write out an int of thousands of digits.
        return f"of {value.bit_length()} bits"
    # Cut first: a text can be megabytes long.
    text = repr(value[:length] if isinstance(value, str) else value)
    return text if len(text) <= length else f"{text[: length - 1]}\u2026"
