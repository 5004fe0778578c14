"""The wordings by which a sentence of raw text is taken for a decision, a question, an action or for nothing.

The part of an id before the dot is what the rule finds. Patterns are matched in lower case with straight
apostrophes. English; questions are also known by the question marks of other scripts.
"""

from __future__ import annotations

from ebbtide.text.phrases import anywhere, at_start

_IF_YOU_WANT = (
    r"(?:if|whether) (?:you(?:'d| would)? (?:like|want|wish|prefer|agree)(?: me)? to (?!know|add|share|discuss|learn|ask)\w+"
    r"|(?:i|we) (?:should|can|may))"
)
_INFORMATION = (
    r"(?:e-?mail|(?:first |last |full |user ?)?names?|(?:[\w-]+ ){0,3}?(?:address|approval|code|confirmation|consent|contact|credentials"
    r"|dates?|details?|e-?mail|ids?|identifier|information|key|numbers?|password|permission|preferences?|reasons?|token|username|zip))\b"
)
_WHICH = (
    r"(?:(?:which|what|how|when|where) (?:\w+ )?(?:\w+ )?you(?:'d| would)? (?:like|want|prefer)"
    rf"|which \w+|your {_INFORMATION})"
)

#: What follows "let me know" where an answer is waited for.
_TO_BE_INFORMED = rf"(?:{_IF_YOU_WANT}|{_WHICH})"

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
        rf"(?:and |so |just |please |but )*let (?:me|us) know(?! {_TO_BE_INFORMED})"
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

#: Questions that ask nothing about the subject.
COURTESY = (
    at_start(
        "pleasantry.offer-question",
        r"(?:so |and |now )?(?:how|what) (?:else )?(?:can|may|could) i (?:help|assist|do for)\b",
    ),
    at_start(
        "pleasantry.anything-else",
        r"(?:(?:so|and|now),? )?(?:(?:is|was) there |do you (?:need|have|want) |would you like |can i (?:help|assist) (?:you )?with |are there )?"
        r"(?:anything (?:else|more|specific)|something else|any (?:other |further |more |additional )*(?:questions?|help|assistance|thoughts))",
    ),
    at_start(
        "pleasantry.does-that-help",
        r"(?:(?:so|and|now),? )?(?:does|did|do) (?:that|this|it|these) (?:help|make (?:any )?sense|answer|work for you|sound (?:good|ok|okay|right|fine))"
        r"|(?:how|what) (?:does|do) (?:that|this|it|you) (?:sound|think|say)|make(?:s)? sense|sounds? (?:good|ok|okay|right)"
        r"|how are you|how's it going|(?:you )?(?:know what i mean|see|get it)",
    ),
    at_start("pleasantry.may-i-help", r"(?:can|may|could) i (?:help|assist) you\b"),
    # Nothing but one of these words and the question mark.
    at_start(
        "pleasantry.tag",
        r"(?:right|ok(?:ay)?|yes|no|really|huh|hm+|agreed|correct|seriously|so|sure)(?=\W*\Z)",
    ),
)

#: Questions that ask for work, which is to be done as well as answered. A request to be informed asks only.
REQUESTS = (
    at_start(
        "question.request",
        r"(?:(?:so|and|also|then|now|next|please|if [^,?]{1,100},|in that case|alternatively)\W+)*"
        r"(?:can|could|would|will) you(?: please| also| just| kindly| possibly| maybe| now| then| help(?: me| us)?(?: to)?| go ahead and| try to)*+"
        r" (?!(?:agree|be|clarify|ever|even|guide|still|assist(?: me)? with (?:it|that|this)|confirm|consider|describe|elaborate|explain|give|have|let|like|mind|need|prefer|provide|recommend|remind|say"
        r"|see|share|show|specify|suggest|summari[sz]e|tell|think|want|with)\b)[a-z]{2,}(?= \w)",
    ),
)

#: Ends of a statement that turn it into a request for a nod.
TAGS = (
    anywhere(
        "question.tag",
        r"[,;\u2013\u2014-]\s*(?:right|correct|ok(?:ay)?|yes|no|yeah|eh|huh|agreed|don't you think"
        r"|(?:is|are|was|were|do|does|did|has|have|wo|ca|could|would|should)n't (?:it|they|you|we|he|she|that|there))",
    ),
)

_OPEN_WORDS = r"(?:whether|if|how|why|what|which|who|where|when)"

#: Questions without a question mark.
QUESTIONS = (
    at_start("question.should-we", r"(?:so |and |or |but )?(?:should|shall) (?:we|i)\b[^,]*\Z"),
    at_start(
        "question.inverted",
        r"(?:so |and |or |but )?(?:do|does|did|can|could|would|is|are|will) (?:we|you|they|there|anyone|someone)\b[^,:]*\Z"
        r"|would you (?:like|prefer)(?: me)?(?: to)?(?=\W*\Z)",
    ),
    # A question whether to go on waits for an answer; "if you need anything else" is a courtesy.
    at_start(
        "question.let-me-know",
        rf"(?:please |just |so |and )*let (?:me|us) know {_TO_BE_INFORMED}",
    ),
    # What only the other side knows: "I'll need your user ID" waits for an answer, whatever its form.
    anywhere(
        "question.need-from-you",
        r"(?:i|we)(?:'ll| will|'d| would)(?: also| just| still| first| then)* need"
        rf" (?:(?:to know |you to (?:provide|share|confirm|tell|give|specify) )?your {_INFORMATION}"
        rf"|you to (?:provide|share|confirm|tell|give|specify|clarify)|(?:the|some|a few) (?:following )?{_INFORMATION})"
        r"|(?:i|we) need (?:to know )?your (?:explicit )?"
        r"(?:address|approval|confirmation|consent|e-?mail|permission|user ?name|[\w-]+ (?:id|number|code))\b",
    ),
    anywhere(
        "question.please-tell",
        r"(?:please|kindly)(?: also| just| first)* (?:(?:provide|share|send|give|specify|enter|supply|tell|confirm|indicate)"
        rf"(?: (?:me|us))?(?: with)? (?:your {_INFORMATION}|the (?:following )?{_INFORMATION}(?= (?:of|for) your|\W*\Z))"
        r"|(?:confirm|indicate|specify|clarify|advise|tell (?:me|us))(?: (?:if|whether|which|what|how) (?:you|i|we)\b| that you\b))",
    ),
    at_start(
        "question.wh",
        r"(?:how|what|which|who|where|when|why)(?: [\w-]+){0,3}? (?:should|can|could|do|does|did|shall|would) (?:we|i|you|they|it)\b[^,]*\Z"
        r"|what (?:if|about)\b",
    ),
    anywhere(
        "question.unclear",
        r"(?:unclear|undecided|unsure|uncertain|unknown|not (?:yet |entirely |quite |really |at all )?"
        rf"(?:clear|sure|certain|known|decided|agreed|settled))(?: yet)?(?: to (?:me|us))?,? {_OPEN_WORDS}",
    ),
    anywhere("question.tbd", r"tb[dc]|to be (?:decided|determined|clarified|discussed)"),
    anywhere(
        "question.remains-open",
        r"(?:open|unresolved|unanswered) questions?(?= (?:is|remains|whether|how|if)\b)"
        r"|remains? (?:open|unclear|unresolved|undecided|unanswered|to be seen)|still (?:undecided|unclear|unresolved)",
    ),
    anywhere(
        "question.to-decide",
        r"(?:need|have|has|needs|remains|yet) to (?:be )?(?:decided?|figured? out|clarif(?:y|ied)|determined?|find out|agreed?)"
        rf"(?: on| upon)? {_OPEN_WORDS}",
    ),
    anywhere(
        "question.wondering",
        rf"(?:i|we)(?:'m| am|'re| are| was)? wonder(?:ing)? {_OPEN_WORDS}|the (?:open |main |big )?question is {_OPEN_WORDS}"
        rf"|(?:don't|do not|doesn't|does not) (?:yet |really )?know (?:yet )?{_OPEN_WORDS}",
    ),
    # What blocks is open, and readiness looks for it among what is open. Weak words such as "missing" and
    # "depends on" stand in too much prose that blocks nothing.
    anywhere(
        "question.blocked",
        r"(?:am|is|are|'m|'re|remains?|still|currently|completely) blocked(?= (?:on|by|until|because)\b|[.!,;]|$)"
        r"|(?:am|is|are|'m|'re|still|currently) waiting (?:on|for)|(?:cannot|can't|unable to|not able to) proceed",
    ),
)

_DONE = r"(?:\w+ed|built|chosen|cut|done|found|given|kept|made|put|read|rebuilt|rerun|reset|rewritten|run|sent|set|split|taken|written)"

ACTIONS = (
    at_start("action.todo", r"(?:to-?do|fixme)s?\b"),
    at_start(
        "action.next-step",
        r"(?:(?:the|our|my|a) )?(?:next|first|immediate|remaining|last) (?:steps?|actions?|tasks?|thing) (?:is|are|would be|will be) to",
    ),
    at_start("action.owner", r"@[\w.-]+[,:]? (?:will|to|should|must|can you|could you|please|is going to)"),
    at_start("action.please", r"please (?!note|find|see|wait|feel|let|be |accept|forgive|excuse)\w+"),
    # "In that case, please cancel it"; behind "if you have questions" it is a courtesy.
    anywhere(
        "action.please-then",
        r"(?<=, )please (?!note|find|see|wait|feel|let|be |accept|forgive|excuse|ask|contact|reach|do not|don't|stand|advise)\w+(?= \w)",
    ),
    at_start(
        "action.negative",
        r"(?:do not|don't|never|always) \w+",
    ),
    anywhere(
        "action.obligation",
        r"(?=[wiys])(?<!if )(?<!when )(?<!whether )(?<!why )(?<!what )(?<!how )(?<!that )(?<!everything )(?<!anything )(?<!all )(?<!do )(?<!as )"
        r"(?:we|i|you|someone|somebody)(?:'ll)?(?: also| still| now| first| just| really| only| will| all| probably| then)*"
        r" (?:need to|needs to|have to|has to|should|must|ought to)(?: not| also| first| now| then| just| only| probably)*"
        r" (?!be |have |had |been|see |expect|know |say |note |admit |confess )[a-z]+",
    ),
    anywhere(
        "action.needs-done",
        rf"(?=[nh])(?<!not )(?<!n't )(?<!only )(?:needs?|has|have) to be {_DONE}"
        rf"|(?:should|must) be {_DONE} (?:before|first|next|by)",
    ),
    anywhere(
        "action.deadline",
        r"(?:will|should|must|shall) \w[^.!?]{0,120}? (?:by|before|until) (?:(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|tomorrow|tonight|eod|eow|end of|next (?:week|month|sprint)|noon|\d{4}-\d\d-\d\d)",
    ),
)


#: "I'll" and its like, before a verb: a promise to do something. Whoever lets himself do it says what comes
#: next in the conversation, and states nothing.
PROMISES = (
    at_start(
        "action.narrated",
        r"(?:(?:now|next|first|then|so|and|but|also|finally|great|ok|okay)\W+){0,2}"
        r"(?:let me|allow me to|i'm about to|i am about to)(?: now| then| also| first| next| just| quickly)*",
    ),
    at_start(
        "action.promise",
        r"(?:(?:now|next|first|then|so|and|finally|after that|in the next \w+)\W+){0,2}"
        r"(?:(?:i|we)(?:'ll| will| shall|'m going to| am going to|'re going to| are going to)|let's|let us)"
        r"(?: now| then| also| first| next| just| proceed to| try to| start by| begin by)*",
    ),
)

# By these a person approves of something, chooses, or asks for something to be done. They are looked for at the
# start of a sentence that a person says, before greetings and thanks are left out: "That sounds good" from a
# model is politeness, from a person it is a decision.

# Of a bounded number: "if so" may be a nod or begin a clause, and each of them would double the ways to read it.
_NOD = (
    r"(?:(?:yes|yeah|yep|yup|sure|ok|okay|great|perfect|alright|all right|good|fine|cool|nice|thanks|thank you|then|and|so"
    r"|in that case|if so|for now|actually|well"
    r"|(?:if|since|as|given|with|because) [^,.?!]{1,100}(?=, ))(?:,? please)?(?:[,.!;:]+ | - | )){0,8}"
)
_PLEASE = r"(?:please |just |you can |you may |now |then )*"
_ON = r"(?:proceed|go ahead|move forward|continue(?=\W*\Z))"
_LOOKS = (
    r"(?:look|check|see|try|find|investigate|explore|debug|discuss|think|talk|figure|dig|review|examine|inspect|analy[sz]e"
    r"|compare|test|verify|wait|focus|start|begin|say|assume|know|be|get|address|come|consider|move)"
)

#: Approvals and choices.
APPROVALS = (
    at_start("decision.approved", rf"{_NOD}{_PLEASE}{_ON}(?: and| with| by| on| as)?"),
    at_start("decision.willing", rf"{_NOD}(?:i'm|i am|we're|we are) willing to"),
    at_start("decision.approved-it", rf"{_NOD}{_PLEASE}(?:do (?:it|that|so|this)|make it so|ship it|merge it)"),
    at_start(
        "decision.sounds-good",
        rf"{_NOD}(?:(?:that|this|it|(?:the|your) plan) )?(?:all )?(?:sounds|looks|seems) (?:good|great|perfect|fine|right|reasonable)"
        r"|(?:that|this|it) works(?: (?:for me|great|well|perfectly))?(?=\W*\Z)|works for me",
    ),
    at_start(
        "decision.agreed",
        rf"{_NOD}(?:approved|lgtm|i (?:approve|accept|confirm)|i(?:'m| am) (?:fine|ok|okay|happy|good|comfortable) with)",
    ),
    at_start(
        "decision.chosen",
        rf"{_NOD}(?:(?:i'd|i would|i) (?:like|want|prefer) to |i(?:'m| am) (?:interested in|ready to|happy to) |let's |let us |we can )"
        r"(?:proceed|proceeding|go ahead|going ahead|go|going|move forward|moving forward) (?:with|for|ahead)",
    ),
    at_start(
        "decision.picked",
        rf"{_NOD}(?:i'll|i will|i'd|i would|i (?:want|prefer) to)(?: like to| rather| just)* (?:take|choose|pick|prefer|opt for|go with|go for|stick with|keep|use|accept)",
    ),
    at_start("decision.lets", rf"{_NOD}(?:let's|let us) (?:just |now |then |also |not )*(?!{_LOOKS}\b)[a-z]+"),
)

#: What a person asks to be done, in words that from a model would only tell of itself.
PERSON_REQUESTS = (
    at_start(
        "action.request",
        rf"{_NOD}(?:(?:i|we) (?:really |also |just |still |would |do )*(?:need|want|like|wish)|(?:i'd|we'd) (?:really |also )?(?:like|love)"
        r"|i (?:was|am) (?:hoping|looking|trying|calling)|i'm (?:hoping|looking|trying|calling))(?: you)? to "
        r"(?!know|ask|understand|see|hear|say|mention|thank|be |have |make sure|confirm that|know)[a-z]+",
    ),
)
