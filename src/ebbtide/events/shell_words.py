"""A shell command line as the simple commands that it runs, in the order in which they begin.

Enough of the grammar of a POSIX shell and bash to see which programs run with which words: quotes, pipes and
lists, redirections, here-documents, command and process substitutions. Nothing is expanded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

_PLAIN = re.compile(r"[\w@%+=:,./~^{}?*\[\] -]*+", re.ASCII)
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r]++|\\\n)
    |(?P<plain>[^\s'"\\|&;<>()`$\#]++)
    |'(?P<single>[^']*+)'?
    |(?P<double>")
    |\$'(?P<ansi>(?:[^'\\]++|\\.)*+)'?
    |(?P<heredoc><<-?)(?!<)[ \t]*+(?P<mark>'[^'\n]*+'?|"[^"\n]*+"?|[^\s;|&<>()]++)
    |(?P<inside>\$\((?!\()|[<>]\()
    |(?P<sum>\$?\(\([^\n]{0,120}?\)\))
    |(?P<redirect>&>>?|<<<|[<>]&|>>|>\||<>|[<>])
    |(?P<end>\n|&&|\|\|?&?|;;?&?|&|[()])
    |(?P<tick>`)
    |(?P<comment>\#[^\n]*+)
    |\\(?P<escaped>.)
    |(?P<dollar>\$)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(
    r"""(?P<text>[^"\\$`]++|\\.|\$(?!\()|\$\(\([^\n]{0,120}?\)\)|\\\Z)|(?P<inside>\$\()|(?P<tick>`)|(?P<double>")""",
    re.VERBOSE | re.DOTALL,
)
_NOWHERE = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "NUL", "$null"})
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})


@dataclass(slots=True)
class SimpleCommand:
    """One program with its words.

    Args:
        writes: True if its output goes to a file.
        fed: True if another command or a text of the line is its input.
    """

    words: list[str] = field(default_factory=list)
    writes: bool = False
    fed: bool = False


@dataclass(slots=True)
class _Scope:
    """State that is open where a substitution begins."""

    command: SimpleCommand
    word: str | None
    redirect: str
    closer: str
    quoted: bool


@lru_cache(maxsize=64)
def simple_commands(text: str) -> tuple[SimpleCommand, ...]:
    """Returns the simple commands of a command line, in the order in which they begin.

    Any text can be read: what is open at its end is taken as closed there. A line of late is not read again:
    it is asked for its effect, for its name, and for the checks that it runs.

    >>> [command.words for command in simple_commands("cd src && grep -n 'a b' $(git ls-files) > out")]
    [['cd', 'src'], ['grep', '-n', 'a b', '$()'], ['git', 'ls-files']]
    """
    if _PLAIN.fullmatch(text):
        words = text.split()
        return (SimpleCommand(words),) if words else ()
    return tuple(_Reader(text).read())


_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_TEXT = re.compile(r"'[^']*+'|\"(?:[^\"\\]|\\.)*+\"", re.DOTALL)
_QUIET = re.compile(r"[ \t]*(?:cat[ \t]*(?:>|$)|cd |export |source |\.[ ]|#|set -)")
_GOES_ON = re.compile(r"\||;|(?<![&>])&(?![&>])")


def has_one_status(text: str) -> bool:
    """Returns True if the exit status of a line of commands is 0 only if each of them succeeded.

    Not so where one is piped into another, or where the next one runs whatever came of it.

    >>> has_one_status("cd src && python run.py 2>&1"), has_one_status("make | tail -5")
    (True, False)
    """
    if _PLAIN.fullmatch(text):
        return True
    plain = _TEXT.sub("''", _without_heredocs(text)).strip()
    *before, last = plain.replace("\\\n", " ").splitlines() or [""]
    return not _GOES_ON.search(last) and all(not line.strip() or _QUIET.match(line) for line in before)


def _without_heredocs(text: str) -> str:
    """Returns a command line without the texts that it feeds to programs; one without an end stays."""
    lines = text.split("\n")
    ends: dict[str, list[int]] = {}
    for number in range(len(lines) - 1, -1, -1):
        ends.setdefault(lines[number].strip(" \t"), []).append(number)
    kept, number = [], 0
    while number < len(lines):
        opening = _HEREDOC.search(lines[number])
        places = ends.get(opening[2], []) if opening else []
        while places and places[-1] <= number:
            places.pop()
        if opening and places:
            kept.append(lines[number][: opening.start()] + " ")
            number = places[-1]
        else:
            kept.append(lines[number])
        number += 1
    return "\n".join(kept)


class _Reader:
    """Reader of a command line from its begin to its end, once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.command = SimpleCommand()
        self.commands = [self.command]
        self.scopes: list[_Scope] = []
        self.marks: list[tuple[str, bool]] = []  # here-documents whose text begins after this line
        self.word: str | None = None
        self.redirect = ""  # what waits for its file

    def read(self) -> list[SimpleCommand]:
        """Returns the commands of the whole text."""
        text, place, size, quoted = self.text, 0, len(self.text), False
        while place < size:
            match = (_QUOTED if quoted else _TOKEN).match(text, place)
            if match is None:
                place += 1
                continue
            place, kind, part = match.end(), match.lastgroup, match[0]
            if kind == "double":
                quoted = not quoted
                self.word = self.word or ""
            elif kind == "inside" or (kind == "tick" and not (self.scopes and self.scopes[-1].closer == "`")):
                self._enter(")" if kind == "inside" else "`", quoted=quoted)
                quoted = False
            elif kind == "tick" or (part == ")" and kind == "end" and self.scopes):
                quoted = self._leave(part)
            elif quoted or kind in {"plain", "single", "ansi", "escaped", "dollar", "text", "sum"}:
                self._add(match, kind)
            elif kind == "mark":
                self._finish_word()
                self.command.fed = True
                self.marks.append((match["mark"].strip("'\""), match["heredoc"] == "<<-"))
            elif kind == "redirect":
                self._redirect(part)
            elif kind == "comment":
                if self.word is not None:
                    self.word += part[0]
                    place = match.start() + 1
            else:
                self._finish_word()
                if kind == "end":
                    self._next_command(part)
                    if part == "\n" and self.marks:
                        place = self._after_documents(place)
        while self.scopes:
            self._leave(self.scopes[-1].closer)
        self._finish_word()
        return [command for command in self.commands if command.words or command.writes]

    def _add(self, match: re.Match[str], kind: str | None) -> None:
        text = match[0] if kind in {"plain", "dollar", "text", "sum", None} else match[kind]
        self.word = text if self.word is None else self.word + text

    def _redirect(self, sign: str) -> None:
        if self.command.words[:1] == ["[["]:
            self._finish_word()
            return
        if self.word is not None and self.word.isdecimal():
            self.word = None  # the number of a stream
        self._finish_word()
        self.redirect = sign

    def _finish_word(self) -> None:
        word, self.word = self.word, None
        if word is None:
            return
        if not self.redirect:
            self.command.words.append(word)
        elif self.redirect in _WRITING:
            stream = self.redirect in {">&", "&>"} and (word.isdecimal() or word == "-")
            self.command.writes |= not stream and word not in _NOWHERE
        elif self.redirect in {"<", "<<<"}:
            self.command.fed = True
        self.redirect = ""

    def _next_command(self, sign: str) -> None:
        self.redirect = ""
        self.command = SimpleCommand(fed=sign in {"|", "|&"})
        self.commands.append(self.command)

    def _enter(self, closer: str, *, quoted: bool) -> None:
        word = (self.word or "") + "$()"
        self.scopes.append(_Scope(self.command, word, self.redirect, closer, quoted))
        self.word = None
        self._next_command("")

    def _leave(self, closer: str) -> bool:
        """Closes the innermost substitution; returns True if it was in quotes."""
        self._finish_word()
        scope = self.scopes.pop()
        self.command, self.word, self.redirect = scope.command, scope.word, scope.redirect
        return scope.quoted

    def _after_documents(self, place: int) -> int:
        """Returns the place after the here-documents that were announced on the line before."""
        for mark, indented in self.marks:
            while place < len(self.text):
                end = self.text.find("\n", place)
                end = len(self.text) if end < 0 else end
                line = self.text[place:end]
                place = end + 1
                if (line.lstrip("\t") if indented else line).rstrip("\r") == mark:
                    break
        self.marks.clear()
        return place
