"""The words that the contrast guard knows: opposites, negators, connectors. General English, as data."""

from __future__ import annotations

from functools import cache, lru_cache

from ebbtide.text.stems import stem

# Each word left of a colon is the opposite of each word right of it; inflected forms need no entry.
_OPPOSITES = """
enable activate : disable deactivate; allow permit accept approve : forbid prohibit deny reject disallow refuse
grant : revoke deny; admit : deny; agree : disagree; support favor favour endorse : oppose; approval : rejection
supporter proponent : opponent; advantage : disadvantage drawback; benefit : harm damage hurt drawback; pro : con; block ban : unblock allow permit
increase raise grow rise boost : decrease reduce lower drop shrink fall decline cut; growth increase : reduction
extend expand lengthen : shorten narrow truncate; expand : contract collapse; climb : sink; widen : narrow
accelerate : decelerate; strengthen : weaken; improve enhance : worsen degrade deteriorate; tighten : loosen relax
maximize maximise maximum max : minimize minimise minimum min; upgrade promote : downgrade demote
add insert append include attach : remove delete drop exclude detach omit; append : prepend; create : delete destroy
install : uninstall; mount : unmount; load : unload; lock : unlock; subscribe : unsubscribe; follow : unfollow
register : unregister deregister; encrypt : decrypt; encode : decode; compress : decompress; allocate : deallocate
serialize serialise : deserialize deserialise; pack zip : unpack unzip; wrap : unwrap; bind : unbind; link : unlink
start begin launch resume continue : stop end halt finish pause suspend quit; keep : stop; startup : shutdown
open reopen : close shut; connect : disconnect; attach : detach; merge join combine unite : split separate divide
centralized centralised : decentralized decentralised; commit apply : revert rollback undo; acquire : release
send : receive; sender : receiver recipient; push : pull pop; upload : download; import : export
publisher producer : subscriber consumer; encourage : discourage; show display reveal expose : hide conceal
read : write; reader : writer; input : output; ingress inbound incoming : egress outbound outgoing
upstream : downstream; enqueue : dequeue; buy purchase : sell; buyer : seller; borrow : lend; borrower : lender
hire employ recruit : fire dismiss; win : lose; winner : loser; victory : defeat loss; profit gain : loss
earn save : spend; credit : debit; asset : liability; income revenue : expense; surplus excess : deficit shortage
attack : defend; attacker : defender; love : hate; like : dislike; trust : distrust; build construct : demolish
build : destroy; fix repair : break; working : broken; succeed pass : fail; success : failure
successful : unsuccessful; successfully : unsuccessfully; remember : forget; arrive : depart leave
arrival : departure; enter : exit leave; entry entrance : exit; appear : disappear vanish; alive : dead
live : die; birth : death; praise : criticize criticise; reward : punish penalty; confirm prove verify : refute
prove : disprove; confirm : contradict; ascend : descend; asc : desc; forward : backward; forwards : backwards
advance : retreat; always : sometimes; everyone everybody : nobody; everything : nothing; all both : none neither
many much : few little; frequent common : rare; usual : unusual
more : less fewer; most : least fewest; majority : minority; greater larger bigger more : smaller lesser less
high tall : low; higher : lower; highest : lowest; upper : lower; above : below; over : under
large big huge : small tiny; largest biggest : smallest; long : short; longer : shorter; longest : shortest
wide broad : narrow; wider broader : narrower; deep : shallow; thick : thin; heavy : light lightweight
heavier : lighter; fast quick rapid : slow; faster quicker : slower; fastest : slowest; quickly rapidly fast : slowly
early : late; earlier sooner : later; earliest : latest; old : new; older : newer younger; oldest : newest youngest
young : old; legacy ancient : modern; former : latter; first initial : last final; previous prior : next subsequent
past : future; temporary transient ephemeral : permanent persistent; stable : unstable volatile
good great excellent : bad poor terrible awful; better : worse; best : worst; well : badly poorly
right correct : wrong incorrect; correctly : wrongly incorrectly; true : false; truth : lie
positive : negative; positively : negatively; valid : invalid; legal lawful : illegal unlawful
legitimate : illegitimate; ethical : unethical; moral : immoral; guilty : innocent
safe : dangerous risky unsafe; safer : riskier; secure : insecure vulnerable; healthy : sick ill unhealthy
strong : weak; stronger : weaker; strongly : weakly; strength : weakness; hard difficult : easy; harder : easier
simple easy : complex complicated; simpler : complicated; simplify : complicate; hot warm : cold cool
hotter warmer : colder cooler; hard : soft; rough : smooth; loud noisy : quiet silent; full : empty
busy occupied : idle free; available : unavailable; present : absent missing; presence : absence; online : offline
awake : asleep; dry : wet; clean : dirty; rich wealthy : poor; cheap inexpensive : expensive costly
cheaper : costlier expensive; cheapest : priciest; free : paid; strict tight : lenient loose; strictly : loosely
explicit : implicit; explicitly : implicitly; direct : indirect; directly : indirectly; active : inactive passive
public : private; global remote : local; internal inner inside : external outer outside; internally : externally
interior : exterior; static : dynamic; statically : dynamically; synchronous sync : asynchronous async
synchronously : asynchronously; mutable : immutable; required mandatory compulsory necessary : optional
mandatory compulsory : voluntary; necessary : unnecessary; relevant : irrelevant; consistent : inconsistent
complete : incomplete partial; completely fully entirely : partially partly; sufficient enough : insufficient
efficient : inefficient; accurate precise : inaccurate imprecise; regular : irregular; reversible : irreversible
possible : impossible; likely probable : unlikely improbable; known familiar : unknown; visible : invisible hidden
dependent : independent; equal : unequal; same identical equal : different; similar alike : different dissimilar
similarity : difference; single : multiple multi; singular : plural; individual : collective; alone : together
horizontal : vertical; horizontally : vertically; left : right; top : bottom; front : back rear; head : tail
frontend : backend; north : south; east : west; northern : southern; eastern : western; client : server
source origin : destination target sink; parent : child; ancestor : descendant; major : minor
master primary leader main : slave replica secondary follower; superior : inferior; senior : junior
teacher : student; teach : learn; employer : employee; male man : female woman; boy : girl; husband : wife
day : night; morning : evening; summer : winter; abstract : concrete; general generic : specific
theory : practice; theoretical : practical; qualitative : quantitative; subjective : objective
optimistic : pessimistic; conservative : liberal progressive; lazy : eager; lazily : eagerly
verbose : terse concise quiet; manual : automatic automated; manually : automatically; stateful : stateless
useful : useless; harmful : harmless; helpful : unhelpful; careful : careless; hopeful : hopeless
inclusive : exclusive; inclusively : exclusively; overestimate : underestimate; oversized : undersized
cause create : prevent; help : hinder harm hurt; protect : harm endanger; respect : disrespect ignore
obey comply : disobey violate; attract : repel; absorb : emit; war : peace; friend ally : enemy; hero : villain
smart clever : stupid; brave : cowardly; polite : rude; friendly : hostile unfriendly; happy : sad unhappy
satisfied : dissatisfied unsatisfied; delicious tasty : disgusting tasteless; fresh : stale; beautiful : ugly
interesting exciting : boring dull; fair just : unfair unjust; honest : dishonest; reliable : unreliable
bright : dark dim; black : white; inflation : deflation; online : offline; wired : wireless
optimist : pessimist; buying : selling; inside : outside; avoid : use; skip : run; lack : have
"""
# Small words that are opposites as the particle of one verb: "scale up", "scale down".
PARTICLES = {"on": "off", "up": "down", "in": "out", "off": "on", "down": "up", "out": "in"}
PARTICLE_VERBS = frozenset(
    map(
        stem,
        """bring check come cut fade go let log move opt phase power ramp roll scale set shut sign spin step switch
        take turn zoom""".split(),
    )
)
_OPPOSITE_PREFIXES = ("un", "non")

# They say nothing by themselves: skipped in the search for what a negation is about.
FUNCTION_WORDS = frozenset(
    """
    a an the this that these those such other another each every any some all both either own
    i me my mine we us our you your he him his she her it its they them their one ones who whom whose which what
    be am is are was were been being do does did doing done have has had having will would shall should can could
    may might must ought let lets
    of to in on at by for from with into onto upon about as than per via within through during between among across
    against along around toward towards up down out off over under above below
    and or but nor so yet if then else when while where whether because since though although unless until before
    after
    very really also just still already even now here there again too quite rather almost simply actually currently
    ever maybe perhaps please only instead how why
    """.split()
)
# A negation passes through them, the first kind before "to": "do not want to deploy" is about deploying.
PASSING_BEFORE_TO = frozenset(
    map(
        stem,
        """need want wish like plan intend try attempt seem appear expect going able possible allowed supposed
        """.split(),
    )
)
PASSING = frozenset(map(stem, "think believe suppose feel longer yet necessarily really always".split()))

# Words that negate what follows; the second kind stands before a subject, so that more than the next word is negated.
NEGATORS = frozenset("not never without nor hardly scarcely rarely seldom".split())
NEGATING_SUBJECTS = frozenset("no none neither nothing nobody nowhere noone unless".split())
# Verbs that negate their object without denying it, and verbs that deny what they govern.
NEGATING_VERBS = frozenset(map(stem, "avoid forbid prohibit ban prevent skip lack".split()))
NEGATING_BEFORE = {
    "to": frozenset(map(stem, "fail refuse decline forget neglect omit".split())),
    "from": frozenset(map(stem, ["refrain"])),
    "ing": frozenset(map(stem, "avoid stop quit cease skip".split())),
}
# Word before, negator, word after, where an empty one is any: "not only" adds, "no doubt" affirms.
NO_NEGATION = frozenset(
    [("", "not", word) for word in ("only", "just", "merely", "simply", "solely")]
    + [("", "no", word) for word in ("doubt", "matter", "wonder")]
    + [("in", "no", "time"), ("or", "not", ""), ("if", "not", ""), ("can", "not", "believe")]
)
# "Cannot praise it enough" is praise.
NEVER_ENOUGH = frozenset(map(stem, "recommend praise thank stress emphasize emphasise".split()))
# After its head, a negation does not reach beyond a modal: "users who do not pay should leave".
MODALS = frozenset("will would shall should can could may might must".split())
# What a negation does not reach beyond.
SCOPE_ENDS = frozenset(
    "but because if when while whereas although though since until so except then unless whether nor".split()
)

# "X instead of Y": the words of the connector, the relation, and whether the sides are the other way round.
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
    "above": (((), "place", False),),
    "below": (((), "place", True),),
    "under": (((), "place", True),),
    "inside": (((), "inside", False),),
    "behind": (((), "behind", False),),
}
PREFERENCES = frozenset(map(stem, "prefer choose pick select favor favour recommend use take value".split()))
# Verbs whose subject and object cannot be exchanged, with the preposition that they need.
RELATIONS = {
    stem(verb): preposition
    for preposition, verbs in {
        "": """call invoke require need cause trigger block contain include extend wrap import own precede follow
        override exceed beat imply produce generate control support import reference replace use outperform pay
        employ teach send give ask tell help""",
        "on": "depend rely",
        "to": "lead belong",
        "from": "inherit derive",
    }.items()
    for verb in verbs.split()
}


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for entry in _OPPOSITES.replace("\n", ";").split(";"):
        if not entry:
            continue
        left, right = ([stem(word) for word in side.split()] for side in entry.split(":"))
        for word in left:
            found.setdefault(word, set()).update(right)
        for word in right:
            found.setdefault(word, set()).update(left)
    return {word: frozenset(opposites - {word}) for word, opposites in found.items()}


@lru_cache(maxsize=1 << 14)
def opposites(word: str) -> frozenset[str]:
    """The stems that say the opposite of this stem, by the list or by a prefix un- or non-."""
    listed = _opposites().get(word, frozenset())
    longer = {prefix + word for prefix in _OPPOSITE_PREFIXES if len(word) >= 4}
    shorter = {word.removeprefix(prefix) for prefix in _OPPOSITE_PREFIXES if word.startswith(prefix)}
    return listed | longer | {rest for rest in shorter if len(rest) >= 4}
