"""What takes a report of an outcome back, or leaves it as it is: polarity, announcements, offers and caveats.

Patterns are matched in lower case with straight apostrophes, sentence by sentence.
"""

from __future__ import annotations

from ebbtide.text.phrases import anywhere, at_start

#: What stands before a report in its sentence and takes it back: it has not happened, or is asked or supposed.
NOT_YET = (
    anywhere(
        "open.condition",
        r"if|once|when(?:ever)?|after|until|till|unless|before|as soon as|whether|in case|should"
            r"|would|could|might|may|can|will|to"
        r"|need|needs|must|let's|ensure|make sure|verify|check|see|so that|in order|assuming"
            r"|provided|want|going to|plan|goal|expect(?:ed)?|suppose|try",
    ),
    anywhere(
        "open.negation",
        r"not|n't|isn't|aren't|hasn't|haven't|wasn't|weren't|never|nothing|nobody|no|none|without"
            r"|hardly|barely|almost|nearly|partly|partially|half|yet to|far from|don't|doesn't|didn't",
        ),
)
#: What follows a report in its sentence and takes it back.
NOT_ALL = (anywhere("open.part", r"so far|yet|for now|except|apart from|other than|of \d+|out of \d+|but (?:not|there|the|it"
            r"|i|we|one|two|still)|however|although|remain(?:s|ing)?|to go|left"),)

#: What an agent says it is about to do: work goes on.
GOES_ON = (
    at_start(
        "going_on.intent",
        r"(?:(?:now|next|first|then|so|ok|okay|and|but|also|finally|great|good|perfect|alright"
            r"|thought|with that(?: done)?|after that)\W+){0,3}"
        r"(?:let me(?! know)|let's(?! conclude| terminate| end| finali[sz]e)|let us"
            r"|i(?: still)? (?:need to|should|want to|must|have to)|we (?:need to|still need to|should"
            r"|must|can now)"
        r"|(?:time to|going to|moving on|continuing|proceeding|starting|next up|running|checking"
            r"|working on|looking (?:into|at)|driving|heading|scanning|searching|reading))",
    ),
    anywhere(
        "going_on.promise",
        r"(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to|'m now| am now"
            r"|'m about to| am about to|'m still| am still|'m currently| am currently)"
        r" (?!be (?:happy|glad|here|able|waiting|back)|let you|leave|stop|wait|await|conclude"
            r"|finali[sz]e|terminate|end|hold|need|not |submit|waiting|blocked|unable|hand|pass|done"
            r"|mark)\w+",
    ),
    anywhere(
        "going_on.doing",
        r"(?:i'm|i am|we're|we are) (?:now |still |currently |already )?"
        r"(?!waiting|putting|closing|handing|passing|leaving|stopping|transferring|escalating"
            r"|going to|ending|giving|blocked|having|missing|being|hoping|asking|sorry|not\b)\w+ing",
    ),
    anywhere(
        "going_on.next",
        r"(?:comes?|is|are|up|do|\w+ing) next(?=\W*\Z|:)|(?:the )?next (?:step|thing|up|round|part"
            r"|one|command) (?:is|are|would|will|i|we)|now (?:for|on to|to) (?:the|step|part)"
            r"|(?:starting|beginning|continuing) with",
        ),
    anywhere(
        "going_on.not-done",
        r"(?:not|n't|isn't|aren't|hasn't|haven't) (?:yet )?(?:been )?(?:done|finished|complete(?:d)?"
            r"|ready|over)(?: yet)|not (?:yet|done yet)|(?<!you )(?:still|yet) (?:to (?:do|come|be)"
            r"|needs?|need(?:s|ed)? (?:to|work)|missing|remaining|in progress|running|working|don't know"
            r"|have to)|(?:is|are) (?:now |still |currently )?(?:running|under way|underway"
            r"|in progress)(?=\W*\Z)"
        r"|work in progress|halfway|half ?way|so far|to be continued|(?:remains?|left) to (?:do|be)"
            r"|more (?:steps|work|to do)|\d\d? ?% (?:done|complete|finished)|(?:is )?at \d\d? ?%"
            r"|once (?:this|that|it) (?:is|has|returns|ends)",
    ),
)

#: An offer of more, which asks nothing of the person: the work was handed over before it.
OFFER = (
    # What is proposed and asked hands the work back, where nothing else is reported.
    anywhere(
        "offer.proposal",
        r"(?:would|do) you (?:like|want)(?: me)?(?: to)? (?:(?:also|help|more|explain|elaborate|see"
            r"|know|continue with|add)\b|.{0,40}(?:more|further|another|else|as well|too|also)\b)"
            r"|(?:want|like) me to (?:also|explain|elaborate)",
    ),
    anywhere(
        "offer.more",
        r"anything (?:else|more)|any (?:other|further|more|additional|questions)|(?:is there"
            r"|do you have|if you have|if there(?:'s| is)) (?:any|something|more)|need (?:any|more"
            r"|further|help|assistance)"
        r"|how (?:else )?(?:can|may) i (?:help|assist)|can i (?:help|assist)|feel free|happy to help"
            r"|hope (?:this|that) helps|let me know if (?:you(?:'d| would)? (?:have|need|like (?:more"
            r"|any|further|help|to (?:add|know|discuss|explore))|want (?:more|any|further|to)|run into"
            r"|see|spot|notice|face|encounter)|there(?:'s| is| are)|anything|i can|any|something)"
            r"|does (?:that|this|it) (?:help|make sense|answer|clear|clarify|sound)",
    ),
)

#: What marks a failure as a remark beside work that is done.
CAVEATS = (
    at_start("caveat.note", r"(?:note|caveat|nb|one (?:thing|caveat|note)|known (?:issue|limitation)s?|warning|limitations?)\b"),
    anywhere(
        "caveat.unrelated",
        r"pre-?existing|unrelated|already (?:failing|broken|failed)|before (?:my|this|the) changes?"
            r"|separate(?:ly)? from|not (?:related|caused)|out of scope",
        ),
)
