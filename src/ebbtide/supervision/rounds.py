"""Rounds of the conversation: the turns that are rounds, and what the convergence engine makes of them.

A turn that ends in a call is work in progress: its text says what is looked up next, not what was found. A
turn that no call follows is handed to somebody: it is a round. It is read when a verdict can depend on it:
rounds between which something new came, from a tool or a person, make no dry stretch, whatever they say. What
it brings counts from where it was said, so that it does not matter when it is read.

A chain with hardly any calls is a conversation. There what a person says is a round too, and at its end the
novelty of all its rounds counts, so that it is judged as the convergence engine alone would judge it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbtide.codec import State
from ebbtide.convergence.signal import Signal
from ebbtide.divergence.detectors.spend import SpentSoFar
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.text.embedding.vectors import Embedder

if TYPE_CHECKING:
    from ebbtide.convergence.score import RoundReading
    from ebbtide.supervision.round_reader import RoundReader

_LONGEST = 100_000  # characters of a turn that are read, at its beginning and end; the rest is data
_WAITING = 64  # turns that wait to be read; the oldest are forgotten
_TALK = 10  # turns a call, from which a chain is a conversation: an agent at work has one or two


class RoundMoment(NamedTuple):
    """Moment of a chain at which a round was complete.

    Args:
        turn: Its turn.
        spent: What it had spent.
    """

    turn: int = 0
    spent: SpentSoFar = SpentSoFar()


class Utterance(NamedTuple):
    """Words of a model or a person, and their place.

    Args:
        agent: Who spoke, where that is known.
        event: Number of the event in the run.
        fresh: Whether something new came between it and the turn before.
        answered: Whether that was an answer of a tool.
        counts: Whether it may make a stretch dry: a model's turn of some length.
        talk: Whether it was said in a conversation, where every turn is a round.
        person: Whether a person said it.
        moment: Where the chain stood then.
    """

    text: str
    agent: str | None
    event: int
    fresh: bool = False
    answered: bool = False
    counts: bool = True
    talk: bool = False
    person: bool = False
    moment: RoundMoment = RoundMoment()


class ReadRound(NamedTuple):
    """A round that was read: what was made of it, the round itself, and where it was complete."""

    reading: RoundReading
    item: Round
    event: int
    moment: RoundMoment


class ChainRounds(State):
    """The rounds of one chain.

    Args:
        profile: Thresholds; its section `supervision` says which turns are rounds, and when they are dry.
        embedder: Turns the semantic level on.
    """

    _number: int = 0
    _explicit: int = 0  # number of the latest round that the caller numbered
    _latest_news: int = 0  # place of the latest new answer when the latest round came
    _waiting: deque[Utterance] = deque(maxlen=_WAITING)
    pending_turn: Utterance | None = None  # the turn that is a round unless a call follows
    person: bool = False  # whether a person has said something new since the latest round
    idle: int = 0  # rounds in a row with nothing new before them
    # Rounds in a row that were read, brought nothing new, and had nothing new before them.
    rounds_without_new_claims: int = 0
    without_new_claims_since: int = 0  # the event that completed the first of them
    low_run: int = 0  # rounds in a row that brought nothing new, by the meter
    rounds_read: int = 0  # rounds that were read
    latest: Signal | None = None
    turns: int = 0  # turns of models and people
    calls: int = 0  # calls of tools
    # Rounds in a row, of whomever, that brought nothing new, with no new answer before them.
    flat_rounds: int = 0
    flat_rounds_since: int = 0  # the event that completed the first of them
    cut_texts: int = 0  # turns of which only the beginning and the end are read
    claims_left_out: int = 0  # claims of rounds that state too many of them

    def __init__(self, profile: Profile, embedder: Embedder | None = None) -> None:
        super().__init__()
        self._profile = profile
        self._rules = profile.supervision
        self._embedder = embedder
        self._reader: RoundReader | None = None  # made for the first round that is read

    @property
    def talk(self) -> bool:
        """True if this is a conversation: hardly a call among its turns."""
        return self.calls * _TALK <= self.turns

    @property
    def waiting(self) -> bool:
        """True if there are rounds that were not read yet."""
        return bool(self._waiting)

    def settle(self, moment: RoundMoment, latest_news: int, *, eager: bool = False) -> Iterator[ReadRound]:
        """Nothing was called after the turn that is held: it is a round.

        Args:
            moment: Where the chain stands now.
            latest_news: Place of its latest new answer.
            eager: Read it now, also where no verdict can depend on it.

        Yields:
            Rounds as they are read; the state between them is that after each.
        """
        turn, self.pending_turn = self.pending_turn, None
        if turn is None:
            return
        counts = len(turn.text.split(maxsplit=self._rules.turn_words)) >= self._rules.turn_words
        if not counts and not turn.talk:
            return
        answered = latest_news != self._latest_news
        fresh = counts and self._is_fresh(latest_news)
        turn = turn._replace(fresh=fresh, answered=answered, counts=counts, moment=moment)
        yield from self._wait(turn, eager=eager)

    def listen(
        self, turn: Utterance, moment: RoundMoment, latest_news: int, *, eager: bool = False
    ) -> Iterator[ReadRound]:
        """Take what a person says in a conversation; the other arguments are those of `settle`."""
        answered = latest_news != self._latest_news
        turn = turn._replace(answered=answered, counts=False, talk=True, person=True, moment=moment)
        return self._wait(turn, eager=eager)

    def _wait(self, turn: Utterance, *, eager: bool) -> Iterator[ReadRound]:
        if len(turn.text) > _LONGEST:
            from ebbtide.text.excerpt import excerpt  # hardly any run needs it

            turn = turn._replace(text=excerpt(turn.text, _LONGEST).text)
            self.cut_texts += 1
        self._waiting.append(turn)
        if eager or self.idle >= self._rules.dry_rounds:
            yield from self.catch_up()

    def catch_up(self) -> Iterator[ReadRound]:
        """Read the rounds that wait, one after the other."""
        while self._waiting:
            turn = self._waiting.popleft()
            extraction = self._loaded_reader().extract(turn.text, person=turn.person)
            if not extraction.items:
                if not turn.talk:
                    continue  # a turn that states and asks nothing is no round
                turn = turn._replace(counts=False)
            item = Round(
                number=self._number + 1,
                agent=turn.agent,
                claims=extraction.claims,
                decisions=extraction.decisions,
                open_questions=extraction.open_questions,
                next_actions=extraction.next_actions,
                text=turn.text,
            )
            yield from self._read(item, turn)

    def take(self, item: Round, event: int, moment: RoundMoment, latest_news: int) -> Iterator[ReadRound]:
        """Read a round that the caller hands over; one whose number was there before counts once."""
        if item.number <= self._explicit:
            return
        self._explicit = item.number
        yield from self.settle(moment, latest_news)
        yield from self.catch_up()
        answered = latest_news != self._latest_news
        fresh = self._is_fresh(latest_news)
        turn = Utterance("", item.agent, event, fresh=fresh, answered=answered, moment=moment)
        number = max(item.number, self._number + 1)
        yield from self._read(replace(item, number=number), turn)

    def _is_fresh(self, latest_news: int) -> bool:
        fresh = latest_news != self._latest_news or self.person
        self._latest_news, self.person = latest_news, False
        self.idle = 0 if fresh else self.idle + 1
        return fresh

    def _loaded_reader(self) -> RoundReader:
        if self._reader is None:
            from ebbtide.supervision.round_reader import RoundReader

            self._reader = RoundReader(self._profile, self._embedder)
        return self._reader

    def _read(self, item: Round, turn: Utterance) -> Iterator[ReadRound]:
        self._number = item.number
        reading = self._loaded_reader().read(item)
        if reading is None:
            return
        self.rounds_read += 1
        self.claims_left_out += reading.novelty.left_out
        self.low_run = reading.recommendation.low_run
        if not self.low_run or turn.fresh:
            self.rounds_without_new_claims = 0
        elif turn.counts:
            if not self.rounds_without_new_claims:
                self.without_new_claims_since = turn.event
            self.rounds_without_new_claims += 1
        if not self.low_run or turn.answered:
            self.flat_rounds = 0
        else:
            if not self.flat_rounds:
                self.flat_rounds_since = turn.event
            self.flat_rounds += 1
        self.latest = reading.recommendation.signal
        yield ReadRound(reading, item, turn.event, turn.moment)

    def to_state(self) -> Any:
        """All that later readings depend on."""
        reader = self._reader
        meter = None if reader is None else [reader.to_state(), reader.claims]
        return {**super().to_state(), "meter": meter}

    def restore(self, state: Any) -> None:
        """Take up what `to_state` gave."""
        super().restore(state)
        if state["meter"] is not None:
            self._loaded_reader().restore(*state["meter"])
