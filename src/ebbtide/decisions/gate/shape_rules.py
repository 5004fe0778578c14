"""The words and forms by which the shape of a text is known."""

from __future__ import annotations

import re

from ebbtide.text.imperatives import IMPERATIVE_VERBS
from ebbtide.text.stems import stem

#: Orders that are carried out and leave nothing behind to hold on to.
ERRANDS = frozenset(
    """
    analyse analyze answer ask browse call check click close collect commit confirm contact continue count debug describe determine
    discuss enter examine execute explore extract fetch find finish fix follow gather get give go hold identify inspect inform
    investigate learn list load locate look mention navigate notify obtain open ping post proceed provide push read repeat report
    reproduce request rerun research retrieve retry review run scan search see send
    show start study submit summarise summarize take tell test think try verify wait watch
    """.split()
)
ORDERS = (IMPERATIVE_VERBS - ERRANDS) | frozenset(
    "combine decommission develop embrace fold honour honor manage overwrite pass reconcile render reread retain"
    " sanitise set store unify write".split()
)
#: Before an order they make it one to oneself.
NEXT_STEP = frozenset("now next".split())
# Beside those that order: verbs of which reports of work are made.
WORK_VERBS = """
    address aggregate amend assert attribute batch bundle clarify classify coalesce codify collapse complete
    consolidate constrain correlate decompose decouple deduplicate demote derive diagnose disambiguate
    eliminate emit enrich exempt exercise expire factor fence flatten formalise formalize fuse gate generalise
    generalize guard hoist hook host humanise invert maintain match materialise materialize mute narrow negotiate
    number observe pace paginate parallelise parallelize parametrise parametrize persist pivot plumb polish
    precompute prefix propagate prove proxy quote reapply rearrange recast reclassify reconcile reconstruct rectify
    reimplement reinforce relax remap remedy reorganise reorganize reparent repurpose reshape restructure reword
    root-cause satisfy scaffold seed shift slim stabilise stabilize stamp substitute surface survey synchronise
    synchronize tailor template thread tokenise tokenize triage type unify unwrap vendor vet
""".split()
VERB_STEMS = frozenset(stem(verb) for verb in (*IMPERATIVE_VERBS, *WORK_VERBS)) | {
    "root-caus",
    "root-cause",
}
IRREGULAR = frozenset("built did found gave got made ran rebuilt reran rewrote sent took went wrote".split())
# Past forms that are as often an adjective before a noun, and those that say what was chosen.
ADJECTIVES = frozenset(
    """
    advanced automated based cached centralised centralized combined compressed dedicated deprecated distributed derived detailed
    embedded encrypted enforced expected federated generated hashed hosted indexed layered linked mixed named integrated isolated limited localised localized managed nested
    normalised normalized partitioned planned proposed required restricted scheduled sharded shared signed structured tiered trusted simplified
    standardised standardized supported targeted typed unified versioned weighted
    """.split()
)
CHOSEN = frozenset(
    """
    accepted adopted agreed allowed avoided chose chosen decided declined deferred dropped favored favoured kept
    limited opted pinned postponed preferred preserved promoted rejected retained reused scoped selected settled
    skipped switched treated
    """.split()
)
DETERMINER = re.compile(
    r"(?:the|an?|all|any|both|every|each|its|our|my|your|their|this|these|that|those|some|several|two|three|four|five|six|new"
    r"|\d+|#\d+|[a-z]+-\d+)\b"
)
STEP = re.compile(
    r"\A[\"'`\[][\w./ -]{1,60}[\"'`\]](?=\s*:|\s+(?:completed|skipped|failed|retrying|started|finished|passed|done|running|timed"
    r"|exited|[\w-]+ completion)\b)"
)
DECLARATION = re.compile(
    r"(?:public|private|static|final|var|const|function|return|import|def|class) [^\n]*[({;=]|[<{\[][^\s>]"
)
FENCE = re.compile(r"[^\n]{0,60}\n*```")
CALL = re.compile(r"[\w$.]+\(.*\)", re.DOTALL)
LINK_WORDS = frozenset("http https www png jpg jpeg gif svg pdf mp4 webp".split())
LINK_MARK = re.compile(r"https?://|www\.|\.(?:png|jpe?g|gif|svg|pdf|mp4|webp)\b")
NEXT = re.compile(r"(?:(?:now|next|so|then|first|and)\W+)*(?:let(?:'s|s)?|i'll|we'll|i|here(?:'s)?)\b|.*\bfollowing\b")
# "Completed tasks are archived", "Verified accounts may publish": it goes on as a sentence about its first noun.
PARTICIPLE = re.compile(r" (?:[\w-]+ ){1,2}(?:is|are|may|must|should|will|can|cannot|shall|never|always|only)\b")
PULL_REQUEST = re.compile(r"\(#\d+\)\Z")
SENTENCE = 3  # words beside a link that make it a sentence
# After a noun that could be an order: "File saved", "Test is flaky".
NOT_ORDERED = re.compile(r" (?:\w{2,}ed|is|are|was|were|has|have|does|needs|will|would|can)\b")
