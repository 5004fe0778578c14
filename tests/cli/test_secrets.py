"""No output of a command shows a secret that stands in a trace, unless somebody asks for it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SECRETS = json.loads((Path(__file__).parents[1] / "secrets.json").read_text(encoding="utf-8"))
SEEN = 16  # characters of a secret of which a part is too much
ENV = os.environ | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def run(*arguments: str | Path) -> str:
    process = subprocess.run(
        [sys.executable, "-m", "ebbtide", *map(str, arguments)],
        capture_output=True,
        env=ENV,
        timeout=300,
        check=False,
        encoding="utf-8",
    )
    assert "Traceback" not in process.stderr
    return process.stdout + process.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces that hold every secret in every place where one can stand, and one that is broken."""
    folder = tmp_path_factory.mktemp("secrets")
    texts = [around.format(seen + secret) for around, seen, secret in SECRETS.values()]
    events = [event for text in texts for event in planted(text)]
    write(folder / f"run {name('api key')}.jsonl", events)
    write(folder / "plain.jsonl", events)  # a command of the user's is told where the file is
    turns = []
    for text in texts:
        turns.append({"role": "user", "content": f"Which key? Mine is {text}"})
        turns.append(
            {
                "role": "assistant",
                "content": f"Decision: we use {text} instead of a new key, since staging needs it.",
            }
        )
    write(folder / f"talk {name('github')}.jsonl", turns)
    (folder / f"broken {name('anthropic')}.jsonl").write_text(
        f'{{"kind": "{name("github")}', encoding="utf-8"
    )
    return folder


def name(kind: str) -> str:
    around, seen, secret = SECRETS[kind]
    return around.format(seen + secret).replace("/", "_")


def planted(text: str) -> list[dict[str, object]]:
    call = {
        "kind": "tool",
        "name": "bash",
        "args": {"command": f"deploy {text}"},
        "result": f"got {text}",
        "cost_usd": 1.0,
    }
    failing = {
        "kind": "tool",
        "name": "login",
        "args": {"text": text},
        "result": f"Error: bad {text}",
        "error": True,
    }
    return [
        *[call] * 5,
        *[failing] * 4,
        {"kind": "tool", "name": f"use {text}", "args": {}, "result": "ok"},
        {
            "kind": "tool",
            "name": "login",
            "args": {"user": {"password": "marmalade", "api_key": SECRETS["api key"][2]}},
            "result": None,
        },
        {
            "kind": "llm",
            "name": "m",
            "text": f"Decision: we use {text} instead of a new key, since staging needs it.",
            "agent": text[:200],
        },
        {"kind": "user", "name": "m", "text": f"Use {text}"},
        {
            "kind": "tool",
            "name": "bash",
            "args": {"command": text},
            "chain_id": f"agent {text}"[:200],
            "result": text,
        },
    ]


def write(file: Path, records: list[dict[str, object]]) -> None:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def shown(output: str) -> set[str]:
    """The secrets of which too much is in an output, which may be broken into lines."""
    text = "".join(output.split())
    return {
        kind
        for kind, (_, _, whole) in SECRETS.items()
        for secret in ["".join(whole.split())]
        for size in [min(SEEN, len(secret))]
        if any(secret[at : at + size] in text for at in range(len(secret) - size + 1))
    }


COMMANDS = {
    "screen": ("check", "{run}"),
    "everything": ("check", "--all", "{run}"),
    "json": ("check", "--json", "{run}"),
    "table": ("check", "--all", "{folder}"),
    "table as json": ("check", "--json", "{folder}"),
    "conditions": ("check", "--fail-on", "stuck,cost=1", "{run}"),
    "broken": ("check", "{broken}"),
    "broken as json": ("check", "--json", "{broken}"),
    "loops": ("loops", "{run}"),
    "loops as json": ("loops", "--json", "{run}"),
    "watch": ("watch", "--until-end", "{run}"),
    "watch as json": ("watch", "--until-end", "--json", "{run}"),
    "watch with a command": ("watch", "--until-end", "--on", "change", "cat >&2", "{plain}"),
    "score": ("score", "--explain", "{talk}"),
    "score as json": ("score", "--explain", "--json", "{talk}"),
    "scores": ("score", "{folder}"),
    "stop": ("stop", "{talk}"),
    "stop as json": ("stop", "--json", "{talk}"),
    "extract": ("extract", "{talk}"),
    "extract as json": ("extract", "--json", "{talk}"),
    "decisions": ("decisions", "from", "{talk}"),
    "decisions as json": ("decisions", "from", "--json", "{talk}"),
}


def arguments(folder: Path, words: tuple[str, ...]) -> list[str]:
    files = {start: next(folder.glob(f"{start}*")) for start in ("run", "talk", "broken", "plain")}
    return [word.format(folder=folder, **files) for word in words]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_output_shows_a_secret(folder, words) -> None:
    """Arguments, answers, messages, errors, names of tools, agents and files: none tells a secret."""
    assert shown(run(*arguments(folder, words))) == set()


def test_the_page_shows_no_secret(folder, tmp_path) -> None:
    """Neither do the pages of one run and of many."""
    for where in ("{run}", "{folder}"):
        run("check", "--html", tmp_path / "page.html", *arguments(folder, (where,)))
        assert shown((tmp_path / "page.html").read_text(encoding="utf-8")) == set()


def test_what_is_not_masked_is_there(folder, tmp_path) -> None:
    """Without masking every one of them is shown: the tests above look in the right places."""
    page = tmp_path / "page.html"
    (trace,) = arguments(folder, ("{run}",))
    printed = run("check", "--show-secrets", "--json", "--html", page, trace)
    assert shown(printed + page.read_text(encoding="utf-8")) >= set(SECRETS) - {"private key"}
    assert shown(run("decisions", "from", "--show-secrets", "--json", *arguments(folder, ("{talk}",))))
    assert shown(run("score", "--show-secrets", "--explain", *arguments(folder, ("{talk}",))))
    assert shown(run("watch", "--show-secrets", "--until-end", trace))
    assert shown(run("loops", "--show-secrets", trace))


def test_the_log_of_decisions_keeps_its_words(folder, tmp_path) -> None:
    """What is recorded is what was said: masking is for what is shown, and loses nothing."""
    log = tmp_path / "log.db"
    (talk,) = arguments(folder, ("{talk}",))
    assert shown(run("decisions", "from", "--save", "--log", log, talk)) == set()
    assert shown(run("decisions", "list", "--log", log, "--json", "--limit", "200", "--show-secrets"))


def test_no_screen_of_the_log_shows_a_secret(tmp_path) -> None:
    """Each masks what the log holds, and where a person wants the raw text, one option shows it."""
    log, key = ("--log", tmp_path / "log.db"), "".join(SECRETS["github"][1:])
    decision = f"Serve the archive with {key} from the object store because the disks are full"
    (identifier,) = re.findall(r"01\w{20,}", run("decisions", "record", *log, decision))
    screens = [
        ("list", *log),
        ("list", *log, "--json"),
        ("list", *log, "archive"),
        ("list", *log, "archive", "--json"),
        ("show", *log, identifier, "--events"),
        ("show", *log, identifier, "--events", "--json"),
        ("export", *log),
        ("export", *log, tmp_path / "log.jsonl"),
        ("export", *log, tmp_path / "pages"),
    ]
    for screen in screens:
        for more, is_there in (((), False), (("--show-secrets",), True)):
            printed = run("decisions", *screen, *more)
            written = [path for path in (tmp_path / "log.jsonl", *tmp_path.glob("pages/*")) if path.exists()]
            whole = re.sub(r"\s", "", printed + "".join(path.read_text("utf-8") for path in written))
            assert (key in whole) is is_there, (screen, more)
            for path in written:
                path.unlink()
    again = ("record", decision)  # which names the one that it repeats
    for screen in (again, ("stats", "--sample", "5"), ("audit",), ("think", identifier, key)):
        for form in ((), ("--json",)):
            printed = run("decisions", *screen, *log, *form)
            assert key not in re.sub(r"\s", "", printed), (screen, form)
