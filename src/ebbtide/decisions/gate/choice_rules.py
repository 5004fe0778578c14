"""The wordings of a choice: what was decided, against what, why, and what holds from now on."""

from __future__ import annotations

from ebbtide.decisions.gate.rule_forms import anywhere, opening, preceded_by
from ebbtide.decisions.gate.talk_rules import LOOK_UP

_WHO = r"(?:we|i|the team|teams|they|all|everyone)"
_ADVERB = r"(?:(?:now|also|always|only|directly|still|just|therefore|currently|never|instead|explicitly|deliberately|manually|simply|already|initially|then) )*"

CHOICES = (
        anywhere(
            "choice.decided",
            2.0,
            "It says that something was decided",
            words="decided decides chose chosen opted opting agreed settled",
            behind=r"(?<!it )",
            then=r"(?! (?:later|yet)\b)",
        ),
        anywhere(
            "choice.the-decision",
            2.0,
            "It says that something was decided",
            words="decision choice",
            behind=preceded_by("the our my a final"),
            then=r" (?:is|was|has been|made|to|we)\b",
        ),
        anywhere(
            "choice.picked",
            1.0,
            "It says what is chosen",
            words="choose chooses choosing pick picked select selected prefer preferred prefers elected adopt adopted adopting rejected dropped deferred",
            before=rf"(?:\A|{_WHO} )(?:will |have |has |'ve |should |[^\w\s]+ )*",
        ),
        opening(
            "choice.declared",
            2.0,
            "It says that something was decided",
            words="decision decisions decided",
            then=r"(?=\s*[:\u2013\u2014])",
        ),
        anywhere(
            "choice.wish",
            1.0,
            "It says what somebody wants",
            words="want prefer rather wants like",
            before=rf"{_WHO}(?:'d| would| do|'ll)? ",
            then=rf"(?! to {LOOK_UP})(?! to (?:know|ask|make sure)\b)",
        ),
        anywhere(
            "choice.unwanted",
            1.0,
            "It says what is not wanted",
            words="want need like no not",
            before=r"(?:(?:don't|do not) (?:think (?:we|i) )?|please )",
        ),
        anywhere(
            "choice.recommend",
            1.0,
            "It recommends",
            words="recommend recommends recommendation suggest propose proposal",
            before=r"(?:i|we|i'd|my|our|the)(?: would| strongly|'d)? ",
        ),
        opening(
            "choice.lets",
            1.0,
            "It says what is done together",
            words="let's lets",
            then=rf" (?:not |just |instead )*(?!{LOOK_UP})\w+",
        ),
        anywhere(
            "choice.approval",
            1.0,
            "It approves",
            words="ahead proceed approved agree best fine",
            before=r"(?:(?:please|yes,?|yep,?|ok,?|so|and|,|\A) (?:go )?|\A(?:go )?|i |sounds |is |looks )",
            then=r"(?=\W|\Z)(?! to\b)",
        ),
        anywhere(
            "choice.labelled",
            1.0,
            "It names one of the options",
            words="option variant plan alternative approach",
            then=r" (?:\d|[a-e])\b|(?<=option),",
        ),
        anywhere(
            "choice.becomes",
            0.75,
            "It says what something turns into",
            words="becomes become moves stays",
            behind=r"(?<!if )(?<!to )",
            then=r" \w",
        ),
        opening(
            "choice.i-will",
            1.0,
            "It commits to something",
            words="i i'll let's let i'm lets",
            then=(
                r"(?: will|'ll| us| am going to| going to)? (?:not )?(?:use|keep|adopt|choose|go with|stick|switch|replace|prefer|avoid|skip|treat|store|default|drop"
                r"|leave|migrate|split|reuse|rely|base|standardi[sz]e|support|allow|disable|enable|pin|cap|limit|cache)\b"
            ),
        ),
        anywhere(
            "choice.going-with",
            1.5,
            "It says what is chosen",
            words="go going went stick sticking stay staying",
            then=r" (?:with|w/|for|on)",
        ),
        anywhere(
            "choice.instead",
            1.5,
            "It names what was not chosen",
            words="instead rather favour favor opposed lieu",
            then=r" (?:of|than|to)",
        ),
        anywhere(
            "choice.instead-end", 0.5, "It names another way", words="instead alternatively", then=r"(?! of)"
        ),
        anywhere(
            "choice.over",
            1.5,
            "It names what was not chosen",
            words="over",
            before=r"(?:prefer|preferred|prefers|chose|chosen|choose|picked|favou?r(?:ed)?|won|wins)\b(?:[^.\n]|\.(?=\S)){1,80} ",
        ),
        anywhere(
            "choice.not",
            0.75,
            "It names what was not chosen",
            words="not",
            behind=r"(?:(?<=, )|(?<=\()|(?<=; ))",
            then=r" (?:an?|the|via|by|as|from|through)",
        ),
        anywhere(
            "choice.replace",
            1.0,
            "It puts one thing in the place of another",
            words="replace replaces replaced replacing switch switched switching migrate migrated",
            then=r" (?:[^.\n]|\.(?=\S)){1,80} (?:with|by|to|from)",
        ),
        anywhere(
            "choice.commitment",
            1.0,
            "It commits to something",
            words="will shall must should cannot can't won't",
            before=rf"(?:we|the team|teams|all [\w ]{{1,30}}) {_ADVERB}",
            then=rf" (?:not |only |be |always |also |never )*(?!{LOOK_UP})\w+",
        ),
        anywhere(
            "choice.obligation",
            0.75,
            "It says what has to hold",
            words="shall must should cannot",
            behind=r"(?<!we )(?<!i )(?<!you )",
            then=r" (?:(?:not|only|always|also|never) )*(?:be \w+|(?<!should )\w+)",
        ),
        anywhere(
            "choice.future",
            0.5,
            "It says what will hold",
            words="will",
            behind=r"(?<!\bi )(?<!we )(?<!you )",
            then=r" (?:not |only |always |also |now )*be \w+",
        ),
        opening(
            "choice.we",
            1.0,
            "It says what is done from now on",
            words="we we'll we're",
            then=(
                rf"(?: will| shall|(?: are|(?<='re)) going to|'ll)? ?{_ADVERB}(?:do not|don't|use|used|keep|adopt|add|change|split|set|store|manage|restrict|limit|implement|make"
                r"|introduce|treat|allow|support|override|rename|remove|show|define|follow|provide|separate|copy|delete|call|create|enable|disable"
                r"|update|take|stay|stick|ship|drop|postpone|leave|accept|skip|merge|distinguish|save|move|run|deploy|build|require|prefer|avoid|replace|apply|solved|went)\b"
            ),
        ),
        anywhere(
            "choice.norm",
            0.5,
            "It says what holds from now on",
            words="always never only default mandatory required optional deprecated forbidden",
        ),
        anywhere(
            "choice.prohibition",
            1.0,
            "It says what is not done",
            words="not don't",
            behind=r"(?<!does )(?<!did )(?<!is )(?<!are )(?<!was )(?<!were )",
            then=r" (?:to )?(?:use|be|include|allow|add|show|need|distinguish|render|merge|store|re-?export|support|require|rely|change|implement|permanently)\w*",
        ),
        anywhere(
            "choice.why",
            0.5,
            "It says why",
            words="because since avoid avoids avoiding",
        ),
        anywhere("choice.so-that", 0.5, "It says why", words="so order due", then=r" (?:that|to)"),
        anywhere(
            "choice.by-means",
            0.25,
            "It says by what means",
            words="by using",
            then=r"(?<=using) \S+|(?<=by) \w+ing",
        ),
        anywhere(
            "choice.weighed",
            0.25,
            "It weighs",
            words="option options alternative alternatives approach trade-off tradeoff pros cons versus vs",
        ),
        opening(
            "choice.kept",
            1.0,
            "It says what was chosen",
            words=(
                "kept keep keeping retain retained retaining preserve preserved reuse reused prefer reject rejected accept accepted defer"
                " deferred postpone limit limited restrict restricted pin pinned promote promoted standardise standardize adopt adopted drop"
                " dropped scope scoped treat treated default avoid avoided allow require switch switched"
            ),
            then=r"(?= \S)",
        ),
        anywhere(
            "choice.now-on",
            0.75,
            "It says what holds from now on",
            words="longer anymore henceforth onward onwards",
            then=r"(?:(?<=no longer)|(?<=any longer)|(?<!longer))",
        ),
)
