"""The log in a file and on a server: the same answers."""

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, RecordStatus
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionOutcome,
    DecisionScope,
    Relation,
    Review,
    Status,
)
from ebbtide.decision_log.record.results import Change
from ebbtide.decision_log.record.review import outcome_of
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.candidate import Candidate, Reason, Source, Stakes
from ebbtide.errors import (
    ConfigError,
    LifecycleError,
    StaleDecisionError,
    StoreError,
    UnknownDecisionError,
)

RULE = RuleFired(id="test.noise", layer=Layer.QUALITY, reason="It says nothing", phrase="words", decides=True)
REFUSED = Assessment(
    keep=False, primary=RULE, rules=(RULE,), noise=1.0, choice=0.0, threshold=1.0, profile="test"
)


def candidate(text: str, **fields) -> Candidate:
    return Candidate(description=text, **fields)


def ids(decisions) -> list[str]:
    return [each.id for each in decisions]


def test_a_decision_comes_back_whole(log):
    """Everything that was said is there again, in a log that is opened anew as well."""
    text = candidate(
        "Use SQLite\x00 \ud800 \U0001f680 \u062a\u0642\u0631\u0631",
        options=("SQLite", "PostgreSQL"),
        reasons=(Reason(text="no server"),),
        assumptions=("one writer",),
        stakes=Stakes.HIGH,
        category="arch\x00itecture",
        confidence=0.75,
        frame="task",
        source=Source.EXPLICIT,
    )
    kept = log.add(text, session="s1", prediction="it holds", review_by=1.8e9)
    decision = log.get(kept.id)
    assert decision == kept
    assert (decision.candidate, decision.scope.session, decision.prediction) == (text, "s1", "it holds")
    assert ids(log.list(category="arch\x00itecture").decisions) == [kept.id]


def test_list_pages_newest_first(log, clock):
    """Pages follow each other without gaps, and filters hold."""
    added = []
    for number in range(7):
        clock.now += 10
        added.append(
            log.add(candidate(f"Decision number {number}", category="even" if number % 2 == 0 else None))
        )
    newest = ids(reversed(added))
    first = log.list(limit=3)
    second = log.list(limit=3, cursor=first.cursor)
    third = log.list(limit=3, cursor=second.cursor)
    assert [*ids(first.decisions), *ids(second.decisions), *ids(third.decisions)] == newest
    assert third.cursor is None
    assert ids(log.list(category="even").decisions) == newest[::2]
    assert ids(log.list(since=added[5].opened_at).decisions) == newest[:2]
    assert ids(log.list(until=added[1].opened_at).decisions) == newest[6:]
    assert ids(log.iterate(page=2)) == ids(added)
    assert log.list(source=Source.IMPORT).decisions == ()
    with pytest.raises(ConfigError, match="limit"):
        log.list(limit=0)


@pytest.mark.clause("Q07")
def test_recent_decisions(open_log, clock):
    """Recent decisions are those of one agent, and one session where it is named, newest first."""
    log = open_log()
    early = log.add(candidate("Use A for the job"), agent="coder", session="s1", at=clock.now - 1000)
    ours = [
        log.add(candidate(f"Use {name} for the job"), agent="coder", session=session, at=clock.now + number)
        for number, (name, session) in enumerate([("B", "s1"), ("C", "s2"), ("D", "s1")])
    ]
    log.add(candidate("Use E for the job"), agent="other", session="s1")
    assert ids(log.get_recent_decisions("coder", clock.now - 60)) == ids(reversed(ours))
    assert ids(log.get_recent_decisions("coder", clock.now - 60, session="s1")) == [ours[2].id, ours[0].id]
    assert ids(log.get_recent_decisions("coder", clock.now - 60, limit=1)) == [ours[2].id]
    assert early.id in ids(log.get_recent_decisions("coder", 0.0, limit=10))


def test_a_search_among_many_sees_only_what_the_view_does(open_log):
    """However many decisions of others have the words, those of an agent are found."""
    log = open_log()
    mine = log.scope(agent="writer")
    texts = ("Keep the backup of the orders", "Keep the nightly backup because it is cheap")
    mine.add_batch(Decision(candidate=Candidate(description=text)) for text in texts)
    log.scope(agent="coder").add_batch(
        Decision(candidate=Candidate(description=f"Keep the nightly backup {number}"))
        for number in range(1_200)
    )
    assert {hit.decision.candidate.description for hit in mine.search("backup")} == set(texts)
    assert len(log.search("backup", limit=50)) == 50
    assert len({hit.decision.id for hit in log.search("backup", limit=2_000)}) == 1_202


def test_search_finds_words_in_any_script(log):
    """Endings, case and script do not matter; all words come before any word."""
    texts = {
        "cache": "Caching the user queries in Redis, because reads dominate",
        "queue": "Use a queue for the mails",
        "chinese": "\u4f7f\u7528\u6570\u636e\u5e93\u4fdd\u5b58\u65e5\u5fd7",
        "arabic": "\u0646\u0633\u062a\u062e\u062f\u0645 \u0642\u0627\u0639\u062f\u0629",
        "accent": "Caf\u00e9 menus stay in YAML",
    }
    kept = {name: log.add(candidate(text)).id for name, text in texts.items()}

    def found(words: str) -> list[str]:
        return [hit.decision.id for hit in log.search(words)]

    assert found("cache queries") == [kept["cache"]]
    assert found("\u6570\u636e\u5e93") == [kept["chinese"]]
    assert found("\u0642\u0627\u0639\u062f\u0629") == [kept["arabic"]]
    assert found("CAF\u00c9 yaml") == [kept["accent"]]
    assert set(found("redis mails")) == {kept["cache"], kept["queue"]}  # none has both
    assert found("'; DROP TABLE decisions; --") == []
    assert found('" OR * NEAR( & | ! <->') == []
    assert found("\U0001f680 ...") == []


def test_common_words_are_asked_for_as_well(log):
    """A word that nearly every decision has is one of all words; alone, it finds those that have it."""
    plain = log.add(candidate("Send mails through a queue")).id
    both = log.add(candidate("Send the mails through the queue")).id

    def found(words: str) -> set[str]:
        return {hit.decision.id for hit in log.search(words)}

    assert found("the queue") == {both}
    assert found("queue") == {plain, both}
    assert found("through the") == {both}
    assert found("through") == {plain, both}
    assert found("the redis") == {both}  # none has both


def test_the_beginning_of_a_word_finds_it_where_no_whole_word_does(log):
    """Three letters at least."""
    whole = log.add(candidate("Keep the post in one queue")).id
    begun = log.add(candidate("Use PostgreSQL for the event store")).id

    def found(words: str) -> set[str]:
        return {hit.decision.id for hit in log.search(words)}

    assert found("postgres") == found("postgre") == found("postg mysql") == {begun}
    assert found("post") == {whole}
    assert found("po") == set()


WORDS = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), min_size=1, max_size=12)


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_any_word_of_a_text_finds_it(words):
    """Whatever characters a text has, its words find it, and any text may be searched for."""
    with DecisionLog.open(":memory:") as log:
        kept = log.add(candidate(" ".join(words)))
        for word in words:
            hits = [hit.decision.id for hit in log.search(word)]
            assert hits in ([kept.id], [])
            assert hits or not any(sign.isalnum() for sign in word)


def test_quarantine_hides_and_restore_brings_back(log, clock):
    """What is in quarantine is neither listed nor found, and comes back as it was."""
    kept = log.add(candidate("Use SQLite for the log because there is one writer"))
    lost = log.quarantine(kept.id, REFUSED, by="clean-up", version=kept.version)
    assert lost.status is Status.QUARANTINED
    assert log.list().decisions == ()
    assert log.search("sqlite") == ()
    assert ids(log.quarantined(rule="test.noise").decisions) == [kept.id]
    assert log.quarantined(rule="other").decisions == ()
    assert [hit.decision.id for hit in log.search("sqlite", status=Status.QUARANTINED)] == [kept.id]
    back = log.restore(kept.id, by="ana", why="it is one")
    assert (back.status, back.candidate) == (Status.KEPT, kept.candidate)
    assert [hit.decision.id for hit in log.search("sqlite")] == [kept.id]
    with pytest.raises(LifecycleError, match="kept: it cannot be restored"):
        log.restore(kept.id, by="ana")
    assert log.verify().ok


def test_a_batch_is_all_or_nothing(log):
    """A plan that is stale in one place changes nothing anywhere."""
    one, two = log.add(candidate("Use A for the log")), log.add(candidate("Use B for the mail"))
    log.review(two.id, Review(outcome=DecisionOutcome.SUCCESS, by="ana", ts=1.7e9))
    plan = [Change(id=each.id, version=each.version, assessment=REFUSED) for each in (one, two)]
    with pytest.raises(StaleDecisionError) as raised:
        log.quarantine_batch(plan, by="clean-up")
    assert raised.value.decision_ids == (two.id,)
    assert {each.status for each in log.iterate()} == {Status.KEPT}
    log.quarantine_batch(
        [Change(id=one.id, assessment=REFUSED), Change(id=two.id, assessment=REFUSED)], by="x"
    )
    with pytest.raises(UnknownDecisionError):
        log.restore_batch([one.id, "01NONE"], by="ana")
    assert log.list().decisions == ()
    assert len(log.restore_batch([one.id, two.id], by="ana")) == 2


def test_superseding_links_both(log):
    """The new decision names the old one, the old one names the new one and is not kept any more."""
    old, new = log.add(candidate("Use A for the log")), log.add(candidate("Use B for the log"))
    assert log.supersede(old.id, by=new.id, why="B is faster").superseded_by == new.id
    assert log.supersede(old.id, by=new.id).status is Status.SUPERSEDED  # again: no change
    link = log.get(new.id).links[0]
    assert (link.relation, link.to, link.why) == (Relation.SUPERSEDES, old.id, "B is faster")
    with pytest.raises(LifecycleError, match="itself"):
        log.supersede(new.id, by=new.id)
    with pytest.raises(LifecycleError, match="superseded: it cannot be made to supersede"):
        log.supersede(new.id, by=old.id)
    other = log.link(new.id, Relation.DEPENDS_ON, old.id, why="data")
    assert log.link(new.id, Relation.DEPENDS_ON, old.id) == other


def test_an_amendment_is_kept_with_what_was_there_before(log):
    """Texts are replaced and lists added to; saying it again is nothing, and who comes late is told so."""
    one = log.add(candidate("Use SQLite for the log"))
    first = log.amend(one.id, Particulars(context="Reports are slow", deciders=("Ann",)))
    option = RecordOption(title="SQLite", pros=("no server",))
    change = Particulars(context="Reports take a minute", options=(option,), deciders=("Ann", "Bo"))
    second = log.amend(one.id, change, why="measured", version=first.version)
    assert second.particulars == change
    assert (second.amended, second.candidate.options) == (("context", "deciders", "options"), ("SQLite",))
    assert log.events(one.id)[-1].body == {
        "before": {"context": "Reports are slow", "deciders": ["Ann"]},
        "after": {
            "context": "Reports take a minute",
            "deciders": ["Ann", "Bo"],
            "options": [{"title": "SQLite", "pros": ["no server"]}],
        },
        "why": "measured",
    }
    assert [hit.decision.id for hit in log.search("minute server")] == [one.id]
    assert log.amend(one.id, change) == second
    with pytest.raises(LifecycleError, match="somebody changed it"):
        log.amend(one.id, Particulars(context="late"), version=first.version)
    log.supersede(one.id, by=log.add(candidate("Use PostgreSQL for the log")).id)
    with pytest.raises(LifecycleError, match="superseded: it cannot be rejected too"):
        log.amend(one.id, Particulars(standing=RecordStatus.REJECTED))
    log.quarantine(one.id, REFUSED, by="clean-up")
    with pytest.raises(LifecycleError, match="quarantined: it cannot be amended"):
        log.amend(one.id, Particulars(context="too late"))


def test_reviews_append_and_the_overdue_queue_empties(log, clock):
    """Nothing of a review is overwritten, and what was reviewed is not overdue."""
    due = log.add(candidate("Use A for the log"), review_by=clock.now + 100)
    later = log.add(candidate("Use B for the mail"), review_by=clock.now + 200)
    assert log.overdue() == ()
    assert ids(log.overdue(clock.now + 300)) == [due.id, later.id]
    clock.now += 150
    log.review(
        due.id,
        Review(outcome=DecisionOutcome.PARTIAL, by="ci", evidence="build 7", ts=clock(), observed=True),
    )
    reviewed = log.review(due.id, Review(outcome=DecisionOutcome.FAILURE, by="ana", ts=clock()))
    assert [review.outcome for review in reviewed.reviews] == [
        DecisionOutcome.PARTIAL,
        DecisionOutcome.FAILURE,
    ]
    assert outcome_of(reviewed) is DecisionOutcome.FAILURE
    assert log.overdue() == ()


def test_open_decisions_are_abandoned_in_time(open_log, clock):
    """An open decision whose time is over reads as abandoned before and after that is noted."""
    log = open_log(agent="coder", open_ttl_s=100.0)
    work = Deliberation(log)
    opened = work.start("coder", "Where does the log live?", "decision", "s1")
    assert log.get(opened).status is Status.OPENED
    assert log.sweep() == ()
    clock.now += 101
    assert log.get(opened).status is Status.ABANDONED
    assert log.list().decisions == ()
    assert ids(log.list(status=Status.ABANDONED).decisions) == [opened]
    assert log.list(status=Status.OPENED).decisions == ()
    assert log.sweep() == (opened,)
    assert log.sweep() == ()
    assert ids(log.list(status=Status.ABANDONED).decisions) == [opened]
    assert work.finalize(opened, description="Use SQLite for the log because there is one writer") == opened
    assert log.get(opened).status is Status.KEPT


def test_purging_takes_the_words_and_leaves_the_rest(log, clock, place):
    """After retention no table has the text; when, which rule and how it turned out stay; the chain holds."""
    word = "zebrafinch"
    kept = log.add(candidate(f"Use {word} for the log", reasons=(Reason(text=word),), category="tooling"))
    log.amend(kept.id, Particulars(standing=RecordStatus.PROPOSED, context=word))
    log.review(kept.id, Review(outcome=DecisionOutcome.NOT_A_DECISION, by="ana", evidence=word, ts=clock()))
    log.quarantine(kept.id, REFUSED, by="clean-up")
    young = log.add(candidate("Use B for the mail"))
    before = log.counts().counts
    assert log.purge(before=young.opened_at, by="ana") == (kept.id,)
    rest = log.get(kept.id)
    assert (rest.status, rest.candidate.description, rest.candidate.category) == (
        Status.PURGED,
        "",
        "tooling",
    )
    assert (outcome_of(rest), rest.assessment.primary.id) == (DecisionOutcome.NOT_A_DECISION, "test.noise")
    assert rest.assessment.primary.phrase == ""
    tables = ("decisions", "decision_events")
    rows = log.store.read(lambda s: [s.rows(f"SELECT * FROM {table}") for table in tables])  # noqa: S608 - names of ours
    assert word not in repr(rows)
    assert rest.particulars == Particulars(standing=RecordStatus.PROPOSED)
    assert log.verify().purged == 4
    assert log.verify().ok
    log.rebuild()
    assert log.get(kept.id) == rest
    assert log.counts().counts == before
    assert log.purge(before=young.opened_at, by="ana") == ()
    with pytest.raises(LifecycleError, match="purged"):
        log.restore(kept.id, by="ana")


def test_redacting_reaches_the_original(log):
    """What a duplicate said goes from its original as well."""
    work = Deliberation(log)
    text = "Use SQLite for the log because there is one writer"
    first = work.record_decision(text, session="s")
    again = work.record_decision(text, session="s", reasons=["said by zebrafinch"])
    assert log.get(first.id).again[0].reasons[0].text == "said by zebrafinch"
    log.redact(again.id, by="ana", why="asked to")
    original = log.get(first.id)
    assert (original.occurrences, original.again[0].reasons, original.again[0].text) == (2, (), "")
    rows = log.store.read(lambda s: s.rows("SELECT * FROM decision_events"))
    assert "zebrafinch" not in repr(rows)
    before = list(log.iterate()), log.counts()
    log.rebuild()
    assert (list(log.iterate()), log.counts()) == before
    assert log.verify().ok


def test_an_import_can_run_twice(log, open_log):
    """Entries keep their times, and what is there already is left alone."""
    entries = [
        Decision(
            candidate=candidate("Use A for the log", source=Source.IMPORT), opened_at=1e9, origin="a.jsonl:1"
        ),
        Decision(
            candidate=candidate("Use B for the mail"),
            opened_at=1.1e9,
            settled_at=1.2e9,
            scope=DecisionScope(session="s"),
        ),
        Decision(
            candidate=candidate("Done!"), status=Status.QUARANTINED, assessment=REFUSED, origin="a.jsonl:2"
        ),
    ]
    first = log.add_batch(entries)
    assert [each.created for each in first] == [True, True, True]
    assert [each.created for each in log.add_batch(entries[:1])] == [False]
    assert log.get(first[0].id).opened_at == 1e9
    assert log.get(first[1].id).settled_at == 1.2e9
    assert ids(log.quarantined().decisions) == [first[2].id]
    copy = open_log(tenant="copy", agent="coder")
    assert all(each.created for each in copy.add_batch(log.iterate()))
    assert [each.candidate for each in copy.iterate()] == [each.candidate for each in log.iterate()]
    assert not any(each.created for each in copy.add_batch(log.iterate()))
    with pytest.raises(ConfigError, match="opened_at"):
        log.add_batch([Decision(candidate=candidate("Use C"), opened_at=float("nan"))])
    assert log.verify().ok


def test_ids_can_be_shortened(log, clock):
    """The beginning of an id names the decision as long as no other one begins so."""
    one = log.add(candidate("Use A for the log"), at=1e9)
    two = log.add(candidate("Use B for the mail"))
    assert log.resolve(two.id[:8].lower()) == two.id
    assert log.resolve(one.id) == one.id
    with pytest.raises(UnknownDecisionError, match="several"):
        log.resolve("01" if one.id.startswith("01") and two.id.startswith("01") else "0")
    with pytest.raises(UnknownDecisionError, match="ZZ"):
        log.resolve("ZZ")


@pytest.mark.parametrize("change", ["body", "state", "row", "tail"])
def test_changes_behind_its_back_show(log, change):
    """Whoever edits or cuts the tables is found by `verify`."""
    kept = [log.add(candidate(f"Use {name} for the log")) for name in "ABC"]
    heads = log.heads()
    assert log.verify(heads=heads).ok
    edits = {
        "body": ["UPDATE decision_events SET body = replace(body, 'Use B', 'Use X')"],
        "state": ["UPDATE decisions SET description = replace(description, 'Use B', 'Use X')"],
        "row": ["DELETE FROM decisions WHERE description LIKE '%Use B%'"],
        "tail": [
            "DELETE FROM decision_events WHERE seq > 2",
            "DELETE FROM decisions WHERE description LIKE '%Use C%'",
            "UPDATE decision_streams SET seq = 2, head = (SELECT hash FROM decision_events WHERE seq = 2)",
        ],
    }

    def edit(tx) -> None:
        for sql in edits[change]:
            tx.session.run(sql)

    log.store.write(edit)
    verification = log.verify(heads={"coder": heads["coder"]})
    assert not verification.ok
    assert verification.to_dict()["faults"]
    if change in {"state", "row"}:
        log.rebuild()
        assert log.verify(heads=heads).ok
        assert log.get(kept[1].id) == kept[1]
    else:
        assert log.verify().ok is (change == "tail")  # a cut tail shows against a noted head only


def test_nothing_crosses_tenants_agents_or_sessions(open_log, clock):
    """Through every public method, one tenant sees and changes nothing of another, and so do bound agents."""
    mine = open_log(tenant="acme", agent="coder", session="s1")
    kept = mine.add(candidate("Use SQLite for the log"), review_by=1.0)
    lost = mine.quarantine(mine.add(candidate("Done with it")).id, REFUSED, by="x")
    opened = Deliberation(mine).start("coder", "Where does it live?", "decision", "s1")
    review = Review(outcome=DecisionOutcome.SUCCESS, by="eve", ts=1.0)
    before = list(mine.iterate())
    strangers = [
        open_log(tenant="evil"),
        open_log(tenant="evil", agent="coder", session="s1"),
        mine.scope(tenant="acme%"),
        open_log(tenant="acme", agent="other"),
        mine.scope(session="s2"),
    ]
    for stranger in strangers:
        work = Deliberation(stranger)
        own = stranger.add(candidate("Mine"), at=1.0)
        unknown = {
            "get": lambda s: s.get(kept.id),
            "stored": lambda s: s.stored(kept.id),
            "events": lambda s: s.events(kept.id),
            "review": lambda s: s.review(kept.id, review),
            "amend": lambda s: s.amend(kept.id, Particulars(context="mine")),
            "link": lambda s: s.link(kept.id, Relation.RELATED_TO, kept.id),
            "link to": lambda s, o=own: s.link(o.id, Relation.RELATED_TO, kept.id),
            "supersede": lambda s, o=own: s.supersede(kept.id, by=o.id),
            "supersede by": lambda s, o=own: s.supersede(o.id, by=kept.id),
            "restore": lambda s: s.restore(lost.id, by="eve"),
            "restore_batch": lambda s: s.restore_batch([lost.id], by="eve"),
            "quarantine": lambda s: s.quarantine(kept.id, REFUSED, by="eve"),
            "quarantine_batch": lambda s: s.quarantine_batch(
                [Change(id=kept.id, assessment=REFUSED)], by="eve"
            ),
            "redact": lambda s: s.redact(kept.id, by="eve"),
            "think": lambda _, w=work: w.think(opened, "mine now"),
            "finalize": lambda _, w=work: w.finalize(opened, description="Use evil"),
        }
        for ask in unknown.values():
            with pytest.raises(UnknownDecisionError):
                ask(stranger)
        everything = tuple(Status)
        theirs = {kept.id, lost.id, opened}
        assert not theirs & set(ids(stranger.list(status=everything).decisions))
        assert not theirs & set(ids(stranger.iterate()))
        assert not theirs & {hit.decision.id for hit in stranger.search("sqlite", status=everything)}
        assert not theirs & set(ids(stranger.quarantined().decisions))
        assert not theirs & set(ids(stranger.overdue(2e9)))
        assert not theirs & {
            *ids(stranger.sample().kept_decisions),
            *ids(stranger.sample().refused_decisions),
        }
        assert not theirs & {
            *stranger.sweep(9e9),
            *stranger.purge(before=9e9, status=everything[:5], by="eve"),
        }
        if stranger.session is None:
            with pytest.raises(UnknownDecisionError):
                stranger.resolve(kept.id)
            assert stranger.counts().kept == 1
            assert "coder" not in stranger.heads() or stranger.tenant != "acme"
            assert stranger.rebuild() == 1
            assert stranger.verify().events < 5
    assert list(mine.iterate()) == before
    methods = {
        "get",
        "stored",
        "resolve",
        "list",
        "iterate",
        "search",
        "get_recent_decisions",
        "quarantined",
    }
    methods |= {
        "overdue",
        "events",
        "counts",
        "sample",
        "heads",
        "verify",
        "add",
        "add_batch",
        "review",
        "amend",
        "link",
    }
    methods |= {"supersede", "restore", "restore_batch", "quarantine", "quarantine_batch", "sweep", "purge"}
    methods |= {"redact", "rebuild", "open", "scope", "close", "agent", "tenant", "session"}
    public = {name for name, _ in inspect.getmembers(DecisionLog) if not name.startswith("_")}
    assert public == methods


def test_a_bound_view_takes_no_other_names(log):
    """A view of one agent refuses another one instead of reading it."""
    with pytest.raises(ConfigError, match="bound to agent 'coder'"):
        log.list(agent="other")
    with pytest.raises(ConfigError, match="bound to agent"):
        log.add(candidate("Use A"), agent="other")
    with pytest.raises(ConfigError, match="bound to agent"):
        Deliberation(log).start("other", "Where does it live?")


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "a\ud800", "a\nb", "x" * 201, None, 3])
def test_names_that_cannot_be_kept_apart_are_refused(name):
    """A tenant is a printable name of at most 200 characters."""
    with pytest.raises(ConfigError, match="tenant"):
        DecisionLog.open(":memory:", tenant=name)


def test_a_closed_log_says_so(log):
    """A log that was closed raises a clear error for reading and writing."""
    log.close()
    with pytest.raises(StoreError, match="closed"):
        log.list()
    with pytest.raises(StoreError, match="closed"):
        log.add(candidate("Use A"))
