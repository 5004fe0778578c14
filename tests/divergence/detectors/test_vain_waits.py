"""Waits for what nothing brings on, and their healthy twins."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, Message, ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

RULES = Profile.DEFAULT.divergence
CRON = "NAME     SCHEDULE      SUSPEND   ACTIVE   AGE\nexport   */15 * * * *   {}   0   41d"
QUEUE = "  JOBID PARTITION  NAME  USER ST  TIME  NODES NODELIST(REASON)\n  88121  gpu  train  ann {}"
SERVER = "COMMAND  PID USER   NAME\nnode    5120  ann   TCP *:3000 (LISTEN)"
LOCK = "could not get lock /srv/app/.db.lock: held by pid {}"

Answer = str | Callable[[int], str]


def run(
    *before: tuple[str, str], looks: int = 20, every: int = 300, look: str, answer: Answer
) -> list[Event]:
    """A run that does something, and then looks at one thing with rests."""
    now = 0.0
    events: list[Event] = []
    for command, result in before:
        now += 5
        if command == "person":
            events.append(Message(text=result, ts=now))
        else:
            events.append(ToolCall(name="Bash", args={"command": command}, result=result, ts=now))
    for number in range(looks):
        now += every
        result = answer if isinstance(answer, str) else answer(number)
        args = {"command": f"sleep {every}; {look}", "description": f"look {number}"}
        events.append(ToolCall(name="Bash", args=args, result=result, ts=now))
    return events


#: Looks at a job in two ways, and at what else goes on.
HELD = [
    replace(event, ts=600.0 * (number + 1))
    for number in range(12)
    for event in run(
        look=("squeue -j 7712", "scontrol show job 7712 | grep Reason", "sinfo -o %D")[number % 3],
        answer=(
            "7712 PD (DependencyNeverSatisfied)",
            "Reason=DependencyNeverSatisfied",
            f"idle {number * 7 % 31}",
        )[number % 3],
        looks=1,
        every=500,
    )
]
#: Looks at one missing file, two minutes apart.
MISSING = [
    replace(event, ts=120.0 * (number + 1))
    for number in range(12)
    for event in run(
        look=("ls handoff/", "cat handoff/api.md", "test -s handoff/api.md; echo $?")[number % 3],
        answer=("", "cat: api.md: No such file or directory", "1")[number % 3],
        looks=1,
        every=100,
    )
]


def kinds(events: list[Event]) -> set[LoopKind]:
    return {signal.kind for signal in find_loops(events)}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            run(("cat notes", "set the record"), look="dig TXT _acme.example.org", answer="status: NXDOMAIN"),
            id="nobody makes it",
        ),
        pytest.param(
            HELD,
            id="a job that can never start, looked at in two ways, while the cluster moves",
        ),
        pytest.param(
            MISSING,
            id="a missing file, looked for in three ways",
        ),
        pytest.param(
            run(
                look="dig TXT _acme.example.org @{}",
                answer=lambda number: f"status: NXDOMAIN, id: {number * 577 % 101}, ttl {number * 389 % 211}",
            ),
            id="numbers that jump are no news",
        ),
        pytest.param(
            run(look="ls /srv/go", answer="ls: cannot access '/srv/go': No such file"), id="no such file"
        ),
        pytest.param(run(look="kubectl get cronjob export", answer=CRON.format("True")), id="suspended"),
        pytest.param(run(look="squeue -j 88121", answer=QUEUE.format("PD 0:00 1 (JobHeldUser)")), id="held"),
        pytest.param(
            run(
                ("airflow dags trigger load", "queued"),
                look="airflow dags details load",
                answer="is_paused | True",
            ),
            id="paused, though it was started",
        ),
        pytest.param(
            run(("npm run dev &", "[1] 5120"), look="lsof -i :3000", answer=SERVER),
            id="its own server has it",
        ),
        pytest.param(
            run(("./migrate.sh & echo $!", "4711"), look="./load; true", answer=LOCK.format("4711")),
            id="its own job has it",
        ),
        pytest.param(
            run(
                ("python train.py > train.log &", "[1] 7731"),
                ("kill 7731", ""),
                look="tail -2 train.log",
                answer="epoch 1/40",
            ),
            id="it ended the job itself",
        ),
        pytest.param(
            run(
                ("docker run -d --name e2e suite", "9f1c2d"),
                look="docker logs e2e",
                answer="Error: No such container: e2e",
            ),
            id="the job is gone",
        ),
        pytest.param(
            run(
                ("kubectl apply -f job.yaml", "job created"),
                look="kubectl describe pod etl",
                answer="Pending  FailedScheduling  0/3 nodes are available",
            ),
            id="it says what keeps it",
        ),
    ],
)
def test_a_wait_for_nothing_is_found(events: list[Event]) -> None:
    """Nothing of the record brings on what is awaited: a few looks, and some time."""
    signals = [signal for signal in find_loops(events) if signal.kind is LoopKind.VAIN_WAIT]
    assert signals
    assert signals[0].last_event <= 10
    assert not signals[0].is_proof


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            run(
                ("curl -X PUT https://api.example/TXT/_acme-challenge", '{"publish": "within 60 min"}'),
                look="dig TXT _acme-challenge",
                answer="",
                looks=11,
            ),
            id="it was set, and the time was named",
        ),
        pytest.param(
            run(
                ("person", "The dump comes within the hour; load it."),
                look="ls /srv/dump.sql",
                answer="ls: cannot access '/srv/dump.sql': No such file",
                looks=11,
            ),
            id="a person named the time",
        ),
        pytest.param(
            run(look="kubectl get cronjob export", answer=CRON.format("False"), looks=4), id="few looks"
        ),
        pytest.param(
            run(
                ("sbatch train.sh", "Submitted batch job 88121"),
                look="squeue -j 88121",
                answer=lambda number: QUEUE.format(
                    "PD 0:00 1 (Priority)" if number < 15 else f"R {5 * number}:03 1 n042"
                ),
                looks=40,
            ),
            id="a scheduler comes to it",
        ),
        pytest.param(
            run(("sbatch t.sh", "batch job 9"), look="squeue -j 9 -h -o %T", answer="RUNNING", looks=30),
            id="it is at work, and says no more",
        ),
        pytest.param(
            run(
                ("./migrate.sh & echo $!", "4711"),
                look="./load; tail -1 m.log",
                answer=lambda number: f"{LOCK.format('4711')}\nstep {number} of 30 done",
                looks=25,
            ),
            id="the holder gets on",
        ),
        pytest.param(
            run(
                ("wget -q big.tar &", "[1] 812"),
                look="du -m big.tar",
                answer=lambda number: f"{37 * number} big.tar",
            ),
            id="it grows",
        ),
        pytest.param(
            run(
                look="apt-get install -y ffmpeg",
                answer="E: Could not get lock, held by process 3121",
                looks=4,
                every=60,
            ),
            id="a lock that somebody else has for some minutes",
        ),
    ],
)
def test_a_wait_for_something_is_left_alone(events: list[Event]) -> None:
    """Something is under way, or said to come."""
    assert kinds(events) == set()


def test_the_rule_can_be_off() -> None:
    """Where it is off, only the patience of all waits holds."""
    events = run(look="dig TXT _acme.example.org", answer="status: NXDOMAIN")
    assert kinds(events) == {LoopKind.VAIN_WAIT}
    off = Profile(name="off", divergence=replace(RULES, vain_waits=None))
    assert find_loops(events, off) == []
