"""Which file holds the settings of the project that somebody is in."""

from __future__ import annotations

import os

from ebbtide.settings_file import has_settings

_OWN, _SHARED = "ebbtide.toml", "pyproject.toml"


def nearest_file(folder: str) -> str | None:
    """The nearest file of settings, from a folder upwards; the root of a repository and home are the last.

    Args:
        folder: Where to begin.

    Raises:
        ConfigError: A ``pyproject.toml`` on the way cannot be read.
    """
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - pathlib takes long to load
    here = os.path.realpath(folder)
    while True:
        own, shared = os.path.join(here, _OWN), os.path.join(here, _SHARED)  # noqa: PTH118
        if os.path.lexists(own):
            return own
        if os.path.isfile(shared) and has_settings(shared):  # noqa: PTH113
            return shared
        above = os.path.dirname(here)  # noqa: PTH120
        if here in (home, above) or os.path.lexists(os.path.join(here, ".git")):  # noqa: PTH118
            return None
        here = above
