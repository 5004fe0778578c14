"""Noise in texts, which changes and means nothing: times, durations, addresses, generated ids.

Two degrees. *Known noise* never means anything: two answers that differ in it alone are the same answer.
*Fresh names* are generated anew with each attempt (pods, receipts, commits), but could mean something, so
that answers which differ in them alone have the same outcome and are not the same answer. A number that
counts something is neither: it may be progress.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ebbtide.text.late_pattern import LatePattern


class NoiseRule(NamedTuple):
    """Pattern of one kind of noise.

    Args:
        id: Its name, which takes the place of the noise, in angle brackets.
        hints: Texts one of which is there wherever the noise is; looking for them is cheap. Empty: a digit.
        pattern: A regular expression. It begins with a digit or a literal, which the engine can skip to.
    """

    id: str
    hints: tuple[str, ...]
    pattern: str


_START: Final = r"\d(?<!\w\d)(?<!\w\.\d)"  # a digit that begins a number
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_ZONE: Final = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"

#: In this order.
KNOWN_NOISE: Final = (
    NoiseRule(
        "temp",
        ("/tmp/", "/var/folders/", "/var/tmp/", "/run/user/", "/dev/shm/", "\\Temp\\"),  # noqa: S108 - to find
        r"/(?:tmp|var/folders|var/tmp|run/user|dev/shm)/[\w./+@=-]+|\\Temp\\[\w.\\+-]+",
    ),
    NoiseRule("uuid", ("-4", "-"), r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
    NoiseRule(
        "process", ("pid", "PID", "Process ", "(node:"), r"(?:pid|PID|Process)\W{0,3}\d+|\(node:\d+(?=\))"
    ),
    NoiseRule(
        "port",
        ("127.0.0.1:", "localhost:", "[::1]:"),
        r"(?:127\.0\.0\.1|localhost|\[::1\]):(?:3[3-9]|[45]\d|6[0-5])\d{3}(?!\d)",
    ),
    NoiseRule("load", ("load average",), r"load averages?: [\d.]+,? [\d.]+,? [\d.]+"),
    NoiseRule("memory", (", Memory: ",), r", Memory: \d[\d.]* ?[KMG]i?B"),
    NoiseRule("shell", ("shellId", "shell_id"), r"shell(?:Id|_id)\W{1,4}\w{1,40}"),
    NoiseRule(
        "shell_line",
        ("sh: ", "zsh:", "(eval):"),
        r"(?:ba|z|da|k)?sh: (?:line )?\d{1,9}(?=:)|(?:zsh|\(eval\)):\d{1,9}(?=:)",
    ),
    NoiseRule(
        "elapsed",
        ("uration", "lapsed", "atency", "took", "age", "ptime"),
        r"\"(?:\w{0,99}(?:[dD]uration|[eE]lapsed|[lL]atency|took)\w{0,99}|(?:\w{1,50}_)?(?:age|uptime)(?:_\w{1,20})?)\""
        r": ?[\d.]+"
        r"|(?:[eE]lapsed|[lL]atency|[uU]ptime)(?:_\w{1,20})?(?:=|: ?)\d[\d.]{0,20}(?![\w.:])",
    ),
    NoiseRule(
        "counter",
        (" left", " remaining", " used", "remaining "),
        r"(?:[Tt]urn|[Ss]tep|[Ii]teration|[Cc]all|[Tt]oken|[Rr]equest)s? (?:left|remaining|used)\W{1,3}[\d,]+"
        r"|(?<![\d,])[\d,]+ (?:more )?(?:turn|step|iteration|tool call|call|token|request)s?"
        r" (?:left|remaining|used)",
    ),
    NoiseRule(
        "time",
        (),
        rf"{_START}(?:\d{{3}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}{_ZONE}"
        rf"|\d? {_CLOCK}(?= )"
        rf"|\d?:\d\d(?::\d\d(?:[.,]\d{{1,9}})?|\.\d{{1,9}}|(?= min\b))"
        rf"|(?<=1)[5-9]\d{{8}}(?:\.\d{{1,9}}|\d{{3}}|\d{{6}}|\d{{9}})?(?!\w))",
    ),
    NoiseRule("address", ("0x",), r"0x[0-9a-fA-F]{6,16}"),
    NoiseRule(
        "duration",
        (),
        rf"{_START}\d*(?:,\d{{3}})?(?:\.\d+)?(?: ?(?:ns|[uµ]s|ms|s|secs?|seconds?|mins?|minutes?)"
        r"|d(?:\d+h)?|h(?:\d+m)?|m(?:\d+(?:\.\d+)?s)?)(?![\w(=])",
    ),
)
_COMPILED: Final = tuple((rule.hints, LatePattern(rule.pattern), f"<{rule.id}>") for rule in KNOWN_NOISE)
# A word with a digit; shorter ones are not generated.
_NAME: Final = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{5})[A-Za-z]*+\d[A-Za-z0-9]*")
_SWITCH: Final = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
_DIGIT: Final = re.compile(r"\d")
_LONG_NUMBER: Final = 6  # digits from which a number is a name
_HASH: Final = 7  # characters from which hexadecimal digits are a hash


def without_noise(text: str) -> str:
    """Returns the text with `KNOWN_NOISE` replaced by the name of its rule.

    >>> without_noise("4 passed in 1.94s at 2026-11-22T10:00:01Z, see /dev/shm/ab12")
    '4 passed in <duration> at <time>, see <temp>'
    """
    if not _DIGIT.search(text):
        return text
    for hints, pattern, label in _COMPILED:
        if not hints:
            text = pattern.compiled.sub(label, text)
            continue
        for hint in hints:
            if hint in text:
                text = pattern.compiled.sub(label, text)
                break
    return text


def without_fresh_names(text: str) -> str:
    """Returns the text with the generated parts of names replaced; known noise should be gone already.

    >>> without_fresh_names("pod web-7d9f8c6b5-x2k4q failed 3 times, utf8, receipt 88120394")
    'pod web-<id>-<id> failed 3 times, utf8, receipt <id>'
    """
    return _NAME.sub(_fresh, text) if _DIGIT.search(text) else text


def is_generated(name: str) -> bool:
    """Returns True if a name looks as if a program had made it: a hash, a long number, letters and digits.

    >>> [is_generated(name) for name in ("x2k4q", "9f8c6b5", "20261122", "sha256", "utf8", "v2")]
    [True, True, True, False, False, False]
    """
    if not _DIGIT.search(name):
        return False
    if name.isdigit():
        return len(name) >= _LONG_NUMBER
    if len(name) >= _HASH and not set(name) - set("0123456789abcdef"):
        return True
    return len(name) >= 5 and len(_SWITCH.findall(name)) > 1  # one is a version


def _fresh(match: re.Match[str]) -> str:
    word = match.group()
    return "<id>" if is_generated(word) else word
