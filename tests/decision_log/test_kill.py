"""kill -9 at any moment: nothing that was acknowledged is lost, nothing is doubled, the chain verifies."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from ebbtide.decision_log.log.decision_log import DecisionLog

ROUNDS = 40  # at least; more where the machine is busy and little is acknowledged
ENOUGH = 200
CHILDREN = 5
WRITER = """
import os, sys
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
place, name, children = sys.argv[1:]
for _ in range(int(children) - 1):
    if os.fork() == 0:
        break
log = DecisionLog.open(place, timeout_s=60)
work = Deliberation(log)
say = lambda *words: os.write(1, (" ".join(words) + "\\n").encode())
say("ready")
number = 0
while True:
    number += 1
    session = f"{name}-{os.getpid()}-{number}"
    opened = work.start("coder", f"Which store for part {session}?", "decision", session)
    say("opened", opened)
    work.finalize(opened, f"Use store {number} for {session} because of one writer")
    say("kept", opened)
    text = f"Use queue {number} for {session} as bursts are long"
    say("kept", work.record_decision(text, session=session).id)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 and fork are of POSIX")
def test_nothing_acknowledged_is_lost(tmp_path):
    """Some hundred writers are killed at random moments while others write to the same file."""
    place = tmp_path / "decisions.db"
    DecisionLog.open(place).close()
    chance = random.Random(5)  # noqa: S311 - moments, not secrets
    acknowledged, killed = [], 0
    for round_ in range(3 * ROUNDS):
        if round_ >= ROUNDS and len(acknowledged) > ENOUGH:
            break
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(place), str(round_), str(CHILDREN)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in range(CHILDREN):
            assert child.stdout.readline()
        time.sleep(chance.random() * 0.15)
        os.killpg(child.pid, signal.SIGKILL)
        text = child.stdout.read().decode()
        child.wait()
        child.stdout.close()
        killed += CHILDREN
        acknowledged += [line.split() for line in text.splitlines() if line != "ready"]
    assert killed >= ENOUGH
    with DecisionLog.open(place) as log:
        decisions = {decision.id: decision for decision in log.iterate()}
        for what, identifier in acknowledged:
            assert identifier in decisions
            assert what == "opened" or decisions[identifier].status.value == "kept"
        texts = [decision.candidate.description for decision in decisions.values()]
        assert len(texts) == len(set(texts))
        assert len(acknowledged) > ENOUGH
        assert log.verify().ok
