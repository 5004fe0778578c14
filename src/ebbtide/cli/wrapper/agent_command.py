"""The command line of an agent that is to be started, checked before anything is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from ebbtide.errors import ConfigError


def refuse_command(command: Sequence[str], usage: str, needs: str) -> None:
    """Refuses an agent that is not there, and a system on which none can be started.

    Args:
        command: The command line.
        usage: Example of the command that starts it.
        needs: Part of the system that is needed and that Windows lacks.

    Raises:
        ConfigError: It cannot be started.
    """
    if sys.platform == "win32":
        name = " ".join(usage.split()[:2])
        raise ConfigError(f"{name} needs a system with {needs}, such as Linux or macOS")
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{command[0]}: no such program. Write the command as in a shell: {usage}")
