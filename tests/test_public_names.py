"""What a reader of the documents and of `help()` meets: public names, words and numbers."""

import inspect
import json
import re
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path
from types import GenericAlias

import pytest

import ebbtide
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.headline import MEANINGS, Course

NAMES = [name for name in ebbtide.__all__ if name != "__version__"]
SCREEN = 24 * 80  # characters of a small terminal
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def signatures(name: str) -> Iterator[str]:
    """The signature of a public name, and those of its public methods."""
    thing = getattr(ebbtide, name)
    if isinstance(thing, EnumType):
        return
    members = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
    for member in members:
        function = getattr(member, "__func__", member)
        if callable(function) and not getattr(function, "__name__", "_").startswith("_"):
            try:
                yield f"{function.__name__}{inspect.signature(function)}"
            except ValueError:  # built-in exceptions have none
                continue


@pytest.mark.parametrize("name", NAMES)
def test_signatures_fit_on_a_screen(name: str) -> None:
    """Each signature that `help` shows has at most 24 lines of 80 columns."""
    assert {signature[:80]: len(signature) for signature in signatures(name) if len(signature) > SCREEN} == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_of_its_own(name: str) -> None:
    """Each public name says what it is, in words and not as its list of fields."""
    text = getattr(ebbtide, name).__doc__
    assert text
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_shows_the_use(name: str) -> None:
    """A function or class has an example or describes its arguments; words and errors need neither."""
    thing = getattr(ebbtide, name)
    if not isinstance(thing, EnumType | GenericAlias) and not is_error(thing):
        assert re.search(r">>>|Args:|Attributes:", thing.__doc__ or "")


def is_error(thing: object) -> bool:
    """Whether it is an exception or a warning."""
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def test_every_public_name_has_an_example(project: Path) -> None:
    """The examples of the reference, which are run, use or name every public name."""
    page = (project / "docs" / "reference.md").read_text(encoding="utf-8")
    section = page[page.index("\n## Python") :]
    examples = "\n".join(re.findall(r"^```python\n(>>>.*?)^```$", section, re.MULTILINE | re.DOTALL))
    words = set(re.findall(r"\w+", examples)) | set(
        re.findall(r"`(\w+)", section.split("### In your loop")[1])
    )
    assert set(NAMES) - words == set()


def test_every_public_name_is_stable_or_provisional(project: Path) -> None:
    """The table of the reference has each name that can be imported once, and no other."""
    page = (project / "docs" / "reference.md").read_text(encoding="utf-8")
    section = page[page.index("\n## Stability") : page.index("\n## Python")]
    rows = {
        kind: re.findall(r"`(\w+)`", re.search(rf"^\| {kind} \|(.*)\|$", section, re.MULTILINE)[1])
        for kind in ("stable", "provisional")
    }
    assert sorted(rows["stable"] + rows["provisional"]) == sorted(NAMES)
    assert all(names == sorted(names, key=str.lower) for names in rows.values())


def test_the_words_of_the_headline(project: Path) -> None:
    """The page of words defines those of the headline as the report does."""
    page = (project / "docs" / "words.md").read_text(encoding="utf-8")
    assert [word for word, meaning in MEANINGS.items() if f"\n| {word} | {meaning} |\n" not in page] == []


def test_each_word_is_defined_once(project: Path) -> None:
    """The page of words has every headline, action and signal in one row each."""
    page = (project / "docs" / "words.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([A-Z][A-Z ]+) \|", page, re.MULTILINE)
    signals = [signal.value for signal in ebbtide.Signal]
    actions = [action.name for action in Action]
    assert sorted(words) == sorted([*MEANINGS, "UNREADABLE", *actions, *signals])
    assert set(Course) <= set(words)
    assert [cause for cause in Cause if f"`{cause}`" not in page] == []


def test_the_numbers_of_the_comparison(project: Path) -> None:
    """The sentences of README and of the benchmarks about others stand in the committed results."""
    page = (project / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    page = page[: page.index("## Does the signal save rounds")]
    results = project / "benchmarks" / "results"
    if not results.is_dir():
        pytest.skip("benchmarks are in the repository alone")
    exam = json.loads((results / "exam.json").read_text(encoding="utf-8"))
    rows = exam["sets"]["scenarios"]["entrants"]
    ours = rows["Ebbtide, first word"]
    others = [rows[name] for name, version in exam["entrants"].items() if version]
    found = [row["told"]["count"] for row in others]
    accused = [row["accused"]["count"] for row in others]
    stuck, healthy = ours["told"]["of"], ours["accused"]["of"]
    sentence = (
        f"{stuck} stuck runs and {healthy} healthy runs. Ebbtide raises an alarm in "
        f"{ours['told']['count']} of the {stuck} stuck runs and in none of the healthy runs. Other packages "
        f"that compare calls raise an alarm in {min(found)} to {max(found)} of the stuck runs and in "
        f"{min(accused)} to {max(accused)} of the healthy runs"
    )
    assert ours["accused"]["count"] == 0
    assert sentence in " ".join((project / "README.md").read_text(encoding="utf-8").split())

    joint = json.loads((results / "quality-joint-verdict.json").read_text(encoding="utf-8"))
    rows = joint["sets"]["shell and SQL episodes"]["rows"]
    ours, turns = rows["joint verdict"], rows["at most 7 turns"]
    words = " ".join(page.split()).replace(" %", "%")
    share, lost = f"{ours['turns_saved_share']:.1%}", f"{ours['lost']} of {ours['successes']:,}"
    assert f"saved {share} of the turns and lost {lost} successes." in words
    assert f"At most 7 turns saves {turns['turns_saved_share']:.1%} and loses {turns['lost']}." in words


def test_links_lead_somewhere(project: Path) -> None:
    """Every link of a page to a file or a heading of the project finds it."""
    pages = [project / "README.md", *sorted((project / "docs").glob("*.md"))]
    pages += [path for path in (project / "CONTRIBUTING.md", project / "ARCHITECTURE.md") if path.exists()]
    lost = []
    for page in pages:
        prose = CODE.sub("", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            if link.startswith(("http://", "https://", "mailto:")):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name) if name else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                lost.append(f"{page.name}: {link}")
    assert lost == []


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
