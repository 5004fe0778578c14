"""The user's data folder, for files that stay when a cache is emptied."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

DECISIONS: Final = "decisions.db"  #: the decision log, where no other place is named


def user_data_file(name: str) -> Path:
    """Returns the path of a file of ours in the user's data folder.

    Source: XDG Base Directory Specification, XDG_DATA_HOME; on Windows the local application data.
    """
    folder = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    # A relative path is to be ignored, says that specification.
    data = Path(folder) if folder and Path(folder).is_absolute() else Path.home() / ".local" / "share"
    return data / "ebbtide" / name
