"""Renders the results of an archive as one HTML file."""

from __future__ import annotations

from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import sentences, tables
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.report.markup import document, element, table
from ebbtide.report.plurals import count

_STYLES = ("page.css", "overview.css")
_ROWS = 100


def archive_page(summary: ArchiveSummary, source: str) -> str:
    """The page: sentences, and tables to open."""
    title = f"{count(summary.runs[ResultStatus.CHECKED], 'run')} in {source}"
    first, *more = sentences(summary)
    return document(
        title,
        element(
            "main",
            element(
                "section",
                element("h1", title),
                element("p", first, class_="statement"),
                *(element("p", sentence) for sentence in more),
            ),
            *(
                element("section", table(item.title, item.headers, item.rows, words=item.words, most=_ROWS))
                for item in tables(summary)
            ),
            id="main",
        ),
        element(
            "footer",
            element(
                "p",
                "Runs count to the agent and the model that took most of them. Weeks are ISO weeks, in UTC.",
            ),
            element("p", "Ebbtide does not check whether an answer is right: verify before you act."),
        ),
        styles=_STYLES,
    )
