"""The wordings that bring an answer, and those that take it back or give it to somebody else."""

from __future__ import annotations

from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import anywhere, at_start

_ADJECTIVE = r"(?:(?:updated|revised|final|correct|right|best|overall|consensus|numerical|same|agreed|own) ){0,3}"
_IS = r"(?: (?:for|to) [^.:;,?!\n]{1,80})?(?: is:?|'s| remains| stays| would be| should be| must be| will be| =|:)"

_OWN = "get|got|obtain|arrive at|stand by|maintain|keep|stick (?:with|to)|go with|settle on|propose|conclude|end up with"

#: "The answer is X": what follows is the answer, whatever it is.
NAMED = PhraseTable(
    (
        anywhere("answer.named", rf"{_ADJECTIVE}answers?{_IS}"),
        anywhere("answer.voted", r"(?:i|we)(?: would|'d| still| also| now)? (?:choose|pick|select|vote for)"),
        anywhere("answer.vote", rf"(?:my|our) {_ADJECTIVE}(?:vote|choice|verdict|pick){_IS}"),
    )
)
#: What follows is an answer where it is a number or a choice: "the total is 80", "I get 80".
RESULTS = PhraseTable(
    (
        anywhere(
            "answer.result",
            rf"{_ADJECTIVE}(?:result|solution|value|total|verdict|conclusion|choice|option){_IS}",
        ),
        anywhere(
            "answer.own",
            rf"(?:i|we)(?: still| also| now| would|'d|'ll| will)? (?:{_OWN})"
            rf"(?: that)?(?: (?:the|an?|my|our))? ?{_ADJECTIVE}(?:(?:answer|result|value|option|choice)(?: of| is)?)?",
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
        at_start(
            "answer.concluded",
            r"(?:so|therefore|thus|hence|consequently|overall|ultimately|in (?:conclusion|summary|short)|to conclude)",
        ),
        anywhere("answer.position", r"(?:my|our) (?:final )?(?:position|conclusion|recommendation|view) is"),
    )
)
#: Before "the answer is" in its clause: it is denied, supposed, asked for, or somebody else's.
NOT_STATED = PhraseTable(
    (
        anywhere("unstated.denied", r"not|never|cannot|\w+n't|no longer|doubt|unlikely|hardly"),
        anywhere(
            "unstated.supposed",
            r"if|whether|unless|until|once|suppose|assum\w+|maybe|perhaps|might|could|would|what|which|why|how",
        ),
        anywhere(
            "unstated.another",
            r"\w+(?:'s|s')|your|his|her|their|its|other|another|previous|earlier|initial|original|first|old",
        ),
    )
)
#: After "the answer is": something about the answer, and not the answer.
ABOUT_IT = PhraseTable(
    (
        at_start(
            "about.answer",
            r"(?:not|incorrect|wrong|correct|right|unclear|unknown|clear|different|the same|based|still|also|consistent"
            r"|given|as follows|provided|found|verified|accurate|in|on|at|there|here|now|likely|probably|to be|being"
            r"|required|needed|complete|final|ready|a number|an? (?:single|integer)|expected)",
        ),
    )
)
