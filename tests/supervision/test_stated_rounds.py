"""Rounds of agents that tell their actions: whether words repeat and whether actions do are told apart."""

from ebbtide.events.event import ModelCall
from ebbtide.profile import Profile
from ebbtide.supervision.facts import LoopFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

REPEATS = Profile.DEFAULT.divergence.copies + 1
LAMENT = "The page says that the lamps are sold out and that the chairs are blue. We need more of them."
MENU = "home beds rugs desks shelves mirrors plants toys tools paint garden kitchen bath sale"
SAYINGS = (
    "The lamps are brass and cost forty dollars. The shop closes at nine.",
    "Chairs come in oak and birch. Delivery takes a week in winter.",
    "A manager named Ruth answers the phone. Returns are free until May.",
    "The garden section lists twelve ferns. Payment needs a card.",
    "Tables fold in half. The warehouse stands near the harbour.",
    "Curtains are sewn to order. The tailor works on Tuesdays.",
)


def told(deed: str, title: str, words: str) -> ModelCall:
    page = f"Here is a screenshot of [{title}](https://shop.example/{title}). It is positioned at the top."
    shows = f"Automatic OCR has detected the following text:\n\nlamps chairs tables\n\n{words}"
    return ModelCall(text=f"I {deed}.\n\n{page} {shows}", agent="surfer")


def verdicts(run: list[ModelCall]) -> list[Verdict]:
    supervisor = Supervisor()
    return [supervisor.record(event) for event in run]


def test_actions_that_repeat_while_their_words_change_are_one_suspicion() -> None:
    """Each report says something new; what was done, and where it led, is the same."""
    run = [told("clicked 'Next'", "Shop", f"{MENU}\n\n{words}") for words in SAYINGS[:REPEATS]]
    (nudge,) = [verdict for verdict in verdicts(run) if verdict.action is not Action.ALLOW]
    assert (nudge.action, nudge.cause) == (Action.NUDGE, Cause.DIVERGENCE)
    assert isinstance(nudge.facts, LoopFacts)
    assert nudge.facts.signal.is_stated
    sentence = f"click {REPEATS} times in a row, same arguments, same result"
    assert nudge.reason == f"{sentence}, as the agent reports it."


def test_where_words_and_actions_repeat_nothing_is_ready() -> None:
    """It is for a person to say, and told actions alone never stop a run."""
    run = verdicts([told("clicked 'Next'", "a", LAMENT)] * 60)
    assert Action.STOP not in {verdict.action for verdict in run}
    assert (run[-1].action, run[-1].kind) == (Action.ESCALATE, "stuck_rounds")


def test_words_that_repeat_while_actions_bring_news_are_no_dry_rounds() -> None:
    """The same lament beneath ever new pages: without the actions, that is a run that says nothing new."""
    titles = [f"page-{letter * 3}" for letter in "abcdefghijkl"]
    acting = [told(f"typed '{title}' into 'Search'", title, f"{SAYINGS[0]} {LAMENT}") for title in titles]
    assert {verdict.action for verdict in verdicts(acting)} == {Action.ALLOW}
    talking = [ModelCall(text=f"{n}. {SAYINGS[0]} {LAMENT}", agent="surfer") for n in range(12)]
    assert {verdict.action for verdict in verdicts(talking)} != {Action.ALLOW}


def test_new_ground_lifts_what_was_said_of_known_ground() -> None:
    steps = [told(f"clicked 'Item {n}'", f"item{n}", SAYINGS[n % 6]) for n in range(9)]
    fresh = ModelCall(text="I visited the other shop: [Other](https://other.example/).", agent="surfer")
    supervisor = Supervisor()
    assert Action.NUDGE in {supervisor.record(event).action for event in steps}
    assert supervisor.verdict().action is Action.NUDGE
    supervisor.record(fresh)
    assert supervisor.verdict().action is Action.ALLOW
