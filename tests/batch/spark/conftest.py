"""One session of Spark for all tests of this folder: it takes long to start."""

import os

import pytest

from benchmarks.spark_session import local_spark


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Spark on two cores, with four parts of each shuffle."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark")
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("one process, so that one Spark is started: make test-spark")
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state."
        "RocksDBStateStoreProvider",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    session = local_spark(folder, settings)
    yield session
    session.stop()
