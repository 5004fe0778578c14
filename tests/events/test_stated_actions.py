"""Actions that are told in words."""

import pytest

from ebbtide.events.stated_actions import StatedAction, ordered_agent, stated_action

PAGE = "\n\nHere is a picture of [The Shop (new)](https://shop.example/list?page=2#top). The view shows 9%"
VIEW = f"{PAGE} of the webpage, and is positioned 17% down from the top of the page.\nThe page shows: lamps"


@pytest.mark.parametrize(
    ("text", "verb", "target"),
    [
        ("I clicked 'Next'.", "click", "next"),
        ("I clicked on 'Next'.", "click", "next"),
        ("I clicked the control.", "click", "the control"),
        ("I typed 'lamps' into 'Search'.", "type", "lamps' into 'search"),
        ("I input '01/01/2000'.", "type", "01/01/2000"),
        ("I scrolled down one page in the browser.", "scroll", "down one page in the browser"),
        ("I have navigated to https://shop.example/", "open", "https://shop.example/"),
        ("I've visited the shop.", "open", "the shop"),
        ("I searched for 'lamps'.", "search", "lamps"),
        ("I executed the following code:\n```\nls\n```", "run", ""),
        ("I downloaded lamps.csv", "download", "lamps.csv"),
        ("I waited 5 seconds.", "wait", "seconds"),
        (
            "Address: file:///data/a.csv\nTitle: A\nViewport position: Showing page 1 of 1.",
            "open",
            "file:///data/a.csv",
        ),
    ],
)
def test_an_action_is_read_where_a_message_begins_with_it(text: str, verb: str, target: str) -> None:
    action = stated_action(text)
    assert action is not None
    assert (action.verb, action.target) == (verb, target)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I",
        "I will click 'Next'.",
        "I could have clicked 'Next'.",
        "I think that the shop is closed.",
        "I ran into a problem with the search.",
        "I executed your plan.",
        "It is done. I clicked 'Next'.",
        "\"I clicked 'Next'\", says the page.",
        "Please click 'Next'.",
        "You clicked 'Next'.",
        "Address: ",
        "Addresses are stored in the table.",
    ],
)
def test_anything_else_tells_no_action(text: str) -> None:
    assert stated_action(text) is None


def test_the_page_that_an_action_led_to_is_read() -> None:
    assert stated_action(f"I clicked 'Next'.{VIEW}") == StatedAction(
        verb="click",
        target="next",
        title="The Shop (new)",
        address="https://shop.example/list?page=2#top",
        position="17% down from the top of the page",
        content=f"I clicked 'Next'.{VIEW}",
    )


def test_what_a_page_shows_stands_behind_what_is_told_of_it() -> None:
    text = f"I clicked 'Next'.{PAGE}\nAutomatic OCR of the page has detected the following text:\n\nLamps"
    visited = (
        "Address: file:///a.csv\nTitle: A\nYou previously visited this page 12 seconds ago.\n=====\nrows"
    )
    assert [getattr(stated_action(each), "content", None) for each in (text, visited)] == ["Lamps", "rows"]


@pytest.mark.parametrize(
    ("address", "place", "page", "shows_results"),
    [
        ("https://Shop.example/list?session=1#top", "shop.example", "T https://Shop.example/list", False),
        ("https://find.example/search?q=lamps", "find.example", "T https://find.example/search", True),
        ("https://find.example/?query=lamps", "find.example", "T https://find.example/", True),
        ("file:///data/a.csv", "file:///data/a.csv", "T file:///data/a.csv", False),
        (None, None, None, False),
    ],
)
def test_a_page_is_known_by_title_and_address_without_its_query(
    address: str | None,
    place: str | None,
    page: str | None,
    shows_results: bool,
) -> None:
    action = StatedAction(verb="open", target="", title="T", address=address)
    assert (action.place, action.page, action.shows_results) == (place, page, shows_results)


@pytest.mark.parametrize(
    ("agent", "ordered"),
    [
        ("Orchestrator (-> WebSurfer)", "WebSurfer"),
        ("Lead ( ->  the surfer )", "the surfer"),
        ("Orchestrator (thought)", None),
        ("a -> b", None),
        ("WebSurfer", None),
        (None, None),
    ],
)
def test_an_order_names_the_agent_that_it_is_given_to(agent: str | None, ordered: str | None) -> None:
    assert ordered_agent(agent) == ordered
