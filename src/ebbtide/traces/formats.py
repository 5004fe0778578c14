"""Formats of traces, how each is known, and where its reader stands.

To add one: a function that knows it by the first records, in the `sniffing` of its folder, a reader, and a
row in `FORMATS`. A reader is loaded when the first document of its format comes.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, NamedTuple

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Transcript
from ebbtide.traces.agents.envelope_sniffing import (
    refuse_cline,
    refuse_cursor,
    refuse_droid,
    refuse_goose,
    refuse_gptme,
    refuse_grok,
    refuse_hermes,
    refuse_iflow,
    refuse_kiro,
)
from ebbtide.traces.agents.session_sniffing import (
    OPENHANDS_LISTS,
    refuse_antigravity,
    refuse_claude_code,
    refuse_codex,
    refuse_copilot_cli,
    refuse_ebbtide,
    refuse_gemini_cli,
    refuse_kimi,
    refuse_opencode,
    refuse_openhands,
    refuse_pi,
    refuse_qwen_code,
)
from ebbtide.traces.agents.trajectory_sniffing import (
    INSPECT_PATHS,
    refuse_atif,
    refuse_inspect,
    refuse_mini_swe_agent,
    refuse_swe_agent,
    refuse_swe_agent_history,
)
from ebbtide.traces.chats.sniffing import (
    is_message,
    refuse_aider,
    refuse_anthropic,
    refuse_autogen,
    refuse_markdown_chat,
    refuse_openai,
    refuse_plain_text,
)
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.other_databases import kind_of
from ebbtide.traces.records.readers import EventReader, LineReader
from ebbtide.traces.telemetry.raw_spans import PATHS as OTLP_PATHS
from ebbtide.traces.telemetry.sniffing import (
    refuse_langfuse,
    refuse_langsmith,
    refuse_openinference,
    refuse_otlp,
)
from ebbtide.traces.transcripts.sniffing import (
    is_round_line,
    refuse_transcript_json,
    refuse_transcript_jsonl,
)
from ebbtide.traces.transcripts.turns import RoundUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A way to write down what agents did. What reads it is named as ``module:name`` below this package.

    Args:
        name: Short and stable, as used in messages.
        description: What such a file holds, in one sentence.
        refusal: Says why a document is not of this format; None if it is. Of a large document only the head
            is there: the first records, or one JSON value as far as its first megabyte goes.
        paths: Where the records stand in a document that is one JSON value. Names are joined by dots, and
            ``item`` is each element of a list: ``trajectory.item``, ``info``, ``item`` for a list of records,
            the empty text for the whole value where nothing else is there. Records come in the order of the
            document, each at the first of the paths that leads to it; a path does not lead into what another
            one gives as a whole.
        event_reader_at: An `EventReader`, made without arguments; None where there are no events.
        transcript_reader_at: Reads a whole document as a conversation; None where its events are one.
        line_reader_at: A `LineReader`, made with a `RoundUnit`, where conversations can be read line by line.
        is_line: Whether a line of such a conversation belongs to this format.
        members_at: Which files of a zip archive to read, in the order of the run; None where there are no
            archives.
    """

    name: str
    description: str
    refusal: Callable[[Document], str | None]
    paths: tuple[str, ...] = ()
    event_reader_at: str | None = None
    transcript_reader_at: str | None = None
    line_reader_at: str | None = None
    is_line: Callable[[Any], bool] | None = None
    members_at: str | None = None

    @property
    def has_events(self) -> bool:
        """True if it holds the events of a run."""
        return self.event_reader_at is not None

    def event_reader(self) -> EventReader:
        """A reader before the first record."""
        reader: EventReader = _loaded(self.event_reader_at)()
        return reader

    def line_reader(self, unit: RoundUnit) -> LineReader:
        """A reader before the first line of a conversation."""
        reader: LineReader = _loaded(self.line_reader_at)(unit)
        return reader

    def read_transcript(self, document: Document, *, title: str, unit: RoundUnit) -> Transcript:
        """The conversation in a document that was not refused.

        Args:
            document: The whole input.
            title: Name of the conversation, if the document has none.
            unit: What a round is, if the document does not say so itself.

        Raises:
            TranscriptError: It is of this format, but broken.
        """
        transcript: Transcript = _loaded(self.transcript_reader_at)(document, title=title, unit=unit)
        return transcript

    def members(self, names: Sequence[str]) -> Sequence[str]:
        """Returns the files in an archive that are to be read, in the order of the run."""
        files: Sequence[str] = _loaded(self.members_at)(names)
        return files


def _loaded(place: str | None) -> Any:
    """Returns the object that stands at a place below this package."""
    if place is None:
        raise TypeError("the format has no such reader")
    module, _, name = place.partition(":")
    return getattr(import_module(f"ebbtide.traces.{module}"), name)


#: In the order in which they are tried: the most telling first. Telemetry comes before Ebbtide's own events,
#: since spans, observations and runs have names and kinds too; chats come after them, the most general last.
FORMATS: Final = (
    Format(
        name="transcript",
        description=(
            "a JSON object with the list 'rounds', each round with its claims (transcript format 0.1)"
        ),
        refusal=refuse_transcript_json,
        paths=("version", "rounds.item"),
        event_reader_at="transcripts.transcript_jsonl:TranscriptRounds",
        transcript_reader_at="transcripts.transcript_jsonl:read_json_transcript",
    ),
    Format(
        name="transcript-jsonl",
        description="JSON lines: one of type 'transcript_header', then one of type 'round' for each round",
        refusal=refuse_transcript_jsonl,
        paths=("",),
        event_reader_at="transcripts.transcript_jsonl:TranscriptLines",
        transcript_reader_at="transcripts.transcript_jsonl:read_transcript",
        is_line=is_round_line,
        line_reader_at="transcripts.transcript_jsonl:TranscriptLines",
    ),
    # Before Claude Code, whose lines have the same heads.
    Format(
        name="iflow",
        description="iFlow sessions: Claude Code lines with tool results in 'responseParts'",
        refusal=refuse_iflow,
        paths=("item", ""),
        event_reader_at="agents.iflow:IflowReader",
    ),
    Format(
        name="qwen-code",
        description="Qwen Code sessions: JSON lines whose message has 'parts'",
        refusal=refuse_qwen_code,
        paths=("item", ""),
        event_reader_at="agents.qwen_code:QwenCodeReader",
    ),
    Format(
        name="claude-code",
        description=("Claude Code sessions: JSON lines of the types 'user' and 'assistant' with a 'message'"),
        refusal=refuse_claude_code,
        paths=("item", ""),
        event_reader_at="agents.claude_code:ClaudeCodeReader",
    ),
    Format(
        name="pi",
        description="pi and OpenClaw sessions: JSON lines of the types 'session' and 'message'",
        refusal=refuse_pi,
        paths=("item", ""),
        event_reader_at="agents.pi:PiReader",
    ),
    Format(
        name="kimi",
        description="Kimi Code sessions (wire.jsonl): JSON lines after one of type 'metadata'",
        refusal=refuse_kimi,
        paths=("item", ""),
        event_reader_at="agents.kimi:KimiReader",
    ),
    Format(
        name="antigravity",
        description="Antigravity transcripts: JSON lines of steps with 'step_index', 'type' and 'status'",
        refusal=refuse_antigravity,
        paths=("item", ""),
        event_reader_at="agents.antigravity:AntigravityReader",
    ),
    Format(
        name="copilot-cli",
        description="Copilot CLI sessions: JSON lines such as 'session.start' and 'assistant.message'",
        refusal=refuse_copilot_cli,
        paths=("item", ""),
        event_reader_at="agents.copilot_cli:CopilotCliReader",
    ),
    # Before Codex, since both print lines of the type 'error'.
    Format(
        name="opencode",
        description=(
            "OpenCode sessions: messages with 'info' and 'parts' (opencode export), its database or files"
        ),
        refusal=refuse_opencode,
        paths=("messages.item", "item", ""),
        event_reader_at="agents.opencode:OpenCodeReader",
    ),
    Format(
        name="codex",
        description="Codex rollouts: JSON lines of the types 'session_meta', 'response_item', 'event_msg'",
        refusal=refuse_codex,
        paths=("items.item", "item", ""),
        event_reader_at="agents.codex:CodexReader",
    ),
    Format(
        name="gemini-cli",
        description=(
            "Gemini CLI chats: messages of type 'user' and 'gemini', as a JSON object or JSON lines"
        ),
        refusal=refuse_gemini_cli,
        paths=("messages.item", "history.item", "item", ""),
        event_reader_at="agents.gemini_cli:GeminiCliReader",
    ),
    Format(
        name="droid",
        description="Droid sessions: JSON lines after a 'session_start' line, or printed sessions",
        refusal=refuse_droid,
        paths=("item", ""),
        event_reader_at="agents.message_envelopes:DroidReader",
    ),
    Format(
        name="cursor",
        description="Cursor agent transcripts: JSON lines with a role and a message",
        refusal=refuse_cursor,
        paths=("item", ""),
        event_reader_at="agents.message_envelopes:CursorReader",
    ),
    Format(
        name="grok",
        description="Grok Build sessions (chat_history.jsonl): JSON lines with 'model_id'",
        refusal=refuse_grok,
        paths=("item", ""),
        event_reader_at="agents.message_envelopes:GrokReader",
    ),
    Format(
        name="goose",
        description="Goose sessions: messages with 'toolRequest', as JSON lines or exported",
        refusal=refuse_goose,
        paths=(
            *("working_dir", "description", "name", "model_config", "accumulated_input_tokens"),
            *("accumulated_output_tokens", "accumulated_cost", "conversation.item", "item", ""),
        ),
        event_reader_at="agents.message_envelopes:GooseReader",
    ),
    Format(
        name="hermes",
        description="Hermes sessions: a JSON object with 'session_start', or lines after 'session_meta'",
        refusal=refuse_hermes,
        paths=("model", "title", "model_config", "messages.item", "item", ""),
        event_reader_at="agents.message_envelopes:HermesReader",
    ),
    Format(
        name="kiro",
        description="Kiro CLI sessions: JSON lines of kinds such as 'AssistantMessage', or their history",
        refusal=refuse_kiro,
        paths=("history.item", "item", ""),
        event_reader_at="agents.message_envelopes:KiroReader",
    ),
    Format(
        name="gptme",
        description="gptme conversations: chat messages with tool calls in code blocks",
        refusal=refuse_gptme,
        paths=("item", ""),
        event_reader_at="agents.worded_calls:GptmeReader",
    ),
    Format(
        name="cline",
        description="Cline and Roo Code tasks (api_conversation_history.json, *.messages.json)",
        refusal=refuse_cline,
        paths=("messages.item", "item", ""),
        event_reader_at="agents.worded_calls:ClineReader",
    ),
    Format(
        name="swe-agent",
        description=(
            "SWE-agent trajectories: a JSON object with 'trajectory', steps with action and observation"
        ),
        refusal=refuse_swe_agent,
        paths=("attempts.item.trajectory.item", "attempts.item.info", "trajectory.item", "info"),
        event_reader_at="agents.swe_agent:SweAgentReader",
    ),
    Format(
        name="swe-agent-history",
        description="SWE-agent demonstrations: a JSON object with 'history', messages with 'message_type'",
        refusal=refuse_swe_agent_history,
        paths=("history.item", "info"),
        event_reader_at="agents.swe_agent:SweAgentHistoryReader",
    ),
    Format(
        name="mini-swe-agent",
        description="mini-swe-agent trajectories: messages with commands in 'extra' or in code blocks",
        refusal=refuse_mini_swe_agent,
        paths=("info", "messages.item", "item"),
        event_reader_at="agents.mini_swe_agent:MiniSweAgentReader",
    ),
    Format(
        name="inspect",
        description="Inspect logs: a JSON object with 'eval' and 'samples', or an .eval archive",
        refusal=refuse_inspect,
        paths=INSPECT_PATHS,
        event_reader_at="agents.inspect_log:InspectReader",
        members_at="agents.inspect_log:members",
    ),
    Format(
        name="atif",
        description="trajectories in ATIF (Harbor): a JSON object with 'schema_version' ATIF-v1 and 'steps'",
        refusal=refuse_atif,
        paths=("agent", "steps.item", "final_metrics", "subagent_trajectories.item", "item", ""),
        event_reader_at="agents.atif:AtifReader",
    ),
    Format(
        name="openhands",
        description="OpenHands events: V1 with 'kind' ActionEvent, or V0 with 'action' and 'observation'",
        refusal=refuse_openhands,
        paths=(*(f"{name}.item" for name in OPENHANDS_LISTS), "item", "metrics", ""),
        event_reader_at="agents.openhands:OpenHandsReader",
    ),
    Format(
        name="langfuse",
        description=(
            "Langfuse export: 'observations' of types GENERATION, SPAN, TOOL ..., with or without "
            "their 'trace'"
        ),
        refusal=refuse_langfuse,
        paths=("trace", "traces.item", "observations.item", "data.item", "item", ""),
        event_reader_at="telemetry.langfuse:LangfuseReader",
    ),
    Format(
        name="langsmith",
        description=(
            "LangSmith runs with 'run_type', single, in trees ('child_runs'), or as 'post' and 'patch'"
        ),
        refusal=refuse_langsmith,
        paths=("post.item", "patch.item", "runs.item", "item", ""),
        event_reader_at="telemetry.langsmith:LangSmithReader",
    ),
    Format(
        name="openinference",
        description="OpenTelemetry spans with 'openinference.span.kind', in OTLP JSON or one by one",
        refusal=refuse_openinference,
        paths=OTLP_PATHS,
        event_reader_at="telemetry.otlp:OtlpReader",
    ),
    Format(
        name="otlp",
        description="OpenTelemetry spans: OTLP JSON ('resourceSpans'), or spans with GenAI attributes",
        refusal=refuse_otlp,
        paths=OTLP_PATHS,
        event_reader_at="telemetry.otlp:OtlpReader",
    ),
    Format(
        name="ebbtide",
        description=(
            "events with 'kind' and 'name' (Ebbtide's own): one event per line, a JSON list, or 'events'"
        ),
        refusal=refuse_ebbtide,
        paths=("events.item", "item", ""),
        event_reader_at="agents.ebbtide_events:EbbtideEventsReader",
    ),
    Format(
        name="autogen",
        description=(
            "AutoGen messages with 'type' and 'source' (TextMessage ...), or a 'history' of named speakers"
        ),
        refusal=refuse_autogen,
        paths=("item", ""),
        event_reader_at="chats.autogen_messages:AutogenReader",
        transcript_reader_at="chats.chat:read_messages",
        is_line=is_message,
        line_reader_at="chats.chat:ChatLines",
    ),
    Format(
        name="anthropic-messages",
        description=(
            "Anthropic messages with 'tool_use' and 'tool_result' blocks: a list, one message per line, "
            "or an object around a list"
        ),
        refusal=refuse_anthropic,
        paths=("item", ""),
        event_reader_at="chats.openai_messages:MessagesReader",
        transcript_reader_at="chats.chat:read_messages",
        is_line=is_message,
        line_reader_at="chats.chat:ChatLines",
    ),
    Format(
        name="chat",
        description=(
            "OpenAI chat messages with 'role' and 'content', or items of responses: a list, one "
            "message per line, an object around a list, requests with their answers, or many conversations"
        ),
        refusal=refuse_openai,
        paths=("item", ""),
        event_reader_at="chats.openai_messages:MessagesReader",
        transcript_reader_at="chats.chat:read_messages",
        is_line=is_message,
        line_reader_at="chats.chat:ChatLines",
    ),
    Format(
        name="aider",
        description="aider chat histories (.aider.chat.history.md): '#### ' before messages of the person",
        refusal=refuse_aider,
        paths=("",),
        event_reader_at="chats.aider:AiderReader",
    ),
    Format(
        name="markdown-chat",
        description=(
            "chats exported as markdown: '_**User**_' (SpecStory), '## User', '**Human:**', with their tools"
        ),
        refusal=refuse_markdown_chat,
        paths=("",),
        event_reader_at="chats.markdown_chat:MarkdownChatReader",
    ),
    Format(
        name="text",
        description="plain text with turns that start with 'Name:' at the start of a line",
        refusal=refuse_plain_text,
        transcript_reader_at="chats.plain_text:read_plain_text",
    ),
)


def format_of(document: Document) -> Format:
    """The format of a document.

    Raises:
        TranscriptError: It is in none that is known; why each refused is in the message.
    """
    refusals = []
    for candidate in FORMATS:
        refusal = candidate.refusal(document)
        if refusal is None:
            return candidate
        refusals.append(FormatRefusal(candidate.name, candidate.description, refusal))
    if document.not_json and document.like_json:
        raise document.not_json
    if document.content is Content.TEXT and _SQL.match(document.data):
        kind = kind_of(document.data.decode(errors="replace"))
        raise TranscriptError(f"SQL that makes {kind.what}", hint=kind.advice, no_trace=True)
    nearest = nearest_format(document, refusals)
    raise TranscriptError(
        f"no trace or conversation in a known format ({document.describe()})",
        hint=(f"{nearest} " if nearest else "")
        + 'Simplest to write: {"role": "...", "content": "..."}, one a line. Tried:'
        + "".join(f"\n  {item.name}: {item.reason}" for item in refusals),
        no_trace=True,
    )


_SQL = re.compile(rb"\s*(?:CREATE TABLE|PRAGMA foreign_keys|BEGIN TRANSACTION)\b", re.IGNORECASE)
_QUOTED = re.compile(r"'([^'\s]{2,40})'")
_RECORDS = 5  # that are looked at
_ITEMS = 20  # of a list or an object
_DEPTH = 3
_LONGEST = 40  # characters of a value that names a kind
_KINDS: Final = ("type", "kind", "role", "event")  # keys whose values name what a record is
_LIKE = 0.85  # of `difflib`, from which a name is a slip of another
_TEXT: Final = "text"


class FormatRefusal(NamedTuple):
    """A format that was tried.

    Args:
        name: Of the format.
        description: What it holds.
        reason: Why the input is not of it.
    """

    name: str
    description: str
    reason: str


class NearestFormat(NamedTuple):
    """The nearest format.

    Args:
        refusal: What is missing for it.
        slips: Names in the input, each with the name of the format that it is like.
    """

    refusal: FormatRefusal
    slips: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        probable = "".join(f" ('{slip}' is probably '{name}')" for slip, name in self.slips)
        return f"Nearest is {self.refusal.name}: {self.refusal.reason}{probable}."


def nearest_format(document: Document, refusals: Sequence[FormatRefusal]) -> NearestFormat | None:
    """The format whose names the input has the most of; a name that few formats have counts for more.

    Args:
        document: The input.
        refusals: Every format.

    Returns:
        None where the input has no name of any.
    """
    if document.content is Content.TEXT:
        return next((NearestFormat(refusal) for refusal in refusals if refusal.name == _TEXT), None)
    names = [_names(refusal) for refusal in refusals]
    formats_with = Counter(name for own in names for name in own)
    words = {word for value in document.head[:_RECORDS] for word in _words(value, _DEPTH)}
    best, most = None, 0.0
    for refusal, own in zip(refusals, names, strict=True):
        slips = _slips(words, own)
        hits = (words & own) | {name for _, name in slips}
        weight = sum(1 / formats_with[name] for name in hits)
        if weight > most:
            best, most = NearestFormat(refusal, slips), weight
    return best


def _names(refusal: FormatRefusal) -> set[str]:
    """The keys and kinds that a format is known by: they are quoted where it is described."""
    return set(_QUOTED.findall(f"{refusal.description} {refusal.reason}"))


def _slips(words: set[str], names: set[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for word in sorted(words - names):
        like = difflib.get_close_matches(word, sorted(names - words), n=1, cutoff=_LIKE)
        if like:
            pairs.append((word, like[0]))
    return tuple(pairs)


def _words(value: Any, depth: int) -> Iterator[str]:
    """The keys of a record, and the values of those that say what it is."""
    if not depth:
        return
    if isinstance(value, Mapping):
        for key, item in list(value.items())[:_ITEMS]:
            yield str(key)
            if key in _KINDS and isinstance(item, str) and len(item) <= _LONGEST:
                yield item
            yield from _words(item, depth - 1)
    elif isinstance(value, list):
        for item in value[:_ITEMS]:
            yield from _words(item, depth)
