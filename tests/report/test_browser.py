"""The page in a real browser."""

import dataclasses
import itertools
from collections import Counter

from ebbtide.budget.limits import Limits
from ebbtide.report.page import page

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    '<svg onload="document.title=\'owned\'">" autofocus onfocus="document.title=\'owned\'" \x1b[2J \u202eevil'
)


def elements(path) -> Counter[str]:
    """How often each element is there."""
    return Counter(path.evaluate("[...document.querySelectorAll('*')].map(node => node.localName)"))


def test_the_page_comes_up_with_its_timeline_and_charts(pages, make_stuck) -> None:
    """The scripts run under the page's own policy: a timeline with a cell in focus, two charts, a legend."""
    with pages.opened(page([make_stuck(60)], limits=Limits(cost_usd=5.0))) as path:
        assert elements(path)["canvas"] == 3
        slider = path.get_by_role("slider")
        assert slider.get_attribute("aria-valuemax") == "60"
        assert "web_search" in slider.get_attribute("aria-valuetext")
        assert path.get_by_text("coloured: repeats closely").is_visible()
        assert path.get_by_role("button", name="27 in all").count() == 1
        assert path.get_by_text("1 of 27 equal").is_visible()


def test_hostile_text_stays_text(pages, make_stuck) -> None:
    """A run full of scripts, handlers and escape sequences runs none of them and adds no element."""
    with pages.opened(page([make_stuck(60, text=" tame")])) as path:
        tame = elements(path)
    with pages.opened(page([make_stuck(60, text=HOSTILE)])) as path:
        assert "owned" not in path.title().replace("document.title='owned'", "")
        assert path.title().startswith("STUCK: ")
        assert elements(path) == tame
        text = path.inner_text("body")
        assert "<img src=x onerror=" in text
        assert "\x1b" not in text


def lone_loop(make_stuck, count: int = 20_000, start: int = 11_001, length: int = 400):
    """A run in which two calls alternate for a while, and nothing else repeats closely."""
    cells = [
        dataclasses.replace(
            cell,
            identity=cell.number % 2 if start <= cell.number < start + length else 2 + cell.number % 300,
        )
        for cell in make_stuck(count).timeline
    ]
    return make_stuck(count, timeline=tuple(cells), findings=())


def test_a_loop_of_four_hundred_stands_out_of_twenty_thousand_calls(pages, make_stuck) -> None:
    """The strip is coloured to its top where the loop is, labelled, and low and grey everywhere else."""
    with pages.opened(page([lone_loop(make_stuck)])) as path:
        # For each column of pixels, the share of those between the lane and the feet that are no grey.
        colours = path.evaluate(
            """() => {
                const canvas = document.querySelector(".strip canvas");
                const { data, width } = canvas.getContext("2d").getImageData(0, 30, canvas.width, 45);
                return Array.from({ length: width }, (_, x) => {
                    let coloured = 0;
                    for (let y = 0; y < 45; y++) {
                        const at = 4 * (y * width + x);
                        const [red, green, blue, alpha] = data.slice(at, at + 4);
                        if (alpha && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) coloured++;
                    }
                    return coloured / 45;
                });
            }"""
        )
        full = [x / len(colours) for x, share in enumerate(colours) if share > 0.9]
        assert 0.01 < len(full) / len(colours) < 0.04
        assert 0.54 < min(full) < max(full) < 0.58
        assert sum(share > 0.1 for share in colours) - len(full) <= 8
        slider = path.get_by_role("slider")
        assert slider.get_attribute("aria-valuenow") == "11001"


def test_a_click_on_the_strip_goes_there(pages, make_stuck) -> None:
    """The cells show what was pointed at, and the keys go on from there."""
    with pages.opened(page([lone_loop(make_stuck)])) as path:
        box = path.locator(".strip canvas").bounding_box()
        path.mouse.click(box["x"] + box["width"] / 4, box["y"] + 40)
        slider = path.get_by_role("slider")
        assert abs(int(slider.get_attribute("aria-valuenow")) - 5_000) < 30
        slider.focus()
        path.keyboard.press("ArrowRight")
        assert abs(int(slider.get_attribute("aria-valuenow")) - 5_000) < 31


def test_paper_is_white(pages, make_stuck) -> None:
    """In the dark too, what is drawn for paper is drawn in the colours of the day, and goes back after it."""
    shade = """() => {
        const canvas = document.querySelector(".timeline canvas");
        const { data } = canvas.getContext("2d").getImageData(4, 0, 1, canvas.height);
        const first = [...Array(canvas.height).keys()].find(y => data[4 * y + 3] === 255);
        return data[4 * first] + data[4 * first + 1] + data[4 * first + 2];
    }"""
    frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    # The first event is a message that comes once: grey.
    with pages.opened(page([make_stuck(60)]), scheme="dark") as path:
        dark = path.evaluate(shade)
        path.evaluate("dispatchEvent(new Event('beforeprint'))")
        path.evaluate(frame)
        assert path.evaluate(shade) > dark + 150
        path.evaluate("dispatchEvent(new Event('afterprint'))")
        path.evaluate(frame)
        assert path.evaluate(shade) == dark


def test_words_on_the_chart_of_rounds_do_not_touch(pages, make_stuck) -> None:
    """Signals that come close together are written below each other, or left out."""
    signals = ["CONTINUE", "SHIP", "CONTINUE", "ESCALATE", "SHIP", "ESCALATE", "SHIP", "CONTINUE", "ESCALATE"]
    rounds = make_stuck(60).rounds[: len(signals)]
    rounds = [
        dataclasses.replace(point, signal=signal) for point, signal in zip(rounds, signals, strict=True)
    ]
    note = """
        window.words = [];
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            if (["ready", "nothing new"].includes(text)) {
                const { width } = this.measureText(text);
                const left = this.textAlign === "right" ? x - width : x;
                window.words.push([left, left + width, y - 11, y, text]);
            }
            return write.call(this, text, x, y);
        };
    """
    with pages.opened(page([make_stuck(60, rounds=tuple(rounds))]), width=390, before=note) as path:
        words = path.evaluate("window.words")
    assert {word[4] for word in words} == {"ready", "nothing new"}
    for one, other in itertools.combinations(words, 2):
        apart = one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
        assert apart or one == other, (one, other)


def test_twenty_thousand_calls_come_up(pages, make_stuck) -> None:
    """A run of twenty thousand calls is drawn, and its last call can be reached."""
    with pages.opened(page([make_stuck(20_000)])) as path:
        slider = path.get_by_role("slider")
        slider.focus()
        path.keyboard.press("End")
        assert slider.get_attribute("aria-valuenow") == "20000"
