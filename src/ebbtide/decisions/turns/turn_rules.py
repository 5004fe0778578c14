"""Wordings by which a sentence of an agent's turn may state a choice, and by which it only names the next step.

Matched in lower case with straight apostrophes.
"""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor, PhraseRule

_LOOKS = (
    r"access|analy[sz]e|browse|check|collect|confirm|debug|determine|discover|display|double-check|examine|explore|extract|fetch|figure out"
    r"|find|gather|get|grep|identify|inspect|investigate|list|locate|look(?: at| for| up| into)?|monitor|navigate|obtain|open|print|pull up"
    r"|query|read|reproduce|retrieve|review|run|scan|search|see|show|test|understand|verify|view"
)
#: Those of them that a program does not do: "use predict to get the labels" says how it works.
_FINDS_OUT = (
    r"analy[sz]e|check|confirm|debug|determine|double-check|examine|explore|figure out|find(?: out)?|identify|inspect|investigate|locate"
    r"|look(?: at| for| up| into)?|reproduce|review|search|see|understand|verify"
)
_WE = r"(?:we|i)"
_NOW = r"(?:now |also |then |just |therefore |first |next |only |simply |instead |again )*"

#: How a choice is put forward where no word of deciding is said.
PROPOSALS = PhraseTable(
(
    PhraseRule(
        id="proposal.the-fix",
        pattern=r"(?:the|a|my|our) (?:\w+ ){0,2}(?:fix|solution|workaround|approach|remedy)(?: here| for [^,.]{1,60}| to [^,.]{1,60})?"
        r" (?:(?:is|was) (?:simply |just |probably )?to\b|(?:should|would|will|must) be (?:to|in|made in)\b"
        r"|is (?:simply |just )?(?:adding|changing|removing|using|moving|replacing|making)\b|is to (?:add|change|use|make))",
    ),
    PhraseRule(
        id="proposal.to-fix",
        pattern=rf"to (?:fix|solve|address|resolve|handle|avoid|prevent|work around|support|reduce|keep) [^.?!]{{1,100}}?,? {_WE}"
        rf"(?:'ll| will| should| need to| must| have to| can| could) {_NOW}\w+",
    ),
    PhraseRule(
        id="proposal.alternative",
        pattern=rf"(?:as an alternative|instead|as a workaround|as a fallback),? {_WE}(?:'ll| will| should| can| could|'m going to)\b",
    ),
    PhraseRule(
        id="proposal.recommend",
        pattern=rf"{_WE} (?:would |therefore |strongly )*(?:propose|recommend)(?: that)?(?: {_WE}| to| against| using| keeping| moving)?\b",
    ),
    PhraseRule(
        id="proposal.it-is", pattern=r"[\w-]+(?: [\w-]+){0,6} it is(?=[.!]?\s*\Z)", anchor=Anchor.CLAUSE
    ),
    PhraseRule(
        id="proposal.i-would",
        pattern=rf"{_WE}(?:'d| would) (?:rather |just |simply |also )*(?:keep|use|go with|drop|skip|split|avoid|make|store|put|leave|start with|prefer|choose|pick)\b",
    ),
    PhraseRule(
        id="proposal.best",
        pattern=r"(?:it(?:'s| is| would be| will be)|this is) (?:probably |likely )?(?:best|better|safer|cleaner|simpler) (?:to|if we|that we)\b",
    ),
    PhraseRule(
        id="proposal.should",
        pattern=rf"(?:so|therefore|thus|hence),? {_WE} (?:should|will|must|need to)(?! (?:{_LOOKS})\b)",
        anchor=Anchor.CLAUSE,
    ),
), lower=True
)

#: Whose choice a wording of choice speaks of; without it a sentence may as well tell what a program does.
OURS = PhraseTable(
(
    PhraseRule(
        id="ours.we", pattern=r"(?:we|i|i'm|i'd|i'll|i've|we'll|we've|we'd|we're|our|my|let's|let us)"
    ),
    PhraseRule(id="ours.norm", pattern=r"(?:should|shall|must|will|is to|are to)(?! not yet)"),
    PhraseRule(
        id="ours.kept",
        pattern=r"(?:kept|keep|chose|chosen|reuse|reused|prefer|picked|adopt|adopted|defer|deferred|rejected|opted|use)\b",
        anchor=Anchor.TEXT,
    ),
), lower=True
)

#: Lines that lead into a list of what was decided.
RECORDS = PhraseTable(
(
    PhraseRule(id="record.for-the-record", pattern=r"for the record"),
    PhraseRule(
        id="record.agreed",
        pattern=r"(?:so )?(?:we(?:'ve| have)? )?(?:agreed|decided|settled)(?: so far| on| today)*",
        anchor=Anchor.TEXT,
    ),
), lower=True
)

#: Each of these lines has one of them.
RECORD_WORDS = ("record", "agreed", "decided", "settled")

#: What is done next to find something out; nothing is chosen by it.
NEXT_STEPS = PhraseTable(
(
    PhraseRule(
        id="step.to-look",
        pattern=rf"(?:use|using|go with|go ahead with|run|call|write|create|add|make|try|pick) [^.?!]{{1,80}}? to (?:first |quickly |better )*(?:{_FINDS_OUT})\b",
    ),
    PhraseRule(
        id="step.tool",
        pattern=r"(?:use|using|try|call|with) (?:the |a |our |your |this |provided |given |available |same |`)*[\w`.-]+ (?:function|tool|command|script|api call|utility)\b",
    ),
    PhraseRule(
        id="step.look",
        pattern=rf"{_WE}(?:'ll| will| should| need to| can| could|'m going to| must) {_NOW}(?:{_LOOKS})\b",
    ),
    PhraseRule(id="step.let-me", pattern=rf"(?:let me|let's|let us) {_NOW}(?:{_LOOKS})\b"),
    PhraseRule(
        id="step.focus",
        pattern=rf"{_WE}(?:'ll| will| should| need to| can| could| must|'m going to)? {_NOW}(?:need to )?(?:focus on|follow (?:the|this|these)|gather|take a look)\b"
        r"|(?:best|better) to (?:first )?focus on",
    ),
    PhraseRule(
        id="step.proceed",
        pattern=rf"(?:{_WE}(?:'ll| will| can| should)|let's|let us|let me) {_NOW}(?:proceed|continue|start|begin|move on|go on)\b",
    ),
), lower=True
)

#: What is only thought of, asked, offered or told as the way somebody else does it.
NOT_OURS = PhraseTable(
(
    PhraseRule(
        id="other.condition",
        pattern=r"(?:if|whether|unless|in case) (?:you|the user|the customer|agreed|needed|necessary|required)\b",
    ),
    PhraseRule(
        id="other.you",
        pattern=r"(?:you|the user|the customer|users) (?:can|could|may|might|want|would like|need to|must|should|will|have to|chose|decided)\b",
    ),
    PhraseRule(
        id="other.advice",
        pattern=r"(?:recommend|suggest)(?:ing)? (?:that you|you|contacting|checking|consulting|reaching out|transferring you|verifying|visiting|a general)\b",
    ),
    PhraseRule(
        id="other.offer",
        pattern=r"(?:would you like|do you want|shall (?:i|we)|should (?:i|we)|let me know|please (?:confirm|let|provide|tell|choose|select))\b",
    ),
    PhraseRule(
        id="other.explains",
        pattern=r"(?:the|this|that) [\w' ]{1,40}(?:occurs|happens|arises|fails|is caused|comes from|is because)\b",
        anchor=Anchor.TEXT,
    ),
    PhraseRule(
        id="other.suggests",
        pattern=r"the (?:issue|error|traceback|message|documentation|docs|task|problem|manager|plan) (?:suggests?|says?|states?|asks?|requires?|recommends?|mentions?|wants)\b",
    ),
), lower=True
)

#: Words that make a turn worth reading by themselves.
SIGN_WORDS = frozenset(
    """
    adopt adopted adopting agreed agreement agreements choice choose chooses choosing chose chosen committed decided decides decision decisions
    deferred dropped elected opted opting pick picked prefer preferred prefers rejected resolution resolved select selected settled
    verdict
    """.split()
)

_CHOOSES = (
    "abandon adopt choose defer drop go going keep migrate move moving opt pick postpone prefer replace settle ship standardise"
    " standardize stick switch switching use"
)
_DOES = (
    "adopt allow avoid base cache cap choose default disable drop enable go keep leave limit migrate pin prefer rely replace reuse skip"
    " split standardise standardize stick store support switch treat use"
)
_KEEPS = (
    "accept accepted adopt adopted allow avoid avoided default defer deferred drop dropped keep keeping kept limit limited pin pinned"
    " postpone prefer preserve preserved promote promoted reject rejected require restrict restricted retain retained retaining reuse"
    " reused scope scoped standardise standardize switch switched treat treated"
)
_LINKS = (
    "ok okay now so then and but also first next finally just well great good perfect oops besides hence thus ah oh hmm here still"
    " currently already successfully therefore instead because since"
)


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


class Sign(NamedTuple):
    """A wording around one of some words.

    Args:
        words: The words, of which a turn must have one for the sign to be looked for.
        before: What ends before the word.
        after: What begins behind it.
        reach: Characters before the word in which `before` may start.
        apart: White space stands between `before` and the word.
    """

    words: str
    before: str = ""
    after: str = ""
    reach: int = 160
    apart: bool = True


#: What a turn that states a choice has beside those words. Each sign is weaker than the rule that it stands for, here
#: and in the tables of extraction and of the gate: it knows no sentences, and nothing rules it out.
SIGNS = (
    Sign(
        _CHOOSES,
        before=r"(?:(?:we|i)(?:'(?:ll|re)|\s+(?:will|shall|are))(?:\s+going\s+to)?|let's|let\s+us)"
        r"(?:\s+(?:all|also|already|both|finally|now|then|just|therefore|thus|have|had|jointly|unanimously|only|instead|not))*\s+",
    ),
    Sign(_DOES, before=r"(?:i|lets?)(?:'(?:ll|s|m))*(?:\s+(?:will|us|am|going|to|not))*\s+", reach=60),
    Sign(_KEEPS, before=rf"(?:\A|[^\w\s]|[\r\n]|(?<![a-z]){_any(_LINKS)}\s)\s*", reach=16, apart=False),
    Sign("go going went stick sticking stay staying", after=r"\s+(?:with|for)"),
    Sign("instead rather favour favor opposed lieu", after=r"\s+(?:of|than|to)"),
    Sign("over", before=r"(?:favou?r|won|wins)[\s\S]{1,120}\s"),
    Sign(
        "fix solution workaround approach remedy",
        before=r"(?:the|a|my|our)\s+(?:\w+\s+){0,2}",
        after=r"[^.]{0,90}?\s+(?:is|was|should|would|will|must)\s+(?:(?:simply|just|probably)\s+)?"
        r"(?:to|be|adding|changing|removing|using|moving|replacing|making)",
    ),
    Sign(
        "fix solve address resolve handle avoid prevent work support reduce keep",
        before=r"to\s+",
        after=r"\s[^.?!]{0,130}?(?:we|i)(?:'ll|\s+(?:will|should|need|must|have|can|could))",
        reach=16,
    ),
    Sign(
        "alternative instead workaround fallback",
        after=r",?\s+(?:we|i)(?:'ll|'m|\s+(?:will|should|can|could))",
    ),
    Sign("propose recommend", before=r"(?:we|i)\s+(?:(?:would|therefore|strongly)\s+)*"),
    Sign("it", after=r"\s+is(?![^\S\n]*[\w(,])"),
    Sign(
        "keep use go drop skip split avoid make store put leave start prefer choose pick",
        before=r"(?:we|i)(?:'d|\s+would)\s+(?:(?:rather|just|simply|also)\s+)*",
        reach=60,
    ),
    Sign(
        "best better safer cleaner simpler",
        before=r"(?:it(?:'s|\s+is|\s+would\s+be|\s+will\s+be)|this\s+is)\s+(?:(?:probably|likely)\s+)?",
        after=r"\s+(?:to|if|that)",
        reach=60,
    ),
    Sign("so therefore thus hence", after=r",?\s+(?:we|i)\s+(?:should|will|must|need)"),
    Sign("record", before=r"for\s+the\s+", reach=16),
)
