"""What is deleted is gone from the disk, by whoever it was deleted; that it was stays in the audit."""

from pathlib import Path
from typing import Any

PRIVATE = "the diagnosis of one patient"


def event(seq: int, result: str) -> dict[str, Any]:
    return {"seq": seq, "kind": "tool", "name": "read", "args": {"n": seq}, "result": result}


def files_with(folder: Path, text: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if text.encode() in path.read_bytes()]


def test_what_a_person_deletes_leaves_no_trace(start) -> None:
    service = start()
    service.send("other", *(event(seq, "x" * 50) for seq in range(50)))
    service.send("patient", *(event(seq, f"{PRIVATE} {seq}") for seq in range(50)))
    assert files_with(service.folder, PRIVATE)
    assert service.client.delete("/v1/runs/patient", params={"by": "Ada"}).status_code == 204
    assert files_with(service.folder, PRIVATE) == []
    assert service.get("/v1/runs/other")["events"] == 50
    (entry,) = service.get("/v1/audit", run_id="patient")["entries"]
    assert (entry["act"], entry["caller"]) == ("delete", "Ada (127.0.0.1)")


def test_what_was_silent_for_long_is_deleted_and_told(start) -> None:
    service = start()
    service.send("old", event(1, PRIVATE))
    service.end()
    service.options = ("--keep-days", "0")
    service.start()
    for _ in range(100):
        entries = service.get("/v1/audit")["entries"]
        if entries:
            break
    assert [(entry["act"], entry["run_id"], entry["caller"]) for entry in entries] == [
        ("expire", "old", "service")
    ]
    assert service.client.get("/v1/runs/old").status_code == 404
    assert files_with(service.folder, PRIVATE) == []
