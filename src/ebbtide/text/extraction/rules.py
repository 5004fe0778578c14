"""The wordings by which a sentence of raw text is taken for a decision or for nothing, and its place for more.

The part of an id before the dot is what the rule finds. Patterns are matched in lower case with straight
apostrophes. English; questions are also known by the question marks of other scripts.
"""

from __future__ import annotations

from ebbtide.text.extraction.question_rules import TO_BE_INFORMED
from ebbtide.text.phrases import anywhere, at_start

#: Headings, and lines like them, that say what the sentences below are. They are matched as a whole.
SECTIONS = (
    at_start(
        "decision.section",
        r"(?:architecture |design |final |key |main |our |the )*"
        r"(?:decisions?(?: outcomes?| log| summary)?|agreements?|agreed|decided"
        r"|what (?:we(?:'ve| have)? |was |has been )?(?:decided|agreed)(?: on)?)(?: made| taken| so far| today)*",
    ),
    at_start(
        "question.section",
        r"(?:some |our |my |the |here are |these are |remaining |outstanding |open |unresolved |key |pending |further )*"
        r"(?:questions?|unknowns?|open (?:issues?|points?|items?)|unresolved(?: issues?)?|tb[dc]"
        r"|to be (?:decided|determined|clarified)|what(?:'s| is) (?:still )?(?:open|unclear))"
        r"(?: remaining| remain| left| are| for (?:you|the team|later))*",
    ),
    at_start(
        "action.section",
        r"(?:some |our |my |the |here are |these are |immediate |recommended |suggested |proposed |concrete |remaining |next |following )*"
        r"(?:steps?|next|actions?(?: items?| plan| points?)?|action items?|to[- ]?dos?(?: list)?|tasks?|follow[- ]?ups?"
        r"|plan(?: of action)?|what(?:'s| is) next|remaining work|work items?)"
        r"(?: are| to take| to do| remaining| going forward| (?:will|need to|are to) be \w+ed)*(?: for .{1,60})?"
        r"|(?:(?:now|first|next|so)\W+)?(?:(?:i|we)(?:'ll| will|'re going to| need to)|let's|let me)"
        r" (?:\w+ ){0,3}(?:the following|these)(?: (?:\w+ )?(?:steps|actions|tasks))?",
    ),
    # These end what a heading above them began.
    at_start(
        "claim.section",
        r"(?:known |key |main |the |our |possible |potential )*"
        r"(?:risks?|context|background|summary|overview|findings?|consequences|pros(?: and cons)?|cons|notes?|assumptions?"
        r"|constraints?|rationale|results?|facts?|evidence|analysis|observations?|status|problems?|issues?|conclusions?"
        r"|options?(?: considered)?|alternatives?(?: considered)?|limitations?|references?|considered options"
        r"|output|explanation|verification|details|requirements?)",
    ),
)

#: What stands before a colon or a dash and says what comes after it.
LABELS = (
    at_start(
        "decision.label",
        r"(?:final |key |our |the )*(?:decisions?(?: #?\d+)?|(?:decided|agreed)(?=\s*:))",
    ),
    at_start(
        "question.label",
        r"(?:remaining |open |unresolved |key )*(?:questions?|tb[dc]|unclear)(?: #?\d+)?|q\d*(?=:)|unresolved",
    ),
    at_start(
        "action.label",
        r"(?:immediate |recommended |suggested |the |our |my )*"
        r"(?:next (?:steps?|actions?)|actions?(?: items?)?|to[- ]?dos?|fixme|follow[- ]?ups?)(?: #?\d+)?",
    ),
    at_start(
        "remark.label",
        r"(?:claim|comment|critique|feedback|fyi|nb|note|observation|reasoning|reflection|response|review|summary|thought)(?: #?\d+)?",
    ),
)

#: The boxes of a task list.
CHECKBOXES = (
    at_start("action.open-box", r"\[ ?\]|\u2610"),
    at_start("claim.ticked-box", r"\[[x\u2713\u2714]\]|[\u2611\u2705\u2713\u2714]"),
)

#: Answers that say that a list is empty.
NOTHING = (
    at_start(
        "fragment.none",
        r"(?:none|nothing|n/?a|nil|no(?:ne)? (?:open |further |more )*(?:questions?|actions?|decisions?|items?|steps?)?"
        r"|not applicable)"
        r"(?: at (?:this|the) (?:time|moment|point)| for now| remain(?:ing)?| yet| left| so far| needed| required)*",
    ),
)

_CLOSED_ADJECTIVES = (
    "great|good|excellent|fair|nice|interesting|important|wonderful|fantastic|valid|lovely|smart|clever|thoughtful"
    "|insightful|helpful|perfect|amazing|awesome|brilliant|solid"
)

#: Clauses that open a sentence and say nothing about its subject. What comes after them is read on its own.
OPENINGS = (
    at_start(
        "pleasantry.acknowledgement",
        r"(?:(?:oh|ah|well|so|and|hm+)[, ]+)?"
        r"(?:ok(?:ay)?|sure(?: thing)?|alright|all right|right|great|perfect|excellent|awesome|nice|wonderful|fantastic"
        r"|cool|brilliant|lovely|good|fine|super|got it|gotcha|understood|noted|roger(?: that)?|of course|certainly"
        r"|absolutely|definitely|exactly|indeed|very (?:good|well)|i see|i understand|lgtm|fair enough|interesting|hm+|wow"
        r"|no (?:problem|worries)|not a problem|(?:that )?makes (?:total |perfect )?sense|i hear you|never ?mind"
        r"|(?:(?:that|this|it|all|everything) )?(?:sounds|looks) (?:good|great|perfect|fine)(?: (?:to|for) (?:me|us))?"
        r"|(?:that|this|it) works for (?:me|us)|sounds like a plan|good to (?:know|hear))",
    ),
    at_start(
        "pleasantry.agreement",
        r"(?:i |we )?(?:totally |completely |fully |strongly |absolutely )*agreed?(?: (?:with (?:you|that|this)|completely|100 ?%))?"
        r"|you(?:'re| are) (?:absolutely |totally |completely |quite |so )?(?:right|correct)"
        r"|(?:that|this)(?:'s| is| was) (?:all |totally |absolutely |very |really |so )*(?:right|correct|true|fine|ok(?:ay)?"
        rf"|{_CLOSED_ADJECTIVES})"
        r"|(?:i )?(?:love|like) (?:it|that|this)",
    ),
    at_start("pleasantry.yes-no", r"(?:yes|yeah|yep|yup|no|nope|nah)(?:,? please)?"),
    at_start(
        "pleasantry.thanks",
        r"(?:many |perfect,? |great,? |ok(?:ay)?,? |no,? |yes,? )?(?:thanks|thank you|thx)(?! to\b)(?: .{0,120}?)?"
        r"|merci|danke|gracias|obrigad[oa]|grazie|\u0441\u043f\u0430\u0441\u0438\u0431\u043e|\u8c22\u8c22"
        r"|\u3042\u308a\u304c\u3068\u3046(?:\u3054\u3056\u3044\u307e\u3059)?",
    ),
    at_start(
        "pleasantry.praise",
        rf"(?:(?:that|this|it)(?:'s| is) |what )?(?:an? |such an? )?(?:very |really |truly )?(?:{_CLOSED_ADJECTIVES})"
        r" (?:question|point|idea|catch|job|work|example|news|find|call|suggestion|thinking|observation|stuff|feedback"
        r"|start|one|thought)s?",
    ),
    at_start(
        "pleasantry.greeting",
        r"(?:hi|hello|hey|dear|greetings|welcome|good (?:morning|afternoon|evening|day))(?: [\w.@-]+){0,3}",
    ),
    at_start(
        "pleasantry.farewell",
        r"(?:good)?bye|see you(?: (?:soon|later|then|tomorrow))?|take care|cheers|talk (?:soon|to you (?:soon|later))"
        r"|have an? \w+ (?:day|one|evening|weekend|night|time|trip|flight|week|journey)(?: .{0,30}?)?"
        r"|safe travels|(?:best|kind|warm) (?:regards|wishes)|best of luck|good luck",
    ),
    at_start(
        "pleasantry.offer",
        r"(?:i'm |i am |we're |we are |i'd be |always |more than |very |so )*(?:happy|glad|here|delighted|pleased|ready)"
        r" to (?:help|assist|hear|be of)\b.{0,80}?"
        r"|i(?:'ll| will| can|'d be able to)(?: be able to| gladly| certainly| definitely)? (?:help|assist) you\b.{0,40}?"
        r"|(?:i |we )?(?:do )?hope (?:this|that|it) (?:helps?|is helpful|clarifies|answers|makes sense)\b.{0,60}?"
        r"|(?:i |we )?hope you(?:'re| are| have| enjoy)\b.{0,60}?"
        r"|looking forward to (?:hearing|your|it|working)\b.{0,60}?",
    ),
    at_start(
        "pleasantry.let-me-know",
        rf"(?:and |so |just |please |but )*let (?:me|us) know(?! {TO_BE_INFORMED})"
        r"(?:,? (?:if|how|what|when|whether|in case|your|about) (?:you|there|any|anything|i|we|this|that|it|thoughts)\b.{0,160}?)?"
        r"|if you (?:have|need|require) any\b.{0,80}?|if there(?:'s| is| are) any(?:thing)?(?: else)?\b.{0,80}?"
        r"|(?:and |please |just )*(?:feel free to|(?:don't|do not) hesitate to|you can always)"
        r" (?:ask|reach out|contact|let|share|message|ping|correct|get in touch)\b.{0,100}?",
    ),
    at_start(
        "pleasantry.apology",
        r"(?:i'm |i am |we're |we are |my |our |i |we |oh |please )*(?:so |very |really |truly |sincerely |do |must )*"
        r"(?:sorry|apologi[sz]e|apologies|my bad|my mistake|accept (?:my|our) apologies|excuse me|oops)"
        r"(?: (?:for|about|to hear|again)\b.{0,120}?)?",
    ),
    at_start(
        "pleasantry.welcome",
        r"you(?:'re| are) (?:very |most |always )?welcome|my pleasure|any ?time|don't mention it",
    ),
    at_start(
        "pleasantry.appreciation",
        r"(?:i|we)(?: really| truly| do| very much)? appreciate (?:it|that|this|you)"
        r"|(?:i|we)(?: really| truly| do| very much)? appreciate your (?:help|patience|time|understanding|feedback|input"
        r"|assistance|cooperation|effort|work|interest|response)\b.{0,80}?",
    ),
    at_start(
        "pleasantry.wait",
        r"(?:please |just )*(?:take your time\b.{0,80}?|wait|hold on|bear with me|hang on|stand by)(?: (?:a|one) (?:moment|second|minute|sec|bit))?"
        r"|(?:just )?(?:a|one) (?:moment|second|minute|sec)(?: please)?|please wait while i\b.{0,60}?",
    ),
    at_start(
        "pleasantry.done",
        r"(?:all |i'm |i am |we're |we are |and |it's |almost )*(?:done|finished|completed?|on it|all set|good to go|will do|working on it)(?!\s*:)",
    ),
    at_start(
        "narration.as-mentioned",
        r"(?:but |and )?(?:like|as)(?: (?:i|we|you|was|is|have|has|been|already|previously|just|i've|we've|you've|can be|can))*"
        r" (?:mentioned|noted|said|discussed|stated|described|explained|shown|pointed out|outlined|see)"
        r"(?: (?:above|below|before|earlier|previously|already|in (?:my|the|our) (?:last|previous) \w+))*",
    ),
    at_start(
        "narration.transition",
        r"moving on|next up|that (?:being )?said|having said that|with that(?: said)?|to (?:recap|summari[sz]e|sum up|conclude)"
        r"|in (?:summary|short|conclusion)|tl;?dr|to be clear|for context|(?:just )?to clarify|by the way|btw|once again",
    ),
    at_start("control.terminate", r"terminate|stop|task_complete|end of conversation"),
    at_start("control.interrupted", r"request interrupted by user(?: for tool use)?"),
)

#: Openings of sentences in which speakers say what they do, see or are about to do in the conversation. They
#: count only where all that follows is FILLER: "Let me check the output", but not "Let me check the cache".
NARRATION = (
    at_start(
        "narration.intent",
        r"(?:(?:now|next|first|then|so|ok|okay|and|but|also|finally|here|therefore|thus)\W+){0,3}"
        r"(?:let me|let's|let us|allow me to|i(?:'ll| will|'m going to| am going to| need to| want to| would like to|'d like to"
        r"| should| can| have to|'m about to| plan to)|we(?:'ll| will| can| need to| should|'re going to| are going to)"
        r"|(?:it's )?time to|going to)",
    ),
    at_start(
        "narration.perception",
        r"(?:(?:now|ok|okay|so|good|great|and|from this|from here|here)\W+){0,2}"
        r"(?:i|we)(?: can| now| also| just| think i(?:'ve)?)* (?:see|notice|understand|understood|know|get)",
    ),
    at_start(
        "narration.ongoing",
        r"(?:now\W+|still )?(?:(?:i'm|i am|we're|we are) )?(?:now |currently |still |just )?"
        r"(?:looking|checking|searching|reading|running|testing|reviewing|analy[sz]ing|trying|working|continuing|proceeding"
        r"|starting|moving|updating|executing|verifying|scanning|thinking|processing|investigating|exploring|examining"
        r"|inspecting|waiting|going)",
    ),
    at_start("narration.request", r"(?:and |so |then )?(?:please|try)|you (?:can|should|may)(?: now)?"),
    at_start(
        "narration.here",
        r"(?:and )?here(?:'s| is| are| you (?:go|are)| we go| it is)|below (?:is|are)|the following|these are|this is",
    ),
)


_WE = r"(?:we|i|they|the team|everyone)"
_ADVERBS = r"(?:all |also |already |both |finally |now |then |just |therefore |thus |have |had |jointly |unanimously |only |instead )*"
# Whoever takes up a tool does the next step, and decides nothing.
_TOOL = r"(?! (?:(?:the|a|an|our|this) )?(?:[`\w./-]+ ){1,2}(?:command|functions?|tools?)\b)"
_CHOICES = (
    rf"(?:go|going) (?:with|ahead with)|use{_TOOL}|adopt|choose|pick|opt for|stick (?:with|to)|keep|drop|standardi[sz]e on"
    r"|settle (?:on|for)|switch(?:ing)? to|mov(?:e|ing) to|migrate to|replace|prefer|postpone|defer|abandon|ship"
)

DECISIONS = (
    anywhere(
        "decision.decided",
        r"(?=[wite])(?<!when )(?<!before )(?<!after )(?<!until )(?<!if )(?<!whether )"
        rf"{_WE}(?:'ve|'d)? {_ADVERBS}(?:decided|agreed (?:to|on|that|upon)|chose|opted|settled (?:on|for)|resolved to|committed to)",
    ),
    anywhere(
        "decision.was-decided",
        r"(?:it (?:is|was|has been)|has been|have been|was|were|is) (?:already |finally |therefore |now )?(?:decided|agreed)",
    ),
    anywhere(
        "decision.will-use",
        rf"(?:we|i)(?:'ll| will| shall|'re going to| are going to|'re| are) {_ADVERBS}(?:not )?(?:{_CHOICES})",
    ),
    anywhere(
        "decision.lets-proceed", rf"(?:let's|let us) {_ADVERBS}(?:proceed|move forward|go ahead|work) with"
        r"(?! (?:the|this|our|these) (?:\w+ )?(?:steps?|scripts?|code)\b)"
    ),
    at_start(
        "decision.since-use",
        r"(?:since|because|given that|as) [^.?!]{5,160}?, (?:we|i) (?:can|could|should) (?:simply |just |instead )?(?:use|keep|drop|skip|switch to|go with)",
    ),
    anywhere(
        "decision.concur",
        r"(?:we|i) (?:fully |all )?(?:concur|agree) with (?:the|this|your|his|her|their) (?:\w+ )?"
        r"(?:conclusion|decision|plan|proposal|approach|recommendation)s?",
    ),
    anywhere("decision.lets-use", rf"(?:let's|let us) {_ADVERBS}(?:not )?(?:{_CHOICES})"),
    anywhere(
        "decision.the-decision",
        r"(?:the|our|my|final) (?:final )?(?:decision|choice|resolution) (?:is|was|will be|has been)"
        r"(?! (?:how|whether|what|which|who|when|where)\b)",
    ),
    anywhere("decision.made", r"(?:made|makes?|reached) (?:the|a|our) (?:final )?(?:decision|choice)"),
    at_start("decision.going-with", r"(?:so )?(?:going with|(?:decided|agreed) (?:to|on|that|against))"),
)


#: What is code although nothing marks it as such.
CODE = (
    at_start("code.import", r"import [\w.]+(?: as \w+)?\Z|from [\w.]+ import\b"),
    at_start("code.prompt", r"(?:>>>|\$ )[^\n]*\Z"),
    at_start("code.call", r"[\w.]+\([^()]*\)(?:\s+[\w.]+\([^()]*\))*\W*\Z"),
    at_start(
        "code.sql",
        r"(?:(?:alter|create|drop|truncate) (?:database|index|table|view)|delete from|insert into|select|update \w+ set)\b[^;]*;\W*\Z",
    ),
    at_start("code.literal", r"(?<=[\[{])['\"]\w+['\"]:"),
    at_start("code.traceback", r"file \"[^\"]*\", line \d+|traceback \(most recent"),
)
