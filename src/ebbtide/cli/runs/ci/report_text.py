"""The result of a check as one text, in the format of a CI system."""

from __future__ import annotations

from typing import assert_never

from ebbtide.cli.runs.ci.check_format import CheckFormat
from ebbtide.cli.runs.ci.checked_runs import CheckedRuns


def report_text(checked: CheckedRuns, form: CheckFormat) -> str:
    """A result in one of the formats that are written in one piece.

    Args:
        checked: The result.
        form: Not TEXT, JSON or CSV, which `checking` prints itself.
    """
    match form:
        case CheckFormat.GITHUB:
            from ebbtide.cli.runs.ci.markdown import github_annotations

            return github_annotations(checked)
        case CheckFormat.JUNIT:
            from ebbtide.cli.runs.ci.markdown import junit_xml

            return junit_xml(checked)
        case CheckFormat.SARIF:
            from ebbtide.cli.runs.ci.sarif import sarif

            return sarif(checked)
        case CheckFormat.MARKDOWN:
            from ebbtide.cli.runs.ci.markdown import markdown

            return markdown(checked)
        case CheckFormat.TEXT | CheckFormat.JSON | CheckFormat.CSV:
            raise ValueError(form)
        case _ as unknown:
            assert_never(unknown)
