"""Every rung of the ladder on every public set, beside a rule of thumb and the published packages.

    python -m benchmarks.quality.verdicts [--data DIR] [--set NAME ...] [--no-peers] [--scenarios FILE ...]
    python -m benchmarks.quality.verdicts --sweep [--data DIR]

The whole supervisor is asked as a live loop asks it (`benchmarks.quality.alarms`). Columns: `nudge` is the
first nudge or more; `end` the first finalize, escalate or stop; `stop` the first escalate or stop where no
finalize came before; `check` is what `ebbtide check` says at the end; `three equal` are three equal calls of
a tool in a row; the packages are used as their own documentation does, and begin anew where a run does.

Sets: `scenarios` are call sequences from 46 repositories (`calls` and `text`; the rules were made with them
in sight); `declared` gives declarations for the tools whose scenario cannot be decided without one, as the
scenario's own words say. `episodes` are shell and SQL: an alarm is right if no later reward beats the best so
far; both counts of it are given, see `score_episodes`. `questions` that ran out of steps (HALTED) should be
alarmed, CORRECT ones must not; traces repeat over five trials, so distinct ones are counted too. `support`,
`transitions` and `software` have an outcome: a solved run that is ended is a success lost. `sessions` and
`traces` have no labels: what is raised in them is listed, to be read. Files of written scenarios are those in
`tests/scenarios`, or what `--scenarios` names (`benchmarks.quality.scenario_files`).

No run could hear anything: what a nudge would have changed cannot be seen in a recording. What is saved and
lost is what ending each run there would save and lose. Only a run of all sets writes its result.
`--sweep` shows what other thresholds would do, on scenarios, episodes and questions.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

from benchmarks.loop_peers import installed
from benchmarks.measure import ROOT, add_data_option, data_folder, setup, write_result
from benchmarks.quality.alarms import RUNGS, Alarm, RunAlarms, supervise, three_equal, watch
from benchmarks.quality.run_sets import SETS, Episode, RecordedRun
from benchmarks.quality.scenario_files import read_scenarios, score_scenarios
from benchmarks.quality.verdict_scores import (
    Row,
    count_distinct,
    list_alarmed,
    list_wrong,
    score_episodes,
    score_groups,
    score_outcomes,
    score_sources,
)
from ebbtide.checking import check_events
from ebbtide.events.tool_policy import Effect, ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.supervision.ladder import Action

Rule = Callable[[Sequence[Any]], RunAlarms]

_THREE = "three equal"
_WITH_OUTCOME = ("episodes", "questions", "support", "transitions", "software")
_SHOWN = ("nudge", "end")  # rungs that are shown in full: the result has the third too
_LISTED = ("support", "transitions", "software", "sessions", "traces")

# What the public scenarios themselves say that has to be declared.
DECLARED = ToolPolicies(
    {
        "process_manage": ToolPolicy(effect=Effect.POLL),
        "exec": ToolPolicy(volatile_fields=("durationMs", "cwd")),
        "message": ToolPolicy(volatile_fields=("fileId", "messageId")),
    }
)

# Settings of the loop rules that are tried: name of each, and what differs from the default.
SWEEP: Mapping[str, Mapping[str, int | None]] = {
    "default": {},
    "same_error 4": {"same_error": 4},
    "same_error 6": {"same_error": 6},
    "failing_tool 6": {"failing_tool": 6},
    "copies 4": {"copies": 4, "interleaved": 5},
    "outcome_again 4": {"outcome_again": 4},
    "outcome_again 6": {"outcome_again": 6},
    "empty_again 3": {"empty_again": 3},
    "empty_again 6": {"empty_again": 6},
    "nothing_new 8": {"nothing_new": 8},
    "nothing_new 12": {"nothing_new": 12},
}


def other_rules(*, peers: bool) -> dict[str, Rule]:
    """Rules without rungs, by name."""
    makers = {_THREE: three_equal} | (installed() if peers else {})
    return {name: partial(watch, make=make, name=name) for name, make in makers.items() if name != "ebbtide"}


def row_of(run: RecordedRun, rules: Mapping[str, Rule], profile: Profile = Profile.DEFAULT) -> Row:
    """The first alarm in a run, by rung of the supervisor and by other rule."""
    alarms = supervise(run.events, profile)
    return rungs(alarms) | {name: rule(run.events).nudge for name, rule in rules.items()}


def rungs(alarms: RunAlarms) -> dict[str, Any]:
    """The first alarm by rung."""
    return {name: getattr(alarms, name) for name in RUNGS}


def headline(events: Sequence[Any]) -> RunAlarms:
    """What `ebbtide check` says of a run at its end, when nobody asked before the calls of the model."""
    verdict = check_events(events).verdict
    if verdict.action is Action.ALLOW:
        return RunAlarms(())
    return RunAlarms((Alarm(verdict.event or len(events), verdict.kind or "", verdict.action),))


def measure(name: str, runs: Sequence[RecordedRun], rules: Mapping[str, Rule]) -> dict[str, Any]:
    """What is raised in one public set, and what it is worth."""
    if name == "scenarios":
        rules = {**rules, "declared": partial(supervise, tools=DECLARED)}
    elif name in _LISTED:
        rules = {**rules, "check": headline}
    rows = [row_of(run, rules) for run in runs]
    result: dict[str, Any] = {
        "groups": score_groups(runs, rows),
        "rules": {
            rung: dict(Counter(alarm.rule for row in rows if (alarm := row[rung])).most_common())
            for rung in RUNGS
        },
    }
    if name in _WITH_OUTCOME:
        result["outcomes"] = score_outcomes(runs, rows)
    if name in _LISTED:
        result["runs"] = list_alarmed(runs, rows, (*RUNGS, "check"))
    if name == "scenarios":
        result["sources"] = score_sources(runs, rows)
        result["wrong"] = list_wrong(runs, rows, "nudge")
    elif name == "episodes":
        result["rewards"] = scores = score_episodes(cast("Sequence[Episode]", runs), rows)
        for score in scores.values():
            score["saved_ratio"] = _ratio(score, scores[_THREE])
            score["letter"]["saved_ratio"] = _ratio(score["letter"], scores[_THREE]["letter"])
    elif name == "questions":
        result["distinct"] = {rung: count_distinct(runs, rows, rung) for rung in RUNGS}
    return result


def _ratio(score: Mapping[str, Any], other: Mapping[str, Any]) -> float | None:
    return round(score["saved_turns"] / other["saved_turns"], 3) if other["saved_turns"] else None


def show_table(sets: Mapping[str, Mapping[str, Any]]) -> None:
    """How many runs each rung and rule alarms, a label a row."""
    results = [result for result in sets.values() if result["groups"]]
    names = list(dict.fromkeys(n for r in results for g in r["groups"].values() for n in g["alarmed"]))
    print(f"{'runs alarmed':<28}{'of':>6}  " + "  ".join(f"{name:>6}" for name in names))
    for set_name, result in sets.items():
        for group, row in result["groups"].items():
            counts = {name: row["alarmed"].get(name, {}).get("alarmed", "-") for name in names}
            cells = "  ".join(f"{count:>{max(6, len(name))}}" for name, count in counts.items())
            print(f"{f'{set_name}: {group}':<28}{row['of']:>6}  {cells}")


def show_details(name: str, result: Mapping[str, Any]) -> None:
    """What the table does not have, of one set."""
    print(f"\n{name}")
    for rung, rules in result["rules"].items():
        if rules and rung in _SHOWN:
            print(f"  {rung} by " + ", ".join(f"{rule} {count}" for rule, count in rules.items()))
    for rule, row in result.get("outcomes", {}).items():
        print(
            f"  {rule:<22} saves {row['saved_calls']:6} of {row['calls']} calls, "
            f"loses {row['lost']:4} of {row['successes']} successes {row['lost_interval']}"
        )
    for rule, row in result.get("rewards", {}).items():
        title = f"{rule}: {row['alarmed']} alarmed"
        for label, count in ((title, row), ("  to the letter", row["letter"])):
            print(
                f"  {label:<36} precision {count['precision']} {count['interval']}, saves "
                f"{count['saved_turns']} turns, {count['saved_ratio']} times three equal; loses "
                f"{count['successes_lost']} successes"
            )
    for rung in _SHOWN if "rewards" in result else ():
        score = result["rewards"][rung]
        for part in ("rules", "models"):
            for label, count in score[part].items():
                print(
                    f"    {rung}, {label}: {count['alarmed']} alarmed, {count['wrong']} wrong "
                    f"({count['wrong_letter']} to the letter), {count['saved']} turns saved"
                )
    for rung, groups in result.get("distinct", {}).items():
        counts = ", ".join(f"{group} {count['alarmed']} of {count['of']}" for group, count in groups.items())
        print(f"  distinct, {rung}: {counts}")
    for rule, row in result.get("sources", {}).items():
        print(
            f"  {rule:<22} {row['all_right']} of {row['of']} sources all right {row['interval']}; "
            f"median event {row['median_event_of_alarm']}"
        )
    for scenario, reason in result.get("wrong", {}).items():
        print(f"  wrong: {scenario}: {reason or 'no reason known'}")
    show_runs(result.get("runs", []))


def show_runs(runs: Sequence[Mapping[str, Any]]) -> None:
    """Runs in which something is raised: first what they have in common, then each."""
    for rung in _SHOWN:
        alarms = [run[rung] for run in runs if run[rung]]
        shares = [alarm["share_of_events"] for alarm in alarms]
        rests = [share for alarm in alarms if (share := alarm["share_of_spending_after"]) is not None]
        if alarms:
            after = f", {median(rests):.0%} of the spending after it" if rests else ""
            print(f"  {rung}: median after {median(shares):.0%} of the events{after}")
    for run in runs:
        parts = [
            f"{rung} {alarm['rule']} ({alarm['action']}) at {alarm['event']}"
            for rung in (*_SHOWN, "check")
            if (alarm := run[rung])
        ]
        first = run["nudge"] or run["check"]
        after = first["share_of_spending_after"]
        spending = "" if after is None else f"; {after:.0%} of the {first['spending_in']} after the first"
        print(f"  {run['group']}: {run['id']}: {', '.join(parts)} of {run['events']}{spending}")


def measure_files(paths: Sequence[Path], *, show_sealed: bool) -> dict[str, Any]:
    """The same for files of written scenarios."""
    result = {}
    for path in paths:
        runs = list(read_scenarios(path))
        with_ids = show_sealed or "sealed" not in path.name
        result[path.name] = scores = score_scenarios(
            runs, [supervise(run.events) for run in runs], with_ids=with_ids
        )
        print(f"\n{path.name}: {len(runs)} scenarios")
        for name, row in scores["groups"].items():
            stuck = not name.startswith("healthy")
            place = f"; {row['early']} before the onset, {row['from_onset']} from it on, "
            delay = f"{place}median delay {row['median_delay']} events" if stuck else ""
            print(
                f"  {name:<20} nudged {row['nudged']:3} of {row['of']:3} {row['nudged_interval']}, stopped "
                f"or escalated {row['stopped_or_escalated']:3} {row['stopped_interval']}{delay}"
            )
        for kind, row in scores["families"].items():
            print(
                f"  families, {kind}: both lengths right {row['right']} of {row['of']} {row['interval']}; "
                f"none stopped in {row['none_stopped']}"
            )
        for wrong in scores.get("wrong", []):
            alarm = wrong["nudge"]
            what = f"{alarm['rule']} at {alarm['event']}" if alarm else f"missed (onset {wrong['onset']})"
            print(f"    {wrong['kind']}: {wrong['id']}: {what}")
    return result


def sweep(data: Path, files: Sequence[Path]) -> dict[str, Any]:
    """What other thresholds of the loop rules would save, and lose."""
    public = {name: list(SETS[name](data)) for name in ("scenarios", "episodes", "questions")}
    scenario_files = {path.name: list(read_scenarios(path)) for path in files}
    result: dict[str, Any] = {}
    for name, changes in SWEEP.items():
        divergence = dataclasses.replace(Profile.DEFAULT.divergence, **cast("Any", changes))
        profile = dataclasses.replace(Profile.DEFAULT, divergence=divergence)
        rows = {key: [row_of(run, {}, profile) for run in runs] for key, runs in public.items()}
        rewards = score_episodes(cast("Sequence[Episode]", public["episodes"]), rows["episodes"])
        groups = {key: score_groups(runs, rows[key]) for key, runs in public.items() if key != "episodes"}
        groups |= {
            key: score_groups(runs, [row_of(run, {}, profile) for run in runs])
            for key, runs in scenario_files.items()
        }
        outcomes = score_outcomes(public["questions"], rows["questions"])
        short = {
            rung: {key: value for key, value in score.items() if key not in ("rules", "models")}
            for rung, score in rewards.items()
        }
        result[name] = {"episodes": short, "questions": outcomes, "groups": groups}
        print(f"\n{name}")
        for rung in RUNGS:
            score, letter, question = rewards[rung], rewards[rung]["letter"], outcomes[rung]
            print(
                f"  {rung:<6} episodes: {score['saved_turns']} turns saved, {score['successes_lost']} "
                f"successes lost, precision {score['precision']} (letter: {letter['saved_turns']}, "
                f"{letter['successes_lost']}, {letter['precision']}); questions: {question['saved_calls']} "
                f"calls saved, {question['lost']} lost"
            )
            for key, labels in groups.items():
                counts = (
                    f"{g} {row['alarmed'][rung]['alarmed']} of {row['of']}" for g, row in labels.items()
                )
                print(f"         {key}: " + ", ".join(counts))
    return result


def main() -> None:
    """Run the sets and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--set", action="append", choices=list(SETS), dest="sets", help="only this set")
    parser.add_argument("--no-peers", action="store_true", help="leave the published packages out")
    parser.add_argument(
        "--scenarios", action="append", type=Path, metavar="FILE", help="written scenarios, one a line"
    )
    parser.add_argument("--show-sealed", action="store_true", help="name the scenarios of sealed files too")
    parser.add_argument("--sweep", action="store_true", help="try other thresholds of the loop rules")
    options = parser.parse_args()
    data = data_folder(options.data)
    files = options.scenarios or sorted((ROOT / "tests" / "scenarios").glob("*.jsonl.gz"))
    if options.sweep:
        write_result("quality-verdicts-sweep", {"settings": sweep(data, files), "setup": setup()})
        return
    rules = other_rules(peers=not options.no_peers)
    sets = {
        name: measure(name, list(read(data)), rules)
        for name, read in SETS.items()
        if name in (options.sets or SETS)
    }
    show_table(sets)
    for name, result in sets.items():
        show_details(name, result)
    file_scores = measure_files(files, show_sealed=options.show_sealed)
    if options.sets:
        print("not written: only some sets were measured")
        return
    packages = sorted({name.split(" ")[0] for name in rules if name != _THREE})
    result = {"sets": sets, "scenario_files": file_scores, "setup": setup(*packages)}
    write_result("quality-verdicts", result)


if __name__ == "__main__":
    main()
