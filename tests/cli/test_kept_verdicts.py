"""`ebbtide check` again: what was kept of the sessions shows what judging them anew would show."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parents[1] / "traces" / "samples"


def session(name: str, *, turns: int, usd: float, loops: bool = False) -> str:
    """A session of Claude Code that searches once a turn."""
    lines: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": "Find it."}}]
    for turn in range(turns):
        use = {"type": "tool_use", "id": f"t{turn}", "name": "WebSearch"}
        use["input"] = {"query": "report" if loops else f"report {name} {turn}"}
        answer = "no results" if loops else f"page {name} {turn}"
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": answer}
        usage = {"input_tokens": 1000 + turn, "output_tokens": 10}
        message = {
            "id": f"{name} {turn}",
            "role": "assistant",
            "model": "m",
            "content": [use],
            "usage": usage,
        }
        lines.append({"type": "assistant", "message": message, "costUSD": usd})
        lines.append({"type": "user", "message": {"role": "user", "content": [result]}})
    common = {"sessionId": name, "cwd": "/srv/shop"}
    return "".join(
        json.dumps({**common, "uuid": f"{name}-{at}", **line}) + "\n" for at, line in enumerate(lines)
    )


def put(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


@pytest.fixture
def home(here: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The samples of three agents, a session that loops, a copy of one, and a sub-agent."""
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    claude = home / ".claude/projects/-srv-shop"
    put(claude / "s1.jsonl", session("s1", turns=12, usd=0.25, loops=True))
    put(claude / "s2.jsonl", session("s2", turns=3, usd=0.5))
    put(claude / "copy.jsonl", session("s2", turns=3, usd=0.5))
    put(claude / "s1/subagents/agent-a.jsonl", session("a", turns=2, usd=0.1))
    for sample, place in {
        "claude_code.jsonl": ".claude/projects/-srv-tree/s3.jsonl",
        "codex.jsonl": ".codex/sessions/2026/02/01/rollout-1.jsonl",
        "gemini_cli.jsonl": ".gemini/tmp/shop/chats/session-1.jsonl",
    }.items():
        put(home / place, (SAMPLES / sample).read_text(encoding="utf-8"))
    return home


OUTPUTS = [(), ("--all",), ("--json",), ("--fail-on", "stuck"), ("--json", "--show-secrets")]
SETTINGS = [(), ("--profile", "spec"), ("--max-cost", "1"), ("--timezone", "Asia/Tokyo")]


def test_what_was_kept_shows_what_judging_anew_shows(here: Callable[..., Any], home: Path) -> None:
    """In every form of output, under other settings in between, and after a file has grown."""

    def compare() -> None:
        for output in OUTPUTS:
            for setting in SETTINGS:
                first = here("check", "--since", "all", *setting, *output)
                assert first.output
                assert here("check", "--since", "all", *setting, *output) == first
                assert here("check", "--since", "all", *setting, *output, "--no-cache") == first

    compare()
    with (home / ".claude/projects/-srv-shop/s2.jsonl").open("a", encoding="utf-8") as file:
        file.write(session("s2 again", turns=9, usd=2.0, loops=True))
    compare()
    (home / ".claude/projects/-srv-shop/copy.jsonl").unlink()
    compare()


def test_a_copy_that_comes_later_changes_what_was_kept(here: Callable[..., Any], home: Path) -> None:
    """An older file takes over the calls: the file itself has not changed, what it inherits has."""
    here("check", "--since", "all", "--json")
    put(home / ".claude/projects/-srv-shop/aaa.jsonl", session("s1", turns=12, usd=0.25, loops=True))
    again = here("check", "--since", "all", "--json")
    assert again == here("check", "--since", "all", "--json", "--no-cache")


class _Harm:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch harm",)


@pytest.mark.parametrize("kind", ["empty", "noise", "cut", "old", "turned", "folder"])
def test_what_is_broken_is_thrown_away(here: Callable[..., Any], home: Path, kind: str) -> None:
    first = here("check", "--since", "all")
    for path in (home / "cache/ebbtide").glob("verdicts-*"):
        whole = path.read_bytes()
        contents = {
            "empty": b"",
            "noise": bytes(500),
            "cut": whole[:-5],
            "old": whole.replace(b"ebbtide verdicts", b"ebbtide verdict0", 1),
            "turned": whole[:-1] + bytes([whole[-1] ^ 1]),
        }
        if kind == "folder":
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(contents[kind])
    assert here("check", "--since", "all") == first
    assert here("check", "--since", "all") == first


def test_nothing_in_it_is_run(here: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A summary that names anything but classes of summaries is none."""
    monkeypatch.chdir(home)
    harm = pickle.dumps(_Harm())
    with monkeypatch.context() as patched:
        patched.setattr("ebbtide.cli.runs.verdict_cache.pickle.dumps", lambda *_: harm)
        first = here("check", "--since", "all")
    assert here("check", "--since", "all") == first
    assert here("check", "--since", "all", "--json") == here(
        "check", "--since", "all", "--json", "--no-cache"
    )
    assert not (home / "harm").exists()


def test_the_dearest_of_sixty_comes_first(here: Callable[..., Any], home: Path) -> None:
    """What wasted most is the first row, wherever its file stands, of sessions and of a folder."""
    folder = home / ".claude/projects/-srv-many"
    for number in range(60):
        worst = number == 44
        text = session(
            f"n{number}", turns=12 if worst else 4, usd=30.0 if worst else 0.01 * number, loops=worst
        )
        put(folder / f"n{number:02}.jsonl", text)
    for arguments in (("check", "--since", "all"), ("check", folder)):
        for more in ((), ("--all",)):
            lines = here(*arguments, *more).output.splitlines()
            paths = [line for line in lines if "n" in line and ".jsonl" in line]
            assert "n44.jsonl" in paths[0]
