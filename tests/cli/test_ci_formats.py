"""`ebbtide check --format`: a report is valid, says what the exit code says, and hostile text stays text."""

import gzip
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema

from ebbtide.claims.sentences import GRAVE
from ebbtide.cli.runs.ci_reports import RULE_TEXTS
from ebbtide.profile.loop_kinds import RULES

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
STUCK, HEALTHY = EXAMPLES / "stuck.jsonl", EXAMPLES / "healthy.jsonl"
SAID = Path(__file__).parents[1] / "claims" / "samples" / "said-and-done.jsonl"
SCHEMAS = Path(__file__).parent / "schemas"
NAME = "a,b:c%25 [x](y) | <img src=x> `&.jsonl"
TOOL = "::error::\x1b[31m%0A</failure>]]>|<script>{0}[a](1)\ufffe\r\n::stop"
REPORTS = ("github", "junit", "sarif", "markdown")


def ebbtide(folder: Path, *arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=folder,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env=env,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stuck, a healthy, a hostile and a broken run, and a file that is none."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "stuck.jsonl").write_bytes(STUCK.read_bytes())
    (folder / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    call = {"kind": "tool", "name": TOOL, "args": {"q": 1}, "result": "same"}
    (folder / NAME).write_text("".join(json.dumps(call) + "\n" for _ in range(8)))
    (folder / "broken.jsonl").write_text('{"kind": "tool", "name": "a"\n')
    (folder / "notes.md").write_text("# Notes\n")
    return folder


def junit(text: str) -> ET.Element:
    """The suite, which is valid."""
    xmlschema.XMLSchema(SCHEMAS / "junit.xsd").validate(text)
    (suite,) = ET.fromstring(text)  # noqa: S314 - it is ours
    return suite


def sarif(text: str) -> dict[str, Any]:
    """The run of the log, which is valid."""
    schema = json.loads(gzip.decompress((SCHEMAS / "sarif-2.1.0.json.gz").read_bytes()))
    log = json.loads(text)
    jsonschema.Draft7Validator(schema).validate(log)
    (run,) = log["runs"]
    return dict(run)


@pytest.mark.parametrize("form", REPORTS)
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("healthy.jsonl",), 0),
        (("--fail-on", "stuck", "healthy.jsonl"), 0),
        (("stuck.jsonl",), 0),
        (("--fail-on", "stuck", "stuck.jsonl"), 50),
        (("--fail-on", "cost=0.1", "stuck.jsonl", "healthy.jsonl"), 50),
        (("--fail-on", "stuck", "."), 2),
        ((".",), 0),
        (("absent.jsonl",), 2),
        (("absent.jsonl", "stuck.jsonl"), 2),
        (("--fail-on", "stuck", "--ignore", "run=*", "stuck.jsonl"), 0),
    ],
)
def test_the_exit_code_is_that_of_the_text(
    folder: Path, form: str, options: tuple[str, ...], code: int
) -> None:
    """Whatever is printed; the report is valid and says whether something failed."""
    process = ebbtide(folder, "check", "--format", form, *options)
    assert process.returncode == code
    text = process.stdout
    if form == "junit":
        suite = junit(text)
        assert (int(suite.attrib["failures"]) > 0, int(suite.attrib["errors"]) > 0) == (
            code == 50 or options[1:] == ("stuck", "."),
            code == 2,
        )
    elif form == "sarif":
        (invocation,) = sarif(text)["invocations"]
        assert invocation["executionSuccessful"] == (code != 2)
    else:
        mark = "::error " if form == "github" else "**UNREADABLE**" if code == 2 else "**Fails**"
        assert (mark in text) == bool(code)


def test_annotations_are_escaped_as_github_reads_them(folder: Path) -> None:
    """Every line is a command but the last, and whatever the trace says, none of its lines is one."""
    process = ebbtide(folder, "check", "--format", "github", "--fail-on", "stuck", ".")
    *commands, last = process.stdout.splitlines()
    assert last.startswith("3 runs: 1 STUCK, 1 NOISY, 1 HEALTHY")
    form = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^:,\s][^:,]*,?)+)::(.*)")
    parsed = [form.fullmatch(command) for command in commands]
    assert all(parsed)
    levels = [match[1] for match in parsed if match]
    assert levels[0] == "error"
    assert set(levels) == {"error", "warning", "notice"}
    places = [dict(part.split("=", 1) for part in match[2].split(",")) for match in parsed if match]
    files = {re.sub("%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), place["file"]) for place in places}
    assert files == {"broken.jsonl", "stuck.jsonl", NAME}
    assert [place.get("line") for place in places if place["file"] == "broken.jsonl"] == ["2"]
    assert "\x1b" not in process.stdout


def test_junit_has_a_case_a_run(folder: Path) -> None:
    """A failure for a run that meets a condition, an error for a file that cannot be read."""
    process = ebbtide(folder, "check", "--format", "junit", "--fail-on", "stuck", "--fail-on", "cost=1", ".")
    suite = junit(process.stdout)
    cases = {case.attrib["name"]: [child.tag for child in case] for case in suite.iter("testcase")}
    assert cases == {
        "broken.jsonl": ["error"],
        "stuck.jsonl": ["failure"],
        NAME: ["failure"],
        "healthy.jsonl": [],
    }
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "4", "failures": "2", "errors": "1"}
    failure = next(item for item in suite.iter("failure") if item.attrib["type"] == "stuck")
    assert "11 times, same results" in failure.attrib["message"]
    text = "".join(suite.itertext())
    assert "--fail-on cost=1: it cost $1.60" in text
    assert "skipped notes.md: " in text
    assert "\x1b" not in process.stdout


def test_sarif_has_a_result_a_finding(folder: Path) -> None:
    """With its rule and its help, the run as its place, and a fingerprint of its own that stays."""
    command = ("check", "--format", "sarif", "--fail-on", "cost=1", ".")
    run = sarif(ebbtide(folder, *command).stdout)
    rules = run["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == set(RULE_TEXTS)
    found = [(item["ruleId"], item["level"], uri(item)) for item in run["results"]]
    assert ("cycle", "error", "stuck.jsonl") in found
    assert ("fail_on", "error", "stuck.jsonl") in found
    assert all(rules[item["ruleIndex"]]["id"] == item["ruleId"] for item in run["results"])
    assert all("region" not in item["locations"][0]["physicalLocation"] for item in run["results"])
    (place,) = {uri(item) for item in run["results"]} - {"stuck.jsonl"}
    assert place == "a%2Cb%3Ac%2525%20%5Bx%5D%28y%29%20%7C%20%3Cimg%20src%3Dx%3E%20%60%26.jsonl"
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
    prints = [
        item["partialFingerprints"]["ebbtide/v1"] for item in run["results"] if item["ruleId"] != "fail_on"
    ]
    assert len(set(prints)) == len(prints)
    again = sarif(ebbtide(folder, *command).stdout)
    assert prints == [
        i["partialFingerprints"]["ebbtide/v1"] for i in again["results"] if i["ruleId"] != "fail_on"
    ]


def uri(result: dict[str, Any]) -> str:
    return str(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def test_the_summary_of_a_job(folder: Path) -> None:
    """What fails first, then a row a run, the worst first; nothing of a trace is markup."""
    text = ebbtide(folder, "check", "--format", "markdown", "--fail-on", "stuck", ".").stdout
    assert text.startswith("## Ebbtide\n\n3 runs: 1 STUCK, 1 NOISY, 1 HEALTHY")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {5}
    names = [unescape(re.sub(r"\\(.)", r"\1", row[1])).strip() for row in rows[2:]]
    assert set(names[:2]) == {"stuck.jsonl", NAME}
    assert names[2] == "healthy.jsonl"
    assert [row[0].split()[0].rstrip(",") for row in rows[2:]] == ["STUCK", "NOISY", "HEALTHY"]
    assert "<" not in text
    assert not re.search(r"(?<!\\)[\[\]`]", text)


@pytest.mark.parametrize("form", REPORTS)
def test_claims_against_the_record_are_in_every_report(folder: Path, form: str) -> None:
    """SARIF and GitHub have each; JUnit and Markdown the line of the screen. None fails by itself."""
    done = ebbtide(folder, "check", "--format", form, SAID)
    assert (done.returncode, done.stderr) == (0, "")
    if form == "sarif":
        log = sarif(done.stdout)
        found = [(item["ruleId"], item["level"]) for item in log["results"] if "claim" in item["ruleId"]]
        assert found == [("claim_contradicted", "warning"), ("claim_stale", "note")]
    elif form == "github":
        assert done.stdout.count("title=Ebbtide claim_contradicted::The report says") == 1
        assert "::notice" in done.stdout
    elif form == "junit":
        (case,) = junit(done.stdout).iter("testcase")
        said = case.find("system-out")
        assert said is not None
        assert str(said.text).startswith("claims: 4 claims: 2 proven, 1 stale")
    else:
        assert "**Claims and the record**" in done.stdout


@pytest.mark.parametrize("form", REPORTS)
def test_known_findings_fail_nothing_in_any_format(folder: Path, tmp_path: Path, form: str) -> None:
    """They are marked where the format can, and left out where it cannot."""
    base = tmp_path / "base.json"
    check = ("check", "--format", form, "--fail-on", "stuck")
    assert ebbtide(folder, *check, "--write-baseline", base, "stuck.jsonl").returncode == 0
    process = ebbtide(folder, *check, "--baseline", base, "stuck.jsonl", "healthy.jsonl")
    assert (process.returncode, process.stderr) == (0, "")
    if form == "sarif":
        results = sarif(process.stdout)["results"]
        assert {item["baselineState"] for item in results} == {"unchanged"}
        assert all(item["suppressions"] for item in results)
    elif form == "junit":
        assert junit(process.stdout).attrib["failures"] == "0"
    elif form == "github":
        assert "::" not in process.stdout
    else:
        assert "3 findings known from " in process.stdout


@pytest.mark.parametrize("form", REPORTS)
def test_standard_input_has_no_place(folder: Path, form: str) -> None:
    """No format names a file that is none."""
    process = ebbtide(folder, "check", "--format", form, "-", stdin=STUCK.read_text())
    assert process.returncode == 0
    if form == "sarif":
        assert all("locations" not in item for item in sarif(process.stdout)["results"])
    if form == "junit":
        junit(process.stdout)
    assert "file=" not in process.stdout


def test_formats_that_do_not_go_together(folder: Path) -> None:
    """One format at a time, of runs that are named; text and JSON are formats, too."""
    for options in (
        ("--json", "--format", "sarif", "stuck.jsonl"),
        ("--format", "yaml", "stuck.jsonl"),
        ("--format", "junit"),
        ("--write-baseline", "base.json"),
    ):
        process = ebbtide(folder, "check", *options)
        assert (process.returncode, process.stdout) == (2, ""), options
    by_format = ebbtide(folder, "check", "--format", "json", "stuck.jsonl").stdout
    assert by_format == ebbtide(folder, "check", "--json", "stuck.jsonl").stdout
    text = ebbtide(folder, "check", "--format", "text", "stuck.jsonl").stdout
    assert text == ebbtide(folder, "check", "stuck.jsonl").stdout


def test_every_rule_has_its_text() -> None:
    """What the reports say of a rule; the table of the docs has all kinds of loops likewise."""
    claims = {f"claim_{answer.value}" for answer in GRAVE}
    assert set(RULE_TEXTS) == {*RULES, *claims, "limit", "limit_unknown", "fail_on"}
