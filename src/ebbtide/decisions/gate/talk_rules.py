"""The wordings of chat and of narration: what an agent says to be polite, and what it says it is about to do."""

from __future__ import annotations

from ebbtide.decisions.gate.rule_forms import anywhere, opening

_WORK = (
    r"(?:analy[sz]e|apologi[sz]e|ask|assist|attempt|begin|browse|call|check|clarify|close|commit|confirm|continue|create|debug"
    r"|describe|discuss|do|dig|double-check|edit|examine|execute|explain|explore|fetch|figure|find|finish|fix|follow|gather"
    r"|get|give|go (?:ahead|back|through|over)|help|identify|implement|inspect|install|investigate|list|look|locate|make|merge|modify"
    r"|navigate|open|perform|post|proceed|provide|push|query|read|report|reproduce|rerun|retrieve|retry|review|revise|run|scan|search"
    r"|see|send|show|start|submit|summari[sz]e|take|talk|test|think|transfer|trace|try|understand|update|upload|validate"
    r"|verify|view|wait|walk|work|write)\b"
)
_CHANGE = (
    r"(?:add|address|adjust|build|change|clean|define|delete|extend|focus|handle|improve|insert|move|place|prepare|put|recreate|refactor"
    r"|refine|remove|rename|resolve|rewrite|simplify|solve|tackle)\b"
)
_HOW = r"(?:(?:now|also|just|first|then|next|further|quickly|briefly|please|gladly|still|again|go ahead and|try to|start by|be able to|carefully) ){0,6}"

# What is done to find something out, and decides nothing.
LOOK_UP = (
    r"(?:first |now |also |then |just |further |better |start by |begin by |try to |be able to )*(?:check(?:ing)?|confirm|debug|discuss|examin(?:e|ing)|explor(?:e|ing)"
    r"|find(?:ing)?|figure|focus on|gather(?:ing)?|identify|infer|inspect(?:ing)?|investigat(?:e|ing)|locat(?:e|ing)|look(?:ing)?|perform the following"
    r"|review(?:ing)?|search(?:ing)?|see|start(?: by| with|ing)?|take a look|talk|think|understand|verify)\b"
)

#: Words of greetings, thanks, praise and approval: a text that has no others, but for function words, records nothing.
SOCIAL = frozenset(
    """
    hi hello hey welcome aboard morning afternoon evening night bye goodbye cheers tomorrow later soon enjoy happy see talk
    thanks thank thx ty appreciated appreciate grateful much many lot lots time hard effort efforts help
    good great nice well excellent awesome amazing fantastic brilliant superb wonderful stellar outstanding incredible
    impressive terrific beautiful perfect fine cool solid clean neat lovely super best love like proud congrats congratulations kudos bravo
    props hats rock rocks crushed nailed killed killing hooray yay woohoo wow high five well-done big such
    work works job stuff catch point idea thing one news progress effort way go goo gooo goooo deserved
    everyone everybody team all folks guys people friends whole involved here side end part
    lgtm ship shipit plan played looking helped totally approve approved approving merge ready sounds sound looks look seems seem makes make sense ok okay
    agree agreed agrees yes yep yeah yup sure exactly absolutely definitely indeed right true understood noted gotcha got
    roger copy ack problem no worries worry glad pleasure ahead 1 100
    """.split()
)
_PRAISE = (
    "good great nice happy glad perfect excellent awesome amazing fantastic brilliant superb wonderful stellar outstanding terrific beautiful"
    " incredible impressive solid"
)

TALK = (
    # Chat.
    opening(
        "chat.acknowledgement",
        0.5,
        "It acknowledges",
        words=(
            "understood noted gotcha sure alright yes yeah yep no nope exactly absolutely certainly"
            " definitely agreed lgtm hello hi hey welcome congratulations awesome excellent amazing great good perfect interesting ah oops"
        ),
        then=r"(?=\s*(?:[,.!?]|\Z| (?:you|for|thing|that|to hear)\b))",
    ),
    opening("chat.thanks", 1.0, "It thanks", words="thanks thank thx cheers"),
    opening("chat.wonder", 0.5, "It wonders", words="hm hmm oops ugh wow ah oh"),
    opening(
        "chat.praise",
        1.0,
        "It comments",
        words=_PRAISE,
        then=r" (?:news|question|point|idea|catch|job|work|call|progress|stuff|effort|to (?:hear|see|help|know|be of))\b",
    ),
    opening(
        "chat.wish",
        1.0,
        "It greets",
        words="happy good have enjoy see talk",
        then=(
            r" (?:an? |the |your |you |to you )?(?:great |good |nice |lovely |new )?(?:morning|afternoon|evening|night"
            r"|weekend|holidays?|year|day|week|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|later|soon)\b"
        ),
    ),
    opening(
        "chat.got-it",
        1.0,
        "It acknowledges",
        words="got sounds looks seems makes will that this",
        then=r"(?: it| makes (?:perfect |total )?sense|(?:'s| is)? (?:good|great|fine|perfect|right|correct|sense)(?: to me)?| do)(?=\s*(?:[,.!]|\Z))",
    ),
    opening(
        "chat.apology",
        1.0,
        "It apologises",
        words="i i'm",
        then=r"(?: am)? (?:sincerely |so |very )?(?:apologi[sz]e|sorry|afraid)",
    ),
    opening("chat.sorry", 1.0, "It apologises", words="sorry apologies"),
    opening(
        "chat.done",
        1.0,
        "It says that something is done",
        words="done finished completed complete",
        then=r"(?=\s*(?:[,.!]|\Z|on\b|with\b))",
    ),
    opening(
        "chat.on-it",
        1.0,
        "It says that something is under way",
        words="on",
        then=r" it(?=\s*(?:[,.!]|\Z))",
    ),
    opening(
        "chat.offer",
        1.5,
        "It offers help or asks for an answer",
        words="would could can may do please if let feel how is what to",
        then=(
            r" (?:(?:you|i|we) (?:like|please|help|assist|want|prefer|confirm|provide|also)|me know|us know|free to"
            r"|(?:confirm|provide|let (?:me|us) know|note that|describe|ask|check|review|test|try|see|look|have a look|wait|explain|tell"
            r"|send|give|discuss|merge|close|commit|answer|shortly|briefly|update)\b|there anything|else can i|you (?:have|need|would like|want|know|could|can|agree"
            r"|think|are)|(?:proceed|assist|help|process|cancel) (?:with|you|your))"
        ),
    ),
    # Narration.
    opening(
        "narration.let-me",
        1.0,
        "It says what the agent is about to do",
        words="let let's lets",
        then=rf"(?: me| us)? {_HOW}{_WORK}",
    ),
    opening(
        "narration.intent",
        1.0,
        "It says what the agent is about to do",
        words="i i'll i'm we'll we i'd we're",
        then=(
            r"(?: will|(?<=i'll)|(?<=we'll)| shall|(?<=i) (?:can|could)| would like to| want to|(?: am|'m|(?<=i'm)|(?<=we're)| are) (?:going|about|trying) to"
            rf"| plan to|(?<=i'd) like to) {_HOW}(?:not )?{_WORK}"
        ),
    ),
    opening(
        "narration.look",
        1.0,
        "It says what the agent has to find out",
        words="i we",
        then=(
            r"(?: still| also| now| first)? (?:need|have|should|must|want)(?: to)?"
            rf" {_HOW}(?:understand|check|look|see|find|figure|read|explore|investigate|verify|review|examine|inspect|gather|know)\b"
        ),
    ),
    anywhere(
        "narration.look-up",
        1.0,
        "It says what the agent has to find out",
        words="we i we'll i'll",
        behind=r"(?<!that )",
        then=rf"(?: will| should| must| need(?: to)?| have to| want to|(?<='ll)|(?<=i) would| could| can) {_HOW}(?:instead )?{LOOK_UP}",
    ),
    opening(
        "narration.need",
        0.5,
        "It says what the agent has to do",
        words="i we",
        then=rf"(?: still| also| now| first)? (?:need|have|should|must|ought)(?: to)? {_HOW}(?:{_WORK}|{_CHANGE})",
    ),
    opening(
        "narration.change",
        0.5,
        "It says what the agent is about to change",
        words="let let's lets i'll i we",
        then=rf"(?: me| us| will|(?<=let's)|(?<=i'll)) {_HOW}{_CHANGE}",
    ),
    opening(
        "narration.ongoing",
        1.0,
        "It says what the agent is doing",
        words=(
            "analyzing analysing checking delegating examining exploring fetching inspecting investigating looking polling processing"
            " reading reviewing scanning searching spawning thinking trying verifying waiting working"
        ),
        then=r" (?:(?:on|for|at|into|through|to|about|over) )?(?:the|an?|this|that|these|those|all|my|your|it|them|what|how|if|whether|one|more|some)\b"
        r"(?=[^,\n]*\Z)",
    ),
    opening(
        "narration.next",
        1.0,
        "It says what comes next",
        words="next the",
        then=r"(?:(?<=next)|(?<=the) next) (?:thing|steps?|task)(?= (?:to|is|are|would|will|in)\b|\W*\Z|[:,])",
    ),
    # Titles open with these as well: "Running containers as another user".
    opening(
        "narration.moving-on", 1.0, "It says what the agent is about to do", words="moving", then=r" on\b"
    ),
    opening(
        "narration.progress",
        0.5,
        "It says what the agent is doing",
        words="calling continuing executing invoking proceeding retrying running starting testing updating validating",
    ),
    opening(
        "narration.waiting",
        1.0,
        "It says what the agent waits for",
        words="waiting",
        then=r" (?:on|for)\b",
    ),
    anywhere(
        "narration.now", 0.5, "It says what happens at this moment", words="now again", then=r"(?=\W*\Z)"
    ),
    opening(
        "narration.i-am-doing",
        1.0,
        "It says what the agent is doing",
        words="i'm we're i we",
        then=r"(?: am| are)? (?:now |currently |still |just |also )*(?!going|choosing|using|keeping|sticking|switching|adopting|leaving|dropping|picking|opting|replacing|storing)\w{2,}ing",
    ),
    anywhere(
        "narration.inside",
        0.5,
        "It says what the agent is about to do",
        words="let let's i'll",
        then=rf"(?: me| us)? {_HOW}{_WORK}",
    ),
)
