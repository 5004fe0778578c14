"""Tells when an agent is done, when it is stuck, and what it decided, and holds its limits.

>>> from ebbtide import ConvergenceMeter, Round
>>> meter = ConvergenceMeter()
>>> reading = meter.update(Round.from_text("The cache is cold. Warm it at start-up.", number=1))
>>> print(reading.recommendation.signal)
CONTINUE
"""

from __future__ import annotations

__version__ = "0.1.0"

_homes: dict[str, str] = {}


def _home_of_each() -> dict[str, str]:
    """Returns the module of each public name, as the stub beside this file states it."""
    if not _homes:
        stub = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()
        imports = (line.split() for line in stub.splitlines() if line.startswith("from "))
        _homes.update((name, module) for _, module, _, name, *_ in imports)
    return _homes


def __getattr__(name: str) -> object:
    # A name is imported on its first use: a hook that only needs the version must not wait for the engines.
    if name == "__all__":
        return ["__version__", *_home_of_each()]
    if name.startswith("_") or name not in _home_of_each():
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_homes[name]), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_home_of_each()])
