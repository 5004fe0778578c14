"""The wordings by which a sentence of raw text is taken for a question, and for one that asks nothing.

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
TO_BE_INFORMED = rf"(?:{_IF_YOU_WANT}|{_WHICH})"

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
        rf"(?:please |just |so |and )*let (?:me|us) know {TO_BE_INFORMED}",
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
