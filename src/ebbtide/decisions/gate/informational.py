"""Turns that say something and decide nothing: chat, transitions, status, lists, reports of what tools did.

What the turn alone can show, whether tools were used and how long it was, is asked only where a turn is
known. A candidate without one is its own turn as far as words go.

Source: decision quality gate, 1a and 1b, and 006.2 and 007.3 as its clauses read them (Q01 to Q03).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ebbtide.decisions.assessment import Layer, RuleFired
from ebbtide.decisions.candidate import TurnContext
from ebbtide.decisions.gate.spec_rules import FRAGMENTS, PREDECESSORS, REPORT_MARKERS, REPORT_WORDS
from ebbtide.profile.decisions import GateRules
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import folded
from ebbtide.text.sentence_ends import clauses

_READ = 500  # characters; a turn says at its beginning what kind of turn it is
_WORD = re.compile(r"(?=\w)([a-z0-9_]*)")
_BULLET = re.compile(r"\s*(?:[-*+\u2022\u25cf\u25aa\u2013]|\d{1,3}[.)])\s+\S")
# An emoji, with what joins and colours it, before the first word.
_EMOJI_HEADER = re.compile(
    "\\A[\\s#*_>]*[\u203c-\u3299\U0001f000-\U0001faff][\ufe0f\u200d\u2600-\u27bf\U0001f000-\U0001faff]*\\s*[*_]*\\w"
)
_TALK = PhraseTable((*FRAGMENTS, *PREDECESSORS), lower=True)
_LINE = 200  # characters of it
_LINES = 200  # lines of a turn that are looked at
_LIST = 3  # lines from which a turn can be a list
_SHARE = 0.5  # the weight of a shape: it decides nothing alone

#: By default half a reason against a turn that worked and has no sign of a choice, or none but weak ones.
NO_CHOICE = RuleFired(
    id="turn.no-choice",
    layer=Layer.INFORMATIONAL,
    reason="The turn used tools and has no clear sign of a choice",
    weight=_SHARE,
)

#: The same against a sentence that was cut out of a turn, which nobody wrote down as a decision; the profile
#: says how much it counts.
QUOTED = RuleFired(
    id="turn.quoted",
    layer=Layer.INFORMATIONAL,
    reason="It is one sentence of a turn and has no clear sign of a choice",
    weight=_SHARE,
)

#: The same against a long text.
LONG = RuleFired(
    id="turn.long",
    layer=Layer.INFORMATIONAL,
    reason="It says much and has no clear sign of a choice",
    weight=_SHARE,
)
SAYS_MUCH = 150  # characters, about two sentences


def informational(text: str, turn: TurnContext | None, rules: GateRules) -> tuple[RuleFired, ...]:
    """The rules of layer 1 of the spec that fire, in its order.

    Where evidence is weighed, phrases are left to the rules of evidence, and what is found here counts half.

    Args:
        text: The words of the turn, or those of the candidate where no turn is known.
        turn: The turn, where it is known.
        rules: The thresholds.
    """
    fired = [] if rules.weighs else list(_phrases(text))
    if turn is not None:
        fired.extend(_action_report(turn, rules))
        fired.extend(_shapes(turn, rules))
    return tuple(fired)


def _phrases(text: str) -> Iterator[RuleFired]:
    beginning = text.lstrip()[:_READ]
    lowered = folded(beginning)
    for rule, _, start, end in _TALK.matches(lowered, sentences=_sentences(lowered)):
        yield _fired(rule.id, "The turn is chat", beginning[start:end], 1.0, decides=True)


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields each sentence of a text: the start of its first word, its end, and that word."""
    for start, end in clauses(text, colons=False):
        word = _WORD.search(text, start, end)
        if word is not None:
            yield word.start(), end, word[1]


def _action_report(turn: TurnContext, rules: GateRules) -> Iterator[RuleFired]:
    """The rule of reports, where tools were used and enough of the beginning says that something is done.

    Markers count once each. By the spec they count inside other words too; where evidence is
    weighed they are whole words, and neither "unresolved" nor "not done" is one.
    """
    if not turn.tool_results:
        return
    beginning = turn.text[: rules.report_characters].lower()
    markers = [marker for marker in REPORT_MARKERS if marker in beginning]
    if rules.weighs and len(markers) >= rules.report_markers:
        markers = list(dict.fromkeys(match.group().lower() for match in REPORT_WORDS.finditer(beginning)))
    if len(markers) >= rules.report_markers:
        reason = "It used tools and reports what they did"
        yield _fired("report.action", reason, ", ".join(markers), 1.0, decides=not rules.weighs)


def _shapes(turn: TurnContext, rules: GateRules) -> Iterator[RuleFired]:
    weight, alone = (_SHARE, False) if rules.weighs else (1.0, True)
    beginning = turn.text[:_READ]
    if not beginning.isascii() and (header := _EMOJI_HEADER.match(beginning)):
        yield _fired(
            "turn.emoji-header", "The turn has an emoji header", header.group(), weight, decides=alone
        )
    if not turn.tool_results and len(turn.text.strip()) < rules.short_turn_below:
        yield _fired("turn.short", "The turn is short and used no tools", "", weight, decides=alone)
    if turn.text.count("\n") < _LIST - 1:
        return
    lines = [line[:_LINE] for line in turn.text.split("\n", _LINES)[:_LINES]]
    lines = [line for line in lines if line.strip()]
    bullets = sum(1 for line in lines if _BULLET.match(line))
    if len(lines) >= _LIST and bullets > rules.bullets_above * len(lines):
        reason = f"{bullets} of {len(lines)} lines of the turn are items of a list"
        yield _fired("turn.bullets", reason, "", weight, decides=alone)


def _fired(name: str, reason: str, phrase: str, weight: float, *, decides: bool) -> RuleFired:
    return RuleFired(
        id=name,
        layer=Layer.INFORMATIONAL,
        reason=reason,
        phrase=phrase.strip(),
        weight=weight,
        decides=decides,
    )
