"""Formats of traces, how each is known, and where its reader stands: one table, a row a format.

A reader is loaded when the first document of its format comes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from ebbtide.events.transcript import Transcript
from ebbtide.traces.agents.sniffing import (
    ATIF_TRAJECTORY,
    CLAUDE_LINE,
    CLINE_WORDS,
    INSPECT_PATHS,
    OPENHANDS_EVENT,
    OPENHANDS_LISTS,
    PLAIN_EVENT,
    PRINTED_GEMINI_CALL,
    SWE_AGENT_RUN,
    refuse_codex,
    refuse_inspect,
    refuse_mini_swe_agent,
    refuse_swe_agent_history,
)
from ebbtide.traces.chats.sniffing import is_message, refuse_anthropic, refuse_autogen, refuse_openai
from ebbtide.traces.input.document import HEAD, Content, Document
from ebbtide.traces.input.record_sign import ABSENT, RecordSign
from ebbtide.traces.records.readers import EventReader, LineReader
from ebbtide.traces.telemetry.genai_names import PATHS as OTLP_PATHS
from ebbtide.traces.transcripts.transcript_jsonl import is_round_line
from ebbtide.traces.transcripts.turns import RoundUnit

_JSON: Final = (Content.JSON, Content.JSON_LINES)
_TEXT: Final = (Content.TEXT,)


@dataclass(frozen=True, slots=True)
class SignAt:
    """A function that says why a document is not of a format; loaded for a document that may be.

    Args:
        place: The place of the function, ``module:name`` below this package.
        contents: The contents that a document of the format may have.
    """

    place: str
    contents: tuple[Content, ...]

    def refuse(self, document: Document) -> str | None:
        """Returns why a document is not of the format; None if it is."""
        if document.content not in self.contents:
            return "not plain text" if self.contents == _TEXT else "not JSON"
        refusal: str | None = _loaded(self.place)(document)
        return refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A way to write down what agents did. What reads it is named as ``module:name`` below this package.

    Args:
        name: Short and stable, as used in messages.
        description: What such a file holds, in one sentence.
        sign: A record of it; else a function that says why a document is not of this format, or the place of
            such a function. Of a large document only the head is there: the first records,
            or one JSON value as far as its first megabyte goes.
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
    sign: RecordSign | SignAt | Callable[[Document], str | None]
    paths: tuple[str, ...] = ("item", "")
    event_reader_at: str | None = None
    transcript_reader_at: str | None = None
    line_reader_at: str | None = None
    is_line: Callable[[Any], bool] | None = None
    members_at: str | None = None

    @property
    def has_events(self) -> bool:
        """True if it holds the events of a run."""
        return self.event_reader_at is not None

    def refuse(self, document: Document) -> str | None:
        """Returns why a document is not of this format; None if it is."""
        if isinstance(self.sign, RecordSign):
            return self.sign.refuse(document, self.paths)
        return self.sign.refuse(document) if isinstance(self.sign, SignAt) else self.sign(document)

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
        sign=RecordSign(
            "no object with 'rounds'", {"rounds": ...}, is_one_value=True, otherwise="not one JSON value"
        ),
        paths=("version", "rounds.item"),
        event_reader_at="transcripts.transcript_jsonl:TranscriptRounds",
        transcript_reader_at="transcripts.transcript_jsonl:read_json_transcript",
    ),
    Format(
        name="transcript-jsonl",
        description="JSON lines: one of type 'transcript_header', then one of type 'round' for each round",
        sign=RecordSign(
            f"no 'transcript_header' or 'round' among the types of the first {HEAD} lines",
            {"type": ("transcript_header", "round")},
            otherwise="not JSON lines",
        ),
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
        sign=RecordSign(
            "no line of a session whose name begins with 'session-'",
            {"sessionId": re.compile("session-"), "userType": ..., "message": dict},
        ),
        event_reader_at="agents.iflow:IflowReader",
    ),
    Format(
        name="qwen-code",
        description="Qwen Code sessions: JSON lines whose message has 'parts'",
        sign=RecordSign(
            "no line whose message has 'parts'", {"uuid": ..., "sessionId": ..., "message": {"parts": list}}
        ),
        event_reader_at="agents.qwen_code:QwenCodeReader",
    ),
    Format(
        name="claude-code",
        description=("Claude Code sessions: JSON lines of the types 'user' and 'assistant' with a 'message'"),
        sign=RecordSign(
            "no line of type 'user' or 'assistant' with a message, and no other line of a session",
            CLAUDE_LINE,
        ),
        event_reader_at="agents.claude_code:ClaudeCodeReader",
    ),
    Format(
        name="pi",
        description="pi and OpenClaw sessions: JSON lines of the types 'session' and 'message'",
        sign=RecordSign(
            "no first line of type 'session' with a 'cwd'",
            {"type": "session", "cwd": ..., "id": (re.compile("."), int)},
            is_first=True,
        ),
        event_reader_at="agents.pi:PiReader",
    ),
    Format(
        name="kimi",
        description="Kimi Code sessions (wire.jsonl): JSON lines after one of type 'metadata'",
        sign=RecordSign(
            "no first line of type 'metadata' with a 'protocol_version'",
            {"type": "metadata", "protocol_version": ...},
            is_first=True,
        ),
        event_reader_at="agents.kimi:KimiReader",
    ),
    Format(
        name="antigravity",
        description="Antigravity transcripts: JSON lines of steps with 'step_index', 'type' and 'status'",
        sign=RecordSign(
            "no line with 'step_index', 'source', 'type' and 'status'",
            {"step_index": ..., "source": ..., "type": ..., "status": ...},
        ),
        event_reader_at="agents.antigravity:AntigravityReader",
    ),
    Format(
        name="copilot-cli",
        description="Copilot CLI sessions: JSON lines such as 'session.start' and 'assistant.message'",
        sign=RecordSign(
            "no line of a type such as 'session.start' or 'assistant.message' with 'data' and 'parentId'",
            {
                "type": re.compile(r"(?:session|assistant)\.|user\.message|tool\.execution_"),
                "data": dict,
                "parentId": ...,
            },
        ),
        event_reader_at="agents.copilot_cli:CopilotCliReader",
    ),
    # Before Codex, since both print lines of the type 'error'.
    Format(
        name="opencode",
        description=(
            "OpenCode sessions: messages with 'info' and 'parts' (opencode export), its database or files"
        ),
        sign=RecordSign(
            "no message with 'info' and 'parts', and no printed line with 'sessionID' and its 'part'",
            (
                {"info": {"role": ("user", "assistant"), "sessionID": ...}, "parts": ...},
                {"sessionID": str, "part": {"messageID": ...}},
                {"sessionID": str, "error": dict},
            ),
        ),
        paths=("messages.item", "item", ""),
        event_reader_at="agents.opencode:OpenCodeReader",
    ),
    Format(
        name="codex",
        description="Codex rollouts: JSON lines of the types 'session_meta', 'response_item', 'event_msg'",
        sign=refuse_codex,
        paths=("items.item", "item", ""),
        event_reader_at="agents.codex:CodexReader",
    ),
    Format(
        name="gemini-cli",
        description=(
            "Gemini CLI chats: messages of type 'user' and 'gemini', as a JSON object or JSON lines"
        ),
        sign=RecordSign(
            "no message of type 'gemini', and no header with 'sessionId' and 'projectHash'",
            (
                *PRINTED_GEMINI_CALL,
                *({"type": "gemini", name: ...} for name in ("content", "toolCalls")),
                {"type": ABSENT, "sessionId": str, "projectHash": ...},
            ),
        ),
        paths=("messages.item", "history.item", "item", ""),
        event_reader_at="agents.gemini_cli:GeminiCliReader",
    ),
    Format(
        name="droid",
        description="Droid sessions: JSON lines after a 'session_start' line, or printed sessions",
        sign=RecordSign(
            "no line of type 'session_start', and no printed one of a session",
            (
                {"type": "session_start", "id": ..., "cwd": ...},
                {"type": "tool_call", "session_id": ..., "toolName": ...},
                {"type": "completion", "session_id": ..., "finalText": ...},
                {"type": "message", "session_id": ..., "text": ...},
            ),
        ),
        event_reader_at="agents.message_envelopes:DroidReader",
    ),
    Format(
        name="cursor",
        description="Cursor agent transcripts: JSON lines with a role and a message",
        sign=RecordSign(
            "no line with a role beside a message that has none",
            {
                "role": ("user", "assistant"),
                "message": {"content": ..., "role": ABSENT},
                **dict.fromkeys(("type", "uuid", "sessionId"), ABSENT),
            },
        ),
        event_reader_at="agents.message_envelopes:CursorReader",
    ),
    Format(
        name="grok",
        description="Grok Build sessions (chat_history.jsonl): JSON lines with 'model_id'",
        sign=RecordSign(
            "no answer with a 'model_id', and no request with a 'prompt_index'",
            (
                {"type": "assistant", "content": ..., "model_id": ...},
                {"type": "user", "content": ..., "prompt_index": ...},
                {"type": "user", "content": ..., "synthetic_reason": ...},
                {"type": "backend_tool_call", "kind": dict},
            ),
        ),
        event_reader_at="agents.message_envelopes:GrokReader",
    ),
    Format(
        name="goose",
        description="Goose sessions: messages with 'toolRequest', as JSON lines or exported",
        sign=RecordSign(
            "no 'working_dir' beside messages, and no part 'toolRequest'",
            (
                *({"working_dir": ..., name: ...} for name in ("message_count", "conversation")),
                {"created": ..., "content": [{"type": ("toolRequest", "toolResponse")}]},
            ),
        ),
        paths=(
            *("working_dir", "description", "name", "model_config", "accumulated_input_tokens"),
            *("accumulated_output_tokens", "accumulated_cost", "conversation.item", "item", ""),
        ),
        event_reader_at="agents.message_envelopes:GooseReader",
    ),
    Format(
        name="hermes",
        description="Hermes sessions: a JSON object with 'session_start', or lines after 'session_meta'",
        sign=RecordSign(
            "no 'session_start' beside messages, and no role 'session_meta'",
            ({"role": "session_meta"}, {"session_start": ..., "platform": ..., "messages": ...}),
        ),
        paths=("model", "title", "model_config", "messages.item", "item", ""),
        event_reader_at="agents.message_envelopes:HermesReader",
    ),
    Format(
        name="kiro",
        description="Kiro CLI sessions: JSON lines of kinds such as 'AssistantMessage', or their history",
        sign=RecordSign(
            "no line of kind 'AssistantMessage' with data, and no such history",
            (
                {"kind": ("Prompt", "AssistantMessage", "ToolResults"), "data": dict},
                {"user": {"content": ...}, "assistant": dict},
            ),
        ),
        paths=("history.item", "item", ""),
        event_reader_at="agents.message_envelopes:KiroReader",
    ),
    Format(
        name="gptme",
        description="gptme conversations: chat messages with tool calls in code blocks",
        sign=RecordSign(
            "no message that is 'pinned', or has its model in its metadata",
            (
                *({"role": str, "timestamp": ..., name: ...} for name in ("pinned", "hide")),
                *(
                    {"role": str, "timestamp": ..., "metadata": {"model": ..., name: ...}}
                    for name in ("usage", "input_tokens", "output_tokens")
                ),
            ),
        ),
        event_reader_at="agents.worded_calls:GptmeReader",
    ),
    Format(
        name="cline",
        description="Cline and Roo Code tasks (api_conversation_history.json, *.messages.json)",
        sign=RecordSign(
            "no version and session beside messages, and no message with '<task>'",
            (
                {"version": ..., "sessionId": ..., "messages": ...},
                {
                    "type": ABSENT,
                    "role": "user",
                    "content": (CLINE_WORDS, [(CLINE_WORDS, {"text": CLINE_WORDS})]),
                },
            ),
        ),
        paths=("messages.item", "item", ""),
        event_reader_at="agents.worded_calls:ClineReader",
    ),
    Format(
        name="swe-agent",
        description=(
            "SWE-agent trajectories: a JSON object with 'trajectory', steps with action and observation"
        ),
        sign=RecordSign(
            "no object with 'trajectory', a list of steps with 'action' and 'observation'",
            SWE_AGENT_RUN,
            is_one_value=True,
            otherwise=None,
        ),
        paths=("attempts.item.trajectory.item", "attempts.item.info", "trajectory.item", "info"),
        event_reader_at="agents.swe_agent:SweAgentReader",
    ),
    Format(
        name="swe-agent-history",
        description="SWE-agent demonstrations: a JSON object with 'history', messages with 'message_type'",
        sign=refuse_swe_agent_history,
        paths=("history.item", "info"),
        event_reader_at="agents.swe_agent:SweAgentHistoryReader",
    ),
    Format(
        name="mini-swe-agent",
        description="mini-swe-agent trajectories: messages with commands in 'extra' or in code blocks",
        sign=refuse_mini_swe_agent,
        paths=("info", "messages.item", "item"),
        event_reader_at="agents.mini_swe_agent:MiniSweAgentReader",
    ),
    Format(
        name="inspect",
        description="Inspect logs: a JSON object with 'eval' and 'samples', or an .eval archive",
        sign=refuse_inspect,
        paths=INSPECT_PATHS,
        event_reader_at="agents.inspect_log:InspectReader",
        members_at="agents.inspect_log:members",
    ),
    Format(
        name="atif",
        description="trajectories in ATIF (Harbor): a JSON object with 'schema_version' ATIF-v1 and 'steps'",
        sign=RecordSign(
            "no object with 'schema_version' ATIF, and none with 'steps' that have a 'source'",
            ATIF_TRAJECTORY,
        ),
        paths=("agent", "steps.item", "final_metrics", "subagent_trajectories.item", "item", ""),
        event_reader_at="agents.atif:AtifReader",
    ),
    Format(
        name="openhands",
        description="OpenHands events: V1 with 'kind' ActionEvent, or V0 with 'action' and 'observation'",
        sign=RecordSign(
            "no event with a 'kind' of V1, or with 'action' or 'observation' and 'source' of V0",
            (
                OPENHANDS_EVENT,
                [OPENHANDS_EVENT],
                *({name: [(OPENHANDS_EVENT, [OPENHANDS_EVENT])]} for name in OPENHANDS_LISTS),
            ),
        ),
        paths=(*(f"{name}.item" for name in OPENHANDS_LISTS), "item", "metrics", ""),
        event_reader_at="agents.openhands:OpenHandsReader",
    ),
    Format(
        name="langfuse",
        description=(
            "Langfuse export: 'observations' of types GENERATION, SPAN, TOOL ..., with or without "
            "their 'trace'"
        ),
        sign=SignAt("telemetry.sniffing:refuse_langfuse", _JSON),
        paths=("trace", "traces.item", "observations.item", "data.item", "item", ""),
        event_reader_at="telemetry.langfuse:LangfuseReader",
    ),
    Format(
        name="langsmith",
        description=(
            "LangSmith runs with 'run_type', single, in trees ('child_runs'), or as 'post' and 'patch'"
        ),
        sign=SignAt("telemetry.sniffing:refuse_langsmith", _JSON),
        paths=("post.item", "patch.item", "runs.item", "item", ""),
        event_reader_at="telemetry.langsmith:LangSmithReader",
    ),
    Format(
        name="openinference",
        description="OpenTelemetry spans with 'openinference.span.kind', in OTLP JSON or one by one",
        sign=SignAt("telemetry.sniffing:refuse_openinference", _JSON),
        paths=OTLP_PATHS,
        event_reader_at="telemetry.otlp:OtlpReader",
    ),
    Format(
        name="otlp",
        description="OpenTelemetry spans: OTLP JSON ('resourceSpans'), or spans with GenAI attributes",
        sign=SignAt("telemetry.sniffing:refuse_otlp", _JSON),
        paths=OTLP_PATHS,
        event_reader_at="telemetry.otlp:OtlpReader",
    ),
    Format(
        name="ebbtide",
        description=(
            "events with 'kind' and 'name' (Ebbtide's own): one event per line, a JSON list, or 'events'"
        ),
        sign=RecordSign(
            "no object with 'name' and one of 'kind' and 'args', and no message with 'kind'", PLAIN_EVENT
        ),
        paths=("events.item", "item", ""),
        event_reader_at="agents.ebbtide_events:EbbtideEventsReader",
    ),
    Format(
        name="autogen",
        description=(
            "AutoGen messages with 'type' and 'source' (TextMessage ...), or a 'history' of named speakers"
        ),
        sign=refuse_autogen,
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
        sign=refuse_anthropic,
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
        sign=refuse_openai,
        event_reader_at="chats.openai_messages:MessagesReader",
        transcript_reader_at="chats.chat:read_messages",
        is_line=is_message,
        line_reader_at="chats.chat:ChatLines",
    ),
    Format(
        name="aider",
        description="aider chat histories (.aider.chat.history.md): '#### ' before messages of the person",
        sign=SignAt("chats.aider:refuse", _TEXT),
        paths=("",),
        event_reader_at="chats.aider:AiderReader",
    ),
    Format(
        name="markdown-chat",
        description=(
            "chats exported as markdown: '_**User**_' (SpecStory), '## User', '**Human:**', with their tools"
        ),
        sign=SignAt("chats.markdown_turns:refuse", _TEXT),
        paths=("",),
        event_reader_at="chats.markdown_chat:MarkdownChatReader",
    ),
    Format(
        name="text",
        description="plain text with turns that start with 'Name:' at the start of a line",
        sign=SignAt("chats.plain_text:refuse", _TEXT),
        transcript_reader_at="chats.plain_text:read_plain_text",
    ),
)
