"""Actions that an agent narrates in its words, where nobody recorded its calls, and orders to other agents.

"I clicked 'Next'. Here is a screenshot of [title](address) ..." is a call of ``click`` with what came of it.
It is read only where a message begins so: what stands later in a text is a report, a quotation or a plan. A
narration is no record: the agent may be wrong about what it did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_LINE = 300  # characters of the first line, and of a page's title
_HEAD = 4_000  # characters of a message in which its page is looked for
_CONTENT = 6_000  # characters of a page that are kept
_ADDRESS = 2_000  # characters of an address

#: What an agent says that it did, by the name of the action.
STATED_ACTIONS: Final = {
    "click": r"(?:clicked|pressed|tapped|selected|hovered)(?: on| over)?",
    "type": r"(?:typed|input|inputted|entered|filled)(?: in)?",
    "scroll": r"scrolled",
    "search": r"(?:searched|googled|queried)(?: for)?",
    "open": r"(?:opened|visited|navigated to|went to|browsed to|followed|refreshed|reloaded)",
    "run": r"(?:ran|executed) the (?:following )?(?:code|command|script|query)",
    "download": r"(?:downloaded|saved)",
    "summarize": r"summari[sz]ed the (?:page|web ?page|site)",
    "wait": r"(?:waited|slept|paused) (?:for )?\d",
}
_STATED = re.compile(
    r"I(?: have|['\u2019]ve)? (?:just |now |then |successfully )?(?:"
    + "|".join(f"(?P<{verb}>{words})" for verb, words in STATED_ACTIONS.items())
    + r")(?!\w)"
)
_PAGE = re.compile(rf"\[([^\n]{{0,{_LINE}}}?)\]\((\w+:[^\s)]{{1,{_ADDRESS}}})")
_POSITION = re.compile(r"positioned ([^\n.]{1,80})|Viewport position: ([^\n]{1,80})")
_OPENED = re.compile(rf"Address: (\S{{1,{_ADDRESS}}})\s*(?:\nTitle: ([^\n]{{0,{_LINE}}}))?")
_VISITED = re.compile(r"\nYou previously visited this page [^\n]*")
_BEFORE_CONTENT = re.compile(r"detected the following text:|\n=+\n")
_QUERY = re.compile(r"[?#].*")
_PLACE = re.compile(r"\w+:/{2,}([^/?#\s]+)")
_RESULTS = re.compile(r"/search\b|[?&](?:q|query|search)=", re.IGNORECASE)
_ORDER = re.compile(r"\(\s{0,9}->\s{0,9}([^()]{1,200}?)\s{0,9}\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAction:
    """Action as its agent narrates it.

    Args:
        verb: The id of a rule for what was done.
        target: The object of the action, in small letters.
        title: The page that it led to; None if none is named.
        address: Its address, in full; None if none is stated.
        position: The part of the page that is seen, in words; None if that is not stated.
        content: The text that the page shows, or the rest of the message.
    """

    verb: str
    target: str
    title: str | None = None
    address: str | None = None
    position: str | None = None
    content: str = ""

    @property
    def page(self) -> str | None:
        """The page without the query of its address, which is new at each visit; None if there is none.

        >>> StatedAction(verb="open", target="", title="A", address="https://a.org/b?session=1").page
        'A https://a.org/b'
        """
        return None if self.address is None else f"{self.title or ''} {_QUERY.sub('', self.address)}"

    @property
    def place(self) -> str | None:
        """The site that it led to, or the file; None if no address is stated.

        >>> StatedAction(verb="open", target="", address="https://a.org/b?q=1").place
        'a.org'
        """
        if self.address is None:
            return None
        site = None if self.address.startswith("file:") else _PLACE.match(self.address)
        return site[1].lower() if site else _QUERY.sub("", self.address)

    @property
    def shows_results(self) -> bool:
        """True if its page lists the results of a search, by its address."""
        return self.address is not None and _RESULTS.search(self.address) is not None


def stated_action(text: str) -> StatedAction | None:
    """Returns the action that a message begins with; None if it narrates none.

    >>> action = stated_action("I clicked 'Next'. Here is a screenshot of [Page 2](https://a.org/2).")
    >>> action.verb, action.target, action.title, action.place
    ('click', 'next', 'Page 2', 'a.org')
    >>> stated_action("I would click 'Next'.") is None
    True
    """
    head = text[:_HEAD]
    opened = _OPENED.match(head)
    if opened is not None:
        address, title = opened[1], opened[2]
        return StatedAction(
            verb="open",
            target=address.lower(),
            title=title,
            address=address,
            position=_position(head),
            content=_content(text),
        )
    line = head.split("\n", 1)[0]
    match = _STATED.match(line, 0, _LINE)
    if match is None:
        return None
    page = _PAGE.search(head)
    verb, target = str(match.lastgroup), _target(line[match.end() : _LINE])
    if page is None:
        return StatedAction(verb=verb, target=target, content=text[match.end() : _CONTENT].strip())
    return StatedAction(
        verb=verb,
        target=target,
        title=page[1],
        address=page[2],
        position=_position(head),
        content=_content(text),
    )


def ordered_agent(agent: str | None) -> str | None:
    """Returns the agent to whom a speaker gives an order, by the speaker's name; None if it names nobody.

    >>> ordered_agent("Orchestrator (-> WebSurfer)"), ordered_agent("WebSurfer")
    ('WebSurfer', None)
    """
    if agent is None or "->" not in agent:
        return None
    match = _ORDER.search(agent)
    return None if match is None else match[1]


def _target(rest: str) -> str:
    """Returns what follows the verb, up to where the page is described."""
    return rest.split(". Here is ", 1)[0].strip(" '\".:,\u2018\u2019\u201c\u201d").lower()


def _position(head: str) -> str | None:
    match = _POSITION.search(head)
    return None if match is None else match[1] or match[2]


def _content(text: str) -> str:
    """Returns what a page shows, without the description of the page."""
    start = _BEFORE_CONTENT.search(text, 0, 200_000)
    content = text[start.end() :] if start else text
    return _VISITED.sub("", content[:_CONTENT]).strip()
