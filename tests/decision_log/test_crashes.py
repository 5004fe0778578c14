"""The quick version of `python -m benchmarks.crashes`, which kills sixty programs."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks import crashes
from ebbtide.decision_log.log.decision_log import DecisionLog

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kill -9 and limits of files are of POSIX")

#: Fills a log in a process whose files may not grow any more, and goes on when they may.
FILLER = """
import json, resource, sys
from pathlib import Path
from benchmarks import crashes
place = Path(sys.argv[1])
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
print(json.dumps(crashes.fill(place, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)))))
"""


def test_programs_of_eight_threads_are_killed(tmp_path):
    """Nothing that a killed program acknowledged is lost, and the log verifies after each."""
    totals = crashes.killed_programs(tmp_path, 4)
    assert totals["lost"] == 0
    assert totals["verified"] == 4
    assert 0 < totals["acknowledged"] <= totals["recorded"]


def test_files_that_cannot_grow(tmp_path, project):
    """Where the file cannot grow the error says so, nothing acknowledged is lost, and the log goes on."""
    place = tmp_path / "decisions.db"
    process = subprocess.run(
        [sys.executable, "-c", FILLER, str(place)], cwd=project, check=True, capture_output=True, text=True
    )
    told = json.loads(process.stdout)
    assert told["lost"] == 0
    assert told["verified"]
    assert told["refused"] == 20
    assert told["acknowledged_before"] > 0
    assert told["acknowledged"] == told["recorded"] == told["acknowledged_before"] + 200
    assert all("room" in message or "disk" in message for message in told["messages"])
    with DecisionLog.open(place) as log:
        assert log.verify().ok
