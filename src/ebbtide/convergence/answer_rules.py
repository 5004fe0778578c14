"""The wordings that bring an answer, and those that take it back or give it to somebody else."""

from __future__ import annotations

from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor, PhraseRule

_ADJECTIVE = r"(?:(?:updated|revised|final|correct|right|best|overall|consensus|numerical|same|agreed|own) ){0,3}"
_IS = r"(?: (?:for|to) [^.:;,?!\n]{1,80})?(?: is:?|'s| remains| stays| would be| should be| must be| will be| =|:)"

_OWN = "get|got|obtain|arrive at|stand by|maintain|keep|stick (?:with|to)|go with|settle on|propose|conclude|end up with"

#: "The answer is X": what follows is the answer, whatever it is.
NAMED = PhraseTable(
    (
        PhraseRule(id="answer.named", pattern=rf"{_ADJECTIVE}answers?{_IS}"),
        PhraseRule(id="answer.voted", pattern=r"(?:i|we)(?: would|'d| still| also| now)? (?:choose|pick|select|vote for)"),
        PhraseRule(id="answer.vote", pattern=rf"(?:my|our) {_ADJECTIVE}(?:vote|choice|verdict|pick){_IS}"),
    )
)
#: What follows is an answer where it is a number or a choice: "the total is 80", "I get 80".
RESULTS = PhraseTable(
    (
        PhraseRule(
            id="answer.result",
            pattern=rf"{_ADJECTIVE}(?:result|solution|value|total|verdict|conclusion|choice|option){_IS}",
        ),
        PhraseRule(
            id="answer.own",
            pattern=(
                rf"(?:i|we)(?: still| also| now| would|'d|'ll| will)? (?:{_OWN})"
                rf"(?: that)?(?: (?:the|an?|my|our))? ?{_ADJECTIVE}(?:(?:answer|result|value|option|choice)(?: of| is)?)?"
            ),
        ),
    )
)
#: One of these stands in every line that NAMED or RESULTS may match.
HINTS = (
    *("answer", "choose", "pick", "select", "vote", "choice", "verdict", "result", "solution", "value", "total"),
    *("conclusion", "option", "i ", "i'd", "i\u2019d", "i'll", "i\u2019ll", "we ", "we'd", "we\u2019d", "we'll", "we\u2019ll"),
)
#: A sentence that draws a conclusion.
CONCLUSIONS = PhraseTable(
    (
        PhraseRule(
            id="answer.concluded",
            pattern=r"(?:so|therefore|thus|hence|consequently|overall|ultimately|in (?:conclusion|summary|short)|to conclude)",
            anchor=Anchor.TEXT,
        ),
        PhraseRule(id="answer.position", pattern=r"(?:my|our) (?:final )?(?:position|conclusion|recommendation|view) is"),
    )
)
#: Before "the answer is" in its clause: it is denied, supposed, asked for, or somebody else's.
NOT_STATED = PhraseTable(
    (
        PhraseRule(id="unstated.denied", pattern=r"not|never|cannot|\w+n't|no longer|doubt|unlikely|hardly"),
        PhraseRule(
            id="unstated.supposed",
            pattern=r"if|whether|unless|until|once|suppose|assum\w+|maybe|perhaps|might|could|would|what|which|why|how",
        ),
        PhraseRule(
            id="unstated.another",
            pattern=r"\w+(?:'s|s')|your|his|her|their|its|other|another|previous|earlier|initial|original|first|old",
        ),
    )
)
#: After "the answer is": something about the answer, and not the answer.
ABOUT_IT = PhraseTable(
    (
        PhraseRule(
            id="about.answer",
            pattern=(
                r"(?:not|incorrect|wrong|correct|right|unclear|unknown|clear|different|the same|based|still|also|consistent"
                r"|given|as follows|provided|found|verified|accurate|in|on|at|there|here|now|likely|probably|to be|being"
                r"|required|needed|complete|final|ready|a number|an? (?:single|integer)|expected)"
            ),
            anchor=Anchor.TEXT,
        ),
    )
)
