"""What changes in a text and means nothing, and what must not be taken for it."""

import pytest

from ebbtide.text.noise import KNOWN_NOISE, is_generated, without_fresh_names, without_noise

PAIRS = {
    "temp": ("see /var/folders/ab12/log", "see /var/folders/cd34/log"),
    "uuid": ("id 123e4567-e89b-42d3-a456-426614174000", "id 223e4567-e89b-42d3-a456-426614174999"),
    "process": ("worker pid 4711 is up", "worker pid 4712 is up"),
    "port": ("refused by 127.0.0.1:53122", "refused by 127.0.0.1:60418"),
    "load": ("load average: 0.10, 0.72, 1.24", "load average: 3.10, 1.72, 1.30"),
    "memory": ("Time: 00:07.246, Memory: 47.00 MB", "Time: 00:08.747, Memory: 49.50 MB"),
    "shell": ("<shellId: 7 completed with exit code 0>", "<shellId: 8 completed with exit code 0>"),
    "shell_line": ("/bin/bash: line 14: foo: not found", "/bin/bash: line 17: foo: not found"),
    "elapsed": ('{"duration_ms": 12, "n": 1}', '{"duration_ms": 97, "n": 1}'),
    "counter": ("12 steps left", "11 steps left"),
    "time": ("at 2026-11-22T10:00:01Z", "at 2026-11-23T11:30:59Z"),
    "address": ("object at 0x7f3a2b1c", "object at 0x7f3a2b9d"),
    "duration": ("4 passed in 1.94s", "4 passed in 2.10s"),
}


def test_each_rule_has_its_example() -> None:
    """No rule is without a text that shows it."""
    assert list(PAIRS) == [rule.id for rule in KNOWN_NOISE]


@pytest.mark.parametrize("rule", PAIRS)
def test_known_noise_is_taken_out(rule: str) -> None:
    """Texts that differ in it alone are the same without it, and its name stands in its place."""
    one, other = PAIRS[rule]
    assert without_noise(one) == without_noise(other)
    assert f"<{rule}>" in without_noise(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 failed", "2 failed"),
        ("40 % done", "41 % done"),
        ("row 17", "row 18"),
        ("version 1.94", "version 1.95"),
        ("port 8080", "port 8081"),
        ("src/tmp.py", "src/tmq.py"),
        ("5 stars", "6 stars"),
        ("ratio 16:9", "ratio 4:3"),
        ("seed 30412", "seed 881"),
        ("leaves at 12:30", "leaves at 13:15"),
        ("localhost:3000", "localhost:3001"),
        ("12,345 rows", "12,346 rows"),
    ],
)
def test_what_counts_something_stays(one: str, other: str) -> None:
    """Numbers that count, versions, ports and names are no noise, nor are they generated."""
    assert without_noise(one) != without_noise(other)
    assert without_fresh_names(one) != without_fresh_names(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pod web-7d9f8c6b5-x2k4q failed", "pod web-5c8d7f9a4-z8m3p failed"),
        ("receipt 88120394", "receipt 88120395"),
        ("commit 9f8c6b5a", "commit 1e2d3c4b"),
    ],
)
def test_generated_names_are_the_second_degree(one: str, other: str) -> None:
    """They are no known noise, but are taken out where names are."""
    assert without_noise(one) != without_noise(other)
    assert without_fresh_names(one) == without_fresh_names(other)


@pytest.mark.parametrize("name", ["sha256", "utf8", "v2", "python3", "2026", "decade", "facade"])
def test_names_that_people_give(name: str) -> None:
    """A version or a year in a name does not make it generated."""
    assert not is_generated(name)
