"""The words that the contrast guard knows: opposites, negators, connectors. General English, as data."""

from __future__ import annotations

from functools import cache, lru_cache

from ebbtide.text.stems import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


# Each word left of a colon is the opposite of each word right of it; inflected forms need no entry.
_OPPOSITES = """
enable activate : disable deactivate
allow permit accept approve : forbid prohibit deny reject disallow refuse; grant : revoke deny
admit : deny; support favor favour endorse : oppose; accept approve : decline; approval : rejection
supporter proponent : opponent; advantage : disadvantage drawback; benefit : harm damage hurt drawback
pro : con; block ban : unblock allow permit
increase raise grow rise boost : decrease reduce lower drop shrink fall decline cut
growth increase : reduction; extend expand lengthen : shorten narrow truncate; expand : contract collapse
climb : sink; widen : narrow; accelerate : decelerate; strengthen : weaken
improve enhance : worsen degrade deteriorate; tighten : loosen relax
maximize maximise maximum max : minimize minimise minimum min; upgrade promote : downgrade demote
add insert append include attach : remove delete drop exclude detach omit; append : prepend
create : delete destroy; register : unregister deregister; encrypt : decrypt; encode : decode
compress : decompress; allocate : deallocate; serialize serialise : deserialize deserialise
pack zip : unpack unzip; start begin launch resume continue : stop end halt finish pause suspend quit
keep : stop remove delete drop discard; startup : shutdown; open reopen : close shut; attach : detach
merge join combine unite : split separate divide; centralized centralised : decentralized decentralised
commit apply : revert rollback undo; acquire : release; send : receive; sender : receiver recipient
push : pull pop; upload : download; import : export; publisher producer : subscriber consumer
encourage : discourage; show display reveal expose : hide conceal; read : write; reader : writer
input : output; ingress inbound incoming : egress outbound outgoing; upstream : downstream
enqueue : dequeue; buy purchase : sell; buyer : seller; borrow : lend; borrower : lender
hire employ recruit : fire dismiss; win : lose; winner : loser; victory : defeat loss; profit gain : loss
earn save : spend; credit : debit; asset : liability; income revenue : expense
surplus excess : deficit shortage; attack : defend; attacker : defender; love : hate; like : dislike
build construct : demolish; build : destroy; fix repair : break; working : broken; succeed pass : fail
success : failure; remember : forget; arrive : depart leave; arrival : departure; enter : exit leave
entry entrance : exit; appear : disappear vanish; alive : dead; live : die; birth : death
praise : criticize criticise; reward : punish penalty; confirm prove verify : refute; confirm : contradict
ascend : descend; asc : desc; forward : backward; forwards : backwards; advance : retreat
always : sometimes; many much : few little; frequent common : rare; more : less fewer; most : least fewest
majority : minority; greater larger bigger more : smaller lesser less; high tall : low; higher : lower
highest : lowest; upper : lower; over : under; large big huge : small tiny; largest biggest : smallest
long : short; longer : shorter; longest : shortest; wide broad : narrow; wider broader : narrower
deep : shallow; thick : thin; heavy : light lightweight; heavier : lighter; fast quick rapid : slow
faster quicker : slower; fastest : slowest; quickly rapidly fast : slowly; early : late
earlier sooner : later; earliest : latest; old : new; older : newer younger; oldest : newest youngest
young : old; legacy ancient : modern; former : latter; first initial : last final
previous prior : next subsequent; past : future; temporary transient ephemeral : permanent persistent
stable : unstable volatile; good great excellent : bad poor terrible awful; better : worse; best : worst
well : badly poorly; right correct : wrong incorrect; correctly : wrongly incorrectly; true : false
truth : lie; positive : negative; positively : negatively; legal lawful : illegal unlawful; moral : immoral
guilty : innocent; safe : dangerous risky unsafe; safer : riskier; secure : insecure vulnerable
healthy : sick ill unhealthy; strong : weak; stronger : weaker; strongly : weakly; strength : weakness
hard difficult : easy; harder : easier; simple easy : complex complicated; simpler : complicated
simplify : complicate; hot warm : cold cool; hotter warmer : colder cooler; hard : soft; rough : smooth
loud noisy : quiet silent; full : empty; busy occupied : idle free; present : absent missing
presence : absence; online : offline; awake : asleep; dry : wet; clean : dirty; rich wealthy : poor
cheap inexpensive : expensive costly; cheaper : costlier expensive; cheapest : priciest; free : paid
strict tight : lenient loose; strictly : loosely; explicit : implicit; explicitly : implicitly
active : inactive passive; public : private; global remote : local
internal inner inside : external outer outside; internally : externally; interior : exterior
static : dynamic; statically : dynamically; synchronous sync : asynchronous async
synchronously : asynchronously; required mandatory compulsory necessary : optional
mandatory compulsory : voluntary; complete : incomplete partial
completely fully entirely : partially partly; sufficient enough : insufficient
accurate precise : inaccurate imprecise; likely probable : unlikely improbable; known familiar : unknown
visible : invisible hidden; same identical equal : different; similar alike : different dissimilar
similarity : difference; single : multiple multi; singular : plural; individual : collective
alone : together; horizontal : vertical; horizontally : vertically; left : right; top : bottom
front : back rear; head : tail; frontend : backend; north : south; east : west; northern : southern
eastern : western; client : server; source origin : destination target sink; parent : child
ancestor : descendant; major : minor; master primary leader main : slave replica secondary follower
superior : inferior; senior : junior; teacher : student; teach : learn; employer : employee
male man : female woman; boy : girl; husband : wife; abstract : concrete; general generic : specific
theory : practice; theoretical : practical; qualitative : quantitative; subjective : objective
optimistic : pessimistic; conservative : liberal progressive; lazy : eager; lazily : eagerly
verbose : terse concise quiet; manual : automatic automated; manually : automatically; stateful : stateless
useful : useless; harmful : harmless; careful : careless; hopeful : hopeless; inclusive : exclusive
inclusively : exclusively; overestimate : underestimate; oversized : undersized; cause create : prevent
help : hinder harm hurt; protect : harm endanger; respect : disrespect ignore
obey comply : disobey violate; attract : repel; absorb : emit; war : peace; friend ally : enemy
hero : villain; smart clever : stupid; brave : cowardly; polite : rude; friendly : hostile unfriendly
happy : sad unhappy; satisfied : dissatisfied unsatisfied; delicious tasty : disgusting tasteless
fresh : stale; beautiful : ugly; interesting exciting : boring dull; fair just : unfair unjust
bright : dark dim; black : white; inflation : deflation; wired : wireless; optimist : pessimist
buying : selling; inside : outside; avoid : use; skip : run
"""
# Small words that are opposites as the particle of one verb: "scale up", "scale down".
PARTICLES = {"on": "off", "up": "down", "in": "out", "off": "on", "down": "up", "out": "in"}
PARTICLE_VERBS = _stems(
    """bring check come cut fade go keep leave let log move opt phase power ramp remain roll scale set shut sign
    spin stay step switch take turn zoom"""
)
# Words whose opposite has the prefix; "un" and "non" make one of every word of four letters and more.
_PREFIXED = {
    "in": """ability accuracy accurate action active adequate appropriate capable coherent compatible competent
        complete consistency consistent correct correctly decisive definite dependent direct directly
        distinct edible efficiency efficient elastic eligible equality equitable exact experienced
        expensive finite flexible formal frequent justice operable organic sane secure security sensitive
        separable significant sincere soluble sufficient tangible tolerant valid visible voluntary""",
    "im": """balance balanced material mature measurable mobile mortal movable mutable patient perfect
        permeable personal plausible polite possible practical precise probable proper prudent pure""",
    "il": "legal legible legitimate literate logical",
    "ir": "rational reconcilable regular relevant replaceable responsible reversible",
    "dis": """advantage agree allow approve connect engage honest infect obey organized own prove qualify
        respect satisfied satisfy similar trust""",
}
_FREE_PREFIXES = ("un", "non")

# They say nothing by themselves: skipped in the search for what a negation or a connector is about.
FUNCTION_WORDS = _words(
    """
    a an the this that these those such other another each every any some all both either own
    i me my mine we us our you your he him his she her it its they them their one ones who whom whose which what
    be am is are was were been being do does did doing done have has had having will would shall should can could
    may might must ought let lets
    of to in on at by for from with into onto upon about as than per via within through during between among
    across against along around toward towards up down out off over under above below
    and or but nor so yet if then else when while where whether because since though although unless until before
    after
    very really also just still already even now here there again too quite rather almost simply actually
    currently ever maybe perhaps please only instead how why
    """
)

# Words that negate what follows. The second kind stands before a subject and negates the whole clause.
NEGATORS = _words("not never without nor hardly scarcely rarely seldom")
NEGATING_SUBJECTS = _words("no none neither nothing nobody nowhere noone unless")
# Verbs that negate their object without denying it, and verbs that deny what follows, if this word or ending
# follows; an empty one is any.
NEGATING_VERBS = _stems("avoid forbid prohibit ban prevent skip")
DENYING_VERBS = {
    "": _stems("lack"),
    "to": _stems("fail refuse decline forget neglect omit unable impossible"),
    "from": _stems("refrain"),
    "-ing": _stems("avoid stop quit cease skip"),
}
# A negation passes through them, the second kind before "to": "do not want to deploy" is about deploying.
# It passes through adverbs in -ly as well, which these words are not.
PASSING = _stems("think believe suppose feel longer yet necessarily really always")
PASSING_BEFORE_TO = _stems(
    "need want wish like plan intend try attempt seem appear expect going able possible allowed supposed"
)
NO_ADVERBS = _stems("ally apply assembly comply family imply multiply rely reply supply")
# Word before, negator, word after; an empty one is any. "Not only" adds, "no doubt" affirms.
NO_NEGATION = frozenset(
    [("", "not", word) for word in ("only", "just", "merely", "simply", "solely")]
    + [("", "no", word) for word in ("doubt", "matter", "wonder")]
    + [("in", "no", "time"), ("or", "not", ""), ("if", "not", ""), ("can", "not", "believe")]
)
# "Cannot praise it enough" is praise.
NEVER_ENOUGH = _stems("recommend praise thank stress emphasize emphasise")
# What a negation does not reach beyond.
SCOPE_ENDS = _words(
    "but because if when while whereas although though since until so except then unless whether nor"
)
# What begins another clause once the negation has found what it is about: "users who do not pay should leave".
CLAUSE_STARTS = _words("will would shall should can could may might must i we you he she it they there")

# "X instead of Y": first word of the connector, the others, the relation, whether the sides are turned round.
CONNECTORS: dict[str, tuple[tuple[tuple[str, ...], str, bool], ...]] = {
    "instead": ((("of",), "choice", False),),
    "rather": ((("than",), "choice", False),),
    "opposed": ((("to",), "choice", False),),
    "over": (((), "choice", False),),
    "than": (((), "than", False),),
    "before": (((), "order", False),),
    "after": (((), "order", True),),
    "because": ((("of",), "cause", False), ((), "cause", False)),
    "due": ((("to",), "cause", False),),
    "above": (((), "height", False),),
    "below": (((), "height", True),),
    "under": (((), "height", True),),
    "inside": (((), "inside", False),),
    "behind": (((), "behind", False),),
}
# With them "over" is "rather than".
PREFERENCES = _stems("prefer choose pick select favor favour recommend use take value")
# Verbs whose subject and object cannot be exchanged, by the preposition that they need.
RELATIONS = {
    stem(verb): preposition
    for preposition, verbs in {
        "": """call invoke require need cause trigger block contain include extend wrap import own precede follow
            override exceed beat imply produce generate control support reference replace use outperform pay
            employ teach send give ask tell help""",
        "on": "depend rely",
        "to": "lead belong report",
        "from": "inherit derive",
    }.items()
    for verb in verbs.split()
}


@lru_cache(maxsize=1 << 14)
def opposites(word: str) -> frozenset[str]:
    """Returns the stems that say the opposite of this stem, by the lists or by a prefix such as un-."""
    longer = {prefix + word for prefix in _FREE_PREFIXES if len(word) >= 4}
    shorter = {word.removeprefix(prefix) for prefix in _FREE_PREFIXES if word.startswith(prefix)}
    prefixed = longer | {rest for rest in shorter if len(rest) >= 4}
    return _listed().get(word, frozenset()) | (prefixed - FUNCTION_WORDS)


@cache
def _listed() -> dict[str, frozenset[str]]:
    groups = [entry.split(":") for entry in _OPPOSITES.replace("\n", ";").split(";") if entry]
    groups += [[word, prefix + word] for prefix, words in _PREFIXED.items() for word in words.split()]
    opposites_of: dict[str, set[str]] = {}
    for left, right in groups:
        for words, opposed in ((_stems(left), _stems(right)), (_stems(right), _stems(left))):
            for word in words:
                opposites_of.setdefault(word, set()).update(opposed - {word})
    return {word: frozenset(opposed) for word, opposed in opposites_of.items()}
