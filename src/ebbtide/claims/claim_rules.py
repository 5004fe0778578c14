"""Wordings by which a report asserts what can be held against its record, as data.

All are searched in one sentence in small letters. A sentence that hedges, asks, plans or denies asserts nothing.
"""

from __future__ import annotations

from typing import Final

from ebbtide.claims.check_tools import Family
from ebbtide.claims.claim import ClaimKind
from ebbtide.text.phrases import PhraseRule, anywhere

#: Subjects of a check by its family.
SUBJECTS: Final = {
    Family.TESTS: r"(?:unit |integration |e2e |end-to-end |regression )?(?:tests?|specs?)(?: suites?)?|test suites?|full suite|suites?"
    r"|pytest|vitest|jest|go test|cargo test",
    Family.LINT: r"lint(?:er|ers|ing|s)?|eslint|ruff|golangci-lint|clippy|biome|shellcheck|vale|markdownlint",
    Family.TYPES: r"type[ -]?check(?:s|ing|er)?|tsc|mypy|pyright|typescript",
    Family.BUILD: r"builds?|compilation|go build",
    Family.FORMAT: r"fmt|gofmt|prettier|format(?:ting|ter)?(?: checks?)?",
}
#: Subject of a claim about all checks that a run made, and its wording.
CHECKS: Final = "checks"
EVERY: Final = (
    r"\ball (?:the )?checks (?:are |now |have )?(?:pass(?:es|ed|ing)?\b|green\b|clean\b|succeed)"
    r"|^\W*(?:all|everything is|everything) (?:green|clean|passes|passed)\b"
)
#: Words that may stand between a subject and what is said of it.
BETWEEN: Final = (
    r"(?:[\s,/+&*`:|()\u2013\u2014-]|\b(?:and|or|all|both|are|is|now|still|also"
    r"|were|was|have|has|been|the|unit|"
    r"integration|e2e|suites?|tests?|lint|checks?|it|\d+|each|every|everything"
    r"|again|fully|green|local|locally|ci|"
    r"go|python|typescript|api|web|frontend|backend|full|with|cleanly|new|type"
    r"|typecheck|type-check|types|checking|linting|linter|format|formatting|fmt|prettier|"
    r"eslint|tsc|mypy|build|vet|clippy|run|runs|ran|completes?)\b){0,12}"
)
#: What is said of a check that passed.
PASSES: Final = (
    r"pass(?:es|ed|ing)?\b(?! (?:the|a|an|it|in|through|to|by|on to)\b)|(?:is|are"
    r"|came back|come back|stays?|all) green"
    r"|(?:is|are|all|both|passes|came back|:|runs?) clean\b|succeed(?:s|ed)?\b"
    r"|successful(?:ly)?\b|clean\b(?! up)"
    r"|(?:with )?(?:no|0|zero) (?:errors?|issues?|warnings?|failures|problems|findings)|\u2705|\u2713|\u2714"
)
#: What is said of all that a list before it names: "`go build`, `go test ./a` and the linter all passed".
LIST_PASSES: Final = (
    r"\b(?:all|both) (?:are |now |still |also )?(?:pass(?:es|ed|ing)?\b(?! (?:the|a|an|it|in|through|to|by|on to)\b)"
    r"|green\b|clean\b|succeed(?:s|ed)?\b)"
)
#: Words before the subject in such a list, and between its items.
MODIFIERS: Final = r"(?:(?:the|all|full|whole|entire|new|existing|api|web|go|python|frontend|backend|docs|vale) ){0,3}"
ITEM_ENDS: Final = r",(?: and)? | and | [+&/] |, ?"
#: What is said before the check: "no lint errors".
BEFORE: Final = r"(?:pass(?:ed|es) (?:the )?(?:{subject})\b)|(?:no|zero|0) (?:{subject})(?:ing)? (?:errors?|issues?|warnings?|failures?|problems)|\u2705 (?:all )?(?:{subject})"

#: A number of tests that pass.
COUNTS: Final = (
    r"(?P<of>\d[\d,]*)\s*/\s*(?P<total>\d[\d,]*) (?:unit |integration |e2e |go |python )?(?:tests? )?pass",
    r"(?P<of>\d[\d,]*) (?:out )?of (?P<total>\d[\d,]*) (?:unit |integration |e2e )?tests pass",
    r"(?P<of>\d[\d,]*) (?P<what>[a-z]{0,12} ?)tests?(?: are| is| all| now| still){0,2} (?:pass|green)",
    r"(?P<of>\d[\d,]*) (?:tests? )?(?:passed|passing|pass)\b(?! to\b| the\b| through\b)",
    r"(?P<of>\d[\d,]*) tests?, (?:0|no) fail",
)

#: Of a number of tests that is no whole number, or not that of a run.
VAGUE: Final = r"~|\u2248|about|around|roughly|over|more than|nearly|almost|at least|\d\+"
#: Of chosen tests.
PARTS: Final = (
    r"new|these|those|its|their|targeted|related|relevant|focused|affected"
    r"|specific|existing|my|this|that|added|"
    r"updated|following|other|remaining|core|first|two|three|which|per"
)
WHOLES: Final = r"full|entire|whole|complete|every|repo-wide|project-wide"

#: A sentence with one of these asserts nothing that could be held against a record.
HEDGES: Final = tuple(
    anywhere(name, pattern)
    for name, pattern in {
        "denial": r"not|no longer|never|nothing|none|no (?:commits?|prs?"
        r"|push(?:es)?|pull requests?|branch)|cannot|\w+n't|unable|without running|neither|nor|hasn't|yet to|didn't|skipped",
        "doubt": r"should|would|could|might|may|likely|probably|perhaps"
        r"|presumably|expect(?:ed|s)?|assum\w+|unverified"
        r"|hopefully|if|unless|whether|in case|can",
        "plan": r"will|shall|going to|plan(?:ned|s)? to|next|todo|to do|need(?:s"
        "|ed)? to|must|let's|let me|want(?:s)?"
        r"|would you|please|ready to|once|when|until|before|after you|ensure"
        r"|make sure|so that|in order to|to verify"
        r"|to confirm|to make|to see|recommend\w*|suggest\w*|propos\w+|option"
        r"|consider|requires?|require|pending|waiting",
        "failure": r"fail(?:s|ed|ing|ure|ures)?|broken|error(?:ed|s out)"
        "|except(?! for)|apart from|but|however|although"
        r"|pre-existing|unrelated|flaky|red",
        "other": r"gets?|what|whatever|based on|or|always|typically"
        "|in real usage|you(?:'ve| have)? (?:ran|said|pushed|committed|created|asked)|previously|originally|used to|earlier|"
        r"upstream|on main|baseline|already|reviewer|someone|(?<!:)ci",
    }.items()
)
#: Those of them that do not spoil a claim of a check: a count of failures is part of it.
NO_FAILURES: Final = r"(?:no|0|zero|without(?: any)?) (?:\w+ )?(?:fail\w*|errors?|warnings?|issues?|regressions?|unrelated)"

#: Claims of acts and of judgement.
ACTS: Final[tuple[tuple[ClaimKind, PhraseRule], ...]] = (
    (
        ClaimKind.COMMITTED,
        anywhere(
            "committed",
            r"commit (?:has )?(?:landed|created|made)(?= (?:as )?`)|commit (?=`[0-9a-f]{7,40}` (?:was |is )?(?:created|landed|made))"
            r"|(?:squashed|folded|amended) into (?=`[0-9a-f]{7,40}`)"
            r"|(?:(?:i|i've|i have|we|we've|and|is|are|was|were|been|all"
            r"|everything|changes|now|it|fix) )?committed"
            r"(?= ?(?:$|[:;,`(]|\.(?!\w)|as |in |to |and |with |the |all "
            r"|everything |it|on |both |locally|successfully|under ))",
        ),
    ),
    (
        ClaimKind.PUSHED,
        anywhere(
            "pushed",
            r"(?:(?:i|i've|i have|we|we've|and|is|are|was|were|been|all"
            r"|everything|changes|now|it) )?(?:force-)?pushed"
            r"(?= ?(?:$|[:;,`(]|\.(?!\w)|to |and |it|the |all |everything |as |both |successfully|on ))",
        ),
    ),
    (
        ClaimKind.OPENED,
        anywhere(
            "opened",
            r"(?:opened|created|filed|submitted|raised|draft) (?:a |an |the "
            r"|draft |new |github |two |both ){0,3}"
            r"(?:pull requests?|prs?|merge requests?|mrs?|issues?)\b|(?:pr"
            r"|pull request|issue)(?: #\d+)?(?: is| was|:)? "
            r"(?:created|opened|open|filed)\b",
        ),
    ),
    (
        ClaimKind.DELETED,
        anywhere("deleted", r"(?:deleted|removed) (?:the )?(?:file |files |old |unused |obsolete )?(?=[`*]{1,3}[\w./-]+\.\w)"),
    ),
    (
        ClaimKind.CREATED,
        anywhere(
            "created",
            r"(?:created|added|wrote|updated|edited|modified|implemented|written to|saved to|saved) "
            r"(?:the |a |new |file |files |it |as |in |to |spec |plan |document "
            r"|report ){0,4}(?=\[?[`*]{1,3}[\w./~-]+\.\w)"
            r"|(?:created|added|updated|modified|implemented|changed) [^\n;]{3,60}? (?:in|to) (?=\[?[`*]{1,3}[\w./~-]+\.\w)",
        ),
    ),
    (ClaimKind.RAN, anywhere("ran", r"(?:i |i've |also |and |we )?(?:ran|re-ran|reran|executed) (?:the |all )?"
    r"(?:(?=`[^`\n]{3,120}`)|(?:full |whole |entire |complete |unit |integration )?(?:tests?\b|test suite|suite\b|linter))")),
    (
        ClaimKind.HEALTHY,
        anywhere(
            "healthy",
            r"(?:health ?checks?|health endpoint|endpoint|service|server|site|api|app|deployment)s? (?:now |all )?"
            r"(?:responds?|returns?|answers?)(?: with)? (?:an? )?(?:http )?200"
            r"|(?:service|server|site|api|app|deployment|endpoint|pod)s? (?:is|are) (?:now )?"
            r"(?:healthy|up and running|live|reachable)|health ?checks? (?:now )?pass(?:es|ed)?",
        ),
    ),
    (
        ClaimKind.READ_IN_FULL,
        anywhere("read", r"read (?:the )?(?:full|entire|whole|complete) (?:file|contents? of)|read (?=`[^`\n]{1,200}` in full)"),
    ),
    (
        ClaimKind.FIXED,
        anywhere(
            "fixed",
            r"(?:is|are|was|has been|have been|i|i've|now|all|and|bugs?"
            r"|issues?) (?:now |also |all )?(?:fixed|resolved)|now works"
            r"|the fix (?:is working|works)|works (?:now|correctly|as expected)",
        ),
    ),
    (
        ClaimKind.VERIFIED,
        anywhere(
            "verified",
            r"(?:i|i've|and|all|also|manually|have been|changes|now) (?:verified"
            r"|validated|confirmed|tested)(?! by you)"
        ),
    ),
    (
        ClaimKind.NOTHING_LEFT,
        anywhere(
            "nothing left",
            r"nothing (?:else )?(?:is )?(?:left|remains|remaining)"
            r"|all (?:\w+ ){0,2}(?:tasks?|items?|issues?|steps?|todos?|phases?|"
            r"findings?) (?:\w+ )?(?:are |is |have been |were )?(?:now )?(?:done"
            r"|complete[d]?|resolved|addressed|fixed)"
            r"|everything (?:is )?(?:done|complete|in place)|fully (?:complete|implemented|resolved)",
        ),
    ),
)

#: Headings whose part of a report says what somebody else is to do.
PLANS: Final = (
    "next", "plan", "to do", "todo", "test plan", "how to", "verification steps", "acceptance", "what you",
    "suggest", "recommend", "option", "remaining", "open ", "usage", "instructions", "follow", "manual", "steps",
)  # fmt: skip
#: Words of English that stand in nearly every report, and such of other languages.
ENGLISH: Final = frozenset("the and is are to of in with for all was a as it from by on that this now".split())
FOREIGN: Final = frozenset(
    "le la les des et est une dans pour der die das und ist nicht mit el los las una que con il di che per non "
    "de do da os em na no uma um para sont avec en van het een niet jest nie się".split()
) - {"no", "do", "die"}
