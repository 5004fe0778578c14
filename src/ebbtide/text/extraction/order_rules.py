"""The wordings by which a sentence of raw text is taken for an action that somebody is to do, or will do.

The part of an id before the dot is what the rule finds. Patterns are matched in lower case with straight
apostrophes.
"""

from __future__ import annotations

from ebbtide.text.phrases import anywhere, at_start

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

