"""Commands on a log that cannot be written."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

TEXT = "Use SQLite for the log because there is one writer"
READING = (
    ("list",),
    ("show", "{id}"),
    ("list", "sqlite"),
    ("export",),
    ("stats",),
    ("verify",),
    ("list", "--json"),
)


@pytest.mark.skipif(os.name == "nt", reason="the rights of folders are of POSIX")
def test_commands_where_nothing_can_be_written(here):
    """What reads answers as ever; what writes says why it cannot."""
    folder = Path(tempfile.mkdtemp(prefix="ebbtide-place-"))
    place, user = folder / "decisions.db", os.geteuid()
    try:
        made = here("decisions", "record", TEXT, "--log", place, "--json")
        identifier = json.loads(made.output)["decision"]["id"]

        def ask() -> list[tuple[int, str]]:
            lines = [[word.format(id=identifier) for word in line] for line in READING]
            ended = [here("decisions", *line, "--log", place) for line in lines]
            return [(each.code, each.output) for each in ended]

        expected = ask()
        place.chmod(0o444)
        folder.chmod(0o555)
        if user == 0:
            os.seteuid(65534)  # the rights of root do not count
        assert ask() == expected
        assert all(code == 0 for code, _ in expected)
        refused = here("decisions", "record", TEXT + " today", "--log", place)
        assert refused.code not in {0, 1}
        assert "may not be written" in refused.message
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)
