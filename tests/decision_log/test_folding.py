"""The state is the fold of the events, whatever happened."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.folding import SHOWN, fold
from ebbtide.decision_log.record.particulars import Particulars, RecordOption
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Mode, Relation, Review, Status
from ebbtide.decision_log.record.wire import decision_document, from_wire
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.errors import ConfigError, DecisionError

NOISE = RuleFired(
    id="test.noise", layer=Layer.QUALITY, reason="noise", phrase="words of the text", decides=True
)
REFUSED = Assessment(
    keep=False, primary=NOISE, rules=(NOISE,), noise=1.0, choice=0.0, threshold=1.0, profile="test"
)
TEXTS = st.sampled_from(
    [
        "Use SQLite for the log because there is one writer",
        "use sqlite for the log because there is one writer.",
        "Use PostgreSQL for the log because there are many writers",
        "Done!",
        "",
        "\u062a\u0642\u0631\u0631 \u0623\u0646 \u0646\u0633\u062a\u062e\u062f\u0645 \x00 \ud800",
    ]
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            "start think finalize record force review link amend supersede restore quarantine redact purge "
            "sweep back".split()
        ),
        st.integers(0, 5),
        TEXTS,
    ),
    max_size=14,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def walk(log: DecisionLog, clock: Clock, mode: Mode, steps) -> None:
    work, ids = Deliberation(log, mode=mode), []
    for what, which, text in steps:
        identifier = ids[which % len(ids)] if ids else "none"
        other = ids[(which + 1) % len(ids)] if ids else "none"
        try:
            if what == "start":
                answer = work.try_start(f"a{which % 2}", text, "decision", "s")
                ids += [answer.id] if answer.id else []
            elif what == "think":
                work.think(identifier, text)
            elif what == "finalize":
                beside = {"particulars": Particulars(consequences=(text,))} if which else {}
                work.finalize(identifier, description=text, reasons=["so"], prediction=text or None, **beside)
            elif what in {"record", "force"}:
                answer = work.record_decision(
                    text, agent_id=f"a{which % 2}", session="s", force=what == "force"
                )
                ids += [answer.id] if answer.id else []
            elif what == "review":
                log.review(
                    identifier,
                    Review(outcome=list(DecisionOutcome)[which % 5], by="ana", ts=clock(), evidence=text),
                )
            elif what == "link":
                log.link(identifier, Relation.RELATED_TO, other, why=text)
            elif what == "amend":
                option = RecordOption(title=text or "none", cons=("slow",))
                log.amend(identifier, Particulars(context=text, options=(option,) * (which % 2)))
            elif what == "supersede":
                log.supersede(identifier, by=other)
            elif what == "restore":
                log.restore(identifier, by="ana")
            elif what == "quarantine":
                log.quarantine(identifier, REFUSED, by="clean-up")
            elif what == "redact":
                log.redact(identifier, by="ana")
            elif what == "purge":
                log.purge(before=clock.now - which, status=list(Status)[which], by="ana")
            elif what == "sweep":
                log.sweep(clock.now + 3600.0 * which)
            else:
                clock.now -= 1000.0 * which
        except (DecisionError, ConfigError):
            pass  # a step that is not possible from there


@settings(max_examples=40)
@given(st.sampled_from(Mode), STEPS)
def test_rebuilding_changes_nothing(mode, steps):
    """Decisions and counts made anew from the events are those that were written on the way."""
    clock = Clock()
    with DecisionLog.open(":memory:", clock=clock) as log:
        walk(log, clock, mode, steps)
        assert log.verify().faults == ()
        before = (list(log.iterate()), log.counts())
        log.rebuild()
        assert (list(log.iterate()), log.counts()) == before
        assert log.verify().faults == ()


@settings(max_examples=30)
@given(STEPS)
def test_a_decision_is_the_fold_of_its_events(steps):
    """What is stored is what the events say, and its wire form says it too."""
    clock = Clock()
    with DecisionLog.open(":memory:", clock=clock, open_ttl_s=1e9) as log:
        walk(log, clock, Mode.ENFORCE, steps)
        for decision in log.iterate():
            assert fold(log.events(decision.id)) == decision
            assert from_wire(Decision, decision_document(decision)) == decision


def test_all_duplicates_count_and_some_are_shown():
    """Of very many repeats the record shows the latest; all are counted, and all are in the events."""
    clock = Clock()
    with DecisionLog.open(":memory:", clock=clock) as log:
        work = Deliberation(log)
        text = "Use SQLite for the log because there is one writer"
        first = work.start("coder", text, "decision", "s")
        for _ in range(SHOWN + 5):
            assert work.start("coder", text, "decision", "s") is None
        decision = log.get(first)
        assert (decision.occurrences, len(decision.again)) == (SHOWN + 6, SHOWN)
        assert len(log.events(first)) == SHOWN + 6
