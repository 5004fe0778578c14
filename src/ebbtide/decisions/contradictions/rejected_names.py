"""Names that a decision ruled out: of its alternatives those that are one name and nothing else.

"Use SQLite instead of Redis" rules out the name ``Redis``. "rather than the manual setup" rules out no name:
its words are in any code, and whoever spoke at each of them would speak falsely. A name that is written as
code, a path, an identifier, a call, is found anywhere in code. Any other word counts only where code names a
module or a package.

Source: `python -m benchmarks.quality.contradictions`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_EDGES: Final = " \t\n\"'`.,;:!?*_"
#: Words before a name that are no part of it.
_FILLERS: Final = re.compile(
    r"(?:(?:a|an|any|the|plain|raw|our|my|its|use|uses|using|add|adding|with|import|importing|install|installing)\s+)+",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"@?[A-Za-z][\w-]*(?:(?:\.|/|::|->)[\w-]+)*(?:\(\)|/)?")
_CODE: Final = re.compile(r"[A-Za-z0-9](?:[_/]|\.|::|->)[\w-]|[a-z][A-Z]|\(\)\Z")
_VERSION: Final = re.compile(r"[A-Za-z]?\d+(?:\.\d+)*\Z")
_SHORTEST: Final = 3
_ABBREVIATIONS: Final = ("e.g", "i.e", "etc", "vs")
#: What is ruled out without another choice has to be a thing to use: "we will not use Redis".
_TO_USE: Final = (
    r"\b(?:us(?:e|es|ing)|add(?:ing)?|install(?:ing)?|import(?:ing)?|adopt(?:ing)?|introduc(?:e|ing)"
    r"|depend(?:ing)? on|go(?:ing)? with|bring(?:ing)? in|pull(?:ing)? in)"
    r"\s+(?:(?:a|an|any|the)\s+)?[`\"']?{}"
)


class RejectedName(NamedTuple):
    """One name that a decision ruled out.

    Args:
        text: The name, as it was written.
        is_code: True for what is written as code, and found anywhere in code with its case; another word
            counts only as the name of a module or package.
    """

    text: str
    is_code: bool


def rejected_names(
    description: str, choice: str | None, alternatives: Sequence[str]
) -> tuple[RejectedName, ...]:
    """Returns the names that a decision ruled out.

    Args:
        description: The decision in the words of the speaker.
        choice: What was chosen; None where something was ruled out and nothing chosen.
        alternatives: What was not.

    >>> rejected_names("Use SQLite instead of Redis", "SQLite", ["Redis"])
    (RejectedName(text='Redis', is_code=False),)
    >>> rejected_names("Use paths.parse() rather than os.path.join()", "paths.parse()", ["os"])
    (RejectedName(text='os.path.join', is_code=True),)
    >>> rejected_names("Use git init instead of the manual setup", "git init", ["the manual setup"])
    ()
    """
    names: dict[str, RejectedName] = {}
    for alternative in alternatives:
        text = _FILLERS.sub("", _whole(description, alternative.strip(_EDGES)), count=1).strip(_EDGES)
        if _NAME.fullmatch(text) is None or _VERSION.fullmatch(text) or len(text) < _SHORTEST:
            continue
        name = RejectedName(text.removesuffix("()"), _CODE.search(text) is not None)
        if text.lower().startswith(_ABBREVIATIONS) or _is_elsewhere(name.text, description, choice):
            continue
        if choice is None and not re.search(_TO_USE.format(re.escape(text)), description, re.IGNORECASE):
            continue
        names.setdefault(name.text, name)
    return tuple(names.values())


def _whole(description: str, alternative: str) -> str:
    """Returns an alternative up to the end of its last word: a full stop may have cut a name."""
    at = description.find(alternative) if alternative else -1
    if at < 0:
        return alternative
    end = at + len(alternative)
    rest = re.match(r"(?:[.][\w-]+)+(?:\(\))?|\(\)", description[end:])
    return alternative + (rest[0] if rest else "")


def _is_elsewhere(name: str, description: str, choice: str | None) -> bool:
    """Returns True if a name is in what was chosen, too, or twice in what was said."""
    token = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", re.IGNORECASE)
    return (choice is not None and token.search(choice) is not None) or len(token.findall(description)) > 1
