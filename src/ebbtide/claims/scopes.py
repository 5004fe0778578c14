"""Part of a project that a run of a check was given: the paths of its words."""

from __future__ import annotations

from collections.abc import Iterable

_ENDS = ("/...", "/")


def paths_of(scope: str) -> tuple[str, ...] | None:
    """Returns the paths that a scope names; None where it names none, or chooses by other means as well.

    >>> paths_of("./tides/... src/a.py::test_one"), paths_of("tests/a.py TestOne")
    (('tides', 'src/a.py'), None)
    """
    paths = []
    for word in scope.split():
        path = word.partition("::")[0].replace("\\", "/").removeprefix("./")
        if "/" not in word and "." not in word.strip("."):
            return None
        if "*" in path:
            path = path[: path.index("*")].rpartition("/")[0]
            if not path:
                return None
        while path.endswith(_ENDS):
            path = path.removesuffix("...").rstrip("/")
        paths.append(path)
    return tuple(paths) or None


def covers(paths: Iterable[str], file: str) -> bool:
    """Returns True if one of the paths is a file, or a folder that it lies in; a path may be cut by "\u2026".

    >>> covers(["tides"], "/quay/tides/a.go"), covers(["a.py"], "b.py")
    (True, False)
    """
    name = "/" + file.replace("\\", "/").lstrip("./")
    for path in paths:
        if path.endswith("\u2026"):
            if f"/{path[:-1]}" in name:
                return True
        elif name.endswith(f"/{path}") or f"/{path}/" in name:
            return True
    return False
