"""Patterns of the package whose search grows faster than the text: none may.

    python -m benchmarks.quality.pattern_growth [--module WORD] [--longest N]

Two looks at each regular expression. Its tree: a repeat without a bound must match a text in one way only, or
the time doubles with every word (Weideman et al., "Analyzing Matching Time Behavior of Backtracking Regular
Expression Matchers by Using Ambiguity of NFA", 2016). And a clock: texts made of what a pattern repeats,
longer and longer, for as long as time and length grow alike.

Prints a line for each offender as JSON: the module, the name, what is wrong, and the text.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import itertools
import json
import math
import pkgutil
import re
import signal
import sys
import textwrap
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import ebbtide
from ebbtide.text.late_pattern import LatePattern
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor, PhraseRule

_parser: Any = importlib.import_module("re._parser")
_constants: Any = importlib.import_module("re._constants")

LONGEST = 32_000  # characters of a text; a tool's answer may have more
_MANY = 24  # repeats from which a bound is none
_STATES = 900  # of a repeat, for the look at pairs of them
_FAST_S = 0.01  # for the longest text; below, how it grows cannot be measured
_HANGS_S = 0.5  # for a text of any length up to the longest
_TRIES = 3  # of a search whose growth is in question
_GROWS = 2.9  # times the time for twice the text: 2 is linear, 4 is quadratic
_REPEATS = tuple(getattr(_constants, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))
_USE = re.compile(r"(?<![\w.\"'])(\w+)\.(match|fullmatch|search|finditer|findall|subn?|split)\b")
_SAMPLES = "a x0_A5-.,:;!?=/\\\"'`@#*|+~<>()[]{}$%&^\n\tzé中\x00"


class NamedPattern(NamedTuple):
    """A pattern of the package, and how it is looked for.

    Args:
        name: Its module and name.
        pattern: It.
        search: Looks for it in a text as the package does.
    """

    name: str
    pattern: re.Pattern[str]
    search: Callable[[str], object]


class Offender(NamedTuple):
    """What is wrong with a pattern, a text that shows it, and the power of the length in the time."""

    name: str
    fault: str
    text: str
    power: float


def package_patterns(word: str = "") -> Iterator[NamedPattern]:
    """Every pattern of the modules that have `word` in their names, each once.

    Patterns, phrase rules and rows with a field `pattern` in values of modules and inside of them; and what a
    function gives to a function of `re`, where it is made of constants.
    """
    known: set[tuple[str, int, str]] = set()
    for module in _modules():
        if word not in module.__name__:
            continue
        for name, found in itertools.chain(_values(module), _arguments(module)):
            row = _named(f"{module.__name__}.{name}", found)
            key = (row.pattern.pattern, row.pattern.flags, getattr(row.search, "__name__", ""))
            if key not in known:
                known.add(key)
                yield row


def offenders(patterns: Iterator[NamedPattern], longest: int = LONGEST) -> Iterator[Offender]:
    """The patterns that an unkind text keeps busy."""
    for row in patterns:
        ambiguous = next(ambiguous_repeats(row.pattern), None)
        if ambiguous is not None:
            yield Offender(row.name, "a repeat that matches in two ways", ambiguous, math.inf)
        slow = slowest(row, longest)
        if slow is not None:
            yield slow


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(ebbtide.__path__, "ebbtide."):
        if not found.name.endswith("__main__"):
            # A module of an extra that is not installed.
            with suppress(ImportError):
                yield importlib.import_module(found.name)


def _named(name: str, found: re.Pattern[str] | PhraseRule) -> NamedPattern:
    if isinstance(found, re.Pattern):
        last = name.rpartition(".")[2]
        verbs = {last} if " " in name else _verbs(name.rpartition(".")[0]).get(last, set())
        whole = verbs and verbs <= {"match", "fullmatch"}
        return NamedPattern(name, found, getattr(found, max(verbs)) if whole else _Every(found))
    left = {Anchor.TEXT: r"\A\W*", Anchor.CLAUSE: r"(?:\A\W*|[.!?;:,\u2013\u2014]\s*|\n[^\S\n]*|\s-\s+)"}
    start = left.get(found.anchor, r"(?<!\w)")
    pattern = re.compile(f"{start}(?:{found.pattern})(?!\\w)", re.IGNORECASE)
    return NamedPattern(
        f"{name}[{found.id}]", pattern, pattern.match if found.anchor is Anchor.TEXT else pattern.search
    )


class _Every(NamedTuple):
    """Looks for every match, as a replacement does."""

    pattern: re.Pattern[str]

    def __call__(self, text: str) -> None:
        for _ in self.pattern.finditer(text):
            pass


@cache
def _verbs(module: str) -> dict[str, set[str]]:
    """The methods that are called on the variables of a module: on private ones there, on others anywhere."""
    verbs: dict[str, set[str]] = defaultdict(set)
    here = Path(str(sys.modules[module].__file__))
    for path in Path(ebbtide.__path__[0]).rglob("*.py"):
        for name, verb in _USE.findall(_source(path)):
            if path == here or not name.startswith("_"):
                verbs[name].add(verb)
    return verbs


@cache
def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _values(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str] | PhraseRule]]:
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from ((name, found) for found in _inside(value, 0))


def _inside(value: Any, depth: int) -> Iterator[re.Pattern[str] | PhraseRule]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, LatePattern):
        yield value.compiled
    elif isinstance(value, PhraseRule):
        yield value
    elif isinstance(value, PhraseTable):
        yield from value.rules
    elif isinstance(value, type | ModuleType) or depth > 4:
        return
    elif isinstance(getattr(value, "pattern", None), str):
        yield re.compile(value.pattern)
    elif isinstance(value, Mapping):
        for item in list(value.values()):
            yield from _inside(item, depth + 1)
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from _inside(item, depth + 1)
    elif type(value).__module__.startswith("ebbtide"):
        yield from _inside(_fields(value), depth + 1)


def _fields(value: Any) -> dict[str, Any]:
    slots = (name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()))
    with_slots = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return {**with_slots, **getattr(value, "__dict__", {})}


def _arguments(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError):
        return
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for node in itertools.chain.from_iterable(map(ast.walk, functions)):
        if not (isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) != "re" or node.func.attr in ("escape", "Pattern", "Match"):
            continue
        others = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        flags = [each for each in others if ast.unparse(each).startswith("re.")]
        with suppress(Exception):  # it is made of what only the function knows
            names = vars(module)
            text = eval(ast.unparse(node.args[0]), dict(names))  # noqa: S307
            kinds = [eval(ast.unparse(each), dict(names)) for each in flags]  # noqa: S307
            if isinstance(text, str):
                yield f"line {node.lineno}.{node.func.attr}", re.compile(text, sum(map(int, kinds)))


def slowest(row: NamedPattern, longest: int = LONGEST) -> Offender | None:
    """The first text of those made from a pattern's repeats for which its search takes too long."""
    for make in _pumped(row.pattern):
        size, before = 500, 0.0
        while size <= longest:
            text = make(size)
            took = _seconds(row.search, text)
            if took is None:
                return Offender(row.name, f"hangs at {len(text):,} characters", _shortened(text), math.inf)
            if size == 500 and took < _FAST_S / 400:
                if (_seconds(row.search, make(longest)) or math.inf) < _FAST_S:
                    break
                size = longest // 4
                continue
            if took > _FAST_S and before and took > _GROWS * before:
                # Again, and on: a window of some hundred characters grows so until it is full.
                sizes = (size // 2, size, size * 2, size * 4)
                times = [_least_seconds(row.search, make(each)) for each in sizes]
                if all(
                    late > _GROWS * early or late == math.inf for early, late in itertools.pairwise(times)
                ):
                    known = [each for each in times if each < math.inf]
                    power = math.log2(known[-1] / known[0]) / (len(known) - 1) if len(known) > 1 else math.inf
                    growth = f"{2**power:.1f} times the time for twice the text"
                    fault = f"{growth}, {took:.2f} s at {len(text):,} characters"
                    return Offender(row.name, fault, _shortened(text), power)
            size, before = size * 2, took
    return None


def _shortened(text: str) -> str:
    return text if len(text) < 80 else f"{text[:60]}...{text[-12:]}"


class _HangError(BaseException):
    """A search was cut off."""


def _cut_off(*_: object) -> None:
    raise _HangError


def _seconds(search: Callable[[str], object], text: str) -> float | None:
    """How long a search takes; None where it was cut off."""
    signal.signal(signal.SIGALRM, _cut_off)
    started = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 4 * _HANGS_S)
        search(text)
    except _HangError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    took = time.process_time() - started
    return None if took > _HANGS_S else took


def _least_seconds(search: Callable[[str], object], text: str) -> float:
    """The least time of some searches, which other work disturbs least; infinite where all were cut off."""
    return min(_seconds(search, text) or math.inf for _ in range(_TRIES))


def _pumped(pattern: re.Pattern[str]) -> Iterator[Callable[[int], str]]:
    """Makers of texts of a size: what a pattern repeats, many times, and an end where it fails."""
    known = set()
    for before, body, least in _repeats(list(_parsed(pattern)), ""):
        for number, style in enumerate(_STYLES):
            part = "".join(_sample(body, style, pick) for pick in range(3))
            if not part:
                continue
            whole = before + part * (1 + least // 3)
            for start, unit in (
                (before, part),
                ("", whole),
                ("", whole + "\n"),
                ("", whole + " "),
                ("", " " + whole),
            ):
                for end in ("", "\x01", " a") if number < 2 else ("\x01",):
                    key = (start, unit, end)
                    if key not in known:
                        known.add(key)
                        yield lambda size, key=key: _text(*key, size)  # type: ignore[misc]


def _text(start: str, unit: str, end: str, size: int) -> str:
    return f"{start}{unit * max(1, size // len(unit))}{end}"


class _Style(NamedTuple):
    """How a text is made from a pattern.

    Args:
        letters: What a set is taken for, the first first.
        optional: What may be left out is there.
        last: The last alternative counts, not the first.
    """

    letters: str
    optional: bool
    last: bool


_STYLES = (
    _Style(_SAMPLES, optional=True, last=False),
    _Style("-._/ ,:\\=\n\t" + _SAMPLES, optional=False, last=False),
    _Style(" \n\t" + _SAMPLES, optional=False, last=True),
    _Style("0" + _SAMPLES, optional=True, last=True),
    _Style("A_" + _SAMPLES, optional=False, last=False),
)


def _parsed(pattern: re.Pattern[str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _parser.parse(pattern.pattern, pattern.flags)


def _repeats(nodes: list[Any], before: str) -> Iterator[tuple[str, Any, int]]:
    """The repeats of a tree without a bound: a text that leads to each, its body, how often at least."""
    for operator, argument in nodes:
        if operator in _REPEATS:
            least, most, body = argument
            if most == _constants.MAXREPEAT or most >= _MANY:
                yield before, list(body), least
            yield from _repeats(list(body), before)
        elif operator is _constants.SUBPATTERN:
            yield from _repeats(list(argument[3]), before)
        elif operator is _constants.ATOMIC_GROUP:
            yield from _repeats(list(argument), before)
        elif operator is _constants.BRANCH:
            for branch in argument[1]:
                yield from _repeats(list(branch), before)
        elif operator in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _repeats(list(argument[1]), before)
        before += _sample([(operator, argument)], _STYLES[1])


def _sample(nodes: Any, style: _Style, pick: int = 0) -> str:
    """A text that a part of a tree matches, or nearly."""
    parts = []
    for operator, argument in nodes:
        if operator in _REPEATS:
            least, most, body = argument
            count = max(least, min(most, 1) if style.optional else 0)
            parts.append(_sample(body, style, pick) * count)
        elif operator is _constants.SUBPATTERN:
            parts.append(_sample(argument[3], style, pick))
        elif operator is _constants.ATOMIC_GROUP:
            parts.append(_sample(argument, style, pick))
        elif operator is _constants.BRANCH:
            branches = argument[1]
            parts.append(_sample(branches[(-1 - pick if style.last else pick) % len(branches)], style, pick))
        else:
            matches = _characters(operator, argument)
            if matches is not None:
                parts.append(next((one for one in style.letters if matches(one)), ""))
                if operator is _constants.LITERAL:
                    parts[-1] = chr(argument)
    return "".join(parts)


def _characters(operator: Any, argument: Any) -> Callable[[str], bool] | None:
    """The set of characters that a leaf stands for; None of what takes no room."""
    if operator is _constants.LITERAL:
        return lambda one: ord(one) == argument
    if operator is _constants.NOT_LITERAL:
        return lambda one: ord(one) != argument
    if operator is _constants.ANY:
        return lambda one: one != "\n"
    if operator is _constants.BRANCH:
        sets = [_characters(*leaf) for leaf in argument]
        return lambda one: any(matches is not None and matches(one) for matches in sets)
    if operator is _constants.IN:
        negated = argument[0][0] is _constants.NEGATE
        items = argument[1:] if negated else argument
        return lambda one: negated != any(_in_set(item, one) for item in items)
    return None


_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "DIGIT": str.isdigit,
    "SPACE": str.isspace,
    "WORD": lambda one: one.isalnum() or one == "_",
}


def _in_set(item: Any, one: str) -> bool:
    operator, argument = item
    if operator is _constants.LITERAL:
        return ord(one) == int(argument)
    if operator is _constants.RANGE:
        return bool(argument[0] <= ord(one) <= argument[1])
    name = str(argument).removeprefix("CATEGORY_").removeprefix("UNI_")
    return _CATEGORIES[name.removeprefix("NOT_")](one) != name.startswith("NOT_")


class _Part(NamedTuple):
    """Positions of a part of a tree, as Glushkov's automaton has them.

    Args:
        empty: It matches nothing.
        first: Where it may begin.
        last: Where it may end.
    """

    empty: bool
    first: Counter[int]
    last: Counter[int]


_NOTHING = _Part(empty=True, first=Counter(), last=Counter())


class _Automaton:
    """The positions of a pattern, and how often one may follow another: twice is two ways for one text."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.follow: list[Counter[int]] = []

    def part(self, nodes: Any) -> _Part:
        """A sequence of nodes."""
        whole = _NOTHING
        for operator, argument in nodes:
            whole = self._then(whole, self._node(operator, argument))
        return whole

    def loop(self, part: _Part) -> _Part:
        """A part any number of times."""
        for end in part.last:
            self.follow[end] += part.first
        return part._replace(empty=True)

    def _then(self, left: _Part, right: _Part) -> _Part:
        for end in left.last:
            self.follow[end] += right.first
        first = left.first + right.first if left.empty else left.first
        last = left.last + right.last if right.empty else right.last
        return _Part(left.empty and right.empty, first, last)

    def _node(self, operator: Any, argument: Any) -> _Part:
        if operator is _constants.POSSESSIVE_REPEAT:
            part = self._atomic(argument[2])
            return part._replace(empty=part.empty or not argument[0])
        if operator in _REPEATS:
            return self._repeat(*argument)
        if operator is _constants.SUBPATTERN:
            return self.part(argument[3])
        if operator is _constants.BRANCH:
            parts = [self.part(branch) for branch in argument[1]]
            return _Part(
                any(part.empty for part in parts),
                sum((part.first for part in parts), Counter()),
                sum((part.last for part in parts), Counter()),
            )
        if operator is _constants.ATOMIC_GROUP:
            return self._atomic(argument)
        if argument is _constants.AT_END_STRING:
            return self._leaf((_constants.BRANCH, []))  # nothing comes behind it
        if _characters(operator, argument) is None:
            return _NOTHING
        return self._leaf((operator, argument))

    def _atomic(self, body: Any) -> _Part:
        """What is never tried in a second way, as one position that stands for how it begins."""
        inside = _Automaton()
        part = inside.part(body)
        leaf = self._leaf((_constants.BRANCH, [inside.leaves[at] for at in part.first]))
        return leaf._replace(empty=part.empty)

    def _leaf(self, leaf: tuple[Any, Any]) -> _Part:
        self.leaves.append(leaf)
        self.follow.append(Counter())
        at = len(self.leaves) - 1
        return _Part(empty=False, first=Counter([at]), last=Counter([at]))

    def _repeat(self, least: int, most: int, body: Any) -> _Part:
        whole = _NOTHING
        for _ in range(min(least, 2)):
            whole = self._then(whole, self.part(body))
        if most == _constants.MAXREPEAT or most >= _MANY:
            return self._then(whole, self.loop(self.part(body)))
        rest = _NOTHING
        for _ in range(min(most - least, 3)):
            rest = self._then(self.part(body), rest)._replace(empty=True)
        return self._then(whole, rest)


def ambiguous_repeats(pattern: re.Pattern[str]) -> Iterator[str]:
    """Texts that a repeat of a pattern which is not atomic takes, over and over, in two ways."""
    yield from _ambiguous(list(_parsed(pattern)))


def _ambiguous(nodes: list[Any]) -> Iterator[str]:
    for operator, argument in nodes:
        if operator in _REPEATS:
            most, body = argument[1], list(argument[2])
            atomic = operator is _constants.POSSESSIVE_REPEAT or (
                len(body) == 1 and body[0][0] is _constants.ATOMIC_GROUP
            )
            if (
                (most == _constants.MAXREPEAT or most >= _MANY)
                and not atomic
                and len(body) + len(str(body)) > 60
            ):
                found = _two_ways(body)
                if found is not None:
                    yield found
            yield from _ambiguous(body)
        elif operator is _constants.SUBPATTERN:
            yield from _ambiguous(list(argument[3]))
        elif operator is _constants.ATOMIC_GROUP:
            yield from _ambiguous(list(argument))
        elif operator is _constants.BRANCH:
            for branch in argument[1]:
                yield from _ambiguous(list(branch))
        elif operator in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _ambiguous(list(argument[1]))


def _two_ways(body: list[Any]) -> str | None:
    """A text that leads a repeat from one of its positions back to it in two ways."""
    automaton = _Automaton()
    automaton.loop(automaton.part(body))
    leaves, follow = automaton.leaves, automaton.follow
    if len(leaves) > _STATES:
        return None
    sets = [frozenset(one for one in _ALPHABET if _characters(*leaf)(one)) for leaf in leaves]  # type: ignore[misc]

    def shared(left: int, right: int) -> str:
        return min(sets[left] & sets[right], default="")

    for here, ways in enumerate(follow):
        for there, count in ways.items():
            if count > 1 and sets[there] and _reaches(follow, there, here):
                return shared(there, there) + f" (position {there} of {len(leaves)})"
    # Two paths that part at a position and meet there again.
    splits = [here for here, ways in enumerate(follow) if len(ways) > 1]
    for here in splits:
        begin = [
            (left, right)
            for left, right in itertools.combinations(sorted(follow[here]), 2)
            if shared(left, right)
        ]
        words = {pair: shared(*pair) for pair in begin}
        while begin:
            left, right = begin.pop()
            for pair in itertools.product(follow[left], follow[right]):
                if pair in words or not (one := shared(*pair)):
                    continue
                words[pair] = words[left, right] + one
                if pair == (here, here):
                    return words[pair]
                begin.append(pair)
    return None


_ALPHABET = [chr(code) for code in range(128)] + list("é中\u2013\u2014\u2019\u2026\u2022")


def _reaches(follow: list[Counter[int]], start: int, goal: int) -> bool:
    known, left = {start}, [start]
    while left:
        at = left.pop()
        if at == goal:
            return True
        new = set(follow[at]) - known
        known |= new
        left += new
    return False


def main() -> int:
    """Prints the offenders; 1 where there are some."""
    parser = argparse.ArgumentParser(description=textwrap.dedent(str(__doc__)).split("\n")[0])
    parser.add_argument("--module", default="")
    parser.add_argument("--longest", type=int, default=LONGEST)
    options = parser.parse_args()
    count = 0
    for offender in offenders(package_patterns(options.module), options.longest):
        count += 1
        print(json.dumps(offender._asdict(), ensure_ascii=False), flush=True)
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
