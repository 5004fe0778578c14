"""Wordings by which a sentence of a turn states a choice, by which it proposes one, and by which it does neither.

Matched in lower case with straight apostrophes. By its id a rule says where the sentence names what was chosen or ruled
out: `NAMED`.
"""

from __future__ import annotations

from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor, PhraseRule, anywhere, at_start

#: By the first part of a rule's id, which slot it fills, and where that stands: after its words, before, or all of it.
NAMED = {
    "choice": ("choice", "after"),
    "proposal": ("choice", "after"),
    "approval": ("choice", "after"),
    "fits": ("choice", "before"),
    "policy": ("choice", "whole"),
    "out": ("over", "after"),
    "gone": ("over", "before"),
}

_WE = r"(?<!if )(?<!when )(?<!whether )(?<!unless )(?<!once )(?<!until )(?<!what )(?<!how )(?<!where )(?<!because )(?<!that )(?:we|i)"
_LETS = r"(?:let's|lets|let us)"
_BY_THE_WAY = (
    r"(?:(?:all|also|always|already|both|finally|now|then|just|therefore|thus|hence|only|instead|simply|rather|still|really|actually|have"
    r"|had|definitely|deliberately|explicitly|for now) )*"
)
_FILLER_BEFORE = r"(?:(?:so|then|therefore|thus|hence|and|but|ok|okay|please|pls|just|no|yes|also|now|in that case|for now|then let)[,:]? )*"



def firm(name: str, pattern: str) -> PhraseRule:
    """A rule of that name for any place, which holds for a next step too: "let's proceed with option B"."""
    return PhraseRule(id=name, pattern=pattern, weight=FIRM)


#: The weight of such a rule.
FIRM = 2.0

#: To take one thing among others; `_TAKING` is the same with -ing.
_TAKE = (
    r"(?:go (?:with|for|w/)|stick (?:with|to|w/)|stay (?:with|on|at|w/)|keep(?! (?:going|looking|trying|working|digging|exploring|in mind|an eye|track))"
    r"|use|take(?! (?:a|another) (?:look|step|break|closer))|adopt|choose|pick|opt for|settle (?:on|for)|standardi[sz]e on|switch to|migrate to"
    r"|move to(?! the next)|prefer|ship|default to|call (?:it|them|this)|rely on|reuse|accept)"
)
_TAKING = (
    r"(?:going (?:with|for)|sticking (?:with|to)|staying (?:with|on|at)|keeping(?! (?:an eye|track))|using|taking|adopting|choosing|picking"
    r"|opting for|settling (?:on|for)|standardi[sz]ing on|switching to|migrating to|moving to|shipping|defaulting to)"
)
#: To leave one out.
_DROP = (
    r"(?:drop|skip|leave out|leave (?=[^.?!,]{1,60} out\b)|abandon|postpone|defer|reject|rule out|exclude|avoid|hold off on|get rid of)"
)
_DROPPING = r"(?:dropping|skipping|leaving out|abandoning|postponing|deferring|rejecting|ruling out|excluding|avoiding|getting rid of)"
_MAKE = (
    r"(?:add|include|change|touch|use|remove|implement|introduce|bump|rename|modify|refactor|support|create|write|make|fix|install|enable|keep"
    r"|move|rewrite|merge|push|commit|ship|build|do|put|set|store|require|update|extend|split|replace|delete)"
)
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
_OPTION = r"(?:option|approach|variant|alternative|plan|choice)"

#: By whoever speaks. Each states a choice by itself.
CHOICES = PhraseTable((
    anywhere("choice.lets", rf"{_LETS} (?:not )?{_BY_THE_WAY}(?:not )?{_TAKE}"),
    anywhere("out.lets", rf"{_LETS} {_BY_THE_WAY}{_DROP}|{_LETS} (?:not|no longer) [a-z]+"),
    anywhere("choice.will", rf"{_WE}(?:'ll| will| shall|'re going to| are going to|'m going to| am going to) {_BY_THE_WAY}{_TAKE}"),
    anywhere("choice.taking", rf"{_WE}(?:'re| are|'m| am) {_BY_THE_WAY}{_TAKING}"),
    anywhere("out.will", rf"{_WE}(?:'ll| will| shall|'re going to| are going to|'m going to| am going to) {_BY_THE_WAY}{_DROP}"),
    anywhere("out.dropping", rf"{_WE}(?:'re| are|'m| am) {_BY_THE_WAY}{_DROPPING}"),
    anywhere("out.will-not", rf"{_WE}(?:'ll not| will not| won't| shall not|'re not going to| are not going to|'m not going to| am not going to) {_BY_THE_WAY}{_MAKE}"),
    anywhere("choice.on-purpose", rf"{_WE}(?:'ve| have)? (?:deliberately|intentionally|purposely|consciously) [a-z]+"),
    firm("choice.option", rf"(?:go|going|went|proceed|proceeding|continue|do|take|choose|pick|implement) (?:ahead )?(?:with )?(?:the )?(?:[\w-]+ )?{_OPTION} (?:[a-z]|\d|one|two|three)"),
    anywhere("choice.chose", rf"{_WE}(?:'ve| have)? {_BY_THE_WAY}(?:chose|chosen|picked|opted for|adopted|settled on|went with|stuck with|favou?red)"),
    PhraseRule(id="choice.it-is", pattern=r"(?:(?!what|which|how|where|kind|and|but|that|whatever|as)[\w-]{1,60} ){1,5}it is[.!](?=\s*\Z)", anchor=Anchor.CLAUSE),
    anywhere("choice.instead-of", r"instead of [^.?!,]{3,90}, (?:we|i)(?:'ll| will| should| shall)"),
    anywhere("choice.to-fix", r"to (?:fix|solve|address|resolve|avoid|prevent|work around) [^.?!]{1,100}?,? (?:we|i) (?:should|need to|must|have to)"),
    anywhere("choice.alternative", r"as (?:an alternative|a workaround|a fallback),? (?:we|i)(?:'ll| will| can| could)"),
    anywhere("gone.off-the-table", r"(?:is|are)(?: now)? (?:off the table|ruled out|not an option)"),
), lower=True)

#: What a person says, whose choice it is: orders first.
PERSONS = PhraseTable((
    at_start("choice.order", rf"{_FILLER_BEFORE}{_TAKE}(?! of\b)"),
    at_start("out.order", rf"{_FILLER_BEFORE}(?:{_DROP}|leave [^.?!]{{1,40}}? (?:out|alone|as is|for later)|no [^.?!]{{1,40}} please|please no)"),
    at_start("policy.order", rf"{_FILLER_BEFORE}(?:never|always|only ever) [a-z]+"),
    at_start("out.do-not", rf"{_FILLER_BEFORE}(?:don't|do not|dont|no longer) (?:ever )?{_MAKE}"),
    PhraseRule(id="policy.from-now-on", pattern=r"(?:from now on|going forward|in (?:the )?future|henceforth)", anchor=Anchor.CLAUSE),
    at_start("policy.all", r"(?:all|every|each) (?:[\w`'-]+ ){1,8}?(?:will|must|shall|should|needs? to|has to|have to)"),
    PhraseRule(id="choice.we-take", pattern=rf"(?:(?:so|then|therefore|and|but) )?we {_BY_THE_WAY}{_TAKE}", anchor=Anchor.CLAUSE),
    anywhere("choice.and-we-take", r"(?:and|so|therefore) we (?:stay (?:on|with|at)|stick (?:with|to)|take|ship|keep|drop|go with)"),
    PhraseRule(id="out.we-drop", pattern=rf"we {_BY_THE_WAY}{_DROP}", anchor=Anchor.CLAUSE),
    anywhere("choice.want", rf"{_WE}(?:'d| would)? {_BY_THE_WAY}(?:want|like|prefer|love) to {_BY_THE_WAY}(?:{_TAKE}|have|pay)"),
    anywhere("choice.rather", rf"{_WE}(?:'d| would) (?:much |just |really )*(?:rather|prefer)"),
    PhraseRule(id="out.not-wanted", pattern=r"(?:i |we )?(?:really )?(?:don't|do not|dont) (?:(?:think|believe) (?:we|i) )?(?:really )?(?:want|need|like)", anchor=Anchor.CLAUSE),
    PhraseRule(id="choice.it-is", pattern=r"(?:(?!what|which|how|where|kind|and|but|that|whatever|as)[\w-]{1,60} ){1,5}it is(?=\W*\Z)", anchor=Anchor.CLAUSE),
    anywhere("fits.best", r"(?:sounds|looks|seems|works) (?:the )?(?:best|better|preferable)"),
    anywhere("choice.like", r"i (?:really )?(?:like|love) (?:your|the|that|this) (?:[\w-]+ )?(?:rec|recs|recommendations?|suggestions?|proposals?|approach|idea|plan|options?|first|second|third)"),
    at_start("choice.option", r"(?:the )?(?:first|second|third|fourth|former|latter|last) (?:option|one|variant|approach|choice)(?! (?:is|was|has|had|fails?|does|did|needs?|looks|seems))"),
    at_start("choice.option", rf"{_OPTION} (?:[a-z]|\d|one|two|three)(?! (?:is|was|has|had|fails?|does|did|needs?|looks|seems|means|would))"),
    PhraseRule(id="choice.instead", pattern=r"instead,? (?:only|use|just|do|let|we|keep|make|put)", anchor=Anchor.CLAUSE),
    anywhere("fits.fine", r"(?:is|are) (?:fine|ok|okay|good enough|acceptable) (?:for|as|with|in)"),
    anywhere("choice.happy", r"(?:i'm|i am|we're|we are) (?:happy|fine|ok|okay|good|comfortable) with"),
    PhraseRule(id="approval.proceed", pattern=r"(?:yes|yeah|yep|sure|ok|okay|please|and|then|great|perfect)[,.!]? (?:please )?(?:proceed|go ahead|do (?:it|that|so))", anchor=Anchor.CLAUSE),
    firm("choice.first", rf"{_WE} (?:should|will|'ll) [^.?!]{{2,160}} before \w+ing"),
), lower=True)

#: What states a choice where it also says over what.
COMMITMENTS = PhraseTable((
    at_start("choice.use", rf"{_FILLER_BEFORE}(?:{_TAKE}|{_DROP}|store|return|treat|make|put|kept|chose|picked|used|reused|deferred|rejected|dropped|retained|default)"),
    anywhere("choice.commit", rf"{_WE}(?:'ll| will| shall|'re going to| are going to|'m going to| am going to) {_BY_THE_WAY}(?!(?:{_LOOKS}|need|have|be|know|want|make sure|start|begin|continue)\b)[a-z]+"),
    PhraseRule(id="choice.we", pattern=rf"we {_BY_THE_WAY}(?:{_TAKE}|{_DROP})", anchor=Anchor.CLAUSE),
    anywhere("choice.made", rf"{_WE}(?:'ve| have)? {_BY_THE_WAY}(?:kept|left|limited|pinned|reused|dropped|skipped|rejected|deferred|avoided)"),
    anywhere("out.did-not", rf"{_WE} (?:did not|didn't|have not|haven't) {_BY_THE_WAY}(?:{_MAKE}|added|included|changed|touched|used|removed|bumped|renamed|modified)"),
    at_start("choice.instead", r"instead,? (?:we|i)"),
    anywhere("proposal.should", rf"{_WE} should {_BY_THE_WAY}(?!(?:{_LOOKS})\b)[a-z]+"),
), lower=True)

#: What puts a choice forward: it is one where it is then accepted, or carried out.
RECOMMENDATIONS = PhraseTable((
    anywhere("proposal.the-fix", r"(?:the|a|my|our) (?:\w+ ){0,2}(?:fix|solution|workaround|approach|remedy)(?: here| for [^,.]{1,60}| to [^,.]{1,60})?"
        r" (?:(?:is|was) (?:simply |just |probably )?to\b|(?:should|would|will|must) be (?:to|in|made in)\b"
        r"|is (?:simply |just )?(?:adding|changing|removing|using|moving|replacing|making)\b)"),
    anywhere("proposal.recommend", r"(?:we|i)(?:'d|'ll)? (?:(?:would|will|therefore|strongly|also) )*(?:propose|recommend|suggest|advise)"),
    anywhere("proposal.recommendation", r"(?:recommendation|suggestion|proposal|preference)(?: is| would be|:)"),
    anywhere("proposal.recommended", r"\(recommended\)"),
    anywhere("proposal.i-would", rf"i(?:'d| would) {_BY_THE_WAY}(?:personally )?(?:do|start with|split|make|store|put|leave|lean|{_TAKE}|{_DROP})"),
    anywhere("proposal.what-i-would", r"what (?:i'd|i would|we could) (?:suggest|do|propose|recommend)"),
    anywhere("proposal.best", r"(?:it(?:'s| is| would be| will be)|this is) (?:probably |likely )?(?:best|better|safer|cleaner|simpler) (?:to|if we|that we)"),
), lower=True)

#: How a turn begins that accepts what was put forward before it.
ACCEPTANCES = PhraseTable((
    at_start("accept.yes", r"(?:yes|yeah|yep|yup|sure|ok|okay|agreed|approved|lgtm|great|perfect|exactly|please do|go ahead|do (?:it|that|so)|proceed|ship it|sounds good|makes sense|good idea|let's do)"
        r"(?!,? (?:but|however|though|wait|why|what|how|where|who|when|is|are|can|could|does|did))"),
    at_start("accept.like", r"i (?:agree|concur|like (?:it|that|this|your))(?!,? (?:but|however|though))"),
    at_start("accept.option", rf"(?:the )?(?:{_OPTION} )?(?:[a-z]|\d|first|second|third|recommended)(?: one)?(?: please)?(?=\W*\Z)"),
), lower=True)

#: A thing set against another. Each has slots: the groups `choice`, `over` and `why`, as far as it says so.
_THING = r"[^,.;:?!()]"
ALTERNATIVES = PhraseTable((
    anywhere("over.rather-than", rf"(?P<choice>{_THING}{{2,120}}?)?,? ?(?:rather than|instead of|as opposed to|in lieu of|in place of) (?P<over>{_THING}{{2,90}})"),
    anywhere("over.over", rf"(?:prefer|chose|choose|choosing|chosen|pick|picked|use|take|keep|favou?r|go with|went with|going with) (?P<choice>{_THING}{{2,90}}?) over"
        rf" (?!time|the (?:course|years|next|last)|\d)(?P<over>{_THING}{{2,90}})"),
    anywhere("over.not", rf"(?P<choice>[^.;:?!()]{{2,120}}), (?:and )?not (?!only|sure|yet|because|just|that\b|necessarily|to mention|really|even|much|so\b|too\b|a (?:big|problem))"
        rf"(?P<over>{_THING}{{2,90}})"),
    anywhere("over.no-longer", rf"no longer (?P<over>{_THING}{{2,90}})"),
    anywhere("over.from", rf"(?:switch|switched|switching|move|moved|moving|migrate|migrated|migrating) from (?P<over>{_THING}{{2,60}}?) to (?P<choice>{_THING}{{2,90}})"),
), lower=True)
REASONS = PhraseTable((
    anywhere("why.because", r"(?:because|so that|due to|given that|in order to)(?: of)? (?P<why>[^.;?!]{3,200})"),
    at_start("why.since", r"(?:\w+ )?(?:since|given|as|because) (?P<why>[^.;?!,]{3,200}),"),
    anywhere("why.since", r"since (?P<why>(?!then|yesterday|last|the (?:last|beginning|start)|v?\d)[^.;?!]{3,200})"),
    anywhere("why.worth", r"(?P<why>(?:to|which|that|it|they|this) (?:avoid|avoids|prevent|prevents|keep|keeps|need no|needs no|save|saves|require no|requires no|reduce|reduces|does not need"
        r"|doesn't need|does not require|doesn't require|is (?:simpler|faster|safer|cheaper|enough))\b[^.;?!]{0,160})"),
), lower=True)

#: Lines that lead into a list of what was decided.
RECORDS = PhraseTable((
    anywhere("record.for-the-record", r"for the record"),
    at_start("record.agreed", r"(?:so )?(?:we(?:'ve| have)? )?(?:agreed|decided|settled)(?: so far| on| today)*"),
    at_start("record.decisions", r"(?:key |our |the )*decisions?(?: (?:locked(?: in)?|made|taken|confirmed|so far|from [\w ]{1,30})(?!\w))++"),
), lower=True)

#: What is done next; nothing is chosen by it unless it is set against something else.
NEXT_STEPS = PhraseTable((
    anywhere("step.to-look", rf"(?:use|using|go with|go ahead with|run|call|write|create|add|make|try|pick) [^.?!]{{1,80}}? to (?:first |quickly |better )*(?:{_FINDS_OUT})\b"),
    anywhere("step.tool", r"(?:use|using|try|call|with) (?:the |a |an |our |your |this |provided |given |available |same |`)*[\w`.-]+ (?:function|tool|command|script|api call|utility|skill|agents?|subagents?|workflow)\b"),
    anywhere("step.given", r"(?:use|using|take|follow) (?:the |this |that |these |those )?(?:[\w-]+ )?(?:provided|given|from the (?:pr|issue|description)|following)\b"),
    anywhere("step.look", rf"(?:we|i)(?:'ll| will| should| need to| can| could|'m going to| must) {_BY_THE_WAY}(?:{_LOOKS})\b"),
    anywhere("step.let-me", rf"(?:let me|let's|let us) {_BY_THE_WAY}(?:{_LOOKS})\b"),
    anywhere("step.focus", rf"(?:we|i)(?:'ll| will| should| need to| can| could| must|'m going to)? {_BY_THE_WAY}(?:need to )?(?:focus on|follow (?:the|this|these)|gather|take a look)\b"
        r"|(?:best|better) to (?:first )?focus on"),
    anywhere("step.proceed", rf"(?:(?:we|i)(?:'ll| will| can| should)|let's|let us|let me) {_BY_THE_WAY}(?:proceed|continue|start|begin|move on|go on)\b"),
    anywhere("step.i-use", r"(?:i'll|i will|i'm going to|i am going to|let me) (?:now |also |then |just |simply |first |instead )*(?:use|take|accept|call|pick|using|replace)\b"),
    anywhere("step.can", r"(?:we|i) (?:can|could) (?:also |just |simply |instead )*(?:use|keep|drop|skip|switch|go)\b"),
    firm("step.script", r"(?:write|create|construct|use|make|rewrite|modify) (?:a |an |the |another |this )?(?:[\w-]+ ){0,2}(?:script|program|one-liner)\b"),
    firm("step.try", r"(?:i'll|i will|i'm going to|let me|let's) (?:now |also |then |just |first |instead )*(?:try|help|revert|undo|retry)\b"),
    anywhere("step.ongoing", r"(?:we're|we are|i'm|i am) (?:now |currently |still |already |just |only )*(?:using|taking|moving to)\b"),
), lower=True)

#: Choices that are only thought of, asked, offered, remembered or described as the way somebody else does it.
NOT_OURS = PhraseTable((
    anywhere("other.condition", r"(?:if|whether|unless|in case) (?:you|the user|the customer|agreed|needed|necessary|required)\b"),
    anywhere("other.you", r"(?:you|the user|the customer|users) (?:can|could|may|might|want|would like|need to|must|should|will|have to|chose|decided)\b"),
    anywhere("other.advice", r"(?:recommend|suggest)(?:ing)? (?:that you|you|contacting|checking|consulting|reaching out|transferring you|verifying|visiting|a general)\b"),
    anywhere("other.offer", r"(?:would you like|do you want|shall (?:i|we)|should (?:i|we)|let me know|please (?:confirm|let|provide|tell|choose|select))\b"),
    at_start("other.explains", r"(?:the|this|that) [\w' ]{1,40}(?:occurs|happens|arises|fails|is caused|comes from|is because)\b"),
    anywhere("other.suggests", r"the (?:issue|error|traceback|message|documentation|docs|task|problem|manager|plan) (?:suggests?|says?|states?|asks?|requires?|recommends?|mentions?|wants)\b"),
    anywhere("other.undecided", r"(?:nothing|nobody|no one|not|never|isn't|wasn't|haven't) (?:is |was |has |been |yet |we )*(?:decided|agreed|settled|made a decision)\b"),
    anywhere("other.remembered", r"(?:as far as i (?:remember|recall|know)|if i (?:remember|recall)|i (?:remember|recall)|correct me if)\b"),
    at_start("other.user", r"(?:the |our )?user(?:'s)? (?:is|was|wants?|says?|said|asks?|asked|suggest\w*|request\w*|chose|prefers?|decided|approved|confirmed)"),
    anywhere("other.tentative", r"(?:personally|i tend|i'm leaning|i lean|maybe|perhaps|not sure|i wonder)\b"),
    at_start("other.if-we", rf"if (?:we|i) {_BY_THE_WAY}(?:{_TAKE}|{_DROP})"),
), lower=True)
