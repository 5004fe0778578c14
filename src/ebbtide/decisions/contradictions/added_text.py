"""Text that an edit adds to code, and the names in it. What an edit keeps or removes does not count.

Comments and pages of words are left out: they may explain why something was ruled out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ebbtide.decisions.contradictions.rejected_names import RejectedName

_MOST: Final = 200_000  # characters of an edit that are read
_WORDS: Final = (".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".html", ".svg", ".lock", ".csv")
_COMMENT: Final = re.compile(r"\s*(?:#(?!include)|//|/?\*|<!--|--\s|;)")
_REMARK: Final = re.compile(r"\s(?:#|//)\s.*")
#: Lines that name modules and packages; the groups hold them.
_MODULES: Final = (
    re.compile(r"\s*from\s+([A-Za-z_][\w.]*)\s+import\b"),
    re.compile(
        r"\s*(?:import|using|use)\s+(?:static\s+)?([A-Za-z_][\w.:]*(?:\s*,\s*[A-Za-z_][\w.]*)*)\s*(?:;|as\b|\Z)"
    ),
    re.compile(r".*?(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*[\"']([^\"'.~][^\"']{0,200})[\"']"),
    re.compile(r"\s*(?:[\w.]+\s+)?\"([\w-]+\.[a-z]+/[\w./-]+)\"\s*\Z"),
    re.compile(r"\s*#include\s*[<\"]([\w./-]+?)(?:\.h(?:pp)?)?[>\"]"),
)
#: Lines of files that list packages, by the end of the file's name.
_PACKAGES: Final[Mapping[str, re.Pattern[str]]] = {
    "package.json": re.compile(r"\s*\"(@?[\w./-]+)\"\s*:\s*\"[\^~>=<*\dw]"),
    "requirements.txt": re.compile(r"\s*([A-Za-z][\w.-]*)"),
    "pyproject.toml": re.compile(r"\s*[\"']?([A-Za-z][\w.-]*)(?:\[[\w,-]+\])?\s*(?:[><=~!]=|\"|=\s*[\"{])"),
    "Cargo.toml": re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*[\"{]"),
    "go.mod": re.compile(r"\s*(?:require\s+)?([\w.-]+\.[a-z]+/\S+)\s+v\d"),
    "Gemfile": re.compile(r"\s*gem\s+[\"']([\w-]+)"),
    "Dockerfile": re.compile(r"\s*FROM\s+(?:[\w.-]+/)*([\w-]+)"),
    ".yml": re.compile(r"\s*image:\s*[\"']?(?:[\w.-]+/)*([\w-]+)"),
    ".yaml": re.compile(r"\s*image:\s*[\"']?(?:[\w.-]+/)*([\w-]+)"),
}
_PARTS: Final = re.compile(r"[/.:,\s]+")
_LINE: Final = 400  # characters of a line that a person writes
_FIRST: Final = 4  # parts of the name of a module that are looked at


@dataclass(frozen=True, slots=True)
class EditText:
    """One edit of a file.

    Args:
        path: The file.
        added: What it adds.
        removed: What it takes away; empty where nothing.
        is_whole: True if `added` is the whole file from now on.
    """

    path: str
    added: str
    removed: str = ""
    is_whole: bool = False

    def adds(self, name: RejectedName) -> bool:
        """Returns True if code that it adds has a name, and what it takes away has not."""
        is_page = self.path.lower().endswith(_WORDS) and not self.path.endswith(tuple(_PACKAGES))
        if is_page or count_of(name, self.removed):
            return False
        if name.is_code:
            token = _token(name)
            return any(token.search(line) for line in self._code_lines())
        wanted = name.text.lower()
        return any(_is_module(module, wanted) for module in self._modules())

    def _code_lines(self) -> Iterator[str]:
        for line in self.added[:_MOST].splitlines():
            if len(line) <= _LINE and _COMMENT.match(line) is None:
                yield _REMARK.sub("", line)

    def _modules(self) -> Iterator[str]:
        lists = [pattern for end, pattern in _PACKAGES.items() if self.path.endswith(end)]
        for line in self._code_lines():
            for pattern in lists or _MODULES:
                match = pattern.match(line)
                if match is not None:
                    yield match[1]


def edits_in(args: Mapping[str, object]) -> Iterator[EditText]:
    """Yields the edits of a call by its arguments: one text in place of another, or a whole file.

    >>> args = {"file_path": "a.py", "old_string": "import json", "new_string": "import redis"}
    >>> [edit.adds(RejectedName("Redis", False)) for edit in edits_in(args)]
    [True]
    """
    path = next((value for key in PATHS if isinstance(value := args.get(key), str)), None)
    if path is None:
        return
    content = args.get("content")
    if isinstance(content, str):
        yield EditText(path, content, is_whole=True)
        return
    several = args.get("edits")
    for part in several if isinstance(several, list) else [args]:
        if isinstance(part, Mapping):
            new = next((value for key in _NEW if isinstance(value := part.get(key), str)), None)
            old = part.get("old_string")
            if new is not None:
                yield EditText(path, new, old if isinstance(old, str) else "")


#: Arguments by which the editing tools of coding agents name a file.
PATHS: Final = ("file_path", "notebook_path", "path")
_NEW: Final = ("new_string", "new_source")


def count_of(name: RejectedName, text: str) -> int:
    """Returns how often a text has a name."""
    return len(_token(name).findall(text))


def _token(name: RejectedName) -> re.Pattern[str]:
    flags = re.NOFLAG if name.is_code else re.IGNORECASE
    return re.compile(rf"(?<![\w-]){re.escape(name.text)}(?![\w-])", flags)


def _is_module(module: str, wanted: str) -> bool:
    parts = [part for part in _PARTS.split(module.lower().lstrip("@")) if part][:_FIRST]
    return wanted in parts or any(part.rstrip("0123456789") == wanted for part in parts)
