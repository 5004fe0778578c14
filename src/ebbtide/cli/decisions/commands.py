"""`ebbtide decisions`: what an agent decided, behind a gate that keeps decisions and no noise."""

from __future__ import annotations

from ebbtide.cli.declaration import CommandGroup

_HERE = "ebbtide.cli.decisions"

app = CommandGroup(
    name="decisions",
    help="Record, find, review and exchange an agent's decisions.",
    places={
        "record": f"{_HERE}.recording:record",
        "think": f"{_HERE}.recording:think",
        "review": f"{_HERE}.recording:review",
        "amend": f"{_HERE}.recording:amend",
        "list": f"{_HERE}.browsing:list_decisions",
        "show": f"{_HERE}.browsing:show",
        "stats": f"{_HERE}.browsing:stats",
        "verify": f"{_HERE}.browsing:verify",
        "calibration": f"{_HERE}.calibrating:calibration",
        "audit": f"{_HERE}.cleaning:audit",
        "restore": f"{_HERE}.cleaning:restore",
        "purge": f"{_HERE}.cleaning:purge",
        "export": f"{_HERE}.exchange:export",
        "import": f"{_HERE}.exchange:import_files",
        "from": f"{_HERE}.from_trace:from_trace",
        "label": f"{_HERE}.labelling:label",
        "train": f"{_HERE}.training:train",
    },
)
