"""Findings that were accepted: `--write-baseline` and `--baseline`."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from ebbtide.cli.terminal import warn, write_text
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count
from ebbtide.settings_file import read_text
from ebbtide.supervision.ladder import Cause
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary

_SCHEMA = 1
_LARGEST = 64 << 20  # bytes
_LISTED = 5  # entries without a finding that are named
_STDIN = "<stdin>"


class AcceptedFinding(NamedTuple):
    """The part of a finding that stays the same when its run is recorded again.

    Args:
        run: The file of the run, from the folder of the baseline, with ``/``.
        rule: Kind of the finding.
        tools: Its tools, sorted.
    """

    run: str
    rule: str
    tools: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.rule}{' of ' * bool(self.tools)}{', '.join(self.tools)} in {self.run}"


class KnownFindings:
    """The findings of some runs that a baseline accepts.

    Args:
        findings: The source of the run, and the finding.
        file: The baseline; None where there is none.
    """

    def __init__(self, findings: Iterable[tuple[str, RunFinding]] = (), file: str | None = None) -> None:
        self.file = file
        self._findings = frozenset(findings)

    def __len__(self) -> int:
        return len(self._findings)

    def of(self, summary: RunSummary) -> frozenset[RunFinding]:
        """Those of a run."""
        return frozenset(item for item in summary.findings if (summary.source, item) in self._findings)


class Baseline:
    """Findings that were accepted, how many of each, and the file where they are kept."""

    def __init__(self, file: str, counts: Counter[AcceptedFinding]) -> None:
        self.file = file
        self._counts = counts

    @classmethod
    def load(cls, file: str) -> Self:
        """A baseline that was written.

        Raises:
            ConfigError: It cannot be read, or is none.
        """
        try:
            wire = json.loads(read_text(file, _LARGEST))
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file}: not a baseline: {error}") from error
        schema = wire.get("schema") if isinstance(wire, dict) else None
        items = wire.get("findings") if isinstance(wire, dict) else None
        if schema != _SCHEMA or not isinstance(items, list):
            raise ConfigError(f'{file}: not a baseline: expected {{"schema": {_SCHEMA}, "findings": [...]}}')
        counts: Counter[AcceptedFinding] = Counter()
        for number, item in enumerate(items):
            entry = _entry(item)
            if entry is None:
                raise ConfigError(
                    f"{file}: findings[{number}]: expected run, rule, tools and count, not {item!r:.80}"
                )
            counts[entry] += item["count"]
        return cls(file, counts)

    @classmethod
    def of(cls, file: str, summaries: Iterable[RunSummary]) -> Self:
        """A baseline of everything that was found, but for limits: those are to be raised."""
        return cls(
            file, Counter(_accepted(file, run, item) for run in summaries for item in _acceptable(run))
        )

    def write(self) -> None:
        """Write it to its file.

        Raises:
            ConfigError: It cannot be written.
        """
        wire = {
            "schema": _SCHEMA,
            "findings": [
                {"run": entry.run, "rule": entry.rule, "tools": list(entry.tools), "count": number}
                for entry, number in sorted(self._counts.items())
            ],
        }
        write_text(Path(self.file), json.dumps(wire, indent=2) + "\n")

    def known(self, summaries: Sequence[RunSummary]) -> KnownFindings:
        """Returns the findings that it accepts; of more than it accepts of one kind, the earliest."""
        rest = self._counts.copy()
        findings = []
        for run in summaries:
            for item in sorted(_acceptable(run), key=lambda finding: finding.first_event):
                entry = _accepted(self.file, run, item)
                if rest[entry] > 0:
                    rest[entry] -= 1
                    findings.append((run.source, item))
        self._tell_of_rest(rest, summaries)
        return KnownFindings(findings, self.file)

    def _tell_of_rest(self, rest: Counter[AcceptedFinding], summaries: Sequence[RunSummary]) -> None:
        """Warn of entries that match nothing; of runs that were not checked now, nothing is known."""
        runs = {_run(self.file, run.source) for run in summaries}
        folder = os.path.dirname(self.file)  # noqa: PTH120 - paths of a baseline are texts
        stale = sorted(
            entry
            for entry in +rest
            if entry.run in runs or not os.path.lexists(os.path.join(folder, entry.run))  # noqa: PTH118
        )
        for line in _listed(stale):
            warn(f"{self.file}: {line}")


def _listed(stale: Sequence[AcceptedFinding]) -> Iterator[str]:
    if not stale:
        return
    names = "; ".join(map(str, stale[:_LISTED]))
    more = f"; and {len(stale) - _LISTED:,} more" if len(stale) > _LISTED else ""
    number = count(len(stale), "entry matches", "entries match")
    yield f"{number} no finding now: {names}{more}. Update it with --write-baseline."


def _acceptable(run: RunSummary) -> list[RunFinding]:
    return [item for item in run.findings if item.cause is not Cause.LIMIT]


def _accepted(file: str, run: RunSummary, finding: RunFinding) -> AcceptedFinding:
    return AcceptedFinding(_run(file, run.source), finding.kind, tuple(sorted(set(finding.tools))))


def _run(file: str, source: str) -> str:
    if source == _STDIN:
        return source
    try:
        path = os.path.relpath(source, os.path.dirname(file) or os.curdir)  # noqa: PTH120
    except ValueError:  # another drive
        path = source
    return path.replace(os.sep, "/")


def _entry(item: Any) -> AcceptedFinding | None:
    """An entry of the file; None of what is none."""
    if not isinstance(item, dict):
        return None
    run, rule, tools, number = (item.get(key) for key in ("run", "rule", "tools", "count"))
    if not isinstance(run, str) or not isinstance(rule, str) or not isinstance(tools, list):
        return None
    if not all(isinstance(tool, str) for tool in tools) or type(number) is not int or number < 1:
        return None
    return AcceptedFinding(run, rule, tuple(sorted(set(tools))))
