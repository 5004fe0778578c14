"""`ebbtide doctor --trace`: what is known of the tools of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ebbtide.checking import refuse_nothing
from ebbtide.cli.terminal import Line, plain, print_json, print_lines
from ebbtide.events.event import Phase, ToolCall
from ebbtide.events.shell_commands import command_name
from ebbtide.events.shipped_tools import shipped
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.report.plurals import count
from ebbtide.settings_file import nearest_name
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact, redacted
from ebbtide.traces.reading import open_trace

_UNKNOWN = "unknown"
_NAME_WIDTH = 34
_WILD = frozenset("*?[")  # in a pattern of names
_MOST_NAMES = 3  # unknown commands that are named


@dataclass(slots=True)
class ToolUse:
    """The calls of one tool.

    Args:
        policy: What is declared about it.
        calls: How many there are.
        effects: How many of them do what.
        unknown_commands: Commands that are not known, by name.
        without_arguments: Calls whose arguments were not recorded.
        without_answer: Calls whose answer was not recorded.
    """

    policy: ToolPolicy | None
    calls: int = 0
    effects: Counter[str] = field(default_factory=Counter)
    unknown_commands: Counter[str] = field(default_factory=Counter)
    without_arguments: int = 0
    without_answer: int = 0

    def add(self, call: ToolCall) -> None:
        """Count a call."""
        effect = None if self.policy is None else self.policy.effect_of(call.args)
        self.calls += 1
        self.effects[_UNKNOWN if effect is None else effect.value] += 1
        self.without_arguments += call.args is None
        self.without_answer += call.result is None
        if (
            effect is None
            and self.policy is not None
            and self.policy.command
            and isinstance(call.args, Mapping)
        ):
            command = call.args.get(self.policy.command)
            if isinstance(command, str):
                self.unknown_commands[command_name(command)] += 1

    @property
    def is_declared(self) -> bool:
        """Whether anything is known about what its calls do; of a shell, that it is one."""
        return set(self.effects) != {_UNKNOWN} or bool(self.unknown_commands)

    @property
    def source(self) -> str | None:
        """Where it is known from; None where nothing is."""
        return self.policy.source if self.policy is not None and self.is_declared else None


def take_census(name: str, policies: ToolPolicies) -> dict[str, ToolUse]:
    """The tools of a trace, the most used first.

    Raises:
        TranscriptError: The trace cannot be read.
    """
    tools: dict[str, ToolUse] = {}
    trace = open_trace(name)
    for event in trace:
        if isinstance(event, ToolCall) and event.phase is Phase.FINISHED:
            if event.name not in tools:
                tools[event.name] = ToolUse(policies.get(event.name))
            tools[event.name].add(event)
    refuse_nothing(trace.source, trace.events, trace.faults)
    return dict(sorted(tools.items(), key=lambda item: -item[1].calls))


def show(name: str, options: RunOptions, *, as_json: bool) -> None:
    """Print what is known of each tool of a trace, and what to do about the others."""
    tools = take_census(name, options.tools or shipped())
    if options.redact:
        tools = {redact(tool): use for tool, use in tools.items()}
        for use in tools.values():
            use.unknown_commands = Counter(redacted(dict(use.unknown_commands)))
    undeclared = [tool for tool, use in tools.items() if not use.is_declared]
    if as_json:
        wire = [
            {
                "tool": tool,
                "calls": use.calls,
                "effects": dict(use.effects),
                "source": use.source,
                "unknown_commands": dict(use.unknown_commands),
                "without_arguments": use.without_arguments,
                "without_answer": use.without_answer,
            }
            for tool, use in tools.items()
        ]
        print_json({"tools": wire, "undeclared": undeclared})
        return
    lines = [
        Line(f"{'calls':>6}  {'tool':{_NAME_WIDTH}}  what its calls do, and from where that is known", "dim")
    ]
    for tool, use in tools.items():
        lines.append(Line(f"{use.calls:>6,}  {plain(tool, _NAME_WIDTH):{_NAME_WIDTH}}  {_knowledge(use)}"))
    lines += [Line(), *_advice(undeclared)]
    lines += [
        Line.safe(f"{name} is declared and never called; did you mean {like}?", "yellow")
        for name, like in slips(options.tools, tools).items()
    ]
    print_lines(lines)


def slips(policies: ToolPolicies | None, tools: Iterable[str]) -> dict[str, str]:
    """Tools that are declared and never called, each with one of nearly that name that is."""
    names = list(tools)
    table = {} if policies is None else policies.table
    declared = [name for name in table if name not in names and not _WILD & set(name)]
    undeclared = [name for name in names if name not in table]
    pairs = {name: nearest_name(name, undeclared) for name in declared}
    return {name: like for name, like in pairs.items() if like is not None}


def _knowledge(use: ToolUse) -> str:
    effects = ", ".join(f"{number:,} {effect}" for effect, number in use.effects.most_common())
    parts = [f"{effects} ({use.source})" if use.source else effects]
    if use.unknown_commands:
        names = ", ".join(plain(name, 20) for name, _ in use.unknown_commands.most_common(_MOST_NAMES))
        parts.append(f"most often unknown: {names}")
    if use.without_arguments:
        parts.append(f"{count(use.without_arguments, 'call')} without arguments")
    if use.without_answer:
        parts.append(f"{count(use.without_answer, 'call')} without answer")
    return "; ".join(parts)


def _advice(undeclared: list[str]) -> list[Line]:
    if not undeclared:
        return [Line("Every tool is declared.")]
    verb = "is" if len(undeclared) == 1 else "are"
    advice = (
        f"{count(len(undeclared), 'tool')} {verb} unknown: say what they do in a file for --tools, such as"
    )
    lines = [Line(advice), Line()]
    for tool in undeclared:
        text = plain(tool).replace("\\", "\\\\").replace('"', '\\"')
        lines += [Line(f'[tools."{text}"]'), Line('effect = "read"  # or change, poll, wait, acknowledge')]
    return lines
