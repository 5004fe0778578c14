"""The wordings of reports and lines of status: what an agent did, and how a run stands."""

from __future__ import annotations

from ebbtide.decisions.gate.rule_forms import anywhere, opening, preceded_by

_FINISHED = (
    "fixed merged done completed complete finished resolved pushed committed closed working ready passing passed green"
    " published verified reverted tested confirmed"
)
# Verbs in the past; what follows shows that they are no participles: "the tests failed in CI", not "the failed tests".
_HAPPENED = (
    r"(?:failed|finished|complained|crashed|turned|took|gave|said|told|happened|occurred|stopped|succeeded|threw|ended|appeared|worked"
    r"|responded|came|went|had|did|saw|began|ran|noticed|wanted|increased|decreased|grew|tried|showed|surfaced|changed)"
    r"(?=\W*\Z|[.,;:]| (?:the|an?|at|in|on|to|for|from|with|after|before|because|when|that|about|of|as|it|all|no|only|two|three|\d+|\w+ly)\b)"
    r"|(?:returned|reported|printed|answered|explained|mentioned|made|found|left|lost|hit|caught|reached|asked|got)"
    r"(?= (?:the|an?|no|nothing|that|\d+|it|us|me|about)\b|\W*\Z)"
)

REPORTS = (
    # Reports.
    opening(
        "report.chore",
        1.0,
        "It reports a chore",
        words="i we i've we've",
        then=(
            r"(?: have|'ve| had| has)? ?(?:(?:now|just|also|already|successfully|finally|therefore|hereby) )*(?:pushed|committed|merged|rebased|squashed|fixed"
            r"|closed|close|uploaded|posted|linked|tested|attached|commented|opened|assigned|reviewed|checked|installed|deployed|finished"
            r"|completed|updated|resolved|verified|validated|retrieved|did|made (?:some|a few|the)|started|ran|asked|refactored|released|published"
            r"|sent|booked|cancell?ed|processed|confirmed|reran|restarted|read|talked|discussed|reported|worked)"
        ),
    ),
    anywhere(
        "report.passive",
        1.0,
        "It reports that something is done",
        words=_FINISHED,
        behind=preceded_by("was were been now successfully already all"),
    ),
    anywhere(
        "report.state",
        0.5,
        "It reports how something stands",
        words=(
            f"{_FINISHED} deployed updated installed released uploaded attached implemented solved cancelled canceled booked"
            " processed clean blocked failing broken refactored changed improved"
        ),
        behind=preceded_by("is are was were been now successfully already all get got"),
    ),
    anywhere(
        "report.run",
        1.0,
        "It reports how a run ended",
        words="finished completed failed succeeded exited crashed started returned",
        behind=preceded_by(
            "command agent subagent task job build call request script run process step workflow deployment upload download query"
        ),
    ),
    anywhere("report.success", 0.5, "It reports that something went well", words="successfully"),
    anywhere(
        "report.went-well",
        0.5,
        "It reports that something went well",
        words="successfully expected",
        before=r"(?:\w+ed |as )",
    ),
    anywhere(
        "report.works",
        0.5,
        "It reports that something works",
        words="worked works",
        then=r"(?=\s*(?:[.!]|\Z|now\b|as\b|fine\b|well\b))",
    ),
    anywhere(
        "report.complete",
        1.0,
        "It reports that something is done",
        words="complete completed finished done created running",
        then=r"(?=\s*(?:!|:|\.\.\.))",
    ),
    anywhere(
        "report.counts",
        1.0,
        "It reports progress",
        words="steps step tests checks tasks files",
        before=r"(?:all )?\d+(?:/\d+| of \d+)? ",
        then=r"(?:\(s\))? (?:completed|passed|pass|done|failed|resolved|needed|changed|green|were|was)",
    ),
    anywhere(
        "report.tests",
        0.5,
        "It reports that checks pass",
        words="tests test suite build typecheck validation lint checks clippy",
        then=r"(?: \w+){0,2} (?:pass|passes|passed|passing|green|succeeds|succeeded|fail|fails|failed|failing|verified|fixed|is clean|are clean)",
    ),
    anywhere(
        "report.counted",
        1.0,
        "It reports what was counted",
        words="steps tests checks tasks files errors issues results",
        before=r"(?:parsed|ran|found|passed|failed|completed|checked|reviewed|read|created|updated|changed|fixed) \d+ (?:\w+ ){0,2}",
    ),
    anywhere(
        "report.done-with",
        0.5,
        "It reports what was done",
        words=(
            "drafted rewritten validated verified updated landed shipped reviewed patched reproduced confirmed complete completed"
            " finalized raised passed"
        ),
        behind=r"(?<!be )(?<!is )(?<!are )(?<!to )(?<!been )(?<!as )(?<=\w )",
        then=r"(?=\s*(?:[.;,(]|\Z)| (?:with|at|against|via|by|on|in|from|of|to)\b)",
    ),
    anywhere(
        "report.still",
        0.5,
        "It reports how something stands",
        words="still",
        then=r" (?:pending|fail\w*|open|running|broken|missing|blocked|waiting|in progress)",
    ),
    anywhere(
        "report.now",
        0.5,
        "It reports how something behaves since",
        words="now",
        behind=r"(?<!we )(?<!i )(?<=\w )",
        then=r" (?:also |both |only )*(?:(?!always|this|is\b|was\b|uses\b|keeps\b|stores\b|supports\b|allows\b|lives\b|means\b)\w{3,}s|has|have|carry|enforce|require)\b",
    ),
    opening(
        "report.checked",
        0.5,
        "It reports what was done",
        words="verified validated reproduced tested retested confirmed passed patched reviewed",
        then=r"(?! [\w-]+ (?:is|are|may|must|only)\b)",
    ),
    opening(
        "report.past",
        1.0,
        "It tells what happened",
        words="the a an this that these our my his her their it they nothing everything all both one some",
        then=(
            r" (?:(?!that |which |who |we |i )[\w-]+ ){0,4}?(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!been )"
            rf"(?:{_HAPPENED})"
        ),
    ),
    opening("report.person", 1.0, "It tells what somebody does", words="he she", then=r" (?!who\b)\w+"),
    opening(
        "report.perfect",
        0.5,
        "It reports what was done",
        words="we've i've we i",
        then=(
            r"(?: have|'ve|(?<='ve))(?: now| also| just| already| successfully)*"
            r" (?!decided|chosen|agreed|adopted|opted|selected|rejected|accepted|settled|preferred|kept)(?:\w{2,}ed|built|made|written|found|run|seen)"
        ),
    ),
    anywhere(
        "report.change",
        1.0,
        "It reports a change",
        words="pr prs branch commit release ticket",
        then=r"(?: #?\d+)?(?: (?:is|was|has been|got))? (?:created|opened|merged|pushed|closed|published|updated|ready|submitted|approved)",
    ),
    opening(
        "report.work-item",
        1.0,
        "It says what a ticket is about",
        words="in this the",
        then=r"(?: this)? (?:work items?|wi|pr|pull request|commit|ticket|task|change|patch|test execution)\b",
    ),
    # Status lines.
    opening(
        "status.label",
        1.5,
        "It is a line of status",
        words=(
            "status summary note update progress context result results output report reminder verdict fyi log warning info debug"
            " findings takeaway takeaways"
        ),
        then=r"(?=(?: of (?!decisions?\b)[\w -]{1,40})?\s*:)",
    ),
    opening(
        "status.task",
        2.0,
        "It says what the work is, or asks",
        words="purpose goal task todo todos background abandoned question questions",
        then=r"(?=\s*:)",
    ),
    opening(
        "status.failed",
        1.5,
        "It says that something failed",
        words="failed error errors exception traceback workflow fatal step timeout timed",
        then=r"(?:\s*:| (?:at|to|with|in|out|after|abandoned|failed)\b| \"[^\"\n]*\" (?:failed|exited|timed))",
    ),
    anywhere(
        "status.exit",
        1.5,
        "It says that something failed",
        words="exit exited exitcode",
        then=r"(?:(?:ed)?(?: with)? (?:a )?(?:non-zero|code|status)|(?<=code): \d+)",
    ),
    anywhere(
        "status.skip",
        1.5,
        "It says that a step was left out",
        words="skip skipped skipping retry retrying",
        before=r"(?:whether to [^\n]{1,120}(?:\u2192|->|=>|:) ?|\A\W*|(?<=[\"'] ))",
        then=r"(?=\s*(?:\Z|[.:(\u2014\u2192-]))",
    ),
    anywhere(
        "status.upstream",
        1.0,
        "It says that something before it failed",
        words="dependency step steps",
        behind=preceded_by("upstream downstream previous"),
        then=r"(?:\(s\))?(?: \"[^\"\n]*\")? (?:failed|to be skipped|skipped|timed out)",
    ),
    anywhere(
        "time.future",
        1.0,
        "It puts something off",
        words="item items ticket tickets release version pr iteration sprint work",
        before=r"(?:future|later|separate|follow-up|another|part of (?:an? |the )?(?:new|next)) (?:work )?",
    ),
    anywhere(
        "time.later",
        0.5,
        "It puts something off",
        words="tomorrow later soon asap tonight",
        then=r"(?! than)",
    ),
)
