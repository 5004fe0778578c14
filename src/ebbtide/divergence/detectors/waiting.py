"""Looks at something that takes its time: with time between two of them, looking again is waiting.

Waiting is right while something is under way: the answer says so, or a call of late started or changed what
is looked at. Else nothing can come of it, and the patience is short: so many looks, and so much time. So it
is where the run itself holds what it waits for, where what it started has ended, and where the answer says
what keeps the thing from going on. One that stands still until somebody acts takes no time at all. The
patience has an end also where something is under way and never moves.

Two answers are the same where they differ in what the question named, or in numbers alone that jump to and
fro. Looks at one thing in other ways are looks at the same, where each shows nothing, or that it stands still
until somebody acts; that takes one look less, whatever else is seen in between. A number
that moves in one direction is progress, unless it is a clock. So is whatever else brought news between two
looks. What is at work now needs neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.detectors.again import repeated
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share
from ebbtide.divergence.started_work import names_in
from ebbtide.events.awaited import (
    has_come_so_far,
    is_at_work,
    is_blocked,
    is_gone,
    is_halted,
    is_in_line,
    names_holder,
    shares_in,
)
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.text.noise import without_noise

_VIGILS: Final = 8  # things that are looked at, which are known
_TIMES: Final = 12  # looks at something that is under way, from which time counts
_ALIKE: Final = 0.6  # of the words of two looks from which they are one
_CLOCK: Final = 0.1  # by which a clock may differ from the time that passed
_MINUTE: Final = 60
_HELD: Final = 2 / 3  # of the time that a wait in vain takes, where somebody is named who holds it
_READ: Final = 1_000  # characters of an answer that are read
_BARE: Final = 16  # characters of an answer that shows nothing
_TOKEN: Final = re.compile(r"\w(?:[\w.:/-]{0,200}\w)?|[^\w\s]")
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_DIGITS: Final = re.compile(r"\d+")


@dataclass(slots=True)
class Vigil:
    """Looks at one thing, each after a rest, that show the same."""

    form: Key
    words: frozenset[int]  # of the call
    names: frozenset[int]  # of what was looked for, as long as nothing was there; else none
    place: int  # of the first call
    first_event: int
    since: float | None
    stands: bool  # whether it stands still until somebody acts
    latest: list[float]  # numbers of the latest answer, and of the first
    begin: list[float]
    count: int = 0
    rested_s: float = 0.0  # as the calls state it
    witnessed: int = 0  # answers of the chain that were news, until the latest look
    rose: int = 0  # of the numbers, those that ever grew, and that ever shrank, a bit each
    fell: int = 0
    shares: list[float] = field(default_factory=list)

    def move(self, numbers: list[float]) -> None:
        """Take one more answer."""
        for place, (before, now) in enumerate(zip(self.latest, numbers, strict=False)):
            if now > before:
                self.rose |= 1 << place
            elif now < before:
                self.fell |= 1 << place
        self.latest = numbers

    def has_come_further(self, shares: list[float]) -> bool:
        """Returns True if a share that an answer names has grown since the last answer."""
        before, self.shares = self.shares, shares
        return len(before) == len(shares) and any(now > was for was, now in zip(before, shares, strict=True))

    def is_moving(self, passed_s: float) -> bool:
        """Returns True if a number went one way alone, and not as a clock does."""
        one_way = self.rose ^ self.fell
        for place, (first, last) in enumerate(zip(self.begin, self.latest, strict=False)):
            if one_way >> place & 1 and not _is_clock(abs(last - first), passed_s):
                return True
        return False


def _is_clock(moved: float, passed_s: float) -> bool:
    return any(
        abs(moved - passed_s / unit) <= max(1.0, _CLOCK * passed_s / unit)
        for unit in (1, _MINUTE)
        if passed_s
    )


class Waits(Detector):
    """Counts looks that show what they showed before: only the same answer again and again counts."""

    _vigils: list[Vigil] = []

    def see(self, moment: Moment) -> Finding | None:
        """Take a call; whatever looks at something that takes its time is explained by that."""
        finding = self._rest(moment) if moment.has_rested else None
        if finding is not None or not moment.is_look:
            return finding
        known, rules = moment.memory, self._rules
        repetition = self._memory.repetition
        least = rules.waits if repetition.latest_wait > moment.before else rules.polls
        if least is not None and moment.has_failed:
            least = min(least, 2 * rules.outage)
        if known is None or least is None or known.same_answers < least:
            return CARRIED_ON
        finding = repeated(self._memory, LoopKind.WAITING, moment, known.same_answers, least, is_proof=False)
        return finding or CARRIED_ON

    def _rest(self, moment: Moment) -> Finding | None:
        """Take a look after a rest: it may be in vain, whatever it shows."""
        text, rules = moment.text, self._rules
        least, least_s = rules.vain_waits, rules.vain_wait_s
        if text is None or least is None:
            return None
        vigil = self._vigil(moment)
        if vigil.has_come_further(shares_in(text[:_READ])):
            return self._goes_on(moment)
        least -= vigil.stands
        if vigil.count < least:
            return None
        passed_s = vigil.rested_s
        if vigil.since is not None and moment.ts is not None:
            passed_s = moment.ts - vigil.since
        answer = moment.beginning
        kind = LoopKind.VAIN_WAIT
        if vigil.stands:
            least_s = 0.0
        else:
            started = self._memory.started
            deed = started.latest_deed(names_in(moment.arguments), moment.now)
            is_ended = deed is not None and (deed.is_ended or (deed.made is not None and is_gone(answer)))
            is_working = is_at_work(answer) and not is_ended
            if (deed is not None and deed.place > vigil.place) or vigil.is_moving(passed_s):
                return self._goes_on(moment)
            if is_working or is_in_line(answer):
                return self._goes_on(moment)
            is_held = names_holder(answer)
            is_own = is_held and started.holds(names_in(answer), moment.now)
            is_vain = is_ended or is_own or is_blocked(answer)
            is_declared = moment.effect is Effect.POLL and not moment.is_command  # looking is its work
            is_due = is_declared or deed is not None or has_come_so_far(answer)
            least_s *= _HELD if is_held else 1.0
            if not is_vain and (is_due or started.is_any(moment.now)):
                kind, least, least_s = LoopKind.WAITING, max(least, _TIMES), rules.waits_s
            least_s = max(least_s, started.announced_s(moment.now))
        if vigil.count < least or passed_s < least_s:
            return None
        return self._registry.streak(
            moment, kind, vigil.form, count=vigil.count, at=least, first=vigil.first_event
        )

    def _goes_on(self, moment: Moment) -> Finding | None:
        """Begin afresh, since the awaited thing moves: its looks are no repeats, whatever they show."""
        vigil = self._vigils[-1]
        vigil.count, vigil.place, vigil.first_event, vigil.since = 1, moment.now, moment.number, moment.ts
        vigil.begin, vigil.rested_s, vigil.rose, vigil.fell = vigil.latest, 0.0, 0, 0
        return None if moment.effect is Effect.READ else CARRIED_ON

    def _vigil(self, moment: Moment) -> Vigil:
        """Count a look among those at the same thing that showed the same."""
        numbers: list[float] = []
        form = _form_of(without_noise(moment.beginning), moment.arguments, numbers)
        if moment.has_failed:  # how often it failed is no way that it has come; where it goes on is one
            numbers = [float(token) for token in _TOKEN.findall(moment.arguments) if _NUMBER.fullmatch(token)]
        key = key_of(moment.name, form)
        words = frozenset(word for word in moment.words if not word & 1)  # an odd one holds a digit
        vigils, witnessed = self._vigils, self._memory.witnessed
        is_news = moment.has_news or (moment.is_look and not moment.same_since)
        stands = is_halted(moment.beginning)
        names = names_in(moment.arguments) if stands or _is_bare(moment) else frozenset()
        vigil = next((one for one in vigils if one.form == key and share(one.words, words) >= _ALIKE), None)
        if vigil is None and names:
            vigil = next((one for one in vigils if one.names & names and one.stands == stands), None)
        if vigil is not None:
            vigils.remove(vigil)
            if witnessed - is_news > vigil.witnessed and not (stands and vigil.stands):
                vigil = None  # something else moved in between
        if vigil is None:
            del vigils[: len(vigils) - _VIGILS + 1]
            vigil = Vigil(key, words, names, moment.now, moment.number, moment.ts, stands, numbers, numbers)
        else:
            vigil.rested_s += moment.pause_s
            vigil.names &= names
            vigil.stands = stands
            if vigil.form == key:
                vigil.move(numbers)
        vigil.count += 1
        vigil.witnessed = witnessed
        vigils.append(vigil)
        return vigil


def _is_bare(moment: Moment) -> bool:
    """Returns True if a look shows nothing: it fails, or finds nothing, or next to nothing."""
    return moment.has_failed or moment.is_empty or len(moment.text or "") <= _BARE


def _form_of(answer: str, question: str, numbers: list[float]) -> str:
    """Returns the words of an answer that are not in the question, without numbers, which are put aside."""
    asked = set(_TOKEN.findall(question))
    form = []
    for token in _TOKEN.findall(answer):
        if token in asked and len(token) > 1:
            continue
        if _NUMBER.fullmatch(token):
            numbers.append(float(token))
        form.append(_DIGITS.sub("#", token))
    return " ".join(form)


def known_wait(number: int) -> ToolCall:
    """An event of a run that asks for the state of a job."""
    return probe_call(number, '{"status": "running"}', job=7)


def known_vain_wait(number: int) -> ToolCall:
    """An event of a run that waits for what nobody makes."""
    call = probe_call(number, "no such record", command="sleep 300; dig example.org")
    call.ts = 310.0 * number
    return call
