"""`ebbtide doctor --adapter NAME`: whether a framework's adapter works where it is installed."""

from __future__ import annotations

import warnings

from ebbtide.adapters.conformance.checks import a_loop_is_nudged_and_ended, run_checks
from ebbtide.adapters.conformance.harness import harness
from ebbtide.cli.terminal import plain, print_json


def check(name: str, *, as_json: bool) -> bool:
    """Run a loop on the framework's own offline model in every way that it starts runs, and print the result.

    Args:
        name: The adapter.
        as_json: Whether for machines.

    Returns:
        Whether the model was told, and every loop ended.

    Raises:
        ConfigError: There is no such adapter, or its framework cannot be imported.
    """
    framework = harness(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the framework
        results = list(run_checks(framework, {"loop": a_loop_is_nudged_and_ended}))
    if as_json:
        print_json([{"adapter": name, "mode": item.mode, "faults": list(item.faults)} for item in results])
    for item in results if not as_json else ():
        if item.faults:
            print(f"not wired: {name}, {item.mode}: {plain('; '.join(item.faults))}")
        else:
            print(f"wired: {name}, {item.mode}: a loop was noted in call 4, and ended")
    return not any(item.faults for item in results)
