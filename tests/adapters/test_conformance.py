"""Every adapter whose framework is installed passes the kit; `make test-adapters` installs them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from conformance.checks import run_checks
from conformance.harness import ADAPTERS, harness
from ebbtide.errors import ConfigError

NAMED = os.environ.get("EBBTIDE_ADAPTER")


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """Lets no switch of a framework, such as that of telemetry, reach other tests."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.filterwarnings("default")  # those of the frameworks
@pytest.mark.parametrize("name", ADAPTERS)
def test_the_adapter_passes_every_check(name: str) -> None:
    """On the framework's own offline model, in every way in which it starts runs."""
    if NAMED not in {None, name}:
        pytest.skip(f"this environment is for {NAMED}")
    try:
        framework = harness(name)
    except ConfigError as error:
        if name == NAMED:
            raise
        pytest.skip(str(error))
    results = list(run_checks(framework))
    assert len(results) >= len(framework.modes)
    assert [result for result in results if result.faults] == []
