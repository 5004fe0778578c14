"""The wordings of findings: what an agent sees, reads out of a file or a result, and takes for likely."""

from __future__ import annotations

from ebbtide.decisions.gate.rule_forms import anywhere, opening, preceded_by

_PICTURE = (
    r"(?:examples?|screenshots?|output|summary|diagrams?|error message|log|stack ?trace|overview|mock-?ups?|pictures?|figures?)\b"
)

FINDINGS = (
    opening(
        "state.perception",
        1.0,
        "It says what the agent sees or knows",
        words="i we",
        then=(
            r"(?:'ve| have| can| could| do| did| still| now| also| already| just| only| currently){0,6} (?:(?:now|also|just|not|still|already) ){0,6}"
            r"(?:see|saw|seen|notice|noticed|found|find|understand|understood|reproduce|reproduced|think|thought|believe"
            r"|know|knew|get|got|receive|received|hope|guess|wonder|suspect|remember|recall|appreciate|tried|try|looked|checked)"
        ),
    ),
    opening(
        "state.everything",
        1.0,
        "It says how everything stands",
        words="everything all",
        then=r"(?: \w+)? (?:passes|passed|pass|works|worked|looks|look|done|set)\b",
    ),
    opening(
        "state.here",
        1.0,
        "It shows something",
        words="here's here screenshot screenshots attached mockup mock",
        then=r"(?:(?<=here's)(?! (?:my|our) (?:recommend|decision|choice|pick))|(?<=here) (?:is|are)\b(?! (?:my|our) (?:recommend|decision|choice|pick))|(?<=shot)|(?<=shots)|(?<=attached)|(?<=mockup)|(?<=mock)[ -]up\b)",
    ),
    opening(
        "state.shows",
        1.0,
        "It shows something",
        words="the this these that an a below above following",
        then=(
            rf"(?:(?: following| attached| above| below)(?: an?| the)? {_PICTURE}"
            rf"|(?:(?<=following)|(?<=below)|(?<=above))(?: is| are)?(?: the| an?)? {_PICTURE}"
            rf"|(?: \w+)? {_PICTURE}(?: \w+){{0,3}} (?:shows?|illustrates?|depicts?|gives an overview|can be found|(?:is|are|was) attached))"
        ),
    ),
    opening(
        "state.issue",
        0.5,
        "It describes what it found",
        words="the this my our your",
        then=(
            r"(?: \w+){0,2} (?:issue|problem|error|bug|tests?|output|script|changes?|results?|fix|reservation|flight|cost|total)"
            r" (?:is|are|was|were|has been|have been|appears?|seems?|looks?|shows?|indicates?|occurs?|still|now|confirms?|passes|fails|lies|for|comes)\b"
        ),
    ),
    opening(
        "state.based-on",
        0.5,
        "It sums up what it found",
        words="based after from looking with given considering analyzing analysing reviewing examining",
        then=(
            r"(?: on| analy[sz]ing| reviewing| examining| at)?(?: the| this| these| your| our| my| additional| all| new| initial| current| detailed)*"
            r" (?:results?|context|analysis|information|output|code|provided|search|error|issue|above|collected|description|findings|feedback|details"
            r"|traceback|repository|file|files|snippets?|implementation|nature)\b"
        ),
    ),
    anywhere(
        "state.seems",
        0.5,
        "It describes what it found",
        words="seems seem appears appear looks look",
        then=r" (?:to|that|like|as if|as though)",
    ),
    anywhere(
        "state.information",
        1.0,
        "It says what is known, or has to be found out",
        words="context information details insight insights picture understanding overview idea",
        before=(
            r"(?:needs?|needed|gather|gathered|collect|get|obtain|have|has|without|provided?|provides|no)"
            r"(?: to (?:gather|collect|get|obtain|have|find|know))?(?: an?| the| any)? "
            r"(?:more|additional|further|sufficient|enough|necessary|specific|relevant|clear|clearer|good|better|full|complete) (?:\w+ )?"
        ),
    ),
    anywhere(
        "state.hedged",
        0.5,
        "It says what is likely",
        words="likely probably possibly apparently perhaps maybe presumably might",
    ),
    anywhere(
        "state.suggests",
        0.5,
        "It reads something out of what it found",
        words=(
            "suggests suggest indicates indicate indicating implies confirms reveals demonstrates proves proved falsified showed confirmed"
            " concluded infer conclude"
        ),
        then=r" (?:that|the|an?|both|how|there|this|it)",
    ),
    anywhere(
        "state.cause",
        0.5,
        "It says what something comes from",
        words=(
            "occurs occur occurred arises arise arose stems stem originates originate originating lies caused crashes"
        ),
        then=r" (?:when|because|in|from|by|due|within|during|with|at|on)",
    ),
    opening(
        "state.requirement",
        1.0,
        "It says what somebody wants",
        words="a an the as users people customers developers",
        then=r"(?: an?)?(?: \w+){0,2} (?:wants?|would like) to\b",
    ),
    opening("state.root-cause", 1.0, "It says what something comes from", words="root", then=r" causes?\b"),
    opening(
        "state.describes",
        1.0,
        "It says what code does",
        words="the this that it its",
        then=(
            r" (?:[\w.`()/-]+ ){0,3}?(?:function|method|variable|snippet|code|implementation|suite|traceback|output|script)s?"
            r" (?:also |only |then |currently )?(?:takes?|contains?|returns?|is responsible|are responsible|iterates?|defines?|reports?|shows?"
            r"|has|have|calls?|checks?|handles?|does|expects?|raises?|inherits?|means?)"
        ),
    ),
    opening(
        "state.means",
        0.5,
        "It says what something means",
        words="this that it which",
        then=r" (?:\w+ )?(?:means|explains|confirms|suggests|indicates|shows|implies|tells|proves|turns out|turned out)",
    ),
    opening(
        "state.clear",
        1.0,
        "It says where the agent stands, or how sure it is",
        words="it i'm i we we're",
        then=(
            r"(?:(?<=it) (?:is|was)(?: not| still)? (?:un)?(?:clear|known|sure|certain)"
            r"|(?:(?<='m)|(?<='re)|(?<=i) am|(?<=we) are)(?: not| also| still| now| quite| pretty)*"
            r" (?:sure|certain|confident|aware|unsure|clear|unable|ready|done|back|stuck|curious|interested|here|in|at|on|afraid|new|glad))"
        ),
    ),
    opening(
        "state.none",
        1.0,
        "It says that nothing was found",
        words="no",
        then=r" (?:\w+ ){0,2}(?:matches|results|errors|issues|problems|output|response|failures)"
        r"(?= (?:found|were found|so far|in|for|yet|returned|reported)\b|\W*\Z|[.,;])",
    ),
    anywhere("state.could-not", 0.5, "It says what was not possible", words="could couldn't", then=r"(?:(?<=t)| not)"),
    anywhere(
        "state.aside",
        0.5,
        "It says what the agent sees or knows",
        words="i we",
        behind=r"(?<=, )",
        then=r" (?:can |now |also )*(?:see|understand|notice|noticed|found|think|believe|know|realize|realized|saw)",
    ),
    anywhere(
        "state.answer",
        1.0,
        "It answers a question",
        words="answer",
        behind=preceded_by("the final correct"),
        then=r" (?:is|was|should be|must be|would be)",
    ),
    anywhere(
        "state.concludes",
        0.5,
        "It concludes how something is",
        words="so therefore thus hence",
        then=r",? (?:(?!that\b|we\b|i\b|let)[\w'-]+ ){1,12}?(?:is|are|was|were)",
    ),
    opening(
        "state.source",
        1.0,
        "It says what was read",
        words="the this",
        then=(
            r" (?:\w+ )?(?:paragraph|page|article|passage|search|search results?|results?) (?:did not |does not |do not )?"
            r"(?:mentions?|states?|says?|returns?|returned|finds?|found|tells?)\b"
        ),
    ),
    anywhere(
        "state.located",
        0.5,
        "It says where something is",
        words="located defined found implemented",
        behind=preceded_by("is are be"),
        then=r" (?:in|at|within|under) (?:the|`|\w+[./])",
    ),
    anywhere(
        "state.already",
        0.5,
        "It says that something is there already",
        words="already",
        then=(
            r" (?:been )?(?:designed|done|fixed|implemented|merged|exists?|there|in place|complete[d]?|solved|resolved|covered|handled"
            r"|running|works?|working|deployed|answered|closed)"
        ),
    ),
)
