"""What the gate before the decision log loses, and what noise it keeps, on real texts.

    python -m benchmarks.quality.gate [--data DIR]

The sets and how they got their labels: benchmarks/decision_texts.py. Both profiles side by side, n and Wilson
intervals (95 %). A table by genre gives the averages and the worst one, and another what each rule is worth
in each genre.

The word lists were written from seven tenths of the documents, by a hash of their names; folds 5, 7 and 9
were counted and not read, but for the four paragraphs of ADRs that were refused in an earlier version. Of the
turns the mistakes of all folds were read: their numbers are those of texts that rules were written from.
Weights are round numbers, not fitted. The threshold is chosen in five-fold cross-validation by document: on
four folds the lowest one that loses under 5 % of every set of 50 decisions or more, applied to the fifth. The
curve over the threshold is printed as well, and what each rule does: how often it fires, and what its absence
would change. No labelled set has decisions beside a call; what would be lost were each said there is printed
for that.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.decision_texts import Labelled, labelled_texts
from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.gate_genres import (
    Judged,
    average_at,
    genre_table,
    print_rules,
    refused_at,
    rule_table,
    shown,
    wrong,
)
from ebbtide.decisions.candidate import Candidate, Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.profile import Profile
from ebbtide.rate import Rate

THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
LOST_BELOW = 0.05
SET_OF_WEIGHT = 50  # texts from which a set has a say in the threshold

# The template, as agents bring it.
ERRORS = (
    "I encountered an error processing your request.",
    "I encountered an error processing your request. Please try again.",
    "Sorry, I encountered an error processing your request: timeout after 30 s",
    "I'm sorry, but I encountered an error processing your request.",
    "\u274c I\u2019ve encountered an error processing your request",
    "**Error:** The agent encountered an error processing your request (HTTP 500)",
    "Plan: I encountered an error processing your request. Let me retry.",
    "Unfortunately, the system encountered an error processing your request.",
    "Encountered an error processing your request",
    "I ENCOUNTERED AN ERROR PROCESSING YOUR REQUEST because the tool timed out",
)


def by_group(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for item, assessment in judged:
        groups[item.group].append((item, assessment))
    return groups


def chosen_threshold(judged: Sequence[Judged]) -> float:
    """The lowest threshold that loses under 5 % of every set of decisions."""
    groups = [
        items
        for items in by_group(judged).values()
        if items[0][0].is_decision and len(items) >= SET_OF_WEIGHT
    ]
    fine = (t for t in THRESHOLDS if all((wrong(items, t).value or 0) < LOST_BELOW for items in groups))
    return next(fine, THRESHOLDS[-1])


def cross_validated(judged: Sequence[Judged]) -> dict[str, Any]:
    """Errors on each fold at the threshold that was chosen without it."""
    chosen, errors, counts = [], Counter[str](), Counter[str]()
    refusals: dict[tuple[str, str], bool] = {}
    for fold in range(5):
        threshold = chosen_threshold([pair for pair in judged if pair[0].fold % 5 != fold])
        chosen.append(threshold)
        for item, assessment in judged:
            if item.fold % 5 == fold:
                counts[item.group] += 1
                refusals[item.group, item.text] = refuses = refused_at(assessment, threshold)
                errors[item.group] += refuses == item.is_decision
    lost, noise = average_at(judged, lambda pair: refusals[pair[0].group, pair[0].text])
    rates = {group: Rate(hits=errors[group], total=counts[group]).to_dict() for group in counts}
    return {
        "thresholds": chosen,
        "errors": rates,
        "genres": {"lost": round(lost, 4), "kept": round(noise, 4)},
    }


def judge(items: Sequence[Labelled], profile: Profile) -> list[Judged]:
    return [(item, assess(item.candidate(), item.turn(), profile)) for item in items]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    texts = labelled_texts(data_folder(parser.parse_args().data))
    judged = {profile.name: judge(texts, profile) for profile in (Profile.SPEC, Profile.DEFAULT)}
    default = judged["default"]
    folds = cross_validated(default)
    result: dict[str, Any] = {"texts": len(texts), "sets": {}}
    print(f"{'':31} {'SPEC':29} {'default':29} default, unread folds         cross-validated")
    groups = {name: by_group(items) for name, items in judged.items()}
    order = sorted(groups["default"], key=lambda group: not groups["default"][group][0][0].is_decision)
    for group in order:
        spec, ours = wrong(groups["spec"][group]), wrong(groups["default"][group])
        unread = wrong([pair for pair in groups["default"][group] if pair[0].unread])
        what = "lost" if groups["default"][group][0][0].is_decision else "kept"
        cross = folds["errors"][group]
        print(
            f"{group:26} {what} {shown(spec)}  {shown(ours)}  {shown(unread)}  {100 * cross['rate']:5.1f} %"
        )
        result["sets"][group] = {
            "error": "decisions lost" if what == "lost" else "noise kept",
            "spec": spec.to_dict(),
            "default": ours.to_dict(),
            "default_unread": unread.to_dict(),
            "cross_validated": cross,
        }
    result["all"] = {}
    for what, decisions in (("decisions lost", True), ("noise kept", False)):
        rates = {
            name: wrong([pair for pair in items if pair[0].is_decision == decisions])
            for name, items in (*judged.items(), ("unread", [pair for pair in default if pair[0].unread]))
        }
        print(f"{'all ' + what:31} " + "  ".join(map(shown, rates.values())))
        result["all"][what] = {name: rate.to_dict() for name, rate in rates.items()}
    result["thresholds_chosen"] = folds["thresholds"]
    ours = Profile.DEFAULT.decisions.refuse_at
    print(f"thresholds chosen in five folds: {folds['thresholds']}; the profile has {ours}")
    result["curve"] = curve(groups["default"], order)
    records = [item for item in texts if item.is_decision and not item.said_in]
    result["beside_call"] = beside_calls(records)
    result["error_templates"] = error_templates()
    result["rules"] = rule_table(default)
    print_rules(result["rules"])
    result["by_genre"] = genre_table(default)
    result["by_genre"]["cross_validated"] = cross = folds["genres"]
    print(
        f"by the thresholds of the five folds: {100 * cross['lost']:.1f} % lost, "
        f"{100 * cross['kept']:.1f} % kept"
    )
    alike = replace(Profile.DEFAULT, decisions=replace(Profile.DEFAULT.decisions, quoted_noise=0.0))
    lost, kept_noise = average_at(judge(texts, alike), lambda pair: not pair[1].keep)
    result["by_genre"]["quoted_noise_0"] = {"lost": round(lost, 4), "kept": round(kept_noise, 4)}
    print(f"with quoted_noise = 0: {100 * lost:.1f} % lost, {100 * kept_noise:.1f} % kept")
    write_result("gate", {**result, "setup": setup()})


def curve(groups: dict[str, list[Judged]], order: Sequence[str]) -> list[dict[str, Any]]:
    """Errors of each set over the threshold."""
    print("\nthreshold: " + "; ".join(f"{number} {group}" for number, group in enumerate(order, start=1)))
    print(f"{'':9} " + " ".join(f"{number:>6}" for number in range(1, len(order) + 1)) + "   in %")
    rows = []
    for threshold in THRESHOLDS:
        rates = {group: wrong(groups[group], threshold) for group in order}
        print(f"{threshold:9} " + " ".join(f"{100 * (rate.value or 0):6.1f}" for rate in rates.values()))
        rows.append({"threshold": threshold, **{group: rate.value for group, rate in rates.items()}})
    return rows


def beside_calls(decisions: Sequence[Labelled]) -> dict[str, Any]:
    """What is lost of the decisions, were each a turn beside a call."""
    judged = [(item, assess(item.candidate(), item.turn_with_call())) for item in decisions]
    rates = {group: wrong(items) for group, items in by_group(judged).items()}
    print("\nlost, were it said beside a call:")
    for group, rate in rates.items():
        print(f"{group:31} {shown(rate)}")
    return {group: rate.to_dict() for group, rate in rates.items()}


def error_templates() -> dict[str, int]:
    """How many wordings of the error template each profile keeps, from a turn and on purpose."""
    kept = {
        profile.name: sum(
            assess(Candidate(description=text, source=source), None, profile).keep
            for text in ERRORS
            for source in (Source.AUTO, Source.EXPLICIT)
        )
        for profile in (Profile.SPEC, Profile.DEFAULT)
    }
    print(f"\nerror templates kept, of {2 * len(ERRORS)}: {kept}")
    return {"n": 2 * len(ERRORS), **kept}


if __name__ == "__main__":
    main()
