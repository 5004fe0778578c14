"""Wordings by which a report asserts what can be held against its record, as data.

All are searched in one sentence in small letters. A sentence that hedges, asks, plans or denies asserts nothing.
Patterns are compiled when they are first looked for, since few runs have a report.
"""

from __future__ import annotations

from typing import Final

from ebbtide.claims.check_tools import Family
from ebbtide.claims.claim import ClaimKind
from ebbtide.text.late_pattern import LatePattern
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import anywhere

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
EVERY: Final = LatePattern(
    r"\ball (?:the )?checks (?:are |now |have )?(?:pass(?:es|ed|ing)?\b|green\b|clean\b|succeed)"
    r"|^\W*(?:all|everything is|everything) (?:green|clean|pass|passes|passed)\b(?! (?:the|a|an|it|in"
    r"|through|to|by|on to)\b)"
)
#: Words that may stand between a subject and what is said of it.
_BETWEEN: Final = (
    r"(?:[\s,;/+&*`:|()\u2013\u2014-]|\b(?:and|or|they|all|both|are|is|now|still|also"
    r"|were|was|have|has|been|the|unit|"
    r"integration|e2e|suites?|tests?|lint|checks?|it|\d+|each|every|everything"
    r"|again|fully|green|local|locally|ci|"
    r"go|python|typescript|api|web|frontend|backend|full|with|cleanly|new|type"
    r"|typecheck|type-check|types|checking|linting|linter|format|formatting|fmt|prettier|"
    r"eslint|tsc|mypy|build|vet|clippy|run|runs|ran|complete[sd]?|finish(?:es|ed)|status|results?|reports?|reported|shows?|finds?|found)\b){0,12}"
)
#: What is said of a check that passed.
_PASSES: Final = (
    r"pass(?:es|ed|ing)?\b(?! (?:the|a|an|it|in|through|to|by|on to|criteria|rates?|conditions?)\b)|(?:is|are"
    r"|came back|come back|stays?|all) green"
    r"|(?:is|are|all|both|passes|came back|:|runs?) clean\b|succeed(?:s|ed)?\b"
    r"|successful(?:ly)?\b|clean\b(?! up)|cleanly\b|happy\b"
    r"|without (?:any )?(?:errors?|issues?|warnings?|failures?|problems)\b"
    r"|green\b(?! (?:button|path|colou?r|theme|field))|(?:continues?|keeps?|remains?) (?:to pass|passing)\b"
    r"|(?:with )?(?:no|0|zero) (?:errors?|issues?|warnings?|failures|problems|findings)|\u2705|\u2713"
    r"|\u2714"
)
#: Parts of words of which each sentence has one that says of a check that it passed.
SUCCESSES: Final = ("pass", "green", "clean", "succe", "no ", "0 ", "zero ", "compile", " ok", "builds", "without", "happy", "types check", "\u2705", "\u2713", "\u2714")
#: What is said of all that a list before it names: "`go build`, `go test ./a` and the linter all passed".
LIST_PASSES: Final = LatePattern(
    r"\b(?:all|both) (?:are |now |still |also )?(?:pass(?:es|ed|ing)?\b(?! (?:the|a|an|it|in|through|to"
    r"|by|on to|criteria)\b)"
    r"|green\b|clean\b|succeed(?:s|ed)?\b)"
)
#: Words before the subject in such a list, and between its items.
_MODIFIERS: Final = r"(?:(?:the|all|full|whole|entire|new|existing|api|web|go|python|frontend|backend|docs|vale) ){0,3}"
ITEM_ENDS: Final = LatePattern(r",(?: and)? | and | [+&/] |, ?")
#: What is said before the check: "no lint errors".
_BEFORE: Final = r"(?:pass(?:ed|es) (?:the )?(?:{subject})\b)|(?:no|zero|0) (?:{subject})(?:ing)? (?:errors?|issues?|warnings?|failures?|problems)|\u2705 (?:all )?(?:{subject})"

#: Words that name a check and its success in one: "it compiles cleanly".
_DIRECTLY: Final = {
    Family.TESTS: r"\b(?:no|zero|0) (?:tests? (?:fail|failed|fails)\b|fail(?:ing|ed) tests?\b)",
    Family.TYPES: r"\b(?:no|zero|0) typ(?:e|ing) errors?\b|\btypes check\b|\btypescript (?:code )?(?:now |still |all )?compile[sd]?\b(?! to\b| into\b| from\b)",
    Family.BUILD: r"\b(?:project|apps?|code|crate|solution|workspace|everything|it) (?:now |still )?builds\b"
    r"(?=\s*(?:[.,;:!)*]|$|and (?:all )?(?:tests?|lint|runs|passes)\b|fine\b|again\b))"
    r"|(?:^\W*|\b(?:it|code|project|everything|apps?|apis?|packages?|crates?|workspace|library|both"
    r"|modules?|binar(?:y|ies)) (?:now |still |all )?)compile[sd]?"
    r" (?:clean(?:ly)?\b|fine\b|again\b|successfully|without (?:any )?(?:errors?|warnings?|issues))",
}
#: One of these stands in every sentence about a check.
ANY_SUBJECT: Final = LatePattern(
    rf"\b(?:{'|'.join(SUBJECTS.values())}|\d (?:passed|passing)|compile[sd]?|types check|type errors?)\b"
)
#: Ways to say that a check passed, by its family.
SAID: Final = {
    family: tuple(
        LatePattern(pattern)
        for pattern in (
            rf"\b(?:{subject})\b{_BETWEEN}(?:{_PASSES})",
            rf"`(?:[\w.-]{{1,12}} ){{0,3}}?(?:{subject})\b[^`\n]{{1,80}}`{_BETWEEN}(?:{_PASSES})",
            rf"(?<!\w)(?:{_BEFORE.format(subject=subject)})",
            _DIRECTLY.get(family, ""),
        )
        if pattern
    )
    for family, subject in SUBJECTS.items()
}
#: A check as an item of a list.
ITEMS: Final = {
    family: LatePattern(rf"\W{{0,6}}{_MODIFIERS}[`*]{{0,3}}({subject})\b") for family, subject in SUBJECTS.items()
}
#: A number of tests that pass.
COUNTS: Final = tuple(
    LatePattern(rf"(?<![\w.,]){pattern}")
    for pattern in (
        r"(?P<of>\d[\d,]*)\s*/\s*(?P<total>\d[\d,]*) (?:unit |integration |e2e |go |python )?(?:tests? )?pass",
        r"(?P<of>\d[\d,]*) (?:out )?of (?P<total>\d[\d,]*) (?:unit |integration |e2e )?tests pass",
        r"(?P<of>\d[\d,]*) (?P<what>[a-z]{0,12} ?)tests?(?: are| is| all| now| still){0,2} (?:pass|green)",
        (
            r"(?P<of>\d[\d,]*) (?:tests? )?(?:passed|passing|pass)\b(?! to\b| the\b| through\b"
            r"| \(\d+\)[ ,]+tests?\b| (?:test )?(?:files?|suites?|packages?|modules?|assertions?))"
        ),
        r"(?P<of>\d[\d,]*) tests?, (?:0|no) fail",
        r"(?P<of>\d[\d,]*) tests?,? (?:\(|\u2014 |- )?all (?:pass|green|ok)",
        (
            r"tests? (?:are |all |now |still ){0,2}(?:pass|green)(?:ed|ing|es)? ?[(:] ?(?:all"
            r" )?(?P<of>\d[\d,]*)(?: tests?| total| passed| passing)? ?(?:[),]|\.(?!\d)|$)"
        ),
        (
            r"(?P<of>\d[\d,]*) (?P<what>(?:[a-z][\w-]{0,20} ){1,3}?)(?:tests?|specs?)(?: are| is| all| now|"
            r" still){0,2} (?:pass|green)"
        ),
    )
)

#: Words of a sentence that speaks of tests, and of such that are no run of a test runner.
OF_TESTS: Final = LatePattern(r"test|\bspecs?\b|\bsuites?\b|jest|mocha|cypress|playwright|\bcargo\b")
OF_OTHERS: Final = LatePattern(r"\b(?:smoke|manual|sanity|acceptance|criteria|scenarios?|suites|files?|packages?|mutations?|evals?)\b")
#: Words after a number of tests that say of which part it is.
OF_PART: Final = LatePattern(r"\w{0,12} (?:for|of|in|under|from|covering|on) (?!\d|total|all\b|the (?:full|whole|entire|suite)|this|ci\b|about|under|~|both|main|every|each)")
#: Of a number of tests that is no whole number, or not that of a run.
VAGUE: Final = LatePattern(r"~|\u2248|about|around|roughly|over|more than|nearly|almost|at least|\d\+")
#: Of chosen tests.
PARTS: Final = LatePattern(
    r"\b(?:package|module|crate|new|these|those|its|their|targeted|related|relevant|focused|affected"
    r"|specific|existing|my|this|that|added|"
    r"updated|following|other|remaining|core|first|two|three|which|per)\b"
)
#: Of a check that has not even warnings.
CLEANS: Final = LatePattern(r"\bclean(?:ly)?\b|\b(?:no|0|zero) (?:lint )?(?:warnings|issues|problems|findings)\b|\bspotless\b")
WHOLES: Final = LatePattern(r"\b(?:full|entire|whole|complete|every|repo-wide|project-wide)\b")

#: A sentence with one of these asserts nothing that could be held against a record.
HEDGES: Final = PhraseTable(
    (
        anywhere(name, pattern)
        for name, pattern in {
            "denial": r"not|no longer|never|nothing|none|no (?:commits?|prs?"
            r"|push(?:es)?|pull requests?|branch)|cannot|\w+n't|unable|without running|neither|nor|hasn't"
            r"|yet to|didn't|skipped",
            "doubt": r"most|majority|partially|partly|nearly|should|would|could|might|may|likely|probably|perhaps"
            r"|presumably|expect(?:ed|s)?|assum\w+|unverified"
            r"|hopefully|if|unless|whether|in case|can",
            "plan": r"will|shall|going to|plan(?:ned|s)? to|next|todo|to do|need(?:s"
            "|ed)? to|must|let's|let me|want(?:s)?"
            r"|would you|please|ready to|once|when|until|before|after you|ensure"
            r"|make sure|so that|in order to|to verify"
            r"|to confirm|to make|to see|recommend\w*|suggest\w*|propos\w+|option"
            r"|consider|requires?|require|pending|waiting|after (?:all|the|your|every) (?:tests?|checks?)",
            "failure": r"fail(?:s|ed|ing|ure|ures)?|broken|error(?:ed|s out)"
            "|except(?! for)|apart from|but|however|although"
            r"|pre-existing|unrelated|flaky|red",
            "other": r"says|said|claim(?:s|ed)|goal|aim|verifies|ensures|guarantees|makes the|makes all|gets?|what|whatever|based on|or|always|typically"
            "|in real usage|you(?:'ve| have)? (?:ran|said|say|saw|noted|confirmed|reported|pushed|committed|created|asked)|previously"
            "|originally|used to|earlier|"
            r"upstream|on main|baseline|already|reviewer|someone|(?<!:)ci",
        }.items()
    ),
    lower=True,
)
#: Those of them that do not spoil a claim of a check: a count of failures is part of it.
NO_FAILURES: Final = LatePattern(r"\b(?:no|0|zero|without(?: any)?) (?:\w+ )?(?:fail\w*|errors?|warnings?|issues?|regressions?|unrelated)")

#: Claims of acts and of judgement.
ACTS: Final = PhraseTable(
    (
        anywhere(
            ClaimKind.COMMITTED,
            r"commit (?:has )?(?:landed|created|made)(?= (?:as )?`)|commit (?=`[0-9a-f]{7,40}` (?:was "
            r"|is )?(?:created|landed|made))"
            r"|(?:squashed|folded|amended) into (?=`[0-9a-f]{7,40}`)"
            r"|(?:(?:i|i've|i have|we|we've|and|is|are|was|were|been|all"
            r"|everything|changes|now|it|fix) )?committed"
            r"(?= ?(?:$|[:;,`(]|\.(?!\w)|as |in |to |and |with |the |all "
            r"|everything |it|on |both |locally|successfully|under ))",
        ),
        anywhere(
            ClaimKind.PUSHED,
            r"(?:(?:i|i've|i have|we|we've|and|is|are|was|were|been|all"
            r"|everything|changes|now|it) )?(?:force-)?pushed"
            r"(?= ?(?:$|[:;,`(]|\.(?!\w)|to |and |it|the |all |everything |as |both |successfully|on "
            r"|commits? |branch ))",
        ),
        anywhere(
            ClaimKind.OPENED,
            r"(?:opened|created|filed|submitted|raised|draft) (?:a |an |the "
            r"|draft |new |github |two |both ){0,3}"
            r"(?:pull requests?|prs?|merge requests?|mrs?|issues?)\b|(?:pr"
            r"|pull request|issue)(?: #\d+)?(?: is| was|:)? "
            r"(?:created|opened|open|filed)\b",
        ),
        anywhere(
            ClaimKind.DELETED,
            r"(?:deleted|removed) (?:the )?(?:file |files |old |unused |obsolete )?(?=[`*]{1,3}[\w./-]+\.\w)",
        ),
        anywhere(
            ClaimKind.CREATED,
            r"(?:created|added|wrote|updated|edited|modified|implemented|written to|saved to|saved) "
            r"(?:the |a |new |file |files |it |as |in |to |spec |plan |document "
            r"|report ){0,4}(?=\[?[`*]{1,3}[\w./~-]+\.\w)"
            r"|(?:created|added|updated|modified|implemented|changed|removed|fixed|replaced|refactored"
            r"|rewrote|introduced|wired|registered|bumped|extended) "
            r"[^\n;]{3,100}? (?:in|to|into|of|from) (?=(?:the )?\[?[`*]{1,3}[\w./~-]+\.\w)",
        ),
        anywhere(
            ClaimKind.RAN,
            r"(?:i |i've |also |and |we )?(?:ran|re-ran|reran|executed) (?:the |all )?"
            r"(?:(?=`[^`\n]{3,120}`)|(?:full |whole |entire |complete |unit |integration )?(?:tests?\b|test suite|suite\b|linter))",
        ),
        anywhere(
            ClaimKind.HEALTHY,
            r"(?:health ?checks?|health endpoint|endpoint|service|server|site|api|app|deployment)s?"
            r" (?:now |all )?"
            r"(?:responds?|returns?|answers?)(?: with)? (?:an? )?(?:http )?200"
            r"|(?:service|server|site|api|app|deployment|endpoint|pod)s? (?:is|are) (?:now )?"
            r"(?:healthy|up and running|live|reachable)|health ?checks? (?:now )?pass(?:es|ed)?",
        ),
        anywhere(
            ClaimKind.READ_IN_FULL,
            r"read (?:the )?(?:full|entire|whole|complete) (?:file|contents? of)|read (?=`[^`\n]{1,200}` in full)"
            r"|read (?:all |each |every |the )?(?:of )?(?:the )?(?:changed |modified |affected |relevant"
            r" |touched |edited )?files? in full"
            r"|read (?:the )?(?:full|entire|whole|complete) (?:contents? of )?(?:all |each |every |the"
            r" ){0,2}(?:changed |modified |affected |relevant "
            r"|touched |edited |source ){0,2}files?",
        ),
        anywhere(
            ClaimKind.FIXED,
            r"(?:is|are|was|has been|have been|i|i've|now|all|and|bugs?"
            r"|issues?) (?:now |also |all )?(?:fixed|resolved)|now works"
            r"|the fix (?:is (?:working|complete|in place|done)|works)|works"
            r" (?:now|correctly|as expected)"
            r"|fixed (?:a|an|the|both|all|two|three|four|five) (?:\w+ ){0,4}?(?:bugs?|issues?|problems?"
            r"|errors?|crash\w*|leaks?|races?|regressions?)"
            r"|(?:errors?|failures?|regressions?|findings?|comments?|problems?|leaks?) (?:are |is |now "
            r"|all )?(?:fixed|resolved)|: \u2705 fixed",
        ),
        anywhere(
            ClaimKind.VERIFIED,
            r"(?:i|i've|and|all|also|manually|have been|changes|now|fix|it|behaviou?r) (?:verified"
            r"|validated|confirmed|tested)(?! by you)|verified (?=that |the |all |`|by |against |in |on "
            r"|with |via |live|end)"
        ),
        anywhere(
            ClaimKind.NOTHING_LEFT,
            r"nothing (?:else )?(?:is )?(?:left|remains|remaining)"
            r"|all (?:\w+ ){0,2}(?:tasks?|items?|issues?|steps?|todos?|phases?|"
            r"findings?) (?:\w+ )?(?:are |is |have been |were )?(?:now )?(?:done"
            r"|complete[d]?|resolved|addressed|fixed)"
            r"|everything (?:is )?(?:done|complete|in place)|fully (?:complete|implemented|resolved)",
        ),
    ),
    lower=True,
)

#: Words for the parts of a number of things of one kind, those that exclude each other together.
PARTS_OF_SUM: Final = (
    (
        r"critical|high|medium|low|major|minor|moderate|blockers?|warnings?|errors?|suggestions?|nits?"
        r"|nitpicks?|important|optional|must-fix|should-fix|info|informational"
    ),
    r"new|modified|updated|deleted|added|removed|created|renamed|changed|existing",
    r"fixed|dismissed|acknowledged|resolved|open|closed|addressed|deferred|rejected|accepted",
    r"unit|integration|e2e",
    r"passed|passing|failed|failing|skipped",
    r"backend|frontend",
)
#: Words over a list or a table that make it one of changes, and such that make it none.
CHANGES: Final = LatePattern(
    r"\bfiles? (?:\w+ )?(?:changed|modified|created|added|updated|touched|edited|written)\b|\b(?:changed"
    r"|modified|new|updated|created|edited|added) (?:\w+ )?files?\b"
    r"|\bchanges?\b|\bwhat (?:was|i|has|we|changed|got)\b|\bwhat's (?:new|changed|in)\b|\bimplement(?:ed"
    r"|ation)\b|\b(?:updated|created|added|modified|fixed|wrote|done|landed)\b"
)
NO_CHANGES: Final = LatePattern(
    r"\b(?:suggest\w*|propos\w+|recommend\w*|requir\w+|need(?:s|ed)?|should|would|could|will|plan\w*"
    r"|review\w*|findings?|issues?"
    r"|not|no|without|un\w*changed|un\w+ed|risks?|read|affected|relevant|key|existing|questions?"
    r"|options?|to (?:be|change|make|do|create|add|modify|update)"
    r"|breaking|staged|uncommitted|pending|conflict\w*|upstream|main|pr|this branch|diff|which|if|how"
    r"|why|before)\b|\?"
)
#: Words behind the name of a file that say that it was changed, and that it was deleted.
CHANGED_FILE: Final = LatePattern(
    r"(?:also |now |i |was |is |has been |were |one |two |three |all |both |\d+ )?(?:added|updated"
    r"|removed|new\b|created|fixed|changed|modified|rewrote|rewritten|refactored|replaced"
    r"|introduced|wrapped|moved|extracted|bumped|documented|extended|simplified|dropped|implemented"
    r"|edited|wired|registered"
    r"|renamed|inlined|condensed|adjusted|corrected|converted|reworded|expanded)\b"
)
GONE_FILE: Final = LatePattern(r"(?:was |is |now |file )?(?:deleted|gone|removed\W{0,3}$|removed (?:entirely|completely|file|as|\())")

#: Headings whose part of a report says what somebody else is to do.
PLANS: Final = (
    "next", "plan", "to do", "todo", "test plan", "how to", "verification steps", "acceptance", "what you",
    "suggest", "recommend", "option", "remaining", "open ", "usage", "instructions", "follow", "manual", "steps",
)  # fmt: skip
#: Words of English that stand in nearly every report, and such of other languages.
ENGLISH: Final = frozenset("the and is are to of in with for all was a as it from by on that this now".split())
FOREIGN: Final = frozenset(
    "le la les des et est une dans pour der die das und ist nicht mit el los las una que con il di che"
    " per non "
    "de do da os em na no uma um para sont avec en van het een niet jest nie się".split()
) - {"no", "do", "die"}
