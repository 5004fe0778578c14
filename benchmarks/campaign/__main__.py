"""Attack the product: an attack by name, or all of them, one after the other.

    python -m benchmarks.campaign ATTACK [--seed N ...] [--minutes M] [--dry]

Each is seeded and ends after its minutes. What it finds is in benchmarks/results/campaign-ATTACK.json, and on
the screen as it is found; the exit code is 1 where something was found. Everything stays on this machine.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks.campaign.attack import run

#: Each is the function `attack` of the module of its name.
ATTACKS = {
    "kills": "programs and servers killed with kill -9 over every store",
    "faults": "disks that are full, stores read-only, locked or torn, clocks that jump",
    "inputs": "mutated files for readers, odd events, objects and states for live objects",
    "patterns": "patterns over text that grow faster than the text",
    "secrets": "secrets of every kind that are left in a text",
    "browser": "texts of others that run, load or shift something in a real browser",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Attack the product, and say what was found.",
        epilog="; ".join(f"{name}: {words}" for name, words in ATTACKS.items()),
    )
    parser.add_argument("attack", choices=(*ATTACKS, "all"))
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--minutes", type=float, default=5.0, help="of each seed")
    parser.add_argument("--dry", action="store_true", help="write no result")
    options = parser.parse_args()
    names = list(ATTACKS) if options.attack == "all" else [options.attack]
    is_clean = True
    for name in names:
        attack = importlib.import_module(f"benchmarks.campaign.{name}").attack
        print(f"{name}: {ATTACKS[name]}", flush=True)
        is_clean &= run(name, attack, options.seed, options.minutes, keeps=not options.dry)
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
