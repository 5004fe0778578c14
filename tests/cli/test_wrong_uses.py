"""What is said of a command line that cannot be run: what is wrong, where, and what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.profile.loop_kinds import RULES

EXAMPLES = Path(__file__).parents[2] / "examples"
STUCK, CHAT = "runs/stuck.jsonl", "conversations/design-review.json"
CONDITIONS = (
    "stuck, limit, failed, stop, escalate, nudge, unknown, unread, contradicted, "
    "cost=USD, tokens=N or events=N"
)
TOOL_SETTINGS = (
    "effect, command, by, sql, http, spawns, key_fields, volatile_fields, noise, failure, ends, exempt, "
    "group, repeats_at_least, same_answer_at_least, failures_at_least"
)

FILES = {
    "tools.toml": '[tools.web_search]\nefect = "read"\n',
    "effect.toml": '[tools.web_search]\neffect = "raed"\n',
    "table.toml": "[toosl.web_search]\n",
    "limits.toml": "stpes = 3\n",
    "profile.toml": "[stop]\nstuck_round = 3\n",
    "base.toml": 'base = "defualt"\n',
    "ebbtide.toml": 'profle = "spec"\n',
    "fails.toml": 'fail-on = ["stuk"]\n',
    "broken.toml": "profile = \n",
    "ignored.toml": '[ignore]\ntool = ["web_search"]\n',
}

# A command line, and what is said of it; DIR is the folder of the files above. All end with 2.
WRONG: list[tuple[str, str]] = [
    ("chekc", "No such command 'chekc'. Did you mean 'check'?"),
    ("decisions lst", "No such command 'lst'. Did you mean 'list'?"),
    ("--versoin", "No such option '--versoin'. Did you mean '--version'?"),
    (f"loops --jsn {STUCK}", "No such option '--jsn'. Did you mean '--json'?"),
    ("stop", "Missing argument 'FILE'."),
    ("decisions purge", "Missing option '--before'."),
    ("schema all", "'all' is an extra argument: `ebbtide schema` takes no argument."),
    (f"loops {STUCK} {STUCK}", f"'{STUCK}' is an extra argument: `ebbtide loops` takes FILE."),
    (
        "stop --round trun -",
        "Invalid value for '--round': 'trun' is not one of turn, circle; did you mean turn?",
    ),
    (
        "check --format saref runs",
        (
            "Invalid value for '--format': 'saref' is not one of text, json, csv, github, junit, sarif, "
            "markdown; did you mean sarif?"
        ),
    ),
    (
        "check --agent cladue",
        (
            "Invalid value for '--agent' / '-a': 'cladue' is not one of claude, codex, gemini, opencode, "
            "mini, copilot, pi, qwen, kimi, antigravity, cursor, droid, openclaw, cline, roo, goose, grok, "
            "hermes, iflow, kiro, gptme; did you mean claude?"
        ),
    ),
    (
        "decisions review 01 sucess",
        (
            "Invalid value for 'OUTCOME': 'sucess' is not one of success, partial, failure, not_a_decision, "
            "unknown; did you mean success?"
        ),
    ),
    (
        f"check --format sraif {STUCK}",
        (
            "Invalid value for '--format': 'sraif' is not one of text, json, csv, github, junit, sarif, "
            "markdown; did you mean sarif?"
        ),
    ),
    (f"check --max-cost much {STUCK}", "Invalid value for '--max-cost': 'much' is not a number"),
    (
        f"check --max-cost=-1 {STUCK}",
        "Invalid value for '--max-cost': -1 is too small; the minimum is 0",
    ),
    (f"check --max-steps 1.5 {STUCK}", "Invalid value for '--max-steps': '1.5' is not a whole number"),
    ("check --jobs 0 runs", "Invalid value for '--jobs': 0 is too small; the minimum is 1"),
    (
        "decisions list --limit 200000",
        "Invalid value for '--limit' / '-n': 200000 is too large; the maximum is 100,000",
    ),
    (
        "calibrate --precision-at-least 2 -",
        "Invalid value for '--precision-at-least': 2 is too large; the maximum is 1",
    ),
    ("check absent.jsonl", "absent.jsonl: no such file"),
    (
        f"check --fail-on stuk {STUCK}",
        f"--fail-on 'stuk': expected {CONDITIONS}; did you mean stuck?",
    ),
    (
        f"check --fail-on cost=low {STUCK}",
        "--fail-on 'cost=low': expected an amount of 0 or more, such as cost=5",
    ),
    (
        f"check --ignore monotny {STUCK}",
        f"--ignore: no rule 'monotny'; did you mean monotony? There are {', '.join(RULES)}",
    ),
    (
        f"check --ignore tol=x {STUCK}",
        "--ignore 'tol=x': expected a rule, tool=NAME or run=GLOB; did you mean tool?",
    ),
    (f"loops --ignore run=* {STUCK}", "--ignore run=...: only `ebbtide check` leaves runs out"),
    (
        f"check --profile spce {STUCK}",
        "no profile 'spce': expected spec or default, or a .toml file; did you mean spec?",
    ),
    (f"check --profile absent.toml {STUCK}", "absent.toml: No such file or directory"),
    (
        f"check --profile DIR/profile.toml {STUCK}",
        (
            "DIR/profile.toml: stop.stuck_round: no such setting; did you mean stuck_rounds? "
            "There are stuck_rounds, stable_at_least, needs_witness"
        ),
    ),
    (
        f"check --profile DIR/base.toml {STUCK}",
        "DIR/base.toml: base = 'defualt': expected spec or default; did you mean default?",
    ),
    (
        f"check --tools DIR/tools.toml {STUCK}",
        (
            "DIR/tools.toml: tools.web_search.efect: no such setting; did you mean effect? "
            f"There are {TOOL_SETTINGS}"
        ),
    ),
    (
        f"check --tools DIR/effect.toml {STUCK}",
        (
            "DIR/effect.toml: tools.web_search.effect = 'raed': "
            "expected one of read, change, poll, wait, clock, acknowledge; did you mean read?"
        ),
    ),
    (
        f"check --tools DIR/table.toml {STUCK}",
        "DIR/table.toml: there is no table [tools], only [toosl]; did you mean tools?",
    ),
    (
        f"check --limits DIR/limits.toml {STUCK}",
        (
            "DIR/limits.toml: limits.stpes: no such limit; did you mean steps? There are cost_usd, tokens, "
            "steps, llm_calls, tool_calls, retries, wall_s, max_agents, max_depth, warn_at, when_unknown, "
            "lease_s"
        ),
    ),
    (
        f"--config DIR/ebbtide.toml check {STUCK}",
        (
            "DIR/ebbtide.toml: profle: no such setting; did you mean profile? "
            "There are profile, tools, prices, limits, fail-on, baseline, ignore, budgets, alerts"
        ),
    ),
    (
        f"--config DIR/ignored.toml check {STUCK}",
        "DIR/ignored.toml: ignore.tool: no such setting; did you mean tools? There are rules, tools, runs",
    ),
    (
        f"--config DIR/fails.toml check {STUCK}",
        f"DIR/fails.toml: fail-on 'stuk': expected {CONDITIONS}; did you mean stuck?",
    ),
    (
        f"--config DIR/broken.toml check {STUCK}",
        "DIR/broken.toml: not a TOML file: Invalid value (at line 1, column 11)",
    ),
    (f"check --json --format sarif {STUCK}", "--json cannot go with --format sarif"),
    ("check --format junit", "--format junit needs a FILE"),
    ("check --top 3", "--top needs a FILE"),
    (
        f"check --since 7d {STUCK}",
        "--since selects sessions on this machine; leave it out if you name a trace",
    ),
    (
        "check --since yesterday",
        "--since 'yesterday': expected 24h, 7d, 2w, a day such as 2026-11-01, or all",
    ),
    (
        f"check --html DIR/absent/page.html {STUCK}",
        "DIR/absent/page.html: cannot be written: No such file or directory",
    ),
    (f"check - {STUCK}", "- cannot be one of several inputs. Give files, or - alone."),
    (
        f"score --judge llama {CHAT}",
        "--judge 'llama': expected URL#MODEL, such as http://localhost:11434/v1#llama3",
    ),
    ("watch --on stop", "Option '--on' needs WHEN CMD."),
    (
        f"watch --on stop --until-end {STUCK}",
        "--on stop: the command is missing before --until-end. Write --on stop 'COMMAND'",
    ),
    (
        f"watch --until-end --on stop {STUCK}",
        f"--on stop: the command is missing before the file {STUCK}. Write --on stop 'COMMAND'",
    ),
    (
        f"watch --on sotp true {STUCK}",
        "--on 'sotp': expected allow, nudge, finalize, escalate, stop or change; did you mean stop?",
    ),
    (
        "watch runs",
        "runs: this is a folder, and the command reads one file. Name the file in it that grows.",
    ),
    (
        "loops runs",
        "runs: this is a folder, and the command reads one file. `ebbtide check runs` checks all of them.",
    ),
    (
        "stop conversations",
        (
            "conversations: this is a folder, and the command reads one file. "
            "`ebbtide score conversations` scores all of them."
        ),
    ),
    ("extract runs", "runs: this is a folder, and the command reads one file. Name one of its files."),
    (f"extract {STUCK}", f"{STUCK}: there are no turns with text. A conversation has at least one."),
    (
        f"score --embedder nonsense {CHAT}",
        "embedder 'nonsense': expected minilm, folder:PATH, sentence-transformers:NAME or openai:URL#MODEL",
    ),
    (
        "decisions list --log DIR/absent.db",
        (
            "DIR/absent.db: there is no decision log. `ebbtide decisions record` or `import` begins one; "
            "--log or EBBTIDE_LOG names another place"
        ),
    ),
    (
        "decisions record",
        "pass one description: as an argument, as - for standard input, or with --file FILE",
    ),
    ("decisions record --confidence 2 x", "--confidence 2.0: expected a number from 0 to 1"),
    (
        "decisions record --review-by soon x",
        "--review-by 'soon': expected such as 2026-03-01, 2026-03-01T10:00Z or 30d",
    ),
    ("decisions restore", "name the decisions to restore by their ids, or pass --plan FILE"),
    ("demo --keep runs/stuck.jsonl", "runs/stuck.jsonl: cannot be a folder: File exists"),
]
# Click says these, and where to look further.
FROM_CLICK = ("No such ", "Missing ", "Invalid ", "Option ", "'")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_a_wrong_use_is_explained(here, files: Path, line: str, message: str) -> None:
    """In one line, which click's are followed by where to look; nothing is printed, and the code is 2."""
    arguments = line.replace("DIR", str(files)).split()
    ended = here(*arguments)
    first, *more = ended.message.splitlines()
    assert first == f"ebbtide: {message.replace('DIR', str(files))}"
    assert (ended.code, ended.output) == (2, "")
    assert [item.endswith("--help` shows how it is used.") for item in more] == (
        [True] if message.startswith(FROM_CLICK) else []
    )


@pytest.mark.parametrize("line", [line for line, _ in WRONG[::10]])
def test_a_process_says_the_same(here, files: Path, tmp_path: Path, line: str) -> None:
    """What runs in this process is what the command does."""
    arguments = line.replace("DIR", str(files)).split()
    process = subprocess.run(
        [sys.executable, "-m", "ebbtide", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=EXAMPLES,
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == here(*arguments)


def test_a_tool_that_is_nearly_named(here) -> None:
    """A tool that nothing is about is named with the one that was meant; the check goes on."""
    ended = here("check", "--ignore", "tool=web_serch", STUCK)
    assert ended.code == 0
    assert ended.message == (
        "ebbtide: --ignore tool=web_serch: no finding involves this tool; did you mean web_search?\n"
    )
    assert here("check", "--ignore", "tool=web_search", STUCK).message == ""
    assert here("check", "--ignore", "tool=database", STUCK).message == ""


@pytest.mark.parametrize(
    ("content", "nearest"),
    [
        (
            '{"kind": "tool", "args": {}}',
            "Nearest is ebbtide: no object with 'name' and one of 'kind' and 'args'",
        ),
        (
            '{"type": "user", "msg": {}, "uuid": "1"}',
            "Nearest is claude-code: no line of type 'user' or 'assistant' with a message",
        ),
        (
            '{"resourceSpan": []}',
            (
                "Nearest is otlp: no 'resourceSpans', and no span with a 'gen_ai.' attribute "
                "('resourceSpan' is probably 'resourceSpans')."
            ),
        ),
        ('{"Role": "user", "text": "hello"}', None),
        (
            '{"run_types": "llm"}',
            "Nearest is langsmith: no run with 'run_type' ('run_types' is probably 'run_type').",
        ),
        ('{"sample": [], "evals": {}}', "Nearest is inspect: no object with 'eval' and 'samples'"),
        ("Just a note.", "Nearest is text: no line starts with the 'Name:' of a speaker."),
        ('{"temperature": 3}', None),
    ],
)
def test_the_nearest_format_comes_first(here, tmp_path: Path, content: str, nearest: str | None) -> None:
    """With what is missing for it, before how to write one and what else was tried."""
    file = tmp_path / "trace.jsonl"
    file.write_text(content + "\n")
    ended = here("check", file)
    first = ended.message.splitlines()[0]
    assert ended.code == 2
    assert (f"). {nearest}" in first) if nearest else ("Nearest" not in first)
    assert " Simplest to write: " in first
