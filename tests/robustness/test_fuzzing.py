"""Nothing escapes: odd events, misused objects and mutated states, with a small budget.

`python -m benchmarks.quality.fuzzing` does the same a hundred thousand times.
"""

import copy
import json
import pickle
import random
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.quality import fuzzing
from ebbtide import ConvergenceMeter, LoopMonitor, Supervisor
from ebbtide.engine_state import sealed
from ebbtide.errors import ConfigError, EbbtideError


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("case", fuzzing.CASES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_nothing_but_our_own_errors_escapes(case: str, seed: int) -> None:
    """Whatever is handed over, a public call gives an EbbtideError, a TypeError, or nothing."""
    with suppress(EbbtideError, TypeError):
        fuzzing.CASES[case](random.Random(seed))  # noqa: S311


@pytest.mark.parametrize("index", range(len(fuzzing.STATES)))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_a_state_that_was_changed_is_refused(index: int, seed: int) -> None:
    """Any leaf that was replaced, deleted or doubled makes it a ConfigError, at once and with the reason."""
    make, state = fuzzing.STATES[index]
    other = fuzzing.mutated(index, random.Random(seed))  # noqa: S311
    try:
        same = sealed(other) == sealed(json.loads(json.dumps(state)))
    except Exception:  # noqa: BLE001 - it is no plain data
        same = False
    if not same:
        with pytest.raises(ConfigError):
            make(other)


@pytest.mark.parametrize("index", range(len(fuzzing.STATES)))
def test_a_state_goes_through_json_and_any_order_of_keys(index: int) -> None:
    """What a store gives back is the same state: numbers, half surrogates and the order of keys too."""
    make, state = fuzzing.STATES[index]

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    assert make(turned(json.loads(json.dumps(state)))).to_state() == state


@pytest.mark.parametrize("kind", [Supervisor, LoopMonitor, ConvergenceMeter])
@pytest.mark.parametrize("odd", [None, 7, "text", b"", [], {}, {"schema": 3}, object(), fuzzing.Hostile()])
def test_what_is_no_state_is_refused(kind: Any, odd: Any) -> None:
    """Anything else is a ConfigError."""
    with pytest.raises(ConfigError):
        kind.from_state(odd)
    with pytest.raises(ConfigError):
        kind.from_bytes(odd)


def test_a_state_that_explodes_is_refused_in_time() -> None:
    """Few bytes that unfold to many, and a small object that prints without an end."""
    import zlib
    from hashlib import blake2b

    body = zlib.compress(b'{"a":"' + b"x" * 200_000_000 + b'"}', 9)
    bomb = b"EBBL\x03" + blake2b(body, digest_size=8).digest() + body
    laughs = fuzzing._laughs()
    start = time.perf_counter()
    with pytest.raises(ConfigError, match="without an end"):
        LoopMonitor.from_bytes(bomb)
    with pytest.raises(ConfigError):
        LoopMonitor.from_state({"schema": 3, "chains": laughs, "seal": ""})
    assert time.perf_counter() - start < 4


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 30), at=st.integers(0, 20))
def test_a_copy_at_any_point_goes_on_with_equal_signals(seed: int, at: int) -> None:
    """copy, deepcopy and pickle give a monitor that knows the same, and shares nothing."""
    chance = random.Random(seed)  # noqa: S311
    events = [fuzzing.odd_event(chance) for _ in range(21)]
    monitor = LoopMonitor()
    for event in events[:at]:
        monitor.update(event)
    twins = [copy.copy(monitor), copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))]  # noqa: S301
    signals = [monitor.update(event) for event in events[at:]]
    for twin in twins:
        assert [twin.update(event) for event in events[at:]] == signals
        assert json.loads(json.dumps(twin.to_state())) == json.loads(json.dumps(monitor.to_state()))
