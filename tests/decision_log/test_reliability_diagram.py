"""The reliability diagram as SVG, page and text."""

from html.parser import HTMLParser

import pytest

from ebbtide.decision_log.calibration.calibrate import calibrate_decisions
from ebbtide.decision_log.calibration.diagram import reliability_html, reliability_lines, reliability_svg
from ebbtide.decision_log.calibration.reliability import Binning
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, DecisionScope, Review, Status
from ebbtide.decisions.candidate import Candidate


class Elements(HTMLParser):
    """The elements of a drawing, with their attributes and their text; each has to be closed."""

    def __init__(self, picture):
        super().__init__()
        self.found = []
        self.open = []
        self.feed(picture)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append({"tag": tag, "text": "", **dict(attrs)})
        self.open.append(self.found[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        if self.open:
            self.open[-1]["text"] += data

    def all(self, tag, **attributes):
        return [part for part in self.found if part["tag"] == tag and attributes.items() <= part.items()]


def decisions():
    """Said 0.7 thirty times and right 21 times, said 0.95 thirty times and right 15 times."""
    rows = []
    for confidence, right in ((0.7, 21), (0.95, 15)):
        for at in range(30):
            outcome = DecisionOutcome.SUCCESS if at < right else DecisionOutcome.FAILURE
            rows.append(
                Decision(
                    id=f"{confidence}-{at}",
                    scope=DecisionScope(),
                    candidate=Candidate(description="x", confidence=confidence),
                    status=Status.KEPT,
                    opened_at=float(len(rows)),
                    reviews=(Review(outcome=outcome, by="ann", ts=99.0),),
                )
            )
    return rows


@pytest.mark.clause("Q18")
def test_text():
    """A line a bin: the count, what was said, what turned out right and its interval."""
    lines = reliability_lines(calibrate_decisions(decisions()))
    assert lines[:5] == [
        "  confidence      n   said  right  0                  0.5                  1",
        "0.60 to 0.70     30   0.70   0.70                       -------*-----",
        "0.90 to 1.00     30   0.95   0.50               -------o-------          x",
        "",
        "o what turned out right, x what was said, * both, - the 95 % interval",
    ]
    assert "calibration error 0.225" in lines
    assert max(map(len, lines)) <= 80


@pytest.mark.clause("Q18")
def test_svg():
    """A point a bin at what was said and what turned out right, with its interval, on a scale that fits."""
    picture = reliability_svg(calibrate_decisions(decisions()), "Alice & <Bob>")
    parts = Elements(picture)
    assert [title["text"] for title in parts.all("title")] == [
        "Alice & <Bob>",
        "said 0.70, right 0.70 of 30",
        "said 0.95, right 0.50 of 30",
    ]
    assert "calibration error 0.225" in parts.all("desc")[0]["text"]
    points = parts.all("circle")
    (even,) = parts.all("line", **{"class": "even"})
    left_edge, foot, right, top = (float(even[name]) for name in ("x1", "y1", "x2", "y2"))
    for point, confidence, rate in zip(points, (0.7, 0.95), (0.7, 0.5), strict=True):
        assert float(point["cx"]) == pytest.approx(left_edge + confidence * (right - left_edge), abs=0.1)
        assert float(point["cy"]) == pytest.approx(foot + rate * (top - foot), abs=0.1)
    assert len(parts.all("rect", **{"class": "bar"})) == 2
    assert "prefers-color-scheme: dark" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", ""), "it needs nothing else"


def test_one_confidence_has_a_bar_too():
    """Distinct bins have no width, and are drawn all the same."""
    parts = Elements(reliability_svg(calibrate_decisions(decisions(), binning=Binning.DISTINCT)))
    assert [bar["width"] for bar in parts.all("rect", **{"class": "bar"})] == ["4.0", "4.0"]
    assert reliability_lines(calibrate_decisions(decisions(), binning=Binning.DISTINCT))[1].startswith(
        "        0.70     30"
    )


def test_page():
    """The page holds the diagram and the numbers of each bin, and asks for nothing else."""
    page = reliability_html(calibrate_decisions(decisions()), "<script>")
    assert "<svg" in page
    assert "<script>" not in page
    assert "<td>0.90 to 1.00</td><td>30</td><td>0.950</td><td>0.500</td><td>0.332 to 0.668</td>" in page


def test_nothing_to_draw():
    """Without forecasts every form says so."""
    calibration = calibrate_decisions([])
    assert reliability_lines(calibration) == ["no forecasts among 0 decisions"]
    assert "no forecasts among 0 decisions" in reliability_svg(calibration)
    assert "no forecasts among 0 decisions" in reliability_html(calibration)


def test_a_change_is_told():
    """Where the errors changed, the diagram says from what to what."""
    for below, drifts in ((1.0, True), (0.0, False)):
        lines = reliability_lines(calibrate_decisions(decisions(), drift_below=below))
        assert any(line.startswith("errors changed: ") for line in lines) is drifts


def test_a_title_that_no_file_can_hold():
    """Control characters and half a character are shown as what they are: unreadable."""
    picture = reliability_svg(calibrate_decisions(decisions()), "a\x00b\ud800c")
    assert "<title>a\ufffdb\ufffdc</title>" in picture.encode().decode()
