"""Secrets in texts: masked so that one still sees which key it was, and nobody can use it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from operator import is_not
from typing import Any, Final, TypeVar

from ebbtide.text.secret_rules import PLACEHOLDERS, SECRET_FIELD, SECRET_RULES, SecretForm, SecretRule

_T = TypeVar("_T")

_TAIL: Final = 4  # characters that a mask shows
_LONG_WORD: Final = 8  # characters of a secret that is looked for in other texts too
_LONG_ENOUGH: Final = 16  # characters of a secret of which that many give nothing away
_FEWEST_BITS: Final = 2.75  # a character, of what was generated: 8 characters of which two are equal
_TEXTLESS: Final = frozenset({int, float, bool, type(None)})
_DEEPEST: Final = 200  # levels of values in values
_TOO_DEEP: Final = "[nested too deeply to be looked through for secrets]"
_BREAKS: Final = re.compile(r"[^\w+/=-]+")
_RULES_OF: Final = {
    hint: tuple(number for number, rule in enumerate(SECRET_RULES) if hint in rule.hints)
    for rule in SECRET_RULES
    for hint in rule.hints
}
_UNHINTED: Final = tuple(number for number, rule in enumerate(SECRET_RULES) if not rule.hints)
_SHORTEST_UNHINTED: Final = 40  # characters of a secret of such a rule
_VARIABLE: Final = re.compile(r"arn:|[$%{<*#\[(]|[A-Za-z_][\w.]*\(|/|~|\.{1,2}/|https?:")
_STAND_IN: Final = re.compile(r"(.)\1*|[xX][-_xX]*|[A-Z_]+|(?i:.*(?:changeme|placeholder|redacted).*)")
_OWN: Final = re.compile(r"(?i:your|my|some|the)[-_]")
# A word, as in a name with its version: `my-app-secret-v2`, `camelCase`, `sha256`, `20240102`, `Uint8Array`.
_WORD: Final = re.compile(
    r"(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+|[A-Za-z]){0,5}+\d{0,4}|\d+"
    r"|(?:[A-Z]?[a-z]+){1,3}+\d{1,5}(?:[A-Z][a-z]{2,}+){1,3}+\d{0,4}"
)
#: Letters with those that follow them in words: 96 % of the pairs in the prose and the names of Python.
_FOLLOWERS: Final = (
    "abcdgiklmnprstuvwxy baceijlorsuy cacehiklmorstu dadeilorstu eabcdefgiklmnopqrstvwxy faefilorstu "
    "gaehilnorsu haeiort iabcdefglmnoprstvxz ju keils lacdeilnopstuy mabdeimopstu nacdefgiklnopstuv "
    "oabcdfgiklmnoprstuvw paehiloprstuy qu racdefgiklmnoprstuvy sacehiklmopstuwy tacdefhilmnoprstuy "
    "uabcdefgilmnprst vaeio waehinors xceipt ynpst ze"
)
_PAIRS: Final = frozenset(row[0] + letter for row in _FOLLOWERS.split() for letter in row[1:])
_FEWEST_PAIRS: Final = 8  # of letters, from which one sees whether they spell words
_RAREST, _RARE_SHARE = 4, 0.3  # pairs that no word has, in number and of all
# Runs in one case within a word that are shorter than words are, of a secret with so many letters.
_MANY_LETTERS, _SHORT_RUN, _SHORT_RUNS = 14, 3, 3
_LETTERS: Final = re.compile(r"[A-Za-z]+")
_RUN: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FILE: Final = re.compile(r"[^/]*+/.*\.[a-z]{2,5}$")
_PARTS: Final = re.compile(r"[-_./:+@=~|\\]+")


def redact(text: str) -> str:
    """Returns `text` with every secret in it masked: its kind, and of a long one the last characters.

    It holds for the beginning of a key that was cut, too. What was masked stays as it is.

    >>> redact("export GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    'export GITHUB_TOKEN=[github token ...8B4a]'
    >>> redact("psql postgres://app:hunter2@db/prod # 3fb2a9c1d0e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8")
    'psql postgres://app:[password]@db/prod # 3fb2a9c1d0e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8'
    """
    return _redact(text, {})


def redacted(value: _T) -> _T:
    """Returns a value like `value`, with the secrets masked in every text in it.

    What is known for a secret by what stands around it in one text is masked in all the others, and so are
    its long parts: a text may have been cut out of another.

    Args:
        value: A text, or anything made of frozen dataclasses, tuples, lists and tables; other objects stay.
    """
    masks: dict[str, str] = {}
    result: _T = _mapped(value, partial(_redact, masks=masks), {})
    bare = {part: mask for secret, mask in masks.items() for part in _parts(secret) if _stands_alone(part)}
    if not bare:
        return result
    words = "|".join(map(re.escape, sorted(bare, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])")
    again: _T = _mapped(result, partial(pattern.sub, lambda match: bare[match[0]]), {})
    return again


@lru_cache(maxsize=512)
def is_secret_field(name: str) -> bool:
    """Returns True if a field of this name holds a secret.

    >>> [name for name in ("password", "apiKey", "x-api-key", "path", "max_tokens") if is_secret_field(name)]
    ['password', 'apiKey', 'x-api-key']
    """
    return re.fullmatch(SECRET_FIELD, name) is not None


@cache
def _pattern(number: int) -> re.Pattern[str]:
    return re.compile(SECRET_RULES[number].pattern)


@cache
def _any_hint() -> re.Pattern[str]:
    """Returns one of the hints, as a tree of letters: several times faster than looking for each."""
    tree: dict[str, Any] = {}
    for hint in _RULES_OF:
        branch = tree
        for letter in hint:
            branch = branch.setdefault(letter, {})
        branch[""] = {}
    return re.compile(_branches(tree))


@cache
def _hints_from(beginning: str) -> tuple[str, ...]:
    """Returns the hints that begin so: what `_any_hint` finds is the shortest of them."""
    return tuple(hint for hint in _RULES_OF if hint.startswith(beginning))


def _branches(tree: dict[str, Any]) -> str:
    if "" in tree:
        return ""
    branches = [re.escape(letter) + _branches(rest) for letter, rest in tree.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _redact(text: str, masks: dict[str, str]) -> str:
    """Masks as `redact` does; `masks` takes the secrets that were masked."""
    small = text.lower()
    numbers = set(_UNHINTED) if len(text) >= _SHORTEST_UNHINTED else set()
    found = _any_hint().search(small)
    while found is not None:
        start = found.start()
        for hint in _hints_from(found[0]):
            if small.startswith(hint, start):
                numbers.update(_RULES_OF[hint])
        found = _any_hint().search(small, start + 1)
    for number in sorted(numbers):
        text = _pattern(number).sub(partial(_masked, SECRET_RULES[number], masks), text)
    return text


def _parts(secret: str) -> list[str]:
    """Returns a secret, and each part between marks or spaces that is long enough to give it away."""
    return [secret, *(part for part in _BREAKS.split(secret) if _LONG_ENOUGH <= len(part) < len(secret))]


def _stands_alone(secret: str) -> bool:
    """Returns True if it is no word that texts may have for other reasons."""
    return len(secret) >= _LONG_WORD and not (secret.isalpha() and secret.islower())


def _mapped(value: Any, change: Callable[[str], str], known: dict[str, str], depth: int = 0) -> Any:
    """Returns a value in which every text is changed; one without a change is the same object."""
    kind: Any = type(value)
    if depth > _DEEPEST:
        return _TOO_DEEP
    if kind is str:
        text = known.get(value)
        if text is None:
            text = known[value] = change(value)
        return text
    if isinstance(value, tuple | list):
        parts = [
            item if type(item) in _TEXTLESS else _mapped(item, change, known, depth + 1) for item in value
        ]
        if not any(map(is_not, parts, value)):
            return value
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    names = _fields_of(kind)
    if names is None:
        return {
            _mapped(key, change, known, depth + 1): _mapped(item, change, known, depth + 1)
            for key, item in value.items()
        }
    changes = {}
    for name in names:
        old = getattr(value, name)
        # A summary is numbers for the most part.
        if type(old) in _TEXTLESS:
            continue
        new = _mapped(old, change, known, depth + 1)
        if new is not old:
            changes[name] = new
    return dataclasses.replace(value, **changes) if changes else value


@cache
def _fields_of(kind: type) -> tuple[str, ...] | None:
    """Returns the fields of a dataclass; none of another object; None of a table."""
    return None if issubclass(kind, Mapping) else tuple(getattr(kind, "__dataclass_fields__", ()))


def _masked(rule: SecretRule, masks: dict[str, str], match: re.Match[str]) -> str:
    names = match.re.groupindex or (0,)
    name = next((name for name in names if match[name] is not None), None)
    if name is None or not _has_form(secret := match[name], rule.form):
        return match[0]
    tail = f" ...{secret[-_TAIL:]}" if len(secret) >= _LONG_ENOUGH and secret[-_TAIL:].isalnum() else ""
    start, end = match.span(name)
    before, after = match[0][: start - match.start()], match[0][end - match.start() :]
    mask = masks[secret] = f"[{rule.kind}{tail}]"
    return f"{before}{mask}{after}"


def _has_form(secret: str, form: SecretForm) -> bool:
    match form:
        case SecretForm.ANY:
            return True
        case SecretForm.MIXED:
            return _is_mixed(secret) or _is_unspelled(secret)
        case SecretForm.TYPED:
            return not _stands_in(secret)
        case SecretForm.RANDOM:
            is_random = _has(secret, str.isdigit) and _is_random(secret)
            return not _stands_in(secret) and (is_random or _is_unspelled(secret))
        case SecretForm.UNSPOKEN:
            has_digit = _has(secret, str.isdigit)
            is_mixed = _has(secret, str.islower) and _has(secret, str.isupper)
            is_random = (has_digit or is_mixed) and _is_random(secret)
            return not _stands_in(secret) and (is_random or _is_unspelled(secret))


def _stands_in(secret: str) -> bool:
    """Returns True if it is a placeholder, a variable, a path or a call."""
    return (
        secret.lower().strip(".,:;!?") in PLACEHOLDERS
        or _VARIABLE.match(secret) is not None
        or _STAND_IN.fullmatch(secret) is not None
        or (_OWN.match(secret) is not None and not _is_mixed(secret))
    )


def _is_random(secret: str) -> bool:
    if not _has(secret, str.isalpha):
        return False
    if _FILE.match(secret) or all(_WORD.fullmatch(part) for part in _PARTS.split(secret)):
        return False
    size = len(secret)
    bits = -sum(n / size * math.log2(n / size) for n in Counter(secret).values())
    return bits >= min(_FEWEST_BITS, 0.8 * math.log2(size))


def _is_mixed(secret: str) -> bool:
    return _has(secret, str.islower) and _has(secret, str.isupper) and _has(secret, str.isdigit)


def _is_unspelled(secret: str) -> bool:
    """Returns True if the letters of a secret spell no words: too many stand beside each other by chance.

    >>> [_is_unspelled(text) for text in ("nFmGNKiXnlFiOzcr", "getElementsByTagName", "continuation")]
    [True, False, False]
    """
    if _FILE.match(secret):
        return False
    runs = [_RUN.findall(word) for word in _LETTERS.findall(secret)]
    shortest = sum(len(run) < _SHORT_RUN for word in runs if len(word) > 1 for run in word)
    if shortest >= _SHORT_RUNS and sum(map(str.isalpha, secret)) >= _MANY_LETTERS:
        return True
    pairs = [run[place : place + 2].lower() for word in runs for run in word for place in range(len(run) - 1)]
    rare = sum(pair not in _PAIRS for pair in pairs)
    return len(pairs) >= _FEWEST_PAIRS and rare >= _RAREST and rare >= _RARE_SHARE * len(pairs)


def _has(text: str, test: Callable[[str], bool]) -> bool:
    return any(map(test, text))
