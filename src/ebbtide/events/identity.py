"""Identity of calls and answers: two calls are the same call, two answers the same answer.

A call is a tool with its arguments, the order of keys left out. The numbers 1 and 1.0 and the flag True are
three different arguments: the wire says different things, and a tool may do so too.

What stands for a short call or answer is the thing itself, for hashing it would cost more than anything
else that is done with it; for a long one it is eight bytes of BLAKE2b. What is stored, or leaves the
process, is always the latter: `settled` and `settled_answer` give it, and a watch that was restored works
with nothing else.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from operator import itemgetter
from typing import Annotated, Any

from ebbtide.codec import As

Key = bytes  #: stands for a call or a loop: eight bytes where it is settled, more where it is the call itself
Answer = bytes | str  #: stands for an answer: bytes where it is settled, the text itself where it is not

UNKNOWN = b""  #: an answer that is not known
FAILED = b"!"  #: behind a settled answer: it is an error, and differs from the same text as a result

_SETTLED = 8
_SHORT = 64  # bytes of a call, and characters of an answer, up to which it stands for itself
_FLAT = frozenset({str, int, float, bool, type(None)})
MARK = "[ebbtide] "  #: begins every note of ours, and every last word; a note ends with its line
_NOTES = re.compile(r"\s{0,99}(?:<hook_context>\s{0,99})?\[ebbtide\] [^\n]*(?:\s{0,99}</hook_context>)?")
#: An object that prints nothing of what it holds.
OPAQUE = re.compile(r"<[^<>]{1,120} at 0x[0-9a-fA-F]+>")
_ONLY_OPAQUE = re.compile(rf"[^<\w]*+(?:(?:[\w'\"]++[:=] ?)?{OPAQUE.pattern}[^<\w]*+)++")

# Version 2 writes values alone, without references, so that equal values give equal bytes. A text or a number
# below 2**31 takes 5 bytes beside its characters, and so does the tuple around them.
_MARSHAL = 2
_FRAME = 5
_OTHER = b"\xff"  # stands in no text: one number is not the text of its bytes

# What the names of arguments decide: the head of the identity, how to get the values in the order of their
# names, and the bytes that stand beside the characters of flat ones.
_Shape = tuple[bytes, Callable[[Mapping[str, Any]], Any], int]
_shapes: dict[tuple[Any, ...], _Shape] = {}
_MOST_SHAPES = 64
_LONGEST_HEAD = 256


def identify(name: str, args: object, *, settle: bool = True) -> tuple[Key, int, bool] | None:
    """Returns the identity of a call, the bytes of text in its arguments, and a flag for numbers among them.

    Numbers are whole ones among flat arguments. Objects that JSON does not know count by their type and text
    form, bytes by their content; one whose text form is an address cannot be read. Arguments that contain
    themselves, or are nested beyond what can be followed, cannot be read: None. Where `settle` is off, a
    short call stands for itself.

    >>> identify("read", {"path": "a", "line": 1}) == identify("read", {"line": 1, "path": "a"})
    True
    """
    if type(args) is dict:
        shape = _shapes.get((name, *args)) or _learn_shape(name, args)
        if shape is not None:
            head, values, frame = shape
            parts = values(args)
            if type(parts) is str:  # one text, the most common case of all, is its own body
                try:
                    body = parts.encode()
                except UnicodeEncodeError:
                    body = parts.encode("utf-8", "surrogatepass")
                key = head + body
                if settle or len(key) > _SHORT:
                    key = blake2b(key).digest()[:_SETTLED]
                return key, len(body), False
            kinds = set(map(type, parts)) if frame > _FRAME else {type(parts)}
            if kinds <= _FLAT:
                body = marshal.dumps(parts, _MARSHAL)
                key = head + _OTHER + body
                if settle or len(key) > _SHORT:
                    key = blake2b(key).digest()[:_SETTLED]
                return key, len(body) - frame, int in kinds
    text = canonical(args)
    if text is None:
        return None
    return key_of(name, text), len(text), False


def identify_answer(result: object, *, settle: bool = True) -> Answer | None:
    """Returns the identity of an answer; UNKNOWN if it is not known, None if it cannot be read.

    An object that prints nothing of what it holds cannot be read, nor can the text that it prints. Where
    `settle` is off, a short text stands for itself.
    """
    if type(result) is str:
        if " at 0x" in result and _ONLY_OPAQUE.fullmatch(result):
            return None
        return result if not settle and len(result) <= _SHORT else settled_answer(result)
    if result is None:
        return UNKNOWN
    if isinstance(result, bytes | bytearray | memoryview):
        return blake2b(_OTHER + bytes(result)).digest()[:_SETTLED]
    text = canonical(result)
    return None if text is None else settled_answer(text)


def settled(key: Key) -> Key:
    """Returns the identity of a call as every process has it."""
    return key if len(key) == _SETTLED else blake2b(key).digest()[:_SETTLED]


#: A key in a state: what others can know it by.
SettledKey = Annotated[Key, As(lambda key: settled(key).hex(), bytes.fromhex)]


def settled_answer(answer: Answer) -> bytes:
    """Returns the identity of an answer as every process has it."""
    if isinstance(answer, bytes):
        return answer
    try:
        data = answer.encode()
    except UnicodeEncodeError:
        data = answer.encode("utf-8", "surrogatepass")
    return blake2b(data).digest()[:_SETTLED]


#: An answer in a state, likewise.
SettledAnswer = Annotated[Answer, As(lambda answer: settled_answer(answer).hex(), bytes.fromhex)]


def is_failed(answer: Answer) -> bool:
    """Returns True if an answer stands for an error: `FAILED` is at its end."""
    return isinstance(answer, bytes) and len(answer) % _SETTLED == len(FAILED)


def key_of(*parts: object) -> Key:
    """Returns one identity for a few texts and numbers together."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()[:_SETTLED]


def canonical(value: object) -> str | None:
    """Returns `value` as JSON with sorted keys, or None if it cannot be written as such."""
    try:
        return _encode(value)
    except TypeError:
        pass
    except Exception:  # noqa: BLE001 - the text form of a foreign object can fail in any way
        return None
    try:
        return _encode(_with_text_keys(value))
    except Exception:  # noqa: BLE001 - likewise
        return None


def _with_text_keys(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else f"{type(key).__name__} {key!r}": _with_text_keys(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_text_keys(item) for item in value]
    return value


def _json_form(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": blake2b(value).hexdigest()}
    if isinstance(value, set | frozenset):
        return {"set": sorted(canonical(item) or "" for item in value)}
    if isinstance(value, Mapping):
        return dict(value)
    text = repr(value)
    if OPAQUE.search(text):
        raise TypeError(f"{text:.80}: an object without a readable value")
    return {type(value).__qualname__: text}


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_json_form
).encode


def without_notes(answer: object) -> object:
    r"""Returns an answer without the notes that a framework has appended to it; what is no text is itself.

    Some frameworks put notes for the model into the answer of a tool: recorded so, two equal answers differ.

    >>> without_notes("no results\n\n[ebbtide] The same call returned the same result again.")
    'no results'
    """
    return _NOTES.sub("", answer) if type(answer) is str and MARK in answer else answer


def _learn_shape(name: str, args: dict[Any, Any]) -> _Shape | None:
    if not args or any(type(key) is not str or "\0" in key for key in args) or "\0" in name:
        return None
    keys = sorted(args)
    # Longer than a settled key, so that it is not taken for one.
    head = "\0".join((name, *keys, "")).encode("utf-8", "surrogatepass").ljust(_SETTLED + 1, b"\0")
    # Of one name, itemgetter gives the bare value, without a tuple around it.
    shape = (head, itemgetter(*keys), _FRAME * (len(keys) + (len(keys) > 1)))
    if len(head) <= _LONGEST_HEAD:
        if len(_shapes) >= _MOST_SHAPES:
            _shapes.clear()
        _shapes[(name, *args)] = shape
    return shape
