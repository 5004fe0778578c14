"""Runs that share a key of a stream's state: nothing of one is lost or mixed up with another's."""

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.batch.spark.spark_stream import RunBucket, StreamedRun

RUNS = st.builds(
    StreamedRun, state=st.binary(max_size=40), heard_ms=st.integers(0, 1 << 50), is_silent=st.booleans()
)
BUCKETS = st.builds(
    RunBucket,
    runs=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), RUNS, max_size=6),
    timer_ms=st.none() | st.integers(0, 1 << 50),
)


@given(bucket=BUCKETS)
def test_bytes_carry_a_bucket(bucket):
    """Any ids, empty states too, in the same order."""
    again = RunBucket.from_bytes(bucket.to_bytes())
    assert again == bucket
    assert list(again.runs) == list(bucket.runs)


@given(bucket=BUCKETS, before_ms=st.integers(0, 1 << 50))
def test_a_run_is_told_silent_once_until_it_is_heard(bucket, before_ms):
    """Those that are silent for so long and were not told; then the next one is later."""
    due = {run_id for run_id, run in bucket.runs.items() if run.heard_ms <= before_ms and not run.is_silent}
    assert {run_id for run_id, _ in bucket.silent(before_ms)} == due
    assert not list(bucket.silent(before_ms))
    next_ms = bucket.first_heard_ms()
    assert next_ms is None or next_ms > before_ms


def test_what_was_not_heard_for_long_is_forgotten():
    """One that was heard at the very time stays."""
    bucket = RunBucket(runs={name: StreamedRun(state=b"", heard_ms=ms) for name, ms in (("a", 4), ("b", 5))})
    bucket.forget(5)
    assert list(bucket.runs) == ["b"]
