"""What the service counts, read as Prometheus reads it."""

import json
import re
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

NAME = re.compile(r"\b(ebbtide_\w+)\b")
LABEL = re.compile(r"\{\{(\w+)\}\}|by \((\w+)\)|(\w+)=~?\"")


def samples(service) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = service.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(service, name: str, **labels: str) -> float | None:
    return samples(service).get((name, frozenset(labels.items())))


def spending_loop(price: float) -> list[dict[str, Any]]:
    return [
        {"seq": seq, "kind": "tool", "name": "ls", "args": {}, "result": "a.txt", "cost_usd": price}
        for seq in range(1, 8)
    ]


def test_what_happens_is_counted(service, wait_for) -> None:
    """Events once, money by agent and by kind of loop, runs as they stand, and each stop by its kind."""
    events = spending_loop(0.5)
    for event in events:
        service.send("a", event, agent="coder")
        service.send("a", event, agent="coder")  # as after an error
    service.check("a")
    service.send("b", events[0])
    service.client.post("/v1/runs/b/stop")
    assert value(service, "ebbtide_events_total") == 8
    assert value(service, "ebbtide_cost_usd_total", agent="coder") == 3.5
    assert 0 < value(service, "ebbtide_wasted_usd_total", kind="repeat") <= 3.5
    assert value(service, "ebbtide_nudges_total") == 1
    assert value(service, "ebbtide_stops_total", kind="repeat") == 1
    assert value(service, "ebbtide_stops_total", kind="person") == 1
    wait_for(lambda: value(service, "ebbtide_runs", state="stuck") == 1)  # it is written a little later
    assert value(service, "ebbtide_runs", state="stopped") == 1
    assert value(service, "ebbtide_check_seconds_count") == 1
    assert value(service, "ebbtide_queue_jobs") is not None


def test_no_label_grows_without_bound(service) -> None:
    """No run is a label, and of the agents that come late there is one."""
    for number in range(80):
        event = {
            "seq": 1,
            "kind": "llm",
            "model": "m",
            "cost_usd": 0.1,
            "input_tokens": 1,
            "output_tokens": 1,
        }
        service.send(f"run-{number}", event, agent=f'agent \\ "{number}' + "x" * 100)
    text = service.client.get("/metrics").text
    assert "run-" not in text
    costs = {
        labels: cost for (name, labels), cost in samples(service).items() if name == "ebbtide_cost_usd_total"
    }
    assert len(costs) == 51
    assert abs(costs[frozenset({("agent", "others")})] - 3.0) < 1e-6


def test_the_dashboard_asks_for_what_is_there(service, project: Path) -> None:
    """Every metric and label of the panels exists, and the scrape example reads this path."""
    service.send("a", *spending_loop(0.5), agent="coder")
    service.send("a", *({**event, "seq": event["seq"] + 7} for event in spending_loop(0.5)), agent="coder")
    folder = project / "examples" / "grafana"
    dashboard = json.loads((folder / "ebbtide.json").read_text(encoding="utf-8"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert len(targets) >= 8
    text = service.client.get("/metrics").text
    families = {family.name for family in text_string_to_metric_families(text)}
    labels: dict[str, set[str]] = {}
    for name, pairs in samples(service):
        labels.setdefault(name, set()).update(label for label, _ in pairs)
    for target in targets:
        names = NAME.findall(target["expr"])
        by = {
            label for match in LABEL.findall(f"{target['expr']} {target['legendFormat']}") for label in match
        }
        assert names
        for name in names:
            assert {name, re.sub(r"_(total|bucket|count|sum)$", "", name)} & families, name
            assert by - {""} <= labels.get(name, by), target
    scrape = yaml.safe_load((folder / "prometheus.yml").read_text(encoding="utf-8"))
    assert scrape["scrape_configs"][0]["metrics_path"] == "/metrics"


def test_metrics_want_the_token(start) -> None:
    service = start("--token", "a-token-for-tests-alone")
    assert service.client.get("/metrics").status_code == 401
