"""What runs cost on paper: the arithmetic that says when Spark pays."""

import argparse

import pytest

fleet = pytest.importorskip("benchmarks.speed.fleet", reason="benchmarks are not in the package")

MEASURED = {
    "cores": 2,
    "start_s": 10.0,
    "sizes": [
        {"runs": 100, "events": 5_000, "pool_s": 9.0, "spark_s": 9.0},
        {"runs": 1_000, "events": 50_000, "pool_s": 5.0, "spark_s": 10.0},
    ],
}


@pytest.mark.parametrize(
    ("spark_cores", "start_s", "pays_above"), [(64, None, 32_000), (64, 20.0, 64_000), (8, 0.0, None)]
)
def test_the_size_at_which_spark_pays(
    spark_cores: int, start_s: float | None, pays_above: int | None
) -> None:
    """At that size both take equally long, by the rates of the largest archive; with few cores never."""
    options = argparse.Namespace(
        machine_cores=16, spark_cores=spark_cores, spark_start=start_s, core_hour=0.36
    )
    paper = fleet.on_paper(MEASURED, options)
    assert paper["runs_per_core_second"] == {"pool": 100.0, "spark": 50.0}
    assert paper["spark_pays_above_runs"] == pays_above
    machine = fleet.Engine(name="one machine", cores=16, rate=100.0)
    cluster = fleet.Engine(name="Spark", cores=spark_cores, rate=50.0, start_s=paper["start_s"])
    if pays_above is not None:
        assert machine.seconds(pays_above) == pytest.approx(cluster.seconds(pays_above))
    assert machine.dollars(1_000_000, 0.36) == pytest.approx(1.0)
    assert cluster.dollars(1_000_000, 0.36) == pytest.approx(2.0 + spark_cores * paper["start_s"] * 1e-4)
