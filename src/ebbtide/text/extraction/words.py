"""Sets of words by which a sentence of raw text is read, and the names of JSON fields."""

from __future__ import annotations

#: Words that name nothing: function words, and the nouns and verbs of the conversation itself.
FILLER = frozenset(
    """
    a able about above actually add additional again ahead all already also am an and another answer answers any
    anything approach are around as at attempt back be been before begin being below best bit both briefly bug
    but by call can carefully change changed changes check checked checking clarify clear closely closer code
    command complete completed conclude conclusion confirm consider content contents continue correct corrected
    corrections could create current currently deep deeper detail detailed details did different dig directly
    discuss do does doing done draft each edit edits else entire error errors everything exact exactly examine
    example execute explain explore fetch few file files final finally find finding first fix fixes follow
    following for from full function further get give go going good had has have having help here how i i'd i'll
    i'm i've if implement improve improved in information inspect instead investigate is issue issues it it's
    its itself just keep know last let line lines list little look looked looking lot made main make making many
    may me modified modify moment more move much my need needed new next no not note now of off okay on once one
    only open or original other our out output over overview own part parts perform place plan please point
    possible previous problem problems proceed proceeding process properly provide provided question quick
    quickly read ready really reason reconsider relevant report reproduce request requested response result
    results retry reveal review reviewed revise revised rewrite right run running same script scripts search
    second section sections see send set share should show side similar so solution solutions solve some something
    start started starting step steps still stuff such suggested sum summarise summarize summary sure take task
    test testing tests than that that's the their them then there these they thing things think this thoroughly
    those thought thoughts through time times to together too try trying turn two understand until up update
    updated updates us use used using verify version very via wait want was way we we'll we're we've were what
    when where whether which while will with within without work working works would write wrong yet you you'd
    you're you've your
    """.split()
)

#: Words that make a sentence of the words around them: verbs in a form of their own, and their contractions.
FINITE = frozenset(
    """
    am are aren't can can't cannot could couldn't did didn't do does doesn't don't fails had has hasn't have haven't is
    isn't let let's may means might must needs remains returns should shouldn't shows takes was wasn't were weren't will won't
    works would wouldn't it's that's there's we'll we're we've i'll i'm i've they're you're
    """.split()
)

#: Verbs that promise nothing to be done: "I'll have to", "we'll see", "let me explain why".
NO_DEEDS = frozenset(
    """
    admit agree appear apologise apologize appreciate assume be become believe can clarify die differ elaborate
    explain fail feel forget guess happen hate have hear help hope know like love mean miss must need never not
    note notice only own owe prefer promise quote realise realize regret remain remember say seem soon stay
    suggest suppose think understand want wish wonder
    """.split()
)

#: Words that an order puts between its verb and what it acts on, or that are what it acts on.
OBJECTS = frozenset(
    "a all an another any both each every everything her him his it its me my no one our some that the their them these"
    " this those us whatever which your".split()
)

#: Words that follow a verb rather than a noun.
PARTICLES = frozenset(
    "ahead away back directly down for forward from in into off on onto out over straight through to up via with".split()
)

#: Words that begin a clause beside the main one.
SUBORDINATORS = frozenset(
    "after although as because before if since so that though unless until when where whether which while who".split()
)

#: Names of JSON fields, in lower case and letters only, and what their texts are: a kind, prose to be read like
#: a turn, or code.
FIELDS = {
    name: kind
    for kind, names in {
        "claim": "claim claims finding findings facts keyfindings keypoints",
        "decision": "decision decisions",
        "question": "openquestion openquestions question questions unresolved unresolvedquestions unknowns",
        "action": "nextaction nextactions nextstep nextsteps action actions actionitems todo todos tasks followups",
        "prose": (
            "analysis answer comment comments conclusion content critique description explanation feedback finalanswer"
            " message output rationale reason reasoning reflection response result review summary text thinking thought"
            " thoughts"
        ),
        "code": "code command cmd diff filepath id name patch path query regex role script sql tool type url uuid",
    }.items()
    for name in names.split()
}
