"""Sessions of Claude Code: its session files, and what ``--output-format stream-json`` prints.

Lines of the types ``user`` and ``assistant`` around messages of Anthropic's interface.

A model call takes a line for each block of its answer, and counts once, with its largest usage, wherever it
stands: in lines of its own, in those of type ``progress`` by which a sub-agent reports to its parent, or in
the result that the parent got, which states the last call of the sub-agent. Lines of other types are passed
over, but for compactions and costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.model_call_id import CallId, prompt_of
from ebbtide.events.usage import Usage, rows_by_model
from ebbtide.traces.agents.sniffing import CLAUDE_SPEAKERS
from ebbtide.traces.records.calls_once import CallsOnce, is_same_prompt, nameless_call, raise_to
from ebbtide.traces.records.claude_totals import take_total
from ebbtide.traces.records.fields import (
    count,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.injected_words import persons_words
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import anthropic_usage, has_spent, reported

_SYNTHETIC = "<synthetic>"  # the model of what the harness writes in the name of one
_NO_ANSWER = "No response requested."  # what it writes where nothing was asked
_STOPS = {"end_turn": Stop.END, "stop_sequence": Stop.END, "tool_use": Stop.CALLS, "max_tokens": Stop.LENGTH}
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
_NO_OUTCOME: Mapping[str, Any] = {}
_AFTER_TURN = ("stop_hook_summary", "turn_duration")  # lines that come when a turn is over


@dataclass(slots=True, kw_only=True)
class _OpenCall:
    """A model call whose lines still come."""

    id: str | None
    chain: str
    usage: Usage = field(default_factory=Usage)
    texts: list[str] = field(default_factory=list)
    calls: list[tuple[str | None, ToolCall]] = field(default_factory=list)
    results: list[Mapping[str, Any]] = field(default_factory=list)
    agent: str | None = None
    ts: float | None = None
    error: bool = False
    stop: Stop | None = None
    is_given: bool = False  # as a model call; what its lines bring afterwards is given apart
    is_owed: bool = False  # its usage was given, and it was not, for it had said nothing yet

    @property
    def has_spoken(self) -> bool:
        """True if there is more of it than thoughts."""
        return bool(self.texts or self.calls) or self.stop is not None or self.error


class ClaudeCodeReader:
    """Reads a session line by line.

    A model call is given out when its chain goes on after it. The lines of a sub-agent are a chain of their
    own, named by its id where it has one.

    Args:
        calls: The calls of the session in files that other readers read; None where there are none.
    """

    def __init__(self, calls: CallsOnce | None = None) -> None:
        self._answers: dict[str, _OpenCall] = {}
        self._calls = OpenCalls()
        self._lines = Seen()
        self._once = CallsOnce() if calls is None else calls
        self._chains = Sidechains()
        self._started: Bounded[str, str] = Bounded(
            _MOST_LINKS
        )  # chains of agents, by the calls that started them
        self._totals: dict[str, dict[str, Usage]] = {}  # by session and model
        self._models: dict[str, str] = {}  # by sub-agent, as far as lines name them
        self._repeated = 0
        self._ts: float | None = None
        self._first_ts: float | None = None
        self._stated_s = 0.0  # durations that results state: printed lines of a model have no times
        self.title = ""  #: of the session, as its agent or its person names it
        self.project: str | None = None  #: the folder it worked in, as its first line says

    @property
    def duplicates(self) -> int:
        """Lines and calls that were there before."""
        return self._repeated + self._calls.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this line completes."""
        if not isinstance(value, dict):
            return ()
        started_by = identifier(value.get("parentToolUseID") or value.get("parent_tool_use_id"))
        value = _line_of_agent(value)
        kind, message = value.get("type"), value.get("message")
        if self.project is None:
            self.project = text(value.get("cwd"))
        if isinstance(kind, str) and kind in _TITLES:
            self.title = text(value.get(_TITLES[kind])) or self.title
            return ()
        if kind in CLAUDE_SPEAKERS and isinstance(message, dict):
            name = identifier(value.get("uuid"))
            chain, agent = self._chains.of(value)
            if agent is not None and started_by is not None:
                self._started[started_by] = chain  # the call may not be given out yet
                self._calls.amend(started_by, starts=chain)
            # Some tools give several lines one id: only the same line twice is a duplicate.
            check = crc32(_marks_of(message.get("content")).encode(errors="replace"))
            if name is not None and self._lines.before(f"{name} {kind} {check}"):
                self._repeated += 1
                return ()
            ts = seconds(value.get("timestamp"))
            self._ts = ts or self._ts
            self._first_ts = self._ts if self._first_ts is None else self._first_ts
            if kind == "assistant":
                events = self._assistant(value, message, _OpenCall(id=None, chain=chain, agent=agent, ts=ts))
            else:
                events = self._user(value, message, chain, ts)
            return events
        if kind == "attachment":
            return self._attached(value)
        if kind in ("cost-state", "result"):
            take_total(self._totals, value)
            self._stated_s += (count(value.get("duration_ms")) or 0) / 1000
            if kind == "result" and value.get("subtype") == "success":
                self._end_turn("")
        elif kind == "system" and value.get("subtype") in _AFTER_TURN:
            self._end_turn(self._chains.of(value)[0])
        elif kind == "system" and value.get("subtype") == "api_error":
            chain, agent = self._chains.of(value)
            ts = seconds(value.get("timestamp"))
            words = _retry(value)
            error = Notice(kind=NoticeKind.ERROR, text=words, error=True, chain_id=chain, agent=agent, ts=ts)
            return [*self._flushed(chain), error]
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            chain, agent = self._chains.of(value)
            ts = seconds(value.get("timestamp"))
            events = self._flushed(chain)
            compaction = Notice(kind=NoticeKind.COMPACTION, chain_id=chain, agent=agent, ts=ts)
            return [*events, compaction]
        return ()

    def _attached(self, line: Mapping[str, Any]) -> Sequence[Event]:
        """Reads the words of a hook against a call; those at the end of a turn have a line of their own."""
        attachment = mapping(line.get("attachment"))
        event = text(attachment.get("hookEvent"))
        if attachment.get("type") != "hook_blocking_error" or event is None or event.endswith("Stop"):
            return ()
        words = text(mapping(attachment.get("blockingError")).get("blockingError"))
        if words is None:
            return ()
        chain, agent = self._chains.of(line)
        complaint = Notice(
            kind=NoticeKind.NOTE,
            text=f"{event} hook: {words}",
            error=True,
            chain_id=chain,
            agent=agent,
            ts=seconds(line.get("timestamp")),
        )
        return [*self._flushed(chain), complaint]

    def settle(self) -> Sequence[Event]:
        """As in `SettlingReader`. Of a call that only thought so far, its usage is given, and it later."""
        events: list[Event] = []
        for chain, answer in tuple(self._answers.items()):
            # No later line can be of a call without an id.
            events += self._flushed(chain) if answer.id is None else self._given(answer, is_over=False)
        return events

    def finish(self) -> Sequence[Event]:
        """Returns the events that were still open, and what the session states that all of it took."""
        events = [event for chain in tuple(self._answers) for event in self._flushed(chain)]
        events += self._calls.finish()
        stated = rows_by_model(row for models in self._totals.values() for row in models.values())
        if stated:
            total = Notice(kind=NoticeKind.TOTAL, ts=self._end(), source="result", stated=stated)
            return [*events, total]
        return events

    def _end(self) -> float | None:
        """The time of the last line; of printed lines, the end of as long a session as they state."""
        if self._ts is None or self._first_ts is None:
            return self._ts
        return max(self._ts, self._first_ts + self._stated_s)

    def _assistant(self, line: Mapping[str, Any], message: Mapping[str, Any], new: _OpenCall) -> list[Event]:
        """Take a line of a model's answer: of the one that is open, or else of a new one."""
        words = joined_text(message.get("content")) if message.get("model") == _SYNTHETIC else None
        if words is not None and words.strip() == _NO_ANSWER:
            note = Notice(kind=NoticeKind.NOTE, text=words, chain_id=new.chain, agent=new.agent, ts=new.ts)
            return [*self._flushed(new.chain), note]
        new.id = _name_of(line, message)
        answer = self._answers.get(new.chain)
        usage = anthropic_usage(message.get("usage"))
        usage.cost_usd = dollars(line.get("costUSD"))
        model = text(message.get("model"))
        usage.model = None if model == _SYNTHETIC else model
        if new.agent is not None and usage.model is not None:
            self._models[new.agent] = usage.model
        events: list[Event] = []
        if answer is None or new.id is None or answer.id != new.id or not _goes_on(answer, usage, new.ts):
            events = self._flushed(new.chain)
            answer = self._answers[new.chain] = new
            answer.usage = usage
        else:
            answer.ts = new.ts or answer.ts
            answer.usage.model = usage.model or answer.usage.model
            raise_to(answer.usage, usage)
        content = message.get("content")
        # What stands in the place of an answer that never came says why; no model said it.
        answer.error = answer.error or bool(line.get("isApiErrorMessage")) or model == _SYNTHETIC
        answer.stop = _STOPS.get(text(message.get("stop_reason")) or "", answer.stop)
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else items(content):
            self._block(mapping(block), answer)
        return events

    def _end_turn(self, chain: str) -> None:
        """The harness says that the turn is over in which the open answer was given."""
        answer = self._answers.get(chain)
        if answer is not None and answer.stop is None and not answer.error:
            answer.stop = Stop.END

    def _block(self, block: Mapping[str, Any], answer: _OpenCall) -> None:
        kind = block.get("type")
        if not isinstance(kind, str):
            return
        if kind == "text":
            if words := text(block.get("text")):
                answer.texts.append(words)
        elif kind.endswith("tool_use"):
            call = ToolCall(
                name=text(block.get("name")) or "tool",
                args=block.get("input"),
                chain_id=answer.chain,
                agent=answer.agent,
                ts=answer.ts,
            )
            answer.stop = Stop.CALLS
            answer.calls.append((identifier(block.get("id")), call))
        elif kind.endswith("tool_result"):
            answer.results.append(block)

    def _flushed(self, chain: str) -> list[Event]:
        """The model call of a chain, complete, and those of its tool calls that need no waiting."""
        answer = self._answers.pop(chain, None)
        return [] if answer is None else self._given(answer, is_over=True)

    def _given(self, answer: _OpenCall, *, is_over: bool) -> list[Event]:
        """Returns what a model call has beyond what was given of it."""
        sighting = self._once.sight(answer.id, answer.usage, ts=answer.ts, agent=answer.agent)
        usage = replace(sighting.growth)  # that of the answer may still grow
        words = "\n\n".join(answer.texts)
        events: list[Event] = []
        common: dict[str, Any] = {
            "chain_id": answer.chain,
            "agent": answer.agent,
            "ts": answer.ts,
            "usage": reported(usage),
            "call": CallId.of(answer.id) or nameless_call(answer.ts, answer.usage),
        }
        answer.is_owed = answer.is_owed or sighting.is_new
        is_call = answer.is_owed or bool(words)
        if answer.is_given and words:
            events.append(ModelCall(text=words, part=ModelPart.CHUNK, **common))
        elif is_call and not answer.is_given and (is_over or answer.has_spoken):
            answer.is_given, answer.is_owed = True, False
            events.append(ModelCall(text=words, error=answer.error, stop=answer.stop, **common))
        elif has_spent(usage):
            # A later line of a call that was given out already, with more tokens than before.
            events.append(Notice(kind=NoticeKind.USAGE, **common))
        for name, call in answer.calls:
            call.batch = sighting.name
            call.starts = None if name is None else self._started.get(name)
            events += self._calls.open(name, call)
        for block in answer.results:
            events += self._result(block, answer.ts)
        answer.texts, answer.calls, answer.results = [], [], []
        return events

    def _user(
        self, line: Mapping[str, Any], message: Mapping[str, Any], chain: str, ts: float | None
    ) -> list[Event]:
        events = self._flushed(chain)
        content = message.get("content")
        outcome = mapping(line.get("toolUseResult"))
        for block in items(content):
            if (text(mapping(block).get("type")) or "").endswith("tool_result"):
                events += self._result(block, ts, outcome)
        events += self._last_call_of_agent(outcome, ts)
        words = joined_text(content)
        if words is None:
            return events
        asked = "" if line.get("isCompactSummary") or line.get("isMeta") else persons_words(words)
        if asked:
            events.append(Message(text=asked, chain_id=chain, ts=ts))
        else:
            events.append(Notice(kind=NoticeKind.NOTE, text=words, chain_id=chain, ts=ts))
        return events

    def _last_call_of_agent(self, result: Mapping[str, Any], ts: float | None) -> list[Event]:
        """The call that a sub-agent ended with, where the result that its parent got states what it took."""
        agent, usage = identifier(result.get("agentId")), anthropic_usage(result.get("usage"))
        if agent is None or not has_spent(usage):
            return []
        events = self._flushed(agent)
        usage.model = text(result.get("resolvedModel")) or self._models.get(agent)
        sighting = self._once.sight(self._once.of_agent(agent, usage), usage, agent=agent)
        common: dict[str, Any] = {"chain_id": agent, "agent": agent, "ts": ts, "usage": sighting.growth}
        common["call"] = CallId.at(f"agent {agent}", prompt_of(usage))
        if sighting.is_new:
            events.append(ModelCall(**common))
        elif has_spent(sighting.growth):
            events.append(Notice(kind=NoticeKind.USAGE, **common))
        return events

    def _result(
        self, block: Mapping[str, Any], ts: float | None, outcome: Mapping[str, Any] = _NO_OUTCOME
    ) -> Sequence[ToolCall]:
        content = block.get("content")  # An empty answer has none.
        result: dict[str, Any] = {
            "result": "" if content is None else shown(content),
            "error": block.get("is_error") is True,
        }
        if (agent := identifier(outcome.get("agentId"))) is not None:
            result["starts"] = agent
            result["started_calls"] = count(outcome.get("totalToolUseCount"))
        return self._calls.close(identifier(block.get("tool_use_id")), ts=ts, **result)


def _line_of_agent(line: dict[str, Any]) -> dict[str, Any]:
    """The line of a sub-agent that a line of type ``progress`` carries; any other line as it is."""
    if line.get("type") != "progress":
        return line
    data = mapping(line.get("data"))
    held, agent = mapping(data.get("message")), identifier(data.get("agentId"))
    if agent is None or not isinstance(held.get("message"), dict):
        return line
    session: dict[str, Any] = {key: line[key] for key in ("sessionId", "timestamp") if key in line}
    return {**session, **held, "isSidechain": True, "agentId": agent}


def _retry(line: Mapping[str, Any]) -> str:
    """Returns the report of the harness of a call of the model that did not get through."""
    error = mapping(line.get("error"))
    status, message = count(error.get("status")), text(mapping(error.get("error")).get("message"))
    what = "API error" + (f" {status}" if status else "") + (f": {message}" if message else "")
    attempt, most = count(line.get("retryAttempt")), count(line.get("maxRetries"))
    return f"{what} (retry {attempt} of {most})" if attempt and most else what


def _name_of(line: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """The ids of a model call: that of its message, and of the request where there is one."""
    name = identifier(message.get("id"))
    request = identifier(line.get("requestId")) or identifier(line.get("request_id"))
    if name is None:
        return request
    return name if request is None else f"{name} {request}"


def _goes_on(answer: _OpenCall, usage: Usage, ts: float | None) -> bool:
    """True if a line with the id of an open answer is of it: a masked id is that of many."""
    return ts == answer.ts or is_same_prompt(answer.usage, usage)


def _marks_of(content: object) -> str:
    """Returns the marks of the content of one line that set it apart from another: its texts and its ids."""
    if isinstance(content, str):
        return content
    marks: list[str] = []
    for block in map(mapping, items(content)):
        values = [block.get(name) for name in ("type", "text", "thinking", "id", "tool_use_id")]
        marks += [value if isinstance(value, str) else "" for value in values]
    return "\n".join(marks)


_MOST_LINKS = 100_000  # lines of sub-agents whose chain is remembered


class Sidechains:
    """Tells the chain of a line: by its parent, by its agent's id, or else the latest one."""

    def __init__(self) -> None:
        self._chain_of: Bounded[str, str] = Bounded(_MOST_LINKS)  # by the id of a line
        self._named: dict[str, str] = {}  # chains by the id of their agent
        self._begun = 0
        self._latest: str | None = None

    def of(self, line: Mapping[str, Any]) -> tuple[str, str | None]:
        """The chain of a line, and the name of its agent."""
        above = identifier(line.get("parent_tool_use_id"))
        if above is not None:
            return above, above
        if not line.get("isSidechain"):
            return "", text(line.get("agentName"))
        agent = identifier(line.get("agentId"))
        parent = identifier(line.get("parentUuid"))
        chain = self._chain_of.get(parent) if parent is not None else None
        if chain is None and agent is not None:
            chain = self._named.get(agent)
            if chain is None and self._latest is not None and self._latest not in self._named.values():
                chain = self._latest if parent is not None else None
            chain = chain or agent
        if chain is None:
            chain = self._latest if parent is not None and self._latest is not None else self._new()
        if agent is not None:
            self._named.setdefault(agent, chain)
        self._latest = chain
        name = identifier(line.get("uuid"))
        if name is not None:
            self._chain_of[name] = chain
        return chain, chain

    def _new(self) -> str:
        self._begun += 1
        return f"sidechain {self._begun}"
