"""Requests that nobody thought of, made from the OpenAPI document: none is a fault of the service."""

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

EXAMPLES = 15  # of each route: some seconds in all


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    """A body that is said to be a text."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


LEFT_OUT = "/v1/stream"  # it does not end


@pytest.mark.filterwarnings("ignore")
def test_no_request_makes_it_fail(shared_service) -> None:
    """Every route answers whatever the document allows, and what it does not, without a 500."""
    schema = schemathesis.openapi.from_url(f"{shared_service.url}/openapi.json")
    shared_service.send("a", {"seq": 1, "kind": "tool", "name": "ls", "args": {}, "result": ""})
    routes = [result.ok() for result in schema.get_all_operations()]
    assert len(routes) >= 12
    for route in routes:
        if route.path != LEFT_OUT:
            call_often(route)
    faults = httpx.get(f"{shared_service.url}/healthz").json()["faults"]
    assert faults == {}


def call_often(route: schemathesis.schemas.APIOperation) -> None:
    """What the document allows, and what it does not."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(*(route.as_strategy(generation_mode=mode) for mode in GenerationMode)))
    def call(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=[not_a_server_error])

    call()
