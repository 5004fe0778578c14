"""Runs as the rows of one table, an event a row: python runs_as_rows.py OUTPUT.jsonl FILE|DIR|URL..."""

import json
import sys
from pathlib import Path

from ebbtide import EbbtideError, open_trace
from ebbtide.batch.archive.archive_files import files_at
from ebbtide.events.event import Event
from ebbtide.events.event_json import event_wire

if __name__ == "__main__":
    output, *names = sys.argv[1:]
    with Path(output).open("w", encoding="utf-8") as table:
        for file in files_at(names):
            try:
                events = [event_wire(item) for item in open_trace(file.run.source) if isinstance(item, Event)]
            except EbbtideError as error:
                print(str(error).partition("\n")[0], file=sys.stderr)
                continue
            for step, event in enumerate(events):
                if not isinstance(event.get("result"), str | None):
                    event["result"] = json.dumps(event["result"])
                print(json.dumps({"run": file.run.source, "step": step, **event}), file=table)
