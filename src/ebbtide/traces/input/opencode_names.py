"""Names of the files in which OpenCode 1.0 keeps sessions."""

from __future__ import annotations

import os
import re
from pathlib import Path

_SESSION_FILE = re.compile(r"ses_\w+\.json")


def is_session_file(path: str | os.PathLike[str]) -> bool:
    """Returns True if a path is the file of a session in such folders; its messages stand in others."""
    file = Path(path)
    return _SESSION_FILE.fullmatch(file.name) is not None and file.parts[-4:-2] == ("storage", "session")
