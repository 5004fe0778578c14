"""Agents whose work comes to nothing: what one agent orders of others, held against what they answer.

Four signs, none of which a map over many things, a panel or a review has. Agents that were to change
something answer, one after the other, that they left it as it is, and the next ones get the same order. Each
of many agents in a row answers that it failed, and no more. Each answer is handed on as the next order, and
nobody does anything. Or agents are started and started, and nobody reads an answer. A change by the one who
orders begins afresh, since the answers were of use; but failures may be noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ebbtide.bounded import Bounded
from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share, words_of
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.outcome import Ending, outcome_of
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.text.late_pattern import LatePattern

#: Tools that speak with an agent, or end it, or bring its answer.
TALKS: Final = frozenset(
    "wait_agent close_agent send_input followup_task list_agents TaskOutput AgentOutputTool TaskStop "
    "SendMessage read_agent write_agent stop_agent".split()
)
_ENDS: Final = frozenset({"close_agent", "TaskStop", "stop_agent"})
_KEPT: Final = 64  # agents that are known at once, and their orders
_FRAMES: Final = 4  # orders around an answer that are known again
_ALIKE: Final = 0.6  # of the words of two of those from which they are one
_QUOTED: Final = 0.7  # of the words of an answer that stand in the order which hands it on
_STAGES: Final = 7  # answers that are handed on from which they are no stages of one work
_RESUMES: Final = (
    "task_id",
    "resume",
    "agent_id",
    "id",
)  # arguments with which an order goes to an agent that is there
_FEW: Final = 4  # words of an answer from which it can be quoted
_AFTER: Final = 3  # orders to change something that were given after the first agent had changed nothing
_SHORT: Final = 300  # characters of an answer that says no more than that it failed
_READ: Final = 2_000  # characters of an order or an answer
_NAME: Final = re.compile(r"[A-Za-z][\w-]{2,60}")
_COMMON: Final = frozenset(
    "agent agents worker explorer default general-purpose general subagent task".split()
)
_NAMED: Final = (
    "subagent_type",
    "agent_type",
    "name",
    "nickname",
    "id",
    "agent_id",
    "task_id",
    "recipient",
    "to",
    "target",
)
_SPOKEN: Final = ("message", "content", "prompt", "input", "text")
_OPENING: Final = LatePattern(r"<(task_result|result|output|message)>")
_NOTICE: Final = LatePattern(
    r"\s*<((?:task|sub-?agent|agent|teammate|inter-agent)[_-]?\w{0,20})\b([^>]{0,200})>(.*)", re.DOTALL
)
_LAUNCHED: Final = LatePattern(
    r"\b(?:launched|started|running|queued) (?:successfully|in (?:the )?background)\b|\bagentId\b",
    re.IGNORECASE,
)
#: Begins what a harness appends to the words of an agent.
_TRAILER: Final = LatePattern(r"\n\s{0,9}(?:agentId:|<usage>)")
_SPENT: Final = LatePattern(r"<usage>|\bsubagent_tokens\b|\bto continue this agent\b")  # it has answered
_CODE: Final = LatePattern(r"(?<![\w.,])(?:40\d|42[29]|50[0-4]|529)(?![\w,]|\.\d)")  # of HTTP
_IDS: Final = LatePattern(r"(?:agent_?id|task_?id)\W{1,4}([\w-]{3,60})", re.IGNORECASE)
#: Verbs of orders that want something changed, and of those that want to know something.
_CHANGES: Final = frozenset(
    """
    migrate replace fix convert update refactor rewrite implement add remove rename write edit apply port
    upgrade install deploy create delete patch clean translate move split merge format bump adapt correct
    repair resolve modernise modernize annotate extract inline simplify drop switch build make
    """.split()
)
_ASKS: Final = frozenset(
    """
    read list check review report find compare verify audit analyse analyze look search summarise summarize
    inspect explain describe count research investigate explore test confirm validate see tell assess
    evaluate examine
    """.split()
)
_IDLE: Final = LatePattern(
    r"\b(?:nothing|no (?:\w{1,20} )?(?:changes?|edits?|migrations?|modifications?|work|fix(?:es)?|updates?|"
    r"conversions?))(?: (?:was|were|is|are|has been|have been))?"
    r" (?:made|changed|done|edited|modified|needed|necessary|required|possible|applied|"
    r"to (?:do|change|migrate|fix|update|convert|port|edit|replace))\b"
    r"|\bno (?:changes?|edits?)\b|\b(?:unchanged|untouched)\b"
    r"|\b(?:leave|leaving|left) (?:it|them|this|the file|everything|that)?"
    r" ?(?:alone|as (?:it|they) (?:is|are|was|were)|in place)\b"
    r"|\b(?:did|do|have|has|was|were)(?: not|n't) (?:been )?"
    r"(?:change|touch|edit|modif|migrat|convert)\w{0,4}\b|\b(?:skipped|refused|declined)\b",
    re.IGNORECASE,
)
_DONE: Final = LatePattern(
    r"(?<!not )(?<!n't )(?<!nothing )(?<!never )\b(?:fixed|added|changed|updated|removed|implemented|edited|"
    r"renamed|wrote|committed|applied|merged|created|replaced|pushed|migrated|converted|rewrote|repaired|deployed)\b",
    re.IGNORECASE,
)


class Errand(NamedTuple):
    """An order to an agent that has not answered.

    Args:
        names: What the agent is called.
        changes: Whether it was to change something.
        is_after: Whether the one who gave it knew of an agent that had changed nothing.
    """

    names: tuple[str, ...]
    changes: bool
    is_after: bool


class Errands(Detector):
    """Follows the orders and the answers of one chain."""

    _LASTING = ("_open", "_changes")
    _open: Bounded[str, Errand] = Bounded(_KEPT)  # by the first of its names
    _idle: int = 0  # agents in a row that changed nothing
    _after: int = 0  # of them, those that were started in spite of that
    _failed: int = 0  # agents in a row that failed
    _relays: int = 0  # answers in a row that were handed on
    _asked_for: int = 0  # of them, those that named the agent to whom they went
    _closed: int = 0  # agents in a row that were ended before they answered
    _started: int = 0  # agents that were started since an answer was read
    _changes: int = 0  # of the chain, until the latest call that spoke with agents
    _first: int = 0
    _said: str = ""  # the latest answer
    _words: frozenset[int] = frozenset()  # of it
    _author: tuple[str, ...] = ()
    _frames: list[frozenset[int]] = []

    def hear(self, text: str, *, is_task: bool = True) -> None:
        """Take words that came in: those of an agent are an answer, those of a person a new task."""
        match = _NOTICE.match(text[:_READ])
        if match is None:
            if is_task:
                self.reset()
            return
        names = tuple(name for name in _names_in(match[2] + " " + match[3][:200]) if name in self._open)
        for _, said in _texts(match[3]):
            self._answer(names, said)

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that speaks with agents."""
        call, policy = moment.event, moment.policy
        if not isinstance(call, ToolCall) or policy is None:
            return None
        args = call.args if isinstance(call.args, Mapping) else {}
        is_own = moment.effect is Effect.CHANGE and moment.has_news and not moment.has_failed
        before, self._changes = self._changes, self._memory.changes
        if self._changes - is_own > before:
            failed = self._failed
            self.reset()
            self._failed = failed  # whoever notes that they failed has no use of them
        self._first = self._first or moment.number
        text = moment.text or ""
        order = policy.order_of(call.args)
        names = tuple(str(args[name]) for name in _NAMED if isinstance(args.get(name), str))
        relayed = order if order is not None else _first_text(args)
        if relayed is not None:
            is_new = order is not None and not any(name in args for name in _RESUMES)
            self._order(relayed[:_READ], names, is_new=is_new)
        if order is not None:
            self._start(order[:_READ], names, text)
        elif call.name in _ENDS:
            self._end(names, text)
        elif not moment.has_failed:
            for author, said in _texts(text):
                self._answer((author,) if author else names, said)
        return self._judge(moment, call.name)

    def _judge(self, moment: Moment, name: str) -> Finding | None:
        rules = self._rules
        for kind, count, least, is_there in (
            (LoopKind.IDLE_AGENTS, self._idle, rules.idle_agents, self._after >= _AFTER),
            (LoopKind.FAILED_AGENTS, self._failed, rules.failed_agents, True),
            (LoopKind.RELAY, self._relays, rules.relays, self._asked_for > 1 or self._relays >= _STAGES),
            (LoopKind.UNREAD_AGENTS, self._closed, rules.closed_agents, True),
            (LoopKind.UNREAD_AGENTS, self._started, rules.unread_agents, True),
        ):
            if not is_there:
                continue
            finding = self._registry.streak(moment, kind, count=count, at=least, first=self._first)
            if finding is not None:
                return finding
        return None

    def _order(self, order: str, names: tuple[str, ...], *, is_new: bool) -> None:
        """Take words to an agent: they may only hand on what another one said."""
        words = words_of(order)
        frame = words - self._words
        is_quote = len(self._words) >= _FEW and len(words & self._words) >= _QUOTED * len(self._words)
        is_known = any(share(frame, one) >= _ALIKE for one in self._frames)
        is_to_other = is_new or not self._author or not names or names[0] != self._author[0]
        is_asked_for = any(_is_named(name, self._said) for name in names)
        self._frames = [*self._frames[1 - _FRAMES :], frame]
        if is_quote and is_to_other and (is_known or is_asked_for) and not _DONE.search(self._said):
            self._relays += 1
            self._asked_for += is_asked_for
        elif not is_quote or _DONE.search(self._said):
            self._relays = self._asked_for = 0

    def _start(self, order: str, names: tuple[str, ...], text: str) -> None:
        """Take an agent that was started; its answer may come at once."""
        errand = Errand(names, _wants_change(order), self._idle > 0)
        started = _IDS.compiled.findall(text[:_READ])
        is_launch = bool(started) and (len(text) <= 300 or _LAUNCHED.search(text[:_READ]) is not None)
        if is_launch and not _SPENT.search(text) and not any(_tagged(text[:_READ])):
            self._started += 1
            own = tuple(_names_in(text[:_READ]))
            self._open[started[0]] = errand._replace(names=(*names, *own))
            return
        said = next((said for _, said in _texts(text)), "")
        if said:
            self._note(errand, said)

    def _end(self, names: tuple[str, ...], text: str) -> None:
        """Take an agent that was ended: before it answered, nobody read what it did."""
        known = next((name for name in names if name in self._open), None)
        if known is None:
            return
        said = next((said for _, said in _texts(text) if len(said.split()) >= _FEW), "")
        if said:
            self._answer((known,), said)
            return
        del self._open[known]
        self._closed += 1

    def _answer(self, names: tuple[str, ...], said: str) -> None:
        known = next((name for name in names if name in self._open), None)
        unknown = Errand(names, changes=False, is_after=False)
        self._note(unknown if known is None else self._open.pop(known), said)

    def _note(self, errand: Errand, said: str) -> None:
        """Take the answer of an agent."""
        self._started = self._closed = 0
        if errand.changes and _IDLE.search(said[:_READ]) and not _DONE.search(said[:_READ]):
            self._idle += 1
            self._after += errand.is_after
        else:
            self._idle = self._after = 0
        self._failed = self._failed + 1 if _says_failure(said) else 0
        self._said, self._words, self._author = said[:_READ], words_of(said[:_READ]), errand.names


def _says_failure(said: str) -> bool:
    """Returns True if an answer says that its agent failed, and no more."""
    said = _TRAILER.compiled.split(said, maxsplit=1)[0].strip()
    if len(said) > _SHORT:
        return False
    outcome = outcome_of(said, None, failed=False)
    return (outcome is not None and outcome.ending is Ending.FAILED) or _CODE.search(said) is not None


def _wants_change(order: str) -> bool:
    """Returns True if the first verb of an order wants something changed."""
    words = (word.strip(".,:;\"'()").lower() for word in order.split()[:16])
    return next((word in _CHANGES for word in words if word in _CHANGES or word in _ASKS), False)


def _first_text(args: Mapping[Any, Any]) -> str | None:
    return next((args[name] for name in _SPOKEN if isinstance(args.get(name), str)), None)


def _is_named(name: str, text: str) -> bool:
    """Returns True if a text names an agent, by more than what all are called."""
    lower = name.lower()
    return (
        len(lower) > 2
        and lower not in _COMMON
        and re.search(rf"\b{re.escape(lower)}\b", text.lower()) is not None
    )


def _names_in(text: str) -> Iterator[str]:
    yield from (name for name in re.findall(r"[\w-]{3,60}", text))


def _tagged(text: str) -> Iterator[str]:
    """Yields what stands between the tags of answers."""
    at = 0
    while (tag := _OPENING.compiled.search(text, at)) is not None:
        end = text.find(f"</{tag[1]}>", tag.end())
        at = tag.end() if end < 0 else end
        if end >= 0 and (said := text[tag.end() : end].strip()):
            yield said


def _texts(answer: str) -> Iterator[tuple[str, str]]:
    """Yields what agents say in an answer, each with the name of the agent where it is known."""
    if answer.lstrip()[:1] == "{":
        try:
            value = json.loads(answer)
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield from _leaves(value, "")
            return
    found = list(_tagged(answer[: 4 * _READ]))
    if found:
        yield from (("", said) for said in found)
    elif answer.strip():
        yield "", answer.strip()


def _leaves(value: Mapping[str, Any], author: str) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _leaves(inner, author if key in ("status", "agents", "completed") else key)
        elif (
            isinstance(inner, str)
            and key in ("completed", "errored", "result", "output", "final_message")
            and inner
        ):
            yield author, inner


def known_idle_agent(number: int) -> Event:
    """An event of a run whose agents leave everything as it is."""
    order = f"Migrate vendor/part{number}.js to the new client."
    return ToolCall(name="Task", args={"prompt": order}, result=f"part{number} is not ours: nothing changed.")


def known_failed_agent(number: int) -> Event:
    """An event of a run whose agents are all refused by the same gate."""
    order = f"Find the price of part {number} at dealer{number}.example."
    return ToolCall(
        name="Task", args={"prompt": order}, result=f"dealer{number}: access denied (403), price unknown."
    )


def known_relay(number: int) -> Event:
    """An event of a run that carries a question to and fro between two agents."""
    here, there = ("planner", "schema")[number % 2], ("schema", "planner")[number % 2]
    before = f"I cannot choose {number - 1}; that is for the {here} to decide first."
    return ToolCall(
        name="Task",
        args={"prompt": f'The {there} says: "{before}" Which is it?', "subagent_type": here},
        result=f"I cannot choose {number}; that is for the {there} to decide first.",
    )


def known_unread_agent(number: int) -> Event:
    """An event of a run that starts agents, and reads no answer."""
    return ToolCall(
        name="Task", args={"prompt": f"Look into report {number}."}, result=f'{{"agent_id": "a{number}"}}'
    )
