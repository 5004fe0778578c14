"""Verbs that order something when a sentence starts with them."""

from __future__ import annotations

#: Verbs that ask for something to be done, thought over or found out.
IMPERATIVE_VERBS = frozenset(
    """
    abort access adapt add address adjust align allocate allow alter amend analyse analyze annotate
    announce answer append apply approve archive arrange ask assemble assess assign attach audit automate
    avoid back backfill backport begin benchmark bind block book bootstrap break bring build bump bundle
    buy cache calculate call cancel capture change check choose clean clear click clone close collect
    combine commit compare compile complete compose compress compute conduct configure confirm connect
    consider contact continue convert copy correct count cover create cross-check cut deal debug decide
    declare decode decrease default define delegate delete deliver deploy deprecate design detach
    determine develop disable disconnect discuss distinguish distribute document double-check downgrade
    download draft draw drop dump duplicate edit email embed emit enable encapsulate encode encrypt end
    enforce ensure enter escalate establish estimate evaluate examine execute expand explore export expose
    extend extract fetch file fill filter finalise finalize find finish fix flag flush focus follow force
    format forward freeze gather generate get give go grant group hand handle harden hide hire hold
    identify implement import improve include increase index inform initialise initialize inject inline
    insert inspect install instrument integrate introduce investigate invite invoke isolate issue iterate
    join keep kill label launch learn leave lift limit link lint list load localise localize lock log look
    lower mail make map mark measure mention merge migrate mirror mock modify monitor mount move name
    navigate normalise normalize notify obtain offer omit open order organise organize outline override
    pack package parse partition paste patch pause pay perform pick pin ping place plan plot point
    populate port post postpone prefer prepare present preserve prevent print prioritise prioritize
    proceed process profile promote propose protect provide provision prune publish pull purchase purge
    push put query queue raise randomise randomize rank re-examine re-run read rebase rebuild recalculate
    recheck recompute reconsider record recover recruit redact redeploy redesign redirect reduce refactor
    refine refresh refund regenerate register reindex reject relabel release reload relocate rely remove
    rename render renew reorder repair repeat replace replay reply report reproduce request require rerun
    reschedule research reserve reset resolve restart restore restrict resume retest retire retrain
    retrieve retry return reuse revert review revise revoke rework rewrite roll rollback rotate route run
    sample sanitise sanitize save scale scan schedule scrape scroll search secure select send separate
    serve set settle share ship shorten show shrink shut sign simplify simulate skip solve sort specify
    spin split squash stage standardise standardize start stop store streamline strengthen strip stub
    study submit subscribe summarise summarize support swap switch sync tag take tell test throttle tidy
    tighten time trace track train transfer transform translate treat trigger trim truncate try tune turn
    type unblock undo uninstall unlock unpin unsubscribe update upgrade upload use validate verify visit
    vote wait warm watch wire wrap write
    """.split()
)

#: Those that are as often a noun: "Test the parser", but "Test coverage is low".
NOUNS_TOO = frozenset(
    """
    access address answer back block book break cache call change check clone commit contact copy count
    cover cut deal default design document download draft draw drop dump duplicate email end estimate
    export file filter fix flag flush focus force format group hand handle hold import increase index
    issue label launch lift limit link lint list load lock log look mail map mark measure mirror mock
    monitor mount move name offer order outline override pack package patch pause pin ping place plan plot
    point port post present process profile project prune pull purchase purge push query queue rank record
    redirect refund release repair repeat replay reply report request research reserve reset return review
    rework roll route run sample scale scan schedule scrape search set share ship show sign sort spin
    split squash stage start stop store stub study support swap switch tag test time trace track train
    transfer trigger trim try turn update upgrade upload use vote wait watch wire wrap
    """.split()
)

#: Those that are an adjective as well: "Open the file", but "Open standards solve this".
ADJECTIVES_TOO = frozenset("clean clear close complete correct direct duplicate open secure separate".split())

#: Of both those that name or describe something when they come before a bare noun: "File operations".
RATHER_NAMES = frozenset(
    """
    complete correct direct duplicate file go group issue name package page place point port present process
    project rank sample scale secure separate stage study support time train
    """.split()
)

#: Of the nouns those that order something when they come first, before a bare noun too: "Run tests".
RATHER_VERBS = frozenset(
    "check fix look move review run set show split start stop try update upgrade use wire".split()
)

#: Nouns that a preposition may follow: "Access to the broker", but "Change to the broker".
NOUNS_BEFORE_PREPOSITION = frozenset(
    """
    access address answer copy cost count cover delegate end estimate index issue label list mark measure
    name note order place plan point process profile rank record reply report request research return
    sample support time use
    """.split()
)

#: Nouns that are numbered: "Port 3389", "Issue 2".
NUMBERED = frozenset(
    "block draft file index issue label list order page plan point port process record release sample".split()
)
