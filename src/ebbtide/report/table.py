"""Tables of the page that a click opens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ebbtide.report.markup import Markup, element


def table(
    title: str,
    headers: Sequence[str],
    rows: Sequence[Iterable[str]],
    *,
    words: Collection[str] = (),
    most: int | None = None,
) -> Markup:
    """Returns a table that is closed but for its title.

    Args:
        title: Text that opens it.
        headers: Names of the columns; one without a name heads nothing.
        rows: Cells, as text or markup.
        words: Names of the columns that hold words; the others hold numbers.
        most: Rows to show; None shows all.
    """
    classes = ["source" if name in words else "number" for name in headers]
    head = [
        element("th", name, scope="col", class_=kind) if name else element("td", class_=kind)
        for name, kind in zip(headers, classes, strict=True)
    ]
    body = [
        element(
            "tr",
            *(element("td", cell, dir="auto", class_=kind) for cell, kind in zip(row, classes, strict=True)),
        )
        for row in rows[:most]
    ]
    omitted = len(rows) - len(body)
    return element(
        "details",
        element("summary", title),
        element(
            "div",
            element("table", element("thead", element("tr", *head)), element("tbody", *body)),
            class_="scroll",
            tabindex="0",
            role="group",
            aria_label=title,
        ),
        element("p", f"{omitted:,} more are not shown.", class_="quiet") if omitted else None,
        class_="table",
    )
