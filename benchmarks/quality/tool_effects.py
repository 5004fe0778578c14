"""How many calls and shell commands of recorded runs are known to look, change or wait.

    python -m benchmarks.quality.tool_effects FOLDER... [--sample N]

With ``--sample``, so many commands are printed with their effect, to be judged by a reader.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

from ebbtide.errors import TranscriptError
from ebbtide.events.event import ToolCall
from ebbtide.events.shell_commands import command_name, shell_effect
from ebbtide.events.shipped_tools import shipped
from ebbtide.traces.reading import open_trace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    policies = shipped()
    everything: list[str] = []
    for folder in options.folders:
        calls, effects, unknown = Counter[bool](), Counter[str](), Counter[str]()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            try:
                events = [event for event in open_trace(path) if isinstance(event, ToolCall)]
            except TranscriptError:
                continue
            for event in events:
                policy = policies.get(event.name)
                calls[policy is not None and policy.effect_of(event.args) is not None] += 1
                command = event.args.get("command") if isinstance(event.args, dict) else None
                if policy is None or policy.command is None or not isinstance(command, str):
                    continue
                effect = shell_effect(command)
                effects[effect or "unknown"] += 1
                everything.append(command)
                if effect is None:
                    unknown[command_name(command)] += 1
        total = effects.total() or 1
        print(f"{folder.name}: {calls[True]} of {calls.total()} calls have a known effect")
        print(
            "  shell commands:",
            ", ".join(f"{name} {n} ({n / total:.1%})" for name, n in effects.most_common()),
        )
        print("  unknown most often:", ", ".join(f"{name} {n}" for name, n in unknown.most_common(12)))
    for command in random.Random(11).sample(everything, min(options.sample, len(everything))):
        print(f"{shell_effect(command) or 'unknown':8} {command[:150]!r}")


if __name__ == "__main__":
    main()
