"""Weak signs that a person's sentence chooses something, or does not.

None says it alone: their weights are fitted, and stand in `person_signs.json`. Matched in lower case with straight
apostrophes.
"""

from __future__ import annotations

from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import PhraseRule, anywhere, at_start

_FILLER = (
    r"(?:(?:(?:so|ok|okay|then|and|but|yes|no|now|please|pls|just|also|yeah|great|cool|sure|instead)[,.:]?"
    r"|\d+(?:[.)][,.:]?|[,:])?) +)*"
)
_LOOKS = (
    r"access|analy[sz]e|ask|browse|check|compare|confirm|continue|debug|describe|determine|examine|explain|explore|figure|find|fix|gather"
    r"|get|grep|help|identify|inspect|investigate|list|locate|look|monitor|open|print|proceed|query|read|reproduce|rerun|research|retrieve"
    r"|review|run|scan|search|see|show|start|summari[sz]e|tell|test|think|try|understand|verify|view|wait"
)
_CHANGES = (
    r"add|address|allow|apply|change|configure|convert|copy|create|delete|disable|drop|enable|exclude|extend|handle|hide|ignore|implement"
    r"|include|install|keep|leave|limit|link|make|merge|move|put|refactor|remove|rename|replace|restrict|return|revert|set|skip|split"
    r"|store|support|switch|sync|uninstall|update|upgrade|use|write"
)
_DID = r"(?:left|kept|chose|used|made|added|removed|replaced|changed|went|took|dropped|skipped|limited|moved|put)"

#: By mood, who acts, modal verb, contrast, worth and act.
SIGNS = PhraseTable((
    at_start("mood.order-look", rf"{_FILLER}(?:{_LOOKS})"),
    at_start("mood.order-change", rf"{_FILLER}(?:{_CHANGES})"),
    at_start("mood.order-not", rf"{_FILLER}(?:don't|do not|dont|never|no need|stop)"),
    at_start("mood.lets", rf"{_FILLER}(?:let's|lets|let us)"),
    at_start("mood.condition", r"(?:if|when|unless|once)"),
    at_start("mood.question", r"(?:what|why|how|which|who|where|is|are|do|does|did|can|could|should|would|will)"),
    at_start("mood.statement", r"(?:the|this|that|these|it|there|a|an)"),
    at_start("mood.yes", r"(?:yes|yeah|yep|sure|ok|okay|agreed|approved|go ahead|please do|great|perfect|sounds good)"),
    at_start("mood.no", r"no"),
    anywhere("who.we-will", r"we(?:'ll| will| shall|'re going to| are going to)"),
    anywhere("who.i-will", r"i(?:'ll| will|'m going to|'m gonna| am going to)"),
    anywhere("who.i-would", r"i(?:'d| would)"),
    anywhere("who.we", r"we"),
    anywhere("who.i", r"i"),
    anywhere("who.you", r"you"),
    anywhere("who.the-user", r"the (?:user|task|issue|customer)"),
    anywhere("who.i-did", rf"i {_DID}"),
    anywhere("who.want", r"(?:i|we)(?:'d| would)? (?:don't |do not )?(?:like|want|prefer|need)"),
    anywhere("modal.can", r"(?:can|could)"),
    anywhere("modal.might", r"(?:might|may|maybe|perhaps|possibly|probably)"),
    anywhere("modal.allowed", r"(?:allowed|supposed|required)"),
    anywhere("modal.will-be", r"will (?:not )?be"),
    anywhere("modal.cannot", r"(?:cannot|can't)"),
    anywhere("contrast.not", r"(?:not|no|never|without|nor|\w+n't)"),
    anywhere("contrast.no-longer", r"(?:no longer|no more|anymore)"),
    anywhere("contrast.only", r"(?:only|just)"),
    anywhere("contrast.always", r"(?:always|never|from now on|going forward|henceforth|every|each|all)"),
    anywhere("contrast.instead", r"(?:instead|rather than|rather|as opposed to|in favou?r of|over|other than)"),
    PhraseRule(id="contrast.not-but", pattern=r"(?:and )?not\b[^.]{1,60}, but|(?<=, )(?:and )?not"),
    anywhere("worth.better", r"(?:better|best|simpler|safer|cleaner|cheaper|correct|right|enough|sufficient|fine|okay|good)"),
    anywhere("worth.because", r"(?:because|since|so that|due to|to avoid|in order to|given|therefore|thus|hence|as it|avoids|reason)"),
    anywhere("worth.recommend", r"(?:recommend|recommended|recommendation|suggest|suggestion|propose|proposal)"),
    anywhere("act.decide", r"(?:decided?|decides|agreed?|chose|chosen|choose|pick|picked|prefer|preferred|settled?|opted|decisions?)"),
    anywhere("act.take", r"(?:go with|going with|went with|stick|stays?|keep|keeping|kept|use|using|take|adopt|switch|ship)"),
    anywhere("act.drop", r"(?:drop|dropped|skip|skipped|leave|left|ignore|excluded?|removed?|reject|rejected|avoid|defer|deferred|postpone|retire|revert|reverting"
        r"|close|closing|disable|uninstall)"),
    anywhere("act.change", rf"(?:{_CHANGES})"),
    anywhere("act.proceed", r"(?:proceed|go ahead|move forward|do it|do that)"),
    anywhere("act.please", r"(?:please|pls)"),
), lower=True)
