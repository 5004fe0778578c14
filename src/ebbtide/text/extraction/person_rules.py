"""The wordings by which a person approves of something, chooses, or asks for something to be done.

They are looked for at the start of a sentence that a person says, before greetings and thanks are left out:
"That sounds good" from a model is politeness, from a person it is a decision.
"""

from __future__ import annotations

from ebbtide.text.phrases import at_start

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
REQUESTS = (
    at_start(
        "action.request",
        rf"{_NOD}(?:(?:i|we) (?:really |also |just |still |would |do )*(?:need|want|like|wish)|(?:i'd|we'd) (?:really |also )?(?:like|love)"
        r"|i (?:was|am) (?:hoping|looking|trying|calling)|i'm (?:hoping|looking|trying|calling))(?: you)? to "
        r"(?!know|ask|understand|see|hear|say|mention|thank|be |have |make sure|confirm that|know)[a-z]+",
    ),
)
