"""Records the functions of the package that are entered, in every thread."""

from __future__ import annotations

import dataclasses
import dis
import inspect
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import ebbtide

PACKAGE = str(Path(ebbtide.__file__).parent) + "/"
_RESUME = dis.opmap["RESUME"]
_DEEPEST = 3  # records in records
_LONGEST = 64  # items of a list or a table that are looked at: a longer one is a store, no record


@dataclasses.dataclass(slots=True)
class Recording:
    """The frames of the package that were entered between two moments.

    A function counts once, however often it is entered. Lambdas, comprehensions and generator expressions
    belong to the function around them; bodies of modules and classes are left out, and so is generated code,
    such as the constructor of a dataclass. A crossing is a call whose caller, the nearest frame of the
    package, is in another file; going on in a generator or a coroutine is none.

    A name is that of a parameter, a local variable, a field or a key that holds the subject: the text itself,
    in whatever case and punctuation, a longer text with it, or a record with it (dataclass, tuple, list or
    dict, at most three deep). Locals are looked at where a function is entered and left. `self` is left out,
    and so are objects that are no records. A name that two functions use counts once.

    Args:
        subject: The text whose names are collected; None collects none.
    """

    subject: str | None = None
    functions: set[str] = dataclasses.field(default_factory=set)
    files: set[str] = dataclasses.field(default_factory=set)
    crossings: int = 0
    names: set[str] = dataclasses.field(default_factory=set)

    def enter(self, frame: FrameType) -> None:
        """Counts a frame of the package that starts."""
        code = frame.f_code
        file = code.co_filename.removeprefix(PACKAGE)
        if not code.co_name.startswith("<"):
            # A function inside another is a part of what one reads there, but has a name of its own.
            self.functions.add(f"{file}:{code.co_qualname}")
        self.files.add(file)
        caller = frame.f_back
        while caller is not None and not is_counted(caller.f_code):
            caller = caller.f_back
        self.crossings += caller is not None and caller.f_code.co_filename != code.co_filename

    def look(self, variables: dict[str, Any]) -> None:
        """Collects the names that hold the subject."""
        for name, value in variables.items():
            if name not in {"self", "cls"} and not name.startswith(".") and self._holds(value, 0):
                self.names.add(name)

    def _holds(self, value: Any, depth: int) -> bool:
        if isinstance(value, str):
            return self.subject is not None and _words(self.subject) in _words(value)
        if depth == _DEEPEST:
            return False
        holds = False
        for name, part in _parts(value):
            if self._holds(part, depth + 1):
                holds = True
                if isinstance(name, str) and name.isidentifier():
                    self.names.add(name)
        return holds


class Recorder:
    """Watches all threads from its start on; records only inside `recording`.

    It has to start before the threads that it is to watch.
    """

    def __init__(self) -> None:
        self._recording: Recording | None = None
        self._lock = threading.Lock()
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    @contextmanager
    def recording(self, subject: str | None = None) -> Iterator[Recording]:
        """Records until the end of the block, in every thread."""
        self._recording = recording = Recording(subject)
        try:
            yield recording
        finally:
            self._recording = None

    def stop(self) -> None:
        """Watches this thread no more, nor any new one."""
        threading.setprofile(None)
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        recording = self._recording
        if recording is None or event not in {"call", "return"} or not is_counted(frame.f_code):
            return
        with self._lock:
            if event == "call" and is_start(frame):
                recording.enter(frame)
            if recording.subject is not None:
                recording.look(frame.f_locals)


def is_counted(code: CodeType) -> bool:
    """Is it a function of the package, and no body of a module or class?"""
    return code.co_filename.startswith(PACKAGE) and bool(code.co_flags & inspect.CO_OPTIMIZED)


def is_start(frame: FrameType) -> bool:
    """Does the function start here, rather than go on after a yield or an await?"""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at < 0 or code[at] != _RESUME or code[at + 1] & 3 == 0


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """The fields and items of a record; nothing of what is none."""
    if isinstance(value, dict):
        if len(value) <= _LONGEST:
            yield from list(value.items())
    elif isinstance(value, tuple | list):
        if len(value) <= _LONGEST:
            yield from zip(getattr(value, "_fields", [None] * len(value)), list(value), strict=False)
    elif not isinstance(value, type):
        fields = getattr(value, "__dataclass_fields__", None) or getattr(value, "__struct_fields__", ())
        yield from ((name, getattr(value, name, None)) for name in fields)
