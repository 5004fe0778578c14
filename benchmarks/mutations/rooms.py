"""The rooms, the modules of each, and the mutations that are drawn.

A room is a folder of the package, or a module on its top floor; nothing is listed by hand.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.mutations.points import Mutation, mutations

SOURCE = Path("src", "ebbtide")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A mutation of a module.

    Args:
        module: The module, from the root of the project.
        source: What it holds before the change.
        mutation: The change.
    """

    module: Path
    source: str
    mutation: Mutation

    def __str__(self) -> str:
        mutation = self.mutation
        return f"{self.module.relative_to(SOURCE)}:{mutation.line}:{mutation.column}  {mutation.change}"

    @property
    def room(self) -> str:
        """The folder, or the module on the top floor."""
        return room_of(self.module)

    @property
    def mutated(self) -> str:
        """What the module holds after the change."""
        return self.mutation.apply(self.source)


def room_of(module: Path) -> str:
    """The first folder of a module in the package, or its own name on the top floor."""
    return module.relative_to(SOURCE).with_suffix("").parts[0]


def points(*rooms: str) -> dict[str, list[Point]]:
    """Room -> all points of its modules; `rooms` are names or paths in the package, none for all of it."""
    result: dict[str, list[Point]] = {}
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        module = path.relative_to(ROOT)
        name = module.relative_to(SOURCE).with_suffix("")
        if rooms and not any(name.is_relative_to(room) for room in rooms):
            continue
        source = path.read_text(encoding="utf-8")
        for mutation in mutations(source, path.name):
            point = Point(module=module, source=source, mutation=mutation)
            result.setdefault(point.room, []).append(point)
    return result


def draw(population: dict[str, list[Point]], count: int, seed: int) -> list[Point]:
    """A sample with as many points of each room as its share of all points says.

    A larger count with the same seed draws the same points and some more. The rooms take turns, so that a
    beginning of the sample is spread over them too.
    """
    sizes = {room: len(room_points) for room, room_points in population.items()}
    places: list[tuple[float, Point]] = []
    for room, quota in _quotas(sizes, count).items():
        shuffled = random.Random(f"{seed} {room}").sample(population[room], sizes[room])
        chosen = islice(filter(_compiles, shuffled), quota)
        places += [((number + 0.5) / quota, point) for number, point in enumerate(chosen)]
    return [point for _, point in sorted(places, key=lambda place: place[0])]


def _quotas(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Whole numbers in proportion to sizes; what rounding leaves goes to the largest remainders."""
    total = sum(sizes.values())
    shares = {room: min(count, total) * size / total for room, size in sizes.items()}
    quotas = {room: int(share) for room, share in shares.items()}
    by_remainder = sorted(shares, key=lambda room: (quotas[room] - shares[room], room))
    for room in by_remainder[: min(count, total) - sum(quotas.values())]:
        quotas[room] += 1
    return quotas


def _compiles(point: Point) -> bool:
    try:
        ast.parse(point.mutated)
    except SyntaxError:
        return False
    return True
